"""Rule texts that are very long or deeply nested: read in linear time, or one error that shows the place."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

import pytest

from kg_reasoner import Reasoner
from kg_reasoner.errors import RuleSyntaxError, Span, UnsupportedError, ValueTooLargeError
from kg_reasoner.expressions.compile import DEPTH
from kg_reasoner.language.parser import parse

NESTED: dict[str, Callable[[int], str]] = {
    "not": lambda n: f"p(?x) :- q(?x), FILTER({'!' * n}?x) .",
    "minus": lambda n: f"p(?y) :- q(?x), BIND({'-' * n}?x AS ?y) .",
    "calls": lambda n: f"p(?y) :- q(?x), BIND({'STR(' * n}?x{')' * n} AS ?y) .",
    "sums": lambda n: f"p(?y) :- q(?x), BIND({' + '.join(['?x'] * (n + 1))} AS ?y) .",
    "sums to the right": lambda n: f"p(?y) :- q(?x), BIND({'?x + (' * n}?x{')' * n} AS ?y) .",
    "alternatives": lambda n: f"p(?x) :- q(?x), FILTER({' || '.join(['?x'] * (n + 1))}) .",
    "membership": lambda n: f"p(?x) :- q(?x), FILTER({'?x IN (' * n}1{')' * n}) .",
}


@pytest.mark.parametrize("name", NESTED)
@pytest.mark.sample(3)
def test_deep_expressions(name: str) -> None:
    Reasoner().add_program(NESTED[name](DEPTH))
    for depth in (DEPTH + 1, 5000):
        with pytest.raises(UnsupportedError, match=f"nested more than {DEPTH} deep") as caught:
            parse(NESTED[name](depth))
        assert caught.value.span is not None and len(str(caught.value)) < 800


def test_parentheses_add_no_depth() -> None:
    assert parse(f"p(?x) :- q(?x), FILTER({'(' * 3000}?x{')' * 3000}) .") == parse("p(?x) :- q(?x), FILTER(?x) .")


def test_deep_aggregates() -> None:
    def text(depth: int) -> str:
        return f"p(?c) :- {'AGGREGATE(' * depth}q(?x){' BIND COUNT(*) AS ?c)' * depth} ."

    parse(text(50))
    with pytest.raises(UnsupportedError, match="bodies are nested more than 50 deep"):
        parse(text(1000))


LONG = """
from kg_reasoner.errors import RuleSyntaxError
from kg_reasoner.language.parser import parse

N = 300_000
for text in (
    f"p({'9' * N}) .", f"p({'9' * N}.5) .", f"p(1e{'9' * N}) .", f"p({'x' * N}:y) .", f'p("{"x" * N}") .', "p(1) . " * (N // 100),
    f'p("{"x" * N}', f"p(<{'x' * N}", "(" * N, "p(?x) :- FILTER(" * N,
    f"p(a:{'.' * 5000}", f"@prefix {'a.' * N}", " " * N + "!", "#" * N,
):
    try:
        parse(text)
    except RuleSyntaxError as error:
        assert len(str(error)) < 2000, len(str(error))
"""


@pytest.mark.long
def test_long_texts_are_read_in_linear_time() -> None:
    subprocess.run([sys.executable, "-c", LONG], timeout=60, check=True)


def test_huge_numbers_are_errors() -> None:
    """A product of products grows by rules, until it has more digits than numbers may have."""
    reasoner = Reasoner("p(10) . p(?z) :- p(?x), BIND(?x * ?x AS ?z) .")
    with pytest.raises(ValueTooLargeError, match="more than 1000 digits in the rule p"):
        list(reasoner.facts("p"))


def test_huge_numbers_of_facts_have_no_successor() -> None:
    reasoner = Reasoner(f"q({'9' * 100_000}) . r(?y) :- q(?x), BIND(?x + 1 AS ?y) .")
    assert list(reasoner.facts("r")) == []


def test_a_long_line_is_shown_in_part() -> None:
    line = "a" * 1000 + "!" + "b" * 1000
    shown, pointer = Span("x", 1, 1001, 1002, line).pointer().splitlines()
    assert len(shown) < 250 and shown[pointer.index("^")] == "!"
    with pytest.raises(RuleSyntaxError) as caught:
        parse("p(" + "a" * 10_000 + ") .")
    assert len(str(caught.value)) < 2000
