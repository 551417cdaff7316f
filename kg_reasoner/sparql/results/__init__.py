"""The results of SPARQL queries for programs: rows of terms, tables of Arrow, and the results formats of SPARQL 1.1."""
