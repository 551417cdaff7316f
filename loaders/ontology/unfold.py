"""Elimination of auxiliary predicates: a predicate that only links rules is replaced by the bodies of its defining rules.

The translation of an ontology introduces an auxiliary predicate for every anonymous class; few of them are worth materialising.
Unfolding a predicate (resolving each rule that uses it with each that defines it) preserves the consequences for all other
predicates. It is done as long as it does not increase the number of rules. This is bounded variable elimination, which SAT solvers
apply to clauses.

Source: Eén and Biere, Effective Preprocessing in SAT Through Variable and Clause Elimination (SAT 2005).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from kg_reasoner.data_classes import dataclass
from kg_reasoner.graphs import connected_components
from kg_reasoner.program import Argument, Atom, BodyLiteral, Call, Filter, Variable, variables_of
from kg_reasoner.substitution import in_atom, in_part

__all__ = ["LETTERS", "DraftRule", "is_idle", "rename", "unfold"]

_PLAIN: Final = frozenset({"", "cax-sco", "cax-eqc1", "cax-eqc2"})
"""The least informative names: that of an inclusion between classes, or none."""

_LARGE: Final = 2_000
"""The maximal number of resolvents that are tried."""
_LARGEST: Final = 50_000
"""The maximal number of atoms in the bodies of all resolvents together, with which the time grows."""
_LONGEST: Final = 16
"""The maximal number of atoms of a body that unfolding makes."""


@dataclass(slots=True, unsafe_hash=True)
class DraftRule:
    """A rule under construction: `name` is its W3C name, `axioms` are the texts of the axioms that it comes from."""

    head: Atom
    body: tuple[BodyLiteral, ...]
    name: str = ""
    axioms: tuple[str, ...] = ()


def apart(clauses: Iterable[DraftRule], auxiliary: Collection[str]) -> tuple[list[DraftRule], list[DraftRule]]:
    """Return the clauses without auxiliary predicates, and those all of whose auxiliary predicates are both defined and used. The
    others, which most expressions of an ontology have, can never fire or never matter.
    """
    alone: list[DraftRule] = []
    linked: dict[int, tuple[DraftRule, list[str]]] = {}
    defining: dict[str, set[int]] = defaultdict(set)
    using: dict[str, set[int]] = defaultdict(set)
    for number, clause in enumerate(clauses):
        used = [part.predicate for part in clause.body if isinstance(part, Atom) and part.predicate in auxiliary]
        if clause.head.predicate in auxiliary:
            defining[clause.head.predicate].add(number)
        elif not used:
            alone.append(clause)
            continue
        linked[number] = clause, used
        for predicate in used:
            using[predicate].add(number)
    waiting = [*(defining.keys() ^ using.keys())]
    while waiting:
        predicate = waiting.pop()
        for number in defining[predicate] | using[predicate]:
            clause, used = linked.pop(number)
            for places, predicates in ((defining, [clause.head.predicate]), (using, used)):
                for other in predicates:
                    places[other].discard(number)
                    if not places[other]:
                        waiting.append(other)
    return alone, [clause for clause, _ in linked.values()]


def unfold(clauses: Iterable[DraftRule], auxiliary: Collection[str]) -> list[DraftRule]:
    """Return the clauses with as many auxiliary predicates unfolded as possible without increasing the number of clauses.

    Clauses that can never fire because nothing defines one of their auxiliary predicates, or never matter because nothing uses
    the one they define, are left out. The order is that of the given clauses; one made by unfolding stands where its user stood.
    Clauses affect each other only if auxiliary predicates link them, directly or by others.
    """
    found: dict[_Position, DraftRule] = {}
    for linked in _components(clauses, auxiliary):
        found.update(_Unfolding(linked, auxiliary).result())
    return [found[position] for position in sorted(found)]


def _components(clauses: Iterable[DraftRule], auxiliary: Collection[str]) -> Iterable[list[tuple[int, DraftRule]]]:
    """Return the clauses, numbered, in groups that share no auxiliary predicates."""
    numbered = [(number, clause, _auxiliary_of(clause, auxiliary)) for number, clause in enumerate(clauses)]
    components = connected_components((used[0], other) for _, _, used in numbered if used for other in used)
    one_for_all = {predicate: one for one, predicates in components.items() for predicate in predicates}
    found: dict[str, list[tuple[int, DraftRule]]] = defaultdict(list)
    for number, clause, used in numbered:
        found[one_for_all.get(used[0], used[0]) if used else ""].append((number, clause))
    return found.values()


def _auxiliary_of(clause: DraftRule, auxiliary: Collection[str]) -> list[str]:
    return [part.predicate for part in (clause.head, *clause.body) if isinstance(part, Atom) and part.predicate in auxiliary]


_Position = tuple[int, ...]
_Key = tuple[Atom, tuple[BodyLiteral, ...]]


class _Unfolding:
    """Clauses with normalised variables, by position: a clause made from the one at ``(3,)`` gets a position such as ``(3, 0)``."""

    def __init__(self, clauses: Iterable[tuple[int, DraftRule]], auxiliary: Collection[str]) -> None:
        self.auxiliary = auxiliary
        self.clauses: dict[_Position, DraftRule] = {}
        self.known: set[_Key] = set()
        # Dicts of positions instead of sets: their order does not depend on hashes.
        self.defined_by: dict[str, dict[_Position, None]] = defaultdict(dict)
        self.used_by: dict[str, dict[_Position, None]] = defaultdict(dict)
        for number, clause in clauses:
            clause = rename(clause)
            if (clause.head, clause.body) not in self.known and not is_idle(clause):
                self.add((number,), clause)

    def result(self) -> Mapping[_Position, DraftRule]:
        self.drop_dead(list(dict.fromkeys([*self.defined_by, *self.used_by])))
        waiting = dict.fromkeys(predicate for predicate in self.used_by if self.used_by[predicate])
        while waiting:
            predicates = sorted(waiting, key=self.cost)
            waiting = {}
            for predicate in predicates:
                waiting.update(dict.fromkeys(self.eliminate(predicate)))
        return self.clauses

    def cost(self, predicate: str) -> int:
        return len(self.defined_by[predicate]) * len(self.used_by[predicate])

    def size(self, positions: Iterable[_Position]) -> int:
        return sum(len(self.clauses[position].body) for position in positions)

    def add(self, position: _Position, clause: DraftRule) -> None:
        self.clauses[position] = clause
        self.known.add((clause.head, clause.body))
        if clause.head.predicate in self.auxiliary:
            self.defined_by[clause.head.predicate][position] = None
        for predicate in self.uses(clause):
            self.used_by[predicate][position] = None

    def remove(self, position: _Position) -> set[str]:
        """Remove a clause; return its auxiliary predicates."""
        clause = self.clauses.pop(position)
        self.known.remove((clause.head, clause.body))
        touched = set(self.uses(clause))
        for predicate in touched:
            del self.used_by[predicate][position]
        if clause.head.predicate in self.auxiliary:
            del self.defined_by[clause.head.predicate][position]
            touched.add(clause.head.predicate)
        return touched

    def uses(self, clause: DraftRule) -> list[str]:
        return [part.predicate for part in clause.body if isinstance(part, Atom) and part.predicate in self.auxiliary]

    def drop_dead(self, predicates: list[str]) -> None:
        while predicates:
            predicate = predicates.pop()
            if self.defined_by[predicate] and self.used_by[predicate]:
                continue
            for position in [*self.defined_by[predicate], *self.used_by[predicate]]:
                predicates.extend(self.remove(position))

    def eliminate(self, predicate: str) -> list[str]:
        """Unfold a predicate if that pays off; return the auxiliary predicates whose clauses changed."""
        defining = list(self.defined_by[predicate])
        using = list(self.used_by[predicate])
        if not defining or not using:
            self.drop_dead([predicate])
            return []
        if len(defining) * len(using) > _LARGE or any(position in self.used_by[predicate] for position in defining):
            return []
        if len(using) * self.size(defining) + len(defining) * self.size(using) > _LARGEST:
            return []
        made: dict[_Key, tuple[_Position, DraftRule]] = {}
        definitions = [_definition(self.clauses[position]) for position in defining]
        longest = max(len(self.clauses[position].body) for position in [*defining, *using])
        for position in using:
            for number, clause in enumerate(_resolvents(self.clauses[position], predicate, definitions)):
                key = clause.head, clause.body
                if key not in self.known:
                    made.setdefault(key, ((*position, number), clause))
                if len(made) > len(defining) + len(using) or len(clause.body) > max(_LONGEST, longest):
                    return []
        touched: set[str] = set()
        for position in [*defining, *using]:
            touched |= self.remove(position)
        for position, clause in made.values():
            self.add(position, clause)
        touched.discard(predicate)
        self.drop_dead(sorted(touched))
        return [other for other in sorted(touched) if self.used_by[other]]


class _Definition(NamedTuple):
    """A clause that is to take the place of the predicate in its head."""

    clause: DraftRule
    is_plain: bool
    """Whether the terms of its head are its variables, each once, so that others simply replace them."""


def _definition(clause: DraftRule) -> _Definition:
    terms, variables = clause.head.terms, set(_variables(clause))
    is_plain = len(terms) == len(variables) and variables.issuperset(terms)
    return _Definition(clause if is_plain else _apart(clause, 0), is_plain)


def _resolvents(clause: DraftRule, predicate: str, definitions: Sequence[_Definition], depth: int = 0) -> Iterator[DraftRule]:
    """Yield all normalised clauses with every use of a predicate replaced by a definition. Definitions have distinct variables."""
    place = next((i for i, part in enumerate(clause.body) if isinstance(part, Atom) and part.predicate == predicate), None)
    if place is None:
        yield rename(clause)
        return
    if depth:
        definitions = [each if each.is_plain else _Definition(_apart(each.clause, depth), False) for each in definitions]
    for definition in definitions:
        resolvent = _resolve(clause, place, definition)
        if resolvent is not None:
            yield from _resolvents(resolvent, predicate, definitions, depth + 1)


def _apart(clause: DraftRule, depth: int) -> DraftRule:
    """Return the clause with variables that occur in no normalised clause, nor at another depth of replacement."""
    names: dict[Variable, Argument] = {variable: Variable(f"{variable.name}_{depth}") for variable in _variables(clause)}
    return DraftRule(in_atom(clause.head, names), tuple(in_part(part, names) for part in clause.body), clause.name, clause.axioms)


def _resolve(clause: DraftRule, place: int, definition: _Definition) -> DraftRule | None:
    """Return the clause with one body atom replaced by a definition's body, or None if they do not unify or the result is
    redundant.
    """
    used, (defining, is_plain) = clause.body[place], definition
    assert isinstance(used, Atom)
    pairs = zip(defining.head.terms, used.terms, strict=True)
    found = {term: other for term, other in pairs if isinstance(term, Variable)} if is_plain else _unified(pairs)
    if found is None:
        return None
    before, after, head = clause.body[:place], clause.body[place + 1 :], clause.head
    middle = tuple([in_part(part, found) for part in defining.body])
    if not is_plain:
        before, after = (tuple([in_part(part, found) for part in parts]) for parts in (before, after))
        head = in_atom(head, found)
    resolvent = DraftRule(
        head,
        tuple(dict.fromkeys((*before, *middle, *after))),
        defining.name if clause.name in _PLAIN and defining.name else clause.name,
        tuple(dict.fromkeys((*defining.axioms, *clause.axioms))),
    )
    return None if is_idle(resolvent) else resolvent


def is_idle(clause: DraftRule) -> bool:
    """Return whether a clause is redundant for all facts: its head is in its body, or a filter such as ``?x != ?x`` is always
    false.
    """
    return clause.head in clause.body or any(
        isinstance(part, Filter) and isinstance(part.expression, Call) and _is_never(part.expression) for part in clause.body
    )


def _is_never(call: Call) -> bool:
    """Return whether a condition states that something differs from itself."""
    inner = call.arguments[0]
    if call.name == "!" and isinstance(inner, Call) and inner.name in ("SAMETERM", "SAMEVALUE"):
        return inner.arguments[0] == inner.arguments[1]
    return call.name in ("!=", "<") and call.arguments[0] == call.arguments[1]


def _unified(pairs: Iterable[tuple[Argument, Argument]]) -> dict[Variable, Argument] | None:
    """Return the most general unifier of pairs of terms, which replaces variables on the left where possible; None if there is
    none.
    """
    found: dict[Variable, Argument] = {}
    for a, b in pairs:
        a, b = _walk(a, found), _walk(b, found)
        if a == b:
            continue
        if isinstance(a, Variable):
            found[a] = b
        elif isinstance(b, Variable):
            found[b] = a
        else:
            return None
    return {variable: _walk(variable, found) for variable in found}


def _walk(term: Argument, found: dict[Variable, Argument]) -> Argument:
    while isinstance(term, Variable) and term in found:
        term = found[term]
    return term


LETTERS: Final = tuple(Variable(name) for name in "xyzuvw")
"""The variables of normalised clauses."""


def rename(clause: DraftRule) -> DraftRule:
    """Return the clause with its variables named ``?x ?y ?z ...`` in the order of their first occurrences in the body, then in the
    head.
    """
    found = dict.fromkeys(_variables(clause))
    if tuple(found) == LETTERS[: len(found)]:
        return clause
    letters = (LETTERS[number] if number < len(LETTERS) else Variable(f"x{number}") for number in range(len(found)))
    names: dict[Variable, Argument] = dict(zip(found, letters, strict=True))
    return DraftRule(in_atom(clause.head, names), tuple(in_part(part, names) for part in clause.body), clause.name, clause.axioms)


def _variables(clause: DraftRule) -> list[Variable]:
    """Return the variables of the body and the head, with repetitions."""
    found: list[Variable] = []
    for part in (*clause.body, clause.head):
        found += [term for term in part.terms if isinstance(term, Variable)] if isinstance(part, Atom) else variables_of(part)
    return found
