"""Third-party conformance suites: what systems get right, side by side. See ``python -m benchmarks.conformance --help``."""
