"""Input and output of triples, and the work directory, on Spark."""
