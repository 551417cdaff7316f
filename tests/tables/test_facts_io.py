"""Tables of facts: what a cell means, what a broken file is told, and that what was written is read again."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kg_reasoner.engine.facts.row_encoding import encode_rows
from kg_reasoner.errors import LoadError, OutputError
from kg_reasoner.io.fact_files import fact_files, output_relations, relations_of, table_warnings
from kg_reasoner.io.fact_writing import write_ids
from kg_reasoner.io.facts import read_facts
from kg_reasoner.language.parser import parse, parse_file
from kg_reasoner.program import Atom, Column, Declaration, Filter, Negation, Program, Rule, Variable, triple
from kg_reasoner.storage.cells.cell_texts import format_cell
from kg_reasoner.storage.cells.table_terms import cell_reader
from kg_reasoner.storage.terms.dictionary import Dictionary
from kg_reasoner.terms import IRI, XSD, BlankNode, Literal, Term, literal

X, Y = Variable("x"), Variable("y")
PREFIXES = {"ex": "http://example.org/", "xsd": str(XSD), "": "http://default.org/"}


def write_facts(file: IO[str], rows: Sequence[tuple[Term, ...]], columns: Sequence[Column], separator: str = "\t") -> int:
    """Write facts that are given as terms, as `Facts.write` does those of a reasoner."""
    dictionary = Dictionary()
    ids = encode_rows(dictionary, rows, len(columns))
    return write_ids(file, ids, dictionary, [column.type for column in columns], separator)


@pytest.mark.parametrize(
    ("type_", "cell", "term"),
    [
        ("iri", "<http://example.org/a>", IRI("http://example.org/a")),
        ("iri", "http://example.org/a", IRI("http://example.org/a")),
        ("iri", "ex:a", IRI("http://example.org/a")),
        ("string", "007", Literal("007")),
        ("string", '"quoted"', Literal('"quoted"')),
        ("string", " ", Literal(" ")),
        ("integer", "007", literal(7)),
        ("integer", "-0", literal(0)),
        ("integer", "+12", literal(12)),
        ("integer", "-" + "9" * 5000, Literal("-" + "9" * 5000, XSD.integer.value)),
        ("decimal", "7.50", Literal("7.50", XSD.decimal.value)),
        ("decimal", "7", Literal("7", XSD.decimal.value)),
        ("double", "7.5", literal(7.5)),
        ("double", "-INF", Literal("-INF", XSD.double.value)),
        ("boolean", "1", literal(True)),
        ("boolean", "false", literal(False)),
        ("boolean", "True", literal(True)),
        ("boolean", "False", literal(False)),
        ("any", "<http://example.org/a>", IRI("http://example.org/a")),
        ("any", "_:b0", BlankNode("b0")),
        ("any", '"a\\tb"', Literal("a\tb")),
        ("any", '"chat"@fr', Literal("chat", "http://www.w3.org/1999/02/22-rdf-syntax-ns#langString", "fr")),
        ("any", '"5"^^xsd:byte', Literal("5", XSD.byte.value)),
        ("any", '"5"^^:mine', Literal("5", "http://default.org/mine")),
        ("any", '"5"^^<http://www.w3.org/2001/XMLSchema#byte>', Literal("5", XSD.byte.value)),
        ("any", "7", literal(7)),
        ("any", "007", Literal("007", XSD.integer.value)),
        ("any", "-7.50", Literal("-7.50", XSD.decimal.value)),
        ("any", "7e0", Literal("7e0", XSD.double.value)),
        ("any", "7.", Literal("7.")),
        ("any", "true", Literal("true")),
        ("any", "http://example.org/a", Literal("http://example.org/a")),
        ("any", "", Literal("")),
    ],
)
def test_what_a_cell_means(type_: str, cell: str, term: Term) -> None:
    assert cell_reader(type_, PREFIXES)(cell) == term


@pytest.mark.parametrize(
    ("type_", "cell", "message"),
    [
        ("iri", "a b", "'a b' is not an absolute IRI"),
        ("iri", "", "'' is not an absolute IRI"),
        ("iri", "http://a/%zz", "'http://a/%zz' is not an absolute IRI"),
        ("iri", "<a b>", "not an RDF term"),
        ("integer", "7.0", "'7.0' is not an integer"),
        ("integer", "", "'' is not an integer"),
        ("decimal", "7e0", "'7e0' is not a decimal number"),
        ("double", "seven", "'seven' is not a double"),
        ("boolean", "TRUE", "'TRUE' is not a boolean"),
        ("any", '"open', "not an RDF term"),
        ("any", "_:", "is not a valid blank node label"),
        ("any", '"5"^^no:thing', "does not declare the prefix no:"),
    ],
)
def test_what_a_cell_cannot_be(type_: str, cell: str, message: str) -> None:
    with pytest.raises(ValueError, match=message.replace("^", r"\^")):
        cell_reader(type_, PREFIXES)(cell)


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8) | st.sampled_from(
    ["7", "-7.5", "1e3", '"', "<a>", "_:b", "a\tb", "\n", "\r"]
)
terms = st.one_of(
    st.builds(Literal, texts),
    st.integers().map(literal),
    st.floats().map(literal),
    st.decimals(allow_nan=False, allow_infinity=False, places=3).map(literal),
    st.booleans().map(literal),
    st.builds(Literal, texts, st.sampled_from([XSD.integer.value, XSD.decimal.value, XSD.double.value, "http://example.org/type"])),
    st.builds(lambda text: Literal(text, "http://www.w3.org/1999/02/22-rdf-syntax-ns#langString", "en-gb"), texts),
    st.sampled_from([IRI("http://example.org/a"), IRI("urn:x:ü"), BlankNode("b0")]),
)


@given(terms)
def test_a_written_cell_is_read_as_the_same_term(term: Term) -> None:
    assert cell_reader("any", {})(format_cell(term)) == term


@given(st.lists(st.tuples(terms, terms, terms), max_size=4, unique=True), st.sampled_from([".tsv", ".csv"]))
def test_a_written_file_is_read_as_the_same_facts(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[Term, ...]], suffix: str
) -> None:
    path = tmp_path_factory.mktemp("facts") / f"p{suffix}"
    columns = [Column("a"), Column("b"), Column("c")]
    with path.open("w", encoding="utf-8", newline="") as file:
        assert write_facts(file, rows, columns, "," if suffix == ".csv" else "\t") == len(rows)
    read = list(read_facts(path, columns))
    assert len(read) == len(rows) and set(read) == set(rows)


@pytest.mark.parametrize(
    ("type_", "term", "cell"),
    [
        ("string", Literal("7"), "7"),
        ("string", Literal('"'), '"'),
        ("any", Literal("7"), '"7"'),
        ("double", literal(7.5), "7.5E0"),
        ("boolean", literal(True), "true"),
        ("integer", Literal("a"), "a"),
        ("iri", BlankNode("b"), "_:b"),
    ],
)
def test_what_is_written(type_: str, term: Term, cell: str) -> None:
    assert format_cell(term, type_) == cell


def test_facts_are_written_in_order_of_their_cells() -> None:
    file = io.StringIO()
    write_facts(
        file, [(literal(2), Literal("b")), (literal(1), Literal("z")), (literal(1), Literal("a"))], [Column("n"), Column("s")]
    )
    assert file.getvalue() == "1\ta\n1\tz\n2\tb\n"


def test_a_tab_in_a_string_column_is_refused_in_tsv_and_kept_in_csv(tmp_path: Path) -> None:
    rows, columns = [(Literal("a\tb\n"),), (Literal("a\r"),)], [Column("s", "string")]
    with pytest.raises(OutputError, match="write CSV instead"):
        write_facts(io.StringIO(), rows, columns)
    path = tmp_path / "p.csv"
    with path.open("w", newline="") as file:
        write_facts(file, rows, columns, ",")
    assert list(read_facts(path, columns)) == rows


# ---- files


def write(path: Path, text: str) -> Path:
    path.write_bytes(text.encode())
    return path


EDGE = (Column("from", "string"), Column("to", "integer"))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("edge.tsv", "a\t1\nb\t2\n"),
        ("edge.tsv", "a\t1\r\nb\t2\r\n"),
        ("edge.tsv", "a\t1\n\nb\t2"),
        ("edge.facts", "\ufeffa\t1\nb\t2\n"),
        ("edge.csv", 'a,1\n"b",2\n'),
        ("edge.csv", '"a","1"\r\nb,2\r\n\r\n'),
    ],
)
def test_files_that_hold_the_same_two_facts(tmp_path: Path, name: str, text: str) -> None:
    assert list(read_facts(write(tmp_path / name, text), EDGE)) == [(Literal("a"), literal(1)), (Literal("b"), literal(2))]


@pytest.mark.parametrize(("ending", "compress"), [(".gz", gzip.compress), (".bz2", bz2.compress), (".xz", lzma.compress)])
def test_compressed_facts(tmp_path: Path, ending: str, compress: Callable[[bytes], bytes]) -> None:
    path = tmp_path / f"edge.tsv{ending}"
    path.write_bytes(compress(b"a\t1\n"))
    assert list(read_facts(path, EDGE)) == [(Literal("a"), literal(1))]


def test_csv_cells_may_have_commas_quotation_marks_and_line_breaks(tmp_path: Path) -> None:
    path = write(tmp_path / "p.csv", '"a,b","say ""hello""","two\nlines"\nx,,z\n')
    columns = [Column(name, "string") for name in "abc"]
    rows = [tuple(cell.lexical for cell in row if isinstance(cell, Literal)) for row in read_facts(path, columns)]
    assert rows == [("a,b", 'say "hello"', "two\nlines"), ("x", "", "z")]


