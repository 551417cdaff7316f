"""Functions of their own results are computed ahead of the requests, and nobody can tell but by the time."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kg_reasoner import Reasoner
from kg_reasoner.errors import ValueTooLargeError
from kg_reasoner.language.parser import parse
from kg_reasoner.planning.functions.chains import DIGITS, LONGEST, Chains
from kg_reasoner.planning.functions.function_relations import Functions
from kg_reasoner.program import Program
from kg_reasoner.storage.terms.dictionary import Dictionary
from kg_reasoner.terms import Literal, Term, literal
from tests.helpers import oracle

COUNTING = "n(0) . n(?y) :- n(?x), FILTER(?x < {}), BIND(?x + 1 AS ?y) ."


def test_a_recursion_that_counts_requests_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    answers: list[None] = []
    answer = Functions.answer

    def counted(functions: Functions) -> None:
        answers.append(None)
        answer(functions)

    monkeypatch.setattr(Functions, "answer", counted)
    reasoner = Reasoner(COUNTING.format(5000))
    reasoner.materialise()
    assert sorted(int(row[0].lexical) for row in reasoner.facts("n")) == list(range(5001))  # type: ignore[union-attr]  # numbers
    assert len(answers) < 20
    assert reasoner.sizes().terms <= 2 * 5001 + 10


STEPS = ["?x + 1", "?x - 3", "?x * 2", "?x * ?x + 1", "10 - ?x", 'CONCAT(STR(?x), "1")', "IF(?x > 5, ?x - 9, ?x + 4)", "?x * 0"]


@given(
    st.lists(st.sampled_from(STEPS), min_size=1, max_size=2, unique=True),
    st.integers(-5, 5),
    st.lists(st.tuples(st.integers(1, 25)), max_size=3),
)
def test_results_are_those_of_the_oracle(steps: list[str], bound: int, starts: list[tuple[int]]) -> None:
    rules = " ".join(f"n(?y) :- n(?x), FILTER(?x < {20 + bound} && ?x > -20), BIND({step} AS ?y) ." for step in steps)
    program = parse(rules)
    facts: dict[str, list[tuple[Term, ...]]] = {"n": [(literal(0),), *((literal(start),) for (start,) in starts)]}
    reasoner = Reasoner(Program(program.rules))
    reasoner.add_facts("n", facts["n"])
    reasoner.materialise()
    assert set(reasoner.facts("n")) == set(oracle.evaluate(program, facts)["n"])
    reasoner.remove_facts("n", facts["n"][1:])
    reasoner.materialise()
    assert set(reasoner.facts("n")) == set(oracle.evaluate(program, {"n": facts["n"][:1]})["n"])


def ahead(function: Sequence[Term | ValueTooLargeError | None], requests: int) -> list[list[str]]:
    """What is computed at each of some requests, which follow each other, for a function from 0, 1 ... to these results."""
    dictionary = Dictionary()

    def evaluate(arguments: Sequence[Term]) -> Term | None:
        assert isinstance(arguments[0], Literal)
        result = function[int(arguments[0].lexical)]
        if isinstance(result, ValueTooLargeError):
            raise result
        return result

    chains, argument, found = Chains(dictionary), literal(0), list[list[str]]()
    for _ in range(requests):
        result = evaluate([argument])
        assert isinstance(result, Literal)
        further = chains.further(7, dictionary.encode(argument), dictionary.encode(result), evaluate)
        terms = [dictionary.decode(number) for number in further.tolist()]
        found.append([term.lexical for term in terms if isinstance(term, Literal)])
        last = terms[-1] if terms else result
        assert isinstance(last, Literal)
        argument = last
    return found


def test_each_time_twice_as_many_are_computed() -> None:
    numbers = [literal(number + 1) for number in range(10_000)]
    assert ahead(numbers, 3) == [[], ["3"], ["5", "6", "7"]]
    assert max(map(len, ahead(numbers, 14))) == LONGEST - 1


@pytest.mark.parametrize("end", [None, literal("text"), literal(10**DIGITS), ValueTooLargeError("too large")])
def test_anything_but_a_short_integer_ends_a_chain(end: Term | ValueTooLargeError | None) -> None:
    assert ahead([literal(1), literal(2), literal(3), literal(4), literal(5), end], 3) == [[], ["3"], ["5"]]


def test_other_requests_compute_nothing_ahead() -> None:
    dictionary = Dictionary()
    chains = Chains(dictionary)
    for argument, result in ((0, 1), (5, 6), (7, 8), (8, 9)):
        ids = [dictionary.encode(literal(number)) for number in (argument, result)]
        further = chains.further(1, *ids, lambda row: literal(int(row[0].lexical) + 1))  # type: ignore[union-attr]
        assert len(further) == (1 if argument == 8 else 0)
