"""Expressions: values of literals and their datatypes, SPARQL's functions, aggregates, all compiled to Python functions."""
