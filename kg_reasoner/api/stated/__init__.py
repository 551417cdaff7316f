"""Explicit facts: documents, named graphs, and facts of relations as these are declared."""
