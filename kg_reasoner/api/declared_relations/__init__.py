"""Relations as programs declare them: primary keys, streams and delays."""
