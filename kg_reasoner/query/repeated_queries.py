"""Queries with few answers, ready to be asked again: one call of a kernel, as long as nothing changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kg_reasoner.query.patterns import AnyPattern, Queries
from kg_reasoner.storage.databases.few_answers import (
    ANYTHING,
    IDS,
    PROPERTY,
    RESOURCE,
    FewAnswers,
    FewAround,
    FewOfPlan,
    FewReached,
)
from kg_reasoner.storage.kernels.memory.buffers import allocate
from kg_reasoner.storage.kernels.memory.struct_tables import Record, StructTable
from kg_reasoner.storage.kernels.queries.around import Surroundings
from kg_reasoner.terms import RDF

__all__ = ["few_answers", "few_around", "few_reached"]


def few_answers(
    queries: Queries,
    patterns: Sequence[AnyPattern],
    wanted: Sequence[str],
    given: Sequence[str] = (),
    *,
    is_distinct: bool = False,
) -> FewAnswers | None:
    """Return the few answers of patterns of all triples, ready to be asked; None if the patterns are not joined by one plan.

    Args:
        queries: The queries over the present facts.
        patterns: The patterns.
        wanted: The variables of the answer, in this order.
        given: Variables whose values are given when it is asked.
        is_distinct: Whether equal answers are returned once.
    """
    needed = queries.needed(patterns, wanted)
    if queries.matcher.generalised or not set(wanted) <= set(needed) or len(set(wanted)) < len(wanted) or len(needed) > IDS:
        return None
    atoms = queries.atoms_of(patterns) if queries.are_planned(patterns, "all") else None
    if atoms is None:
        return None
    names = (*wanted, *(name for name in needed if name not in wanted))
    return FewOfPlan(
        queries.catalog.database,
        *queries.plan_of(atoms, names, given),
        _kinds(patterns, names),
        queries.catalog.dictionary.first_bytes(),
        len(wanted),
        is_distinct=is_distinct,
        given=len(given),
    )


def _kinds(patterns: Sequence[AnyPattern], names: Sequence[str]) -> list[int]:
    """Return the kinds of terms that variables may stand for in RDF."""
    subjects, properties = ({pattern[place] for pattern in patterns} for place in (0, 1))
    return [PROPERTY if name in properties else RESOURCE if name in subjects else ANYTHING for name in names]


def few_around(queries: Queries, pattern: AnyPattern, given: Sequence[str] = ()) -> tuple[list[str], FewAnswers] | None:
    """Return the variables of a pattern with a known subject or value, and its few matches; None if it is not such a pattern.

    The property is a variable, or rdf:type of a known subject.

    Args:
        queries: The queries over the present facts.
        pattern: The pattern.
        given: The variable whose value is given when it is asked, if the pattern names neither subject nor value.
    """
    subject, property, value, *graph = pattern
    is_subject = isinstance(subject, int) or (len(given) == 1 and subject == given[0])
    known, other = (subject, value) if is_subject else (value, subject)
    if graph or not isinstance(other, str) or known == other or queries.matcher.generalised:
        return None
    if isinstance(known, int) == bool(given) or (given and list(given) != [known]):
        return None
    is_typed = is_subject and property == queries.catalog.dictionary.find(RDF.type)
    if not (is_typed or (isinstance(property, str) and property not in (known, other))):
        return None
    around = _surroundings(queries, forwards=is_subject, of_classes=is_typed)
    names = [".property" if is_typed else str(property), other]
    start = known if isinstance(known, int) else None
    return names, FewAround(queries.catalog.database, around, start, is_subject=is_subject)


def _surroundings(queries: Queries, *, forwards: bool, of_classes: bool) -> Record:
    """Return the relations of all properties and classes, for kernels."""
    catalog, visibility = queries.catalog, queries.visibility
    is_active = visibility is not None and visibility.is_active
    key, state = (forwards, of_classes), (is_active, len(catalog.dictionary), len(catalog.database.relations))
    known = queries.surroundings.get(key)
    if known is not None and known[0] == state:
        return known[1]
    fields = catalog.layout.surroundings(forwards=forwards, of_classes=of_classes)
    marks: Mapping[str, Any] = {"marks": allocate(1, "u1", 0), "kind": catalog.dictionary.find(RDF.type)}
    if visibility is not None:
        marks = visibility.marks()
    record = StructTable(Surroundings, capacity=1).add(**fields, **marks, first_bytes=catalog.dictionary.first_bytes())
    queries.surroundings[key] = state, record
    return record


def few_reached(queries: Queries, start: int | None, property: int, *, takes_start: bool, forwards: bool) -> FewAnswers | None:
    """Return the few nodes that are reached from a node by a property; None if there is no index for its steps, or if some of
    its triples are not stored.

    Args:
        queries: The queries over the present facts.
        start: The node; None: it is given when it is asked.
        property: The property, whose triples are all visible.
        takes_start: Whether the node itself counts as reached.
        forwards: Whether steps lead from subjects to values.
    """
    catalog = queries.catalog
    relation, terms = catalog.layout.find("start", property, "end")
    if queries.matcher.generalised or relation < 0 or "end" not in terms or not queries.matcher.is_rdf(None, property):
        return None
    if queries.unstored.covers(property):
        return None
    near, far = terms.index("start"), terms.index("end")
    key, found = (near, far) if forwards else (far, near)
    index = catalog.database.index(relation, (key,), property if property in terms else -1)
    if catalog.database.index_value_column(index) != found:
        return None
    first_bytes = catalog.dictionary.first_bytes()
    return FewReached(catalog.database, index, start, first_bytes, takes_start=takes_start, forwards=forwards)
