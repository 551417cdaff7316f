"""Whole queries: from text to algebra, and to solutions, triples or a truth value."""
