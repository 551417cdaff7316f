"""Queries answered on demand have the answers that the materialisation has, and derive nothing that stays."""

from __future__ import annotations

import re
import threading
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from kg_reasoner import Limits, Reasoner
from kg_reasoner.errors import (
    ArityError,
    CancelledError,
    ColumnTypeError,
    LimitError,
    ReasonerError,
    RuleSyntaxError,
    SafetyError,
    StratificationError,
    UnsupportedError,
)
from kg_reasoner.language.checks import analysis
from kg_reasoner.language.printer import format_rule
from kg_reasoner.language.selection.magic import answer_atom
from kg_reasoner.program import TRIPLE, Atom, BodyLiteral, Program, Rule, Variable
from kg_reasoner.terms import IRI, Term, literal
from tests.helpers.effort import examples, thinned
from tests.helpers.oracle import Facts, evaluate
from tests.helpers.reasoners import reasoner_with
from tests.helpers.strategies import (
    CONSTANTS,
    NODES,
    PREDICATES,
    facts,
    layered_rules,
    matching_atoms,
    negations,
    programs,
    rules,
    triple_atoms,
    triple_programs,
    triples,
    variables_in,
)

EXAMPLES = settings(max_examples=examples(300), deadline=None)

Rows = set[tuple[Term, ...]]


@st.composite
def queries(draw: st.DrawFn, atom: st.SearchStrategy[Atom], constants: list[Term]) -> tuple[BodyLiteral, ...]:
    """One to three atoms, sometimes with a negated one."""
    body: list[BodyLiteral] = list(draw(st.lists(atom, min_size=1, max_size=3)))
    if draw(st.integers(0, 3)) == 0:
        body.append(draw(negations(atom, variables_in(body), constants)))
    return tuple(body)


def expected(program: Program, data: Facts, body: Sequence[BodyLiteral]) -> Rows:
    """The answers according to the oracle."""
    head = answer_atom(body)
    rules = (*program.rules, Rule(head, tuple(body)))
    analysis.check(Program(rules))
    return set(evaluate(Program(rules), data).get(head.predicate, set()))


def check(reasoner: Reasoner, body: Sequence[BodyLiteral], answers: Rows, *, by_magic: bool | None = True) -> None:
    """Check the answers on demand, and that nothing else has happened."""
    was_current = reasoner.engine.is_current
    found = reasoner.answers(body, on_demand=True)
    assert set(found) == answers, format_rule(Rule(answer_atom(body), tuple(body)))
    assert len(found) == len(answers)
    if by_magic is not None:
        assert found.by_magic is by_magic
    assert reasoner.engine.is_current is (was_current or not found.by_magic)


def stratified(program: Program) -> bool:
    try:
        analysis.stratify(program.rules)
    except StratificationError:
        return False
    return True


@EXAMPLES
@given(programs(), facts(), queries(matching_atoms(PREDICATES), CONSTANTS))
def test_random_programs_with_negation(program: Program, data: Facts, body: tuple[BodyLiteral, ...]) -> None:
    assume(stratified(program))
    reasoner = reasoner_with(program, data)
    answers = expected(program, data, body)
    check(reasoner, body, answers)
    assert set(reasoner.answers(body)) == answers


@EXAMPLES
@given(programs(functions=True, aggregates=True), facts(), queries(matching_atoms(PREDICATES), CONSTANTS))
@pytest.mark.long
def test_random_programs_with_functions_and_aggregates(program: Program, data: Facts, body: tuple[BodyLiteral, ...]) -> None:
    reasoner = reasoner_with(program, data)
    answers = expected(program, data, body)
    check(reasoner, body, answers)
    assert set(reasoner.answers(body)) == answers


@EXAMPLES
@given(layered_rules(True, True, True, min_size=1, max_size=1), programs(aggregates=True), facts())
def test_queries_with_everything(query: list[Rule], program: Program, data: Facts) -> None:
    body = query[0].body
    check(reasoner_with(program, data), body, expected(program, data, body))


