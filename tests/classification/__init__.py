"""Inferred hierarchies, OWL 2 EL."""
