"""The state of an engine, the limits of operations on it, and the journal that undoes an operation that fails."""
