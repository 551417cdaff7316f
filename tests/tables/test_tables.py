"""Tables as facts and facts as tables: every source gives the same facts, and what was written is read again."""

from __future__ import annotations

import datetime
import decimal
import gzip
import json
import sqlite3
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kg_reasoner import Reasoner
from kg_reasoner.errors import ArityError, LoadError, MissingExtraError, OutputError, ReasonerError, UnknownNameError
from kg_reasoner.expressions.functions.numbers import Single, literal_of
from kg_reasoner.io.facts import read_facts
from kg_reasoner.language.printer import format_term
from kg_reasoner.program import Column, Program
from kg_reasoner.storage.cells.table_terms import NOTHING, something
from kg_reasoner.storage.terms.dictionary import Dictionary
from kg_reasoner.tables.files import read_file
from kg_reasoner.tables.table_facts import TableEncoder
from kg_reasoner.terms import IRI, RDF, XSD, BlankNode, Literal, Term, literal, term_text
from tests.helpers.extras import needed
from tests.tables.databases import postgresql

PERSON = "input relation person(name: string, age: integer, tall: boolean, score: double) ."
ROWS: dict[str, list[Any]] = {
    "name": ["ann", 'say "hi", \\ bob', "ann", "é\tx"],
    "age": [7, -30, 10**12, 0],
    "tall": [True, False, True, True],
    "score": [0.5, 7.0, 1e22, -0.25],
}
EXPECTED = {tuple(map(literal, row)) for row in zip(*ROWS.values(), strict=True)}
SELECT = "SELECT name, age, tall, score FROM person"


def facts(reasoner: Reasoner, predicate: str = "person") -> set[tuple[Term, ...]]:
    return set(reasoner.facts(predicate))


def arrow() -> Any:
    return pyarrow.table(ROWS)


def frame(library: str) -> Any:
    return needed(library).DataFrame(ROWS)


def cursor() -> sqlite3.Cursor:
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE person (name TEXT, age INTEGER, tall INTEGER, score REAL)")
    connection.executemany("INSERT INTO person VALUES (?, ?, ?, ?)", zip(*ROWS.values(), strict=True))
    return connection.execute(SELECT)


SOURCES: dict[str, Callable[[], Any]] = {
    "table of Arrow": arrow,
    "record batch": lambda: arrow().to_batches()[0],
    "stream of batches": lambda: arrow().to_reader(max_chunksize=2),
    "dictionaries": lambda: arrow().set_column(0, "name", arrow()["name"].dictionary_encode()),
    "large strings": lambda: arrow().set_column(0, "name", arrow()["name"].cast(pyarrow.large_string())),
    "views of strings": lambda: arrow().set_column(0, "name", arrow()["name"].cast(pyarrow.string_view())),
    "slice": lambda: pyarrow.concat_tables([arrow(), arrow()]).slice(3, 4),
    "other order": lambda: arrow().select(["score", "name", "tall", "age"]),
    "mapping": lambda: ROWS,
    "polars": lambda: frame("polars"),
    "lazy polars": lambda: frame("polars").lazy(),
    "pandas": lambda: frame("pandas"),
    "SQLite": cursor,
}


@pytest.mark.parametrize("source", SOURCES)
def test_every_source_has_the_same_facts(source: str) -> None:
    reasoner = Reasoner(PERSON)
    reasoner.add_table("person", SOURCES[source]())
    assert facts(reasoner) == EXPECTED
    other = Reasoner(PERSON)
    other.add_facts("person", SOURCES[source]())
    assert facts(other) == EXPECTED
    reasoner.remove_facts("person", SOURCES[source]())
    assert facts(reasoner) == set()


def not_utf_8(texts: list[bytes]) -> Any:
    return pyarrow.array(texts, pyarrow.binary()).view(pyarrow.string())


NOT_UTF_8: dict[str, tuple[str, Callable[[], Any]]] = {
    "strings": ("string", lambda: not_utf_8([b"a", b"\xc3\xbcb\xff"])),
    "columns of any type": ("any", lambda: not_utf_8([b"a", b"b\xff"])),
    "numbers": ("integer", lambda: not_utf_8([b"1", b"1\xff"])),
    "dictionaries": ("string", lambda: not_utf_8([b"a", b"b\xff"]).dictionary_encode()),
    "lists": ("list<string>", lambda: pyarrow.ListArray.from_arrays([0, 1, 2], not_utf_8([b"a", b"b\xff"]))),
}


@pytest.mark.parametrize("name", NOT_UTF_8)
def test_texts_that_are_not_utf_8(name: str, tmp_path: Path) -> None:
    kind, column = NOT_UTF_8[name]
    table = pyarrow.table({"x": column()})
    pyarrow.parquet.write_table(table, tmp_path / "x.parquet")
    for source in (table, tmp_path / "x.parquet"):
        reasoner = Reasoner(f"input relation p(x: {kind}) .")
        with pytest.raises(LoadError, match="row 2: column x: byte 0xff is not UTF-8 text"):
            reasoner.add_table("p", source)
        assert not reasoner.facts("p")


@pytest.mark.parametrize("line", [b'{"x": "a\xff"}\n', b'{"x\xff": "a"}\n'])
def test_json_lines_that_are_not_utf_8(line: bytes, tmp_path: Path) -> None:
    (tmp_path / "p.jsonl").write_bytes(line)
    with pytest.raises(LoadError, match="byte 0xff"):
        Reasoner("input relation p(x: string) .").add_table("p", tmp_path / "p.jsonl")


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ('{"x": }', "Invalid value"),
        ('{"x": "a", "x": "b"}', "Column(/x) was specified twice"),
        ("[1]", "Column() changed from object to array"),
        ('{"x": 1}', "Column(/x) changed from string to number"),
        ('{"x": "\\ud800"}', "The surrogate pair in string is invalid"),
    ],
)
def test_the_line_of_an_error_in_json_lines(line: str, what: str, tmp_path: Path) -> None:
    (tmp_path / "p.jsonl").write_text(f'{{"x": "a"}}\r\n\n{{"x": "b"}}\n  \n{line}\n{{"x": "c"}}\n')
    with pytest.raises(LoadError) as caught:
        Reasoner("input relation p(x: string) .").add_table("p", tmp_path / "p.jsonl")
    assert caught.value.message == what
    assert caught.value.span is not None and (caught.value.span.line, caught.value.span.text) == (5, line)


