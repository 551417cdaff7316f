"""The RDF loader: every syntax and every kind of source gives the same triples; what is wrong is reported with its place."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import re
import sys
from collections.abc import Iterator
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import rdflib
from rdflib.compare import isomorphic

from kg_reasoner.errors import LoadError, UnknownNameError
from kg_reasoner.loaders.convert import from_rdflib, text_from_term, to_rdflib
from kg_reasoner.loaders.rdf.formats import FORMATS
from kg_reasoner.loaders.rdf.readers import reader as rdf
from kg_reasoner.storage.terms.dictionary import Dictionary
from kg_reasoner.terms import IRI, RDF, XSD, BlankNode, Literal, term_from_text
from tests.helpers.suites import SUITES, why_missing

# ---- one small graph in every syntax

TURTLE = """
@prefix : <http://example.org/> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
:ann :knows _:b ; :age "042"^^xsd:integer ; :says "say \\"hi\\"\\n\\tthere\\u0007", "chat"@FR , "plain" .
_:b a :Person ; :likes ( :tea [ :brand "x" ] ) .
"""

NTRIPLES = """\
# the same, written by hand
<http://example.org/ann> <http://example.org/knows> _:b .

<http://example.org/ann> <http://example.org/age> "042"^^<http://www.w3.org/2001/XMLSchema#integer> .
<http://example.org/ann>  <http://example.org/says>\t"say \\"hi\\"\\n\\tthere\\u0007" .
<http://example.org/ann><http://example.org/says>"chat"@FR.# no blanks at all
<http://example.org/ann> <http://example.org/says> "pl\\u0061in"^^<http://www.w3.org/2001/XMLSchema#string> .
_:b <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://example.org/Person> .
_:b <http://example.org/likes> _:list-1 .
_:list-1 <http://www.w3.org/1999/02/22-rdf-syntax-ns#first> <http://example.org/tea> .
_:list-1 <http://www.w3.org/1999/02/22-rdf-syntax-ns#rest> _:list.2 .
_:list.2 <http://www.w3.org/1999/02/22-rdf-syntax-ns#first> _:c .
_:list.2 <http://www.w3.org/1999/02/22-rdf-syntax-ns#rest> <http://www.w3.org/1999/02/22-rdf-syntax-ns#nil> .
_:c <http://example.org/brand> "x" ."""

RDF_XML = """<?xml version="1.0" encoding="UTF-8"?>
<!-- a comment > with a bracket -->
<!DOCTYPE rdf:RDF [ <!ENTITY ex 'http://example.org/'> <!-- another one --> ]>
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://example.org/" xmlns:ex="http://example.org/">
  <rdf:Description rdf:about="&ex;ann">
    <knows rdf:nodeID="b"/>
    <age rdf:datatype="http://www.w3.org/2001/XMLSchema#integer">042</age>
    <says>say <![CDATA["hi"]]>
\tthere</says>
    <says xml:lang="FR">ch<!-- in the middle -->at</says>
    <says>plain</says>
  </rdf:Description>
  <Person rdf:nodeID="b">
    <likes rdf:parseType="Collection">
      <rdf:Description rdf:about="&ex;tea"/>
      <rdf:Description ex:brand="x"/>
    </likes>
  </Person>
</rdf:RDF>
"""

JSON_LD = """{
  "@context": {"@vocab": "http://example.org/", "knows": {"@type": "@id"}, "ignored": null},
  "@id": "http://example.org/ann",
  "knows": "_:b",
  "ignored": "no triple",
  "age": {"@value": "042", "@type": "http://www.w3.org/2001/XMLSchema#integer"},
  "says": ["say \\"hi\\"\\n\\tthere\\u0007", {"@value": "chat", "@language": "FR"}, "plain"],
  "@included": [{
    "@id": "_:b", "@type": "Person",
    "likes": {"@list": [{"@id": "http://example.org/tea"}, {"brand": "x"}]}
  }]
}"""

SYNTAXES = {
    "ttl": TURTLE,
    "trig": TURTLE,
    "nt": NTRIPLES,
    "nq": NTRIPLES,
    "rdf": RDF_XML,
    "jsonld": JSON_LD,
    "n3": TURTLE,
}


def blocks(*sources: Any, dictionary: Dictionary | None = None, **options: Any) -> list[rdf.Block]:
    return list(rdf.read(*sources, dictionary=Dictionary() if dictionary is None else dictionary, **options))


def triples(*sources: Any, **options: Any) -> set[tuple[str, str, str]]:
    """The triples of some sources, as the dictionary's texts."""
    dictionary = options.setdefault("dictionary", Dictionary())
    found = set()
    for block in blocks(*sources, **options):
        assert block.triples.dtype == np.int32
        for row in block.triples.tolist():
            subject, predicate, object = (dictionary.text(number) for number in row)
            found.add((subject, predicate, object))
    return found


def as_graph(found: set[tuple[str, str, str]]) -> rdflib.Graph:
    graph = rdflib.Graph()
    for triple in found:
        graph.add(tuple(to_rdflib(term_from_text(text)) for text in triple))  # type: ignore[arg-type]
    return graph


def expected_graph(syntax: str) -> rdflib.Graph:
    """The graph as rdflib reads its Turtle; XML 1.0 cannot say the control character."""
    graph = rdflib.Graph()
    normalise, rdflib.NORMALIZE_LITERALS = rdflib.NORMALIZE_LITERALS, False
    try:
        graph.parse(data=TURTLE.replace("\\u0007", "") if syntax == "rdf" else TURTLE, format="turtle")
    finally:
        rdflib.NORMALIZE_LITERALS = normalise
    assert len(graph) == 12
    lower = rdflib.Graph()
    for triple in graph:
        lower.add(tuple(to_rdflib(from_rdflib(term)) for term in triple))  # type: ignore[arg-type]
    return lower


def message_of(*sources: Any, **options: Any) -> str:
    with pytest.raises(LoadError) as caught:
        blocks(*sources, **options)
    return str(caught.value)


@pytest.mark.parametrize("syntax", SYNTAXES)
@pytest.mark.parametrize("compressed", [False, True], ids=["plain", "gzip"])
def test_every_syntax_gives_the_same_graph(tmp_path: Path, syntax: str, compressed: bool) -> None:
    data = SYNTAXES[syntax].encode()
    path = tmp_path / (f"data.{syntax}.gz" if compressed else f"data.{syntax}")
    path.write_bytes(gzip.compress(data) if compressed else data)
    found = triples(path)
    assert isomorphic(as_graph(found), expected_graph(syntax))
    control = "" if syntax == "rdf" else "\x07"
    assert ("<http://example.org/ann>", "<http://example.org/says>", f'"say \\"hi\\"\\n\tthere{control}"') in found
    assert ("<http://example.org/ann>", "<http://example.org/says>", '"chat"@fr') in found


@pytest.mark.parametrize("syntax", SYNTAXES)
def test_the_content_determines_the_syntax(tmp_path: Path, syntax: str) -> None:
    (tmp_path / "data").write_text(SYNTAXES[syntax])
    assert isomorphic(as_graph(triples(tmp_path / "data")), expected_graph(syntax))


