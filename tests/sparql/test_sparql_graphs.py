"""Small queries with GRAPH, FROM and FROM NAMED have the answers that the oracle gives, first and again, whatever has changed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest
import rdflib
from hypothesis import given, settings
from hypothesis import strategies as st

from kg_reasoner import Reasoner
from kg_reasoner.concurrency.limits import Limits
from kg_reasoner.loaders.convert import from_rdflib, to_rdflib
from kg_reasoner.rdflib_store import KGReasonerStore
from kg_reasoner.terms import IRI, RDF, Term, Triple, literal
from tests.helpers.effort import examples
from tests.sparql_oracle.compare import Row, same_answers
from tests.sparql_oracle.dataset import Dataset
from tests.sparql_oracle.evaluate import evaluate
from tests.sparql_oracle.parse import parse_query

G, H, NOWHERE = (IRI(f"urn:{name}") for name in ("g", "h", "nowhere"))
NODES = [IRI("urn:a"), IRI("urn:b"), G]
Quad = tuple[IRI | None, Triple]
"""A graph, None for the default graph, and a triple."""
Quads = frozenset[Quad]

PATTERNS = [
    "GRAPH <urn:g> { ?x <urn:p> ?y }",
    "GRAPH <urn:g> { <urn:a> ?p ?y }",
    "GRAPH <urn:h> { ?x ?p <urn:a> }",
    "GRAPH <urn:nowhere> { ?x ?p ?y }",
    "GRAPH ?g { <urn:a> <urn:p> ?y }",
    "GRAPH ?g { ?x <urn:p> ?y . ?y <urn:q> ?z }",
    "GRAPH ?g { ?x a ?c }",
    "GRAPH ?g { ?g <urn:p> ?y }",
    "?x <urn:p> ?y . GRAPH ?g { ?y <urn:q> ?z }",
    "?g <urn:p> ?y GRAPH ?g { ?x <urn:q> ?y }",
    "GRAPH <urn:g> { ?x <urn:p> ?y } GRAPH <urn:h> { ?y <urn:q> ?z }",
    "GRAPH <urn:g> { <urn:a> <urn:p>+ ?y }",
    "GRAPH ?g { ?x <urn:p> ?y FILTER(?y IN (<urn:a>, <urn:b>)) }",
    "GRAPH <urn:h> { ?x <urn:p> ?y FILTER(?x = <urn:a>) }",
    "VALUES ?x { <urn:a> <urn:b> } GRAPH ?g { ?x <urn:q> ?y }",
    "?x <urn:p> <urn:a>",
    "<urn:a> ?p ?y",
    "<urn:a> <urn:p>+ ?y",
    "?x <urn:p> ?y . ?y <urn:q> ?z",
    "?x <urn:p> ?y FILTER(?y IN (<urn:a>, <urn:b>))",
]
CLAUSES: list[tuple[str, list[IRI] | None, list[IRI]]] = [
    ("", None, []),
    ("FROM <urn:g>", [G], []),
    ("FROM <urn:g> FROM <urn:h>", [G, H], []),
    ("FROM NAMED <urn:g>", [], [G]),
    ("FROM <urn:h> FROM NAMED <urn:g> FROM NAMED <urn:nowhere>", [H], [G]),
]
"""FROM and FROM NAMED, and the graphs of which they make the default graph (None: the dataset's), and the named graphs."""

QUADS = st.tuples(
    st.sampled_from([None, G, H]),
    st.tuples(
        st.sampled_from(NODES), st.sampled_from([IRI("urn:p"), IRI("urn:q"), RDF.type]), st.sampled_from([*NODES, literal(1)])
    ),
)
CHANGES = st.lists(st.tuples(st.booleans(), st.lists(QUADS, min_size=1, max_size=5)), min_size=1, max_size=3)

Asked = list[tuple[tuple[str, list[IRI] | None, list[IRI]], str]]
ASKED = st.lists(st.tuples(st.sampled_from(CLAUSES), st.sampled_from(PATTERNS)), min_size=1, max_size=6)

Ask = Callable[[str], list[Row] | bool]


def dataset_of(quads: Quads, default: list[IRI] | None, named: list[IRI], *, is_union: bool) -> Dataset:
    """The dataset of a query. With FROM, a graph that does not exist is empty."""
    graphs: dict[IRI | None, set[Triple]] = {}
    for graph, triple in quads:
        graphs.setdefault(graph, set()).add(triple)
    if default is None:
        whole = {triple for graph, triple in quads if is_union or graph is None}
        return Dataset(frozenset(whole), {graph: frozenset(triples) for graph, triples in graphs.items() if graph is not None})
    merged = {triple for graph in default for triple in graphs.get(graph, ())}
    return Dataset(frozenset(merged), {graph: frozenset(graphs[graph]) for graph in named if graph in graphs})


def check(ask: Ask, asked: Asked, quads: Quads, *, is_union: bool) -> None:
    for (clause, default, named), pattern in asked:
        dataset = dataset_of(quads, default, named, is_union=is_union)
        expected = evaluate(parse_query(f"SELECT * {{ {pattern} }}"), dataset).result
        for _ in range(3):
            found = ask(f"SELECT * {clause} {{ {pattern} }}")
            assert same_answers(expected, found), (clause, pattern, found)
            assert ask(f"ASK {clause} {{ {pattern} }}") is bool(found)
            some = ask(f"SELECT * {clause} {{ {pattern} }} LIMIT 2")
            assert isinstance(found, list) and isinstance(some, list)
            assert len(some) == min(2, len(found)) and all(row in found for row in some)


def rows(names: list[str], found: Any) -> list[Row]:
    return [{name: term for name, term in zip(names, row, strict=True) if term is not None} for row in found]


class OfReasoner:
    """Queries of a reasoner, whose default graph has all triples."""

    is_union = True

    def __init__(self) -> None:
        self.made = Reasoner()

    def change(self, adds: bool, quads: list[Quad]) -> None:
        for graph, triple in quads:
            graphs = self.made.named_graphs
            (graphs.add_triples if adds else graphs.remove_triples)([triple], graph)

    def ask(self, text: str, **options: Any) -> list[Row] | bool:
        found = self.made.query(text, **options)
        return bool(found) if found.type == "ASK" else rows([str(name) for name in found.variables], found)


class OfDataset(OfReasoner):
    """Queries of rdflib's Dataset over a store."""

    def __init__(self, is_union: bool) -> None:
        super().__init__()
        self.is_union = is_union
        self.graphs = rdflib.Dataset(store=KGReasonerStore(self.made), default_union=is_union)

    def change(self, adds: bool, quads: list[Quad]) -> None:
        for graph, triple in quads:
            place = self.graphs.default_graph if graph is None else self.graphs.graph(to_rdflib(graph))
            (place.add if adds else place.remove)(tuple(map(to_rdflib, triple)))

    def ask(self, text: str, **options: Any) -> list[Row] | bool:
        found = self.graphs.query(text)
        if found.type == "ASK":
            return bool(found.askAnswer)
        return rows([str(name) for name in found.vars or []], ([node and from_rdflib(node) for node in row] for row in found))


MAKERS: Mapping[str, Callable[[], OfReasoner]] = {
    "reasoner": OfReasoner,
    "dataset": lambda: OfDataset(False),
    "union": lambda: OfDataset(True),
}


def after(quads: Quads, adds: bool, changed: list[Quad]) -> Quads:
    return quads | frozenset(changed) if adds else quads - frozenset(changed)


@pytest.mark.parametrize("kind", MAKERS)
@settings(max_examples=examples(40), deadline=None)
@given(changes=CHANGES, asked=ASKED)
@pytest.mark.sample(2)
def test_after_changes(kind: str, changes: list[tuple[bool, list[Quad]]], asked: Asked) -> None:
    made, quads = MAKERS[kind](), frozenset[Quad]()
    for adds, changed in [(True, changes[0][1]), *changes]:
        made.change(adds, changed)
        quads = after(quads, adds, changed)
        check(made.ask, asked, quads, is_union=made.is_union)


@settings(max_examples=examples(30), deadline=None)
@given(changes=CHANGES, asked=ASKED)
@pytest.mark.sample(2)
def test_while_a_transaction_is_open(changes: list[tuple[bool, list[Quad]]], asked: Asked) -> None:
    """Queries see what the open transaction has changed, and after it was undone what was there before."""
    made, quads = OfReasoner(), frozenset(changes[0][1])
    made.change(True, changes[0][1])
    check(made.ask, asked, quads, is_union=True)
    inside = quads
    with pytest.raises(KeyError), made.made.transaction():
        for adds, changed in changes:
            made.change(adds, changed)
            inside = after(inside, adds, changed)
            check(made.ask, asked, inside, is_union=True)
        raise KeyError
    check(made.ask, asked, quads, is_union=True)


@settings(max_examples=examples(30), deadline=None)
@given(changes=CHANGES, asked=ASKED)
@pytest.mark.sample(2)
def test_limits_that_are_not_reached_change_no_answer(changes: list[tuple[bool, list[Quad]]], asked: Asked) -> None:
    made, quads = OfReasoner(), frozenset(changes[0][1])
    made.change(True, changes[0][1])
    check(lambda text: made.ask(text, limits=Limits(facts=10**9)), asked, quads, is_union=True)


@settings(max_examples=examples(40), deadline=None)
@given(quads=st.lists(QUADS, max_size=8), x=st.sampled_from(NODES), graph=st.sampled_from([G, H, NOWHERE]))
@pytest.mark.sample(2)
def test_given_values(quads: list[Quad], x: Term, graph: IRI) -> None:
    """Values that the caller gives are those of VALUES; the variable of a graph may be among them."""
    made = OfReasoner()
    made.change(True, quads)
    dataset = dataset_of(frozenset(quads), None, [], is_union=True)
    for pattern in ("GRAPH ?g { ?x <urn:p> ?y }", "?x <urn:p> ?y", "GRAPH <urn:g> { ?x ?p ?y }", "GRAPH ?g { ?y ?p ?x }"):
        for values in ({"x": x}, {"g": graph}, {"x": x, "g": graph}):
            given = {name: term for name, term in values.items() if f"?{name}" in pattern}
            bound = " ".join(f"VALUES ?{name} {{ {term} }}" for name, term in given.items())
            expected = evaluate(parse_query(f"SELECT ?y {{ {bound} {pattern} }}"), dataset).result
            for _ in range(2):
                assert same_answers(expected, made.ask(f"SELECT ?y {{ {pattern} }}", bindings=given)), (pattern, given)
