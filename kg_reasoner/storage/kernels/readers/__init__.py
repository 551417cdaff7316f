"""Readers of RDF documents: from the bytes of N-Triples, N-Quads, Turtle, TriG and RDF/XML directly to ids of terms."""
