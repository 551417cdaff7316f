"""The benchmarks in small."""
