"""Results of queries: rows, tables of Arrow, and the results formats of SPARQL 1.1."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

from kg_reasoner import Reasoner
from kg_reasoner.sparql.results.result import SelectResult
from kg_reasoner.terms import IRI, XSD, literal

EX = "http://example.org/"
PREFIXES = {"ex": EX}


def ex(name: str) -> IRI:
    return IRI(EX + name)


def reasoner(turtle: str = "", **options: Any) -> Reasoner:
    made = Reasoner(**options)
    made.load(f"@prefix ex: <{EX}> . @prefix xsd: <{XSD}> . {turtle}".encode(), format="turtle")
    return made


def select(text: str, turtle: str = "") -> SelectResult:
    result = reasoner(turtle).query(text, prefixes=PREFIXES)
    assert isinstance(result, SelectResult)
    return result


FAMILY = "ex:a ex:p ex:b, ex:c . ex:b ex:p ex:c ; ex:n 1 . ex:c ex:n 2 ."


def test_rows_are_tuples_with_names() -> None:
    result = select("SELECT ?x ?n { ?x ex:n ?n } ORDER BY ?n", FAMILY)
    row, other = result
    assert row == (ex("b"), literal(1))
    assert (row.x, row["n"], row["?n"], row[1], row[-1], row[:1]) == (
        ex("b"),
        literal(1),
        literal(1),
        literal(1),
        literal(1),
        (ex("b"),),
    )
    assert row.as_dict() == {"x": ex("b"), "n": literal(1)}
    assert other.n == literal(2)
    x, n = other
    assert (x, n) == (ex("c"), literal(2))
    assert pickle.loads(pickle.dumps(row)).x == ex("b")
    with pytest.raises(AttributeError, match=r"no variable \?y, only \?x, \?n"):
        _ = row.y
    assert repr(row) == f"Row(x={ex('b')!r}, n={literal(1)!r})"
    assert (len(result), result.variables) == (2, ("x", "n"))
    assert repr(result) == "<SelectResult of 2 rows: ?x ?n>"


def test_arrow() -> None:
    pytest.importorskip("pyarrow")
    table = select("SELECT ?x ?n { ?x ex:n ?n } ORDER BY ?n", FAMILY).to_arrow()
    assert table.to_pylist() == [{"x": f"{EX}b", "n": 1}, {"x": f"{EX}c", "n": 2}]
