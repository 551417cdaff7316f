"""Clashes: violations with the same cause, of which one is reported.

A clash is a minimal set of conflicting facts. It can occur as several violations: as mirror images (``p(a, b)`` with ``p(b, a)``,
and vice versa), for each name of an individual, and by several rules with the same meaning. Two violations are the same clash if

* they violate the same rule with the same facts; or
* they violate rules of OWL 2, RDFS or axioms with the same facts about individuals, up to equal names. Schema facts are ignored,
  as they are only the reason for the conflict. If the facts of one violation are a subset of those of another, or are the same for
  narrower datatypes, the other one is redundant.

Symmetric properties of OWL relate two individuals in no order. For each clash, a violation of an axiom is reported, if there is
one, and among several the first with the most terms.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from itertools import combinations, product
from typing import Final, TypeAlias

from kg_reasoner.engine.inconsistency import Violation
from kg_reasoner.expressions.datatypes import DATATYPES, narrower
from kg_reasoner.expressions.demands import BY_THE_BOOK
from kg_reasoner.expressions.given_relations import GIVEN_RELATIONS
from kg_reasoner.program import TRIPLE, Atom, Filter, Negation, Rule, Variable, remembered
from kg_reasoner.terms import IRI, OWL, RDF, RDFS, Term

__all__ = ["clashes"]

Naming: TypeAlias = Callable[[Term], Term]
"""Maps equal terms to one of them."""

_Fact: TypeAlias = Hashable
_Facts: TypeAlias = frozenset[_Fact]

_SYMMETRIC: Final = frozenset(
    [OWL.sameAs, OWL.differentFrom, OWL.disjointWith, OWL.propertyDisjointWith, OWL.complementOf, OWL.inverseOf]
)
_HELPERS: Final = ("<tag:kg-reasoner:", "tag:kg-reasoner:")
"""The prefix of internal predicates of rule sets."""

_LARGEST: Final = 6
"""The maximum number of facts of a set whose subsets are searched."""


def clashes(violations: Iterable[Violation], naming: Naming) -> Iterator[Violation]:
    """Yield one violation for each clash, in order of first occurrence.

    Args:
        violations: All of them, in the order of their rules.
        naming: One name for equal things.
    """
    best: dict[tuple[Rule | None, _Facts], Violation] = {}
    for violation in violations:
        is_general = _is_of_owl(violation.rule)
        facts = _facts(violation, naming if is_general else _as_it_is, drops_schema=is_general)
        key = None if is_general else violation.rule, facts
        if key not in best or _says(violation) > _says(best[key]):
            best[key] = violation
    for (rule, facts), violation in best.items():
        if rule is not None or not any((None, other) in best for other in _stronger(facts)):
            yield violation


@remembered
def _is_of_owl(rule: Rule) -> bool:
    """Return whether a rule belongs to OWL 2 or RDFS, or is a translated axiom."""
    name = rule.origin.name or ""
    return bool(rule.origin.axiom or BY_THE_BOOK.match(name)) or name.startswith(("beyond/", "datatypes/"))


def _as_it_is(term: Term) -> Term:
    return term


def _says(violation: Violation) -> tuple[bool, int]:
    """Return how specific a violation is: axioms are more specific than rules, and more terms than fewer."""
    return bool(violation.rule.origin.axiom), len(set(violation.terms.values()))


def _stronger(facts: _Facts) -> Iterator[_Facts]:
    """Yield the sets of facts that conflict with fewer assumptions: subsets, and facts about narrower datatypes."""
    if len(facts) <= _LARGEST:
        for size in range(1, len(facts) + 1):
            for part in combinations(facts, size):
                yield from (found for found in map(frozenset, product(*map(_as_narrow, part))) if found != facts)


def _as_narrow(fact: _Fact) -> Sequence[_Fact]:
    """Return a fact and the facts that entail it: about narrower datatypes, or about equality with several values."""
    match fact:
        case (True, predicate, (subject, RDF.type, IRI(datatype))) if predicate == TRIPLE and datatype in DATATYPES:
            types = [(True, TRIPLE, (subject, RDF.type, IRI(name))) for name in (datatype, *sorted(narrower(datatype)))]
            return [*types, (True, OWL.sameAs, frozenset([subject]))]
    return [fact]


def _facts(violation: Violation, naming: Naming, *, drops_schema: bool) -> _Facts:
    """Return the facts that violate a rule: its body under the variable bindings."""
    values = {Variable(name): naming(term) for name, term in violation.terms.items()}
    atoms: list[tuple[bool, Atom]] = []
    others: list[_Fact] = []
    for part in violation.rule.body:
        if isinstance(part, Atom):
            atoms.append((True, part))
        elif isinstance(part, Negation):
            atoms.append((False, part.atom))
        elif not isinstance(part, Filter):  # aggregates and computed values: what they gave is what counts
            others = list(violation.terms.items())
    every = frozenset([*(_fact(atom, values, naming, holds) for holds, atom in atoms), *others])
    if not drops_schema:
        return every
    about = [atom for holds, atom in atoms if holds and not _is_schema(atom, values)]
    return frozenset([*(_fact(atom, values, naming, True) for atom in about), *others]) or every


def _fact(atom: Atom, values: dict[Variable, Term], naming: Naming, holds: bool) -> _Fact:
    terms = tuple(values.get(term, term) if isinstance(term, Variable) else naming(term) for term in atom.terms)
    if atom.predicate == TRIPLE and terms[1] in _SYMMETRIC:
        ends = frozenset((terms[0], terms[2]))
        property = OWL.sameAs if terms[1] == OWL.differentFrom and len(ends) == 1 else terms[1]  # either is wrong if both hold
        return holds, property, ends
    return holds, atom.predicate, terms


def _is_schema(atom: Atom, values: dict[Variable, Term]) -> bool:
    """Return whether an atom is about classes, properties or datatypes, or has an internal predicate of a rule set."""
    if atom.predicate != TRIPLE:
        return atom.predicate in _GIVEN or atom.predicate.startswith(_HELPERS)
    property, value = (values.get(term, term) if isinstance(term, Variable) else term for term in atom.terms[1:])
    if property == RDF.type:
        return isinstance(value, IRI) and (value in OWL or value in RDFS) and value not in (OWL.Nothing, RDFS.Literal)
    return isinstance(property, IRI) and (property in OWL or property in RDFS or property in _LISTS) and property != OWL.sameAs


_GIVEN: Final = GIVEN_RELATIONS.keys() - {"ill_typed"}
_LISTS: Final = frozenset([RDF.first, RDF.rest])
