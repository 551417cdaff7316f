"""Queries that are asked again, with other constants or the same."""
