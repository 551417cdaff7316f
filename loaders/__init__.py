"""Loaders from documents to triples and rules.

`rdf` reads RDF in any syntax into ids of terms, `imports` follows owl:imports, `ontology` translates axioms and SWRL rules into
rules, and `rules` handles the rules of SWRL and N3.
"""
