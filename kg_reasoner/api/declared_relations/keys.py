"""Primary keys of relations: they identify facts, and no two facts of a relation have the same key."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from kg_reasoner.engine.engine import Engine
from kg_reasoner.errors import KeyViolationError
from kg_reasoner.language.checks.declarations import key_places, key_violation
from kg_reasoner.program import Atom, Declaration, Program
from kg_reasoner.storage.arrays import Ids
from kg_reasoner.storage.grouping import group_rows, pair_rows
from kg_reasoner.terms import Term, term_text

__all__ = ["check_among", "check_keys", "check_new_key", "check_program", "facts_with_keys", "stated_facts"]

_MANY = 8
"""The maximal ratio of rows to keys for which a table is scanned; beyond it, keys are found by an index."""


# ---- checks


def check_keys(engine: Engine, declaration: Declaration, facts: Ids) -> None:
    """Check that no two facts, present or about to be added, have the same key.

    Raises:
        KeyViolationError: Two facts have the same key; the message has both.
    """
    places = key_places(declaration)
    check_among(engine, declaration, facts)
    new, known = facts_with_keys(engine, declaration, facts[:, places])
    differ = np.flatnonzero((facts[new] != known).any(axis=1))
    if len(differ):
        raise _violation(engine, declaration, facts[new[differ[0]]], known[differ[0]], is_stored=True)


def check_new_key(engine: Engine, declaration: Declaration, fact: Ids) -> None:
    """Check that no fact, not even an equal one, has the key of a fact of shape (1, arity).

    Raises:
        KeyViolationError: A fact has the key.
    """
    _, known = facts_with_keys(engine, declaration, fact[:, key_places(declaration)])
    if len(known):
        raise _violation(engine, declaration, fact[0], known[0], is_stored=True)


def check_program(engine: Engine, program: Program) -> None:
    """Check the explicit facts against the keys and the facts of a program, which may replace the present one.

    Raises:
        KeyViolationError: Two facts have the same key.
    """
    for declaration in program.declarations:
        if declaration.key and declaration.predicate in engine.catalog.predicates:
            facts = engine.base.rows(declaration.predicate, "explicit")
            stated = stated_facts(engine, program, declaration)
            check_among(engine, declaration, np.concatenate([stated, facts]))


def check_among(engine: Engine, declaration: Declaration, facts: Ids) -> None:
    """Check that facts that differ have different keys.

    Raises:
        KeyViolationError: Two have the same.
    """
    if len(facts) < 2:
        return
    labels, firsts = group_rows(np.ascontiguousarray(facts[:, key_places(declaration)]))
    differ = np.flatnonzero((facts != facts[firsts[labels]]).any(axis=1))
    if len(differ):
        raise _violation(engine, declaration, facts[differ[0]], facts[firsts[labels[differ[0]]]])


def _violation(engine: Engine, declaration: Declaration, new: Ids, known: Ids, *, is_stored: bool = False) -> KeyViolationError:
    rows = engine.dictionary.decode_rows(np.array([new, known], np.int32))
    first, second = (Atom(declaration.predicate, row) for row in rows)
    return key_violation(declaration, first, second, is_stored=is_stored)


def facts_with_keys(engine: Engine, declaration: Declaration, keys: Ids) -> tuple[Any, Ids]:
    """Return the explicit facts, and those of the program, that have keys: the number of the key of each, and the fact."""
    predicate, places, arity = declaration.predicate, key_places(declaration), declaration.arity
    base, tables = engine.base, [stated_facts(engine, engine.program, declaration)]
    found, numbers = [np.empty((0, arity), np.int32)], [np.empty(0, np.int64)]
    if predicate in engine.catalog.predicates:
        size = engine.database.size(engine.catalog.predicates[predicate])
        if size <= _MANY * len(keys):
            tables.append(base.rows(predicate, "explicit"))
        else:
            for number, key in enumerate(keys.tolist()):
                rows = base.matching(predicate, dict(zip(places, key, strict=True)), "explicit")
                found.append(rows)
                numbers.append(np.full(len(rows), number, np.int64))
    for table in tables:
        left, right = pair_rows(np.ascontiguousarray(keys), np.ascontiguousarray(table[:, places]))
        numbers.append(left)
        found.append(table[right])
    return np.concatenate(numbers), np.concatenate(found)


def stated_facts(engine: Engine, program: Program, declaration: Declaration) -> Ids:
    """Return the facts of a predicate that a program states, as ids."""
    heads = [rule.head for rule in program.rules if rule.head.predicate == declaration.predicate and not rule.body]
    texts = [term_text(cast(Term, term)) for head in heads for term in head.terms]
    return engine.dictionary.encode_texts(texts).reshape(len(heads), declaration.arity)
