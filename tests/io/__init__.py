"""Writers of triples."""
