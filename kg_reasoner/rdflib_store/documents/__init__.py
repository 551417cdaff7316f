"""Documents into graphs, in blocks: rdflib's parsers, and parsers and serializers that it does not have."""
