"""Execution of plans on Spark: from triples and a program to the materialisation, as DataFrames."""
