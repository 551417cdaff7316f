"""Users' evaluators of SPARQL: asked before ours for queries over our stores, and left alone for others."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from rdflib import RDF, RDFS, Graph, Namespace
from rdflib.plugins.sparql import CUSTOM_EVALS

from kg_reasoner import attach
from kg_reasoner.rdflib_store import evaluators
from kg_reasoner.rdflib_store.evaluators import NAME, Evaluator, foreign_evaluators

EX = Namespace("http://example.org/")
DATA = """
@prefix : <http://example.org/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:Cat rdfs:subClassOf :Animal . :tom a :Cat . :tim a :Cat .
"""


@pytest.fixture
def registered() -> Iterator[dict[str, Evaluator]]:
    before = dict(CUSTOM_EVALS)
    yield CUSTOM_EVALS
    CUSTOM_EVALS.clear()
    CUSTOM_EVALS.update(before)


def recorder(seen: list[str]) -> Evaluator:
    def record(context: Any, part: Any) -> Any:
        seen.append(part.name)
        raise NotImplementedError

    return record


def no_cats(context: Any, part: Any) -> Any:
    """Answer a basic graph pattern as rdflib does, but hide every solution."""
    if part.name != "BGP":
        raise NotImplementedError
    return iter(())


def graph() -> Graph:
    return attach(Graph().parse(data=DATA, format="turtle"), ruleset="rdfs")


def test_ours_is_registered_and_not_foreign(registered: dict[str, Evaluator]) -> None:
    attach(Graph())
    assert registered[NAME] is evaluators.evaluate
    assert no_cats not in foreign_evaluators()
    assert evaluators.evaluate not in foreign_evaluators()


def test_foreign_evaluators_are_in_the_order_of_their_registration(registered: dict[str, Evaluator]) -> None:
    first, second = recorder([]), recorder([])
    registered["a"], registered["b"] = first, second
    assert foreign_evaluators() == (first, second)
    del registered["a"]
    assert foreign_evaluators() == (second,)


@pytest.mark.parametrize("is_first", [True, False])
def test_an_evaluator_answers_before_ours(registered: dict[str, Evaluator], is_first: bool) -> None:
    animals = "SELECT DISTINCT ?x { ?x a <http://example.org/Animal> } LIMIT 5"
    cats = graph()
    assert len(list(cats.query(animals))) == 2
    if is_first:
        others = dict(registered)
        registered.clear()
        registered.update({"none": no_cats, **others})
    else:
        registered["none"] = no_cats
    assert len(list(cats.query(animals))) == 0


@pytest.mark.parametrize(
    ("query", "parts"),
    [
        ("SELECT ?x { ?x a ?y }", ["SelectQuery", "Project", "BGP"]),
        ("SELECT DISTINCT ?x { ?x a ?y } LIMIT 1", ["SelectQuery", "Slice", "Distinct", "Project", "BGP"]),
        ("SELECT ?x { ?x a ?y OPTIONAL { ?x ?p ?x } }", ["SelectQuery", "Project", "LeftJoin", "BGP"]),
        ("SELECT ?x { { ?x a ?y } { ?x ?p ?z } }", ["SelectQuery", "Project", "Join", "BGP"]),
    ],
)
def test_every_part_is_offered_and_answers_stay_the_same(registered: dict[str, Evaluator], query: str, parts: list[str]) -> None:
    cats = graph()
    expected = sorted(cats.query(query))
    seen: list[str] = []
    registered["recorder"] = recorder(seen)
    assert len(list(cats.query(query))) == len(expected)
    assert list(dict.fromkeys(seen)) == parts
    if "LIMIT" not in query:
        assert sorted(cats.query(query)) == expected


def test_other_stores_are_left_alone(registered: dict[str, Evaluator]) -> None:
    seen: list[str] = []
    attach(Graph())
    registered["recorder"] = recorder(seen)
    plain = Graph().parse(data=DATA, format="turtle")
    assert len(list(plain.query("SELECT ?x { ?x a ?y }"))) == 2
    assert seen == ["SelectQuery", "Project", "BGP"], "rdflib asks once"


@pytest.mark.parametrize("error", [TypeError("mine"), ValueError("mine"), AttributeError("mine"), ZeroDivisionError("mine")])
def test_errors_of_an_evaluator_are_passed_on(registered: dict[str, Evaluator], error: Exception) -> None:
    def broken(context: Any, part: Any) -> Any:
        raise error

    registered["broken"] = broken
    with pytest.raises(type(error), match="mine") as caught:
        list(graph().query("SELECT ?x { ?x a ?y }"))
    assert caught.value is error


def test_an_evaluator_sees_what_is_inferred(registered: dict[str, Evaluator]) -> None:
    def labels(context: Any, part: Any) -> Any:
        if part.name == "BGP":
            assert (EX.tom, RDF.type, EX.Animal) in context.graph
        raise NotImplementedError

    registered["labels"] = labels
    assert len(list(graph().query("SELECT ?x { ?x a <http://example.org/Animal> . }", initNs={"rdfs": RDFS}))) == 2