def test_empty_lines_are_facts_only_of_a_single_string_column(tmp_path: Path) -> None:
    path = write(tmp_path / "p.tsv", "a\n\nb\n")
    assert list(read_facts(path, [Column("s", "string")])) == [(Literal("a"),), (Literal(""),), (Literal("b"),)]
    assert list(read_facts(path, [Column("s")])) == [(Literal("a"),), (Literal("b"),)]


def test_a_relation_without_columns_holds_or_not(tmp_path: Path) -> None:
    assert list(read_facts(write(tmp_path / "p.tsv", "()\n"), ())) == [()]
    assert list(read_facts(write(tmp_path / "q.tsv", ""), ())) == []
    with pytest.raises(LoadError, match=r"q\.tsv:1:1: a relation without columns"):
        list(read_facts(write(tmp_path / "q.tsv", "yes\n"), ()))
    file = io.StringIO()
    assert write_facts(file, [()], ()) == 1 and file.getvalue() == "()\n"


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("e.tsv", "a\t1\nb\tx\n", "e.tsv:2:3: column to: 'x' is not an integer\n    2 | b\tx\n      |  \t^"),
        ("e.tsv", "a\t1\nb\n", "e.tsv:2:2: 1 cell where the relation has 2 columns (from, to)"),
        (
            "e.tsv",
            "a\t1\t22\n",
            "e.tsv:1:5: 3 cells where the relation has 2 columns (from, to)\n    1 | a\t1\t22\n      |  \t \t^^",
        ),
        ("e.tsv", "a,1\n", "hint: the line has 2 cells as CSV: rename the file to .csv"),
        ("e.csv", "a\t1\n", "hint: the line has 2 cells as TSV: rename the file to .tsv"),
        ("e.csv", 'a,1\n"b""c",x\n', "e.csv:2:8: column to: 'x' is not an integer"),
        ("e.csv", '"a\nb",1\n"c",x\n', "e.csv:3:5: column to: 'x' is not an integer"),
        ("e.csv", 'a,1\n"b,2\nc,3\n', "e.csv:2:1: the quotation is not closed"),
        ("e.csv", '"a"b,1\n', "e.csv:1:4: a quoted cell goes on after its closing quotation mark"),
        ("e.csv", 'a"b",1\n', "e.csv:1:2: a quotation mark in a cell that is not quoted"),
    ],
)
def test_errors_in_files_give_the_position(tmp_path: Path, name: str, text: str, message: str) -> None:
    with pytest.raises(LoadError) as caught:
        list(read_facts(write(tmp_path / name, text), EDGE))
    assert message in str(caught.value)