def test_files_of_relations_without_columns(tmp_path: Path) -> None:
    path = tmp_path / "p.csv"
    reasoner = Reasoner("input relation p() .")
    path.write_text("yes\n")
    with pytest.raises(LoadError, match="a relation without columns has the line"):
        reasoner.add_table("p", path)
    path.write_text("()\n")
    reasoner.add_table("p", path)
    assert [*reasoner.facts("p")] == [()]


def test_facts_of_relations_without_columns_in_other_tables(tmp_path: Path) -> None:
    written = Reasoner("p() .").facts("p")
    assert written.to_arrow().num_rows == 1
    written.write(tmp_path / "p.jsonl")
    assert (tmp_path / "p.jsonl").read_text() == "{}\n"
    for table in (tmp_path / "p.jsonl", written.to_arrow()):
        reasoner = Reasoner("input relation p() .")
        reasoner.add_table("p", table)
        assert [*reasoner.facts("p")] == [()]
        reasoner.remove_table("p", table)
        assert not len(reasoner.facts("p"))
    with pytest.raises(OutputError, match="Parquet cannot hold the facts of a relation without columns"):
        written.write(tmp_path / "p.parquet")
    assert not (tmp_path / "p.parquet").exists()
    pyarrow.parquet.write_table(written.to_arrow(), tmp_path / "p.parquet")
    with pytest.raises(LoadError, match=r"p\.parquet has no columns"):
        reasoner.add_table("p", tmp_path / "p.parquet")


def test_great_integers_of_json_lines_without_a_type(tmp_path: Path) -> None:
    path = tmp_path / "p.jsonl"
    numbers = [1 << 64, -(1 << 70) - 1, 10**5000, 3]
    path.write_text("".join(f'{{"x": {number if number < 1 << 80 else "1" + "0" * 5000}}}\n' for number in numbers))
    reasoner = Reasoner()
    reasoner.add_table("p", path)
    texts = {term.lexical for (term,) in reasoner.facts("p") if isinstance(term, Literal) and term.datatype == XSD.integer.value}
    assert texts == {"18446744073709551616", "-1180591620717411303425", "1" + "0" * 5000, "3"}
    path.write_text('{"x": 1e20}\n{"x": 18446744073709551616}\n')
    reasoner.add_table("q", path)
    assert {*reasoner.facts("q")} == {(literal(1e20),), (literal(float(1 << 64)),)}
    for text in ('{"x": 18446744073709551617}\n{"x": 1.5}\n', '{"x": [18446744073709551617]}\n'):
        path.write_text(text)
        with pytest.raises(
            LoadError, match="column x has integers, beside other numbers or in lists, that doubles cannot represent"
        ):
            reasoner.add_table("r", path)


def test_rows_of_other_relations(tmp_path: Path) -> None:
    row = tmp_path / "p.jsonl"
    row.write_text('{"x": 1}\n')
    for table in (row, {"x": [1]}):
        with pytest.raises(LoadError, match="1 column where the relation has 0 columns"):
            Reasoner("input relation p() .").add_table("p", table)
    row.write_text("{}\n")
    with pytest.raises(LoadError, match="0 columns where the relation has 1 column"):
        Reasoner("input relation p(x: integer) .").add_table("p", row)


@pytest.mark.parametrize("header", [False, True])
@pytest.mark.parametrize("ending", ["tsv", "csv", "tsv.gz"])
@pytest.mark.parametrize(
    "program",
    [
        "input relation p() . p() .",
        'input relation p(x: any) . p("") . p("a") .',
        'type Name = string . input relation p(x: Name) . p("") . p("a") .',
        'input relation p(x: optional<integer>) . p(RECORD("None")) . p(RECORD("Some", 3)) .',
    ],
)
def test_cells_that_look_like_empty_lines(program: str, ending: str, header: bool, tmp_path: Path) -> None:
    written = Reasoner(program)
    written.facts("p").write(tmp_path / f"p.{ending}", header=header)
    read = Reasoner(Program(declarations=written.program.declarations, types=written.program.types))
    read.add_table("p", tmp_path / f"p.{ending}", header=header)
    assert facts(read, "p") == facts(written, "p")


