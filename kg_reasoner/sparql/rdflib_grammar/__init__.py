"""Corrections of rdflib's parser of SPARQL: its grammar, its tokens, and what it does not check."""
