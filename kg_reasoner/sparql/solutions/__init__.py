"""Tables of solutions, and what is computed on their columns: expressions, order, aggregates."""
