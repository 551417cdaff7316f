"""Part of kg_reasoner."""
