"""Reasoning on Spark: the place for it. Nothing is here yet; the in-process engine comes first."""
