"""Relations: rows, hash tables and indexes, their growth and renewal, look-ups, and the contexts in which plans read them."""
