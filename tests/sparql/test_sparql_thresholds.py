"""Answers do not depend on the sizes at which the evaluator changes its methods."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from types import ModuleType
from unittest.mock import patch

import pytest
from hypothesis import HealthCheck, assume, given, note, settings

from kg_reasoner import Limits, Reasoner
from kg_reasoner.query import batched_matches, fetching, patterns, single_patterns
from kg_reasoner.sparql.evaluation import evaluate as evaluation
from kg_reasoner.sparql.evaluation import extending, paths
from kg_reasoner.sparql.results import rows
from kg_reasoner.sparql.solutions import expressions, query_terms, rdflib_nodes
from kg_reasoner.storage.recursion import closures
from kg_reasoner.terms import IRI, RDF
from tests.helpers.effort import PHASES, examples
from tests.sparql.test_sparql_random import by_our_store
from tests.sparql_oracle import ast
from tests.sparql_oracle.compare import same_answers
from tests.sparql_oracle.dataset import Dataset
from tests.sparql_oracle.evaluate import evaluate
from tests.sparql_oracle.notes import OPEN
from tests.sparql_oracle.strategies import cases
from tests.sparql_oracle.text import query_text

NEVER = 10**9

Sizes = Mapping[tuple[ModuleType, str], int]

SIZES: Mapping[str, Sizes] = {
    "everything is large": {
        (expressions, "MANY"): 0,
        (extending, "START"): 1,
        (extending, "RATIO"): NEVER,
        (extending, "GROWTH"): 1,
        (evaluation, "GROWTH"): 1,
        (paths, "FEW"): 0,
        (paths, "FIRST"): 0,
        (closures, "ROOM"): 0,
        (single_patterns, "FEW"): 0,
        (patterns, "LOOK_UP"): 0,
        (query_terms, "REMEMBERED"): 1,
        (rdflib_nodes, "REMEMBERED"): 1,
        **{(module, name): 1 for module in (fetching, batched_matches, rows) for name in ("FIRST_CHUNK", "CHUNK")},
        (patterns, "CHUNK"): 1,
    },
    "everything is small": {
        (expressions, "MANY"): NEVER,
        (extending, "RATIO"): NEVER,
        (paths, "FEW"): NEVER,
        (paths, "FIRST"): NEVER,
        (paths, "GROWTH"): 2,
        (paths, "ROUNDS"): NEVER,
        (single_patterns, "FEW"): NEVER,
        (patterns, "LOOK_UP"): NEVER,
    },
    "patterns are joined by hashing": {(extending, "START"): -1, (extending, "RATIO"): -1, (expressions, "MANY"): 1},
    "paths are followed for two steps": {(paths, "FEW"): NEVER, (paths, "ROUNDS"): 2},
}


@pytest.mark.parametrize("name", SIZES)
@settings(max_examples=examples(150), phases=PHASES, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
@given(case=cases())
@pytest.mark.sample(4)
def test_random_queries(name: str, case: tuple[Dataset, ast.Query]) -> None:
    dataset, query = case
    outcome = evaluate(query, dataset)
    assume(not outcome.notes & OPEN)
    text = query_text(query)
    with ExitStack() as patches:
        for (module, constant), value in SIZES[name].items():
            patches.enter_context(patch.object(module, constant, value))
        found = by_our_store(dataset, text)
    note(f"{text}\nfound: {found}\nexpected: {outcome.result}")
    assert same_answers(outcome.result, found, ordered=True)


def chain(length: int) -> Reasoner:
    reasoner = Reasoner()
    reasoner.add_triples((IRI(f"urn:n{number}"), IRI("urn:p"), IRI(f"urn:n{number + 1}")) for number in range(length))
    return reasoner


@pytest.mark.parametrize("condition", ["CONTAINS(?x, '')", "STRSTARTS(?x, '')", "STRENDS(?x, '')", "REGEX(?x, 'a*')"])
def test_searches_in_strings_that_only_the_query_knows(condition: str) -> None:
    count = 2 * expressions.MANY
    query = f"SELECT * {{ ?s <urn:p> ?o BIND(CONCAT(STR(?s), '!') AS ?x) FILTER({condition}) }}"
    assert len(chain(count).query(query)) == count


@pytest.mark.parametrize("path", ["<urn:p>+", "(<urn:p>|^<urn:q>)+", "(!<urn:q>)+", "(<urn:p>/<urn:p>?)+", "^(^<urn:p>+)"])
def test_long_paths(path: str) -> None:
    length = 4 * paths.ROUNDS
    reasoner = chain(length)
    assert len(reasoner.query(f"SELECT * {{ <urn:n1> {path} ?y }}")) == length - 1
    assert len(reasoner.query(f"SELECT * {{ ?x {path} <urn:n{length}> }}")) == length
    assert len(reasoner.query(f"SELECT * {{ ?x {path} ?y }}")) == length * (length + 1) // 2 > closures.ROOM


def test_all_pairs_of_a_long_path_are_found_only_if_needed() -> None:
    reasoner = chain(3000)
    with reasoner.limited(Limits(facts=100_000)):
        assert len(reasoner.query("SELECT * { ?x <urn:p>+ ?y } LIMIT 5")) == 5
        assert reasoner.query("ASK { ?x <urn:p>+ ?y FILTER(?x != ?y) }")


@pytest.mark.parametrize("form", ["OPTIONAL", "MINUS", "FILTER NOT EXISTS"])
def test_patterns_with_any_class_are_followed_from_few_solutions(form: str) -> None:
    """The classes of two things are joined for the things at hand only: all pairs of things would be too many."""
    reasoner = chain(5)
    reasoner.add_triples((IRI(f"urn:thing{number}"), RDF.type, IRI("urn:Thing")) for number in range(1000))
    with reasoner.limited(Limits(facts=100_000)):
        found = reasoner.query(f"SELECT * {{ ?x <urn:p> ?y {form} {{ ?y a ?class . ?other a ?class }} }}")
    assert len(found) == 5
