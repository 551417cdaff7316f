"""The prefixes of the rule language."""

from __future__ import annotations

from typing import Final

from kg_reasoner.terms import OWL, RDF, RDFS, XSD

__all__ = ["PREFIXES"]

PREFIXES: Final = {"rdf": str(RDF), "rdfs": str(RDFS), "owl": str(OWL), "xsd": str(XSD)}
"""The prefixes that need no declaration."""
