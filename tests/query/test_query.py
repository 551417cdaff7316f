"""Basic graph patterns on the engine give exactly the solutions that nested loops over the triples give, in both layouts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from kg_reasoner import Reasoner
from kg_reasoner.language.parser import parse
from kg_reasoner.program import Program
from kg_reasoner.query.matching import TripleMatcher, Which
from kg_reasoner.query.patterns import Pattern, answers, match_triples, variables_of
from kg_reasoner.terms import IRI, OWL, RDF, BlankNode, Term, Triple, literal
from tests.helpers.checked import run_in_checked_mode
from tests.helpers.effort import CHECKED, examples

EXAMPLES = settings(max_examples=examples(120))
FEWER = settings(EXAMPLES, max_examples=max(1, EXAMPLES.max_examples // 3))

NODES: list[Term] = [IRI("http://example.org/a"), IRI("http://example.org/b"), IRI("http://example.org/C"), BlankNode("n")]
PROPERTIES: list[Term] = [IRI("http://example.org/p"), IRI("http://example.org/q"), RDF.type]
VALUES = [*NODES, literal(1), *PROPERTIES]
VARIABLES = ["x", "y", "z", "w"]

LAYOUTS = {
    "a relation for each property": parse(""),
    "one relation of all triples": parse("[?s, ?p, ?o] :- [?s, ?p, ?o], [?s, ?q, ?o] ."),
}
INFERENCES = {
    "properties": parse("[?x, <http://example.org/q>, ?y] :- [?y, <http://example.org/p>, ?x] . [?x, a, ?y] :- [?x, ?p, ?y] ."),
    "all triples": parse("[?x, ?p, ?z] :- [?x, ?p, ?y], [?y, ?q, ?z] ."),
}

triples = st.sets(
    st.tuples(st.sampled_from([*NODES, *PROPERTIES]), st.sampled_from(PROPERTIES), st.sampled_from(VALUES)), max_size=14
)
variables = st.sampled_from(VARIABLES)
terms = st.one_of(variables, variables, st.sampled_from(VALUES))
properties = st.one_of(st.sampled_from(PROPERTIES), st.sampled_from(PROPERTIES), variables)
TermPattern = tuple[Term | str, Term | str, Term | str]
patterns = st.lists(st.tuples(terms, properties, terms), min_size=1, max_size=4)


def reasoner_of(program: Program, data: set[Triple]) -> Reasoner:
    reasoner = Reasoner(program)
    reasoner.add_triples(data)
    return reasoner


def by_nested_loops(data: set[Triple], query: list[TermPattern]) -> Iterator[dict[str, Term]]:
    """All solutions, obviously."""
    solutions: list[dict[str, Term]] = [{}]
    for pattern in query:
        extended = []
        for solution in solutions:
            for triple in data:
                binding = dict(solution)
                if all((binding.setdefault(p, t) if isinstance(p, str) else p) == t for p, t in zip(pattern, triple, strict=True)):
                    extended.append(binding)
        solutions = extended
    yield from solutions


def solve(reasoner: Reasoner, query: list[TermPattern], names: list[str], **options: object) -> list[tuple[Term, ...]]:
    reasoner.materialise()
    coded: list[Pattern] = []
    for pattern in query:
        subject, property, value = (term if isinstance(term, str) else reasoner.dictionary.encode(term) for term in pattern)
        coded.append((subject, property, value))
    rows = answers(reasoner, coded, names, **options)  # type: ignore[arg-type]
    assert rows.shape == (len(rows), len(names))
    return [tuple(reasoner.dictionary.decode(number) for number in row) for row in rows.tolist()]


def check(reasoner: Reasoner, data: set[Triple], query: list[TermPattern], which: Which = "all") -> None:
    names = sorted({term for pattern in query for term in pattern if isinstance(term, str)})
    expected = Counter(tuple(solution[name] for name in names) for solution in by_nested_loops(data, query))
    assert Counter(solve(reasoner, query, names, which=which)) == expected
    if names:  # fewer variables, the same number of solutions
        assert len(solve(reasoner, query, names[1:], which=which)) == expected.total()
    for limit in (1, 3):
        few = Counter(solve(reasoner, query, names, which=which, limit=limit))
        assert few <= expected
        assert few.total() >= min(limit, expected.total())


@pytest.mark.parametrize("layout", LAYOUTS)
@EXAMPLES
@given(data=triples, query=patterns)
@example(data={(NODES[0], RDF.type, NODES[2])}, query=[("x", "y", "z"), ("x", "y", "w")])
@example(data={(NODES[0], PROPERTIES[0], NODES[0])}, query=[("x", "y", "x"), ("y", "z", "x")])
def test_stored_triples(layout: str, data: set[Triple], query: list[TermPattern]) -> None:
    check(reasoner_of(LAYOUTS[layout], data), data, query)


@pytest.mark.parametrize("rules", INFERENCES)
@pytest.mark.parametrize("which", ["all", "explicit", "inferred"])
@FEWER
@given(data=triples, query=patterns)
def test_inferred_triples(rules: str, which: Which, data: set[Triple], query: list[TermPattern]) -> None:
    reasoner = reasoner_of(INFERENCES[rules], data)
    every = set(reasoner.triples())
    check(reasoner, {"all": every, "explicit": data, "inferred": every - data}[which], query, which)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("look_up", [0, 1 << 40])
@FEWER
@given(data=triples, query=patterns)
def test_both_ways_to_join_with_a_pattern(layout: str, look_up: int, data: set[Triple], query: list[TermPattern]) -> None:
    """By look-ups always, and never; explicit triples are always joined pattern by pattern."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("kg_reasoner.query.patterns.LOOK_UP", look_up)
        reasoner = reasoner_of(LAYOUTS[layout], data)
        check(reasoner, data, query)
        check(reasoner, data, query, "explicit")


