"""OWL's own syntaxes: the constructs of the structural specification, read from and written as text, to RDF and back."""
