"""Checks of a program before it is evaluated: `analysis` calls those of declarations, of streams, of strata and of types."""
