"""What queries and updates may fetch: nothing, unless the owner of the store allows it; and queries that go wrong."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from unittest.mock import patch
from urllib.parse import parse_qs

import pytest
from rdflib import XSD, BNode, Dataset, Graph, Literal, URIRef, Variable
from rdflib.plugins.sparql import prepareQuery

from kg_reasoner import KGReasonerStore, Limits, Reasoner, attach, store_of
from kg_reasoner.errors import (
    LimitError,
    LoadError,
    NotAllowedError,
    QuerySyntaxError,
    ReasonerError,
    ReasonerWarning,
    UnknownNameError,
    UnsupportedError,
)
from kg_reasoner.rdflib_store.queries.permissions import Allow
from tests.helpers.effort import thinned

TURTLE = "<urn:x> <urn:p> <urn:y> ."
ANSWER = {"head": {"vars": ["o"]}, "results": {"bindings": [{"o": {"type": "uri", "value": "urn:far"}}]}}
TERMS: list[dict[str, str]] = [
    {"type": "bnode", "value": "b0"},
    {"type": "literal", "value": "01", "datatype": str(XSD.integer)},
    {"type": "literal", "value": "a", "xml:lang": "EN"},
    {"type": "literal", "value": "b"},
]
ANSWERS: dict[str, Any] = {
    "/wrong": {"boolean": True},
    "/terms": {"head": {"vars": ["o"]}, "results": {"bindings": [{"o": term} for term in TERMS]}},
    "/term": {"head": {"vars": ["o"]}, "results": {"bindings": [{"o": {"type": "uri", "value": "not an IRI"}}]}},
}


class Server:
    """Answers SPARQL with `ANSWER` and anything else with `TURTLE`."""

    def __init__(self) -> None:
        requests = self.requests = list[str]()

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                sent = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
                requests.append(f"{self.path}?{sent}" if sent else self.path)
                is_query = self.path.startswith("/sparql")
                answer = next((answer for part, answer in ANSWERS.items() if part in self.path), ANSWER)
                if "slow" in self.path:
                    time.sleep(0.4)
                body = (json.dumps(answer) if is_query else TURTLE if "broken" not in self.path else TURTLE + " <urn:x").encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/sparql-results+json" if is_query else "text/turtle")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            do_POST = do_GET

            def log_message(self, *_: Any) -> None: ...

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_port}"
        Thread(target=self.server.serve_forever, daemon=True).start()


@pytest.fixture(scope="module")
def running() -> Iterator[Server]:
    server = Server()
    yield server
    server.server.shutdown()
    server.server.server_close()


@pytest.fixture
def server(running: Server) -> Server:
    running.requests.clear()
    return running


def dataset(allow: Allow = ()) -> Dataset:
    made = Dataset(store=KGReasonerStore(allow=allow), default_union=True)
    made.add((URIRef("urn:a"), URIRef("urn:p"), URIRef("urn:b")))
    return made


def queries(server: Server) -> list[str]:
    """Return the queries that the server has been asked."""
    return [parse_qs(request.partition("?")[2])["query"][0] for request in server.requests]


def service(server: Server, path: str = "/sparql") -> str:
    return f"SELECT ?o {{ SERVICE <{server.address}{path}> {{ ?s ?p ?o }} }}"


QUERIES = {
    "service": "SELECT * { SERVICE <ADDRESS/sparql> { ?s ?p ?o } }",
    "silent": "SELECT * { SERVICE SILENT <ADDRESS/sparql> { ?s ?p ?o } }",
    "by a variable": "SELECT * { BIND(<ADDRESS/sparql> AS ?at) SERVICE ?at { ?s ?p ?o } }",
    "in an optional": "SELECT * { ?s ?p ?o OPTIONAL { SERVICE <ADDRESS/sparql> { ?s ?p ?o } } }",
    "in a subquery": "SELECT * { { SELECT ?s { SERVICE <ADDRESS/sparql> { ?s ?p ?o } } } }",
    "in an exists": "SELECT * { ?s ?p ?o FILTER EXISTS { SERVICE <ADDRESS/sparql> { ?s ?p ?o } } }",
    "in a construct": "CONSTRUCT { ?s ?p ?o } { SERVICE <ADDRESS/sparql> { ?s ?p ?o } }",
    "in ask": "ASK { SERVICE <ADDRESS/sparql> { ?s ?p ?o } }",
    "in a graph": "SELECT * { GRAPH ?g { SERVICE <ADDRESS/sparql> { ?s ?p ?o } } }",
}


@pytest.mark.parametrize("name", QUERIES)
@pytest.mark.parametrize("way", ["text", "prepared", "rdflib"])
@pytest.mark.sample(3)
def test_no_service(server: Server, name: str, way: str) -> None:
    query: Any = QUERIES[name].replace("ADDRESS", server.address)
    graph = dataset()
    graph.graph(URIRef("urn:g")).add((URIRef("urn:a"), URIRef("urn:p"), URIRef("urn:b")))
    with pytest.raises(NotAllowedError, match=server.address):
        list(graph.query(prepareQuery(query) if way == "prepared" else query, use_store_provided=way != "rdflib"))
    assert server.requests == []


@pytest.mark.parametrize("view", ["explicit", "inferred"])
def test_no_service_from_views(server: Server, view: str) -> None:
    with pytest.raises(NotAllowedError):
        list(getattr(attach(Graph()).store, view).query(service(server)))
    assert server.requests == []


def test_updates_fetch_nothing(server: Server, tmp_path: Path) -> None:
    graph = dataset()
    before = set(graph.quads())
    file = tmp_path / "a.ttl"
    file.write_text(TURTLE)
    for address in (f"{server.address}/a.ttl", file.as_uri()):
        for update in ("LOAD <{}>", "LOAD <{}> INTO GRAPH <urn:g>"):
            with pytest.raises(NotAllowedError, match=r"LOAD <.*> is not allowed"):
                graph.update(update.format(address))
        for update in ("LOAD SILENT <{}>", "LOAD SILENT <{}> INTO GRAPH <urn:g>"):
            with pytest.warns(ReasonerWarning, match=r"LOAD SILENT has loaded nothing: LOAD <.*> is not allowed"):
                graph.update(update.format(address))
    with pytest.raises(NotAllowedError):
        graph.update(f"INSERT {{ ?o ?o ?o }} WHERE {{ SERVICE <{server.address}/sparql> {{ ?s ?p ?o }} }}")
    for address in ("ftp://127.0.0.1/a", "data:text/turtle,", "jar:a", "/etc/passwd"):
        with pytest.raises(NotAllowedError, match="only addresses with http, https and file can be loaded"):
            dataset(allow=["load", "files"]).update(f"LOAD <{address}>")
    assert server.requests == [] and set(graph.quads()) == before


def test_from_fetches_nothing(server: Server, tmp_path: Path) -> None:
    (tmp_path / "a.ttl").write_text(TURTLE)
    graph = dataset(allow=["service", "load", "files"])
    for address in (f"{server.address}/a.ttl", (tmp_path / "a.ttl").as_uri()):
        for query in (
            f"SELECT * FROM <{address}> {{ ?s ?p ?o }}",
            f"SELECT * FROM NAMED <{address}> {{ GRAPH ?g {{ ?s ?p ?o }} }}",
        ):
            assert list(graph.query(query)) == [] and list(graph.query(prepareQuery(query))) == []
            assert list(attach(Graph()).query(query)) == []
    assert server.requests == []


def test_a_service_that_is_allowed(server: Server) -> None:
    assert [row.o for row in dataset(allow=["service"]).query(service(server))] == [URIRef("urn:far")]
    assert len(server.requests) == 1
    assert [row.o for row in attach(Graph(), allow={"service"}).query(service(server))] == [URIRef("urn:far")]


def test_a_function_decides(server: Server) -> None:
    asked = []

    def allow(kind: str, iri: str) -> bool:
        asked.append((kind, iri))
        return iri.endswith("/sparql")

    graph = dataset(allow=allow)
    assert len(list(graph.query(service(server)))) == 1
    with pytest.raises(NotAllowedError):
        list(graph.query(service(server, "/sparql2")))
    with pytest.raises(NotAllowedError):
        graph.update(f"LOAD <{server.address}/a.ttl>")
    assert [kind for kind, _ in asked] == ["service", "service", "load"] and len(server.requests) == 1


def test_the_second_service_is_not_the_first(server: Server) -> None:
    """What is allowed for one address is not for another, and each SERVICE is asked for its own pattern."""
    parts = [f"{{ SERVICE <{server.address}/{path}> {{ ?{path} <urn:x#y> ?o }} }}" for path in ("sparql", "sparql2")]
    query = f"SELECT * {{ {' UNION '.join(parts)} }}"
    with pytest.raises(NotAllowedError, match="sparql2"):
        list(dataset(allow=lambda kind, iri: iri.endswith("/sparql")).query(query))
    assert [request.partition("?")[0] for request in server.requests] == ["/sparql"]
    assert len(list(dataset(allow=["service"]).query(query))) == 2
    assert [request.partition("?")[0] for request in server.requests] == ["/sparql", "/sparql", "/sparql2"]
    assert queries(server) == [f"SELECT * WHERE {{ ?{path} <urn:x#y> ?o }}" for path in ("sparql", "sparql", "sparql2")]
    with pytest.raises(NotAllowedError, match="only addresses with http and https can be asked"):
        list(dataset(allow=["service"]).query("SELECT * { SERVICE <file:///etc/hostname> { ?s ?p ?o } }"))


@pytest.mark.parametrize(
    ("query", "asked"),
    [
        ("PREFIX e: <ADDRESS/> SELECT ?o { SERVICE e:sparql { ?s ?p ?o } }", "SELECT * WHERE { ?s ?p ?o }"),
        (
            "PREFIX e: <ADDRESS/> SELECT ?o { SERVICE\te:sparql\n\t{ ?s e:p ?o } }",
            "PREFIX e: <ADDRESS/> SELECT * WHERE { ?s e:p ?o }",
        ),
        (
            "PREFIX a: <urn:> PREFIX b: <urn:> SELECT ?o { SERVICE <ADDRESS/sparql> { ?s a:p ?o ; b:q 1 } }",
            "PREFIX a: <urn:> PREFIX b: <urn:> SELECT * WHERE { ?s a:p ?o ; b:q 1 }",
        ),
        ("BASE <ADDRESS/> SELECT ?o { SERVICE # {\n <sparql>{ ?s <p> ?o } }", "BASE <ADDRESS/> SELECT * WHERE { ?s <p> ?o }"),
        ("SELECT ?o { SERVICE SILENT <ADDRESS/sparql> { ?s ?p ?o } }", "SELECT * WHERE { ?s ?p ?o }"),
        ("SELECT ?o { SERVICE <ADDRESS/sparql> { GRAPH <urn:g> { ?s ?p ?o } } }", "SELECT * WHERE { GRAPH <urn:g> { ?s ?p ?o } }"),
        ("SELECT ?o { SERVICE <ADDRESS/sparql> { SELECT ?o { ?s ?p ?o } } }", "SELECT * WHERE { SELECT ?o { ?s ?p ?o } }"),
        ("SELECT ?o { SERVICE <ADDRESS/sparql/é#a> { ?s ?p ?o } }", "SELECT * WHERE { ?s ?p ?o }"),
        ("SELECT ?o { SERVICE <ADDRESS/sparql?default=g> { ?s ?p ?o } }", "SELECT * WHERE { ?s ?p ?o }"),
        (
            "SELECT ?o { SERVICE ?at { ?s ?p ?o } VALUES ?s { <urn:a> } VALUES ?at { <ADDRESS/sparql> } FILTER(?o != 1) }",
            "SELECT * WHERE { ?s ?p ?o }",
        ),
        ("SELECT ?o { VALUES ?at { <ADDRESS/sparql> } OPTIONAL { SERVICE ?at { ?s ?p ?o } } }", "SELECT * WHERE { ?s ?p ?o }"),
        ("SELECT ?o { BIND(<ADDRESS/sparql> AS ?at) SERVICE ?at { ?s ?p ?o } }", "SELECT * WHERE { ?s ?p ?o }"),
    ],
)
@pytest.mark.sample(4)
def test_how_services_are_written(server: Server, query: str, asked: str) -> None:
    found = dataset(allow=["service"]).query(query.replace("ADDRESS", server.address))
    assert [row.o for row in found] == [URIRef("urn:far")]
    assert queries(server) == [asked.replace("ADDRESS", server.address)]


@pytest.mark.parametrize("path", ["/missing", "/sparql/wrong", "/sparql/term"])
def test_a_silent_service_that_fails(server: Server, path: str) -> None:
    """It has one solution without values; without SILENT, the failure is an error."""
    query = f"SELECT * {{ ?s ?p ?b SERVICE SILENT <{server.address}{path}> {{ ?s ?p ?o }} }}"
    (row,) = dataset(allow=["service"]).query(query)
    assert row.b == URIRef("urn:b") and row.o is None
    with pytest.raises(LoadError):
        dataset(allow=["service"]).query(query.replace("SILENT", ""))
    by_variable = (
        f"SELECT * {{ VALUES ?at {{ <{server.address}{path}> <{server.address}/sparql> }} SERVICE SILENT ?at {{ ?s ?p ?o }} }}"
    )
    assert [row.o for row in dataset(allow=["service"]).query(by_variable)] == [None, URIRef("urn:far")]


@pytest.mark.parametrize(
    ("query", "bindings", "found"),
    [
        ("SELECT ?o ?at { SERVICE ?at { ?s ?p ?o } }", {"at": "ADDRESS/sparql"}, [("urn:far", "ADDRESS/sparql")]),
        ("SELECT ?o { SERVICE <ADDRESS/sparql> { ?s ?p ?o } }", {"o": "urn:far"}, [("urn:far",)]),
        ("SELECT ?o { SERVICE <ADDRESS/sparql> { ?s ?p ?o } }", {"o": "urn:other"}, []),
        ("SELECT ?s ?o { SERVICE <ADDRESS/sparql> { ?s ?p ?o } }", {"s": "urn:x"}, [("urn:x", "urn:far")]),
        (
            "SELECT ?o { VALUES ?o { <urn:a> <urn:far> } FILTER EXISTS { SERVICE <ADDRESS/sparql> { ?s ?p ?o } } }",
            {},
            [("urn:far",)],
        ),
        ("SELECT ?at { VALUES ?at { <ADDRESS/sparql> } FILTER EXISTS { SERVICE ?at { ?s ?p ?o } } }", {}, [("ADDRESS/sparql",)]),
    ],
)
def test_bound_variables_of_a_service(server: Server, query: str, bindings: dict[str, str], found: list[tuple[str, ...]]) -> None:
    known = {name: URIRef(value.replace("ADDRESS", server.address)) for name, value in bindings.items()}
    rows = dataset(allow=["service"]).query(query.replace("ADDRESS", server.address), initBindings=known)
    assert [tuple(map(str, row)) for row in rows] == [
        tuple(text.replace("ADDRESS", server.address) for text in row) for row in found
    ]


@pytest.mark.parametrize("part", ["SERVICE ?at { ?s ?p ?o }", "VALUES ?at { 1 } SERVICE ?at { ?s ?p ?o }"])
def test_a_service_without_an_address(part: str) -> None:
    with pytest.raises(UnsupportedError, match="the address of a SERVICE is"):
        dataset(allow=["service"]).query(f"SELECT * {{ {part} }}")


def test_terms_of_a_service(server: Server) -> None:
    """Blank nodes are not those of another answer or of the graph; literals are as they are written."""
    query = f"SELECT * {{ SERVICE <{server.address}/sparql/terms> {{ ?s ?p ?o }} }}"
    for _ in range(2):
        rows = [row.o for row in dataset(allow=["service"]).query(query)]
        assert rows[1:] == [Literal("01", datatype=XSD.integer, normalize=False), Literal("a", lang="en"), Literal("b")]
        assert isinstance(rows[0], BNode) and rows[0] != BNode("b0")


def test_a_service_within_limits(server: Server) -> None:
    graph = dataset(allow=["service"])
    with pytest.raises(LimitError), store_of(graph).reasoner.limited(Limits(seconds=0.05)):
        graph.query(f"SELECT * {{ SERVICE SILENT <{server.address}/sparql/slow> {{ ?s ?p ?o }} }}")


def test_a_service_after_an_iri_with_a_fragment(server: Server) -> None:
    """rdflib took the rest of the line for a comment."""
    query = "PREFIX a: <http://example.org/#> " + service(server).replace("?p", "a:p")
    assert [row.o for row in dataset(allow=["service"]).query(query)] == [URIRef("urn:far")]


def test_load_that_is_allowed(server: Server, tmp_path: Path) -> None:
    graph = dataset(allow=["load"])
    graph.update(f"LOAD <{server.address}/a.ttl>")
    graph.update(f"LOAD <{server.address}/a.ttl> INTO GRAPH <urn:g>")
    assert len(server.requests) == 2
    loaded = (URIRef("urn:x"), URIRef("urn:p"), URIRef("urn:y"))
    assert loaded in graph.default_graph and loaded in graph.graph(URIRef("urn:g"))
    file = tmp_path / "a b.ttl"
    file.write_text(TURTLE.replace("urn:x", "urn:z"))
    with pytest.raises(NotAllowedError, match="files"):
        graph.update(f"LOAD <{file.as_uri()}>")
    plain = attach(Graph(), allow=["files"])
    plain.update(f"LOAD <{file.as_uri()}>")
    assert (URIRef("urn:z"), URIRef("urn:p"), URIRef("urn:y")) in plain
    plain.update(f"DELETE DATA {{ <urn:z> <urn:p> <urn:y> }} ; LOAD <{file.as_uri().replace('///', '//LocalHost/')}>")
    assert (URIRef("urn:z"), URIRef("urn:p"), URIRef("urn:y")) in plain
    with pytest.raises(NotAllowedError, match=r"only files of this machine can be loaded, not those of example\.org"):
        plain.update(f"LOAD <{file.as_uri().replace('///', '//example.org/')}>")


def test_a_broken_document_changes_nothing(server: Server, tmp_path: Path) -> None:
    graph = dataset(allow=["load", "files"])
    before = set(graph.quads())
    for address in (f"{server.address}/broken.ttl", (tmp_path / "missing.ttl").as_uri()):
        with pytest.raises(LoadError):
            graph.update(f"LOAD <{address}>")
        with pytest.warns(ReasonerWarning, match="LOAD SILENT has loaded nothing"):
            graph.update(f"LOAD SILENT <{address}> ; INSERT DATA {{ <urn:after> <urn:p> 1 }}")
        assert (URIRef("urn:after"), None, None) in graph
        graph.update("DELETE DATA { <urn:after> <urn:p> 1 }")
    assert set(graph.quads()) == before


def test_wrong_permissions() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'service'"):
        KGReasonerStore(allow=["servise"])
    for allow in ("service", 5):
        with pytest.raises(ReasonerError, match="takes kinds of access"):
            KGReasonerStore(allow=allow)  # type: ignore[arg-type]


# --- queries that go wrong -----------------------------------------------------------------------------------------------------

NESTED = {
    "parentheses": lambda n: f"SELECT * {{ ?s ?p ?o FILTER({'(' * n}?o{')' * n}) }}",
    "braces": lambda n: f"SELECT * {'{' * n}?s ?p ?o{'}' * n}",
    "calls": lambda n: f"SELECT ({'STR(' * n}1{')' * n} AS ?x) {{}}",
    "paths": lambda n: f"SELECT * {{ ?s {'(' * n}<urn:p>{')*' * n} ?o }}",
    "optionals": lambda n: f"SELECT * {{ {'?s ?p ?o OPTIONAL {' * n}{'}' * n} }}",
    "blank nodes": lambda n: f"SELECT * {{ ?s ?p {'[<urn:p> ' * n}1{']' * n} }}",
    "lists": lambda n: f"SELECT * {{ ?s ?p {'(' * n}{')' * n} }}",
    "subqueries": lambda n: f"SELECT * {{ {'SELECT * { ' * n}?s ?p ?o{'}' * n} }}",
}


@pytest.mark.parametrize("name", thinned(NESTED, 4))
def test_deep_nesting(name: str) -> None:
    list(dataset().query(NESTED[name](5)))
    with pytest.raises(QuerySyntaxError, match="is nested too deep"):
        list(dataset().query(NESTED[name](800)))
    with pytest.raises(QuerySyntaxError, match="is nested too deep"):
        Reasoner().query(NESTED[name](800))


def test_unions_of_many_groups() -> None:
    graph = dataset()
    query = f"SELECT * {{ {' UNION '.join(['{ ?s ?p ?o }'] * 800)} }}"
    assert len(list(graph.query(query))) == 800 * len(list(graph.query("SELECT * { ?s ?p ?o }")))


@pytest.mark.parametrize("part", thinned(["OPTIONAL { ?s ?p ?o }", "BIND(1 AS ?b{})", "MINUS { ?s ?p ?o }"], 4))
@pytest.mark.long
def test_many_parts(part: str) -> None:
    """rdflib parses them, but its algebra for them is nested too deep."""
    group = " ".join(part.replace("{}", str(number)) for number in range(600))
    with pytest.raises(QuerySyntaxError, match="is nested too deep"):
        Reasoner().query(f"SELECT * {{ {group} {{ }} }}")


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("SELECT * {\n ?s ?p }", r"the query:2:8: the SPARQL query has a syntax error(.|\n)*\n +\| +\^"),
        ("SELECT * { ?s x:p ?o }", r"the query:1:15: the prefix x: has not been declared"),
        ('SELECT * { ?s ?p "\ud800" }', r"the query:1:19: not a Unicode character"),
        (r'SELECT * { ?s ?p "\uD800" }', r"the query:1:19: not a Unicode character"),
        (r'SELECT * { ?s ?p "\UFFFFFFFF" }', r"the query:1:19: not a Unicode character"),
        (b"SELECT * { ?s ?p ?o }", "is text or prepared by rdflib, not bytes"),
        ("", "the SPARQL query has a syntax error"),
    ],
)
def test_wrong_queries(query: Any, message: str) -> None:
    with pytest.raises(QuerySyntaxError, match=message) as caught:
        dataset().query(query)
    str(caught.value).encode()


def test_wrong_updates() -> None:
    for update in ("INSERT DATA {", b"", "DELETE WHERE { " + "{" * 800):
        with pytest.raises(QuerySyntaxError):
            dataset().update(update)


VALUES = {
    "a product of very many digits": "BIND(10 AS ?x0) " + " ".join(f"BIND(?x{i} * ?x{i} AS ?x{i + 1})" for i in range(40)),
    "a long text": 'BIND("ab" AS ?x0) ' + " ".join(f"BIND(CONCAT(?x{i}, ?x{i}) AS ?x{i + 1})" for i in range(40)),
    "a text that grows": 'BIND("ab" AS ?x0) ' + " ".join(f'BIND(REPLACE(?x{i}, "(.+)", "$1$1") AS ?x{i + 1})' for i in range(40)),
    "a huge number": f"BIND({'9' * 5000} + 1 AS ?x40)",
    "a place that is no integer": 'BIND(SUBSTR("abc", 1e300) AS ?x40)',
}


@pytest.mark.parametrize("name", thinned(VALUES, 3))
def test_what_cannot_be_computed_is_a_type_error(name: str) -> None:
    """The variable stays unbound, and nothing of Python's is raised."""
    (row,) = dataset().query(f"SELECT * {{ {VALUES[name]} }}").bindings
    assert Variable("x40") not in row