def test_an_empty_header_behind_a_byte_order_mark(tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_bytes(b"\xef\xbb\xbf\na\n")
    reasoner = Reasoner("input relation p(x: string) .")
    reasoner.add_table("p", tmp_path / "p.csv", header=True)
    assert [*reasoner.facts("p")] == [(literal("a"),)]


@pytest.mark.parametrize("ending", ["parquet", "csv", "csv.gz", "jsonl", "jsonl.gz"])
def test_files_that_others_write(tmp_path: Path, ending: str) -> None:
    from pyarrow import csv

    path = tmp_path / f"person.{ending}"
    if ending == "parquet":
        pyarrow.parquet.write_table(arrow(), path)
    elif ending.startswith("csv"):
        csv.write_csv(arrow(), tmp_path / "x.csv")
        content = (tmp_path / "x.csv").read_bytes()
    else:
        content = "".join(f"{json.dumps(row)}\n" for row in arrow().to_pylist()).encode()
    if ending != "parquet":
        path.write_bytes(gzip.compress(content) if ending.endswith("gz") else content)
    reasoner = Reasoner(PERSON)
    reasoner.add_table("person", path, header=True)
    assert facts(reasoner) == EXPECTED
    reasoner.remove_table("person", path, header=True)
    assert facts(reasoner) == set()


@pytest.mark.parametrize("ending", ["parquet", "csv", "CSV", "csv.gz", "csv.zst", "tsv", "jsonl", "jsonl.gz", "jsonl.bz2"])
@pytest.mark.parametrize("header", [False, True])
def test_files_that_are_written_are_read_again(tmp_path: Path, ending: str, header: bool) -> None:
    reasoner = Reasoner(PERSON)
    rows = EXPECTED - {row for row in EXPECTED if "\t" in row[0].lexical and ending == "tsv"}  # type: ignore[union-attr]
    reasoner.add_facts("person", rows)
    assert reasoner.facts("person").write(tmp_path / f"p.{ending}", header=header) == len(rows)
    again = Reasoner(PERSON)
    again.add_table("person", tmp_path / f"p.{ending}", header=header)
    assert facts(again) == rows


def test_adbc() -> None:
    dbapi = needed("adbc_driver_sqlite.dbapi")
    with dbapi.connect() as connection, connection.cursor() as found:
        found.adbc_ingest(
            "person",
            arrow().cast(pyarrow.schema([(f.name, pyarrow.int64() if f.name == "tall" else f.type) for f in arrow().schema])),
        )
        found.execute(SELECT)
        reasoner = Reasoner(PERSON)
        reasoner.add_table("person", found)
    assert facts(reasoner) == EXPECTED


@pytest.fixture(scope="module")
def dsn() -> Iterator[str]:
    with postgresql() as found:
        yield found


@pytest.mark.long
def test_postgresql(dsn: str) -> None:
    psycopg = needed("psycopg")
    with psycopg.connect(dsn) as connection:
        connection.execute(
            "CREATE TEMPORARY TABLE person (name text, age bigint, tall boolean, score double precision, born date, paid numeric)"
        )
        with connection.cursor() as writing:
            writing.executemany(
                "INSERT INTO person VALUES (%s, %s, %s, %s, '2000-02-29', 1.50)", list(zip(*ROWS.values(), strict=True))
            )
        reasoner = Reasoner(PERSON)
        reasoner.add_table("person", connection.execute(SELECT))
        reasoner.add_table("born", connection.execute("SELECT DISTINCT born, paid FROM person"))
    assert facts(reasoner) == EXPECTED
    assert facts(reasoner, "born") == {(Literal("2000-02-29", XSD.date.value), Literal("1.50", XSD.decimal.value))}


def test_postgresql_through_adbc(dsn: str) -> None:
    dbapi = needed("adbc_driver_postgresql.dbapi")
    with dbapi.connect(dsn) as connection, connection.cursor() as found:
        found.execute("SELECT 'a' AS name, 1 AS age, true AS tall, 0.5::float8 AS score")
        reasoner = Reasoner(PERSON)
        reasoner.add_table("person", found)
    assert facts(reasoner) == {(literal("a"), literal(1), literal(True), literal(0.5))}


# ---- values


def test_values_in_columns_without_a_type() -> None:
    moment = datetime.datetime(2026, 1, 2, 3, 4, 5, 250000)
    table = {
        "text": ["007", "<urn:a>"],
        "number": pyarrow.array([1, 2], pyarrow.uint8()),
        "date": [datetime.date(2026, 1, 2), datetime.date(1, 1, 1)],
        "moment": [moment, moment.replace(microsecond=0)],
        "zoned": [moment.replace(tzinfo=datetime.timezone(datetime.timedelta(hours=1)))] * 2,
        "decimal": [decimal.Decimal("0.00000001"), decimal.Decimal("-2.50000000")],
    }
    reasoner = Reasoner()
    reasoner.add_table("r", table)
    first, second = (tuple(map(term_text, row)) for row in reasoner.facts("r"))
    assert [text.replace(str(XSD), "") for text in first] == [
        '"007"',
        '"1"^^<integer>',
        '"2026-01-02"^^<date>',
        '"2026-01-02T03:04:05.25"^^<dateTime>',
        '"2026-01-02T02:04:05.25Z"^^<dateTime>',
        '"0.00000001"^^<decimal>',
    ]
    assert second[0] == '"<urn:a>"' and second[2].startswith('"0001-01-01"') and second[3].startswith('"2026-01-02T03:04:05"')


BEYOND = "the table, row 1: column x: the date is before the year -32767 or after 32767"
WORD = pyarrow.dictionary(pyarrow.int32(), pyarrow.string())


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (pyarrow.array([0.5, -0.0, None], pyarrow.float32()).cast(pyarrow.float16()), "-0.0E0 5.0E-1"),
        (pyarrow.array(["a", None], pyarrow.string_view()), '"a"'),
        (pyarrow.array([["a"], ["b"]], pyarrow.list_(WORD)), 'LIST("a") LIST("b")'),
        (pyarrow.DictionaryArray.from_arrays([1, 1], pyarrow.array(["a", "b"], pyarrow.string_view())), '"b"'),
        (pyarrow.array([-719529, 2932897], pyarrow.date32()), '"-0001-12-31"^^xsd:date "10000-01-01"^^xsd:date'),
        (pyarrow.array([2**31 - 1], pyarrow.date32()), BEYOND),
        (pyarrow.array([-(2**62)], pyarrow.timestamp("s")), BEYOND),
    ],
    ids=lambda values: str(getattr(values, "type", "")),
)
def test_rare_values_of_arrow(values: Any, expected: str) -> None:
    reasoner = Reasoner()
    try:
        reasoner.add_table("r", pyarrow.table({"x": values}), nulls="skip")
    except LoadError as error:
        assert str(error) == expected
    else:
        assert " ".join(sorted(format_term(term) for (term,) in reasoner.facts("r"))) == expected


LARGE = [2**64, None, -(10**30)]


class LargeCursor:
    """A cursor of DB-API."""

    description = (("x",),)

    def __init__(self) -> None:
        self._rows = [(value,) for value in LARGE]

    def fetchmany(self, count: int) -> list[tuple[int | None]]:
        return [self._rows.pop() for _ in range(min(count, len(self._rows)))]


LARGE_SOURCES: dict[str, Callable[[], Any]] = {
    "mapping": lambda: {"x": LARGE},
    "pandas": lambda: needed("pandas").DataFrame({"x": LARGE}),
    "cursor": LargeCursor,
}


@pytest.mark.parametrize("type_", ["any", "integer", "signed<128>", "optional<integer>"])
@pytest.mark.parametrize("source", LARGE_SOURCES)
def test_integers_beyond_64_bits(source: str, type_: str) -> None:
    reasoner = Reasoner(f"input relation r(x: {type_}) .")
    reasoner.add_table("r", LARGE_SOURCES[source](), nulls="skip")
    terms = [literal(value) for value in LARGE if value is not None]
    expected = {NOTHING, *map(something, terms)} if type_.startswith("optional") else set(terms)
    assert facts(reasoner, "r") == {(term,) for term in expected}


def test_integers_beyond_64_bits_beside_other_values() -> None:
    with pytest.raises(LoadError, match="the table cannot be read"):
        Reasoner().add_table("r", {"x": [2**64, "a"]})


@pytest.mark.parametrize("type_", ["float", "any"])
@given(st.lists(st.floats(width=32), min_size=1))
def test_floats_are_those_that_a_table_was_made_of(type_: str, numbers: list[float]) -> None:
    terms = {literal_of(Single(number)) for number in numbers}
    reasoner, again = (Reasoner(f"input relation r(x: {type_}) .") for _ in range(2))
    reasoner.add_facts("r", [(term,) for term in terms])
    again.add_table("r", reasoner.facts("r").to_arrow())
    assert facts(again, "r") == facts(reasoner, "r")


