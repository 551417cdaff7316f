"""Changes of facts by their primary keys."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from kg_reasoner.api.declared_relations.keys import check_among, check_new_key, facts_with_keys, stated_facts
from kg_reasoner.api.inputs.given_values import as_value, expect_several
from kg_reasoner.api.operations.core import ReasonerCore
from kg_reasoner.engine.facts.row_encoding import as_rows, encode_rows
from kg_reasoner.errors import ArityError, KeyViolationError, ReasonerError, UnknownNameError, plural
from kg_reasoner.language.checks.declarations import key_places
from kg_reasoner.program import Declaration
from kg_reasoner.storage.arrays import Ids
from kg_reasoner.storage.grouping import group_rows, pair_rows
from kg_reasoner.terms import AnyTerm, Term

__all__ = ["delete_key", "insert_or_update", "modify"]


def insert_or_update(core: ReasonerCore, predicate: str, rows: Iterable[Sequence[AnyTerm]]) -> None:
    """Add facts, in place of those with the same keys; see `Reasoner.insert_or_update`."""
    facts = as_rows(rows)
    if not facts:
        return
    with core.atomic():
        declaration = _with_key(core, predicate)
        for row in facts:
            if len(row) != declaration.arity:
                raise ArityError(f"{predicate} has {plural(declaration.arity, 'argument')}, not {len(row)}")
        ids = encode_rows(core.dictionary, facts, declaration.arity)
        core.engine.column_types.check(predicate, ids)
        _replace(core, declaration, ids)


def delete_key(core: ReasonerCore, predicate: str, keys: Iterable[Any]) -> None:
    """Remove the facts with some keys; see `Reasoner.delete_key`."""
    expect_several(keys, "keys")
    given = list(keys)
    if not given:
        return
    with core.atomic():
        declaration = _with_key(core, predicate)
        _remove(core, declaration, _with_keys(core, declaration, [_as_key(declaration, key) for key in given]))


def modify(core: ReasonerCore, predicate: str, key: Any, changes: Mapping[str, Any]) -> None:
    """Change columns of the fact with a key; see `Reasoner.modify`."""
    with core.atomic():
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
            check_new_key(core.engine, declaration, changed)
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
        raise ReasonerError(
            f"a key of {declaration.predicate} has {plural(len(declaration.key), 'value')} ({expected}), not {len(values)}"
        )
    return tuple(map(as_value, values))


def _with_keys(core: ReasonerCore, declaration: Declaration, keys: Sequence[tuple[Term, ...]]) -> Ids:
    """Return the facts with given keys.

    Raises:
        KeyViolationError: No fact has one of the keys.
    """
    ids = encode_rows(core.dictionary, keys, len(declaration.key))
    numbers, rows = facts_with_keys(core.engine, declaration, ids)
    for missing in sorted(set(range(len(keys))).difference(numbers.tolist())):
        from kg_reasoner.language.printer import format_term

        pairs = zip(declaration.key, map(format_term, keys[missing]), strict=True)
        shown = ", ".join(f"{name} = {text}" for name, text in pairs)
        raise KeyViolationError(f"{declaration.predicate} has no fact with the primary key {shown}")
    return np.ascontiguousarray(rows[group_rows(rows)[1]])


def _replace(core: ReasonerCore, declaration: Declaration, facts: Ids) -> None:
    """Add facts, and remove those with the same keys that differ."""
    check_among(core.engine, declaration, facts)
    numbers, known = facts_with_keys(core.engine, declaration, np.ascontiguousarray(facts[:, key_places(declaration)]))
    differ = (facts[numbers] != known).any(axis=1)
    if differ.any():
        _remove(core, declaration, np.ascontiguousarray(known[differ]))
    core.engine.load(declaration.predicate, facts)


def _remove(core: ReasonerCore, declaration: Declaration, rows: Ids) -> None:
    """Remove explicit facts.

    Raises:
        KeyViolationError: The program states one of them.
    """
    stated = stated_facts(core.engine, core.engine.program, declaration)
    _, found = pair_rows(rows, stated)
    if len(found):
        from kg_reasoner.language.printer import format_term

        (terms,) = core.dictionary.decode_rows(stated[found[:1]])
        fact = f"{declaration.predicate}({', '.join(map(format_term, terms))})"
        raise KeyViolationError(f"the program states {fact}", hint="remove it from the program with remove_rules")
    core.engine.retract(declaration.predicate, rows)
