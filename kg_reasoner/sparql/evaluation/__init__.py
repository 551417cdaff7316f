"""Evaluation of patterns to tables of solutions."""
