"""SPARQL updates of the graphs of a store."""