def test_a_file_that_is_not_utf_8(tmp_path: Path) -> None:
    path = tmp_path / "e.tsv"
    path.write_bytes(b"a\t1\n\xc3\xbcb\xff\t2\n")
    with pytest.raises(LoadError, match=r"e\.tsv:2:3: byte 0xff is not UTF-8"):
        list(read_facts(path, EDGE))


def test_a_truncated_compressed_file(tmp_path: Path) -> None:
    path = tmp_path / "e.tsv.gz"
    path.write_bytes(gzip.compress(b"".join(b"%d\t1\n" % i for i in range(1000)))[:200])
    with pytest.raises(LoadError, match=r"cannot read .*e\.tsv\.gz: the gzip file is truncated"):
        list(read_facts(path, EDGE))


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(LoadError, match="does not exist"):
        list(read_facts(tmp_path / "e.tsv", EDGE))


# ---- a program's relations and their files

PATH = Program(
    rules=(
        Rule(Atom("closed", (literal(1),))),
        Rule(Atom("path", (X, Y)), (Atom("edge", (X, Y)), Negation(Atom("closed", (X,))), Filter(X))),
        Rule(triple(X, IRI("urn:p"), Y), (Atom("path", (X, Y)),)),
    ),
    declarations=(Declaration("edge", EDGE, "input"),),
)


def test_relations_are_those_declared_and_those_used() -> None:
    relations = relations_of(PATH)
    assert relations["edge"] == EDGE
    assert {name: [column.type for column in columns] for name, columns in relations.items()} == {
        "edge": ["string", "integer"],
        "path": ["any", "any"],
        "closed": ["any"],
    }


