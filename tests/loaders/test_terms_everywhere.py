"""What one reader accepts, every reader accepts, and every syntax can hold: the same triples come back."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kg_reasoner.errors import LoadError, OutputError, ReasonerError
from kg_reasoner.io.output import write_triples
from kg_reasoner.loaders.rdf.readers import reader as rdf
from kg_reasoner.loaders.rdf.readers.statements import parse_lines
from kg_reasoner.storage.readers.line_reading import read_lines
from kg_reasoner.storage.terms.dictionary import Dictionary
from kg_reasoner.terms import BlankNode, Triple, term_from_text
from tests.helpers.effort import examples

P = "<http://example.org/p>"
RDF_NS = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
SYNTAXES = ("ntriples", "nquads", "turtle", "trig", "n3", "rdfxml", "jsonld")

PIECES = (
    *("http", "://", "/", ":", "?", "#", "@", "%41", "%", "%zz", "[", "]", "::1", "a", "1", "80", "..", ".", "-", "_", "~", "!"),
    *("$", "&", "'", "(", ")", "*", "+", ",", ";", "=", "//", "é", "x", "Z", "{", "|", "^", "`", "\U0001f600"),
    *("\\u00E9", "\\u0020", "\\u003E"),
)
SCHEMES = ("http://", "http:", "urn:", "a:", "http:///", "h+.-:", "1a:", "http://a:", "http://example.org/", "")
IRIS = st.builds(
    lambda scheme, parts: f"<{scheme}{''.join(parts)}>", st.sampled_from(SCHEMES), st.lists(st.sampled_from(PIECES), max_size=5)
)
LABELS = st.text("aZ1_.-:é·", min_size=1, max_size=6).map("_:{}".format)
TAGS = st.lists(st.text("abxiuXZ19", min_size=1, max_size=9), min_size=1, max_size=4).map("-".join)
LANGUAGES = st.one_of(st.sampled_from(["en", "EN-gb", "zh-Hant-TW", "x-own", "de-1996", "i-klingon"]), TAGS)
TYPES = st.one_of(IRIS, st.sampled_from(["langString", "dirLangString", "PlainLiteral"]).map(f"<{RDF_NS}{{}}>".format))
SUFFIXES = st.one_of(st.just(""), LANGUAGES.map("@{}".format), TYPES.map("^^{}".format))


def written(character: str, escaped: bool) -> str:
    """A character as it stands in a string of N-Triples."""
    if character in '"\\\n\r':
        return {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r"}[character]
    if escaped or "\ud800" <= character <= "\udfff":
        return f"\\U{ord(character):08X}"
    return character


CHARACTERS = st.one_of(
    st.sampled_from(
        "aé\x00\x01\x07\x08\t\x0b\x0c\x7f\x85\xa0\u2028\u2029\ufeff\ufffe\uffff\ud800\udfff\U0001f600\"'\\\n\r{}<>&@^#"
    ),
    st.characters(),
)
TEXTS = st.one_of(
    st.lists(st.tuples(CHARACTERS, st.booleans()), max_size=8).map(lambda pairs: "".join(written(*pair) for pair in pairs)),
    st.integers(9_000, 70_000).map(lambda length: "long " * (length // 5)),
)
LITERALS = st.builds('"{}"{}'.format, TEXTS, SUFFIXES)
LINES = st.builds("{} {} {} .\n".format, st.one_of(IRIS, LABELS), st.just(P), st.one_of(IRIS, LABELS, LITERALS, LITERALS))


def read(data: bytes, format: str, base: str | None = None) -> list[Triple] | None:
    """The triples of a document, with blank nodes by number; None if it is refused."""
    dictionary = Dictionary()
    try:
        rows = [row for block in rdf.read(data, dictionary=dictionary, format=format, base=base) for row in block.triples.tolist()]
    except ReasonerError:
        return None
    blank: dict[str, BlankNode] = {}
    found = []
    for row in rows:
        terms = [term_from_text(dictionary.text(number)) for number in row]
        found.append(
            tuple(
                blank.setdefault(term.label, BlankNode(str(len(blank)))) if isinstance(term, BlankNode) else term for term in terms
            )
        )
    return found  # type: ignore[return-value]


@settings(max_examples=examples(400))
@given(LINES)
def test_the_compiled_reader_takes_nothing_that_the_full_parser_refuses(line: str) -> None:
    dictionary = Dictionary()
    data = line.encode()
    ids, _ = read_lines(dictionary, data, 3, "", lambda _: np.empty((0, 3), np.int32))
    if len(ids):
        texts, _ = parse_lines([data], str)
        assert [dictionary.text(number) for number in ids[0].tolist()] == texts


@settings(max_examples=examples(200))
@given(LINES)
def test_all_readers_agree(line: str) -> None:
    data = line.encode()
    expected = read(data, "ntriples")
    for format in ("nquads", "turtle", "trig", "n3"):
        found = read(data, format)
        if expected is not None or format == "nquads":
            assert found == expected, format


@settings(max_examples=examples(200))
@given(LINES)
def test_every_syntax_holds_what_was_read(line: str) -> None:
    triples = read(line.encode(), "ntriples")
    if triples is None:
        return
    with tempfile.TemporaryDirectory() as folder:
        for format in SYNTAXES:
            path = Path(folder, format)
            try:
                write_triples(triples, path, format)
            except OutputError as error:
                assert format == "rdfxml"
                assert "RDF/XML cannot hold the character" in str(error)
            else:
                assert read(path.read_bytes(), format) == triples, format


@pytest.mark.parametrize("label", ["a b", "a:b", "é", "a.", ".a", "-", "a/b", "coded.61", "1", "#", "a\u2028b", "\U0001f600"])
def test_labels_of_blank_nodes_from_memory(label: str, tmp_path: Path) -> None:
    """rdflib and our own terms allow any label; each is written as one that all readers know."""
    node, other = BlankNode(label), BlankNode("coded.61")
    triples = [(node, term_from_text(P), other), (other, term_from_text(P), node)]
    for format in SYNTAXES:
        path = tmp_path / format
        write_triples(triples, path, format)
        found = read(path.read_bytes(), format)
        assert found is not None
        assert len({term for subject, _, value in found for term in (subject, value)}) == len({node, other})
        assert len(set(found)) == len(set(triples))


@pytest.mark.parametrize("tag", ["a", "abcdefghi", "en--gb", "en-", "x"])
def test_invalid_language_tags(tag: str) -> None:
    from kg_reasoner.terms import Literal

    literal = Literal("x", f"{RDF_NS}langString", tag)
    with pytest.raises(LoadError, match="invalid language tag"):
        list(rdf.read([(term_from_text(P), term_from_text(P), literal)], dictionary=Dictionary()))
    assert read(f'{P} {P} "x"@{tag} .'.encode(), "ntriples") is None
    assert read(f'{P} {P} "x"@{tag} .'.encode(), "turtle") is None
    assert read(f'{P} {P} "x"@{tag} . {{}} => {{}} .'.encode(), "n3") is None
