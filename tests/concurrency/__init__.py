"""Threads, forks, limits and cancellation; work that threads share."""
