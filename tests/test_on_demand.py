"""Queries answered on demand have the answers that the materialisation has, and derive nothing that stays."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from kg_reasoner import Reasoner
from kg_reasoner.errors import StratificationError
from kg_reasoner.language import analysis
from kg_reasoner.language.magic import answer_atom
from kg_reasoner.language.printer import format_rule
from kg_reasoner.program import TRIPLE, Atom, BodyLiteral, Program, Rule
from kg_reasoner.terms import Term

from .effort import examples
from .oracle import Facts, evaluate
from .strategies import (
    CONSTANTS,
    NODES,
    PREDICATES,
    facts,
    layered_rules,
    matching_atoms,
    negations,
    programs,
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


def reasoner_of(program: Program, data: Facts) -> Reasoner:
    reasoner = Reasoner(program)
    for predicate, rows in data.items():
        if predicate == TRIPLE:
            reasoner.add_triples(rows)  # type: ignore[arg-type]
        else:
            reasoner.add_facts(predicate, rows)
    return reasoner


def check(reasoner: Reasoner, body: Sequence[BodyLiteral], answers: Rows, *, by_magic: bool | None = True) -> None:
    """Check the answers on demand, and that nothing else has happened."""
    was_current = reasoner.engine.is_current
    found = reasoner.query(body, on_demand=True)
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
    reasoner = reasoner_of(program, data)
    answers = expected(program, data, body)
    check(reasoner, body, answers)
    assert set(reasoner.query(body)) == answers


@EXAMPLES
@given(programs(functions=True, aggregates=True), facts(), queries(matching_atoms(PREDICATES), CONSTANTS))
def test_random_programs_with_functions_and_aggregates(program: Program, data: Facts, body: tuple[BodyLiteral, ...]) -> None:
    reasoner = reasoner_of(program, data)
    answers = expected(program, data, body)
    check(reasoner, body, answers)
    assert set(reasoner.query(body)) == answers


@EXAMPLES
@given(layered_rules(True, True, True, min_size=1, max_size=1), programs(aggregates=True), facts())
def test_queries_with_everything(query: list[Rule], program: Program, data: Facts) -> None:
    body = query[0].body
    check(reasoner_of(program, data), body, expected(program, data, body))


@EXAMPLES
@given(triple_programs(), triples(), queries(triple_atoms(), NODES))
def test_random_programs_over_triples(program: Program, data: Rows, body: tuple[BodyLiteral, ...]) -> None:
    reasoner = reasoner_of(program, {TRIPLE: data})
    answers = expected(program, {TRIPLE: data}, body)
    check(reasoner, body, answers)
    assert set(reasoner.query(body)) == answers


@EXAMPLES
@given(programs(aggregates=True), facts(), facts(), queries(matching_atoms(PREDICATES), CONSTANTS))
def test_after_changes_of_what_is_materialised(program: Program, data: Facts, gone: Facts, body: tuple[BodyLiteral, ...]) -> None:
    both = {predicate: data.get(predicate, set()) | gone.get(predicate, set()) for predicate in {*data, *gone}}
    reasoner = reasoner_of(program, both)
    reasoner.materialise()
    check(reasoner, body, expected(program, both, body), by_magic=False)
    for predicate, rows in gone.items():
        reasoner.remove_facts(predicate, rows)
    left = {predicate: data.get(predicate, set()) - gone.get(predicate, set()) for predicate in both}
    check(reasoner, body, expected(program, left, body), by_magic=None)
    assert set(reasoner.query(body)) == expected(program, left, body)
