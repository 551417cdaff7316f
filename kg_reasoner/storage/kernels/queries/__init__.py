"""Queries: all matches of a plan, small queries in one call, joins in batches, searches in texts, and the order of values."""
