"""Which rules are evaluated before which: the strata of a program, and the recursions within them."""
