"""Lists, sets, maps and optional values in the cells of tables and in columns of Arrow."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kg_reasoner import Reasoner
from kg_reasoner.errors import LoadError
from kg_reasoner.expressions.structures import encode
from kg_reasoner.language.printer import format_term
from kg_reasoner.storage.table_terms import cell_reader, format_cell
from kg_reasoner.terms import IRI, XSD, Literal, Term, literal

from .effort import examples
from .extras import needed

CELLS = """
list<string>             | ["a", "b"]            | LIST("a", "b")
list<string>             | ["7", "true", ""]     | LIST("7", "true", "")
list<integer>            | [1, 2]                | LIST(1, 2)
list<integer>            | []                    | LIST()
list<double>             | [1, 2.5]              | LIST(1.0E0, 2.5E0)
set<iri>                 | ["http://a/b", "ex:c"] | SET(<http://a/b>, <http://example.org/c>)
map<string, integer>     | {"a": 1}              | MAP("a", 1)
map<integer, list<string>> | [[1, ["a"]]]        | MAP(1, LIST("a"))
tuple<string, integer>   | ["a", 1]              | TUPLE("a", 1)
list<any>                | ["a", 1, true, ["x"], {"k": 2.5}, "7"] | LIST("a", 1, true, LIST("x"), MAP("k", 2.5), "7")
list<optional<integer>>  | [1, null]             | LIST(RECORD("Some", 1), RECORD("None"))
list<date>               | ["2020-01-01"]        | LIST("2020-01-01"^^xsd:date)
optional<list<string>>   | ["a"]                 | RECORD("Some", LIST("a"))
optional<list<string>>   |                       | RECORD("None")
optional<string>         | a                     | RECORD("Some", "a")
list<Colour>             | ["red"]               | LIST("red")
list<integer>            | "2:n1"^^<urn:kg-reasoner:list> | LIST(1)
"""

WRONG = """
list<string>             | x                     | 'x' is not a list<string>, which is written in JSON: [...]
map<string, integer>     | x                     | 'x' is not a map<string, integer>, which is written in JSON: {"key": ...}
list<string>             | ["\\ud800"]            | '["\\\\ud800"]' has half of a pair of surrogates, which is not a character
list<string>             | [1]                   | "1" is not a string
list<integer>            | [1.5]                 | '1.5' is not an integer
list<integer>            | [NaN]                 | 'NaN' is not an integer
list<integer>            | [null]                | null is not an integer
list<integer>            | {"a": 1}              | an object is not a list<integer>
list<signed<8>>          | [200]                 | '[200]' is not a list<signed<8>>
list<date>               | ["2020-13-01"]        | '2020-13-01' is not a date
tuple<string, integer>   | ["a"]                 | an array of 1 is not a tuple<string, integer>
list<integer>            | "1"                   | '"1"' is not a list<integer>
list<integer>            | "2:sa"^^<urn:kg-reasoner:list> | '"2:sa"^^<urn:kg-reasoner:list>' is not a list<integer>
"""


def rows(text: str) -> list[tuple[str, ...]]:
    return [tuple(part.strip() for part in line.split("|")) for line in text.strip().splitlines()]


@pytest.mark.parametrize(("type_", "cell", "expected"), rows(CELLS))
def test_cells(type_: str, cell: str, expected: str) -> None:
    assert format_term(cell_reader(type_, {"ex": "http://example.org/"})(cell)) == expected


@pytest.mark.parametrize(("type_", "cell", "message"), rows(WRONG))
def test_wrong_cells(type_: str, cell: str, message: str) -> None:
    with pytest.raises(ValueError) as caught:
        cell_reader(type_, {})(cell)
    assert str(caught.value) == message


def test_deep_cells_are_errors() -> None:
    with pytest.raises(ValueError, match="nested too deep"):
        cell_reader("list<any>", {})("[" * 100_000)


BASES = {
    "integer": st.one_of(st.integers(-3, 3).map(literal), st.sampled_from([literal(1 << 70), Literal("+1", XSD.integer.value)])),
    "string": st.sampled_from(["", "a", "7", "null", "[1]", '"', "é,\t\n", "true"]).map(literal),
    "double": st.sampled_from([literal(1.5), literal(float("inf")), literal(float("nan")), Literal("1", XSD.double.value)]),
    "iri": st.sampled_from(["http://example.org/a", "urn:x"]).map(IRI),
    "boolean": st.booleans().map(literal),
    "date": st.sampled_from(["2026-01-02", "2026-01-02Z"]).map(lambda text: Literal(text, XSD.date.value)),
    "decimal": st.sampled_from(["1.50", "-2", ".5"]).map(lambda text: Literal(text, XSD.decimal.value)),
    "any": st.sampled_from([literal("a"), literal("7"), literal(7), literal(True), IRI("urn:x"), encode("list", [literal(1)])]),
}


DEEPEST = 2


def of_type(depth: int) -> st.SearchStrategy[tuple[str, st.SearchStrategy[Term]]]:
    """A type and its terms."""
    bases = st.sampled_from(list(BASES.items()))
    if not depth:
        return bases
    inner = of_type(depth - 1)
    return st.one_of(
        *([bases] if depth < DEEPEST else []),
        st.tuples(st.sampled_from(["list", "set"]), inner).map(
            lambda found: (
                f"{found[0]}<{found[1][0]}>",
                st.lists(found[1][1], max_size=3).map(lambda members: encode(found[0], members)),
            )
        ),
        st.tuples(inner, inner).map(
            lambda found: (
                f"tuple<{found[0][0]}, {found[1][0]}>",
                st.tuples(found[0][1], found[1][1]).map(lambda pair: encode("tuple", pair)),
            )
        ),
        st.tuples(inner, inner).map(
            lambda found: (
                f"map<{found[0][0]}, {found[1][0]}>",
                st.lists(st.tuples(found[0][1], found[1][1]), max_size=2).map(
                    lambda pairs: encode("map", [part for pair in pairs for part in pair])
                ),
            )
        ),
        inner.map(
            lambda found: (
                f"optional<{found[0]}>",
                st.one_of(st.just(encode("record", [], "None")), found[1].map(lambda term: encode("record", [term], "Some"))),
            )
        ),
    )


@settings(max_examples=examples(600), deadline=None)
@given(data=st.data(), found=of_type(DEEPEST))
def test_what_is_written_reads_back(data: st.DataObject, found: tuple[str, st.SearchStrategy[Term]]) -> None:
    type_, terms = found
    term = data.draw(terms)
    assert cell_reader(type_, {})(format_cell(term, type_)) == term


@settings(max_examples=examples(200), deadline=None)
@given(data=st.data(), found=of_type(DEEPEST))
@pytest.mark.parametrize("format", ["csv", "jsonl", "arrow", "parquet"])
def test_tables_read_back(
    data: st.DataObject, found: tuple[str, st.SearchStrategy[Term]], format: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    needed("pyarrow")
    type_, terms = found
    program = f"input relation r(number: integer, value: {type_}) ."
    reasoner = Reasoner(program)
    reasoner.add_facts("r", [(literal(number), term) for number, term in enumerate(data.draw(st.lists(terms, max_size=4)))])
    again = Reasoner(program)
    if format == "arrow":
        again.add_table("r", reasoner.facts("r").to_arrow())
    else:
        path = tmp_path_factory.mktemp("tables") / f"r.{format}"
        reasoner.facts("r").write(path, **({"header": True} if format == "csv" else {}))
        again.add_table("r", path, **({"header": True} if format == "csv" else {}))
    assert set(again.facts("r")) == set(reasoner.facts("r"))


def test_forms_in_tables(tmp_path: Path) -> None:
    needed("pyarrow")
    reasoner = Reasoner("""
        relation box(id: integer, tags: list<string>, sizes: set<integer>, best: optional<integer>, names: map<string, integer>) .
        box(1, LIST("a", "b"), SET(2, 1), Some(5), MAP("x", 1)) .
        box(2, LIST(), SET(), None(), MAP()) .
    """)
    facts = reasoner.facts("box")
    found = [tuple(row.values()) for row in sorted(facts.to_arrow().to_pylist(), key=lambda row: row["id"])]
    assert [row[:4] for row in found] == [(1, ["a", "b"], [1, 2], 5), (2, [], [], None)]
    facts.write(tmp_path / "box.csv", header=True)
    first, second = csv.DictReader(io.StringIO((tmp_path / "box.csv").read_text()))
    assert first == {"id": "1", "tags": '["a", "b"]', "sizes": "[1, 2]", "best": "5", "names": '{"x": 1}'}
    assert second == {"id": "2", "tags": "[]", "sizes": "[]", "best": "", "names": "{}"}
    facts.write(tmp_path / "box.jsonl")
    lines = sorted((tmp_path / "box.jsonl").read_text().splitlines())
    assert json.loads(lines[0]) == {"id": 1, "tags": ["a", "b"], "sizes": [1, 2], "best": 5, "names": '{"x": 1}'}


def test_a_wrong_cell_has_a_place(tmp_path: Path) -> None:
    reasoner = Reasoner("input relation box(id: integer, tags: list<string>) .")
    path = tmp_path / "box.csv"
    path.write_text('1,"[""a""]"\n2,"[""b"", 3]"\n')
    with pytest.raises(LoadError) as caught:
        reasoner.add_table("box", path)
    assert str(caught.value) == (f'{path}:2:3: column tags: "3" is not a string\n    2 | 2,"[""b"", 3]"\n      |   ^^^^^^^^^^^^')
