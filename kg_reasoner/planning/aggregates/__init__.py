"""Aggregates as relations: the groups of their solutions, and the results of groups, one by one or on columns of many."""