def test_an_aggregate_that_cannot_be_computed_is_unbound() -> None:
    result = dataset().query(f"SELECT (SUM(?x) AS ?y) (COUNT(?x) AS ?n) {{ VALUES ?x {{ {'9' * 5000} 1 }} }}")
    assert [(row.y, row.n.toPython()) for row in result] == [(None, 2)]


def test_a_year_beyond_those_of_python() -> None:
    year = 'YEAR("99999-01-01T00:00:00"^^<http://www.w3.org/2001/XMLSchema#dateTime>)'
    (row,) = dataset().query(f"SELECT ({year} AS ?year) {{}}")
    assert row.year.toPython() == 99999


def test_regular_expressions_are_ours() -> None:
    text = "a" * 50 + "!"
    graph = Graph().add((URIRef("urn:a"), URIRef("urn:p"), URIRef("urn:" + text)))
    query = prepareQuery('SELECT ?o { ?s ?p ?o FILTER(REGEX(STR(?o), "^urn:(a+)+$") || REGEX("b", "[a-c-[b]]")) }')
    assert list(attach(graph).query(query)) == []
    exists = 'SELECT ?o { ?s ?p ?o FILTER EXISTS { ?s ?p ?o FILTER(REGEX(STR(?o), "^urn:(a+)+$")) } }'
    assert list(attach(graph).query(exists)) == []
    attach(graph).update('DELETE { ?s ?p ?o } WHERE { ?s ?p ?o FILTER(REGEX(STR(?o), "^urn:(a+)+$")) }')
    with pytest.raises(UnsupportedError, match=r"REPLACE cannot be evaluated: .*FORX0003"):
        list(attach(graph).query('SELECT (REPLACE(?o, "a*", "") AS ?x) { ?s ?p ?o }'))


def test_a_prepared_query_is_rdflibs_on_other_stores() -> None:
    query = prepareQuery(r'SELECT ?x { BIND(REGEX("ab", STR("a\\b")) AS ?x) }')
    for _ in range(2):
        assert [len(row) for row in dataset().query(query).bindings] == [0]
        assert [len(row) for row in Graph().query(query).bindings] == [1]


@pytest.mark.parametrize(
    ("function", "query"),
    [
        ("kg_reasoner.sparql.syntax.query_syntax.QueryReader", "SELECT * { ?lack ?of ?memory }"),
        ("rdflib.plugins.sparql.algebra.translateQuery", "CONSTRUCT WHERE { ?lack ?of ?memory }"),
    ],
)
def test_a_lack_of_memory_is_not_a_syntax_error(function: str, query: str) -> None:
    with patch(function, side_effect=MemoryError), pytest.raises(MemoryError):
        Reasoner().query(query)