@given(st.lists(st.floats() | st.sampled_from([0.1, 1e9, 999999999.5, 1e-3, 123456789012345.0, 1e15, 1e16, 5.0, -0.0]), min_size=1))
def test_doubles_are_those_of_literals(numbers: list[float]) -> None:
    reasoner = Reasoner()
    reasoner.add_table("r", {"x": numbers})
    assert facts(reasoner, "r") == {(literal(number),) for number in numbers}


TERMS = st.one_of(
    st.integers().map(literal),
    st.text().filter(lambda text: text.isprintable() or text.isascii()).map(literal),
    st.floats(allow_nan=False).map(literal),
    st.booleans().map(literal),
    st.sampled_from([IRI("urn:a"), IRI("http://example.org/ü"), BlankNode("x"), Literal("01", XSD.integer.value)]),
    st.sampled_from([Literal("x", RDF.langString.value, "en"), Literal("P1D", XSD.duration.value), Literal("7", XSD.int.value)]),
    st.dates().map(lambda day: Literal(day.isoformat(), XSD.date.value)),
)


@given(st.lists(TERMS, min_size=1), st.sampled_from([0, 1, 2]))
def test_a_table_of_facts_is_read_as_these_facts(terms: list[Term], width: int) -> None:
    alike = [term for term in terms if term_text(term)[-4:] == term_text(terms[0])[-4:]]
    rows = [(term, terms[0]) for term in (terms, alike, alike[:1])[width]]
    reasoner, again = Reasoner(), Reasoner()
    reasoner.add_facts("r", rows)
    again.add_table("r", reasoner.facts("r").to_arrow())
    found = {tuple(map(canonical, row)) for row in again.facts("r")}
    assert found == {tuple(map(canonical, row)) for row in rows}


def canonical(term: Term) -> Term:
    """Arrow's types hold values, not lexical forms."""
    if isinstance(term, Literal) and term.datatype in (XSD.integer.value, XSD.int.value):
        return Literal(str(int(term.lexical)), term.datatype)
    if isinstance(term, Literal) and term.datatype == XSD.double.value:
        return literal(float(term.lexical))
    return term


def test_metadata_that_say_nonsense_are_ignored() -> None:
    for metadata in (
        {"form": "literal", "datatype": "> ."},
        {"form": "x"},
        {"form": "literal", "datatype": str(RDF.langString.value), "language": "e>n"},
    ):
        schema = pyarrow.schema([pyarrow.field("x", pyarrow.string(), metadata=metadata)])
        reasoner = Reasoner()
        reasoner.add_table("r", pyarrow.table([["a"]], schema=schema))
        assert facts(reasoner, "r") == {(literal("a"),)}
    schema = pyarrow.schema([pyarrow.field("x", pyarrow.string(), metadata={"form": "resource"})])
    with pytest.raises(LoadError, match="row 1: column x: 'a b' is not an absolute IRI"):
        Reasoner().add_table("r", pyarrow.table([["a b"]], schema=schema))


@pytest.mark.parametrize("ending", ["parquet", "jsonl", "csv", "tsv"])
@pytest.mark.parametrize(
    ("type_", "cells"),
    [
        ("integer", "7 9223372036854775808"),
        ("signed<80>", "7 9223372036854775808"),
        ("decimal", f"0.5 {'1' * 40}"),
        ("date", "2024-01-01Z -0001-12-31"),
        ("dateTime", "2024-01-01T00:00:00 2024-01-01T00:00:00Z"),
        ("dateTime", "2024-01-01T00:00:00.1234567"),
    ],
)
def test_values_beyond_the_types_of_arrow_are_read_again(type_: str, cells: str, ending: str, tmp_path: Path) -> None:
    reasoner, again, loose = Reasoner(f"input relation r(x: {type_}) ."), Reasoner(f"input relation r(x: {type_}) ."), Reasoner()
    reasoner.add_table("r", {"x": cells.split()})
    assert reasoner.facts("r").write(tmp_path / f"r.{ending}") == len(cells.split())
    again.add_table("r", tmp_path / f"r.{ending}")
    assert facts(again, "r") == facts(reasoner, "r")
    loose.add_table("r", reasoner.facts("r").to_arrow())
    assert facts(loose, "r") == facts(reasoner, "r")


def test_types_that_programs_define(tmp_path: Path) -> None:
    program = """
        type node = string .
        type Colour = "red" | "green" .
        input relation r(n: node, c: Colour, small: unsigned<8>, signed: signed<16>, day: date) .
    """
    good = {"n": ["7", "b"], "c": ["red", "green"], "small": [0, 255], "signed": ["-32768", "32767"], "day": ["2026-01-01"] * 2}
    reasoner = Reasoner(program)
    reasoner.add_table("r", good)
    reasoner.facts("r").write(tmp_path / "r.csv")
    again = Reasoner(program)
    again.add_table("r", tmp_path / "r.csv")
    assert facts(reasoner, "r") == facts(again, "r") and len(facts(reasoner, "r")) == 2
    assert {row[0] for row in facts(reasoner, "r")} == {literal("7"), literal("b")}
    wrong: dict[str, tuple[list[Any], str]] = {
        "small": ([0, 256], "row 2: column small: '256' is not in the range of unsigned<8>, from 0 to 255"),
        "signed": (["1", str(10**30)], "row 2: column signed: "),
        "c": (["red", "blue"], "'blue' is not a value of Colour: red, green"),
        "day": (["2026-01-01", "2026-13-01"], "column day: '2026-13-01' is not"),
    }
    for name, (values, message) in wrong.items():
        with pytest.raises(ReasonerError) as caught:
            reasoner.add_table("r", {**good, name: values})
        assert message in str(caught.value)
        assert len(facts(reasoner, "r")) == 2


# ---- CSV and TSV: Arrow reads the cells that the reader with places reads

