"""From the parse trees of texts to programs: terms, expressions, bodies and statements, each a class on the one before."""
