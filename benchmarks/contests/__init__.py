"""Contests of several systems, and reports of measurements as tables, JSON and plots."""