CELLS = st.text('ab"",\t\n\r 7.<_:é', max_size=3)
TEXTS = st.one_of(
    st.lists(st.lists(CELLS, min_size=1, max_size=3), max_size=4).map(lambda rows: "\n".join(",".join(row) for row in rows)),
    st.lists(st.tuples(CELLS, CELLS), max_size=4).map(
        lambda rows: "".join(",".join('"' + cell.replace('"', '""') + '"' for cell in row) + "\n" for row in rows)
    ),
    st.lists(st.tuples(st.text("ab7", max_size=2), st.text("ab7", max_size=2)), max_size=4).map(
        lambda rows: "".join(f"{first}\t{second}\n" for first, second in rows)
    ),
)


@given(
    TEXTS,
    st.sampled_from(["csv", "tsv"]),
    st.sampled_from([None, ("any",), ("any", "string"), ("string",), ("integer", "any")]),
    st.booleans(),
    st.sampled_from(["error", "skip"]),
)
def test_text_is_read_alike(
    tmp_path_factory: pytest.TempPathFactory, text: str, ending: str, types: tuple[str, ...] | None, header: bool, nulls: Any
) -> None:
    path = tmp_path_factory.getbasetemp() / f"x.{ending}"
    path.write_bytes(text.encode())
    columns = None if types is None else [Column(name, type_) for name, type_ in zip("ab", types, strict=False)]
    dictionary = Dictionary()
    try:
        slow: Any = list(read_facts(path, columns, header=header, nulls=nulls))
    except LoadError as error:
        slow = str(error)
    try:
        blocks = read_file(path, TableEncoder(dictionary, columns, {}, nulls=nulls), header=header)
        fast: Any = [row for block in blocks for row in dictionary.decode_rows(block)]
    except LoadError as error:
        fast = str(error)
    assert fast == slow


def test_cells_of_a_large_file(tmp_path: Path) -> None:
    path = tmp_path / "edge.csv"
    path.write_text("to,from\n" + "".join(f"{number % 700},node {number}\n" for number in range(3000)))
    reasoner = Reasoner("input relation edge(from: string, to: integer) .")
    reasoner.add_table("edge", path, header=True)
    assert facts(reasoner, "edge") == {(literal(f"node {number}"), literal(number % 700)) for number in range(3000)}
    path.write_text(path.read_text() + "x,y\n")
    with pytest.raises(LoadError, match=r"edge\.csv:3002:1: column to: 'x' is not an integer"):
        reasoner.add_table("edge", path, header=True)


# ---- columns, missing values, errors

EDGE = "input relation edge(from: string, to: integer) ."


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"a": ["a"]}, "the table: 1 column where the relation has 2 columns (from, to)"),
        ({"from": ["a"]}, "the table: 1 column where the relation has 2 columns (from, to)"),
        ({"to": ["1"], "fro": ["a"]}, "the table has no column from, did you mean 'fro'?\nhint: its columns are to, fro"),
        ({"from": ["a", "b"], "to": ["1", "x"]}, "the table, row 2: column to: 'x' is not an integer"),
        ({"from": ["a", "b"], "to": [1, None]}, "the table, row 2: column to is null"),
        ({"from": ["a"], "to": [[1]]}, "row 1: column to: a list is not an integer"),
        ({"from": ["a"], "to": [1.5]}, "the table, row 1: column to: 1.5 is not an integer"),
        ({"from": ["a"], "to": [1, 2]}, "the table cannot be read"),
        (pyarrow.table([["a"], ["b"], ["c"]], names=["from", "from", "to"]), "the table has 2 columns from\nhint: its"),
        ([1, 2], "list is not a table"),
    ],
)
def test_wrong_tables(table: Any, message: str) -> None:
    reasoner = Reasoner(EDGE)
    with pytest.raises(LoadError) as caught:
        reasoner.add_table("edge", table)
    assert message in str(caught.value)
    assert facts(reasoner, "edge") == set()


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ("to,x", "the header has no column from"),
        ("x,from,y", "the header has no column to"),
        ("x,y,z", "the header has 3 columns where the relation has 2 columns (from, to)"),
    ],
)
def test_a_header_with_some_of_the_names_elsewhere(tmp_path: Path, header: str, message: str) -> None:
    """A column is not read for another one."""
    (tmp_path / "edge.csv").write_text(f"{header}\n" + ",".join("1" for _ in header.split(",")) + "\n")
    with pytest.raises(LoadError) as caught:
        Reasoner(EDGE).add_table("edge", tmp_path / "edge.csv", header=True)
    assert message in str(caught.value)


def test_a_header_that_is_not_utf_8(tmp_path: Path) -> None:
    (tmp_path / "edge.csv").write_bytes("von,\xfcber\n".encode("latin-1") + b"a,1\n")
    with pytest.raises(LoadError, match=r"edge\.csv:1:5: byte 0xfc is not UTF-8 text"):
        Reasoner(EDGE).add_table("edge", tmp_path / "edge.csv", header=True)


class FetchedRows:
    """A cursor of DB-API with the rows that a row factory makes."""

    def __init__(self, rows: list[Any]) -> None:
        self.description = (("to",), ("from",))
        self._rows = rows

    def fetchmany(self, _: int) -> list[Any]:
        rows, self._rows = self._rows, []
        return rows


def test_cursors_whose_rows_are_mappings() -> None:
    reasoner = Reasoner(EDGE)
    reasoner.add_table("edge", FetchedRows([{"from": "a", "to": 1}, {"to": 2, "from": "b"}]))
    assert facts(reasoner, "edge") == {(literal("a"), literal(1)), (literal("b"), literal(2))}


@pytest.mark.parametrize("rows", [[5], ["ab"], [{"to": 1}], [(1, "a"), (2,)], [(1, "a", "b")], [object()]])
def test_cursors_with_other_rows(rows: list[Any]) -> None:
    with pytest.raises(LoadError, match="do not have a value for each column: to, from\nhint: use a cursor whose rows are tuples"):
        Reasoner(EDGE).add_table("edge", FetchedRows(rows))


MOMENT = datetime.datetime(2026, 1, 2, 3, 4)
ZONED = MOMENT.replace(tzinfo=datetime.timezone.utc)
ZONES = "moments with a time zone and moments without a time zone"


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([MOMENT.date(), None, MOMENT], "dates and moments without a time zone"),
        ([MOMENT.date(), ZONED], "dates and moments with a time zone"),
        ([MOMENT, None, ZONED], ZONES),
        ([ZONED, MOMENT], ZONES),
    ],
)
def test_times_of_different_kinds_in_a_column(values: list[datetime.date | None], message: str) -> None:
    """Arrow would cut a moment to a date, and take a moment without a time zone for one in UTC."""
    pandas = needed("pandas")
    series = pandas.Series(values, dtype=object)
    for table in ({"when": values}, {"when": series}, series.to_frame("when"), FetchedRows([(1, value) for value in values])):
        with pytest.raises(LoadError, match=message):
            Reasoner().add_table("at", table, nulls="skip")


