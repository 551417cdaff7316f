"""SPARQL queries and their results."""