@pytest.mark.parametrize("name", ["turtle", "ttl", ".ttl", "text/turtle; charset=utf-8", "TURTLE"])
def test_a_format_has_many_names(name: str) -> None:
    assert len(triples(b"<http://a> <http://b> <http://c> .", format=name)) == 1


def test_an_unknown_format_is_refused_with_similar_names() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'turtle'"):
        rdf.read(b"", dictionary=Dictionary(), format="turtel")


# ---- telling the syntax


@pytest.mark.parametrize(
    ("text", "format"),
    [
        ("<http://a> <http://b> <http://c> .\n", "ntriples"),
        ('# c\n\n_:a <http://b> "x"@en . # c\n', "ntriples"),
        ('<http://a> <http://b> <http://c> .\n<http://a> <http://b> "x" <http://g> .\n', "nquads"),
        ("<a> <b> <c> , <d> .\n", "turtle"),
        ("PREFIX x: <http://x/>\nx:a x:b x:c .", "turtle"),
        ("@base <http://x/> . <a> <b> '''a {\nb''' .", "turtle"),
        ('x:a x:b "{" . # {\n', "turtle"),
        ("[] a <http://x/C> .", "turtle"),
        ("@prefix x: <http://x/> . x:g { x:a x:b x:c }", "trig"),
        ("{ <http://a> <http://b> <http://c> }\n<http://g> { }", None),
        ("{ ?x <http://b> '}' }\n=> { <http://a> <http://b> ?x } .", "n3"),
        ("@prefix x: <http://x/> . { ?a x:b ?c } => { ?c x:b ?a } .", "n3"),
        ("<?xml version='1.0'?><rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'/>", "rdfxml"),
        ("<x:T xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#' xmlns:x='http://x/' rdf:about='http://a'/>", "rdfxml"),
        ("<!DOCTYPE Ontology []>\n<Ontology xmlns='http://www.w3.org/2002/07/owl#'/>", "owlxml"),
        ("<owl:Ontology\n  xmlns:owl='http://www.w3.org/2002/07/owl#'/>", "owlxml"),
        ('{"@id": "http://a"}', "jsonld"),
        ('[ {"@id": "http://a"} ]', "jsonld"),
        ("# a comment\nOntology(<http://x> )", "functional"),
        ("Prefix(:=<http://x#>)\nOntology()", "functional"),
        ("Prefix: x: <http://x>\n", "manchester"),
        ("format-version: 1.2\n", "obo"),
        ("<html><body/></html>", None),
        ("<!DOCTYPE html><html xmlns='http://www.w3.org/1999/xhtml'/>", None),
        ("<note xmlns='http://x/'><to>you</to></note>", None),
        ("Dear reader,\nthis is a letter.", None),
        ("a,b,c\n1,2,3\n", None),
    ],
)
def test_sniffing(text: str, format: str | None) -> None:
    from kg_reasoner.loaders.rdf.sniff import sniff

    if format is None:
        with pytest.raises(LoadError, match="letter"):
            sniff(text.encode(), "the letter")
    else:
        assert sniff(text.encode(), "x").name == format
        assert sniff(b"\xef\xbb\xbf" + text.encode(), "x").name == format


@pytest.mark.parametrize("name", ["a.rdf", "a.owl"])
def test_turtle_in_a_file_named_as_rdf_xml(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text(TURTLE)
    assert len(triples(tmp_path / name)) == 12


# ---- sources


def test_a_directory_is_searched_in_order(tmp_path: Path) -> None:
    (tmp_path / "deep" / "er").mkdir(parents=True)
    (tmp_path / ".git").mkdir()
    line = "<http://example.org/{}> <http://example.org/p> 1 .\n"
    (tmp_path / "b.ttl").write_text(line.format("b"))
    (tmp_path / "deep" / "er" / "a.ttl.gz").write_bytes(gzip.compress(line.format("deep").encode()))
    (tmp_path / "a.owl").write_text("@prefix x: <http://x/> ." + line.format("owl"))
    (tmp_path / "notes.txt").write_text("no RDF")
    (tmp_path / "data.csv").write_text("1,2")
    (tmp_path / ".git" / "c.ttl").write_text(line.format("hidden"))
    found = blocks(tmp_path)
    assert [Path(block.source).name for block in found] == ["a.owl", "b.ttl", "a.ttl.gz"]


def test_a_directory_without_rdf_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("no RDF")
    assert "no RDF file in the folder" in message_of(tmp_path)


class _Stdin(io.TextIOWrapper):
    def __init__(self, data: bytes) -> None:
        super().__init__(io.BytesIO(data))


@pytest.mark.parametrize("compressed", [False, True])
@pytest.mark.parametrize("format", [None, "turtle"])
def test_standard_input(monkeypatch: pytest.MonkeyPatch, format: str | None, compressed: bool) -> None:
    monkeypatch.setattr(sys, "stdin", _Stdin(gzip.compress(TURTLE.encode()) if compressed else TURTLE.encode()))
    (first, *_) = blocks("-", format=format)
    assert len(first.triples) == 12
    assert first.source == "<stdin>"


def test_open_files_bytes_and_text(tmp_path: Path) -> None:
    path = tmp_path / "x.ttl"
    path.write_text(TURTLE)
    with path.open("rb") as binary, path.open() as text:
        assert len(triples(binary)) == len(triples(text)) == 12
        assert not binary.closed
    assert len(triples(TURTLE.encode())) == len(triples(bytearray(TURTLE.encode()))) == len(triples(io.StringIO(TURTLE))) == 12


def test_a_pipe_that_gives_a_little_at_a_time() -> None:
    class Trickle(io.RawIOBase):
        data = io.BytesIO(NTRIPLES.encode())

        def readable(self) -> bool:
            return True

        def read(self, size: int = -1) -> bytes:
            return self.data.read(7)

    assert isomorphic(as_graph(triples(Trickle())), expected_graph("nt"))


def test_a_named_pipe(tmp_path: Path) -> None:
    import threading

    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=lambda: path.write_text(TURTLE))
    writer.start()
    assert len(triples(path)) == 12
    writer.join()


@pytest.mark.parametrize("content", [b"", b"\n \n", b"\xef\xbb\xbf", gzip.compress(b"")], ids=["empty", "blank", "BOM", "gzip"])
@pytest.mark.parametrize("extension", ["nt", "nq", "ttl", "trig", "rdf", "jsonld", "n3", "owx", "data"])
def test_an_empty_file_has_no_triples(tmp_path: Path, extension: str, content: bytes) -> None:
    path = tmp_path / f"empty.{extension}"
    path.write_bytes(content)
    assert triples(path) == set()


@pytest.mark.parametrize("text", [b"# a comment", b"@prefix x: <http://x/> ."])
def test_a_turtle_file_without_triples(tmp_path: Path, text: bytes) -> None:
    (tmp_path / "x.ttl").write_bytes(text)
    assert triples(tmp_path / "x.ttl") == set()


@pytest.mark.parametrize("syntax", ["nt", "ttl", "nq", "rdf"])
def test_byte_order_mark_and_crlf(tmp_path: Path, syntax: str) -> None:
    (tmp_path / f"x.{syntax}").write_bytes(b"\xef\xbb\xbf" + SYNTAXES[syntax].replace("\n", "\r\n").encode())
    assert isomorphic(as_graph(triples(tmp_path / f"x.{syntax}")), expected_graph(syntax))


