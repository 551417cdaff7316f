"""The explicit content of a reasoner as plain data, for copies and pickles of graphs: N-Quads, rows of facts, and settings.

Nothing that is inferred is part of it: a reasoner that is made from it reasons again. Neither are subscriptions, nor the boundaries
of transactions. Blank nodes keep their labels, as they do in rdflib's own copies and pickles, so that triples of a copy can be
compared with those of the original.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final, TypeAlias, cast

import numpy as np

from kg_reasoner.api.reasoner import Reasoner
from kg_reasoner.errors import LoadError
from kg_reasoner.language.printer import format_program
from kg_reasoner.planning.catalog import INTERNAL
from kg_reasoner.program import TRIPLE
from kg_reasoner.query.quads import GRAPH_COLUMN, GRAPHS
from kg_reasoner.storage.arrays import Ids
from kg_reasoner.storage.dictionary import Dictionary

__all__ = ["State", "reasoner_from", "state_of"]

State: TypeAlias = "dict[str, Any]"
"""Texts, bytes, numbers, and lists of them."""

FORM: Final = 1
"""The form of a state; another version of this package may have another one."""

_TERM: Final = re.compile(rb'<[^>]*>|_:[^ ]+|"(?:[^"\\]|\\.)*"(?:\^\^<[^>]*>|@[A-Za-z0-9-]+)?')
"""A term in the dictionary's form, which is that of N-Quads."""


def state_of(source: Reasoner, template: Reasoner) -> State:
    """Return the explicit facts of a reasoner, and the program and the settings of another one or the same; within a reading.

    Args:
        source: The reasoner with the facts.
        template: The reasoner with the program and the settings.
    """
    return {
        "form": FORM,
        "program": format_program(template.program),
        "settings": {
            "maintenance": template.maintenance,
            "datatypes": sorted(template.datatypes),
            "equality": template.equality,
            "on_inconsistency": template.on_inconsistency,
            "show_hidden": template.visibility.shows_all,
            "limits": template.limits,
            "threads": template.threads,
        },
        "facts": dict(_facts(source)),
        **_statements(source),
    }


def reasoner_from(state: State) -> Reasoner:
    """Return a new reasoner with the content of a state.

    Args:
        state: A state.

    Raises:
        LoadError: The state was made by another version of this package, or is damaged.
    """
    if state.get("form") != FORM:
        raise LoadError("the pickled graph was made by another version of kg_reasoner", hint="exchange graphs as N-Quads")
    settings = dict(state["settings"])
    reaction = settings.pop("on_inconsistency")
    reasoner = Reasoner(state["program"], **settings)
    dictionary = reasoner.dictionary
    with reasoner.transaction(collects=False):
        for predicate, (arity, rows) in state["facts"].items():
            reasoner.add_facts(predicate, dictionary.decode_rows(_ids(rows, arity, dictionary)))
        triples, quads, names = _ids(state["triples"], 3, dictionary), _ids(state["quads"], 4, dictionary), state["graphs"]
        if len(quads) or names:
            graphs = reasoner.named_graphs
            graphs.add_triples(triples)
            graphs.add(quads)
            graphs.create(dictionary.encode_texts(names))
        else:
            reasoner.add_triples(triples)
    reasoner.on_inconsistency = reaction
    return reasoner


def _statements(source: Reasoner) -> State:
    """Return the triples of the default graph, those of named graphs, and the names of these graphs."""
    triples, dictionary = source.engine.base.triples("explicit"), source.dictionary
    if GRAPHS not in source.engine.catalog.predicates:
        return {"triples": _document(triples, dictionary), "quads": b"", "graphs": []}
    quads = source.core.queries.quads
    named = quads.match_quads(None, None, None, None)
    return {
        "triples": _document(triples[quads.in_default(triples)], dictionary),
        "quads": _document(named[named[:, GRAPH_COLUMN] != quads.default], dictionary),
        "graphs": [dictionary.text(name) for name in quads.names().tolist()],
    }


def _facts(source: Reasoner) -> Iterator[tuple[str, tuple[int, bytes]]]:
    """Yield the explicit facts of general predicates: name, number of arguments, and rows."""
    for predicate in source.engine.catalog.predicates:
        if predicate != TRIPLE and not predicate.startswith(INTERNAL):
            rows = source.engine.base.rows(predicate, "explicit")
            if len(rows) and rows.shape[1]:
                yield predicate, (rows.shape[1], _document(np.asarray(rows), source.dictionary))


def _document(ids: Ids, dictionary: Dictionary) -> bytes:
    """Return rows of ids as lines of N-Quads."""
    terms, positions = np.unique(ids, return_inverse=True)
    texts = dictionary.texts_of(terms.tolist())
    rows = cast(list[list[int]], positions.reshape(ids.shape).tolist())
    return "".join(f"{' '.join([texts[term] for term in row])} .\n" for row in rows).encode()


def _ids(document: bytes, width: int, dictionary: Dictionary) -> Ids:
    """Return the ids of the terms in lines of N-Quads with a number of terms each."""
    texts: Sequence[bytes] = _TERM.findall(document)
    if len(texts) != width * document.count(b" .\n"):
        raise LoadError("the pickled graph is damaged: its triples cannot be read")
    return dictionary.encode_texts([text.decode() for text in texts]).reshape(-1, width)
