"""The graphs of a store: their triples as ids, changes in transactions, reasoning over each graph or over all."""
