"""Types of rules: those of definitions, expressions, and relations that are not declared."""
