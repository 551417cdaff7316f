"""The rules of documents that are read for their triples."""

from __future__ import annotations

from dataclasses import field

from kg_reasoner.data_classes import dataclass
from kg_reasoner.errors import UnsupportedError
from kg_reasoner.program import Rule

__all__ = ["RuleSink"]


@dataclass(slots=True)
class RuleSink:
    """Collects the rules of documents that are read for their triples; with `skips_refused`, also collects rejected rules."""

    skips_refused: bool = False
    rules: list[Rule] = field(default_factory=list)
    refused: list[UnsupportedError] = field(default_factory=list)
