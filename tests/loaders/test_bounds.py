"""Bounds on documents, and what parsers could not stand: one clear error each, with the place and what to do, no abort."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from kg_reasoner import Reasoner
from kg_reasoner.cli import main
from kg_reasoner.errors import LoadError, ReasonerError, UnknownNameError
from kg_reasoner.loaders.rdf.bounds import JSON_DEPTH, DocumentBounds, bounds_from
from kg_reasoner.storage.kernels.memory.buffers import CHECKED

RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
PREFIX = "@prefix : <http://example.org/> . "
TRIPLE = "<http://example.org/a> <http://example.org/p> "


def load(text: str | bytes, format: str, **bounds: int) -> int:
    """The number of triples of a document."""
    reasoner = Reasoner()
    data = text.encode() if isinstance(text, str) else text
    reasoner.load(data, format=format, base="http://example.org/", bounds=DocumentBounds(**bounds))
    return len(list(reasoner.triples()))


def rdfxml(inner: str, head: str = "", version: str = "") -> str:
    return (
        f'{head}<rdf:RDF xmlns:rdf="{RDF}" xmlns:ex="http://example.org/" xmlns:its="http://www.w3.org/2005/11/its" {version}>\n'
        f'<rdf:Description rdf:about="http://example.org/a">{inner}</rdf:Description></rdf:RDF>'
    )


def owlxml(inner: str, head: str = "") -> str:
    return f'{head}<Ontology xmlns="http://www.w3.org/2002/07/owl#" ontologyIRI="http://example.org/o">\n{inner}</Ontology>'


# ---- one long line


@pytest.mark.parametrize("length", [8_191, 8_192, 8_193, 100_000])
@pytest.mark.parametrize("kind", ["file", "stream"])
def test_a_document_on_one_line(length: int, kind: str) -> None:
    """pyoxigraph ends the process where it gets more than it asked for."""
    text = "x" * length
    documents = {
        "rdfxml": rdfxml(f"<ex:p>{text}</ex:p>").replace("\n", ""),
        "jsonld": f'{{"@id":"http://example.org/a","http://example.org/p":"{text}"}}',
        "turtle": f'{TRIPLE}"{text}" .',
        "n3": f'{TRIPLE}"{text}" .',
    }
    for format, document in documents.items():
        reasoner = Reasoner()
        reasoner.load(document.encode() if kind == "file" else io.BytesIO(document.encode()), format=format)
        ((_, _, value),) = reasoner.triples()
        assert value.lexical == text  # type: ignore[union-attr]


@pytest.mark.parametrize("kind", ["file", "stream"])
def test_errors_in_rdfxml_keep_their_line(kind: str) -> None:
    data = rdfxml("<ex:p>x</ex:p>\n" * 3000 + '<ex:p rdf:nodeID="1 2"/>' + "\n<ex:p>x</ex:p>" * 3000).encode()
    with pytest.raises(LoadError, match=r":3002:|line 3002"):
        Reasoner().load(data if kind == "file" else io.BytesIO(data), format="rdfxml")


# ---- triple terms


@pytest.mark.parametrize(
    ("format", "line", "text"),
    [
        ("ntriples", 2, f"{TRIPLE}<http://example.org/b> .\n{TRIPLE}<<( _:b <http://example.org/p> <http://example.org/o> )>> ."),
        ("ntriples", 1, f'{TRIPLE}<<( <http://example.org/s> <http://example.org/p> "x" )>> .'),
        ("ntriples", 1, TRIPLE + "<<( _:b <http://example.org/p> " * 100_000 + "_:b" + " )>>" * 100_000 + " ."),
        ("nquads", 1, f"{TRIPLE}<<( _:b <http://example.org/p> _:c )>> <http://example.org/g> ."),
        ("turtle", 2, f"{PREFIX}\n:r :p <<( _:b :p :o )>> ."),
        ("turtle", 2, f"{PREFIX}\n<< [] :p :o >> :q 5 ."),
        ("turtle", 2, f"{PREFIX}\n:s :p :o {{| :q [] |}} ."),
        ("turtle", 2, f"{PREFIX}\n:s :p :o ~ :r ."),
        ("turtle", 1, TRIPLE + "<<( _:b <http://example.org/p> " * 100_000 + "_:b" + " )>>" * 100_000 + " ."),
        ("trig", 2, f"{PREFIX}:g {{\n:s :p :o {{| :q [] |}} }}"),
        ("n3", 1, f"{PREFIX}<< :s :p :o >> :q 5 ."),
        (
            "rdfxml",
            2,
            rdfxml('<ex:p rdf:parseType="Triple"><rdf:Description rdf:nodeID="b"><ex:q>x</ex:q></rdf:Description></ex:p>'),
        ),
        ("rdfxml", 2, rdfxml('<ex:p rdf:annotation="http://example.org/r">x</ex:p>')),
        ("rdfxml", 2, rdfxml('<ex:p rdf:annotationNodeID="r">x</ex:p>', version='rdf:version="1.2"')),
        ("jsonld", 2, '{"@id": "http://example.org/a",\n"http://example.org/p": {"@id": "_:b", "@annotation": {"http://x/q": 1}}}'),
    ],
)
def test_triple_terms_are_refused(format: str, line: int, text: str) -> None:
    with pytest.raises(LoadError, match=r"triple term, reifier or annotation belongs to RDF 1\.2") as caught:
        load(text, format)
    assert caught.value.hint is not None
    assert caught.value.span is None or caught.value.span.line == line
    assert caught.value.span is not None or f"line {line}" in str(caught.value)


@pytest.mark.parametrize(
    ("format", "text"),
    [
        ("turtle", f"{PREFIX} :a\\~b :p \"<< {{| ~\" , '~' , '''<<'\"''' , \"\"\"{{|\"\"\" . # << {{| ~"),
        ("turtle", f"{PREFIX} :a :p <http://example.org/~x> , <http://example.org/%7C> ."),
        ("trig", f"{PREFIX} :g {{:a :p :b}} {{ :a :p () }}"),
        ("ntriples", f'{TRIPLE}"<< \\" <<"@x-own . # <<'),
        ("jsonld", '{"@id": "http://example.org/a", "http://example.org/p": "say \\"@annotation\\": x"}'),
        ("rdfxml", rdfxml('<ex:p>rdf:parseType="Triple"</ex:p>')),
    ],
)
def test_what_looks_like_a_triple_term(format: str, text: str) -> None:
    assert load(text, format) > 0


def test_the_base_direction_is_refused() -> None:
    with pytest.raises(LoadError, match="base direction"):
        load(rdfxml('<ex:p its:dir="ltr" xml:lang="en">x</ex:p>', version='rdf:version="1.2"'), "rdfxml")
    with pytest.raises(LoadError, match="base direction"):
        load(f'{TRIPLE}"x"@en--ltr .', "turtle")


# ---- depth


def nested(format: str, depth: int) -> str:
    """A document that is nested this deep."""
    if format == "jsonld":
        return '{"http://example.org/p":' * depth + '"x"' + "}" * depth
    if format in ("turtle", "trig", "n3"):
        return f"{PREFIX}\n:a :p " + "[ :p " * depth + ":b" + " ]" * depth + " ."
    if format == "rdfxml":
        inner = depth // 2 - 1
        return rdfxml("<ex:p><rdf:Description>" * inner + "</rdf:Description></ex:p>" * inner)
    inner = depth - 3
    many = "<ObjectComplementOf>" * inner + '<Class IRI="#A"/>' + "</ObjectComplementOf>" * inner
    return owlxml(f'<SubClassOf>{many}<Class IRI="#B"/></SubClassOf>')


@pytest.mark.parametrize("format", ["turtle", "trig", "n3", "rdfxml", "owlxml"])
@pytest.mark.sample(3)
def test_depth(format: str) -> None:
    assert load(nested(format, 4_000), format) > 1
    with pytest.raises(LoadError, match=r"nested more than 10000 deep[\s\S]*--bound depth=") as caught:
        load(nested(format, 12_000), format)
    assert "2" in str(caught.value)
    assert load(nested(format, 12_000), format, depth=13_000) > 1
    with pytest.raises(LoadError, match="nested more than 30 deep"):
        load(nested(format, 40), format, depth=30)


@pytest.mark.parametrize("depth", [JSON_DEPTH + 1, 5_000, 100_000])
def test_depth_of_json(depth: int) -> None:
    """The parser overflows the stack of the process, whatever the caller allows."""
    assert load(nested("jsonld", JSON_DEPTH), "jsonld") == JSON_DEPTH
    with pytest.raises(LoadError, match=f"nested more than {JSON_DEPTH} deep"):
        load(nested("jsonld", depth), "jsonld", depth=1_000_000)
    with pytest.raises(LoadError, match="nested more than 9 deep"):
        load(nested("jsonld", 10), "jsonld", depth=9)
    assert load('{"http://example.org/p": "' + "[{" * 1000 + '\\""}', "jsonld") == 1


def test_deep_formulas() -> None:
    with pytest.raises(LoadError, match="nested too deep"):
        load(PREFIX + "{ :a :p " * 3_000 + ":b" + " }" * 3_000 + " => {} .", "n3")


# ---- sizes


@pytest.mark.parametrize(
    ("format", "text", "triples"),
    [
        ("ntriples", f'{TRIPLE}"x" .\n{TRIPLE}"{"x" * 200_001}" .', 2),
        ("nquads", f'{TRIPLE}"x" .\n{TRIPLE}"{"x" * 200_001}" .', 2),
        ("turtle", f"{TRIPLE}'x' .\n{TRIPLE}'{'x' * 200_001}' .", 2),
        ("turtle", f"{PREFIX}\n# {'x' * 200_001}", 0),
        ("n3", f'{PREFIX}\n:a :p """{"x" * 200_001}""" .', 1),
        ("n3", f'{PREFIX}\n{{}} => {{ :a :p """{"x" * 200_001}""" }} .', 1),
        ("trig", f"{PREFIX}\n:g {{ :a :p <http://example.org/{'x' * 200_001}> }}", 1),
        ("jsonld", f'{{"@id":"http://example.org/a",\n"http://example.org/p":"{"x" * 200_001}"}}', 1),
        ("rdfxml", rdfxml(f"<ex:p>{'x' * 200_001}</ex:p>"), 1),
        ("rdfxml", rdfxml(f'<ex:p ex:q="{"x" * 400_001}"/>'), 2),
        ("owlxml", owlxml(f"<Annotation><AnnotationProperty IRI='#p'/><Literal>{'x' * 200_001}</Literal></Annotation>"), 2),
    ],
)
def test_long_literals(format: str, text: str, triples: int) -> None:
    assert load(text, format) == triples
    with pytest.raises(LoadError, match=r"longer than 200000 bytes[\s\S]*--bound literal="):
        load(text, format, literal=200_000)


def test_long_lines() -> None:
    text = f'{TRIPLE}"x" .\n{TRIPLE}"{"x" * 1000}" .\n'
    assert load(text, "ntriples", line=2000) == 2
    with pytest.raises(LoadError, match="the line is longer than 1000 bytes") as caught:
        load(text, "ntriples", line=1000)
    assert caught.value.span is not None
    assert caught.value.span.line == 2
    with pytest.raises(LoadError, match="the line is longer than 50000000 bytes"):
        load(b"x" * 60_000_000, "nquads", line=50_000_000)


@pytest.mark.skipif(CHECKED, reason="takes long without compiled kernels")
@pytest.mark.long
@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress, lzma.compress])
def test_gzip_bombs(compress: Callable[[bytes], bytes]) -> None:
    bomb = compress(f'{TRIPLE}"x" .'.encode() + b"\n" * (1 << 26))
    with pytest.raises(LoadError, match=r"unpacks to more than 200 times its size[\s\S]*--bound expansion="):
        load(bomb, "ntriples")
    with pytest.raises(LoadError, match=r"unpacks to more than 1000000 bytes[\s\S]*--bound unpacked="):
        load(bomb, "ntriples", unpacked=1_000_000)
    assert load(bomb, "ntriples", expansion=1 << 20) == 1
    assert load(compress(f'{TRIPLE}"x" .'.encode()), "ntriples") == 1


def test_other_archives_are_not_unpacked() -> None:
    with pytest.raises(LoadError, match="unpack it first"):
        load(b"PK\x03\x04anything", "turtle")


# ---- XML


def test_entities_do_not_explode() -> None:
    laughs = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 12))
    for document, format in ((rdfxml, "rdfxml"), (owlxml, "owlxml")):
        with pytest.raises(LoadError, match="longer than 65536 characters"):
            load(document("", f'<!DOCTYPE x [<!ENTITY l0 "ha">{laughs}]>'), format)
    large = f'<!DOCTYPE x [<!ENTITY l "{"x" * 60_000}">]>'
    with pytest.raises(LoadError, match=r"entities make it more than|amplification"):
        load(rdfxml("<ex:p>&l;</ex:p>" * 5_000, large), "rdfxml")
    with pytest.raises(LoadError, match=r"longer than|entities make it more than|amplification"):
        load(owlxml(f"<Annotation><AnnotationProperty IRI='#p'/><Literal>{'&l;' * 5_000}</Literal></Annotation>", large), "owlxml")


@pytest.mark.parametrize(
    "declaration",
    [
        '<!DOCTYPE x [<!ENTITY secret SYSTEM "{file}">]>',
        '<!DOCTYPE x [<!ENTITY % secret SYSTEM "{file}"> %secret;]>',
        '<!DOCTYPE x SYSTEM "{file}" []>',
    ],
)
def test_nothing_outside_is_read(declaration: str, tmp_path: Path) -> None:
    """Neither by entities nor by document types: what the file has stays where it is."""
    file = tmp_path / "secret"
    file.write_text('<!ENTITY secret "found">' if "%" in declaration or "[]" in declaration else "found")
    head = declaration.format(file=file.as_uri())
    for text, format in (
        (rdfxml("<ex:p>&secret;</ex:p>", head), "rdfxml"),
        (owlxml("<Annotation><AnnotationProperty IRI='#p'/><Literal>&secret;</Literal></Annotation>", head), "owlxml"),
    ):
        with pytest.raises(LoadError, match=r"defined outside|not defined|entity") as caught:
            load(text, format)
        assert "found" not in str(caught.value)


@pytest.mark.parametrize(
    ("format", "text"),
    [
        ("ntriples", "<urn:a> <urn:p> <urn:b> .\n<urn:a> <urn:p> <urn:c> .\n<urn:a> <urn:p> oops .\n"),
        ("turtle", "<urn:a> <urn:p> <urn:b> .\n<urn:a> <urn:p> <urn:c> .\n<urn:a> <urn:p> oops .\n"),
        ("nquads", "<urn:a> <urn:p> <urn:b> <urn:g> .\n<urn:a> <urn:p> <urn:c> .\n<urn:a> <urn:p> oops .\n"),
    ],
)
def test_nothing_of_a_broken_document_is_added(format: str, text: str) -> None:
    reasoner = Reasoner()
    reasoner.load(b"<urn:x> <urn:p> <urn:y> .", format="ntriples")
    with pytest.raises(LoadError) as caught:
        reasoner.load(text.encode(), format=format)
    assert caught.value.span is not None
    assert caught.value.span.line == 3
    assert len(list(reasoner.triples())) == 1


# ---- the settings


def test_bounds_are_set_on_the_command_line(tmp_path: Path) -> None:
    file = tmp_path / "deep.ttl"
    file.write_text(nested("turtle", 40))
    run = CliRunner().invoke
    assert run(main, ["materialise", str(file), "-o", str(tmp_path / "out.nt"), "-q"]).exit_code == 0
    refused = run(main, ["materialise", str(file), "-o", str(tmp_path / "out.nt"), "--bound", "depth=30"])
    assert refused.exit_code != 0
    assert "nested more than 30 deep" in refused.output
    assert "nested more than 30 deep" in run(main, ["imports", str(file), "--bound", "depth=30"]).output


def test_wrong_bounds() -> None:
    assert bounds_from(["depth=5", "line=7"]) == DocumentBounds(depth=5, line=7)
    with pytest.raises(UnknownNameError, match="did you mean 'depth'"):
        bounds_from(["deepth=5"])
    for setting in (f"depth={'9' * 5000}", "depth", "depth=", "depth=x", "depth=0", "depth=-1"):
        with pytest.raises(ReasonerError, match="positive integer"):
            bounds_from([setting])
    with pytest.raises(ReasonerError, match="positive integer"):
        DocumentBounds(literal=0)


def test_imported_documents_have_the_same_bounds(tmp_path: Path) -> None:
    file = tmp_path / "imported.ttl"
    file.write_text(nested("turtle", 40))
    owl_imports = b"<http://example.org/o> <http://www.w3.org/2002/07/owl#imports> <http://example.org/i> ."
    for depth, fails in ((50, False), (30, True)):
        reasoner = Reasoner()
        try:
            reasoner.load(owl_imports, catalog={"http://example.org/i": file}, bounds=DocumentBounds(depth=depth))
        except LoadError as error:
            assert fails
            assert "nested more than 30 deep" in str(error)
        else:
            assert not fails
