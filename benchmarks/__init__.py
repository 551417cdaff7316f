"""Side-by-side benchmarks of kg_reasoner and other systems: ``python -m benchmarks``, ``python -m benchmarks.startup``."""
