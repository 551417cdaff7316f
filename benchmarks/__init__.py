"""Side-by-side measurements of kg_reasoner and its peers: ``python -m benchmarks``, ``python -m benchmarks.startup``."""
