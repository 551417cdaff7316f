"""SPARQL 1.1 queries, evaluated as columns of ids: from rdflib's algebra to a plan, and from a plan to tables.

Its rooms import each other in one direction, in the order of `docs/architecture/where-things-are.md`.
"""