@pytest.mark.parametrize("layout", LAYOUTS)
@FEWER
@given(data=triples, gone=triples, query=patterns)
def test_after_changes(layout: str, data: set[Triple], gone: set[Triple], query: list[TermPattern]) -> None:
    """Indexes that queries asked for are kept up to date, and samples do not mislead."""
    reasoner = reasoner_of(LAYOUTS[layout], data)
    check(reasoner, data, query)
    reasoner.add_triples(gone)
    check(reasoner, data | gone, query)
    reasoner.remove_triples(gone)
    check(reasoner, data - gone, query)


@pytest.mark.parametrize("layout", LAYOUTS)
@FEWER
@given(data=triples)
def test_every_pattern(layout: str, data: set[Triple]) -> None:
    reasoner = reasoner_of(LAYOUTS[layout], data)
    ids = {term: reasoner.dictionary.encode(term) for term in VALUES}
    reasoner.materialise()
    matcher: TripleMatcher = reasoner.core.queries.matcher
    decode = reasoner.dictionary.decode
    assert matcher.count() == matcher.count("explicit") == len(data)
    assert matcher.count("inferred") == 0
    for subject in (None, *ids):
        for property in (None, *PROPERTIES, NODES[0]):
            for value in (None, *ids):
                pattern = [None if term is None else ids[term] for term in (subject, property, value)]
                found = [tuple(map(decode, row)) for row in match_triples(reasoner, pattern).tolist()]
                expected = {t for t in data if subject in (None, t[0]) and property in (None, t[1]) and value in (None, t[2])}
                assert Counter(found) == Counter(expected)
                if None not in pattern:
                    assert matcher.contains(*pattern) == bool(expected)  # type: ignore[arg-type]


@pytest.mark.skipif(CHECKED, reason="takes long without compiled kernels")
def test_many_solutions_of_joins() -> None:
    """More than fit into the first chunks."""
    reasoner = Reasoner()
    p = IRI("http://example.org/p")
    hub = IRI("http://example.org/hub")
    spokes = [IRI(f"http://example.org/{n}") for n in range(300)]
    reasoner.add_triples([(spoke, p, hub) for spoke in spokes])
    number, centre = reasoner.dictionary.encode(p), reasoner.dictionary.encode(hub)
    pairs = answers(reasoner, [("x", number, "z"), ("y", number, "z")], ["x", "y"])
    assert pairs.shape == (90000, 2)
    assert len(np.unique(pairs, axis=0)) == 90000
    assert len(answers(reasoner, [("x", number, "z"), ("y", number, "z")], ["x"], limit=10)) < 90000
    assert len(answers(reasoner, [("x", number, centre), ("y", "p", centre)], ["x", "y", "p"])) == 90000


@pytest.mark.skipif(CHECKED, reason="takes long without compiled kernels")
@pytest.mark.long
def test_a_star_around_a_rare_value_is_not_a_product() -> None:
    """Patterns that only meet in a third one: neither order nor layout may multiply them first (a billion pairs)."""
    rare, p, q, r = (IRI(f"http://example.org/{name}") for name in ("rare", "p", "q", "r"))
    for program in LAYOUTS.values():
        reasoner = Reasoner(program)
        nodes = [IRI(f"http://example.org/{n}") for n in range(30000)]
        reasoner.add_triples([(node, p, rare) for node in nodes])
        reasoner.add_triples([(node, q, rare) for node in nodes])
        reasoner.add_triples([(nodes[5], r, nodes[7])])
        code = reasoner.dictionary.encode
        rare_id, p_id, q_id, r_id = code(rare), code(p), code(q), code(r)
        found = answers(reasoner, [("x", p_id, rare_id), ("y", q_id, rare_id), ("x", r_id, "y")], ["x", "y"])
        assert found.tolist() == [[code(nodes[5]), code(nodes[7])]]
        found = answers(reasoner, [("x", p_id, rare_id), ("y", q_id, rare_id), ("x", "v", "y")], ["v"])
        assert found.tolist() == [[r_id]]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_unknown_predicates_and_literal_subjects_match_nothing(layout: str) -> None:
    a, p = NODES[0], PROPERTIES[0]
    reasoner = reasoner_of(LAYOUTS[layout], {(a, p, literal(1)), (a, p, a)})
    assert solve(reasoner, [("x", p, "y"), ("y", p, "z")], ["x"]) == [(a,), (a,)]
    assert solve(reasoner, [("x", IRI("http://example.org/unknown"), "y"), ("x", p, "z")], ["x"]) == []
    assert solve(reasoner, [("x", OWL.sameAs, "y")], ["x"]) == []
    assert solve(reasoner, [(literal(1), p, "y")], ["y"]) == []
    assert solve(reasoner, [(literal(1), p, "y"), ("x", p, "y")], ["y"]) == []
    assert solve(reasoner, [("x", literal(1), "y")], ["y"]) == []
    assert solve(reasoner, [("x", "y", "z"), ("z", "y", "w"), (literal(1), p, "w")], ["x"]) == []


def test_variables_of() -> None:
    assert variables_of([("x", 1, "y"), (2, "x", "z")]) == ["x", "y", "z"]


@pytest.mark.long
@pytest.mark.skipif(CHECKED, reason="this is the checked run")
def test_the_same_in_checked_mode() -> None:
    """This file again, with kernels as bounds-checked Python."""
    run_in_checked_mode(__file__)
