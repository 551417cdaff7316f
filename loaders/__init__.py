"""Loaders: `rdf` turns RDF in any syntax into ids of terms, `imports` follows owl:imports, `ontology` turns axioms and SWRL rules
into rules of ours, and `rules` is about the rules of SWRL and N3."""
