"""Planning: assignment of predicates to relations, and compilation of rules and queries to plans.

`layouts` assigns triples to relations; `functions` and `aggregates` treat functions and aggregates as relations.
"""
