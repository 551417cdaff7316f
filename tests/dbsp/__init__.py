"""Circuits over Z-sets."""
