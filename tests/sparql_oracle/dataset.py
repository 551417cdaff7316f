"""RDF datasets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from kg_reasoner.terms import IRI, Triple


@dataclass(frozen=True, slots=True)
class Dataset:
    """A default graph and named graphs."""

    default: frozenset[Triple]
    named: Mapping[IRI, frozenset[Triple]] = field(default_factory=dict)
