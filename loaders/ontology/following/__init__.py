"""Changes of an ontology followed by its translation: only what a changed axiom concerns is translated again."""
