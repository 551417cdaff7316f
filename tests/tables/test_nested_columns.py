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
from kg_reasoner.expressions.structures import Structure, decode, encode
from kg_reasoner.expressions.types import Types
from kg_reasoner.language.parser import parse
from kg_reasoner.language.printer import format_term
from kg_reasoner.storage.cells.cell_texts import format_cell
from kg_reasoner.storage.cells.table_terms import Vocabulary, cell_reader
from kg_reasoner.terms import IRI, XSD, Literal, Term, literal
from tests.helpers.effort import examples
from tests.helpers.extras import needed

TYPES = """
type Colour = "red" | "7" .
type Shape = Dot() | Circle(radius: integer, colour: Colour) | Path(points: Points) .
type Point = Point(x: integer, y: optional<string>) .
type Points = list<Point> .
type Tree = Leaf() | Node(left: Tree, label: any, right: Tree) .
"""
NAMES = Vocabulary({"ex": "http://example.org/"}, Types(parse(TYPES).types))

NODE = 'RECORD("Node", RECORD("Leaf"), LIST(1), RECORD("Leaf"))'
FORMS = '"Dot" or {"Circle": {"radius": ..., "colour": ...}} or {"Path": {"points": ...}}'

CELLS = """
Shape                    | Dot                   | RECORD("Dot")
Shape                    | {"Circle": {"radius": 3, "colour": "red"}} | RECORD("Circle", 3, "red")
Shape                    | {"Circle": {"colour": "7", "radius": 3}} | RECORD("Circle", 3, "7")
Shape                    | {"Path": {"points": [{"x": 1, "y": null}]}} | RECORD("Path", LIST(RECORD("Point", 1, RECORD("None"))))
Shape                    | "Dot "^^<urn:kg-reasoner:record> | RECORD("Dot")
Point                    | {"x": 1, "y": "a"}   | RECORD("Point", 1, RECORD("Some", "a"))
Point                    | {"Point": {"x": 1, "y": "a"}} | RECORD("Point", 1, RECORD("Some", "a"))
Points                   | []                    | LIST()
Colour                   | 7                     | "7"
Colour                   | "7"                   | "7"
list<Colour>             | ["7", 7]              | LIST("7", "7")
optional<Shape>          |                       | RECORD("None")
optional<Shape>          | Dot                   | RECORD("Some", RECORD("Dot"))
map<string, Shape>       | {"a": "Dot"}          | MAP("a", RECORD("Dot"))
Tree                     | {"Node": {"left": "Leaf", "label": [1], "right": "Leaf"}} | NODE
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
Colour                   | blue                  | 'blue' is not a value of Colour: red, "7"
Shape                    | x                     | 'x' is not a value of Shape, which is written FORMS
Shape                    | {"Circle": {"radius": 1}} | an object with radius does not have the fields of Circle: radius, colour
Shape                    | {"Circle": {"radius": "a", "colour": "red"}} | 'a' is not an integer
Shape                    | {"Square": {}}        | an object with Square is not a value of Shape, which is written FORMS
Point                    | [1]                   | an array is not a value of Point, which is written {"x": ..., "y": ...}
Point                    | {}                    | an empty object does not have the fields of Point: x, y
list<Shape>              | ["Circle"]            | 'Circle' is not a value of Shape, which is written FORMS
Shape                    | "1:x"^^<urn:kg-reasoner:list> | '"1:x"^^<urn:kg-reasoner:list>' is not a Shape
list<string>             | x                     | 'x' is not a list<string>, which is written in JSON: [...]
map<string, integer>     | x                     | 'x' is not a map<string, integer>, which is written in JSON: {"key": ...}
list<string>             | ["\\ud800"]            | '["\\\\ud800"]' has half of a surrogate pair, which is not a character
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
    assert format_term(cell_reader(type_, NAMES)(cell)) == expected.replace("NODE", NODE)


@pytest.mark.parametrize(("type_", "cell", "message"), rows(WRONG))
def test_wrong_cells(type_: str, cell: str, message: str) -> None:
    with pytest.raises(ValueError) as caught:
        cell_reader(type_, NAMES)(cell)
    assert str(caught.value) == message.replace("FORMS", FORMS)


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
    "Colour": st.sampled_from(["red", "7"]).map(literal),
    "Shape": st.one_of(
        st.just(encode("record", [], "Dot")),
        st.integers(0, 3).map(lambda radius: encode("record", [literal(radius), literal("7")], "Circle")),
    ),
    "Point": st.sampled_from(["", "a", "Dot", '"'])
    .map(lambda text: encode("record", [literal(text)], "Some"))
    .map(lambda some: encode("record", [literal(1), some], "Point")),
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
    assert cell_reader(type_, NAMES)(format_cell(term, type_, NAMES.types)) == term


@settings(max_examples=examples(200), deadline=None)
@given(data=st.data(), found=of_type(DEEPEST))
@pytest.mark.parametrize("format", ["csv", "jsonl", "arrow", "parquet"])
def test_tables_read_back(
    data: st.DataObject, found: tuple[str, st.SearchStrategy[Term]], format: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    needed("pyarrow")
    type_, terms = found
    program = f"{TYPES} input relation r(number: integer, value: {type_}) ."
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


def test_records_in_tables(tmp_path: Path) -> None:
    """As people read them; a wrong one has a place."""
    reasoner = Reasoner(TYPES + 'relation s(v: Shape) . s(Dot()) . s(Circle(3, "red")) .')
    reasoner.facts("s").write(tmp_path / "s.tsv", header=True)
    assert (tmp_path / "s.tsv").read_text() == 'v\nDot\n{"Circle": {"radius": 3, "colour": "red"}}\n'
    path = tmp_path / "s.csv"
    path.write_text('v\nDot\n"{""Circle"": {""radius"": 3}}"\n')
    with pytest.raises(LoadError) as caught:
        reasoner.add_table("s", path, header=True)
    message = "column v: an object with radius does not have the fields of Circle: radius, colour"
    assert str(caught.value).splitlines()[:2] == [f"{path}:3:1: {message}", '    3 | "{""Circle"": {""radius"": 3}}"']


def test_missing_values_in_data_frames() -> None:
    """Integers stay integers: as floats, large ones would be others."""
    pandas = needed("pandas")
    needed("pyarrow")
    program = "relation r(id: integer, size: optional<integer>, ok: optional<boolean>, name: optional<string>) ."
    large = (1 << 53) + 1
    reasoner = Reasoner(f'{program} r(1, Some({large}), None(), Some("a")) . r(2, None(), Some(true), None()) .')
    frame = reasoner.facts("r").to_pandas().sort_values("id")
    assert [frame[name].dtype.name for name in ("id", "size", "ok")] == ["int64", "Int64", "boolean"]
    assert frame["size"].tolist() == [large, pandas.NA] and frame["ok"].tolist() == [pandas.NA, True]
    again = Reasoner(program)
    again.add_table("r", frame)
    assert set(again.facts("r")) == set(reasoner.facts("r"))


@pytest.mark.parametrize(
    ("type_", "numbers", "expected"),
    [
        ("decimal", "0.1 -12.50 7 0.0 1e-9 1e2", "-12.5 0 0.000000001 0.1 100 7"),
        ("decimal", "0.12345678901234567890123456789", "0.12345678901234567890123456789"),
        ("integer", "18446744073709551616 -1 1.0", "-1 1 18446744073709551616"),
        ("signed<80>", "18446744073709551616", "18446744073709551616"),
        ("double", "18446744073709551616 0.1", "1.0E-1 1.8446744073709552E19"),
        ("integer", "7 1.5", "row 2: column x: '1.5' is not an integer"),
        ("decimal", "1e300", "row 1: column x: '1.0E300' is not a decimal number"),
    ],
)
@pytest.mark.parametrize("form", ["{}", "optional<{}>"])
def test_numbers_in_json_lines(form: str, type_: str, numbers: str, expected: str, tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    path.write_text("".join(f'{{"x": {number}}}\n' for number in numbers.split()))
    reasoner = Reasoner(f"input relation r(x: {form.format(type_)}) .")
    try:
        reasoner.add_table("r", path)
    except LoadError as error:
        assert str(error) == f"{path}, {expected}"
    else:
        terms = [(decode(term) or Structure("tuple", (term,))).members[0] for (term,) in reasoner.facts("r")]
        assert sorted(term.lexical for term in terms if isinstance(term, Literal)) == expected.split()


def test_texts_that_look_like_dates_in_json_lines(tmp_path: Path) -> None:
    """Arrow takes them for points in time."""
    path = tmp_path / "r.jsonl"
    path.write_text('{"a": "2026-01-02", "b": "2026-01-02", "c": ["2026-01-02"], "d": "2026-01-02T03:04:05Z"}\n')
    untyped = Reasoner()
    untyped.add_table("r", path, columns=["b", "d"])
    assert set(untyped.facts("r")) == {(literal("2026-01-02"), literal("2026-01-02T03:04:05Z"))}
    reasoner = Reasoner(
        "input relation r(a: string, b: date, c: list<string>, d: dateTime) . q(?x, ?y) :- r(?a, ?x, ?c, ?d), ?y IN ?c ."
    )
    reasoner.add_table("r", path)
    ((text, date, _, moment),) = reasoner.facts("r")
    assert [str(term) for term in (text, date, moment)] == [
        '"2026-01-02"',
        '"2026-01-02"^^<http://www.w3.org/2001/XMLSchema#date>',
        '"2026-01-02T03:04:05Z"^^<http://www.w3.org/2001/XMLSchema#dateTime>',
    ]
    assert set(reasoner.facts("q")) == {(date, text)}
