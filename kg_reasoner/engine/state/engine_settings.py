"""The settings of an engine."""

from __future__ import annotations

from kg_reasoner.data_classes import dataclass

__all__ = ["EngineSettings"]


@dataclass(frozen=True)
class EngineSettings:
    """The settings by which consequences are derived and maintained.

    Attributes:
        maintenance: The name of a strategy.
        datatypes: The datatypes whose literals have values.
        rewrites: Whether equal terms are merged.
        threads: The number of threads that load triples and derive facts together.
    """

    maintenance: str
    datatypes: frozenset[str]
    rewrites: bool
    threads: int = 1
