"""Results of recursion without semi-naive evaluation: closures, strong components, best values and paths."""
