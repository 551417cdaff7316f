"""Parquet: triples as tables, and facts from tables."""

from __future__ import annotations

import decimal
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest

from kg_reasoner.errors import LoadError, MissingExtraError
from kg_reasoner.io import parquet
from kg_reasoner.io.fact_files import fact_files
from kg_reasoner.io.facts import read_facts
from kg_reasoner.io.output import triple_writer, write_triples
from kg_reasoner.language.parser import parse
from kg_reasoner.program import Column
from kg_reasoner.storage.terms.dictionary import Dictionary
from kg_reasoner.terms import IRI, XSD, BlankNode, Literal, Term, Triple, literal, term_text

EX = "http://example.org/"
TRIPLES: list[Triple] = [
    (IRI(f"{EX}a"), IRI(f"{EX}p"), IRI(f"{EX}b")),
    (IRI(f"{EX}a"), IRI(f"{EX}p"), Literal("é\n", "http://www.w3.org/1999/02/22-rdf-syntax-ns#langString", "en")),
    (BlankNode("x:y"), IRI(f"{EX}q"), literal(1)),
]


def rows(path: Path) -> list[tuple[str, ...]]:
    return [tuple(row.values()) for row in pyarrow.parquet.read_table(path).to_pylist()]


def test_triples(tmp_path: Path) -> None:
    for path, format in ((tmp_path / "x.parquet", None), (tmp_path / "y", "parquet")):
        odd: Triple = (Literal("s"), IRI(f"{EX}p"), IRI(f"{EX}o"))
        assert write_triples([*TRIPLES, odd], path, format) == 3
        assert rows(path) == [tuple(map(term_text, triple)) for triple in TRIPLES]
        assert pyarrow.parquet.read_schema(path).names == ["subject", "predicate", "object"]


@pytest.mark.parametrize("size", [1, 2, 3, 100])
def test_groups_of_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    monkeypatch.setitem(parquet.write_parquet.__kwdefaults__, "rows", size)
    dictionary = Dictionary()
    ids = np.array([[dictionary.encode(term) for term in triple] for triple in TRIPLES], np.int32)
    calls: list[int] = []
    with triple_writer(tmp_path / "x.parquet", progress=lambda stage, done, total: calls.append(done)) as write:
        assert write.quads([(ids[:2], f"<{EX}g>", dictionary), (ids[2:], "", dictionary)]) == 3
    names = [f"<{EX}g>", f"<{EX}g>", None]
    assert rows(tmp_path / "x.parquet") == [(*map(term_text, triple), name) for triple, name in zip(TRIPLES, names, strict=True)]
    assert calls[-1] == 3


def test_no_triples(tmp_path: Path) -> None:
    assert write_triples([], tmp_path / "x.parquet") == 0
    assert rows(tmp_path / "x.parquet") == []


def test_parquet_is_an_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match=r"writing Parquet.*\[results\]"):
        write_triples(TRIPLES, tmp_path / "x.parquet")
    with pytest.raises(MissingExtraError, match=r"reading Parquet.*\[results\]"):
        list(read_facts(tmp_path / "edge.parquet", [Column("n")]))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("values", "type", "expected"),
    [
        (pyarrow.array(["a", "<b"]), "string", [Literal("a"), Literal("<b")]),
        (pyarrow.array([f"<{EX}a>", "7"]), "any", [IRI(f"{EX}a"), Literal("7", XSD.integer.value)]),
        (pyarrow.array([f"{EX}a", "ex:b"]).dictionary_encode(), "iri", [IRI(f"{EX}a"), IRI(f"{EX}b")]),
        (pyarrow.array([1, -2], pyarrow.int16()), "integer", [literal(1), literal(-2)]),
        (pyarrow.array([1, 2], pyarrow.uint64()), "any", [literal(1), literal(2)]),
        (pyarrow.array([True, False]), "boolean", [literal(True), literal(False)]),
        (pyarrow.array([0.5, float("inf")]), "double", [literal(0.5), literal(float("inf"))]),
        (pyarrow.array([decimal.Decimal("1.50")]), "decimal", [Literal("1.50", XSD.decimal.value)]),
    ],
)
def test_facts(tmp_path: Path, values: Any, type: Any, expected: list[Term]) -> None:
    pyarrow.parquet.write_table(pyarrow.table({"some name": values}), tmp_path / "r.Parquet")
    found = list(read_facts(tmp_path / "r.Parquet", [Column("x", type)], {"ex": EX}))
    assert found == [(term,) for term in expected]


def test_facts_of_a_program(tmp_path: Path) -> None:
    program = parse("input relation edge(from: integer, to: integer) . path(?x, ?y) :- edge(?x, ?y) .")
    pyarrow.parquet.write_table(pyarrow.table({"a": [1, 2], "b": [2, 3]}), tmp_path / "edge.parquet")
    found = fact_files(program, tmp_path)
    assert found == {"edge": tmp_path / "edge.parquet"}


@pytest.mark.parametrize(
    ("table", "part"),
    [
        ({"a": [1]}, "1 column where the relation has 2 columns (from, to)"),
        ({"a": [1, 2], "b": [1, None]}, "row 2: column to is null"),
        ({"a": [1, 2], "b": ["1", "x"]}, "row 2: column to: 'x' is not an integer"),
        ({"a": [1], "b": [[1]]}, "column b is of the type list"),
    ],
)
def test_wrong_facts(tmp_path: Path, table: dict[str, list[Any]], part: str) -> None:
    pyarrow.parquet.write_table(pyarrow.table(table), tmp_path / "edge.parquet")
    with pytest.raises(LoadError) as caught:
        list(read_facts(tmp_path / "edge.parquet", [Column("from", "integer"), Column("to", "integer")]))
    assert part in str(caught.value) and "edge.parquet" in str(caught.value)


def test_broken_files(tmp_path: Path) -> None:
    (tmp_path / "edge.parquet").write_bytes(b"PAR1 nothing")
    for name in ("edge.parquet", "other.parquet"):
        with pytest.raises(LoadError, match=f"{name}"):
            list(read_facts(tmp_path / name, [Column("x")]))
