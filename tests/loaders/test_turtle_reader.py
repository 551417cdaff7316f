"""The compiled reader of Turtle, compared with pyoxigraph's parser: the same triples, and the same errors."""

from __future__ import annotations

import io
import random
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kg_reasoner.errors import LoadError
from kg_reasoner.loaders.rdf.blank import BlankScope
from kg_reasoner.loaders.rdf.bounds import DEFAULT_BOUNDS, DocumentBounds
from kg_reasoner.loaders.rdf.document_reading import Reading
from kg_reasoner.loaders.rdf.formats import N3, TRIG, TURTLE, Format
from kg_reasoner.loaders.rdf.readers.escaped_dots import DotsApart
from kg_reasoner.loaders.rdf.readers.statements import Encoder
from kg_reasoner.loaders.rdf.readers.syntax import read_parsed
from kg_reasoner.loaders.rdf.readers.turtle import read_turtle
from kg_reasoner.loaders.rdf.sources import document_of
from kg_reasoner.storage.terms.dictionary import Dictionary
from tests.helpers.effort import examples

HEADER = "@prefix : <http://example.org/> . @prefix e: <http://e.org/x#> .\n"


def read(
    data: bytes,
    window: int | None,
    base: str | None = None,
    format: Format = TURTLE,
    bounds: DocumentBounds = DEFAULT_BOUNDS,
) -> list[tuple[str, ...]] | str:
    """Return the triples in order, or the error.

    Without a window, pyoxigraph's parser alone reads. Of TriG, the graphs stand behind the triples.
    """
    document = document_of(data, format, bounds)
    assert document is not None
    dictionary = Dictionary()
    try:
        with document.open() as opened:
            if window is None:
                encoder = Encoder(dictionary, BlankScope(dictionary, opened.head), parsed=True)
                batches = list(read_parsed(opened, format, base, encoder, 1000))
            else:
                batches = list(read_turtle(opened, format, Reading(dictionary, 1000, base), window=window))
    except LoadError as error:
        return str(error)
    rows = [row for ids, graphs in batches for row in (ids if graphs is None else np.column_stack([ids, graphs])).tolist()]
    return [tuple(dictionary.text(number) if number >= 0 else "" for number in row) for row in rows]


def agree(data: bytes, base: str | None = None, format: Format = TURTLE) -> None:
    expected = read(data, None, base, format)
    for window in (48, 300, 1 << 16):
        assert read(data, window, base, format) == expected, window


NODES = [
    "<http://a.org/b>",
    ":a",
    ":a.b",
    ":1",
    ":",
    "e:x-y",
    "_:a",
    "_:b1",
    "_:a.b",
    "_:abcdef0123456789",
    "[]",
    "[ :p 1 ]",
    "(1 2)",
]
OTHERS = [
    ":a\\~b", ":a%41", "e:é", "<http://a.org/é>", "<http://a.org/%zz>", "<a>", "undeclared:a", "a", "true", "1", "<<( :a :b :c )>>",
    "trueish", '"x\ny"', "1.", "-", "1e", ":a:b", "_:x:y",
]  # fmt: skip
OBJECTS = [
    *NODES, *('"x"', '"x\\n\\"y\\\\"', '"x"@en', '"x"@en-GB', '"x"^^e:t', '"x"^^<http://a.org/t>', '"1"^^e:', '""', "''", "'x'"),
    *('"""long "text"\n. it """', "'''it's'''", '"\\u00e9"', '"é"', '"a\tb"', '"x"^^<http://www.w3.org/2001/XMLSchema#string>'),
    *("1", "-1", "+01", "1.5", ".5", "-.5e3", "1e6", "1.e6", "1E-0", "true", "false", '"x"^^:a\\~b'),
]  # fmt: skip
SPACES = [" ", "\n", "\t", "\r\n", " # a comment . \n", "  "]
DECLARATIONS = [
    "@prefix f: <http://f.org> .", "PREFIX e: <http://e2.org/>", "@base <http://base.org/> .", "BASE <http://b.org/x>",
    "@prefix : <http://c.org/> .", "@prefix g: <http://g.org:> . g:a g:b g: .", "# only a comment .",
    "@prefix é: <urn:é:> . é:a :b é:c .",
]  # fmt: skip


