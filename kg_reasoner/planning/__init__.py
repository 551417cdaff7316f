"""Planning: which relation holds what, calls and aggregates as relations, and rules and queries as integer plans with a join order."""
