"""Blocks of ids to the texts of RDF documents, by the kernels."""