def test_lines_that_end_in_carriage_returns_only() -> None:
    assert isomorphic(as_graph(triples(NTRIPLES.replace("\n", "\r").encode(), format="nt")), expected_graph("nt"))


# ---- graphs

TRIG = """
@prefix : <http://example.org/> .
:a :p 1 .
:g { :a :p 2 . _:x :p 3 }
_:x { :a :p 4 }
"""

NQUADS = """\
<http://example.org/a> <http://example.org/p> "1"^^<http://www.w3.org/2001/XMLSchema#integer> .
<http://example.org/a> <http://example.org/p> "2"^^<http://www.w3.org/2001/XMLSchema#integer> <http://example.org/g> .
# a comment
_:x  <http://example.org/p> "3"^^<http://www.w3.org/2001/XMLSchema#integer>   <http://example.org/g> .
<http://example.org/a> <http://example.org/p> "4"^^<http://www.w3.org/2001/XMLSchema#integer> _:x .
"""

JSON_LD_GRAPHS = """[
  {"@id": "http://example.org/a", "http://example.org/p": 1},
  {"@id": "http://example.org/g", "@graph": [
     {"@id": "http://example.org/a", "http://example.org/p": 2}, {"@id": "_:x", "http://example.org/p": 3}]},
  {"@id": "_:x", "@graph": [{"@id": "http://example.org/a", "http://example.org/p": 4}]}
]"""


@pytest.mark.parametrize(("text", "format"), [(TRIG, "trig"), (NQUADS, "nquads"), (JSON_LD_GRAPHS, "jsonld")])
def test_named_graphs(text: str, format: str) -> None:
    dictionary = Dictionary()
    (block,) = blocks(text.encode(), format=format, dictionary=dictionary)
    assert block.graphs is not None and block.graphs.dtype == np.int32
    found = {}
    for (subject, _, object), graph in zip(block.triples.tolist(), block.graphs.tolist(), strict=True):
        found[dictionary.text(object)[1]] = (dictionary.text(subject), dictionary.text(graph) if graph >= 0 else None)
    node = found["3"][0]
    assert node.startswith("_:")
    assert found == {
        "1": ("<http://example.org/a>", None),
        "2": ("<http://example.org/a>", "<http://example.org/g>"),
        "3": (node, "<http://example.org/g>"),
        "4": ("<http://example.org/a>", node),
    }


def test_the_graph_of_each_quad_survives_lines_of_every_kind() -> None:
    lines = []
    for number in range(3000):
        value = ['"plain"', '"tab\\there"', '"\\u0041"', "_:b-c", "_:b", '"x"@EN', "<http://x/é>"][number % 7]
        graph = ["", " <http://g/1>", "  _:g", " <http://g/é>"][number % 4]
        lines.append(f"<http://s/{number}> <http://p/{number % 4}> {value}{graph} .")
    dictionary = Dictionary()
    seen = 0
    for block in blocks("\n".join(lines).encode(), format="nq", dictionary=dictionary, block=500):
        assert block.graphs is not None
        for (_, predicate, _), graph in zip(block.triples.tolist(), block.graphs.tolist(), strict=True):
            name = dictionary.text(graph) if graph >= 0 else ""
            wanted = ["", "<http://g/1>", "_:", "<http://g/é>"][int(dictionary.text(predicate)[-2])]
            assert name == wanted or (wanted == "_:" and name.startswith("_:") and name.endswith("_g"))
            seen += 1
    assert seen == 3000


def test_syntaxes_without_graphs_say_none() -> None:
    assert blocks(TURTLE.encode())[0].graphs is None
    assert blocks(NTRIPLES.encode())[0].graphs is None


# ---- rdflib


def test_an_rdflib_graph() -> None:
    graph = rdflib.Graph()
    node = rdflib.BNode("mine")
    number = rdflib.Literal("007", datatype=rdflib.XSD.integer, normalize=False)
    graph.add((node, rdflib.RDF.type, rdflib.URIRef("http://example.org/é")))
    graph.add((node, rdflib.RDFS.label, rdflib.Literal('Ä\n"', lang="DE")))
    graph.add((node, rdflib.RDFS.seeAlso, number))
    found = triples(graph)
    assert found == {
        ("_:mine", f"<{rdflib.RDF.type}>", "<http://example.org/é>"),
        ("_:mine", f"<{rdflib.RDFS.label}>", '"Ä\\n\\""@de'),
        ("_:mine", f"<{rdflib.RDFS.seeAlso}>", '"007"^^<http://www.w3.org/2001/XMLSchema#integer>'),
    }


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("kind", ["Dataset", "ConjunctiveGraph"])
def test_an_rdflib_dataset(kind: str) -> None:
    dataset = getattr(rdflib, kind)()
    dataset.parse(data=NQUADS, format="nquads")
    dictionary = Dictionary()
    (block,) = blocks(dataset, dictionary=dictionary)
    assert block.graphs is not None
    rows = zip(block.triples[:, 2].tolist(), block.graphs.tolist(), strict=True)
    names = {dictionary.text(object)[1]: dictionary.text(graph) if graph >= 0 else None for object, graph in rows}
    assert names.pop("4", "")[:2] == "_:"  # type: ignore[index]
    assert names == {"1": None, "2": "<http://example.org/g>", "3": "<http://example.org/g>"}


def test_blank_nodes_survive_a_round_trip_through_rdflib() -> None:
    dictionary = Dictionary()
    first = triples(TURTLE.encode(), dictionary=dictionary)
    assert triples(as_graph(first), dictionary=dictionary) == first


@pytest.mark.parametrize(
    ("term", "complaint"),
    [
        (rdflib.URIRef("http://example.org/a b"), "contains the character ' '"),
        (rdflib.Variable("x"), "is not an RDF term"),
        (rdflib.Literal("x", datatype=rdflib.URIRef("a b")), "invalid datatype IRI"),
        (rdflib.Literal("\ud800"), "surrogate"),
    ],
)
def test_terms_of_rdflib_that_are_not_valid(term: rdflib.term.Node, complaint: str) -> None:
    graph = rdflib.Graph()
    graph.add((rdflib.URIRef("http://a"), rdflib.URIRef("http://b"), term))
    assert complaint in message_of(graph)


@pytest.mark.parametrize("term", [Literal("1", XSD.integer), Literal(1), BlankNode(3), IRI(5), IRI([])])  # type: ignore[arg-type]
def test_terms_whose_parts_are_not_strings(term: IRI | BlankNode | Literal) -> None:
    with pytest.raises(LoadError, match=re.escape(f"a part of {term!r} is not a string")):
        text_from_term(term)


def test_iterables_of_triples() -> None:
    rows = [
        (IRI("http://a"), RDF.type, BlankNode("x")),
        (IRI("http://a"), RDF.value, Literal("5", "http://www.w3.org/2001/XMLSchema#integer")),
        (rdflib.URIRef("http://a"), rdflib.RDF.value, rdflib.Literal(5)),
    ]
    assert len(triples(iter(rows))) == len(triples(rows)) == 2
    assert [len(block.triples) for block in blocks(rows, block=2)] == [2, 1]


