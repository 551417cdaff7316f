"""Programs in several files, and the standard library."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kg_reasoner import Reasoner
from kg_reasoner.engine.maintenance import STRATEGIES, Strategy
from kg_reasoner.errors import RuleSyntaxError
from kg_reasoner.language.parser import parse, parse_file
from kg_reasoner.language.printer import format_program, format_term
from kg_reasoner.query.delta import Delta
from kg_reasoner.terms import literal
from tests.helpers.effort import examples
from tests.helpers.oracle import evaluate

EDGES = st.sets(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=12)


def write(folder: Path, **files: str) -> Path:
    """Write files, and return the path of the first one."""
    paths = [folder / f"{name}.dl" for name in files]
    for path, text in zip(paths, files.values(), strict=True):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return paths[0]


def facts(reasoner: Reasoner, predicate: str) -> list[str]:
    return sorted(" ".join(map(format_term, row)) for row in reasoner.facts(predicate))


def test_predicates_have_the_name_of_their_module(tmp_path: Path) -> None:
    main = write(
        tmp_path,
        main="""
            @prefix ex: <http://example.org/> .
            import "pets.dl" as cats .
            import "pets.dl" as dogs .
            cats.owner("ann", "tom") . dogs.owner("ann", "rex") . dogs.owner("ann", "max") .
            p(?x) :- cats.has(who: ?x), NOT dogs.single(?x) .
            q(Pet("a"), twice(2)) :- cats.has(_) .
        """,
        pets="""
            import "base.dl" as base .
            type Pet = Pet(name: string) .
            relation owner(who: string, pet: string) .
            relation has(who: string) .
            has(?x) :- owner(?x, _) .
            _two(?x) :- owner(?x, ?y), owner(?x, ?z), ?y != ?z .
            single(?x) :- owner(?x, _), NOT (_two(?x), base.known(?x)) .
            base.known(?x) :- owner(?x, _) .
            [<http://example.org/x>, <http://example.org/has>, ?y] :- owner(_, ?y) .
        """,
        base="function twice(?x: integer): integer = ?x * 2 . relation known(x: string) .",
    )
    reasoner = Reasoner(main)
    assert facts(reasoner, "p") == ['"ann"']
    assert facts(reasoner, "q") == ['RECORD("Pet", "a") 4']
    assert facts(reasoner, "cats.single") == ['"ann"']
    assert facts(reasoner, "dogs.single") == []
    assert facts(reasoner, "cats.base.known") == ['"ann"']
    assert len(list(reasoner.triples())) == 3
    program = parse_file(main)
    assert parse(format_program(program)) == program


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"main": 'import "none.dl" as n .'}, "there is no file none.dl beside main.dl"),
        (
            {"main": 'import "std/none.dl" as n .'},
            r"has no std/none.dl[\s\S]*known: std/components.dl, std/graph.dl, std/paths.dl",
        ),
        ({"main": 'import "std/../grammar.lark" as n .'}, "the standard library has no"),
        ({"main": 'import "main.dl" as n .'}, "main.dl imports itself"),
        ({"main": 'import "b.dl" as b .', "b": 'import "main.dl" as a .'}, "main.dl imports itself, directly or indirectly"),
        ({"main": 'import "b.dl" as b . p(?x) :- b._own(?x) .', "b": "_own(1) ."}, "_own is private in the module b"),
        ({"main": 'import "b.dl" as b .', "b": "p(1 .\n"}, r"b\.dl:1:5: unexpected"),
        ({"main": 'import "b.dl" as b . type T = A() .', "b": "type T = B() ."}, "another type T is defined already"),
    ],
)
def test_what_is_refused(tmp_path: Path, files: dict[str, str], message: str) -> None:
    with pytest.raises(RuleSyntaxError, match=message):
        parse_file(write(tmp_path, **files))


def test_a_text_imports_from_the_standard_library_only() -> None:
    with pytest.raises(RuleSyntaxError, match=r"lib\.dl cannot be found, as this text is not a file"):
        parse('import "lib.dl" as lib .')
    reasoner = Reasoner('import "std/graph.dl" as g . g.edge("a", "b") .')
    assert facts(reasoner, "g.closure") == ['"a" "b"']


@settings(max_examples=examples(50), deadline=None)
@given(EDGES)
def test_the_library_of_graphs(edges: set[tuple[int, int]]) -> None:
    import networkx as nx

    graph = nx.DiGraph(edges)
    stated = {"g.edge": {tuple(map(literal, edge)) for edge in edges}}
    found = evaluate(parse('import "std/graph.dl" as g .'), stated)

    def numbers(predicate: str) -> set[tuple[int, ...]]:
        return {tuple(int(term.lexical) for term in row) for row in found.get(f"g.{predicate}", set())}  # type: ignore[union-attr]

    assert numbers("node") == {(node,) for node in graph}
    assert numbers("closure") == set(nx.transitive_closure(graph, reflexive=False).edges)
    assert numbers("strong") == {(node, min(part)) for part in nx.strongly_connected_components(graph) for node in part}
    assert numbers("component") == {(node, min(part)) for part in nx.weakly_connected_components(graph) for node in part}
    assert numbers("source") == {(node,) for node in graph if graph.in_degree(node) == 0}
    assert numbers("sink") == {(node,) for node in graph if graph.out_degree(node) == 0}
    levels: dict[int, int] = {}
    condensed = nx.condensation(graph)
    for number in nx.topological_sort(condensed):
        levels[number] = max((levels[before] + 1 for before in condensed.predecessors(number)), default=0)
    assert numbers("order") == {(node, levels[part]) for node, part in condensed.graph["mapping"].items()}
    order = dict(numbers("order"))  # type: ignore[arg-type]  # pairs
    assert order.keys() == set(graph)
    closed = numbers("closure")
    assert all(order[a] < order[b] or (order[a] == order[b] and (b, a) in closed) for a, b in edges)
    lengths = {(a, b): n for a, reached in nx.all_pairs_shortest_path_length(graph) for b, n in reached.items() if a != b}
    assert {row for row in numbers("steps") if row[0] != row[1]} == {(a, b, n) for (a, b), n in lengths.items()}
    if nx.is_directed_acyclic_graph(graph):
        assert numbers("reduction") == set(nx.transitive_reduction(graph).edges)


@settings(max_examples=examples(50), deadline=None)
@given(st.dictionaries(st.tuples(st.integers(0, 5), st.integers(0, 5)), st.integers(0, 9), max_size=12))
def test_the_library_of_paths(edges: dict[tuple[int, int], int]) -> None:
    import networkx as nx

    graph = nx.DiGraph()
    graph.add_node(0)
    graph.add_weighted_edges_from((a, b, weight) for (a, b), weight in edges.items())
    rows = {tuple(map(literal, (a, b, weight))) for (a, b), weight in edges.items()}
    found = evaluate(parse('import "std/paths.dl" as r . r.start(0) .'), {"r.edge": rows})
    distances = {tuple(int(term.lexical) for term in row) for row in found["r.distance"]}  # type: ignore[union-attr]
    assert distances == {(0, node, d) for node, d in nx.single_source_dijkstra_path_length(graph, 0).items()}


# ---- what nothing uses

GRAPH = 'import "std/graph.dl" as g . '
STATED = [(literal(a), literal(b)) for a, b in ((1, 2), (2, 3), (3, 1), (3, 4))]


def derived(reasoner: Reasoner) -> set[str]:
    """Return the relations of the module that have facts, without asking for them."""
    reasoner.materialise()
    catalog = reasoner.engine.catalog.predicates
    return {name for name, number in catalog.items() if name.startswith("g.") and len(reasoner.engine.database.rows(number))}


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_what_nothing_uses_is_not_derived(strategy: Strategy) -> None:
    reasoner = Reasoner(GRAPH, maintenance=strategy)
    reasoner.add_facts("g.edge", STATED)
    assert derived(reasoner) == {"g.edge"}
    reasoner.add_program("start(?x) :- g.source(?x) . way(?x) :- g.edge(?x, _), NOT g.sink(?x) .")
    assert derived(reasoner) == {"g.edge", "g.node", "g.sink"}
    assert facts(reasoner, "g.strong") == ["1 1", "2 1", "3 1", "4 4"]
    assert derived(reasoner) == {"g.edge", "g.node", "g.sink", "g.strong"}
    reasoner.remove_facts("g.edge", [STATED[2]])
    assert facts(reasoner, "g.strong") == ["1 1", "2 2", "3 3", "4 4"]
    reasoner.remove_rules(parse("way(?x) :- g.edge(?x, _), NOT g.sink(?x) .").rules)
    assert "g.sink" not in derived(reasoner)
    with reasoner.transaction() as transaction:
        transaction.add_facts("g.edge", [STATED[2]])
        assert len(list(reasoner.facts("g.closure"))) == 12
    assert len(list(reasoner.facts("g.closure"))) == 12
    assert len(list(reasoner.facts("g.closure", which="explicit"))) == 0


@pytest.mark.parametrize("on_demand", [False, True])
def test_a_query_is_a_use(on_demand: bool) -> None:
    for before in (False, True):
        reasoner = Reasoner(GRAPH)
        reasoner.add_facts("g.edge", STATED)
        if before:
            reasoner.materialise()
        answers = reasoner.answers("g.closure(4, ?x) ; g.strong(?x, 1)", on_demand=on_demand)
        assert sorted(map(format_term, (x for (x,) in answers))) == ["1", "2", "3"]
        assert len(list(reasoner.answers("NOT g.closure(1, 1), g.edge(?x, ?y)", on_demand=on_demand))) == 0


def test_explanations_and_subscriptions_are_uses() -> None:
    reasoner = Reasoner(GRAPH)
    reasoner.add_facts("g.edge", STATED)
    reasoner.materialise()
    assert "g.edge(3, 4)" in str(reasoner.explain(parse("g.closure(1, 4) .").rules[0].head))
    assert "4" in str(reasoner.why_not(parse("g.source(4) .").rules[0].head))
    deltas: list[Delta] = []
    subscription = reasoner.subscribe("g.steps", deltas.append)
    with reasoner.transaction() as transaction:
        transaction.add_facts("g.edge", [(literal(4), literal(5))])
    added = {tuple(map(format_term, row)) for delta in deltas for row in delta.added.facts("g.steps")}
    assert added == {("1", "5", "4"), ("2", "5", "3"), ("3", "5", "2"), ("4", "5", "1")}
    subscription.cancel()


def test_outputs_indexes_triples_and_constraints_of_modules_are_uses(tmp_path: Path) -> None:
    main = write(
        tmp_path,
        main='import "parts.dl" as g . g.given(1) .',
        parts="""
            relation given(x: integer) .
            output relation out(x: integer) .
            relation found(x: integer) .
            index by_x on found(x) .
            out(?x + 1) :- _step(?x) .
            _step(?x) :- given(?x) .
            found(?x) :- given(?x) .
            idle(?x) :- given(?x) .
            idle2(?x) :- idle(?x) .
            said(?x) :- given(?x) .
            [<http://example.org/a>, <http://example.org/b>, ?x] :- said(?x) .
            past(?x) :- given(?x) .
            relation before(x: integer) delay past .
            bad(?x) :- given(?x), ?x > 5 .
            false :- bad(?x) .
        """,
    )
    reasoner = Reasoner(main)
    assert derived(reasoner) == {"g.given", "g.out", "g._step", "g.found", "g.said", "g.past"}
    assert len(list(reasoner.triples())) == 1
    assert reasoner.is_consistent()
    reasoner.add_facts("g.given", [(literal(7),)])
    assert not reasoner.is_consistent()
    assert facts(reasoner, "g.idle2") == ["1", "7"]


@pytest.mark.parametrize("strategy", STRATEGIES)
@settings(max_examples=examples(50), deadline=None)
@given(st.lists(st.tuples(EDGES, EDGES, st.sampled_from(["", "strong", "order", "closure", "reduction"])), max_size=4))
def test_relations_that_are_asked_for_late_agree_with_the_oracle(
    strategy: Strategy, steps: list[tuple[set[tuple[int, int]], set[tuple[int, int]], str]]
) -> None:
    reasoner = Reasoner(f"{GRAPH} near(?x, ?y) :- g.component(?x, ?y) .", maintenance=strategy)
    present: set[tuple[int, int]] = set()
    for added, removed, asked in steps:
        with reasoner.transaction() as transaction:
            transaction.add_facts("g.edge", [tuple(map(literal, edge)) for edge in added])
            transaction.remove_facts("g.edge", [tuple(map(literal, edge)) for edge in removed])
        present = (present | added) - removed
        expected = evaluate(reasoner.program, {"g.edge": {tuple(map(literal, edge)) for edge in present}})
        for name in filter(None, ("near", asked and f"g.{asked}")):
            assert set(reasoner.facts(name)) == expected.get(name, set()), name


def test_components_and_order_of_a_large_graph() -> None:
    """A path, a cycle and edges from one to the other: the closure would have a hundred million pairs."""
    count = 10_000
    edges = [*((at, at + 1) for at in range(count)), *((-1 - at, -1 - (at + 1) % count) for at in range(count)), (count, -1)]
    reasoner = Reasoner(f"{GRAPH} same(?x, ?y) :- g.strong(?x, ?y) . order(?x, ?n) :- g.order(?x, ?n) .")
    reasoner.add_facts("g.edge", [tuple(map(literal, edge)) for edge in edges])
    same = {int(x.lexical): int(y.lexical) for x, y in reasoner.facts("same")}  # type: ignore[union-attr]
    assert same == {node: node if node >= 0 else -count for edge in edges for node in edge}
    order = {int(x.lexical): int(n.lexical) for x, n in reasoner.facts("order")}  # type: ignore[union-attr]
    assert order == {node: node if node >= 0 else count + 1 for edge in edges for node in edge}


def test_predicates_of_modules_are_known_before_they_are_asked_for() -> None:
    reasoner = Reasoner(GRAPH)
    reasoner.add_facts("g.edge", STATED)
    before = reasoner.predicates()
    assert before["g.closure"] == 2
    list(reasoner.facts("g.closure"))
    assert reasoner.predicates().keys() >= before.keys()


def test_private_relations_are_not_listed(tmp_path: Path) -> None:
    (tmp_path / "m.dl").write_text("_twice(?x * 2) :- given(?x) . made(?y) :- _twice(?y) .")
    (tmp_path / "main.dl").write_text('import "m.dl" as m . m.given(4) . result(?y) :- m.made(?y) . _own(?y) :- result(?y) .')
    reasoner = Reasoner(tmp_path / "main.dl")
    assert len(reasoner.facts("result")) == 1
    assert reasoner.predicates() == {"m.given": 1, "m.made": 1, "result": 1, "_own": 1}
