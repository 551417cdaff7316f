"""Output files, and tables of facts: triples in every RDF syntax, facts as TSV and CSV."""