@pytest.mark.parametrize(
    "source", [[("a", "b")], [1], [(IRI("http://a"), RDF.type, "text")], 5, [(IRI("a b"), RDF.type, IRI("c"))]]
)
def test_what_is_not_a_source(source: Any) -> None:
    assert message_of(source)


# ---- blank nodes


def test_blank_nodes_of_two_documents_stay_apart(tmp_path: Path) -> None:
    for name, extension in (("1", "nt"), ("2", "ttl"), ("3", "nq")):
        (tmp_path / f"{name}.{extension}").write_text(
            f'_:b0 <http://example.org/file> "{name}" .\n_:b0 <http://example.org/again> "{name}" .\n'
        )
    found = triples(tmp_path)
    subjects = {object: {subject for subject, _, other in found if other == object} for _, _, object in found}
    assert [len(nodes) for nodes in subjects.values()] == [1, 1, 1]
    assert len(set.union(*subjects.values())) == 3


def test_the_same_document_twice_has_two_sets_of_blank_nodes(tmp_path: Path) -> None:
    path = tmp_path / "x.nt"
    path.write_text("_:b0 <http://example.org/p> _:b0 .\n")
    dictionary = Dictionary()
    one = triples(path, dictionary=dictionary)
    two = triples(path, dictionary=dictionary)
    assert not one & two
    assert one == triples(path)  # deterministic


def test_blank_nodes_across_blocks_and_kinds_of_lines() -> None:
    text = "".join(f'_:n <http://example.org/p> "{number}{tab}" .\n' for number in range(2500) for tab in ("", "\\t"))
    found = triples(text.encode(), block=1000)
    assert len({subject for subject, _, _ in found}) == 1
    assert len(found) == 5000


def test_labels_that_look_alike_stay_apart() -> None:
    labels = ["b0", "0", "g0", "_0", "deadbeefdeadbeefdeadbeefdeadbeef", "v2_b0", "a-b", "a.b", "ä"]
    text = "@prefix : <http://example.org/> .\n" + "".join(f"_:{label} :p [] .\n" for label in labels) * 2
    found = triples(text.encode())
    assert len({subject for subject, _, _ in found}) == len(labels)
    assert len({object for _, _, object in found}) == 2 * len(labels)
    assert triples(text.encode()) == found


def test_a_label_inside_a_literal_is_not_a_blank_node() -> None:
    text = """
        _:a <http://x/p> " _:b ." .
        <http://x/s> <http://x/p> "_:a <http://x/p> _:b ."@en .
        [] <http://x/p> "> _:abcdefabcdefabcdef .\\n" .
    """
    objects = {object for _, _, object in triples(text.encode(), format="turtle")}
    assert objects == {'" _:b ."', '"_:a <http://x/p> _:b ."@en', '"> _:abcdefabcdefabcdef .\\n"'}


# ---- relative IRIs


RELATIVE = {
    "turtle": "<a> <http://x/p> <#b> .",
    "trig": "<a> <http://x/p> <#b> .",
    "n3": "<a> <http://x/p> <#b> .",
    "rdfxml": """<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:x="http://x/">
<rdf:Description rdf:about="a"><x:p rdf:resource="#b"/></rdf:Description></rdf:RDF>""",
    "jsonld": '{"@id": "a", "http://x/p": {"@id": "#b"}}',
}


@pytest.mark.parametrize("format", RELATIVE)
def test_relative_iris_need_a_base(format: str) -> None:
    data = RELATIVE[format].encode()
    assert triples(data, format=format, base="http://base.org/dir/doc") == {
        ("<http://base.org/dir/a>", "<http://x/p>", "<http://base.org/dir/doc#b>")
    }
    assert "pass base=" in message_of(data, format=format)


def test_a_base_in_the_document_comes_first() -> None:
    data = b"@base <http://own.org/> . <a> <b> <c> ."
    assert triples(data, base="http://other.org/") == {("<http://own.org/a>", "<http://own.org/b>", "<http://own.org/c>")}


def test_a_relative_base_is_refused() -> None:
    assert "not an absolute IRI" in message_of(b"", base="dir/")


# ---- errors

BROKEN = {
    # extension: the text, the line of the error, a part of the message
    "nt": ("<http://a> <http://b> <http://c> .\n\n<http://a> <http://b> oops .\n<http://a> <http://b> <http://c> .\n", 3, "oops"),
    "nq": ("<http://a> <http://b> <http://c> <http://g> .\n<http://a> <http://b> <http://c> <http://g .\n", 2, ""),
    "ttl": ("@prefix : <http://x/> .\n:a :b :c ;\n   :d :e : f .\n", 3, "dot is expected"),
    "trig": ("@prefix : <http://x/> .\n:g {\n  :a :b x:c .\n}\n", 3, "prefix x: has not been declared"),
    "rdf": (
        '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:x="http://x/">\n<!--\n-->\n<x:C rdf:about="http://a">\n'
        "  <x:p>text</x:q>\n</x:C>\n</rdf:RDF>\n",
        5,
        "mismatched tag",
    ),
    "jsonld": ('{"@id": "http://a",\n "http://b": [1, 2,\n 3,]]\n}', 3, ""),
    "n3": ("@prefix : <http://x/> .\n:a :b :c .\n:a :b ?who .\n:a :b :c .\n", 3, "variables are not allowed"),
    "owx": (
        '<Ontology xmlns="http://www.w3.org/2002/07/owl#">\n<Declaration>\n<Clas IRI="http://x/A"/>\n</Declaration></Ontology>',
        3,
        "Clas",
    ),
}


@pytest.mark.parametrize("compressed", [False, True], ids=["plain", "gzip"])
@pytest.mark.parametrize("extension", BROKEN)
def test_a_syntax_error_has_file_and_line(tmp_path: Path, extension: str, compressed: bool) -> None:
    text, line, part = BROKEN[extension]
    path = tmp_path / f"broken.{extension}{'.gz' if compressed else ''}"
    path.write_bytes(gzip.compress(text.encode()) if compressed else text.encode())
    with pytest.raises(LoadError) as caught:
        blocks(path)
    span = caught.value.span
    assert span is not None
    assert (span.source, span.line) == (str(path), line)
    assert span.text == text.split("\n")[line - 1]
    assert part in str(caught.value)


@pytest.mark.parametrize("extension", BROKEN)
def test_a_syntax_error_in_a_stream_has_a_line_too(extension: str) -> None:
    text, line, _ = BROKEN[extension]
    assert re.search(rf"line {line}\b|:{line}:", message_of(io.BytesIO(text.encode()), format=extension))


@pytest.mark.parametrize("feed", ["\n", "\r", "\r\n", "\r\r\n", "\n\r"])
@pytest.mark.parametrize("extension", ["nt", "nq", "ttl"])
def test_the_line_of_an_error_behind_any_line_breaks(extension: str, feed: str) -> None:
    """It is the same wherever a piece of the document ends, also between a carriage return and its line feed."""
    line = f"<http://a> <http://b> <http://c> .{feed}"
    number = 40 * len(re.findall("\r\n|\r|\n", feed)) + 1
    for before in range(100):
        data = (f"#{'x' * before}{feed.replace(feed, chr(10))}" + 40 * line + "<http://a> <http://b> .\n").encode()
        for source in (data, io.BytesIO(data)):
            message = message_of(source, format=extension, block=1)
            assert re.search(rf"line {number + 1}\b|:{number + 1}:", message), (before, message)


