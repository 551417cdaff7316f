"""A reader for the suite of update streams: rule sets as a JSON tree, and streams of steps that delete facts and then add some.

The suite's facts are lists of words, ``["edge", "26", "46"]``. They become facts of general predicates or triples: ``a1:Image(x)``
becomes ``[x, rdf:type, a1:Image]`` and ``edge(x, y)`` becomes ``[x, edge, y]``.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from kg_reasoner.api.update import Row, Update
from kg_reasoner.program import TRIPLE, Argument, Atom, Call, Filter, Program, Rule, Variable
from kg_reasoner.terms import IRI, RDF, Term

__all__ = ["NAMESPACE", "SUITE", "State", "StreamStep", "UpdateStream", "names", "read", "rule_set"]

SUITE: Final = Path(__file__).parents[3] / "shared" / "suites" / "updates"
"""Where the suite lies, if it is here."""

NAMESPACE: Final = "http://example.org/"


@dataclass(frozen=True)
class State:
    """The expected materialisation: its explicit facts, all facts, and the SHA-256 of all facts as sorted lines."""

    explicit: int
    total: int
    sha256: str


@dataclass(frozen=True)
class StreamStep:
    """An update, and the expected state after it."""

    update: Update
    after: State


@dataclass(frozen=True)
class UpdateStream:
    """The steps of one stream, and its constant rules."""

    program: Program
    steps: tuple[StreamStep, ...]


def names() -> list[str]:
    """Return the names of all streams, such as ``random__path__100-10-200__0``, or none if the suite is absent."""
    return sorted(path.stem for path in (SUITE / "streams").glob("*.json"))


def rule_set(name: str) -> str:
    """Return the rule set of a stream.

    >>> rule_set("random__path__100-10-200__0")
    'path'
    """
    return name.split("__")[1]


def read(name: str, *, triples: bool = False) -> UpdateStream:
    """Return a stream, with its facts as those of general predicates, or as triples."""
    tree = json.loads((SUITE / "streams" / f"{name}.json").read_text(encoding="utf-8"))
    steps = (
        StreamStep(Update(_facts(step["add"], triples), _facts(step["delete"], triples)), State(**told))
        for step, told in zip(tree["steps"], tree["expected"], strict=True)
    )
    return UpdateStream(_program(rule_set(name), triples), tuple(steps))


@cache
def _program(name: str, triples: bool) -> Program:
    tree = json.loads((SUITE / "rules" / f"{name}.json").read_text(encoding="utf-8"))
    return Program(tuple(dict.fromkeys(_rule(node, triples) for node in tree)))


def _rule(node: Any, triples: bool) -> Rule:
    differ = (Filter(Call("!=", (_argument(left), _argument(right)))) for left, right in node["neq"])
    return Rule(_atom(node["head"], triples), (*(_atom(words, triples) for words in node["body"]), *differ))


def _facts(lists: Iterable[list[str]], triples: bool) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = {}
    for words in lists:
        atom = _atom(words, triples)
        found.setdefault(atom.predicate, []).append(tuple(term for term in atom.terms if not isinstance(term, Variable)))
    return found


def _atom(words: list[str], triples: bool) -> Atom:
    name, *arguments = words
    terms = tuple(map(_argument, arguments))
    if not triples:
        return Atom(f"<{name}/{len(terms)}>", terms)  # some names are used with one argument and with two
    if len(terms) == 1:
        return Atom(TRIPLE, (*terms, RDF.type, _term(name)))
    return Atom(TRIPLE, (terms[0], _term(name), terms[1]))


def _argument(word: str) -> Argument:
    return Variable(word[1:]) if word.startswith("?") else _term(word)


@cache
def _term(word: str) -> Term:
    return IRI(NAMESPACE + quote(word, safe=""))