def test_outputs_are_the_declared_ones_or_all_that_is_derived() -> None:
    assert set(output_relations(PATH)) == {"path"}
    assert set(output_relations(PATH | Program(declarations=(Declaration("far", EDGE, "output"),)))) == {"far"}


def test_outputs_of_modules_are_those_that_they_declare(tmp_path: Path) -> None:
    (tmp_path / "m.dl").write_text("p(?x) :- q(?x) . r(?x) :- p(?x) .")
    own, only = tmp_path / "own.dl", tmp_path / "only.dl"
    own.write_text('import "m.dl" as m . s(?x) :- m.p(?x) .')
    only.write_text('import "m.dl" as m .')
    assert set(output_relations(parse_file(own))) == {"s"}
    assert set(output_relations(parse_file(only))) == {"m.p", "m.r"}
    (tmp_path / "m.dl").write_text("output relation r(x: any) . p(?x) :- q(?x) . r(?x) :- p(?x) .")
    assert set(output_relations(parse_file(own))) == {"m.r"}


def test_files_of_inputs_and_of_other_relations(tmp_path: Path) -> None:
    edge, closed = write(tmp_path / "edge.csv", ""), write(tmp_path / "closed.facts", "")
    write(tmp_path / "unrelated.tsv", "")
    assert fact_files(PATH, tmp_path) == {"edge": edge, "closed": closed}


def test_files_of_outputs_are_not_read(tmp_path: Path) -> None:
    write(tmp_path / "far.tsv", "")
    assert fact_files(Program(declarations=(Declaration("far", EDGE, "output"),)), tmp_path) == {}


def test_files_that_are_missing_or_twice_there(tmp_path: Path) -> None:
    assert fact_files(PATH, None) == fact_files(PATH, tmp_path) == {}
    assert list(table_warnings(PATH, None, {})) == ["no table for the input relation edge: no folder was given"]
    missing = f"no table for the input relation edge: {tmp_path} has no edge.tsv, .csv, .facts, .jsonl or .parquet"
    assert list(table_warnings(PATH, tmp_path, {})) == [missing]
    with pytest.raises(LoadError, match="is not a folder"):
        fact_files(PATH, tmp_path / "nowhere")
    write(tmp_path / "edge.csv", "")
    write(tmp_path / "edge.tsv", "")
    with pytest.raises(LoadError, match=r"more than one file for the relation edge: edge\.tsv, edge\.csv"):
        fact_files(PATH, tmp_path)


def test_probable_typing_errors_are_reported(tmp_path: Path) -> None:
    program = parse("path(?x, ?y) :- egde(?x, ?y) . far(?x) :- path(?x, ?y), NOT near(?x, ?y) . near(1, 2) .", "paths.dl")
    for name in ("edge.tsv", "patth.csv.gz", "near.tsv", "notes.txt"):
        write(tmp_path / name, "")
    assert list(table_warnings(program, tmp_path, fact_files(program, tmp_path))) == [
        f"{tmp_path}/edge.tsv is not read: the program has no relation edge, did you mean 'egde'?",
        f"{tmp_path}/patth.csv.gz is not read: the program has no relation patth, did you mean 'path'?",
        "paths.dl:1:17: the relation egde has no facts: no rule derives any, and no file contains any, did you mean 'edge'?",
    ]


def test_what_is_filled_is_not_doubted(tmp_path: Path) -> None:
    write(tmp_path / "edge.tsv", "")
    write(tmp_path / "far.tsv", "")
    program = parse(
        "input relation edge(from: any, to: any) . output relation far(x: any) . far(?x) :- edge(?x, _), [?x, ?p, ?y] ."
    )
    assert list(table_warnings(program, tmp_path, fact_files(program, tmp_path))) == []
    assert list(table_warnings(parse("p(?x) :- [?x, ?p, ?y] ."), None, {})) == []


def test_numbers_are_sorted_by_value() -> None:
    cells = [literal(10), literal(2), Literal("2.50", XSD.decimal.value), Literal("10"), Literal("NaN", XSD.double.value)]
    file = io.StringIO()
    write_facts(
        file, [(cell, literal(-1)) for cell in [*cells, literal(-3), IRI("urn:a"), Literal("b")]], (Column("a"), Column("b"))
    )
    first = [line.split("\t")[0] for line in file.getvalue().splitlines()]
    assert first == ["-3", "2", "2.50", "10", '"10"', '"NaN"^^<http://www.w3.org/2001/XMLSchema#double>', "<urn:a>", "b"]
