"""Answers to queries in the rule language, over the materialisation or on demand."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import Final

import numpy as np

from kg_reasoner.api.inputs.given_values import expect_bindings
from kg_reasoner.api.operations.core import ReasonerCore
from kg_reasoner.concurrency.limits import Limits
from kg_reasoner.data_classes import dataclass
from kg_reasoner.engine.facts.row_encoding import as_term
from kg_reasoner.engine.magic_sets.demand import Demand, Found, abstracted
from kg_reasoner.engine.magic_sets.on_demand import by_magic, by_reading
from kg_reasoner.errors import ArityError, ReasonerError, UnsupportedError, plural
from kg_reasoner.expressions.demands import asked_by
from kg_reasoner.expressions.given_relations import GIVEN_RELATIONS
from kg_reasoner.language.checks import analysis
from kg_reasoner.language.parser import parse_query
from kg_reasoner.language.selection.magic import answer_atom
from kg_reasoner.program import Atom, BodyLiteral, Program, Rule, Variable, atoms_within
from kg_reasoner.storage.arrays import Ids
from kg_reasoner.storage.terms.dictionary import Dictionary
from kg_reasoner.terms import OWL, AnyTerm, Term

__all__ = ["Answers", "answer"]

_GIVEN = "given!"
"""The predicate of the given values of variables."""
_ASKABLE: Final = frozenset([OWL.sameAs])
"""The names that make rule sets derive facts that hold of all terms. Types and differences of literals would be too many."""


@dataclass(frozen=True, eq=False)
class Answers:
    """The different answers to a query, as rows of terms.

    Attributes:
        variables: The names of the columns: the variables that the body of the query binds, in order of occurrence.
        derived: The number of facts that were derived for this query and discarded, the answers included.
        by_magic: Whether they were derived on demand; if not, the materialisation was read, see `Reasoner.answers`.
    """

    variables: tuple[str, ...]
    derived: int
    by_magic: bool
    _ids: Ids = field(repr=False)
    _dictionary: Dictionary = field(repr=False)

    def __len__(self) -> int:
        return len(self._ids)

    def __iter__(self) -> Iterator[tuple[Term, ...]]:
        return self._dictionary.decode_rows(self._ids)


def answer(
    core: ReasonerCore,
    body: str | BodyLiteral | Sequence[BodyLiteral],
    bindings: Mapping[str, AnyTerm],
    *,
    on_demand: bool,
    limits: Limits | None,
) -> Answers:
    """Return the answers to a query, see `kg_reasoner.api.reasoner.Reasoner.answers`."""
    engine = core.engine
    expect_bindings(bindings)
    given = {name: as_term(term) for name, term in bindings.items()}
    bodies, others = _parts(core, body)
    rules = _rules(bodies, others, given)
    _check(rules)
    with core.watch(limits):
        is_plain = not others and len(bodies) == 1
        found = _on_demand(core, rules, given) if on_demand and is_plain else None
        if found is None:
            core.request_relations(atom.predicate for rule in rules for atom in atoms_within(rule.body))
            core.request_universal_facts(_ASKABLE.intersection(name for rule in rules for name in asked_by(rule)))
            with core.reading():
                _check_against_program(core, rules)
                found = by_reading(engine, rules)
    rows, head = found.rows, rules[0].head
    names = tuple(term.name for term in head.terms if isinstance(term, Variable))
    for name, term in given.items():  # equal terms that are merged have further names
        rows = rows[rows[:, names.index(name)] == engine.dictionary.encode(term)]
    return Answers(names, found.derived, found.by_magic, rows, engine.dictionary)


def _on_demand(core: ReasonerCore, rules: Sequence[Rule], given: Mapping[str, Term]) -> Found | None:
    """Return the answers by magic sets; None if the materialisation has to be read, or is up to date already."""
    if core.engine.is_current:
        return None
    head, body = rules[0].head, [part for part in rules[0].body if not (isinstance(part, Atom) and part.predicate == _GIVEN)]
    shape, constants = abstracted(head, body, [Variable(name) for name in given])
    with core.reading_explicit():
        _check_against_program(core, rules)
        row = [core.dictionary.encode(term) for term in (*given.values(), *constants)]
        return by_magic(core.engine, Demand(shape, np.array([row], np.int32)))


def _parts(core: ReasonerCore, body: str | BodyLiteral | Sequence[BodyLiteral]) -> tuple[list[tuple[BodyLiteral, ...]], list[Rule]]:
    """Return the parts of each alternative of a query, and the rules for its auxiliary predicates."""
    if isinstance(body, str):
        return parse_query(body, core.prefixes, known=core.known())
    parts = (body,) if isinstance(body, BodyLiteral) or not isinstance(body, Iterable) else tuple(body)
    for part in parts:
        if not isinstance(part, BodyLiteral):
            raise ReasonerError(f"{part!r} is not a part of a query: give the text of a rule's body, or its atoms and other parts")
    return [parts], []


def _rules(bodies: Sequence[tuple[BodyLiteral, ...]], others: Sequence[Rule], given: Mapping[str, Term]) -> list[Rule]:
    """Return a query as rules, and the facts for them. Its variables are those that all alternatives bind."""
    heads = [answer_atom(body) for body in bodies]
    head = Atom(heads[0].predicate, tuple(term for term in heads[0].terms if all(term in other.terms for other in heads)))
    variables = tuple(map(Variable, given))
    for variable in variables:
        if variable not in head.terms:
            known = ", ".join(map(str, head.terms)) or "none"
            raise ReasonerError(f"the query does not bind {variable}, for which a value is given; its variables are: {known}")
    if not given:
        return [*(Rule(head, body) for body in bodies), *others]
    stated = Rule(Atom(_GIVEN, tuple(given.values())))
    return [*(Rule(head, (Atom(_GIVEN, variables), *body)) for body in bodies), *others, stated]


def _check(rules: Sequence[Rule]) -> None:
    """Check a query as a rule would be checked.

    Raises:
        ArityError, SafetyError, UnsupportedError: It is invalid.
    """
    analysis.check(Program(tuple(rules)))
    for atom in (atom for rule in rules for atom in atoms_within(rule.body)):
        if atom.predicate in GIVEN_RELATIONS:
            hint = "add a rule with such a body to the program, and ask for the predicate of its head"
            raise UnsupportedError(f"{atom.predicate} has facts for rules only, not for queries", atom.span, hint)


def _check_against_program(core: ReasonerCore, rules: Sequence[Rule]) -> None:
    """Check that a query fits the facts and rules, which do not change meanwhile.

    Raises:
        ArityError: A predicate has another number of arguments.
        UnsupportedError: Equal terms are merged, and the query has different meanings for their names.
    """
    core.engine.base.equality.check(rules)
    known = core.engine.arities()
    for predicate, arity in analysis.arities(Program(tuple(rules))).items():
        if known.get(predicate, arity) != arity:
            raise ArityError(f"{predicate} has {plural(known[predicate], 'argument')}, not {arity}")
