"""Primary keys of relations: facts are found, replaced and removed by them, and no two facts have the same."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, cast

import numpy as np

from kg_reasoner.api.core import ReasonerCore
from kg_reasoner.api.values import as_value
from kg_reasoner.engine.encoding import as_row, encode_rows
from kg_reasoner.errors import ArityError, KeyViolationError, ReasonerError, UnknownNameError
from kg_reasoner.language.declarations import key_places, key_violation
from kg_reasoner.program import Atom, Declaration, Program
from kg_reasoner.storage.arrays import Ids
from kg_reasoner.storage.grouping import group_rows, pair_rows
from kg_reasoner.terms import AnyTerm, Term, term_text

__all__ = ["check_keys", "check_program", "delete_key", "insert_or_update", "modify"]

_MANY = 8
"""A table is searched as a whole if it has at most so many times as many rows as keys are looked for; otherwise by an index."""


# ---- checks


def check_keys(core: ReasonerCore, declaration: Declaration, facts: Ids) -> None:
    """Check that facts that are about to be added have keys that no other facts have.

    Raises:
        KeyViolationError: Two facts have the same key; the message has both.
    """
    places = key_places(declaration)
    _check_among(core, declaration, facts)
    new, known = _known(core, declaration, facts[:, places])
    differ = np.flatnonzero((facts[new] != known).any(axis=1))
    if len(differ):
        raise _violation(core, declaration, facts[new[differ[0]]], known[differ[0]])


def check_program(core: ReasonerCore, program: Program) -> None:
    """Check the explicit facts against the keys and the facts of a program, which may replace the present one.

    Raises:
        KeyViolationError: Two facts have the same key.
    """
    for declaration in program.declarations:
        if declaration.key and declaration.predicate in core.engine.catalog.predicates:
            facts = core.engine.base.rows(declaration.predicate, "explicit")
            stated = _stated(core, program, declaration)
            _check_among(core, declaration, np.concatenate([stated, facts]))


def _check_among(core: ReasonerCore, declaration: Declaration, facts: Ids) -> None:
    labels, firsts = group_rows(np.ascontiguousarray(facts[:, key_places(declaration)]))
    differ = np.flatnonzero((facts != facts[firsts[labels]]).any(axis=1))
    if len(differ):
        raise _violation(core, declaration, facts[differ[0]], facts[firsts[labels[differ[0]]]])


def _violation(core: ReasonerCore, declaration: Declaration, new: Ids, known: Ids) -> KeyViolationError:
    rows = core.dictionary.decode_rows(np.array([new, known], np.int32))
    first, second = (Atom(declaration.predicate, row) for row in rows)
    return key_violation(declaration, first, second)


def _known(core: ReasonerCore, declaration: Declaration, keys: Ids) -> tuple[Any, Ids]:
    """Return the explicit facts, and those of the program, that have keys: the number of the key of each, and the fact."""
    predicate, places, arity = declaration.predicate, key_places(declaration), declaration.arity
    base, tables = core.engine.base, [_stated(core, core.engine.program, declaration)]
    found, numbers = [np.empty((0, arity), np.int32)], [np.empty(0, np.int64)]
    if predicate in core.engine.catalog.predicates:
        size = core.engine.database.size(core.engine.catalog.predicates[predicate])
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


def _stated(core: ReasonerCore, program: Program, declaration: Declaration) -> Ids:
    """Return the facts of a predicate that a program states, as ids."""
    heads = [rule.head for rule in program.rules if rule.head.predicate == declaration.predicate and not rule.body]
    texts = [term_text(cast(Term, term)) for head in heads for term in head.terms]
    return core.dictionary.encode_texts(texts).reshape(len(heads), declaration.arity)


# ---- changes by key


def insert_or_update(core: ReasonerCore, predicate: str, rows: Iterable[Sequence[AnyTerm]]) -> None:
    """Add facts, in place of those with the same keys; see `Reasoner.insert_or_update`."""
    facts = list(map(as_row, rows))
    if not facts:
        return
    with core.at_once():
        declaration = _with_key(core, predicate)
        for row in facts:
            if len(row) != declaration.arity:
                raise ArityError(f"{predicate} has {declaration.arity} arguments, not {len(row)}")
        ids = encode_rows(core.dictionary, facts, declaration.arity)
        core.engine.column_types.check(predicate, ids)
        _replace(core, declaration, ids)


def delete_key(core: ReasonerCore, predicate: str, keys: Iterable[Any]) -> None:
    """Remove the facts with some keys; see `Reasoner.delete_key`."""
    given = list(keys)
    if not given:
        return
    with core.at_once():
        declaration = _with_key(core, predicate)
        _remove(core, declaration, _with_keys(core, declaration, [_as_key(declaration, key) for key in given]))


def modify(core: ReasonerCore, predicate: str, key: Any, changes: Mapping[str, Any]) -> None:
    """Change columns of the fact with a key; see `Reasoner.modify`."""
    with core.at_once():
        declaration = _with_key(core, predicate)
        names = [column.name for column in declaration.columns]
        row = _with_keys(core, declaration, [_as_key(declaration, key)])
        changed = np.array(row)
        for name, value in changes.items():
            if name not in names:
                raise UnknownNameError(f"column of {predicate}", name, names)
            changed[0, names.index(name)] = core.dictionary.encode(as_value(value))
        core.engine.column_types.check(predicate, changed)
        if (changed[:, key_places(declaration)] != row[:, key_places(declaration)]).any():
            _remove(core, declaration, row)
            check_keys(core, declaration, changed)
            core.engine.load(predicate, changed)
        else:
            _replace(core, declaration, changed)


def _with_key(core: ReasonerCore, predicate: str) -> Declaration:
    """Return the declaration of a predicate with a key.

    Raises:
        ReasonerError: It has none.
    """
    found = core.declared(predicate)
    if found is None or not found.key:
        example = f"input relation {predicate}(id: integer, ...) primary key (id) ."
        raise ReasonerError(f"{predicate} has no primary key; declare one: {example}")
    return found


def _as_key(declaration: Declaration, key: Any) -> tuple[Term, ...]:
    """Return a key as terms; that of one column may be given as it is.

    Raises:
        ReasonerError: It has another number of values.
    """
    values = tuple(key) if isinstance(key, tuple | list) else (key,)
    if len(values) != len(declaration.key):
        expected = ", ".join(declaration.key)
        raise ReasonerError(f"a key of {declaration.predicate} has {len(declaration.key)} values ({expected}), not {len(values)}")
    return tuple(map(as_value, values))


def _with_keys(core: ReasonerCore, declaration: Declaration, keys: Sequence[tuple[Term, ...]]) -> Ids:
    """Return the facts with some keys.

    Raises:
        KeyViolationError: There is none with a key.
    """
    ids = encode_rows(core.dictionary, keys, len(declaration.key))
    numbers, rows = _known(core, declaration, ids)
    for missing in sorted(set(range(len(keys))).difference(numbers.tolist())):
        pairs = zip(declaration.key, map(term_text, keys[missing]), strict=True)
        shown = ", ".join(f"{name} = {text}" for name, text in pairs)
        raise KeyViolationError(f"{declaration.predicate} has no fact with the primary key {shown}")
    return np.ascontiguousarray(rows[group_rows(rows)[1]])


def _replace(core: ReasonerCore, declaration: Declaration, facts: Ids) -> None:
    """Add facts, and remove those with the same keys that differ."""
    _check_among(core, declaration, facts)
    numbers, known = _known(core, declaration, np.ascontiguousarray(facts[:, key_places(declaration)]))
    differ = (facts[numbers] != known).any(axis=1)
    if differ.any():
        _remove(core, declaration, np.ascontiguousarray(known[differ]))
    core.engine.load(declaration.predicate, facts)


def _remove(core: ReasonerCore, declaration: Declaration, rows: Ids) -> None:
    """Remove explicit facts.

    Raises:
        KeyViolationError: The program states one of them.
    """
    stated = _stated(core, core.engine.program, declaration)
    if len(pair_rows(rows, stated)[0]):
        hint = "remove it from the program with remove_rules"
        fact = next(_atoms(core, declaration, stated[pair_rows(rows, stated)[1][:1]]))
        raise KeyViolationError(f"the program states {declaration.predicate}({', '.join(map(str, fact.terms))})", hint=hint)
    core.engine.retract(declaration.predicate, rows)


def _atoms(core: ReasonerCore, declaration: Declaration, rows: Ids) -> Iterator[Atom]:
    return (Atom(declaration.predicate, row) for row in core.dictionary.decode_rows(rows))
