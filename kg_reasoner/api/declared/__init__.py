"""Relations as programs declare them: primary keys, multisets, streams and delays, and how their facts are stated."""
