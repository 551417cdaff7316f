"""Planning: which relation holds what, functions and aggregates as relations, and rules and queries as plans."""
