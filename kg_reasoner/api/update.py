"""Updates as data: facts and rules to be added and removed together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from typing import TypeAlias

from kg_reasoner.data_classes import dataclass
from kg_reasoner.program import TRIPLE, Program, Rule
from kg_reasoner.terms import AnyTerm, AnyTriple

__all__ = ["Row", "Update"]

Row: TypeAlias = Sequence[AnyTerm]
"""The arguments of a fact: terms of ours, of rdflib or of pyoxigraph."""


@dataclass(frozen=True, slots=True)
class Update:
    """Facts and rules to be added and removed in one transaction. Removals come first: a fact in both is present afterwards.

    Attributes:
        added, removed: Explicit facts by predicate; RDF triples are facts of `kg_reasoner.program.TRIPLE`.
        add_rules: Rules, declarations and facts, as a program or as text in the rule language.
        remove_rules: Rules of the program; others are ignored.

    >>> from kg_reasoner.terms import literal
    >>> update = Update(added={"edge": [(literal("a"), literal("b"))]}, add_rules="path(?x, ?y) :- edge(?x, ?y) .")
    """

    added: Mapping[str, Sequence[Row]] = field(default_factory=dict)
    removed: Mapping[str, Sequence[Row]] = field(default_factory=dict)
    add_rules: Program | str | None = None
    remove_rules: Sequence[Rule] = ()

    @classmethod
    def of_triples(cls, added: Iterable[AnyTriple] = (), removed: Iterable[AnyTriple] = ()) -> Update:
        """Return an update of RDF triples.

        Args:
            added: Triples to add.
            removed: Triples to remove.

        Returns:
            The update.

        >>> from kg_reasoner.terms import IRI, RDF
        >>> Update.of_triples([(IRI("http://example.org/tom"), RDF.type, IRI("http://example.org/Cat"))]).removed
        {'[]': []}
        """
        return cls({TRIPLE: list(added)}, {TRIPLE: list(removed)})
