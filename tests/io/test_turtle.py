"""Turtle for people: what it looks like, and that it says the same."""

from __future__ import annotations

import io
from random import Random

import numpy as np
import pytest
from rdflib import Graph
from rdflib.compare import isomorphic

from kg_reasoner.io.output import TripleWriter
from kg_reasoner.io.readable_turtle import DEPTH, _TurtleWriter
from kg_reasoner.loaders.convert import to_rdflib
from kg_reasoner.loaders.rdf.formats import TURTLE
from kg_reasoner.storage.terms.dictionary import Dictionary
from kg_reasoner.terms import IRI, RDF, BlankNode, Literal, Term, Triple, literal

EX = "http://example.org/"
A, B, P, Q = (IRI(EX + name) for name in ("a", "b", "p", "q"))


def written(triples: list[Triple]) -> str:
    dictionary, file = Dictionary(), io.BytesIO()
    ids = np.array([[dictionary.encode(term) for term in triple] for triple in triples], np.int32).reshape(-1, 3)
    assert TripleWriter(file, TURTLE, {"ex": EX}).ids(ids, dictionary) == len(triples)
    return file.getvalue().decode()


def says_the_same(triples: list[Triple]) -> bool:
    graph = Graph()
    for triple in triples:
        graph.add(tuple(map(to_rdflib, triple)))  # type: ignore[arg-type]
    return isomorphic(graph, Graph().parse(data=written(triples), format="turtle"))


def list_of(items: list[Term]) -> list[Triple]:
    nodes: list[Term] = [*(BlankNode(f"l{number}") for number in range(len(items))), RDF.nil]
    return [
        triple
        for node, rest, item in zip(nodes, nodes[1:], items, strict=False)
        for triple in ((node, RDF.first, item), (node, RDF.rest, rest))
    ]


def test_what_it_looks_like() -> None:
    inner = BlankNode("inner")
    triples: list[Triple] = [
        *((A, P, inner), (inner, Q, literal(1)), (inner, RDF.type, B), (A, RDF.type, B), (A, Q, BlankNode("l0"))),
        *list_of([literal(True), A, Literal('"', language="en")]),
        (B, P, IRI(EX + "a/b")),
    ]
    assert written(triples) == (
        "@prefix ex: <http://example.org/> .\n"
        "\nex:a\n    a ex:b ;\n    ex:p [\n        a ex:b ;\n        ex:q 1\n    ] ;\n"
        '    ex:q ( true ex:a "\\""@en ) .\n'
        "\nex:b ex:p <http://example.org/a/b> .\n"
    )


def test_namespaces_that_end_within_a_word() -> None:
    dictionary, file = Dictionary(), io.BytesIO()
    names = ["urn:x:a", "urn:x:1", "urn:x:-a", "urn:x:", "urn:x:a/b", "urn:y", f"{EX}GO_0001", f"{EX}GO-1", f"{EX}GOA", f"{EX}GO"]
    ids = np.array([[dictionary.encode(term) for term in (A, P, IRI(name))] for name in names], np.int32)
    TripleWriter(file, TURTLE, {"go": EX + "GO_", "x": "urn:x:", "ex": EX, "g": EX + "GO"}).ids(ids, dictionary)
    text = file.getvalue().decode()
    assert text.endswith(" x:a, x:1, <urn:x:-a>, <urn:x:>, <urn:x:a/b>, <urn:y>, ex:GO_0001, ex:GO-1, ex:GOA, ex:GO .\n")
    assert set(map(str, Graph().parse(data=text).objects())) == set(names)
    again = io.BytesIO()
    TripleWriter(again, TURTLE, {"go": EX + "GO_", "g": EX + "GO"}).ids(ids, dictionary)
    assert f"<urn:y>, go:0001, <{EX}GO-1>, g:A, <{EX}GO> .\n" in again.getvalue().decode()


@pytest.mark.parametrize(
    "triples",
    [
        [(BlankNode("x"), P, BlankNode("x"))],
        [(BlankNode("x"), P, BlankNode("y")), (BlankNode("y"), P, BlankNode("x")), (A, P, B)],
        [(A, P, BlankNode("x")), (B, P, BlankNode("x")), (BlankNode("x"), P, A)],
        [(A, P, BlankNode("nothing"))],
        [(A, P, BlankNode("l0")), *list_of([BlankNode("x"), A]), (BlankNode("l1"), P, B)],
        [(A, P, BlankNode("l0")), (BlankNode("l0"), RDF.first, A), (BlankNode("l0"), RDF.rest, BlankNode("l0"))],
        [(A, P, BlankNode("l0")), *list_of([literal(n) for n in range(100)])],
        [(BlankNode(f"d{n}"), P, BlankNode(f"d{n + 1}")) for n in range(4 * DEPTH)],
        [(A, P, Literal("x\n\\", "http://example.org/d#t")), (A, P, Literal("7x", "http://www.w3.org/2001/XMLSchema#integer"))],
    ],
    ids=["loop", "circle", "shared", "nothing", "list with more", "round list", "long list", "deep", "literals"],
)
def test_the_text_says_the_same(triples: list[Triple]) -> None:
    assert says_the_same(triples)


def test_long_lists_do_not_nest() -> None:
    text = written([(A, P, BlankNode("l0")), *list_of([literal(n) for n in range(5000)])])
    assert text.splitlines()[-1] == f"ex:a ex:p ( {' '.join(map(str, range(5000)))} ) ."


def test_lists_without_an_end_are_looked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    looked, about = list[int](), _TurtleWriter._about

    def counted(writer: _TurtleWriter, subject: int) -> object:
        looked.append(subject)
        return about(writer, subject)

    monkeypatch.setattr(_TurtleWriter, "_about", counted)
    count = 150
    cells = list_of([literal(number) for number in range(count)])[:-1]  # nothing says that the list is over
    assert says_the_same([(A, P, BlankNode("l0")), *cells])
    assert len(looked) < 10 * count


def test_random_graphs() -> None:
    random = Random("turtle")
    nodes: list[Term] = [*(BlankNode(f"n{number}") for number in range(6)), A, B]
    for _ in range(200):
        some = {
            (random.choice(nodes), random.choice([P, Q, RDF.first, RDF.rest]), random.choice([*nodes, RDF.nil]))
            for _ in range(random.randint(0, 9))
        }
        triples: list[Triple] = sorted(some, key=str)
        assert says_the_same(triples), triples
