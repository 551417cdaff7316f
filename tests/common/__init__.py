"""Modules that every package may import."""
