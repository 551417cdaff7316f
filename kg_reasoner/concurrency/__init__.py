"""Concurrency: how threads share a reasoner, what limits an operation, and what is being read while others write."""
