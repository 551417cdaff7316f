"""Recursion through MIN and MAX: shortest paths and longest chains under changes, by all strategies, against other algorithms."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Final, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kg_reasoner import Limits, Reasoner
from kg_reasoner.dbsp.datalog import Datalog
from kg_reasoner.engine.maintenance import Strategy
from kg_reasoner.errors import LimitError, NoProofError, RecursionValueError, UnsupportedError
from kg_reasoner.language.parser import parse
from kg_reasoner.program import Atom, Program, Rule
from kg_reasoner.storage.recursion import best_values
from kg_reasoner.terms import IRI, RDF, Literal, Term, literal
from tests.helpers.effort import examples, thinned
from tests.helpers.oracle import evaluate

Edge = tuple[str, str, Decimal]

STRATEGIES: Final = sorted(get_args(Strategy))
STEPS: Final = """
    step(?x, 0) :- source(?x) .
    step(?y, ?c) :- dist(?x, ?d), edge(?x, ?y, ?w), BIND(?d + ?w AS ?c) .
    dist(?y, ?d) :- AGGREGATE(step(?y, ?c) ON ?y BIND MIN(?c) AS ?d) .
    far(?y) :- dist(?y, ?d), FILTER(?d > 5) ."""
"""Candidates are facts of their own, which depend on the values."""

DIRECT: Final = """
    dist(?x, 0) :- source(?x) .
    dist(?y, ?m) :- AGGREGATE(dist(?x, ?d), edge(?x, ?y, ?w) ON ?y BIND MIN(?d + ?w) AS ?m) ."""
TRIPLES: Final = """
    @prefix : <http://example.org/> .
    [?y, :step, ?c] :- [?x, :dist, ?d], edge(?x, ?y, ?w), BIND(?d + ?w AS ?c) .
    [?x, :step, 0] :- source(?x) .
    [?x, rdf:type, :Reached] :- [?x, :step, ?c] .
    [?y, :dist, ?d] :- AGGREGATE([?y, :step, ?c], :Reached[?y] ON ?y BIND MIN(?c) AS ?d) ."""
EITHER: Final = """
    dist(?y, ?m) :- AGGREGATE((source(?y), ?c = 0 ; dist(?x, ?d), edge(?x, ?y, ?w), ?c = ?d + ?w) ON ?y BIND MIN(?c) AS ?m) ."""
"""The disjunction is a predicate of the recursion that nothing else reads."""
ALL_PAIRS: Final = """
    path(?x, ?y, ?w) :- edge(?x, ?y, ?w) .
    path(?x, ?z, ?c) :- least(?x, ?y, ?v), least(?y, ?z, ?w), BIND(?v + ?w AS ?c) .
    least(?x, ?y, ?m) :- AGGREGATE(path(?x, ?y, ?c) ON ?x ?y BIND MIN(?c) AS ?m) ."""

NODES: Final = "abcdef"
WEIGHTS: Final = st.one_of(st.integers(0, 9).map(Decimal), st.sampled_from([Decimal("0.5"), Decimal("2.25"), Decimal(2**60)]))
EDGES: Final = st.tuples(st.sampled_from(NODES), st.sampled_from(NODES), WEIGHTS)


def _row(edge: Edge) -> tuple[Term, ...]:
    first, second, weight = edge
    number = literal(int(weight)) if weight == weight.to_integral_value() else literal(weight)
    return IRI(f"http://example.org/{first}"), IRI(f"http://example.org/{second}"), number


def _name(term: Term) -> str:
    assert isinstance(term, IRI)
    return term.value[-1]


def _value(term: Term) -> Decimal:
    assert isinstance(term, Literal)
    return Decimal(term.lexical)


def _bellman_ford(edges: Iterable[Edge], sources: Iterable[str]) -> dict[str, Decimal]:
    dist = dict.fromkeys(sources, Decimal(0))
    for _ in NODES:
        for first, second, weight in edges:
            if first in dist:
                dist[second] = min(dist.get(second, dist[first] + weight), dist[first] + weight)
    return dist


def _distances(reasoner: Reasoner, program: str) -> dict[str, Decimal]:
    if program is TRIPLES:
        found = [(s, o) for s, p, o in reasoner.triples() if p == IRI("http://example.org/dist")]
    else:
        found = [(row[0], row[1]) for row in reasoner.facts("dist")]
    pairs = {(_name(node), _value(value)) for node, value in found}
    if program is DIRECT:  # the sources are not among the groups
        least: dict[str, Decimal] = {}
        for node, value in pairs:
            least[node] = min(least.get(node, value), value)
        return least
    assert len({node for node, _ in pairs}) == len(pairs)
    return dict(pairs)


@pytest.mark.parametrize("program", thinned([STEPS, DIRECT, TRIPLES, EITHER], 3))
@pytest.mark.parametrize("strategy", STRATEGIES)
@given(st.sets(EDGES, max_size=10), st.lists(st.tuples(st.sets(EDGES, max_size=2), st.integers(0, 2)), max_size=3), st.booleans())
@settings(max_examples=examples(60))
@pytest.mark.long
def test_shortest_paths_under_changes(
    strategy: Strategy, program: str, edges: set[Edge], updates: list[tuple[set[Edge], int]], moves_source: bool
) -> None:
    reasoner = Reasoner(maintenance=strategy)
    reasoner.add_program(program)
    sources = {"a"}
    reasoner.add_facts("source", [_row(("a", "a", Decimal(0)))[:1]])
    present = set(edges)
    reasoner.add_facts("edge", map(_row, present))
    for added, removed in [(set[Edge](), 0), *updates]:
        with reasoner.transaction():
            gone = sorted(present)[:removed]
            reasoner.remove_facts("edge", map(_row, gone))
            reasoner.add_facts("edge", map(_row, added))
            if moves_source:
                reasoner.add_facts("source", [_row(("b", "b", Decimal(0)))[:1]])
        sources |= {"b"} if moves_source else set()
        present = (present - set(gone)) | added
        dist = _bellman_ford(present, sources)
        assert _distances(reasoner, program) == dist
        if program is STEPS:
            steps = {(second, dist[first] + weight) for first, second, weight in present if first in dist}
            steps |= {(source, Decimal(0)) for source in sources}
            assert {(_name(y), _value(c)) for y, c in reasoner.facts("step")} == steps
            assert {_name(y) for (y,) in reasoner.facts("far")} == {node for node, value in dist.items() if value > 5}
        if program is TRIPLES:
            reached = {_name(s) for s, p, _ in reasoner.triples() if p == RDF.type}
            assert reached == dist.keys()


@given(st.sets(EDGES, max_size=8), st.sets(EDGES, max_size=2))
@settings(max_examples=examples(45))
def test_all_pairs_with_two_values_in_a_body(edges: set[Edge], more: set[Edge]) -> None:
    """Recursion that is not linear, groups of two columns, and the same answers as the oracle that repeats all rules."""
    reasoner = Reasoner(parse(ALL_PAIRS))
    reasoner.add_facts("edge", map(_row, edges))
    reasoner.materialise()
    reasoner.add_facts("edge", map(_row, more))
    wanted = evaluate(parse(ALL_PAIRS), {"edge": set(map(_row, edges | more))})
    for predicate in ("path", "least"):
        assert set(reasoner.facts(predicate)) == wanted.get(predicate, set())


@given(st.sets(st.tuples(st.integers(0, 7), st.integers(0, 7)).filter(lambda pair: pair[0] < pair[1]), max_size=14))
@settings(max_examples=examples(45))
def test_longest_chains(pairs: set[tuple[int, int]]) -> None:
    reasoner = Reasoner(
        parse("""chain(?y, ?n) :- AGGREGATE(found(?y, ?m) ON ?y BIND MAX(?m) AS ?n) .
                 found(?y, 1) :- above(?x, ?y) .
                 found(?y, ?m) :- chain(?x, ?n), above(?x, ?y), BIND(?n + 1 AS ?m) .""")
    )
    reasoner.add_facts("above", [(literal(a), literal(b)) for a, b in pairs])
    longest: dict[int, int] = {}
    for a, b in sorted(pairs, key=lambda pair: pair[1]):
        longest[b] = max(longest.get(b, 0), longest.get(a, 0) + 1)
    found = {(row[0], row[1]) for row in reasoner.facts("chain")}
    assert found == {(literal(node), literal(length)) for node, length in longest.items()}


VALUES: Final[Sequence[Term]] = [
    *map(literal, (1, -1, 2, 1.0, 2.5, float("nan"), float("-inf"), Decimal("1.0"), "1", True)),
    Literal("01", literal(1).datatype),
    Literal("x", literal(1).datatype),
    IRI("http://example.org/a"),
]


@given(
    st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from(VALUES)), max_size=12), st.sampled_from(["MIN", "MAX"]), st.booleans()
)
def test_the_best_values_are_those_of_the_aggregate(rows: list[tuple[str, Term]], function: str, only_integers: bool) -> None:
    """Copied around a ring, the best of all values of all kinds arrives everywhere, as `aggregate` chooses it."""
    rows = [row for row in rows if not only_integers or row[1] in VALUES[:5]]
    program = parse(f"""
        got(?x, ?v) :- has(?x, ?v) .
        got(?y, ?v) :- best(?x, ?v), next(?x, ?y) .
        best(?x, ?b) :- AGGREGATE(got(?x, ?v) ON ?x BIND {function}(?v) AS ?b) .
        all(?b) :- AGGREGATE(has(?x, ?v) BIND {function}(?v) AS ?b) .
        next("a", "b") . next("b", "a") .""")
    reasoner = Reasoner(program)
    reasoner.add_facts("has", [(literal(name), value) for name, value in rows])
    (wanted,) = [row[0] for row in reasoner.facts("all")] or [None]
    assert set(reasoner.facts("best")) == ({(literal(name), wanted) for name in "ab"} if rows else set())


# --- what has no result


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_cycle_that_improves_for_ever_ends_with_an_error(strategy: Strategy, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kg_reasoner.engine.evaluation.recursive_results.MOST_ROUNDS", 50)
    reasoner = Reasoner(parse(STEPS), maintenance=strategy)
    reasoner.add_facts("source", [(IRI("http://example.org/a"),)])
    reasoner.add_facts("edge", [_row(("a", "b", Decimal(1))), _row(("b", "c", Decimal(1)))])
    before = set(reasoner.facts("dist"))
    with (
        pytest.raises(
            RecursionValueError, match=r"recursion of dist, step .* values still improve after 5\d rounds: there may be a cycle"
        ),
        reasoner.transaction(),
    ):
        reasoner.add_facts("edge", [_row(("c", "a", Decimal(-3)))])
    assert set(reasoner.facts("dist")) == before
    reasoner.add_facts("edge", [_row(("c", "a", Decimal(-2)))])
    assert set(reasoner.facts("dist")) == before


def test_limits_end_it_before() -> None:
    reasoner = Reasoner(parse(STEPS))
    reasoner.add_facts("source", [(IRI("http://example.org/a"),)])
    reasoner.add_facts("edge", [_row(("a", "a", Decimal(-1)))])
    with pytest.raises(LimitError):
        reasoner.materialise(limits=Limits(seconds=0.2))


@pytest.mark.parametrize("value", ['"7"', "<http://example.org/x>", '"NaN"^^xsd:double'])
def test_values_that_are_calculated_with_are_numbers(value: str) -> None:
    reasoner = Reasoner(parse(f'{STEPS} step("x", {value}) .'))
    with pytest.raises(RecursionValueError, match=r"is not a number, but the values of the recursion are calculated with"):
        reasoner.materialise()


def test_a_circuit_refuses_it() -> None:
    with pytest.raises(UnsupportedError, match=r"a circuit cannot evaluate recursion through MIN and MAX, as that of"):
        Datalog().step(rules=dict.fromkeys(parse(DIRECT).rules, 1))


# --- rules that change, explicit facts, queries on demand


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_rules_of_the_recursion_come_and_go(strategy: Strategy) -> None:
    reasoner = Reasoner(parse(STEPS), maintenance=strategy)
    reasoner.add_facts("source", [(IRI("http://example.org/a"),)])
    reasoner.add_facts("edge", [_row(("a", "b", Decimal(4))), _row(("b", "c", Decimal(1)))])
    first = set(reasoner.facts("dist"))
    jump = parse("step(?y, 1) :- bridge(?y) .")
    reasoner.add_program(jump)
    reasoner.add_facts("bridge", [(IRI("http://example.org/b"),)])
    assert {(_name(x), _value(d)) for x, d in reasoner.facts("dist")} == {("a", 0), ("b", 1), ("c", 2)}
    reasoner.remove_rules(jump.rules)
    assert set(reasoner.facts("dist")) == first
    reasoner.remove_rules(parse(STEPS).rules)
    assert not set(reasoner.facts("dist"))
    assert not set(reasoner.facts("step"))


def test_a_rule_about_literals_becomes_part_of_a_recursion() -> None:
    reasoner = Reasoner(parse("dist(?x, ?n) :- start(?x, ?n), literal_type(?n, xsd:integer) ."))
    reasoner.add_facts("start", [(IRI("http://example.org/a"), literal(1))])
    reasoner.materialise()
    reasoner.add_program(parse(DIRECT))
    reasoner.materialise()
    reasoner.add_facts("start", [(IRI("http://example.org/b"), literal(77))])
    assert {(_name(x), _value(d)) for x, d in reasoner.facts("dist")} == {("a", 1), ("b", 77)}


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_explicit_facts_of_what_is_derived(strategy: Strategy) -> None:
    """They are part of the recursion, and stay explicit."""
    b = IRI("http://example.org/b")
    reasoner = Reasoner(parse(STEPS), maintenance=strategy)
    reasoner.add_facts("step", [(b, literal(2))])
    reasoner.add_facts("edge", [_row(("b", "c", Decimal(1)))])
    assert {(_name(x), _value(d)) for x, d in reasoner.facts("dist")} == {("b", 2), ("c", 3)}
    reasoner.add_facts("step", [(b, literal(1))])
    assert {(_name(x), _value(d)) for x, d in reasoner.facts("dist")} == {("b", 1), ("c", 2)}
    assert set(reasoner.facts("step", "explicit")) == {(b, literal(1)), (b, literal(2))}
    reasoner.remove_facts("step", [(b, literal(1))])
    assert {(_name(x), _value(d)) for x, d in reasoner.facts("dist")} == {("b", 2), ("c", 3)}


def test_queries_on_demand_are_answered_by_the_materialisation() -> None:
    reasoner = Reasoner(parse(DIRECT))
    reasoner.add_facts("source", [(IRI("http://example.org/a"),)])
    reasoner.add_facts("edge", [_row(("a", "b", Decimal(4)))])
    found = list(reasoner.answers("dist(<http://example.org/b>, ?d)", on_demand=True))
    assert [tuple(row) for row in found] == [(literal(4),)]


@pytest.mark.parametrize("strategy", STRATEGIES)
@given(st.sets(EDGES, min_size=3, max_size=8))
@settings(max_examples=examples(22))
def test_each_value_has_a_proof(strategy: Strategy, edges: set[Edge]) -> None:
    reasoner = Reasoner(parse(STEPS), maintenance=strategy)
    reasoner.add_facts("source", [(IRI("http://example.org/a"),)])
    reasoner.add_facts("edge", map(_row, edges))
    for fact in list(reasoner.facts("dist")):
        proof = reasoner.explain(Atom("dist", fact))
        assert proof.steps[-1].statement == Atom("dist", fact)
        assert all(step.reason in ("rule", "explicit", "computed") for step in proof.steps)


@pytest.mark.parametrize("start", ["5", "0.0"])
def test_a_value_that_only_supports_itself_has_no_proof(start: str) -> None:
    """What it came from, 1 or 0.0, gave way to it."""
    reasoner = Reasoner(f"""
        got("x", {start}) .
        got(?x, FLOOR(?v / 2)) :- best(?x, ?v) .
        best(?x, ?b) :- AGGREGATE(got(?x, ?v) ON ?x BIND MIN(?v) AS ?b) .
        read(?b) :- best(_, ?b) .""")
    (best,) = reasoner.facts("best")
    for fact in (Atom("best", best), Atom("read", best[1:])):
        with pytest.raises(NoProofError, match=r" has no proof: in a recursion through MIN or MAX, a value came from a worse one"):
            reasoner.explain(fact)
        assert not list(reasoner.all_proofs(fact))


def test_ids_of_groups_need_no_table_of_their_own() -> None:
    """One column of ids is its own numbering; further columns are numbered as they come."""
    import numpy as np

    from kg_reasoner.storage.terms.dictionary import Dictionary
    from kg_reasoner.storage.values.value_columns import ValueCache

    dictionary = Dictionary()
    numbers = [dictionary.encode(literal(number)) for number in range(10)]
    for width in (0, 1, 2, 3):
        best = best_values.BestValues(dictionary, ValueCache(dictionary), width, is_greatest=True, needs_numbers=True)
        groups = np.array([[numbers[3]] * width, [numbers[4]] * width], np.int32).reshape(2, width)
        values = np.array(numbers[5:7], np.int32)
        expected = 1 if width == 0 else 2
        best.improve(groups, values)
        assert len(best.next()) == expected
        best.improve(groups, values)
        assert len(best.next()) == 0
        assert len(best) == expected
        assert best.rows[-1].tolist() == [*groups[1].tolist(), numbers[6]]


def test_facts_of_inner_predicates_are_not_kept() -> None:
    reasoner = Reasoner(EITHER)
    rows = [(literal(node), literal(node + 1), literal(1)) for node in range(5)]
    reasoner.add_facts("source", [(literal(0),)])
    reasoner.add_facts("edge", rows)
    assert set(reasoner.facts("dist")) == {(literal(node), literal(node)) for node in range(6)}
    assert not [name for name in reasoner.core.engine.catalog.predicates if name.startswith("_aux")]
    proof = reasoner.explain(Atom("dist", (literal(2), literal(2))))
    assert proof is not None and str(proof).count("explicit") == 3  # the source, and two edges
    reasoner.remove_facts("edge", rows[1:2])
    assert set(reasoner.facts("dist")) == {(literal(0), literal(0)), (literal(1), literal(1))}
    with pytest.raises(NoProofError):
        reasoner.explain(Atom("dist", (literal(2), literal(2))))


def test_a_predicate_that_another_rule_reads_is_kept() -> None:
    rules = parse(EITHER).rules
    inner = next(rule.head for rule in rules if rule.head.predicate.startswith("_aux"))
    reader = Rule(Atom("read", inner.terms), (inner,))
    reasoner = Reasoner(EITHER)
    reasoner.add_facts("source", [(literal(0),)])
    reasoner.add_facts("edge", [(literal(0), literal(1), literal(1)), (literal(0), literal(1), literal(3))])
    assert len(list(reasoner.facts("dist"))) == 2
    reasoner.add_program(Program((reader,)))
    assert set(reasoner.facts("read")) == {(literal(node), literal(value)) for node, value in ((0, 0), (1, 1), (1, 3))}
    reasoner.remove_rules([reader])
    assert len(list(reasoner.facts("dist"))) == 2