@EXAMPLES
@given(triple_programs(), triples(), queries(triple_atoms(), NODES))
def test_random_programs_over_triples(program: Program, data: Rows, body: tuple[BodyLiteral, ...]) -> None:
    reasoner = reasoner_with(program, {TRIPLE: data})
    answers = expected(program, {TRIPLE: data}, body)
    check(reasoner, body, answers)
    assert set(reasoner.answers(body)) == answers


@EXAMPLES
@given(programs(aggregates=True), facts(), facts(), queries(matching_atoms(PREDICATES), CONSTANTS))
@pytest.mark.long
def test_after_changes_of_what_is_materialised(program: Program, data: Facts, gone: Facts, body: tuple[BodyLiteral, ...]) -> None:
    both = {predicate: data.get(predicate, set()) | gone.get(predicate, set()) for predicate in {*data, *gone}}
    reasoner = reasoner_with(program, both)
    reasoner.materialise()
    check(reasoner, body, expected(program, both, body), by_magic=False)
    for predicate, rows in gone.items():
        reasoner.remove_facts(predicate, rows)
    left = {predicate: data.get(predicate, set()) - gone.get(predicate, set()) for predicate in both}
    check(reasoner, body, expected(program, left, body), by_magic=None)
    assert set(reasoner.answers(body)) == expected(program, left, body)


# ------------------------------------------------------------------------------------------------------------------- triples

NEGATING = st.lists(rules(triple_atoms(), NODES, negation=True), min_size=1, max_size=4).map(lambda drawn: Program(tuple(drawn)))


@EXAMPLES
@given(NEGATING, triples(), queries(triple_atoms(), NODES))
@pytest.mark.long
def test_triples_with_negation(program: Program, data: Rows, body: tuple[BodyLiteral, ...]) -> None:
    """Where the program cannot be told apart by properties, the materialisation answers."""
    assume(stratified(program))
    check(reasoner_with(program, {TRIPLE: data}), body, expected(program, {TRIPLE: data}, body), by_magic=None)


@EXAMPLES
@given(triple_programs(), triples(), queries(triple_atoms(), NODES))
@pytest.mark.long
def test_the_layout_of_triples_may_be_that_of_other_rules(program: Program, data: Rows, body: tuple[BodyLiteral, ...]) -> None:
    reasoner = reasoner_with(Program(), {TRIPLE: data})
    reasoner.add_program(program)
    check(reasoner, body, expected(program, {TRIPLE: data}, body))
    reasoner.materialise()
    reasoner.remove_rules(program.rules[:1])
    left = Program(tuple(rule for rule in program.rules if rule != program.rules[0]))
    check(reasoner, body, expected(left, {TRIPLE: data}, body))


def test_negation_over_triples_is_answered_by_magic() -> None:
    reasoner = Reasoner("""
        @prefix ex: <http://example.org/> .
        ex:Leaf[?x] :- ex:Node[?x], NOT ex:edge[?x, ?y] .
        ex:Node[?x], ex:Node[?y] :- ex:edge[?x, ?y] .
    """)
    reasoner.add_triples([(NODES[0], IRI("http://example.org/edge"), NODES[1])])  # type: ignore[list-item]
    found = reasoner.answers("ex:Leaf[?x]", on_demand=True)
    assert (list(found), found.by_magic) == ([(NODES[1],)], True)


# ----------------------------------------------------------------------------------------------------------------- rule sets

FAMILY = """
    @prefix : <http://example.org/> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
    @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
    :Mother rdfs:subClassOf :Parent . :Parent rdfs:subClassOf :Person . :mother rdfs:subPropertyOf :ancestor ; rdfs:range :Mother .
    :ancestor a owl:TransitiveProperty . :ann :mother :bea . :bea :mother :cleo . :dan a :Person .
"""
PREFIXED = Program(prefixes=(("ex", "http://example.org/"),))


def family(ruleset: str, more: str = "", **options: Any) -> Reasoner:
    reasoner = Reasoner(PREFIXED, ruleset=ruleset, **options)
    reasoner.load(f"{FAMILY} {more}".encode(), format="turtle")
    return reasoner


