"""The W3C's SPARQL tests on our store: queries and updates give what the W3C expects, and nothing is left to rdflib's evaluator.

The suites come with rdflib's source distribution, see `w3c_sparql`; the tests are skipped where it cannot be had. Federated queries
(they ask other machines), LOAD and entailment regimes are left out. `benchmarks/conformance/rdflib_harness.py` runs rdflib's own
harness on our store.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import rdflib
from rdflib import Dataset, Graph
from rdflib.compare import isomorphic
from rdflib.plugins.sparql import prepareQuery, prepareUpdate

from kg_reasoner import KGReasonerStore, Reasoner, graph_of
from kg_reasoner.language.parser import parse
from kg_reasoner.loaders.convert import from_rdflib
from kg_reasoner.sparql import algebra
from kg_reasoner.sparql.results.result import AskResult, GraphResult, QueryResult, SelectResult
from kg_reasoner.sparql.translate import translate_pattern, translate_query
from kg_reasoner.terms import Triple
from tests.sparql import w3c_sparql
from tests.sparql.w3c_results import Answers, answers_in, expected_answers, same_answers, same_csv

QUERIES = {
    "sparql11": """
        aggregates bind bindings construct csv-tsv-res exists functions grouping json-res negation project-expression property-path
        subquery
    """,
    "dawg-data-r2": """
        algebra ask basic bnode-coreference boolean-effective-value bound cast construct dataset distinct expr-builtin expr-equals
        expr-ops graph i18n open-world optional optional-filter reduced regex solution-seq sort triple-match type-promotion
    """,
}
UPDATES = {"sparql11": "add basic-update clear copy delete delete-data delete-insert delete-where drop move update-silent"}

STRINGS = "in RDF 1.1, a literal without a datatype has the datatype xsd:string"

DIFFERENCES = {
    "STRDT() TypeErrors": STRINGS,
    "STRLANG() TypeErrors": STRINGS,
    "Strings: Distinct": STRINGS,
    "All: Distinct": STRINGS,
    "datatype-2 : Literals with a datatype": STRINGS,
    "agg empty group": "without solutions, GROUP BY makes no group (SPARQL 1.1 Query, section 18.5.1)",
    "date-1": "a date without a time zone has XPath's implicit time zone, which is UTC here",
    "dawg-optional-filter-005-simplified": "a FILTER does not see the variables outside of its group",
}
"""Tests whose expected results are not those of SPARQL 1.1 with RDF 1.1, by name, and why."""

NOT_SPARQL_11 = {"Basic - Term 6", "Basic - Term 7"}
"""In SPARQL 1.1, the dot of ``456.`` ends the triple; these queries have no other."""

OPEN_ORDER = {"plus-1", "plus-2"}
"""ORDER BY compares strings with numbers, which SPARQL leaves open."""

LAYOUTS = {
    "a relation for each property": parse(""),
    "one relation of all triples": parse("[?s, ?p, ?o] :- [?s, ?p, ?o], [?s, ?q, ?o] ."),
}
"""Programs from which nothing new follows, for each way of laying out triples."""

pytestmark = [pytest.mark.long, pytest.mark.filterwarnings("ignore")]


@pytest.fixture(scope="module", autouse=True)
def lexical_forms() -> Iterator[None]:
    """Keep rdflib from changing the lexical forms of literals that it parses, which tests rely on."""
    rdflib.NORMALIZE_LITERALS = False
    yield
    rdflib.NORMALIZE_LITERALS = True


def groups(names: dict[str, str]) -> list[str]:
    return [f"{suite}/{group}" for suite, text in names.items() for group in text.split()]


@pytest.fixture(scope="module")
def suites() -> Path:
    try:
        return w3c_sparql.folder()
    except w3c_sparql.NotThere as reason:
        pytest.skip(str(reason))


@cache
def cases(folder: Path, kind: str) -> list[w3c_sparql.Case]:
    """The tests of a group."""
    return [
        case
        for case in w3c_sparql.cases(folder)
        if case.kind == kind and case.name not in NOT_SPARQL_11 and not re.search(r"\bLOAD\b", case.text)
    ]


def dataset_with(state: w3c_sparql.State, layout: str) -> Dataset:
    """A dataset over our store, with the graphs that files are."""
    dataset = Dataset(store=KGReasonerStore(Reasoner(LAYOUTS[layout])))
    for file in state.data:
        dataset.default_graph.parse(file, publicID=file.as_uri())
    for name, file in state.graphs:
        dataset.graph(name).parse(file, publicID=file.as_uri())
    return dataset


def base_of(case: w3c_sparql.Case) -> str:
    return case.request.as_uri()


# --- queries ---------------------------------------------------------------------------------------------------------------


def documents_of(case: w3c_sparql.Case) -> Iterator[tuple[str, Path]]:
    """The graphs that FROM and FROM NAMED select; our store does not fetch them."""
    for clause in prepareQuery(case.text, base=base_of(case)).algebra.datasetClause or ():
        name = clause.default or clause.named
        yield name, case.request.parent / Path(name).name


def agree(case: w3c_sparql.Case, answers: Answers) -> bool:
    """Whether answers are those that the W3C expects."""
    assert case.result is not None
    return same_answers(
        expected_answers(case.result),
        answers,
        computed=case.result.suffix == ".tsv" or bool(re.search(r"\bAS\b", case.text, re.IGNORECASE)),  # TSV may abbreviate
        ordered="ORDER BY" in case.text.upper() and case.name not in OPEN_ORDER,
        is_lax=case.is_lax,
    )


def answers_for_rdflib(found: Any) -> Answers:
    if found.type == "ASK":
        return bool(found.askAnswer)
    if found.type == "SELECT":
        return [{str(name): from_rdflib(term) for name, term in row.items()} for row in found.bindings]
    return frozenset(triple_of(triple) for triple in found.graph)


def triple_of(triple: Any) -> Triple:
    s, p, o = map(from_rdflib, triple)
    return s, p, o


def answers_of(found: QueryResult) -> Answers:
    if isinstance(found, AskResult):
        return found.truth
    if isinstance(found, GraphResult):
        return frozenset(found)
    return [{name: term for name, term in zip(found.variables, row, strict=True) if term is not None} for row in found.tuples()]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("group", groups(QUERIES))
def test_queries_have_the_answers_of_the_w3c(suites: Path, group: str, layout: str) -> None:
    differing = set()
    for case in cases(suites / group, "query"):
        dataset = dataset_with(case.before, layout)
        for name, file in documents_of(case):
            dataset.graph(name).parse(file, publicID=name)
        found = dataset.query(case.text, base=base_of(case))
        if not has_table(case):
            agreeing = agree(case, answers_for_rdflib(found))
        else:
            agreeing = same_csv(table_of(case), found.serialize(format="csv").decode())
        if not agreeing:
            differing.add(case.name)
    assert differing == {case.name for case in cases(suites / group, "query")} & DIFFERENCES.keys()


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("group", groups(QUERIES))
def test_queries_of_a_reasoner(suites: Path, group: str, layout: str) -> None:
    """Those of one graph, with the results as they are, and in the format of the expected ones."""
    selection = [case for case in cases(suites / group, "query") if not case.has_graphs]
    differing = set()
    for case in selection:
        reasoner = Reasoner(LAYOUTS[layout])
        for file in case.before.data:
            reasoner.load(file, base=file.as_uri())
        found = reasoner.query(case.text, base=base_of(case))
        if has_table(case):
            assert isinstance(found, SelectResult)
            agreeing = same_csv(table_of(case), found.to_csv())
        else:
            agreeing = agree(case, answers_of(found))
            assert agreeing == agree(case, written(case, found)), case.name
        if not agreeing:
            differing.add(case.name)
    assert differing == {case.name for case in selection} & DIFFERENCES.keys()


def written(case: w3c_sparql.Case, found: QueryResult) -> Answers:
    """The answers that are read from a result in the format of the expected one."""
    assert case.result is not None
    if isinstance(found, GraphResult):
        return answers_of(found)
    if case.result.suffix == ".srj":
        return answers_in(found.to_json(), ".srj")
    if case.result.suffix == ".tsv" and isinstance(found, SelectResult):
        return answers_in(found.to_tsv(), ".tsv")
    return answers_in(found.to_xml(), ".srx")


def has_table(case: w3c_sparql.Case) -> bool:
    """Whether the expected result has comma-separated values, which do not tell terms apart."""
    return case.result is not None and case.result.suffix == ".csv"


def table_of(case: w3c_sparql.Case) -> str:
    assert case.result is not None
    return case.result.read_text(encoding="utf-8")


@pytest.mark.parametrize("group", groups(QUERIES))
def test_nothing_is_left_to_rdflib(suites: Path, group: str) -> None:
    """Neither in the algebra, nor by what the plan says."""
    for case in cases(suites / group, "query"):
        query = translate_query(prepareQuery(case.text, base=base_of(case)).algebra)
        assert not left_to_rdflib(query), case.name
        assert Reasoner().plan(case.text, base=base_of(case)).left_to_rdflib == (), case.name


def test_what_is_left_to_rdflib_is_seen() -> None:
    query = "SELECT * { { ?x ?y ?z FILTER EXISTS { ?x ?y ?w FILTER(!<urn:f>(?w)) } } OPTIONAL { ?x ?u ?v } }"
    assert left_to_rdflib(translate_query(prepareQuery(query).algebra))
    assert len(Reasoner().plan(query).left_to_rdflib) == 1


def left_to_rdflib(part: Any) -> bool:
    """Whether a query, pattern or expression contains what rdflib evaluates."""
    if isinstance(part, algebra.Foreign):
        return True
    if isinstance(part, tuple):
        return any(map(left_to_rdflib, part))
    return is_dataclass(part) and any(left_to_rdflib(getattr(part, field.name)) for field in fields(part))


# --- updates ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("group", groups(UPDATES))
def test_updates_leave_the_graphs_of_the_w3c(suites: Path, group: str, layout: str) -> None:
    for case in cases(suites / group, "update"):
        ours = dataset_with(case.before, layout)
        ours.update(case.text)
        expected = dataset_with(case.after, layout)
        assert isomorphic(ours.default_graph, expected.default_graph), case.name
        for name in {graph.identifier for dataset in (ours, expected) for graph in dataset.graphs()}:
            assert isomorphic(ours.graph(name), expected.graph(name)), (case.name, name)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("group", groups(UPDATES))
def test_updates_of_one_graph(suites: Path, group: str, layout: str) -> None:
    for case in cases(suites / group, "update"):
        if not case.has_graphs:
            ours = graph_of(Reasoner(LAYOUTS[layout]))
            expected = Graph()
            for graph, state in ((ours, case.before), (expected, case.after)):
                for file in state.data:
                    graph.parse(file, publicID=file.as_uri())
            ours.update(case.text)
            assert isomorphic(ours, expected), case.name


@pytest.mark.parametrize("group", groups(UPDATES))
def test_nothing_of_updates_is_left_to_rdflib(suites: Path, group: str) -> None:
    for case in cases(suites / group, "update"):
        for operation in prepareUpdate(case.text, base=base_of(case)).algebra:
            if operation.name == "Modify":
                assert not left_to_rdflib(translate_pattern(operation.where)), case.name