@pytest.mark.parametrize("type_", ["integer", "signed<8>", "optional<integer>"])
def test_integers_among_missing_values_in_pandas(type_: str) -> None:
    """pandas makes doubles of them."""
    table = needed("pandas").DataFrame({"x": [7, None, 5]})
    assert str(table["x"].dtype) == "float64"
    atom = "p(Some(?x))" if type_.startswith("optional") else "p(?x)"
    reasoner = Reasoner(f"input relation p(x: {type_}) . q(?x + 1) :- {atom} .")
    reasoner.add_table("p", table, nulls="skip")
    assert facts(reasoner, "q") == {(literal(6),), (literal(8),)}
    for number, shown in ((5.5, "5.5"), (float("inf"), "inf")):
        with pytest.raises(LoadError, match=f"row 2: column x: {shown} is not an integer"):
            reasoner.add_table("p", {"x": [1.0, number]})


def test_rows_of_duckdb() -> None:
    duckdb = needed("duckdb")
    query = "SELECT sum(x), uuid() FROM (SELECT unnest([1, 2]) AS x)"
    reasoner = Reasoner()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        reasoner.add_table("p", duckdb.connect().execute(query))
    ((total, name),) = facts(reasoner, "p")
    assert total == literal(3)
    assert len(term_text(name)) == len('"01234567-0123-0123-0123-012345678901"')


def test_times_in_json_lines(tmp_path: Path) -> None:
    rules = f'p("2026-01-02T03:04:05Z"^^<{XSD.dateTime.value}>, "2026-01-02"^^<{XSD.date.value}>) .'
    Reasoner(rules).facts("p").write(tmp_path / "p.jsonl")
    assert json.loads((tmp_path / "p.jsonl").read_text()) == {"column 1": "2026-01-02T03:04:05+00:00", "column 2": "2026-01-02"}


def test_columns_that_are_chosen() -> None:
    table = {"x": [1, 2], "a": ["p", "q"], "from": ["r", "s"], "to": [5, 6]}
    reasoner = Reasoner(EDGE)
    reasoner.add_table("edge", table)
    reasoner.add_table("edge", table, columns=["a", "x"])
    reasoner.add_table("other", table, columns=["x"])
    assert facts(reasoner, "edge") == {(literal(a), literal(b)) for a, b in (("r", 5), ("s", 6), ("p", 1), ("q", 2))}
    assert facts(reasoner, "other") == {(literal(1),), (literal(2),)}
    with pytest.raises(LoadError, match="the table has no column fro, did you mean 'from'"):
        reasoner.add_table("edge", table, columns=["fro", "to"])


@pytest.mark.parametrize("ending", ["csv", "parquet", "jsonl", ""])
def test_rows_with_missing_values_are_left_out(tmp_path: Path, ending: str) -> None:
    rows = {"from": ["a", None, "c", "x"], "to": [1, 2, None, 4]}
    source: Any = rows
    if ending:
        source = tmp_path / f"edge.{ending}"
    if ending == "csv":
        source.write_text('from,to\na,1\n,2\nc,\nx,4\n"",5\n')
    elif ending == "parquet":
        pyarrow.parquet.write_table(pyarrow.table(rows), source)
    elif ending == "jsonl":
        source.write_text('{"from": "a", "to": 1}\n{"to": 2}\n{"from": "c"}\n{"from": "x", "to": 4}\n')
    reasoner = Reasoner(EDGE)
    with pytest.raises(LoadError):
        reasoner.add_table("edge", source, header=True)
    assert facts(reasoner, "edge") == set()
    reasoner.add_table("edge", source, header=True, nulls="skip")
    quoted = {(literal(""), literal(5))} if ending == "csv" else set()
    assert facts(reasoner, "edge") == {(literal("a"), literal(1)), (literal("x"), literal(4))} | quoted
    with pytest.raises(UnknownNameError, match="treatment of missing values"):
        reasoner.add_table("edge", source, nulls="keep")  # type: ignore[arg-type]


def test_the_row_of_an_error_counts_the_rows_that_are_left_out() -> None:
    with pytest.raises(LoadError, match="row 4: column to: 'x'"):
        Reasoner(EDGE).add_table("edge", {"from": ["a", None, None, "b"], "to": ["1", "y", "z", "x"]}, nulls="skip")


@pytest.mark.parametrize("name", ["a.jsonl", "a.parquet", "a.csv", "a.csv.gz"])
def test_broken_files(tmp_path: Path, name: str) -> None:
    with pytest.raises(LoadError, match=f"{name} does not exist"):
        Reasoner(EDGE).add_table("edge", tmp_path / name)
    (tmp_path / name).write_bytes(b'{"a": \n"')
    with pytest.raises(LoadError, match=name):
        Reasoner(EDGE).add_table("edge", tmp_path / name)


@pytest.mark.parametrize(("name", "hint"), [("t.json", "name it .jsonl"), ("t.json.gz", "name it .jsonl"), ("T.XLSX", "pandas")])
def test_files_of_other_formats_are_not_taken_for_text(tmp_path: Path, name: str, hint: str) -> None:
    (tmp_path / name).write_text("[1]\n")
    with pytest.raises(LoadError) as caught:
        Reasoner().add_table("t", tmp_path / name)
    assert hint in str(caught.value.hint)


def test_truth_values_as_pandas_writes_them(tmp_path: Path) -> None:
    needed("pandas").DataFrame({"a": [True, False]}).to_csv(tmp_path / "t.csv", index=False)
    reasoner = Reasoner("input relation t(a: boolean) .")
    reasoner.add_table("t", tmp_path / "t.csv", header=True)
    assert sorted(row[0].lexical for row in reasoner.facts("t")) == ["false", "true"]


def test_an_empty_file_of_each_kind(tmp_path: Path) -> None:
    for name in ("a.csv", "a.tsv", "a.jsonl"):
        (tmp_path / name).write_bytes(b"")
        for program in (EDGE, ""):
            reasoner = Reasoner(program)
            if name != "a.jsonl" or not program:
                reasoner.add_table("edge", tmp_path / name)
            assert facts(reasoner, "edge") == set()


