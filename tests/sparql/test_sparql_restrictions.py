"""Texts that are refused for what the grammar alone does not forbid, in ``tests/sparql/restrictions.txt``, by all interfaces.

A section has texts, each with what is said of it, or ``permitted``. The dollar sign keeps a query from the reader of the common
part of the grammar; without it, the same is said.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kg_reasoner import Reasoner
from kg_reasoner.errors import QuerySyntaxError
from kg_reasoner.rdflib_store import graph_of, store_of

FILE = Path(__file__).with_name("restrictions.txt")
PREFIX = "PREFIX : <http://example.org/> "
TEXTS = re.findall(r"^(?!#|=>)(\S.*)\n=> (.*)$", FILE.read_text(), re.MULTILINE)
UPDATES = [(text, said) for text, said in TEXTS if re.match("INSERT|DELETE", text)]
QUERIES = [pair for pair in TEXTS if pair not in UPDATES]
INTERFACES: dict[str, Callable[[Reasoner, str], Any]] = {
    "Reasoner.query": lambda made, text: made.query(text),
    "Reasoner.plan": lambda made, text: made.plan(text),
    "store.query": lambda made, text: store_of(graph_of(made)).query(text),
    "graph.query": lambda made, text: graph_of(made).query(text),
}


def check(said: str, act: Callable[[], Any]) -> None:
    if said == "permitted":
        act()
        return
    with pytest.raises(QuerySyntaxError) as caught:
        act()
    assert said in str(caught.value)


def made() -> Reasoner:
    reasoner = Reasoner()
    reasoner.load(b"<http://example.org/s> <http://example.org/p> 1 .", format="turtle")
    return reasoner


@pytest.mark.parametrize("interface", INTERFACES)
@pytest.mark.parametrize(("text", "said"), QUERIES)
def test_queries_do_only_what_is_permitted(text: str, said: str, interface: str) -> None:
    reasoner = made()
    for written in (text, text.replace("$", "?")):
        check(said, lambda written=written: INTERFACES[interface](reasoner, PREFIX + written))  # type: ignore[misc]


@pytest.mark.parametrize(("text", "said"), UPDATES)
def test_updates_do_only_what_is_permitted(text: str, said: str) -> None:
    """An update that is refused changes nothing, also where its first operation alone would be permitted."""
    reasoner = made()
    graph = graph_of(reasoner)
    before = set(graph)
    check(said, lambda: graph.update(PREFIX + text))
    if said != "permitted":
        assert set(graph) == before


def test_the_place_is_shown() -> None:
    with pytest.raises(QuerySyntaxError) as caught:
        made().query("SELECT ?x {\n  ?x ?p ?y .\n  BIND(1 AS ?y)\n}")
    assert caught.value.span is not None and (caught.value.span.line, caught.value.span.column) == (3, 13)


def test_sections_have_both_kinds() -> None:
    said = {what for _, what in TEXTS}
    assert len(QUERIES) > 40 and len(UPDATES) > 15 and "permitted" in said and len(said) > 15
