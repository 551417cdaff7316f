"""Inconsistency: violated constraints and the terms that violate them. They are never written into the data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, Literal, TypeAlias

from kg_reasoner.data_classes import dataclass
from kg_reasoner.errors import expect_name
from kg_reasoner.language.display_names import merged
from kg_reasoner.planning.aggregates.groups import violation_atom
from kg_reasoner.planning.catalog import VIOLATIONS, RelationCatalog
from kg_reasoner.program import Origin, Rule, Variable
from kg_reasoner.terms import Term, term_text

__all__ = ["REACTIONS", "Reaction", "Violation", "is_consistent", "reaction", "violations"]

Reaction: TypeAlias = Literal["report", "raise"]
REACTIONS: Final[Sequence[Reaction]] = ("report", "raise")
"""The reactions to an inconsistent graph: accept it and report its inconsistencies on request, or reject it."""


def reaction(name: Reaction) -> Reaction:
    """Return a name among `REACTIONS`.

    Raises:
        UnknownNameError: It is none of them.
    """
    expect_name("reaction to inconsistency", name, REACTIONS)
    return name


@dataclass(frozen=True, slots=True)
class Violation:
    """A violated constraint: the rule, and the values of its variables.

    `str()` tells it in words: the axiom or the rule that is broken, and by which terms.
    """

    rule: Rule
    terms: dict[str, Term]

    @property
    def origin(self) -> Origin:
        """The name of the rule (the W3C's for rules of OWL 2 RL), and the axiom that it was translated from."""
        return self.rule.origin

    def text(self, prefixes: Mapping[str, str] | None = None) -> str:
        """Return the violated axiom or rule, its name, and the violating terms, abbreviated by these prefixes.

        Args:
            prefixes: The prefixes; by default none.

        Returns:
            The text.
        """
        from kg_reasoner.explain.readable_names import Names, axiom_text
        from kg_reasoner.language.prefixes import PREFIXES
        from kg_reasoner.language.printer import format_rule, format_term

        known = merged(PREFIXES, prefixes or {})
        origin = self.rule.origin
        what = (
            axiom_text(origin.axiom, Names(known)) if origin.axiom else origin.name or origin.text or format_rule(self.rule, known)
        )
        name = f" ({origin.name})" if origin.axiom and origin.name else ""
        terms = ", ".join(f"?{variable} = {format_term(term, known)}" for variable, term in self.terms.items())
        return f"{what}{name}: {terms}" if terms else f"{what}{name}"

    def as_dict(self) -> dict[str, Any]:
        """Return the violation as plain data: names, texts, and terms in N-Triples form.

        Returns:
            The data.
        """
        from kg_reasoner.language.printer import format_rule

        return {
            "name": self.origin.name,
            "axiom": self.origin.axiom,
            "rule": format_rule(self.rule, {}),
            "terms": {variable: term_text(term) for variable, term in self.terms.items()},
        }

    def __str__(self) -> str:
        return self.text()


def violations(catalog: RelationCatalog, rules: Iterable[Rule]) -> Iterator[Violation]:
    """Yield every violation of a constraint among the rules, in their order."""
    for rule in rules:
        if rule.is_constraint:
            atom = violation_atom(rule)
            names = [term.name for term in atom.terms if isinstance(term, Variable)]
            relation = catalog.predicates.get(atom.predicate)
            for row in catalog.dictionary.decode_rows(catalog.database.rows(relation)) if relation is not None else ():
                yield Violation(rule, dict(zip(names, row, strict=True)))


def is_consistent(catalog: RelationCatalog) -> bool:
    """Return whether no constraint is violated."""
    return not any(catalog.database.size(number) for name, number in catalog.predicates.items() if name.startswith(VIOLATIONS))
