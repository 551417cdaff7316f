"""IN and NOT IN compare with all constants at once, and give what one comparison after the other gives."""

from __future__ import annotations

from unittest.mock import patch

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from kg_reasoner import Reasoner
from kg_reasoner.sparql.solutions.expressions import Expressions
from kg_reasoner.terms import IRI, XSD, Literal, Term, literal
from tests.helpers.effort import PHASES, examples, thinned
from tests.sparql.test_sparql_random import by_our_store
from tests.sparql_oracle import ast
from tests.sparql_oracle.alphabet import BLANK_NODES, LITERALS, NODES, PREDICATES
from tests.sparql_oracle.compare import same_answers
from tests.sparql_oracle.dataset import Dataset
from tests.sparql_oracle.evaluate import evaluate
from tests.sparql_oracle.notes import OPEN
from tests.sparql_oracle.text import query_text

NUMBERS = (
    Literal("NaN", XSD.double.value),
    Literal("INF", XSD.double.value),
    Literal("-0.0E0", XSD.double.value),
    Literal("01", XSD.integer.value),
    Literal("1", XSD.byte.value),
    Literal("9007199254740993", XSD.integer.value),
    Literal("9007199254740992.0", XSD.decimal.value),
)
CONSTANTS: tuple[Term, ...] = (*NODES, *LITERALS, *NUMBERS)
S, X, Y, R = map(ast.Var, "sxyr")

facts = st.tuples(st.sampled_from(NODES), st.sampled_from(PREDICATES[:2]), st.sampled_from((*CONSTANTS, *BLANK_NODES)))
needles = st.sampled_from((X, X, ast.Call("STR", (X,)), ast.Call("+", (X, literal(1)))))
alternatives = st.lists(st.sampled_from((*CONSTANTS, Y)), min_size=1, max_size=6)


@settings(max_examples=examples(400), phases=PHASES)
@given(st.frozensets(facts, min_size=5, max_size=14), st.sampled_from(("IN", "NOT IN")), needles, alternatives)
@pytest.mark.long
def test_random_lists(data: frozenset[tuple[Term, Term, Term]], operator: str, needle: ast.Expression, among: list[Term]) -> None:
    found = ast.Bind(ast.Call(operator, (needle, *among)), R)
    other = ast.Optional(ast.Group((ast.Triple(S, PREDICATES[1], Y),)))
    where = ast.Group((ast.Triple(S, PREDICATES[0], X), other, found))
    query = ast.Select(None, where, ast.Modifiers((), (), (), None, None, None), "")
    outcome = evaluate(query, Dataset(data))
    assume(not outcome.notes & OPEN)
    assert same_answers(outcome.result, by_our_store(Dataset(data), query_text(query)))


@pytest.mark.parametrize("write", thinned(["<urn:n{}>", "'{}'", "{}"], 3))
def test_constants_of_one_kind_are_not_compared_one_by_one(write: str) -> None:
    reasoner = Reasoner()
    count = 50
    for number in range(count):
        values = IRI(f"urn:n{number}"), literal(str(number)), literal(number)
        reasoner.add_triples((IRI("urn:s"), IRI("urn:p"), value) for value in values)
    wanted = ", ".join(write.format(number) for number in range(0, 2 * count, 2))
    kind = {"<": "ISIRI(?x)", "'": "DATATYPE(?x) = xsd:string", "{": "ISNUMERIC(?x)"}[write[0]]
    with patch.object(Expressions, "_comparison", autospec=True, side_effect=Expressions._comparison) as compare:
        found = reasoner.query(f"SELECT * {{ ?s <urn:p> ?x FILTER({kind}) FILTER(?x IN ({wanted})) }}")
    assert len(found) == count // 2
    assert compare.call_count <= 1
