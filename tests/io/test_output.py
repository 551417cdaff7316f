"""Writers: what is written reads back as the same triples, and files appear whole or not at all."""

from __future__ import annotations

import csv
import gzip
import io
import itertools
import os
import stat
import string
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import rdflib
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from rdflib.compare import isomorphic

from kg_reasoner.errors import OutputError, UnknownNameError
from kg_reasoner.io import output
from kg_reasoner.io.atomic_files import write_rows
from kg_reasoner.io.output import TripleWriter, atomic_output, atomic_text, triple_writer, write_triples
from kg_reasoner.loaders.rdf.formats import N_QUADS, find_format
from kg_reasoner.loaders.rdf.readers import reader as rdf
from kg_reasoner.storage.terms.dictionary import Dictionary
from kg_reasoner.terms import IRI, RDF, XSD, BlankNode, Literal, Term, Triple, term_from_text, term_text
from tests.helpers.effort import examples

EX = "http://example.org/"
SIMPLE: list[Triple] = [
    (IRI(f"{EX}a"), IRI(f"{EX}p"), IRI(f"{EX}b")),
    (IRI(f"{EX}a"), IRI(f"{EX}q"), Literal("x\ny", RDF.langString.value, "en-gb")),
    (IRI(f"{EX}c"), RDF.type, IRI(f"{EX}C")),
]
FORMATS = ["ntriples", "nquads", "turtle", "trig", "rdfxml", "jsonld", "n3"]


def read_back(data: bytes, format: str) -> set[tuple[str, ...]]:
    dictionary = Dictionary()
    blocks = list(rdf.read(data, dictionary=dictionary, format=format))
    return {tuple(dictionary.text(number) for number in row) for block in blocks for row in block.triples.tolist()}


def texts(triples: list[Triple]) -> set[tuple[str, ...]]:
    return {tuple(map(term_text, triple)) for triple in triples}


def written(triples: list[Triple], format: str) -> bytes:
    file = io.BytesIO()
    TripleWriter(file, find_format(format), {"ex": EX, "": f"{EX}b"})(triples)
    return file.getvalue()


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of rdflib's N3 parser
@pytest.mark.parametrize("format", FORMATS)
def test_every_format_reads_back(format: str) -> None:
    data = written(SIMPLE, format)
    assert read_back(data, format) == texts(SIMPLE)
    dataset = rdflib.Dataset()
    dataset.parse(data=data, format={"ntriples": "nt", "rdfxml": "xml", "jsonld": "json-ld"}.get(format, format))
    assert len(dataset) == 3


@pytest.mark.parametrize(
    ("name", "start"),
    [
        ("x.nt", b"<http"),
        ("x.ttl", b"@prefix"),
        ("x.rdf", b"<?xml"),
        ("x.owl", b"<?xml"),
        ("x.jsonld", b"["),
        ("x.unknown", b"<http"),
        ("x", b"<http"),
    ],
)
def test_the_name_determines_the_format(tmp_path: Path, name: str, start: bytes) -> None:
    write_triples(SIMPLE, tmp_path / name, prefixes={"ex": EX})
    assert (tmp_path / name).read_bytes().startswith(start)
    write_triples(SIMPLE, tmp_path / f"{name}.gz", prefixes={"ex": EX})
    assert gzip.decompress((tmp_path / f"{name}.gz").read_bytes()) == (tmp_path / name).read_bytes()
    write_triples(SIMPLE, tmp_path / name, format="nt")
    assert (tmp_path / name).read_bytes().startswith(b"<http")


def test_compressed_output_is_the_same_each_time(tmp_path: Path) -> None:
    write_triples(SIMPLE, tmp_path / "a.nt.gz")
    write_triples(SIMPLE, tmp_path / "b.nt.gz")
    assert (tmp_path / "a.nt.gz").read_bytes() == (tmp_path / "b.nt.gz").read_bytes()


