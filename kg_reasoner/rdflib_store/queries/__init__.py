"""SPARQL queries over the graphs of a store: the datasets that they see, and their results for rdflib."""
