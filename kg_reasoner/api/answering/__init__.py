"""What a reasoner is asked: SPARQL queries, proofs, hierarchies."""
