"""Ontologies: the axioms and SWRL rules of an RDF graph, what of them rules can say, and the rules."""
