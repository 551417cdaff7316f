"""Rewrites of queries as pairs of texts, in ``tests/sparql/sparql_rewrites.txt``, and the answers, which do not depend on them.

A section has the name of a rewrite and a title, a query, and the query's algebra before and after this rewrite; those before it
have been applied. ``after: unchanged`` means that nothing may move. ``KG_REASONER_SNAPSHOTS=write`` writes the algebra anew: read
the difference.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from pathlib import Path

import pytest

from kg_reasoner import Reasoner
from kg_reasoner.sparql import rewrites
from kg_reasoner.sparql.algebra import Node
from kg_reasoner.sparql.queries.sparql_text import read_query
from kg_reasoner.sparql.results.result import AskResult, SelectResult
from kg_reasoner.sparql.translate import translate_query
from tests.helpers.effort import thinned
from tests.sparql.sparql_algebra import AlgebraPrinter, shortener

FILE = Path(__file__).with_name("sparql_rewrites.txt")
PREFIXES = {"": "http://example.org/", "xsd": "http://www.w3.org/2001/XMLSchema#"}
PROLOGUE = "".join(f"PREFIX {prefix}: <{space}>\n" for prefix, space in PREFIXES.items())

NAMES: dict[str, Callable[[Node], Node]] = {
    function.__name__: function
    for function in (
        rewrites.place_in_graph,
        rewrites.place_in_any_graph,
        rewrites.join_with_values,
        rewrites.flatten_joins,
        rewrites.push_filters,
        rewrites.count_solutions,
        rewrites.extend_after_slice,
    )
}


@dataclass
class Section:
    """A query, and what a rewrite makes of it."""

    rewrite: str
    title: str
    query: str
    expected: str

    def found(self) -> str:
        """The algebra before and after the rewrite, as text."""
        names = list(NAMES)
        earlier = [rewrites.everywhere(NAMES[name]) for name in names[: names.index(self.rewrite)]]
        node = translate_query(read_query(PROLOGUE + self.query)[1].algebra).node
        before = reduce(lambda node, rewrite: rewrite(node), earlier, node)
        after = rewrites.everywhere(NAMES[self.rewrite])(before)
        printer = AlgebraPrinter(shortener(PREFIXES))
        result = "after: unchanged" if after == before else f"after:\n{printer.text(after)}"
        return f"before:\n{printer.text(before)}\n{result}\n"


def sections() -> list[Section]:
    text = FILE.read_text(encoding="utf-8")
    parts = re.findall(r"^--- (\w+): (.+)\n((?:(?!--- |before:).*\n)+)((?:(?!--- ).*\n)*)", text, re.MULTILINE)
    return [Section(name, title, query.strip(), rest.strip() + "\n") for name, title, query, rest in parts]


SECTIONS = sections()


def test_each_rewrite_has_sections() -> None:
    assert len(NAMES) == len(rewrites.REWRITES), "a rewrite has no name here"
    for name in NAMES:
        outcomes = {"after: unchanged" in section.expected for section in SECTIONS if section.rewrite == name}
        assert outcomes == {True, False}, f"{name} needs sections where it applies and where it must not"


@pytest.mark.skipif(os.environ.get("KG_REASONER_SNAPSHOTS") != "write", reason="KG_REASONER_SNAPSHOTS=write writes the file")
def test_the_file_is_written_again_on_request() -> None:
    head = FILE.read_text(encoding="utf-8").partition("---")[0]
    body = "\n".join(f"--- {one.rewrite}: {one.title}\n{one.query}\n{one.found()}" for one in SECTIONS)
    FILE.write_text(head + body, encoding="utf-8")


@pytest.mark.parametrize("section", SECTIONS, ids=lambda section: f"{section.rewrite}: {section.title}")
@pytest.mark.sample(2)
def test_a_query_is_rewritten_as_in_the_file(section: Section) -> None:
    assert section.found() == section.expected


@pytest.fixture(scope="module")
def reasoner() -> Reasoner:
    """Two graphs whose patterns match in one, in both together, and not at all."""
    made = Reasoner()
    made.load(
        b"""@prefix : <http://example.org/> .
        :a :p :b ; :age 4 . :b :p :c ; :age 9 ; :name "b" . :c :q :a ; :age 2 . :a :q :c . :d :age "old" .
        :g { :a :p :b . :b :q :c ; :age 9 . :c :age 1 }
        :h { :b :p :c . :c :q :g ; :age 4 . :g :p :h ; :q :a . :h :p :c . :b :age 9 }""",
        format="trig",
    )
    return made


@pytest.mark.parametrize("section", thinned(SECTIONS, 4), ids=lambda section: f"{section.rewrite}: {section.title}")
def test_answers_do_not_depend_on_rewrites(section: Section, reasoner: Reasoner, monkeypatch: pytest.MonkeyPatch) -> None:
    def answers(mark: str) -> object:
        result = reasoner.query(f"{PROLOGUE}# {mark}\n{section.query}")
        if isinstance(result, AskResult):
            return bool(result)
        assert isinstance(result, SelectResult)
        if "LIMIT" in section.query and "ORDER" not in section.query:
            return len(result)
        return sorted(tuple(map(str, row)) for row in result.tuples())

    rewritten = answers("rewritten")
    monkeypatch.setattr("kg_reasoner.sparql.queries.query_forms.rewritten", lambda node, joins_graphs: node)
    assert answers("as it is") == rewritten
    assert rewritten, "the query has an answer, so that something is compared"