def test_the_line_of_an_error_far_into_a_file(tmp_path: Path) -> None:
    path = tmp_path / "big.nt"
    good = "<http://a> <http://b> <http://c> .\n# comment\n\n" * 2000
    path.write_text(good + '<http://a> <http://b> "x"@ .\n' + good)
    with pytest.raises(LoadError) as caught:
        blocks(path, block=1000)
    assert caught.value.span is not None
    assert caught.value.span.line == 6001


@pytest.mark.parametrize(
    ("term", "part"),
    [
        ("<http://example.org/a b>", "invalid IRI code point ' '"),
        ("<relative>", "the IRI is relative"),
        ("<http://example.org/%zz>", "percent encoding"),
        ("<http://example.org/{x}>", "'{'"),
        ('"x"@en_US', ""),
        ('"x"^^<not an iri>', "invalid IRI"),
        ('"\\uD800"', "unicode"),
        ('"\\x"', ""),
        ('"x"@en--ltr', "base direction"),
        ("<<( <http://a> <http://b> <http://c> )>>", "triple term"),
    ],
)
@pytest.mark.parametrize("format", ["nt", "nq", "ttl", "trig"])
def test_invalid_terms_are_refused(format: str, term: str, part: str) -> None:
    data = f"<http://a> <http://b> <http://c> .\n<http://a> <http://b> {term} .\n".encode()
    message = message_of(data, format=format)
    assert part.lower() in message.lower()
    if part != "triple term" or format in ("nt", "nq"):
        assert re.search(r":2:\d+: |line 2", message)


@pytest.mark.parametrize("format", ["ttl", "trig", "n3"])
@pytest.mark.parametrize("text", ['"x"@en--ltr', "'x'@en--rtl", '"""x\ny--"z" """@en-gb--ltr', '""@en--ltr', "'''x'''@ar--rtl"])
def test_errors_of_base_directions_show_the_place(format: str, text: str) -> None:
    message = message_of(f'<http://a> <http://b> "x@en--ltr"@en-gb .\n<http://a> <http://b> {text} .\n'.encode(), format=format)
    assert "base direction of a literal" in message and "leave the direction out" in message
    assert f":{2 + text.count(chr(10))}:" in message and "^" in message


@pytest.mark.parametrize("format", ["ttl", "trig"])
@pytest.mark.parametrize("bad", ["<< :a :p :b >> :p :c .", ':a :p "x"@en--ltr .'])
@pytest.mark.parametrize(
    "before", ["@prefix : <http://a/> . @prefix b: <http://b/> . @prefix c: <http://c/> . ", "@prefix : <http://a/> .\n\n\n"]
)
def test_lines_of_what_is_not_supported_are_those_of_the_document(format: str, bad: str, before: str) -> None:
    """The parser of a stream reads the prefixes again, one a line."""
    line = before.count("\n") + 1
    for source in (io.BytesIO((before + bad).encode()), (before + bad).encode()):
        assert re.search(rf"line {line}:|:{line}:", message_of(source, format=format))


def test_streams_that_cannot_be_read() -> None:
    closed = io.BytesIO(b"")
    closed.close()
    assert "cannot read <stream>: " in message_of(closed, format="nt")
    for module in (gzip, bz2, lzma):
        packed = module.compress(NTRIPLES.encode() * 1000)
        damaged = bytearray(packed)
        damaged[len(packed) // 2] ^= 255
        for data in (packed[:-20], bytes(damaged)):
            assert "cannot read <stream>: " in message_of(module.open(io.BytesIO(data)), format="nt")


def test_an_invalid_graph_name() -> None:
    message = message_of(
        b"<http://a> <http://b> <http://c> <http://g> .\n<http://a> <http://b> <http://c> <http://g%z> .\n", format="nq"
    )
    assert ":2:" in message and "percent" in message


@pytest.mark.parametrize(
    ("value", "part"),
    [
        ('{"@id": "http://a b"}', "code point"),
        ('{"@value": "x", "@language": "b_c"}', "language"),
        ('{"@value": "x", "@type": "http://a b"}', ""),
        ('{"@value": "x", "@language": "ar", "@direction": "rtl"}', "base direction"),
    ],
)
def test_json_ld_loses_nothing_in_silence(value: str, part: str) -> None:
    assert part in message_of(f'{{"@id": "http://a", "http://b": {value}}}'.encode()).lower()


def test_json_ld_says_what_is_not_rdf() -> None:
    assert "the property _:p is a blank node" in message_of(b'{"@context": {"p": "_:p"}, "@id": "http://a", "p": "x"}')
    assert "declare one in the document" in message_of(
        b'{"@context": {"@base": null}, "@id": "a", "http://p": 1}', base="http://b/"
    )


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        # a context of a type holds for the node alone, unless it says that it propagates
        (
            '{"@context": {"@vocab": "http://v/", "T": {"@context": {"n": "http://t/n"}}}, "@id": "http://a", "@type": "T", "n": 1,'
            ' "p": {"@id": "http://b", "n": 2}}',
            "<http://a> a <http://v/T> ; <http://t/n> 1 ; <http://v/p> <http://b> . <http://b> <http://v/n> 2 .",
        ),
        (
            '{"@context": {"@vocab": "http://v/", "p": {"@context": {"n": "http://p/n"}}}, "@id": "http://a", "n": 1,'
            ' "p": {"@id": "http://b", "n": 2}}',
            "<http://a> <http://v/n> 1 ; <http://v/p> <http://b> . <http://b> <http://p/n> 2 .",
        ),
        (
            '{"@context": {"@vocab": "http://v/"}, "@id": "http://a", "p": {"@context": {"@propagate": false, "n": "http://x/n"},'
            ' "@id": "http://b", "n": 1, "q": {"@id": "http://c", "n": 2}}}',
            "<http://a> <http://v/p> <http://b> . <http://b> <http://x/n> 1 ; <http://v/q> <http://c> ."
            " <http://c> <http://v/n> 2 .",
        ),
        (
            '{"@context": {"@vocab": "http://v/", "kids": {"@reverse": "http://v/parent", "@container": "@index"}}, "@id": "http://a",'
            ' "kids": {"x": {"@id": "http://b"}}, "@included": [{"@id": "http://c", "n": 1}]}',
            "<http://b> <http://v/parent> <http://a> . <http://c> <http://v/n> 1 .",
        ),
        (
            '{"@context": {"@vocab": "http://v/", "t": {"@container": "@type"}, "i": {"@container": "@id"}}, "@id": "http://a",'
            ' "t": {"T": {"@id": "http://b"}}, "i": {"http://c": {"n": 1}}}',
            "<http://a> <http://v/t> <http://b> ; <http://v/i> <http://c> . <http://b> a <http://v/T> ."
            " <http://c> <http://v/n> 1 .",
        ),
        (
            '{"@context": {"@vocab": "http://v/", "j": {"@type": "@json"}, "l": {"@container": "@language"}, "m": "@nest"},'
            ' "@id": "http://a", "j": {"b": 1, "a": [null]}, "m": {"l": {"en": "x", "@none": "y"}}}',
            '<http://a> <http://v/j> \'{"a":[null],"b":1}\'^^<http://www.w3.org/1999/02/22-rdf-syntax-ns#JSON> ;'
            ' <http://v/l> "x"@en, "y" .',
        ),
    ],
    ids=["type", "property", "propagate", "reverse", "maps", "values"],
)
def test_contexts_of_json_ld(document: str, expected: str) -> None:
    assert set(triples(document.encode(), format="jsonld")) == set(triples(expected.encode(), format="turtle"))