QUERIES = (
    "ex:Person[?x]",
    "[ex:cleo, a, ?class]",
    "[?x, ?p, ex:cleo]",
    "ex:ancestor[ex:ann, ?y]",
    "[?x, ?p, ?y], [?y, ?q, ?z]",
    "rdfs:subClassOf[?c, ?d], NOT rdfs:subClassOf[?d, ?c]",
    "ex:Person[?x], NOT [?x, ?p, ex:cleo]",
    "AGGREGATE(ex:ancestor[?x, ?y] ON ?x BIND COUNT(?y) AS ?n), FILTER(?n > 1)",
)

NOT_BY_MAGIC = {
    "equal individuals": ("owl2rl", ":dan owl:sameAs :ann ."),
    "derived equalities": ("owl2rl", ":mother a owl:FunctionalProperty ."),
    "rules about literals": ("owl2rl-full", ""),
    "rules about literals of RDFS": ("rdfs-full", ""),
}


@pytest.mark.parametrize("query", thinned(QUERIES, 5))
@pytest.mark.parametrize(("ruleset", "more"), [("owl2rl", ""), ("rdfs", ""), *NOT_BY_MAGIC.values()])
@pytest.mark.sample(3)
def test_rule_sets(ruleset: str, more: str, query: str) -> None:
    reasoner, other = family(ruleset, more), family(ruleset, more)
    other.materialise()
    found, read = reasoner.answers(query, on_demand=True), other.answers(query, on_demand=True)
    assert set(found) == set(read) == set(other.answers(query))
    assert len(found) > 0 or ruleset.startswith("rdfs")  # which knows nothing of transitivity
    assert not read.by_magic
    assert found.by_magic is ((ruleset, more) not in NOT_BY_MAGIC.values())
    assert reasoner.engine.is_current is not found.by_magic


def test_derived_axioms_may_yield_rules() -> None:
    """A rule that concludes an axiom which the translation of axioms would turn into another rule."""
    rule = "@prefix : <http://example.org/> . [?p, a, <http://www.w3.org/2002/07/owl#SymmetricProperty>] :- :mirrors[?p, ?p] ."
    data = ":near :mirrors :near . :ann :near :bea ."
    reasoner = family("owl2rl", data)
    reasoner.add_program(rule)
    found = reasoner.answers("ex:near[ex:bea, ?y]", on_demand=True)
    assert (len(found), found.by_magic) == (1, False)
    reasoner.remove_triples([tuple(IRI(f"http://example.org/{name}") for name in ("near", "mirrors", "near"))])  # type: ignore[list-item]
    assert len(reasoner.answers("ex:near[ex:bea, ?y]", on_demand=True)) == 0


@pytest.mark.parametrize("query", QUERIES[:-1])
def test_merged_terms(query: str) -> None:
    """Queries give all names of equal terms, as the axioms of equality do."""
    more = ":dan owl:sameAs :ann . :cleo owl:sameAs :kleo ."
    merging, stating = family("owl2rl", more, equality="rewrite"), family("owl2rl", more)
    found = merging.answers(query, on_demand=True)
    assert set(found) == set(stating.answers(query))
    assert not found.by_magic


def test_what_merged_terms_forbid() -> None:
    with pytest.raises(UnsupportedError, match="AGGREGATE depends on names"):
        family("owl2rl", equality="rewrite").answers(QUERIES[-1])


def test_bindings_of_merged_terms_are_kept() -> None:
    reasoner = family("owl2rl", ":cleo owl:sameAs :kleo .", equality="rewrite")
    kleo = IRI("http://example.org/kleo")
    assert {row[1] for row in reasoner.answers("ex:mother[?x, ?y]", {"y": kleo})} == {kleo}


# -------------------------------------------------------------------------------------------------------------------- queries

PATHS = """
    path(?x, ?y) :- edge(?x, ?y) .
    path(?x, ?z) :- edge(?x, ?y), path(?y, ?z) .
"""