def test_unknown_formats(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'turtle'"):
        write_triples(SIMPLE, tmp_path / "x", format="turtel")
    with pytest.raises(UnknownNameError, match="unknown output format 'obo'"):
        write_triples(SIMPLE, tmp_path / "x", format="obo")
    assert list(tmp_path.iterdir()) == []


def test_triples_that_are_not_rdf_are_left_out() -> None:
    odd: list[Triple] = [
        (Literal("s"), IRI(f"{EX}p"), IRI(f"{EX}o")),
        (IRI(f"{EX}s"), BlankNode("p"), IRI(f"{EX}o")),
        (IRI(f"{EX}s"), Literal("p"), IRI(f"{EX}o")),
    ]
    for format in FORMATS:
        assert read_back(written(odd + SIMPLE, format), format) == texts(SIMPLE)
    file = io.BytesIO()
    from kg_reasoner.loaders.rdf.formats import N_TRIPLES

    assert TripleWriter(file, N_TRIPLES, {})(odd + SIMPLE) == 3


@pytest.mark.parametrize("format", FORMATS)
def test_ids_are_written_as_their_terms(format: str) -> None:
    dictionary = Dictionary()
    triples = [*SIMPLE, (Literal("s"), IRI(f"{EX}p"), IRI(f"{EX}o")), (IRI(f"{EX}s"), BlankNode("p"), IRI(f"{EX}o"))]
    ids = np.array([[dictionary.encode(term) for term in triple] for triple in triples], np.int32)
    file = io.BytesIO()
    assert TripleWriter(file, find_format(format), {}).ids(ids, dictionary) == 3
    assert read_back(file.getvalue(), format) == texts(SIMPLE)


def test_standard_output(capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    assert write_triples(SIMPLE, "-") == 3
    assert read_back(capsysbinary.readouterr().out, "nt") == texts(SIMPLE)


def test_a_closed_output_is_a_broken_pipe(monkeypatch: pytest.MonkeyPatch) -> None:
    class Gone(io.RawIOBase):
        def writable(self) -> bool:
            return True

        def write(self, data: Any) -> int:
            raise BrokenPipeError(32, "Broken pipe")

    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(Gone()))
    with pytest.raises(BrokenPipeError):
        write_triples(SIMPLE, "-")


def test_progress(tmp_path: Path) -> None:
    many = [(IRI(f"{EX}{number}"), IRI(f"{EX}p"), IRI(f"{EX}o")) for number in range(50_000)]
    for format in ("nt", "ttl", "rdfxml"):
        calls: list[tuple[str, int, int | None]] = []
        write_triples(many, tmp_path / "x", format, progress=lambda *call: calls.append(call))  # noqa: B023
        assert calls[0][0] == "write" and calls[0][1] < 50_000
        assert calls[-1] == ("write", 50_000, None)


# ---- nasty terms

_CHARACTERS = st.characters(exclude_categories=["Cs"])
_NASTY = st.text(st.one_of(st.sampled_from("\\\"'\n\r\t\b\f\0\x7f\x85\u2028\ufffe<>&]{}^@_:.# é𝄞"), _CHARACTERS), max_size=12)
_LOCALS = st.text(st.sampled_from(string.ascii_letters + string.digits + "-._~%41é/#?:@!$&'()*+,;=日𝄞"), min_size=1, max_size=8)


def _valid(iri: IRI) -> bool:
    import pyoxigraph

    try:
        pyoxigraph.NamedNode(iri.value)
    except ValueError:
        return False
    return True


iris = st.builds(lambda local: IRI(f"{EX}{local}"), _LOCALS).filter(_valid)
labels = st.from_regex(r"[A-Za-z0-9_]([A-Za-z0-9_.-]{0,6}[A-Za-z0-9_-])?", fullmatch=True)
literals = st.one_of(
    st.builds(Literal, _NASTY),
    st.builds(lambda text, tag: Literal(text, RDF.langString.value, tag), _NASTY, st.sampled_from(["en", "de-ch-1996", "x-a"])),
    st.builds(Literal, _NASTY, st.sampled_from([XSD.integer.value, XSD.boolean.value, f"{EX}type"])),
)
triples_of_iris = st.tuples(iris, iris, st.one_of(iris, literals))


def _for_xml(triple: Triple) -> bool:
    """Whether XML 1.0 can hold it: no control characters, and a property that ends in a name."""
    from kg_reasoner.io.rdfxml import _NOT_IN_XML, _has_name

    return _has_name(triple[1]) and not (isinstance(triple[2], Literal) and _NOT_IN_XML.search(triple[2].lexical))


@pytest.mark.parametrize("format", FORMATS)
def test_nasty_terms_read_back(format: str) -> None:
    @settings(max_examples=examples(60))
    @given(st.lists(triples_of_iris, max_size=6))
    @example([(IRI(f"{EX}a"), IRI(f"{EX}p"), Literal("\r\n\t \u0085\u2028&amp;]]>"))])
    @example([(IRI(f"{EX}a"), IRI(f"{EX}p"), Literal(""))])
    @example([(IRI(f"{EX}."), IRI(f"{EX}.a."), Literal("{"))])
    @example([(IRI(f"{EX}a"), IRI(f"{EX}p"), Literal("\\u0041 \\t \\\\"))])
    def check(triples: list[Triple]) -> None:
        if format == "rdfxml":
            triples = list(filter(_for_xml, triples))
        assert read_back(written(triples, format), format) == texts(triples)

    check()


@pytest.mark.filterwarnings("ignore:Parsing weird boolean")  # rdflib's view of some literals
@settings(max_examples=examples(60))
@given(st.lists(st.tuples(st.one_of(iris, labels.map(BlankNode)), iris, st.one_of(literals, labels.map(BlankNode))), max_size=6))
def test_every_form_of_a_statement_is_read_alike(triples: list[Triple]) -> None:
    """The compiled reader of N-Triples, the one of N-Quads, Turtle's parser and rdflib's terms give the same texts."""
    from kg_reasoner.loaders.convert import to_rdflib

    lines = written(triples, "ntriples")
    reference = {tuple(map(_unscoped, row)) for row in read_back(lines, "ntriples")}
    assert reference == texts(triples)
    for format in ("nquads", "turtle", "trig"):
        assert {tuple(map(_unscoped, row)) for row in read_back(lines, format)} == reference
    dictionary = Dictionary()
    rows = [tuple(map(to_rdflib, triple)) for triple in triples]
    found = {tuple(map(dictionary.text, row)) for block in rdf.read(rows, dictionary=dictionary) for row in block.triples.tolist()}
    assert found == reference


def _unscoped(text: str) -> str:
    return f"_:{text.partition('_')[2].partition('_')[2]}" if text.startswith("_:") else text


@pytest.mark.parametrize("format", ["ntriples", "turtle", "rdfxml", "jsonld"])
def test_blank_nodes_stay_apart(format: str) -> None:
    names = ["a", "A", "0", "a.b", "a-b", "_", "coded.61", "x" * 300, "b1f2_a"]
    triples: list[Triple] = [(BlankNode(name), IRI(f"{EX}p"), BlankNode(other)) for name, other in itertools.pairwise(names)]
    found = read_back(written(triples, format), format)
    assert len({subject for subject, _, _ in found}) == len(names) - 1
    following = {subject: object for subject, _, object in found}
    first = set(following) - set(following.values())
    assert len(first) == 1
    chain = [first.pop()]
    while chain[-1] in following:
        chain.append(following[chain[-1]])
    assert len(chain) == len(names)


@pytest.mark.parametrize(
    ("triple", "format", "part"),
    [
        *(
            ((IRI(f"{EX}a"), IRI(EX + name), IRI(f"{EX}b")), "rdfxml", "does not end in a name")
            for name in ("1", "x\u00aa", "x\u3400", "\U0001d4b3")
        ),
        *(
            ((IRI(f"{EX}a"), RDF[name], IRI(f"{EX}b")), "rdfxml", f"#{name}>, which is part of its syntax")
            for name in ("li", "RDF", "Description", "about", "ID", "resource", "nodeID", "datatype", "parseType", "bagID")
        ),
        ((IRI(f"{EX}a"), IRI(f"{EX}p"), Literal("\x07")), "rdfxml", "U+0007"),
        ((IRI("relative"), IRI(f"{EX}p"), Literal("a")), "turtle", "N-Triples can hold it"),
        ((IRI(f"{EX}a"), IRI(f"{EX}p"), Literal("a", "relative")), "jsonld", "N-Triples can hold it"),
    ],
)
def test_what_a_format_cannot_hold(tmp_path: Path, triple: Triple, format: str, part: str) -> None:
    path = tmp_path / "x"
    path.write_text("before")
    with pytest.raises(OutputError) as caught:
        write_triples([*SIMPLE, triple], path, format)
    assert part in str(caught.value)
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]


