"""Values, functions and aggregates."""