@pytest.mark.parametrize(
    "document",
    [
        '{"@context": [{"@protected": true, "n": "http://v/n"}, {"n": "http://w/n"}], "n": 1}',
        '{"@context": {"@import": "http://r/c"}, "n": 1}',
        '{"@id": "http://a", "http://p": {"@context": "c.jsonld", "n": 1}}',
        '{"@context": {"p": {"@id": "http://v/p", "@context": "http://r/c"}}, "p": {"n": 1}}',
    ],
)
def test_contexts_of_json_ld_that_are_refused(document: str) -> None:
    data = f'[{{"@id": "http://k", "http://p": "x"}}, {document}]'.encode()
    assert re.search("protected term n|refers to a remote context", message_of(data, format="jsonld", base="http://b/"))


COMMENTED = '{"@context": {"e": "http://e/", "m": "e:m"}, %s"@graph": [{"@id": "e:a", "e:p": 1}]}'


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ("", "DEFAULT"),
        ('"_c": "x", ', "DEFAULT"),
        ('"$schema": "é, {\\n", "_c" :\n {"a": ["@graph", null]} ,\n', "DEFAULT"),
        ('"_c": "x", "_c": null, ', "DEFAULT"),
        ('"_c": "x", "m": 1, ', "NAMED"),
        ('"_c": "x", "e:q": 1, ', "NAMED"),
        ('"_c": "x", "@id": "_:g", ', "NAMED"),
    ],
)
def test_comments_beside_the_graph_of_json_ld(keys: str, expected: str) -> None:
    """JSON-LD 1.1 API, section 5.1.2: keys that no context maps are dropped before a @graph alone becomes the default graph."""
    (block,) = blocks((COMMENTED % keys).encode(), format="jsonld")
    assert block.graphs is not None
    assert (block.graphs[-1] == -1) == (expected == "DEFAULT")


MAPPED = '"@context": {"e": "http://e/", "m": "e:m"}'
INNER = '{"@id": "e:g", "@graph": [{"@id": "e:b", "e:p": 2}]}, {"@id": "e:a", "e:p": 1}'


@pytest.mark.parametrize(
    ("members", "expected"),
    [
        ((MAPPED, '"c": [{"@id": "e:c"}]'), "DEFAULT"),
        ((MAPPED, '"c": "x"', '"é": {}'), "DEFAULT"),
        ((MAPPED, '"c": "x"', '"m": 1'), "NAMED"),
        ((MAPPED, '"c": "x"', '"@index": "i"'), "NAMED"),
        ((MAPPED, '"c": "x"', '"@id": "e:top"'), "NAMED"),
        (('"@context": {"e": "http://e/", "@vocab": "http://v/", "c": null}', '"c": "x"'), "DEFAULT"),
        (('"@context": [{"@vocab": "http://v/"}, {"e": "http://e/", "@vocab": null}]', '"c": "x"'), "DEFAULT"),
        (('"@context": [{"c": "http://v/c"}, null, {"e": "http://e/"}]', '"c": "x"'), "DEFAULT"),
        (('"@context": {"e": "http://e/", "c": {"@type": "@id", "@id": "e:c"}}', '"c": "e:x"'), "NAMED"),
        (('"@context": {"e": "http://e/", "c": {"@id": null}}', '"c": "e:x"'), "DEFAULT"),
    ],
)
def test_keys_of_json_ld_in_any_order(members: tuple[str, ...], expected: str) -> None:
    for graph in ('"@graph": [{"@id": "e:a", "e:p": 1}]', f'"@graph": [{INNER}]'):
        for order in permutations((graph, *members)):
            text = f"{{ {', '.join(order)} }}".encode()
            for source in (text, io.BytesIO(text)):
                found = [block.graphs for block in blocks(source, format="jsonld")]
                names = {name for some in found if some is not None for name in some.tolist()}
                assert (-1 in names and len(names) == 1 + graph.count("e:g")) == (expected == "DEFAULT"), order


def test_a_graph_of_json_ld_by_another_name() -> None:
    context = '"@context": {"e": "http://e/", "data": "@graph", "meta": {"@id": "@graph"}}'
    for name in ("data", "meta"):
        (block,) = blocks(f'{{ {context}, "{name}": [{{"@id": "e:a", "e:p": 1}}], "c": 1 }}'.encode(), format="jsonld")
        assert block.graphs is not None and block.graphs.tolist() == [-1]


def test_a_vocabulary_maps_every_key_of_json_ld() -> None:
    text = (COMMENTED % '"v": "x", ').replace('"m"', '"@vocab": "http://v/", "m"')
    assert len(triples(text.encode(), format="jsonld")) == 2


def test_errors_of_json_ld_with_comments_have_their_line() -> None:
    text = COMMENTED % '"_c":\n[1,\n2], '
    assert ":4:" in message_of(text.replace('"e:p": 1', '"e:p":\n1,,').encode(), format="jsonld")


@pytest.mark.parametrize("context", ["https://schema.org/", "file:///etc/hostname", "context.jsonld"])
def test_remote_contexts_are_not_fetched(monkeypatch: pytest.MonkeyPatch, context: str) -> None:
    import socket

    def refuse(*_: object) -> None:
        raise AssertionError("the network was used")

    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    monkeypatch.setattr(socket.socket, "connect", refuse)
    assert "nothing is fetched" in message_of(f'{{"@context": "{context}", "@id": "http://a"}}'.encode(), base="http://base.org/")


def test_imports_are_not_followed() -> None:
    text = "<http://a> a <http://www.w3.org/2002/07/owl#Ontology> ; <http://www.w3.org/2002/07/owl#imports> <http://192.0.2.1/x> ."
    assert len(triples(text.encode(), format="turtle")) == 2


HEADER = '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:x="http://x/">\n'


def rdf_xml(body: str, doctype: str = "") -> bytes:
    return f'{doctype}{HEADER}<rdf:Description rdf:about="http://s">{body}</rdf:Description></rdf:RDF>'.encode()


