"""Reasoning on Spark."""
