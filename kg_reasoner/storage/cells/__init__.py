"""Terms in cells of tables of facts."""
