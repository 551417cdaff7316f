"""Preparation of a run: statistics of the given triples, relevant rules, equalities, and facts that the driver computes."""
