"""Facts fit the declared types of their columns, wherever they come from."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from kg_reasoner import Reasoner
from kg_reasoner.engine.maintenance import STRATEGIES, Strategy
from kg_reasoner.errors import ColumnTypeError
from kg_reasoner.language.parser import parse
from kg_reasoner.program import COLUMN_TYPES, Rule
from kg_reasoner.storage.arrays import Ids
from kg_reasoner.storage.cells.table_terms import cell_reader, is_of_type, with_article
from kg_reasoner.storage.terms.column_types import ColumnTypes
from kg_reasoner.terms import IRI, XSD, BlankNode, Literal, Term, literal

NO_NUMBER = literal("no number")
DECLARED = "input relation e(who: iri, n: integer) . "
ANN = IRI("http://example.org/ann")
TERMS: list[Term] = [
    *(ANN, BlankNode("b"), literal("a"), Literal("a", language="en"), literal(7), Literal("007", XSD.integer.value)),
    *(
        Literal("x", XSD.integer.value),
        literal(7.5),
        Literal("7.5", XSD.decimal.value),
        literal(True),
        Literal("7", XSD.byte.value),
    ),
]


def test_what_is_of_which_type() -> None:
    fitting = {
        "iri": TERMS[:1],
        "string": TERMS[2:3],
        "integer": TERMS[4:6],
        "double": TERMS[7:8],
        "decimal": TERMS[8:9],
        "boolean": TERMS[9:10],
        "any": TERMS,
    }
    for type_, terms in fitting.items():
        assert [term for term in TERMS if is_of_type(term, type_)] == terms


@pytest.mark.parametrize("type_", COLUMN_TYPES)
def test_what_is_read_from_files_is_of_its_type(type_: str) -> None:
    assert with_article(type_)
    read = cell_reader(type_, {})
    for cell in ("<http://e/a>", "http://e/a", "", "a", "7", "-07", "+7", "7.", ".5", "7.5", "7e1", "INF", "NaN", "true", "1"):
        try:
            term = read(cell)
        except ValueError:
            continue
        assert is_of_type(term, type_), cell


@pytest.mark.parametrize("where", ["reasoner", "transaction"])
def test_facts_that_are_added(where: str) -> None:
    reasoner = Reasoner(DECLARED)
    target: Any = reasoner if where == "reasoner" else reasoner.transaction().begin()
    with pytest.raises(ColumnTypeError, match='"no number" is not an integer, as column n of e is declared'):
        target.add_facts("e", [(ANN, literal(1)), (ANN, NO_NUMBER)])
    with pytest.raises(ColumnTypeError, match="_:b is not an IRI, as column who of e is declared"):
        target.add_facts("e", [(BlankNode("b"), literal(1))])
    assert list(reasoner.facts("e")) == []
    target.add_facts("e", [(ANN, literal(1))])
    assert list(reasoner.facts("e")) == [(ANN, literal(1))]


def test_facts_and_rules_of_programs() -> None:
    reasoner = Reasoner(DECLARED)
    for wrong in ('e(<http://example.org/a>, "x") .', "e(?x, true) :- e(?x, _) ."):
        with pytest.raises(ColumnTypeError, match=r"<string>:1:1.* is not an integer, as column n of e is declared"):
            reasoner.add_program(wrong)
    assert reasoner.rules == ()
    with pytest.raises(ColumnTypeError, match='"x" is not an integer'):
        Reasoner('e("x") . relation e(n: integer) .')


def test_a_declaration_that_facts_do_not_fit() -> None:
    reasoner = Reasoner()
    reasoner.add_facts("e", [(ANN, NO_NUMBER)])
    with pytest.raises(ColumnTypeError, match='"no number" is not an integer'):
        reasoner.add_program(DECLARED)
    assert reasoner.program.declarations == ()


@pytest.mark.parametrize("maintenance", STRATEGIES)
def test_derived_facts_that_replace_as_many(maintenance: str) -> None:
    reasoner = Reasoner("relation q(n: integer) . q(?x) :- e(?x) .", maintenance=maintenance)
    reasoner.add_facts("e", [(literal(1),)])
    reasoner.materialise()
    reasoner.remove_facts("e", [(literal(1),)])
    reasoner.add_facts("e", [(NO_NUMBER,)])
    for _ in range(2):
        with pytest.raises(ColumnTypeError, match="is not an integer"):
            reasoner.materialise()


@pytest.mark.parametrize("maintenance", STRATEGIES)
def test_derived_facts(maintenance: str) -> None:
    rule = "q(?x) :- e(?x) ."
    reasoner = Reasoner(f"output relation q(n: integer) . q(?y) :- d(?x), BIND(?x + 1 AS ?y) . {rule}", maintenance=maintenance)
    reasoner.add_facts("e", [(literal(1),)])
    reasoner.materialise()
    with (
        pytest.raises(ColumnTypeError, match=r"is not an integer, as column n of q .* or q\(\?x\) :- e\(\?x\)"),
        reasoner.transaction() as tx,
    ):
        tx.add_facts("e", [(literal(2),), (NO_NUMBER,)])
    assert list(reasoner.facts("q")) == list(reasoner.facts("e")) == [(literal(1),)]
    reasoner.add_facts("e", [(NO_NUMBER,)])
    for _ in range(2):
        with pytest.raises(ColumnTypeError, match="is not an integer"):
            reasoner.materialise()
    reasoner.remove_facts("e", [(NO_NUMBER,)])
    reasoner.add_facts("d", [(literal(4),)])
    assert set(reasoner.facts("q")) == {(literal(1),), (literal(5),)}
    reasoner.add_facts("d", [(literal(1.5),)])
    with pytest.raises(ColumnTypeError, match=r"2\.5E0.* is not an integer"):
        list(reasoner.facts("q"))
    reasoner.remove_rules(parse("q(?y) :- d(?x), BIND(?x + 1 AS ?y) .").rules)
    assert list(reasoner.facts("q")) == [(literal(1),)]


@pytest.mark.parametrize("maintenance", STRATEGIES)
def test_a_check_costs_what_is_new(maintenance: Strategy, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []
    check = ColumnTypes.check

    def counting(types: ColumnTypes, predicate: str, facts: Ids, rules: Iterable[Rule] = ()) -> None:
        if predicate == "q":
            sizes.append(len(facts))
        check(types, predicate, facts, rules)

    monkeypatch.setattr(ColumnTypes, "check", counting)
    reasoner = Reasoner("relation q(n: integer) . q(?x) :- e(?x) .", maintenance=maintenance)
    reasoner.add_facts("e", [(literal(number),) for number in range(100)])
    reasoner.materialise()
    for number in range(3):
        reasoner.add_facts("e", [(literal(100 + number),)])
        reasoner.materialise()
        reasoner.remove_facts("e", [(literal(number),)])
        reasoner.materialise()
        reasoner.add_facts("e", [(literal(number),)])  # in a new row
        reasoner.materialise()
    if maintenance != "rematerialise":
        assert [size for size in sizes if size] == [100, 1, 1, 1, 1, 1, 1]
    reasoner.add_facts("e", [(NO_NUMBER,)])
    with pytest.raises(ColumnTypeError, match="is not an integer"):
        reasoner.materialise()
