"""How the documents of one call are read: what all readers of syntaxes need to know."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

from kg_reasoner.data_classes import dataclass
from kg_reasoner.loaders.rdf.blank import BlankScope

if TYPE_CHECKING:
    from kg_reasoner.loaders.rdf.rule_sink import RuleSink
    from kg_reasoner.loaders.rdf.sources import OpenDocument
    from kg_reasoner.storage.terms.dictionary import Dictionary

__all__ = ["PrefixSink", "Reading"]

PrefixSink: TypeAlias = Callable[[str, str], object]
"""Takes a prefix, which is empty for the default one, and its namespace."""


@dataclass(frozen=True, slots=True)
class Reading:
    """How documents are read.

    Attributes:
        dictionary: The dictionary for the terms.
        block: The most triples in a batch.
        base: The base IRI of documents that do not declare one.
        prefixes: Collects the prefixes that the documents declare.
        rules: Collects their rules.
        scope: A prefix for the labels of their blank nodes; by default, each document gets one.
        threads: The number of threads that read a long document together.
    """

    dictionary: Dictionary
    block: int
    base: str | None = None
    prefixes: PrefixSink | None = None
    rules: RuleSink | None = None
    scope: str | None = None
    threads: int = 1

    def scope_of(self, opened: OpenDocument) -> BlankScope:
        """Return the scope of a document's blank nodes."""
        return BlankScope(self.dictionary, opened.head, self.scope)
