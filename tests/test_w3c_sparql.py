"""The W3C's SPARQL tests on our store give what they give on rdflib's own store, and updates what the W3C expects.

The suites come with rdflib's source distribution, see `w3c_sparql`; the tests are skipped where it cannot be had. Our store holds
one graph: tests with named graphs are left out. Federated queries (they ask other machines) and entailment regimes are, too.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from rdflib import XSD, BNode, Graph, Literal
from rdflib.compare import isomorphic
from rdflib.plugins.sparql import prepareQuery
from rdflib.plugins.sparql.sparql import Query

from kg_reasoner import Reasoner, graph_of
from kg_reasoner.parser import parse

from . import w3c_sparql

QUERIES = {
    "sparql11": """
        aggregates bind bindings construct csv-tsv-res exists functions grouping json-res negation project-expression property-path
        subquery
    """,
    "dawg-data-r2": """
        algebra ask basic bnode-coreference boolean-effective-value bound cast construct distinct expr-builtin expr-equals expr-ops
        i18n open-world optional optional-filter reduced regex solution-seq sort triple-match type-promotion
    """,
}
UPDATES = {"sparql11": "basic-update clear delete delete-data delete-insert delete-where"}

LAYOUTS = {
    "a relation for each property": parse(""),
    "one relation of all triples": parse("[?s, ?p, ?o] :- [?s, ?p, ?o], [?s, ?q, ?o] ."),
}
"""Programs from which nothing new follows, for each way of laying out triples."""

pytestmark = pytest.mark.filterwarnings("ignore")


def groups(names: dict[str, str]) -> list[str]:
    return [f"{suite}/{group}" for suite, text in names.items() for group in text.split()]


@pytest.fixture(scope="module")
def suites() -> Path:
    try:
        return w3c_sparql.folder()
    except w3c_sparql.NotThere as reason:
        pytest.skip(str(reason))


def selected(folder: Path, kind: str) -> list[w3c_sparql.Case]:
    """The tests of one graph."""
    found = [case for case in w3c_sparql.cases(folder) if case.kind == kind]
    rest = [case for case in found if not case.named_graphs and not re.search(r"\b(FROM|GRAPH|WITH|USING)\b", case.text)]
    if not rest:
        pytest.skip("all tests of this group have named graphs, of which our store knows none")
    return rest


def graph_with(files: tuple[Path, ...]) -> Graph:
    graph = Graph()
    for file in files:
        graph.parse(file, publicID=file.as_uri())
    return graph


def ours_with(graph: Graph, layout: str) -> Graph:
    ours = graph_of(Reasoner(LAYOUTS[layout]))
    ours += graph
    return ours


def outcome(graph: Graph, query: Query) -> tuple[str, Any]:
    """The kind of a query's result, and the result in a form that can be compared."""
    known = graph.all_nodes()
    try:
        result = graph.query(query)
        rows = [tuple(comparable(row.get(variable), known) for variable in result.vars) for row in result.bindings or ()]
    except Exception as error:  # what rdflib's evaluator does not know it does not know on either store
        return "error", type(error)
    return result.type, {"SELECT": rows, "ASK": result.askAnswer}.get(result.type, result.graph)


def comparable(term: Any, known: set[Any]) -> Any:
    """A term; blank nodes that the query made are all alike."""
    if isinstance(term, BNode) and term not in known:
        return "made"
    if isinstance(term, Literal):
        return str(term), None if term.datatype == XSD.string else term.datatype, term.language and term.language.lower()
    return term


@pytest.mark.parametrize("group", groups(QUERIES))
def test_queries(suites: Path, group: str) -> None:
    for case in selected(suites / group, "query"):
        try:
            query = prepareQuery(case.text, base=case.request.as_uri())
        except Exception:
            continue  # rdflib's parser cannot read it: it never comes to a store
        data = graph_with(case.data)
        theirs = Graph()
        theirs += ours_with(data, "one relation of all triples")  # so that a string has no datatype there either
        expected_kind, expected = outcome(theirs, query)
        for layout in LAYOUTS:
            kind, found = outcome(ours_with(data, layout), query)
            assert kind == expected_kind, (case.name, layout)
            if kind == "SELECT" and "REDUCED" in case.text:  # how many repetitions it leaves out is up to the evaluator
                assert set(found) == set(expected), (case.name, layout)
            elif kind == "SELECT" and "ORDER" not in case.text:
                assert Counter(found) == Counter(expected), (case.name, layout)
            elif isinstance(found, Graph):
                assert isomorphic(found, expected), (case.name, layout)
            else:
                assert found == expected, (case.name, layout)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("group", groups(UPDATES))
def test_updates(suites: Path, group: str, layout: str) -> None:
    for case in selected(suites / group, "update"):
        ours = ours_with(graph_with(case.data), layout)
        ours.update(case.text)
        assert isomorphic(ours, graph_with(case.expected)), case.name
