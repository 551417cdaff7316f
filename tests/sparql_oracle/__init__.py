"""SPARQL 1.1 queries as values, evaluated as section 18 of the specification defines them, slowly: the oracle for evaluators."""