PROPERTIES = ["a", ":p", "e:q", "<http://a.org/p>"]


def _object(chance: random.Random, depth: int = 0) -> str:
    """Return an object, maybe with others inside it."""
    kind = chance.random()
    if depth == 4 or kind < 0.7:
        return chance.choice(OBJECTS if chance.random() < 0.98 else OTHERS)
    inside = [_object(chance, depth + 1) for _ in range(chance.randint(0, 3))]
    space = chance.choice([*SPACES, ""])
    if kind < 0.85:
        return f"({space}{chance.choice(SPACES).join(inside)}{space})"
    listed = chance.choice([";", " , ", " ; ", ";;\n"]).join(f"{chance.choice(PROPERTIES)} {value}" for value in inside)
    return f"[{space}{listed}{space}]"


def _statements(chance: random.Random) -> str:
    """Return a document of statements, most of them right."""
    parts = [HEADER]
    for _ in range(chance.randint(1, 12)):
        if chance.random() < 0.15:
            parts.append(chance.choice(DECLARATIONS) + chance.choice(SPACES))
            continue
        text = chance.choice(NODES if chance.random() < 0.97 else OTHERS)
        text = _object(chance) if chance.random() < 0.1 else text
        for number in range(chance.randint(1, 3)):
            text += chance.choice([";", " ;", "; ;"]) if number else ""
            text += chance.choice(SPACES) + chance.choice(PROPERTIES) + chance.choice(SPACES)
            some = [_object(chance) for _ in range(chance.randint(1, 3))]
            text += chance.choice([" , ", ",", " ,\n"]).join(some)
        parts.append(text + chance.choice([" .", ".", " ;.", " ; ."]) + chance.choice([*SPACES, ""]))
    return "".join(parts)


@settings(max_examples=examples(400))
@given(st.randoms(use_true_random=False))
def test_random_documents(chance: random.Random) -> None:
    agree(_statements(chance).encode(), chance.choice([None, "http://given.org/"]))


@settings(max_examples=examples(400))
@given(st.randoms(use_true_random=False), st.binary(max_size=2))
def test_broken_documents(chance: random.Random, piece: bytes) -> None:
    data = _statements(chance).encode()
    start = chance.randrange(len(data))
    agree(data[:start] + piece + data[start + chance.randint(0, 2) :])


def _graphs(chance: random.Random) -> str:
    """Return a document of TriG, most of it right."""
    parts = [HEADER]
    for _ in range(chance.randint(1, 6)):
        statements = _statements(chance).removeprefix(HEADER)
        if chance.random() < 0.3:
            parts.append(statements)
            continue
        if chance.random() < 0.8:
            statements = statements.replace("@prefix", "#").replace("@base", "#").replace("PREFIX", "#").replace("BASE", "#")
        if chance.random() < 0.3:
            statements = statements.rstrip().removesuffix(".")
        space = chance.choice([*SPACES, ""])
        name = chance.choice(["", "GRAPH ", "graph ", "Graph\n", "GRAPH"]) + chance.choice([":g", "<http://a.org/g>", "_:g", "e:g"])
        name = chance.choice(["[] ", "GRAPH ", ":a :b "]) if chance.random() < 0.05 else chance.choice([name, name, ""])
        parts.append(f"{name}{space}{{{space}{statements}{space}}}{chance.choice([*SPACES, ''])}")
    return "".join(parts)


@settings(max_examples=examples(400))
@given(st.randoms(use_true_random=False))
def test_random_graphs(chance: random.Random) -> None:
    agree(_graphs(chance).encode(), chance.choice([None, "http://given.org/"]), TRIG)


@settings(max_examples=examples(400))
@given(st.randoms(use_true_random=False), st.binary(max_size=2))
def test_broken_graphs(chance: random.Random, piece: bytes) -> None:
    data = _graphs(chance).encode()
    start = chance.randrange(len(data))
    agree(data[:start] + piece + data[start + chance.randint(0, 2) :], format=TRIG)


