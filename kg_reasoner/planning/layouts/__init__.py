"""Layouts of triples in the relations of a database: property tables, the triple table, and their common interface."""
