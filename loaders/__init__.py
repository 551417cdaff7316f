"""Loaders: `rdf` turns RDF in any syntax into ids of terms, `imports` follows owl:imports, `owl` turns an ontology's axioms and
SWRL rules into rules of ours, and `n3` those of N3 documents."""
