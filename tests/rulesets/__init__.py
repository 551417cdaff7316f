"""The rule sets, on fixtures, suites and benchmark data."""