@pytest.mark.parametrize(
    "data",
    [
        "{ :a :b :c }", "{ :a :b :c . } :a :b :c .", ":g { :a :b 1 , 2 ; :c 3 } GRAPH :h { } { :a :b 1.}", "_:g { _:g :a _:g }",
        "graph:a graph:b graph:c .", ":g { :a :b [ :c ( 1 2 ) ] ; :d 1 } :g { :a :b 2 }", "GRAPH :a :b :c .", ":g { :a :b :c } .",
        ":g { @prefix x: <urn:x> . }", ":g { :a :b :c", ":g { :a :b :c . # }", ":g {",
        ":g { :a :b :c }}", "} :a :b :c .", ":a :b { :c :d :e } .", ":a { { } }",
        "_:g { [] :p 1 } GRAPH _:g { :a :p [] }", ":g{:a:b:c}", "GRAPH<http://a.org/g>{:a :b :c}", "grap :b { }", "( 1 ) { }",
    ],
)  # fmt: skip
def test_where_graphs_begin_and_end(data: str) -> None:
    agree(f"@prefix graph: <urn:> . {HEADER}{data}".encode(), format=TRIG)
    agree(f"{HEADER}:a :b 1 . {data}\n".encode(), format=TRIG)


@pytest.mark.parametrize("depth", [1, 2, 3])
@pytest.mark.parametrize("format", [TURTLE, TRIG], ids=lambda format: format.name)
def test_brackets_within_the_bounds(depth: int, format: Format) -> None:
    for statement in ("[] :p :q .", ":a :p [], () .", ":a :p [ :q [ ] ] .", "[ :p ( 1 [ :q 2 ] ) ] .", "( ( 1 ) ) :p ( [] ) ."):
        for text in (statement, f":g {{ {statement} }}") if format is TRIG else (statement,):
            bounds = DocumentBounds(depth=depth)
            expected = read((HEADER + text).encode(), None, format=format, bounds=bounds)
            assert read((HEADER + text).encode(), 1 << 16, format=format, bounds=bounds) == expected, text


@pytest.mark.parametrize("window", [256, 4096, 1 << 16])
@pytest.mark.parametrize("broken", [":a :p é .", ':a :p "x\ny" .', ":a :p [ :q . ] .", ":a :p"])
def test_the_line_of_an_error_in_a_stream(window: int, broken: str) -> None:
    """A stream cannot be read again: the lines are counted while it is read."""
    lines = [':a :p :b , 1 ; :q "x" .', "", "# comment .", ":a :p [ :q 1 ] .", "@prefix f: <http://f.org/> ."] * 40
    data = "\n".join([HEADER + lines[0], *lines, f" {broken}"]).encode()
    document = document_of(io.BytesIO(data), TURTLE)
    assert document is not None and not document.reopens
    dictionary = Dictionary()
    with pytest.raises(LoadError) as caught, document.open() as opened:
        list(read_turtle(opened, TURTLE, Reading(dictionary, 10), window=window))
    expected = read(data, None)
    assert isinstance(expected, str)
    line = re.search(r":(\d+):\d+|line (\d+)", expected)
    found = re.search(r"line (\d+)", str(caught.value))
    assert line is not None and found is not None
    assert found[1] == (line[1] or line[2])


def test_what_is_declared_is_passed_on_in_order() -> None:
    prefixes = {"z": "http://z.org/", "": "http://none.org/", "a": "http://a.org/", "z2": "http://z2.org/"}
    data = "".join(f"@prefix {prefix}: <{namespace}> . {prefix}:a {prefix}:b 1 .\n" for prefix, namespace in prefixes.items())
    document = document_of(data.encode() + b"@prefix z: <http://other.org/> .", TURTLE)
    assert document is not None
    for window in (64, 4096):
        found: dict[str, str] = {}
        dictionary = Dictionary()
        with document.open() as opened:
            list(read_turtle(opened, TURTLE, Reading(dictionary, 10, prefixes=found.__setitem__), window=window))
        assert list(found.items()) == list({**prefixes, "z": "http://other.org/"}.items())


