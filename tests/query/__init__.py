"""Patterns, what answers show, and deltas."""
