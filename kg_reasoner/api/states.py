"""The explicit content of a reasoner as plain data, for copies and pickles of graphs: N-Quads, rows of facts, and settings.

Nothing that is inferred is part of it: a reasoner that is made from it reasons again. Neither are subscriptions, nor the boundaries
of transactions. What relations remember between transactions is: counts of multisets, and what delays will show. So are the origins
of rules and what queries have asked of, which decide what is stored of the facts that hold of all terms. Blank nodes keep their
labels, as they do in rdflib's own copies and pickles, so that triples of a copy can be compared with those of the original.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator, Sequence
from typing import Any, Final, NoReturn, TypeAlias, cast

import numpy as np

from kg_reasoner.api.declared_relations.ticks import DELAYED
from kg_reasoner.api.explicit.multisets import COUNTS
from kg_reasoner.api.inputs.given_programs import as_program
from kg_reasoner.api.operations.core import ReasonerCore
from kg_reasoner.api.reasoner import Reasoner
from kg_reasoner.errors import LoadError, ReasonerError
from kg_reasoner.language.printer import format_program
from kg_reasoner.language.saved_programs import dumps_origins, with_origins
from kg_reasoner.planning.catalog import INTERNAL
from kg_reasoner.program import TRIPLE
from kg_reasoner.query.quads import GRAPH_COLUMN, GRAPHS
from kg_reasoner.storage.arrays import Ids
from kg_reasoner.storage.terms.dictionary import Dictionary
from kg_reasoner.terms import term_of, term_text

__all__ = ["State", "reasoner_from", "state_of"]

State: TypeAlias = "dict[str, Any]"
"""Texts, bytes, numbers, and lists of them; and functions in Python, if there are any."""

FORM: Final = 3
"""The form of a state; another version of this package may have another one."""

_TERM: Final = re.compile(rb'<[^>]*>|_:[^ ]+|"(?:[^"\\]|\\.)*"(?:\^\^<[^>]*>|@[A-Za-z0-9-]+)?')
"""A term in the dictionary's form, which is that of N-Quads."""


def state_of(source: Reasoner, template: Reasoner) -> State:
    """Return the explicit facts of a reasoner, and the program and the settings of another one or the same; within a reading.

    Args:
        source: The reasoner with the facts.
        template: The reasoner with the program and the settings.
    """
    ticks = source.core.ticks
    return {
        "form": FORM,
        "program": format_program(template.program),
        "origins": zlib.compress(dumps_origins(template.program), 1),
        "asked": sorted(map(term_text, source.engine.asked_names)),
        "settings": {
            "maintenance": template.maintenance,
            "datatypes": sorted(template.datatypes),
            "equality": template.equality,
            "on_inconsistency": template.on_inconsistency,
            "show_hidden": template.visibility.shows_all,
            "limits": template.limits,
            "threads": template.threads,
        },
        "functions": _PythonFunctions(template.core) if template.core.functions or template.core.reductions else None,
        "facts": dict(_facts(source)),
        "last": {} if ticks is None else {name: _table(rows, source.dictionary) for name, rows in ticks.last.items()},
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
    reasoner = Reasoner(**settings)
    if state["functions"] is not None:
        reasoner.core.functions.update(state["functions"].functions)
        reasoner.core.reductions.update(state["functions"].reductions)
    program = as_program(state["program"], reasoner.core.known)
    try:
        program = with_origins(program, zlib.decompress(state["origins"]))
    except (ValueError, LookupError, TypeError, zlib.error):
        raise LoadError("the pickled graph is damaged: the origins of its rules cannot be read") from None
    reasoner.add_program(program)
    reasoner.core.request_universal_facts(frozenset(map(term_of, state["asked"])))
    dictionary, engine = reasoner.dictionary, reasoner.engine
    ticks, reasoner.core.ticks = reasoner.core.ticks, None  # delays and differences do not change with this transaction
    with reasoner.transaction(collects=False):
        with engine.changing():
            for predicate, (arity, rows) in state["facts"].items():
                engine.load(predicate, _ids(rows, arity, dictionary))
        triples, quads, names = _ids(state["triples"], 3, dictionary), _ids(state["quads"], 4, dictionary), state["graphs"]
        if len(quads) or names:
            graphs = reasoner.named_graphs
            graphs.add_triples(triples)
            graphs.add(quads)
            graphs.create(dictionary.encode_texts(names))
        else:
            reasoner.add_triples(triples)
    if ticks is not None:
        ticks.last = {name: _ids(rows, arity, dictionary) for name, (arity, rows) in state["last"].items()}
        reasoner.core.ticks = ticks
    reasoner.on_inconsistency = reaction
    return reasoner


class _PythonFunctions:
    """The functions in Python of a reasoner, which copies share, and pickles cannot have."""

    def __init__(self, core: ReasonerCore) -> None:
        self.functions, self.reductions = dict(core.functions), dict(core.reductions)

    def __deepcopy__(self, memo: object) -> _PythonFunctions:
        return self

    def __reduce__(self) -> NoReturn:
        raise ReasonerError("a graph whose reasoner has functions in Python cannot be pickled; it can be copied")


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
    """Yield the explicit facts of general predicates by name."""
    for predicate in source.engine.catalog.predicates:
        if predicate != TRIPLE and (not predicate.startswith(INTERNAL) or predicate.startswith((COUNTS, DELAYED))):
            rows = source.engine.base.rows(predicate, "explicit")
            if len(rows):
                yield predicate, _table(rows, source.dictionary)


def _table(rows: Ids, dictionary: Dictionary) -> tuple[int, bytes]:
    """Return the number of arguments of facts, and the facts as lines."""
    return rows.shape[1], _document(np.asarray(rows), dictionary)


def _document(ids: Ids, dictionary: Dictionary) -> bytes:
    """Return rows of ids as lines of N-Quads."""
    terms, positions = np.unique(ids, return_inverse=True)
    texts = dictionary.texts_of(terms.tolist())
    rows = cast(list[list[int]], positions.reshape(ids.shape).tolist())
    return "".join(f"{' '.join([texts[term] for term in row])} .\n" for row in rows).encode()


def _ids(document: bytes, width: int, dictionary: Dictionary) -> Ids:
    """Return the ids of the terms in lines of N-Quads with a number of terms each."""
    texts: Sequence[bytes] = _TERM.findall(document)
    count = document.count(b" .\n")
    if len(texts) != width * count:
        raise LoadError("the pickled graph is damaged: its triples cannot be read")
    return dictionary.encode_texts([text.decode() for text in texts]).reshape(count, width)
