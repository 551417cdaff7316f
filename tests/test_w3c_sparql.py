"""The W3C's SPARQL tests on our store.

Queries of one graph give what they give on rdflib's own store; queries of several graphs, and all updates, what the W3C expects.

The suites come with rdflib's source distribution, see `w3c_sparql`; the tests are skipped where it cannot be had. Federated queries
and LOAD (they ask other machines) and entailment regimes are left out.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from rdflib import RDF, XSD, BNode, Dataset, Graph, Literal, Namespace, Variable
from rdflib.compare import isomorphic
from rdflib.plugins.sparql import prepareQuery
from rdflib.plugins.sparql.sparql import Query
from rdflib.query import Result

from kg_reasoner import KGReasonerStore, Reasoner, graph_of
from kg_reasoner.language.parser import parse

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
DATASETS = {
    "sparql11": "exists property-path subquery",
    "dawg-data-r2": "algebra dataset graph optional",
}
UPDATES = {"sparql11": "add basic-update clear copy delete delete-data delete-insert delete-where drop move update-silent"}

LAYOUTS = {
    "a relation for each property": parse(""),
    "one relation of all triples": parse("[?s, ?p, ?o] :- [?s, ?p, ?o], [?s, ?q, ?o] ."),
}
"""Programs from which nothing new follows, for each way of laying out triples."""

RS = Namespace("http://www.w3.org/2001/sw/DataAccess/tests/result-set#")

pytestmark = [pytest.mark.long, pytest.mark.filterwarnings("ignore")]


def groups(names: dict[str, str]) -> list[str]:
    return [f"{suite}/{group}" for suite, text in names.items() for group in text.split()]


@pytest.fixture(scope="module")
def suites() -> Path:
    try:
        return w3c_sparql.folder()
    except w3c_sparql.NotThere as reason:
        pytest.skip(str(reason))


def selected(folder: Path, kind: str, has_graphs: bool) -> list[w3c_sparql.Case]:
    """The tests of one graph, or those of several."""
    return [case for case in w3c_sparql.cases(folder) if case.kind == kind and case.has_graphs == has_graphs]


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
    for case in selected(suites / group, "query", has_graphs=False):
        try:
            query = prepareQuery(case.text, base=case.request.as_uri())
        except Exception:
            continue  # rdflib's parser cannot read it: it never comes to a store
        data = graph_with(case.before.data)
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


def dataset_with(state: w3c_sparql.State, layout: str) -> Dataset:
    """A dataset over our store, with the graphs that files are."""
    dataset = Dataset(store=KGReasonerStore(Reasoner(LAYOUTS[layout])))
    dataset.default_graph += graph_with(state.data)
    for name, file in state.graphs:
        dataset.graph(name).parse(file, publicID=file.as_uri())
    return dataset


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("group", groups(DATASETS))
def test_queries_of_datasets(suites: Path, group: str, layout: str) -> None:
    selection = selected(suites / group, "query", has_graphs=True)
    assert selection, "every one of these groups has such tests"
    for case in selection:
        query = prepareQuery(case.text, base=case.request.as_uri())
        dataset = dataset_with(case.before, layout)
        for clause in query.algebra.datasetClause or ():
            name = clause.default or clause.named
            dataset.graph(name).parse(case.request.parent / Path(name).name, publicID=name)
        assert case.result is not None, case.name
        found, expected = dataset.query(query), expected_result(case.result)
        assert found.type == expected.type, case.name
        if found.type == "SELECT":
            assert Counter(rows_of(found)) == Counter(rows_of(expected)), case.name
        else:
            assert found.askAnswer == expected.askAnswer, case.name


def expected_result(file: Path) -> Result:
    """The result that a file describes, in whichever format."""
    if file.suffix == ".srx":
        return Result.parse(str(file), format="xml")
    graph = Graph().parse(file)
    (node,) = graph.subjects(RDF.type, RS.ResultSet)
    answer = graph.value(node, RS.boolean)
    if answer is not None:
        result = Result("ASK")
        result.askAnswer = bool(answer)
        return result
    result = Result("SELECT")
    result.vars = [Variable(str(name)) for name in graph.objects(node, RS.resultVariable)]
    result.bindings = [
        {
            Variable(str(graph.value(binding, RS.variable))): graph.value(binding, RS.value)
            for binding in graph.objects(solution, RS.binding)
        }
        for solution in graph.objects(node, RS.solution)
    ]
    return result


def rows_of(result: Result) -> list[frozenset[tuple[str, Any]]]:
    """The solutions of a result; blank nodes are all alike."""
    return [
        frozenset((str(name), comparable(term, set())) for name, term in row.items() if term is not None) for row in result.bindings
    ]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("group", groups(UPDATES))
def test_updates(suites: Path, group: str, layout: str) -> None:
    for has_graphs in (False, True):
        for case in selected(suites / group, "update", has_graphs):
            if re.search(r"\bLOAD\b", case.text):
                continue
            ours = dataset_with(case.before, layout)
            ours.update(case.text)
            expected = dataset_with(case.after, layout)
            assert isomorphic(ours.default_graph, expected.default_graph), case.name
            for name in {graph.identifier for dataset in (ours, expected) for graph in dataset.graphs()}:
                assert isomorphic(ours.graph(name), expected.graph(name)), (case.name, name)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("group", groups(UPDATES))
def test_updates_of_one_graph(suites: Path, group: str, layout: str) -> None:
    for case in selected(suites / group, "update", has_graphs=False):
        if not re.search(r"\bLOAD\b", case.text):
            ours = ours_with(graph_with(case.before.data), layout)
            ours.update(case.text)
            assert isomorphic(ours, graph_with(case.after.data)), case.name
