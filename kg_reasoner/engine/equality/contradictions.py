"""Equal literals of different values: a contradiction that no rule finds after they are merged."""

from __future__ import annotations

from collections.abc import Iterator

from kg_reasoner.engine.equality.cliques import Cliques
from kg_reasoner.engine.inconsistency import Violation
from kg_reasoner.expressions.datatypes import identity
from kg_reasoner.program import FALSE, TRIPLE, Atom, Call, Filter, Origin, Rule, Variable
from kg_reasoner.storage.terms.dictionary import Dictionary
from kg_reasoner.terms import OWL, Literal

_X, _Y = Variable("x"), Variable("y")

DIFFERENT_VALUES = Rule(Atom(FALSE, ()), (Atom(TRIPLE, (_X, OWL.sameAs, _Y)), Filter(Call("!=", (_X, _Y)))), Origin("dt-diff"))


def contradictions(cliques: Cliques, dictionary: Dictionary) -> Iterator[Violation]:
    """Yield one violation for each clique with literals of different values."""
    merged = cliques.merged_terms()
    literals: dict[int, list[Literal]] = {}
    for term in merged[dictionary.first_bytes()[merged] == ord('"')].tolist():
        literal = dictionary.decode(term)
        assert isinstance(literal, Literal)
        if identity(literal) is not None:
            literals.setdefault(cliques.of_term(term), []).append(literal)
    for first, *others in literals.values():
        other = next((literal for literal in others if identity(literal) != identity(first)), None)
        if other is not None:
            yield Violation(DIFFERENT_VALUES, {"x": first, "y": other})