def chain(count: int) -> Reasoner:
    reasoner = Reasoner(PATHS)
    reasoner.add_facts("edge", [(literal(number), literal(number + 1)) for number in range(count)])
    return reasoner


def test_only_what_is_needed_is_derived() -> None:
    reasoner = chain(200)
    found = reasoner.answers("path(195, ?y)", on_demand=True)
    assert len(found) == 5
    assert found.derived < 40
    assert reasoner.engine.count_facts() == 200


def test_bindings() -> None:
    reasoner = chain(5)
    for on_demand in (True, False):
        found = reasoner.answers("path(?x, ?y)", {"x": literal(3)}, on_demand=on_demand)
        assert found.variables == ("x", "y")
        assert set(found) == {(literal(3), literal(4)), (literal(3), literal(5))}
        assert list(reasoner.answers("path(?x, ?y)", {"x": literal(4), "y": literal(2)}, on_demand=on_demand)) == []
        assert list(reasoner.answers("path(?x, ?y)", {"x": literal("unknown")}, on_demand=on_demand)) == []


def test_forms_of_queries() -> None:
    reasoner = chain(3)
    atom = Atom("path", (literal(1), Variable("y")))
    expected = {(literal(2),), (literal(3),)}
    for body in ("path(1, ?y)", "path(1, ?y) .", "path(1, ?y) # all\n.", atom, [atom]):
        assert set(reasoner.answers(body, on_demand=True)) == expected
    assert reasoner.answers("path(1, 3)", on_demand=True).variables == ()
    assert list(reasoner.answers("path(1, 3)", on_demand=True)) == [()]
    assert list(reasoner.answers("path(3, 1)", on_demand=True)) == []
    assert list(reasoner.answers("path(_, 3), NOT path(_, 7), FILTER(1 < 2)", on_demand=True)) == [()]
    assert list(reasoner.answers("unknown(?x)", on_demand=True)) == []


@pytest.mark.parametrize("on_demand", [True, False])
@pytest.mark.parametrize(
    ("body", "bindings", "error", "message"),
    [
        ("path(1, ?y", {}, RuleSyntaxError, "<query>:1:11: unexpected end of the text"),
        ("path(1, ?y) .\npath(?y, 2)", {}, RuleSyntaxError, "<query>:2:1: a query is the body of one rule"),
        ("", {}, RuleSyntaxError, "unexpected"),
        ("path(1, ?y), FILTER(?z > 1)", {}, SafetyError, "<query>:1:21: ?z of the filter is not bound"),
        ("edge(1, ?y),\n  FILTER(?z > 1)", {}, SafetyError, "<query>:2:10: ?z of the filter is not bound"),
        ("path(1, ?y, ?z)", {}, ArityError, "path has 2 arguments, not 3"),
        ("literal_type(?x, ?y)", {}, UnsupportedError, "literal_type has facts for rules only"),
        ("no:name[?x]", {}, RuleSyntaxError, "<query>:1:1: unknown prefix no"),
        ("path(1, ?y)", {"x": literal(1)}, ReasonerError, "the query does not bind ?x"),
        (7, {}, ReasonerError, "7 is not a part of a query"),
        ([7], {}, ReasonerError, "7 is not a part of a query"),
    ],
)
def test_wrong_queries_are_the_same_errors_on_demand(
    body: Any, bindings: Any, error: type[Exception], message: str, on_demand: bool
) -> None:
    with pytest.raises(error, match=re.escape(message)):
        chain(3).answers(body, bindings, on_demand=on_demand)


def test_types_of_columns() -> None:
    program = "relation n(x: integer) . n(?y) :- m(?x, ?y) . ok(?x) :- m(?x, ?y) . " + 'm(1, "a") .'
    with pytest.raises(ColumnTypeError, match='"a" is not an integer'):
        Reasoner(program).answers("n(?x)", on_demand=True)
    assert len(Reasoner(program).answers("ok(?x)", on_demand=True)) == 1


# ----------------------------------------------------------------------------------- limits, transactions, threads, interrupts


