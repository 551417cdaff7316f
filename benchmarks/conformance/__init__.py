"""Third-party conformance suites: scores of several systems side by side. See ``python -m benchmarks.conformance --help``."""