@pytest.mark.parametrize(
    ("doctype", "body", "part"),
    [
        ('<!DOCTYPE rdf:RDF [<!ENTITY e SYSTEM "file:///etc/hostname">]>', "<x:p>&e;</x:p>", "outside the document"),
        ('<!DOCTYPE rdf:RDF [<!ENTITY % e SYSTEM "http://192.0.2.1/x.dtd"> %e;]>', "<x:p>&f;</x:p>", ""),
        ('<!DOCTYPE rdf:RDF SYSTEM "http://192.0.2.1/x.dtd">', "<x:p>&f;</x:p>", ""),
        ('<!DOCTYPE rdf:RDF SYSTEM "http://192.0.2.1/x.dtd">', '<x:p rdf:resource="&f;"/>', ""),
        ("", "<x:p>&f;</x:p>", "undefined entity"),
        ('<!DOCTYPE rdf:RDF [<!ENTITY e "<x/>">]>', "<x:p>&e;</x:p>", "markup"),
        (
            "<!DOCTYPE rdf:RDF [<!ENTITY l0 'lol'>"
            + "".join(f"<!ENTITY l{n} '{f'&l{n - 1};' * 10}'>" for n in range(1, 10))
            + "]>",
            "<x:p>&l9;</x:p>",
            "longer than",
        ),
        (f"<!DOCTYPE rdf:RDF [<!ENTITY big '{'a' * 60_000}'>]>", f"<x:p>{'&big;' * 2000}</x:p>", "amplification"),
    ],
    ids=["file", "parameter", "DTD", "DTD attribute", "undefined", "markup", "laughs", "quadratic"],
)
def test_entities_are_harmless(doctype: str, body: str, part: str) -> None:
    assert part in message_of(rdf_xml(body, doctype), format="rdfxml")


@pytest.mark.parametrize("encoding", ["iso-8859-1", "utf-16", "windows-1252", "utf-8"])
def test_xml_in_other_encodings(encoding: str) -> None:
    text = f'<?xml version="1.0" encoding="{encoding}"?>\n' + rdf_xml("<x:p>café</x:p>").decode()
    assert triples(text.encode(encoding)) == {("<http://s>", "<http://x/p>", '"café"')}


@pytest.mark.parametrize("syntax", ["nt", "ttl", "rdf"])
def test_text_that_is_not_utf_8(tmp_path: Path, syntax: str) -> None:
    text = (
        rdf_xml("\n<x:p>café</x:p>").decode()
        if syntax == "rdf"
        else '<http://s> <http://p> "a" .\n<http://s> <http://p> "café" .\n'
    )
    path = tmp_path / f"x.{syntax}"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(LoadError, match=r"(?i)utf-8") as caught:
        blocks(path)
    assert caught.value.span is not None
    assert caught.value.span.line == (3 if syntax == "rdf" else 2)


@pytest.mark.parametrize("cut", [1, 15, 40])
def test_rdf_xml_that_ends_in_the_middle(cut: int) -> None:
    assert "not well-formed" in message_of(rdf_xml("<x:p>text</x:p>")[:-cut], format="rdfxml")


def test_rdf_xml_cdata_and_comments_cut_by_chunks() -> None:
    filler = "y" * 997
    body = "".join(f"<x:p>{n}a<![CDATA[<{filler}&]]>b<!-- {filler}\n -->c<?pi {filler}?></x:p>\n" for n in range(300))
    assert triples(rdf_xml(body)) == {("<http://s>", "<http://x/p>", f'"{n}a<{filler}&bc"') for n in range(300)}


def test_owl_xml_is_not_taken_for_rdf_xml() -> None:
    assert "this is OWL/XML" in message_of(b'<Ontology xmlns="http://www.w3.org/2002/07/owl#"/>', format="rdfxml")


@pytest.mark.parametrize("syntax", ["nt", "ttl", "rdf"])
@pytest.mark.parametrize("keep", [0.5, 0.99])
def test_a_truncated_gzip_file(tmp_path: Path, syntax: str, keep: float) -> None:
    path = tmp_path / f"x.{syntax}.gz"
    data = gzip.compress(SYNTAXES[syntax].encode())
    path.write_bytes(data[: int(len(data) * keep)])
    message = message_of(path)
    assert "truncated" in message and str(path) in message