def test_other_numbers_of_columns() -> None:
    reasoner = Reasoner("p(?x) :- q(?x, ?y) .")
    with pytest.raises(LoadError, match="3 columns where the relation has 2"):
        reasoner.add_table("q", {"a": [1], "b": [1], "c": [1]})
    reasoner.add_table("r", {"a": [1]})
    with pytest.raises((ArityError, LoadError)):
        reasoner.add_table("r", {"a": [1], "b": [1]})


def test_triples_are_not_a_table() -> None:
    with pytest.raises(ReasonerError, match="tables become triples by rules"):
        Reasoner().add_table("[]", {"a": [1]})


def test_values_of_several_types_in_a_column_of_sql() -> None:
    connection = sqlite3.connect(":memory:")
    found = connection.execute("SELECT 1 AS x UNION ALL SELECT 'a'")
    with pytest.raises(LoadError, match=r"rows 1 to 2: column x: .*\nhint: cast the column to one type"):
        Reasoner().add_table("r", found)
    with pytest.raises(LoadError, match="the cursor has no rows"):
        Reasoner().add_table("r", connection.execute("CREATE TABLE t (x)"))


def test_arrow_is_an_extra(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match=r"facts from a table.*\[results\]"):
        Reasoner().add_table("r", {"x": [1]})
    (tmp_path / "edge.csv").write_text("from,to\na,1\n")
    reasoner = Reasoner(EDGE)
    reasoner.add_table("edge", tmp_path / "edge.csv", header=True)
    assert facts(reasoner, "edge") == {(literal("a"), literal(1))}


def test_removal_knows_no_new_terms_and_needs_no_predicate() -> None:
    reasoner = Reasoner(EDGE)
    before = len(reasoner.dictionary)
    reasoner.remove_table("edge", {"from": ["new"], "to": [77]})
    reasoner.remove_table("unknown", {"x": ["new"]})
    assert len(reasoner.dictionary) == before


def test_tables_in_transactions() -> None:
    reasoner = Reasoner("path(?x, ?y) :- edge(?x, ?y) . path(?x, ?z) :- path(?x, ?y), edge(?y, ?z) .")
    with reasoner.transaction() as tx:
        tx.add_table("edge", {"a": [1, 2], "b": [2, 3]})
    assert len(list(tx.delta.added.facts("path"))) == 3
    with pytest.raises(LoadError), reasoner.transaction() as tx:
        tx.remove_table("edge", {"a": [1], "b": [2]})
        tx.add_table("edge", {"a": [1], "b": [None]})
    assert len(reasoner.facts("path")) == 3


# ---- facts


def test_facts_as_tables() -> None:
    reasoner = Reasoner(PERSON + "other(?x, ?y) :- person(?x, ?y, _, _) .")
    empty = reasoner.facts("person").to_arrow()
    assert empty.schema.names == list(ROWS) and empty.schema.field("age").type == pyarrow.int64() and len(empty) == 0
    reasoner.add_table("person", arrow())
    found = reasoner.facts("person")
    assert found.to_arrow().select(list(ROWS)).to_pylist() == arrow().to_pylist()
    assert reasoner.facts("other").to_arrow().schema.names == ["column 1", "column 2"]
    assert "4 rows of name, age" in repr(found) and len(found) == 4 and len(list(found)) == 4 and list(found) == []
    with pytest.raises(UnknownNameError, match="ending of a table's file"):
        found.write("x.xlsx")
    with pytest.raises(UnknownNameError, match="ending of a table's file"):
        found.write("x.parquet.gz")  # is compressed, and could not be read


@pytest.mark.parametrize("library", ["polars", "pandas"])
def test_facts_as_data_frames(library: str) -> None:
    needed(library)
    reasoner = Reasoner(PERSON)
    reasoner.add_table("person", arrow())
    assert sorted(getattr(reasoner.facts("person"), f"to_{library}")()["age"]) == sorted(ROWS["age"])


# ---- lookup by argument

SMALL = st.tuples(*[st.integers(0, 2)] * 3)


@given(st.lists(SMALL), st.lists(SMALL), SMALL, st.sets(st.integers(0, 2)), st.sampled_from(["all", "explicit", "inferred"]))
def test_lookup_finds_what_a_scan_finds(
    rows: list[tuple[int, ...]], derived: list[tuple[int, ...]], wanted: tuple[int, ...], places: set[int], which: Any
) -> None:
    for equality in ("axioms", "rewrite"):
        reasoner = Reasoner(
            "input relation r(a: integer, b: any, c: integer) . r(?x, ?y, ?z) :- s(?x, ?y, ?z) .", equality=equality
        )  # type: ignore[arg-type]
        reasoner.add_facts("s", [tuple(map(literal, row)) for row in derived])
        for step in (rows, derived[:2]):
            reasoner.add_facts("r", [tuple(map(literal, row)) for row in step])
            found = list(reasoner.facts("r", which, [wanted[place] if place in places else None for place in range(3)]))
            named = list(reasoner.facts("r", which, **{"abc"[place]: literal(wanted[place]) for place in places}))
            expected = {row for row in reasoner.facts("r", which) if all(row[place] == literal(wanted[place]) for place in places)}
            assert len(found) == len(expected) and set(found) == set(named) == expected
        reasoner.remove_facts("r", [tuple(map(literal, row)) for row in rows])
        assert set(reasoner.facts("r", b=wanted[1])) == {row for row in reasoner.facts("r") if row[1] == literal(wanted[1])}


def test_lookup_by_arguments_that_cannot_be() -> None:
    reasoner = Reasoner(EDGE + 'edge("a", 1) . p(?x) :- edge(?x, _) .')
    assert len(reasoner.facts("edge", to=7)) == len(reasoner.facts("nothing", arguments=[1])) == 0
    assert (
        list(reasoner.facts("edge", arguments=["a", None]))
        == list(reasoner.facts("edge", **{"from": "a"}))
        == [(literal("a"), literal(1))]
    )
    with pytest.raises(UnknownNameError, match="unknown column of edge"):
        reasoner.facts("edge", frm="a")
    with pytest.raises(ReasonerError, match="the columns of p have no names"):
        reasoner.facts("p", x="a")
    with pytest.raises(ArityError, match="edge has 2 arguments, not 1"):
        reasoner.facts("edge", arguments=["a"])
    with pytest.raises(ReasonerError, match="the argument from of edge is given twice"):
        reasoner.facts("edge", arguments=["a", None], **{"from": "b"})
    with pytest.raises(LoadError):
        reasoner.facts("edge", to=object())


