"""Documents to triples."""
