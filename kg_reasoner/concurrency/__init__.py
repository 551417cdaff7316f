"""Concurrency: locks of a reasoner, limits of operations, and snapshots that stay valid while others write."""
