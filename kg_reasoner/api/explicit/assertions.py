"""Assertion and retraction of facts: triples, and facts of general predicates according to the declarations of their relations."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from kg_reasoner.api.operations.core import ReasonerCore
from kg_reasoner.engine.facts.row_encoding import (
    as_rows,
    as_term,
    encode_rows,
    encode_triples,
    expect_predicate,
    expect_rows,
    find_rows,
    find_triples,
)
from kg_reasoner.errors import ArityError, ReasonerError, plural
from kg_reasoner.planning.catalog import INTERNAL
from kg_reasoner.program import FALSE, TRIPLE, Declaration, is_reserved
from kg_reasoner.storage.arrays import Ids, TripleIds
from kg_reasoner.terms import AnyTerm, AnyTriple

__all__ = [
    "add_facts",
    "add_triples",
    "expect_general",
    "know",
    "remove_facts",
    "remove_triples",
    "assert_facts",
    "retract_facts",
]


def add_triples(core: ReasonerCore, triples: Iterable[AnyTriple] | TripleIds) -> None:
    """See `kg_reasoner.api.reasoner.Reasoner.add_triples`."""
    ids = encode_triples(core.dictionary, triples)
    if len(ids):
        with core.atomic():
            core.assert_triples(ids)


def remove_triples(core: ReasonerCore, triples: Iterable[AnyTriple] | TripleIds) -> None:
    """See `kg_reasoner.api.reasoner.Reasoner.remove_triples`."""
    wanted = triples if isinstance(triples, np.ndarray) else list(expect_rows(triples))
    with core.atomic():
        core.retract_triples(find_triples(core.dictionary, wanted))


def know(core: ReasonerCore, terms: Iterable[AnyTerm]) -> None:
    """See `kg_reasoner.api.reasoner.Reasoner.know`."""
    from kg_reasoner.api.inputs.given_values import expect_several

    expect_several(terms, "terms")
    new = [term for term in map(as_term, terms) if term not in core.dictionary]
    if new:
        with core.atomic():
            for term in new:
                core.dictionary.encode(term)
            core.engine.touch()


def add_facts(core: ReasonerCore, predicate: str, rows: Iterable[Sequence[AnyTerm]]) -> None:
    """See `kg_reasoner.api.reasoner.Reasoner.add_facts`."""
    expect_general(predicate)
    facts = as_rows(rows)
    if not facts:
        return
    with core.atomic():
        if predicate == TRIPLE:
            _expect_arity(facts, 3, "a triple")
            core.assert_triples(encode_rows(core.dictionary, facts, 3))  # also generalised ones, as rules derive them
            return
        arity = len(facts[0])
        core.engine.expect_arities({predicate: arity})
        _expect_arity(facts, arity, predicate)
        ids = encode_rows(core.dictionary, facts, arity)
        core.engine.column_types.check(predicate, ids)
        assert_facts(core, predicate, ids)


def remove_facts(core: ReasonerCore, predicate: str, rows: Iterable[Sequence[AnyTerm]]) -> None:
    """See `kg_reasoner.api.reasoner.Reasoner.remove_facts`."""
    expect_general(predicate)
    facts = as_rows(rows)
    with core.atomic():
        if predicate == TRIPLE:
            _expect_arity(facts, 3, "a triple")
            core.retract_triples(find_rows(core.dictionary, facts, 3))
            return
        relation = core.engine.catalog.predicates.get(predicate, -1)
        if relation >= 0:
            arity = core.engine.database.relations[relation].arity
            retract_facts(core, predicate, find_rows(core.dictionary, facts, arity))


def expect_general(predicate: str) -> None:
    """Check that a predicate is one for which facts are given by name.

    Raises:
        ReasonerError: It is the engine's own, or not named.
    """
    expect_predicate(predicate)
    if predicate == FALSE or predicate.startswith(INTERNAL) or is_reserved(predicate):
        raise ReasonerError(f"{predicate!r} is not the name of a predicate of yours")


def assert_facts(core: ReasonerCore, predicate: str, facts: Ids) -> None:
    """Make facts explicit, within an operation. Their arity and the types of their terms have been checked.

    Raises:
        KeyViolationError: A fact has the primary key of another one.
        ReasonerError: The relation is the delay, the difference or a choice of another one.
    """
    declaration = core.declared(predicate)
    if declaration is not None:
        _expect_given(declaration)
        if declaration.kind == "multiset":
            from kg_reasoner.api.explicit.multisets import add_counted

            add_counted(core.engine, predicate, facts)
            return
        if declaration.key:
            from kg_reasoner.api.declared_relations.keys import check_keys

            check_keys(core.engine, declaration, facts)
    core.engine.load(predicate, facts)


def retract_facts(core: ReasonerCore, predicate: str, facts: Ids) -> None:
    """Make facts no longer explicit, within an operation.

    Raises:
        ReasonerError: The relation is the delay, the difference or a choice of another one.
    """
    declaration = core.declared(predicate)
    if declaration is not None:
        _expect_given(declaration)
        if declaration.kind == "multiset":
            from kg_reasoner.api.explicit.multisets import remove_counted

            remove_counted(core.engine, predicate, facts)
            return
    core.engine.retract(predicate, facts)


def _expect_arity(rows: Sequence[Sequence[AnyTerm]], arity: int, what: str) -> None:
    """Check that all rows have as many terms.

    Raises:
        ArityError: One of them has another number.
    """
    for row in rows:
        if len(row) != arity:
            raise ArityError(f"{what} has {plural(arity, 'argument')}, not {len(row)}")


def _expect_given(declaration: Declaration) -> None:
    if declaration.derived_as:
        raise ReasonerError(
            f"{declaration.predicate} is the {declaration.derived_as} of {declaration.source}, and not changed by hand"
        )
