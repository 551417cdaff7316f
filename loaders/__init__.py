"""Loaders: `rdf` turns RDF in any syntax into ids of terms, `owl` turns an ontology's axioms into rules."""