def test_rdfxml_keeps_the_prefix_of_its_syntax(tmp_path: Path) -> None:
    path = tmp_path / "x.rdf"
    write_triples(SIMPLE, path, "rdfxml", {"rdf": EX})
    assert read_back(path.read_bytes(), "rdfxml") == texts(SIMPLE)


@pytest.mark.parametrize("name", ["é", "x\u00aa1x", "\u00b2x", "x\u3400y-1", "\U0001d4b3a", "a\U0001d4b3-.1b"])
@pytest.mark.parametrize("prefix", ["é", "\U0001d4b3", "\u3400"])
def test_rdfxml_has_names_that_every_parser_of_xml_knows(tmp_path: Path, name: str, prefix: str) -> None:
    triples: list[Triple] = [(IRI(f"{EX}a"), IRI(EX + name), IRI(f"{EX}b")), (IRI(f"{EX}a"), IRI(f"{EX}p"), IRI(f"{EX}b"))]
    path = tmp_path / "x.rdf"
    write_triples(triples, path, "rdfxml", {prefix: EX})
    assert read_back(path.read_bytes(), "rdfxml") == texts(triples)
    assert len(rdflib.Graph().parse(path, format="xml")) == 2


@pytest.mark.parametrize("prefixes", [{"a b": EX}, {"x": "no iri at all"}])
def test_invalid_prefixes(tmp_path: Path, prefixes: dict[str, str]) -> None:
    for format in ("turtle", "rdfxml"):
        if format == "rdfxml" and "x" in prefixes:
            continue
        with pytest.raises(OutputError):
            write_triples(SIMPLE, tmp_path / "x", format, prefixes)


