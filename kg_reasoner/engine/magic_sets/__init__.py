"""Answers on demand: queries by magic sets over the explicit facts, without materialisation."""
