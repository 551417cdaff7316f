"""Selection of rules: those that data make relevant, those of imported modules that are needed, those that a query needs."""
