"""Axioms in the data: the triples that they consist of, and the rules into which they are translated."""
