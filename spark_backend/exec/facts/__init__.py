"""The facts of a run as DataFrames: triples, features of terms as masks, relations, and what an iteration has added."""
