"""The replacement for owlready2's reasoners."""
