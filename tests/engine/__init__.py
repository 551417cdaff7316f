"""Materialisation and its maintenance."""
