"""RDF/XML from the bytes of the dictionary, compared with RDF/XML from terms."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kg_reasoner.errors import OutputError
from kg_reasoner.io.rdfxml import rdfxml_blocks, rdfxml_lines
from kg_reasoner.storage.terms.dictionary import Dictionary
from kg_reasoner.storage.writers import rdfxml_elements
from kg_reasoner.terms import IRI, BlankNode, Literal
from tests.helpers.effort import examples

TEXT = st.text(st.sampled_from("a1&<>\"'\\\n\r\té\u2028\ufffd\U0001f600 "), max_size=8)
IRIS = st.sampled_from([IRI(f"http://a.org/{name}") for name in ("a", "b&c", "d'", "é", "1", "x#y", "x-y.z")] + [IRI("urn:p")])
NODES = st.sampled_from([BlankNode(label) for label in ("a", "1", "a.b", "é:x", "coded.61", "_")])
LITERALS = st.one_of(
    TEXT.map(Literal),
    TEXT.map(lambda text: Literal(text, language="en")),
    TEXT.map(lambda text: Literal(text, "http://a.org/t&u")),
)
TRIPLES = st.lists(st.tuples(IRIS | NODES, IRIS, IRIS | NODES | LITERALS), max_size=20)
PREFIXES = {"a": "http://a.org/", "xmlish": "http://b.org/", "u": "urn:"}


def both(triples: list[tuple[IRI | BlankNode, IRI, IRI | BlankNode | Literal]]) -> tuple[str, str]:
    """Return the document made of ids, and the one made of terms; or the errors."""
    dictionary = Dictionary()
    ids = np.array([[dictionary.encode(term) for term in triple] for triple in triples], np.int32).reshape(-1, 3)
    ids = ids[np.argsort(ids[:, 0], kind="stable")]
    try:
        made = b"".join(bytes(block) for block, _ in rdfxml_blocks(ids, dictionary, PREFIXES)).decode()
    except OutputError as error:
        made = str(error)
    try:
        expected = "".join(rdfxml_lines(ids.tolist(), dictionary.decode, PREFIXES))
    except OutputError as error:
        expected = str(error)
    return made, expected


@settings(max_examples=examples(200))
@given(TRIPLES)
def test_the_same_document(triples: list[tuple[IRI | BlankNode, IRI, IRI | BlankNode | Literal]]) -> None:
    made, expected = both(triples)
    assert made == expected


@pytest.mark.parametrize("text", ["\x00", "a\x0bb", "\x1f", "\ufffe", "x\uffff", "\ufffd", "\uffee"])
def test_characters_that_xml_cannot_hold(text: str) -> None:
    a, p = IRI("http://a.org/a"), IRI("http://a.org/p")
    made, expected = both([(a, p, Literal("fine")), (a, p, Literal(text))])
    assert made == expected
    assert ("cannot hold the character" in made) == (text not in ("\ufffd", "\uffee"))


def test_a_triple_longer_than_the_buffer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rdfxml_elements, "_BUFFER", 16)
    a, p = IRI("http://a.org/a"), IRI("http://a.org/p")
    made, expected = both([(a, p, Literal("&" * length)) for length in (1, 5000, 70_000)])
    assert made == expected