# ---- triples as ids, in blocks of any size

NODES = st.one_of(iris, st.sampled_from(["a", "b", "a.b", "é", "coded.61", "x-", "long" * 20]).map(BlankNode))
PREFIXED = st.sampled_from("ab-_1").map(lambda name: IRI(f"{EX}ns#{name}"))
GRAPHS_OF_NODES = st.lists(
    st.tuples(st.one_of(NODES, PREFIXED), st.one_of(iris, PREFIXED, st.just(RDF.type)), st.one_of(NODES, literals, PREFIXED)),
    max_size=8,
)


def as_ids(triples: list[Triple]) -> tuple[Any, Dictionary]:
    dictionary = Dictionary()
    dictionary.encode(IRI("urn:first"))
    return np.array([[dictionary.encode(term) for term in triple] for triple in triples], np.int32).reshape(-1, 3), dictionary


@pytest.mark.filterwarnings("ignore:Parsing weird boolean")
@pytest.mark.parametrize("buffer", [1, 40, 200, 1 << 16])
@settings(max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(GRAPHS_OF_NODES)
def test_blocks_of_any_size_say_the_same(monkeypatch: pytest.MonkeyPatch, buffer: int, triples: list[Triple]) -> None:
    """The lines are those of the terms, and the Turtle is the same graph, whatever fits in the buffer."""
    from kg_reasoner.storage.writers import writing

    monkeypatch.setattr(writing, "_ROWS", 3)
    monkeypatch.setattr(writing.TextWriter.__init__, "__defaults__", (buffer,))
    monkeypatch.setattr(writing.short_texts, "__defaults__", (buffer,))
    ids, dictionary = as_ids(triples)
    assert by_ids(ids, dictionary, "ntriples") == written(triples, "ntriples")
    turtle = by_ids(ids, dictionary, "turtle", rows=2)
    assert isomorphic(rdflib.Graph().parse(data=turtle, format="turtle"), rdflib.Graph().parse(data=written(triples, "ntriples")))
    quads = io.BytesIO()
    parts = [(ids[:2], "", dictionary), (ids[2:], "_:é", dictionary)]
    assert TripleWriter(quads, N_QUADS, {}).quads(parts) == len(triples)
    lines = written(triples, "ntriples").decode().split("\n")[:-1]
    assert quads.getvalue().decode().split("\n")[:-1] == [*lines[:2], *(f"{line[:-1]}_:coded.c3a9 ." for line in lines[2:])]


def by_ids(ids: Any, dictionary: Dictionary, format: str, rows: int | None = None) -> bytes:
    from kg_reasoner.io.readable_turtle import turtle_blocks

    if rows is not None:
        return b"".join(
            bytes(block) for block, _ in turtle_blocks(ids, dictionary, {"ns": f"{EX}ns#", "very-long-prefix": "u:/"}, rows)
        )
    file = io.BytesIO()
    assert TripleWriter(file, find_format(format), {}).ids(ids, dictionary) == len(ids)
    return file.getvalue()


@pytest.mark.parametrize("first", [IRI("urn:a"), BlankNode("b")])
@pytest.mark.parametrize("threads", [1, 2])
def test_turtle_does_not_begin_with_an_empty_line(first: Term, threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    from kg_reasoner.io import readable_turtle

    monkeypatch.setattr(readable_turtle, "ROWS_TOGETHER", 1)
    ids, dictionary = as_ids([(first, IRI("urn:p"), IRI("urn:c")), (IRI("urn:x"), IRI("urn:p"), first)])
    texts = []
    for prefixes in ({}, {"u": "urn:"}):
        file = io.BytesIO()
        TripleWriter(file, find_format("turtle"), prefixes, threads=threads).ids(ids, dictionary)
        texts.append(file.getvalue().decode())
    assert texts[0].startswith("<urn:") and ("\n\n<urn:x>" in texts[0]) == isinstance(first, IRI)
    assert texts[1].startswith("@prefix u: <urn:> .\n\nu:")


@pytest.mark.parametrize("format", ["nquads", "trig", "jsonld", "ntriples", "turtle"])
def test_named_graphs_of_several_dictionaries(format: str) -> None:
    """Named graphs are kept where the syntax has them; else each triple is written once."""
    file = io.BytesIO()
    parts = [(as_ids(SIMPLE)[0], f"<{EX}g>", as_ids(SIMPLE)[1]), (as_ids(SIMPLE[::-1])[0], "", as_ids(SIMPLE[::-1])[1])]
    odd = as_ids([(Literal("s"), IRI(f"{EX}p"), IRI(f"{EX}o"))])
    has_graphs = find_format(format).graphs
    assert TripleWriter(file, find_format(format), {}).quads([*parts, (odd[0], "", odd[1])]) == (6 if has_graphs else 3)
    dictionary = Dictionary()
    blocks = list(rdf.read(file.getvalue(), dictionary=dictionary, format=format))
    rows = {tuple(map(dictionary.text, row)) for block in blocks for row in block.triples.tolist()}
    assert rows == texts(SIMPLE)
    names = [number for block in blocks if block.graphs is not None for number in block.graphs.tolist()]
    assert [dictionary.text(number) for number in names if number >= 0] == ([f"<{EX}g>"] * 3 if has_graphs else [])


def test_what_a_format_cannot_hold_is_named_by_ids_too() -> None:
    ids, dictionary = as_ids([*SIMPLE * 5000, (IRI(f"{EX}a"), IRI(f"{EX}p"), Literal("a", "relative"))])
    with pytest.raises(
        OutputError, match=r'cannot write <http://example.org/a> .* "a"\^\^<relative> as jsonld.*N-Triples can hold it'
    ):
        TripleWriter(io.BytesIO(), find_format("jsonld"), {}).ids(ids, dictionary)


# ---- files that appear whole or not at all


def _failing() -> Iterator[Triple]:
    yield from SIMPLE * 20_000
    raise KeyError("in the middle")


@pytest.mark.parametrize("name", ["x.nt", "x.nt.gz", "x.ttl", "x.rdf"])
@pytest.mark.parametrize("there_before", [False, True])
@pytest.mark.sample(3)
def test_an_error_in_the_middle_leaves_no_trace(tmp_path: Path, name: str, there_before: bool) -> None:
    path = tmp_path / name
    if there_before:
        path.write_text("before")
    with pytest.raises(KeyError):
        write_triples(_failing(), path)
    assert [entry.name for entry in tmp_path.iterdir()] == ([name] if there_before else [])
    if there_before:
        assert path.read_text() == "before"


def test_the_old_file_stands_until_the_new_one_is_complete(tmp_path: Path) -> None:
    path = tmp_path / "x.nt"
    path.write_text("before")
    path.chmod(0o640)
    with triple_writer(path) as write:
        write(SIMPLE)
        assert path.read_text() == "before"
        write(SIMPLE)
    assert path.read_bytes().count(b"\n") == 6
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_an_interrupt_while_the_new_file_is_created_leaves_no_trace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from kg_reasoner.io import atomic_files

    class Interrupted(atomic_files._File):
        def __init__(self, *arguments: Any) -> None:
            super().__init__(*arguments)
            raise KeyboardInterrupt

    monkeypatch.setattr(atomic_files, "_File", Interrupted)
    with pytest.raises(KeyboardInterrupt), atomic_output(tmp_path / "x.nt"):
        pass
    assert [*tmp_path.iterdir()] == []


def test_a_new_file_has_the_usual_permissions(tmp_path: Path) -> None:
    write_triples(SIMPLE, tmp_path / "x.nt")
    (tmp_path / "y").touch()
    assert (tmp_path / "x.nt").stat().st_mode == (tmp_path / "y").stat().st_mode


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real.nt").write_text("before")
    (tmp_path / "link.nt").symlink_to("real.nt")
    write_triples(SIMPLE, tmp_path / "link.nt")
    assert (tmp_path / "link.nt").is_symlink()
    assert read_back((tmp_path / "real.nt").read_bytes(), "nt") == texts(SIMPLE)


def test_devices_and_pipes_are_written_in_place(tmp_path: Path) -> None:
    import threading

    assert write_triples(SIMPLE, "/dev/null") == 3
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    got: list[bytes] = []
    reader = threading.Thread(target=lambda: got.append(pipe.read_bytes()))
    reader.start()
    write_triples(SIMPLE, pipe)
    reader.join()
    assert read_back(got[0], "nt") == texts(SIMPLE)


def test_a_full_disk(tmp_path: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("this system has no /dev/full")
    with pytest.raises(OutputError, match="No space left"):
        write_triples(SIMPLE * 1000, "/dev/full")
    with pytest.raises(OutputError, match="No space left"):
        write_triples(SIMPLE * 100_000, "/dev/full")


def test_a_disk_that_fills_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from kg_reasoner.io import atomic_files

    path = tmp_path / "x.nt.gz"
    path.write_text("before")
    whole = atomic_files._File.write

    def write(self: atomic_files._File, data: Any) -> int:
        if not self._given_up:
            with atomic_files._reported(path):
                raise OSError(28, "No space left on device")
        return whole(self, data)

    monkeypatch.setattr(atomic_files._File, "write", write)
    with pytest.raises(OutputError, match=r"No space left on device; the previous content is unchanged"):
        write_triples(SIMPLE, path)
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]


def test_places_where_nothing_can_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(OutputError, match="is a folder"):
        write_triples(SIMPLE, tmp_path)
    with pytest.raises(OutputError, match="its folder does not exist; create it first"):
        write_triples(SIMPLE, tmp_path / "no" / "x.nt")
    (tmp_path / "file").touch()
    with pytest.raises(OutputError, match=r"cannot write .*file/x\.nt"):
        write_triples(SIMPLE, tmp_path / "file" / "x.nt")
    monkeypatch.setattr(os, "access", lambda *_: False)  # root may write everything
    with pytest.raises(OutputError, match="write-protected"):
        write_triples(SIMPLE, tmp_path / "file")


def test_an_unwritable_place_is_found_before_the_work(tmp_path: Path) -> None:
    worked = False
    with pytest.raises(OutputError), triple_writer(tmp_path / "no" / "x.nt"):
        worked = True
    assert not worked


def test_a_directory_that_may_not_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> int:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(OutputError, match="Permission denied"):
        write_triples(SIMPLE, tmp_path / "x.nt")


def test_errors_of_the_body_are_not_taken_for_errors_of_the_file(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError), atomic_output(tmp_path / "x") as file:
        file.write(b"a")
        (tmp_path / "another").read_bytes()
    assert list(tmp_path.iterdir()) == []


# ---- tables

ROWS = [["a", "b"], ["x, y", 'say "hi"'], ["", "line\nbreak"], ["tab\there", "\r"], [""]]


def test_csv_reads_back(tmp_path: Path) -> None:
    with atomic_text(tmp_path / "x.csv") as file:
        write_rows(file, ROWS, ",")
    with (tmp_path / "x.csv").open(newline="") as file:
        assert list(csv.reader(file)) == ROWS


def test_tsv(tmp_path: Path) -> None:
    path = tmp_path / "x.tsv.gz"
    with atomic_text(path) as file:
        write_rows(file, ROWS[:2])
    assert gzip.decompress(path.read_bytes()).decode() == 'a\tb\nx, y\tsay "hi"\n'
    for row in ROWS[2:4]:
        with pytest.raises(OutputError, match="which has a tab or a line break"), atomic_text(tmp_path / "y.tsv") as file:
            write_rows(file, [["a", "b"], row])
    assert not (tmp_path / "y.tsv").exists()


def test_text_files_keep_their_line_breaks(tmp_path: Path) -> None:
    with atomic_text(tmp_path / "x") as file:
        file.write("ä\r\nb\n")
    assert (tmp_path / "x").read_bytes() == "ä\r\nb\n".encode()


def test_the_names_that_the_command_line_uses() -> None:
    assert {"atomic_output", "atomic_text", "triple_writer", "write_triples"} <= set(output.__all__)


def test_terms_and_texts_agree() -> None:
    terms: list[Term] = [IRI(EX), BlankNode("x"), Literal('a\\"\n\r\t'), Literal("a", RDF.langString.value, "en")]
    assert [term_from_text(term_text(term)) for term in terms] == terms
