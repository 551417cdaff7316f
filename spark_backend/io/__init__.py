"""Triples from files and to files, and the work directory, on Spark."""