def test_limits() -> None:
    reasoner = chain(300)
    with pytest.raises(LimitError, match="exceed the limit of 500"):
        reasoner.answers("path(?x, ?y)", on_demand=True, limits=Limits(facts=500))
    with pytest.raises(LimitError, match="bytes"):
        reasoner.answers("path(?x, ?y)", on_demand=True, limits=Limits(memory=10_000))
    with pytest.raises(LimitError), reasoner.limited(Limits(facts=500)):
        reasoner.answers("path(?x, ?y)", on_demand=True)
    endless = Reasoner("n(?y) :- n(?x), BIND(?x + 1 AS ?y) . n(0) .")
    with pytest.raises(LimitError, match="longer than its limit"):
        endless.answers("n(-1)", on_demand=True, limits=Limits(seconds=0.2))
    assert len(reasoner.answers("path(?x, ?y)", on_demand=True)) == 300 * 301 // 2


def test_cancellation() -> None:
    endless = Reasoner("n(?y) :- n(?x), BIND(?x + 1 AS ?y) . n(0) .")
    errors: list[BaseException] = []

    def ask() -> None:
        try:
            endless.answers("n(-1)", on_demand=True)
        except CancelledError as error:
            errors.append(error)

    thread = threading.Thread(target=ask)
    thread.start()
    while thread.is_alive():
        endless.cancel()
        thread.join(0.05)
    assert len(errors) == 1


def test_in_a_transaction() -> None:
    reasoner = chain(3)
    reasoner.materialise()
    with reasoner.transaction():
        reasoner.add_facts("edge", [(literal(3), literal(4))])
        found = reasoner.answers("path(2, ?y)", on_demand=True)
        assert (set(found), found.by_magic) == ({(literal(3),), (literal(4),)}, True)
        reasoner.remove_facts("edge", [(literal(2), literal(3))])
        assert list(reasoner.answers("path(2, ?y)", on_demand=True)) == []
    assert list(reasoner.answers("path(2, ?y)", on_demand=True)) == []


def test_answers_stay_those_of_their_time() -> None:
    reasoner = chain(3)
    found = reasoner.answers("path(0, ?y)", on_demand=True)
    reasoner.remove_facts("edge", [(literal(0), literal(1))])
    assert len(set(found)) == len(list(found)) == 3


def test_readers_and_a_writer() -> None:
    """Each answer is that of some moment: all paths from the start of a chain that grows at its end, and never shrinks."""
    reasoner, done, wrong = chain(1), threading.Event(), list[object]()

    def read() -> None:
        last = 0
        while not done.is_set():
            try:
                ends = sorted(
                    int(str(row[0]).strip('"').partition('"')[0]) for row in reasoner.answers("path(0, ?y)", on_demand=True)
                )
            except Exception as error:
                wrong.append(error)
                return
            if ends != list(range(1, len(ends) + 1)) or len(ends) < last:
                wrong.append(ends)
            last = len(ends)

    readers = [threading.Thread(target=read) for _ in range(3)]
    for reader in readers:
        reader.start()
    for number in range(1, 60):
        reasoner.add_facts("edge", [(literal(number), literal(number + 1))])
        if number % 20 == 0:
            reasoner.materialise()
    done.set()
    for reader in readers:
        reader.join()
    assert wrong == []
    assert len(reasoner.answers("path(0, ?y)", on_demand=True)) == 60


def test_indexes_are_kept() -> None:
    """The second query finds the index that the first one built in the reasoner's own tables."""
    reasoner = chain(50)
    before = sum(index.built for index in reasoner.engine.database.indexes.records)
    reasoner.answers("path(0, ?y)", on_demand=True)
    built = sum(index.built for index in reasoner.engine.database.indexes.records)
    reasoner.answers("path(7, ?y)", on_demand=True)
    assert before < built == sum(index.built for index in reasoner.engine.database.indexes.records)
    reasoner.add_facts("edge", [(literal(50), literal(51))])
    assert len(reasoner.answers("path(48, ?y)", on_demand=True)) == 3
