"""Plans on Spark: from triples and a program to everything that follows, as DataFrames."""
