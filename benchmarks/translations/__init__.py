"""Our rules in the languages of other systems."""
