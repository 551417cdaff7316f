"""Expressions: values and datatypes of literals, SPARQL's functions, and aggregates, compiled to Python functions."""
