"""The repository itself: imports, packages, documentation, examples, and how much the tests do."""