def test_a_damaged_gzip_file(tmp_path: Path) -> None:
    path = tmp_path / "x.nt.gz"
    data = bytearray(gzip.compress((NTRIPLES * 50).encode()))
    data[len(data) // 2] ^= 0xFF
    path.write_bytes(data)
    assert "damaged" in message_of(path)


def test_a_missing_file_is_found_before_anything_is_read(tmp_path: Path) -> None:
    (tmp_path / "data.ttl").write_text("this is not Turtle")
    with pytest.raises(LoadError, match=r"dta\.ttl does not exist(?s:.*)did you mean .*data\.ttl"):
        rdf.read(tmp_path / "data.ttl", tmp_path / "dta.ttl", dictionary=Dictionary())


def test_a_missing_directory(tmp_path: Path) -> None:
    assert "does not exist either" in message_of(tmp_path / "no" / "such.nt")


def test_text_given_as_a_path() -> None:
    assert "pass text.encode()" in message_of("@prefix : <http://x/> .\n:a :b :c .")
    assert "the path of the file, not its address" in message_of("file:///folder/zoo.ttl")


def test_an_address_given_as_a_path() -> None:
    assert "nothing is fetched" in message_of("https://example.org/data.ttl")


@pytest.mark.parametrize(
    ("name", "text", "seems"), [("x.nt", TURTLE, "turtle"), ("x.jsonld", TURTLE, "turtle"), ("x.ttl", RDF_XML, "rdfxml")]
)
def test_a_document_in_another_syntax_than_its_name_says(tmp_path: Path, name: str, text: str, seems: str) -> None:
    path = tmp_path / name
    path.write_text(text)
    assert f"it looks like {seems}" in message_of(path)


@pytest.mark.parametrize(
    ("name", "text", "seems"),
    [
        ("x.nt", '<urn:a> <urn:p> "not closed .\n<urn:a> <urn:p> <urn:b> .', None),
        ("x.nt", '<urn:a> <urn:p> "without a dot"@en', None),
        ("x.nt", "<urn:a> <urn:p> <urn: > .", None),
        ("x.nq", '<urn:a> <urn:p> "not closed <urn:g> .', None),
        ("x.nq", "<urn:a> <urn:p> <urn:%> .", None),
        ("x.ttl", '<urn:a> <urn:p> "{ not closed .', None),
        ("x.nt", "<urn:a> <urn:p> <urn:b> <urn:g> .", "nquads"),
        ("x.nt", '<urn:a> <urn:p> "b", "c" .', "turtle"),
        ("x.nq", "<urn:a> <urn:p> 5 .", "turtle"),
        ("x.ttl", "<urn:g> { <urn:a> <urn:p> <urn:b> }", "trig"),
    ],
)
def test_another_syntax_is_only_a_hint_if_it_may_help(tmp_path: Path, name: str, text: str, seems: str | None) -> None:
    path = tmp_path / name
    path.write_text(text)
    hint = message_of(path).partition("it looks like ")[2]
    assert hint.partition(":")[0] == (seems or "")


def test_a_wrong_document_in_the_syntax_that_its_name_says(tmp_path: Path) -> None:
    path = tmp_path / "x.ttl"
    path.write_text(NTRIPLES + " and more")
    assert "looks like" not in message_of(path)


@pytest.mark.long
def test_a_term_too_long_for_the_parser(tmp_path: Path) -> None:
    path = tmp_path / "x.ttl"
    path.write_text(f'<http://example.org/a> <http://example.org/b> "{"x" * (1 << 24)}" .')
    assert "too long" in message_of(path)
    assert len(list(rdf.read(path, dictionary=Dictionary(), format="nt"))) == 1


def test_another_encoding_than_utf_8(tmp_path: Path) -> None:
    path = tmp_path / "x.ttl"
    path.write_bytes(TURTLE.replace("a", "\xe4").encode("latin-1"))
    assert "UTF-8" in message_of(path) and "hint: save the document in UTF-8" in message_of(path)


UTF_16 = {
    "turtle": "@prefix : <http://example.org/> .\n:\xe4\U00010000 :b :c .",
    "nt": '<http://example.org/a> <http://example.org/b> "\xe4" .\n',
    "functional": "Prefix(:=<http://example.org/>) Ontology(<http://example.org/> SubClassOf(:A :B))",
    "manchester": "Prefix: : <http://example.org/> Ontology: <http://example.org/> Class: A SubClassOf: B",
    "obo": "format-version: 1.2\n\n[Term]\nid: X:1\nname: a\n",
    "jsonld": '{"@id": "http://example.org/a", "http://example.org/b": "c"}',
}


@pytest.mark.parametrize("order", ["le", "be"])
@pytest.mark.parametrize("format", UTF_16)
@pytest.mark.parametrize("is_told", [True, False])
def test_utf_16_with_a_byte_order_mark(format: str, order: str, is_told: bool) -> None:
    def read(data: bytes) -> set[str]:
        dictionary = Dictionary()
        blocks = rdf.read(data, dictionary=dictionary, format=format if is_told else None)
        return {str(triple) for block in blocks for triple in dictionary.decode_rows(block.triples)}

    text = UTF_16[format]
    assert read(f"\ufeff{text}".encode(f"utf-16-{order}")) == read(text.encode())


@pytest.mark.parametrize("broken", [b"\xff\xfea", b"\xff\xfe:\0a\0 \0\0\xdc \0"])
def test_broken_utf_16(broken: bytes) -> None:
    with pytest.raises(LoadError):
        list(rdf.read(broken, dictionary=Dictionary(), format="turtle"))


def test_a_file_that_may_not_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.nt"
    path.write_text(NTRIPLES)
    path.chmod(0)
    monkeypatch.setattr(os, "access", lambda *_: False)  # root may read everything
    assert "permission denied" in message_of(path)


def test_a_file_that_fails_while_it_is_read() -> None:
    class Failing(io.RawIOBase):
        def readable(self) -> bool:
            return True

        def read(self, size: int = -1) -> bytes:
            raise OSError(5, "Input/output error")

    assert "Input/output error" in message_of(Failing(), format="nt")


@pytest.mark.parametrize(
    ("content", "part"),
    [
        (b"\x7fELF\x02\x01\x00\x00\x00", "binary"),
        (b"PK\x03\x04rest", "zip"),
        (b"BZh91AY", "bzip2"),
        (b"\xfd7zXZ\x00", "xz"),
        (b"\x28\xb5\x2f\xfdrest", "zstd"),
    ],
)
@pytest.mark.parametrize("name", ["data.ttl", "data.nt", "data"])
def test_binary_files(tmp_path: Path, name: str, content: bytes, part: str) -> None:
    (tmp_path / name).write_bytes(content)
    assert part in message_of(tmp_path / name)


def test_a_very_long_line_is_shown_in_part(tmp_path: Path) -> None:
    path = tmp_path / "x.ttl"
    path.write_text(f'<http://a> <http://b b> "{"x" * 100_000}" .')
    assert len(message_of(path)) < 2000
    path.write_text(f'<http://a> <http://b> "{"x" * 100_000}" ; oops .')
    assert len(message_of(path)) < 2000
    assert "column" in message_of(path)


# ---- streaming


def test_blocks_and_progress(tmp_path: Path) -> None:
    text = "".join(f"<http://s/{n}> <http://p> <http://o/{n % 7}> .\n" for n in range(20_000))
    plain, packed = tmp_path / "a.nt", tmp_path / "b.nt.gz"
    plain.write_text(text)
    packed.write_bytes(gzip.compress(text.encode()))
    calls: list[tuple[str, int, int | None]] = []
    found = blocks(plain, packed, block=2000, progress=lambda *call: calls.append(call))
    assert sum(len(block.triples) for block in found) == 40_000
    assert len(found) >= 8
    assert max(len(block.triples) for block in found) < 8000
    total = plain.stat().st_size + packed.stat().st_size
    assert {call[2] for call in calls} == {total}
    assert [call[1] for call in calls] == sorted(call[1] for call in calls)
    assert calls[-1] == ("load", total, total)


def test_progress_without_a_known_size() -> None:
    calls: list[tuple[str, int, int | None]] = []
    blocks(io.BytesIO(NTRIPLES.encode()), progress=lambda *call: calls.append(call))
    assert calls[-1] == ("load", len(NTRIPLES.encode()), None)


@pytest.mark.parametrize("syntax", ["nt", "ttl", "nq", "rdf"])
def test_the_first_block_comes_before_the_rest_is_read(syntax: str) -> None:
    """A stream without an end: the loader must not wait for it, nor keep it."""

    class Endless(io.RawIOBase):
        served = 0

        def readable(self) -> bool:
            return True

        def read(self, size: int = -1) -> bytes:
            start = HEADER.encode() if syntax == "rdf" and not self.served else b""
            self.served += 1
            numbers = range(self.served * 1000, self.served * 1000 + 1000)
            if syntax == "rdf":
                return start + b"".join(
                    b'<rdf:Description rdf:about="http://s/%d"><x:p>1</x:p></rdf:Description>\n' % n for n in numbers
                )
            return b"".join(b"<http://s/%d> <http://p> <http://o> .\n" % n for n in numbers)

    stream = Endless()
    reader = rdf.read(stream, dictionary=Dictionary(), format={"rdf": "rdfxml"}.get(syntax, syntax), block=10_000)
    first = next(reader)
    assert 0 < len(first.triples) < 100_000
    assert stream.served < 100


@pytest.fixture
def lubm() -> Iterator[Path]:
    folder = SUITES / "lubm"
    if not folder.is_dir():
        pytest.skip(why_missing("lubm"))
    yield folder


@pytest.mark.long
def test_lubm(lubm: Path) -> None:
    found = triples(lubm / "lubm1.nt.gz")
    assert len(found) == 100_543


def test_the_lubm_ontology(lubm: Path) -> None:
    reference = rdflib.Graph()
    reference.parse(lubm / "univ-bench.owl", format="xml")
    assert isomorphic(as_graph(triples(lubm / "univ-bench.owl")), reference)


def test_format_names_are_unambiguous() -> None:
    names = [
        name for entry in FORMATS for name in (entry.name, entry.media_type, *entry.aliases, *(e[1:] for e in entry.extensions))
    ]
    assert len(set(names)) >= len(FORMATS) * 2
    owners = {name: {entry.name for entry in FORMATS if name in (entry.name, entry.media_type, *entry.aliases)} for name in names}
    assert all(len(owner) <= 1 for owner in owners.values())
