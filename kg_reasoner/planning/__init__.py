"""Planning: assignment of predicates to relations, functions and aggregates as relations, and compilation of rules and queries to
plans.
"""
