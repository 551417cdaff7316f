"""Explicit facts: assertion and retraction, documents, named graphs, primary keys and multisets."""