ESCAPED_DOTS = r"""
:a\..                    | http://example.org/a.
:\..                     | http://example.org/.
:a\. .                   | http://example.org/a.
:a.b\..                  | http://example.org/a.b.
:a\.\..                  | http://example.org/a..
:a%20\..                 | http://example.org/a%20.
:a\..b .                 | http://example.org/a..b
:a\.. :s :p "\\..".      | http://example.org/a. "\\..
:a\..# a comment         | http://example.org/a.
"a\\..", <http://o/a>.    | "a\\.. http://o/a
""".strip().splitlines()


@pytest.mark.parametrize("line", ESCAPED_DOTS)
@pytest.mark.parametrize("chunk", [1, 2, 3, 1 << 10])
def test_escaped_dots_at_the_end_of_names(line: str, chunk: int) -> None:
    """pyoxigraph's parser leaves them out before the dot that ends the statement."""
    text, expected = (part.strip() for part in line.split("|"))
    data = f"{HEADER}:s :p {text}".encode()
    rows = read(data, 1 << 12)
    assert read(data, None, format=TURTLE) == read(data, None, format=N3) == rows
    assert [row[2].strip('<>"') for row in rows] == [value.strip('"') for value in expected.split()]
    apart, pieces = DotsApart(io.BytesIO(data)), list[bytes]()
    while piece := apart.read(chunk):
        assert len(piece) <= chunk
        pieces.append(piece)
    assert b"".join(pieces) == DotsApart(io.BytesIO(data)).read()


def test_most_of_plain_turtle_never_reaches_the_parser(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the declarations do, and the statements with something unusual."""
    from kg_reasoner.loaders.rdf import parser_share
    from kg_reasoner.loaders.rdf.readers import turtle

    parsed: list[bytes] = []
    before = turtle._Reader._parsed_part
    monkeypatch.setattr(turtle._Reader, "_parsed_part", lambda reader, data: parsed.append(data) or before(reader, data))
    plain = "".join(f':s{n} a :C ; e:p {n} , {n}.5 , -{n}e3 , true ; :q "{n}"@en , _:b{n} .\n' for n in range(5000))
    nested = "".join(f":t{n} a [ a :D ; :q [] , ( {n} [ :p :o ] '''long\n text''' ) ] .\n" for n in range(5000))
    found = read((HEADER + plain + nested + '[] :p "\\u00e9" .').encode(), 1 << 16)
    assert len(found) == 7 * 5000 + 11 * 5000 + 1
    assert sum(map(len, parsed)) < 1000 + parser_share.LEAST


def test_unusual_statements_reach_the_parser_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also the last ones in the window, which are fewer bytes than the parser wants to have."""
    from kg_reasoner.loaders.rdf.readers import turtle

    parsed: list[bytes] = []
    before = turtle._Reader._parsed_part
    monkeypatch.setattr(turtle._Reader, "_parsed_part", lambda reader, data: parsed.append(data) or before(reader, data))
    found = read((HEADER + "".join(f':s{n} :p "\\u00e9{n}", {n} .\n' for n in range(10_000))).encode(), 1 << 16)
    assert len(found) == 2 * 10_000
    assert len(parsed) < 30


def test_long_labels_that_are_not_hexadecimal_numbers_are_plain(monkeypatch: pytest.MonkeyPatch) -> None:
    from kg_reasoner.loaders.rdf.readers import turtle

    parsed: list[bytes] = []
    before = turtle._Reader._parsed_part
    monkeypatch.setattr(turtle._Reader, "_parsed_part", lambda reader, data: parsed.append(data) or before(reader, data))
    labels = ["N0123456789abcdef0123456789abcdef", "abcdef0123456789g", "abcdef0123456789A", "0abcdef0123456789"]
    others = "".join(f":s{n} a :C .\n" for n in range(1000))  # the first ones go to the parser with the declarations
    text = HEADER + others + "".join(f"_:{label} a :C .\n" for label in labels)
    assert len(read(text.encode(), 1 << 16)) == 1000 + len(labels)
    assert not any(label.encode() in data for label in labels for data in parsed)
    read((HEADER + others + "_:abcdef0123456789 a :C .\n").encode(), 1 << 16)
    assert b"_:abcdef0123456789" in parsed[-1]
