"""Terms as dense integers: the dictionary, what it knows of literals and collections, searches in its texts."""
