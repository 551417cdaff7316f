"""The common part of SPARQL's grammar, read without rdflib: a text that is not of it is left to rdflib's parser."""