@pytest.mark.parametrize("ending", ["parquet", "jsonl", "csv", "tsv"])
def test_structures_in_files(tmp_path: Path, ending: str) -> None:
    program = """
        type Result = Ok(value: integer) | Error(message: string) .
        input relation box(result: Result, more: list<integer>) .
    """
    reasoner = Reasoner(program + 'box(Ok(1), LIST(1, 2)) . box(Error("late"), LIST()) .')
    path = tmp_path / f"box.{ending}"
    reasoner.facts("box").write(path)
    again = Reasoner(program)
    again.add_table("box", path, header=ending in ("parquet", "jsonl"))
    assert set(again.facts("box")) == set(reasoner.facts("box"))


OPTIONAL = """
    input relation box(id: integer, place: optional<string>, weight: optional<integer>) .
    nowhere(?x) :- box(?x, None(), _) .
    at(?x, ?p) :- box(?x, Some(?p), _) .
    heavy(?x) :- box(?x, _, Some(?w)), ?w > 5 .
"""


def optional_facts(reasoner: Reasoner) -> dict[str, list[list[str]]]:
    return {name: sorted([term.lexical for term in row] for row in reasoner.facts(name)) for name in ("nowhere", "at", "heavy")}  # type: ignore[union-attr]


EXPECTED_OPTIONAL = {"nowhere": [["2"], ["3"]], "at": [["1", "hall"]], "heavy": [["2"]]}


@pytest.mark.parametrize("nulls", ["error", "skip"])
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("box.csv", "id,place,weight\n1,hall,5\n2,,7\n3,,\n"),
        ("box.tsv", "id\tplace\tweight\n1\thall\t5\n2\t\t7\n3\t\t\n"),
        ("box.jsonl", '{"id": 1, "place": "hall", "weight": 5}\n{"id": 2, "weight": 7}\n{"id": 3, "place": null}\n'),
    ],
)
def test_missing_values_are_optional_values(name: str, text: str, nulls: Any, tmp_path: Path) -> None:
    file = tmp_path / name
    file.write_text(text)
    reasoner = Reasoner(OPTIONAL)
    reasoner.add_table("box", file, header=True, nulls=nulls)
    assert optional_facts(reasoner) == EXPECTED_OPTIONAL
    reasoner.remove_table("box", file, header=True, nulls=nulls)
    assert optional_facts(reasoner) == {name: [] for name in EXPECTED_OPTIONAL}


def test_optional_values_of_tables_of_arrow(tmp_path: Path) -> None:
    pyarrow = needed("pyarrow")
    table = pyarrow.table({"id": [1, 2, 3], "place": ["hall", None, None], "weight": [5, 7, None]})
    reasoner = Reasoner(OPTIONAL)
    reasoner.add_table("box", table)
    assert optional_facts(reasoner) == EXPECTED_OPTIONAL
    for name in ("box.csv", "box.parquet", "box.jsonl"):
        reasoner.facts("box").write(tmp_path / name)
        other = Reasoner(OPTIONAL)
        other.add_table("box", tmp_path / name)
        assert optional_facts(other) == EXPECTED_OPTIONAL


def test_cells_that_are_not_optional_values(tmp_path: Path) -> None:
    file = tmp_path / "box.csv"
    file.write_text("1,hall,5\n2,,x\n")
    with pytest.raises(LoadError, match="column weight"):
        Reasoner(OPTIONAL).add_table("box", file)
    file.write_text(",hall,5\n")
    with pytest.raises(LoadError, match="column id"):
        Reasoner(OPTIONAL).add_table("box", file)


LISTS = """
    input relation row(id: integer, tags: list<string>, seen: set<integer>, more: any) .
    tag(?i, ?t) :- row(?i, ?l, _, _), ?t IN ?l .
"""


def test_lists_of_arrow_are_lists(tmp_path: Path) -> None:
    table = pyarrow.table({"id": [1, 2], "tags": [["a", "b"], []], "seen": [[2, 1, 2], [3]], "more": [[[1], []], [[2, 3]]]})
    pyarrow.parquet.write_table(table, tmp_path / "row.parquet")
    for source in (table, tmp_path / "row.parquet"):
        reasoner = Reasoner(LISTS)
        reasoner.add_table("row", source)
        assert {tuple(map(format_term, row)) for row in reasoner.facts("row")} == {
            ("1", 'LIST("a", "b")', "SET(1, 2)", "LIST(LIST(1), LIST())"),
            ("2", "LIST()", "SET(3)", "LIST(LIST(2, 3))"),
        }
        assert len(list(reasoner.facts("tag"))) == 2
        reasoner.remove_table("row", source)
        assert not list(reasoner.facts("row"))


@pytest.mark.parametrize(("value", "noun"), [(5, "an integer"), (1.5, "a double"), (True, "a boolean")])
@pytest.mark.parametrize("type_", ["string", "optional<string>", "list<string>"])
def test_values_that_are_not_text_are_no_strings(value: Any, noun: str, type_: str) -> None:
    reasoner = Reasoner(f"input relation p(x: {type_}) .")
    with pytest.raises(LoadError, match=f"row 1: column x: .* is {noun}, and not a string: cast the column to text"):
        reasoner.add_table("p", {"x": [[value]] if type_ == "list<string>" else [value]})
    reasoner.add_table("p", {"x": [["5"]] if type_ == "list<string>" else ["5"]})
    assert len(list(reasoner.facts("p"))) == 1


@pytest.mark.parametrize(
    ("seen", "message"),
    [
        ([["1"], ["x"]], "row 2: column seen: 'x' is not an integer"),
        ([[1], [2, None]], "row 2: column seen: a member of a list is null"),
    ],
)
def test_members_of_other_types(seen: Any, message: str) -> None:
    with pytest.raises(LoadError, match=message):
        Reasoner(LISTS).add_table("row", pyarrow.table({"id": [1, 2], "tags": [["a"]] * 2, "seen": seen, "more": [1] * 2}))


def test_a_list_in_another_column() -> None:
    table = pyarrow.table({"id": [[1]], "tags": [["a"]], "seen": [[1]], "more": [1]})
    with pytest.raises(LoadError, match="row 1: column id: a list is not an integer"):
        Reasoner(LISTS).add_table("row", table)
