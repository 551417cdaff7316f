"""Ontologies: the axioms and SWRL rules of an RDF graph, and their translation into rules."""
