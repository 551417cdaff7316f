"""`parse` of graphs over the store reads what rdflib's own parsers read, in blocks: the oracle is rdflib with its own store."""

from __future__ import annotations

import io
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
import rdflib
from hypothesis import given, settings
from hypothesis import strategies as st
from rdflib import RDF, XSD, BNode, Dataset, Graph, Literal, Namespace, URIRef, plugin
from rdflib.compare import isomorphic
from rdflib.graph import DATASET_DEFAULT_GRAPH_ID
from rdflib.parser import Parser
from rdflib.plugins.parsers import jsonld, notation3, nquads, ntriples, rdfxml, trig
from rdflib.store import TripleAddedEvent

from kg_reasoner import KGReasonerStore, Reasoner, graph_of, store_of
from kg_reasoner.errors import LoadError, ReasonerError
from kg_reasoner.loaders.rdf.bounds import DocumentBounds
from kg_reasoner.rdflib_store.documents import parsing
from kg_reasoner.storage.terms.dictionary import Dictionary
from tests.helpers.effort import examples

EX = Namespace("http://example.org/")
TRIPLES = {"nt": ntriples.NTParser, "turtle": notation3.TurtleParser, "xml": rdfxml.RDFXMLParser, "json-ld": jsonld.JsonLDParser}
QUADS = {"nquads": nquads.NQuadsParser, "trig": trig.TrigParser, "json-ld": jsonld.JsonLDParser}

DOCUMENTS = {
    "turtle": """
        @prefix z: <http://example.org/z#> . @prefix : <#> . PREFIX a: <http://example.org/a/> @prefix b: <http://example.org/a/> .
        # @prefix a: <http://example.org/no> .
        z:s a:p "01"^^<http://www.w3.org/2001/XMLSchema#integer>, 1.50, 1e3, true, "x@en"@en, '''two
        lines\\u00e9''', [ a:q ( _:x "\\"" ) ], _:x ; :relative <../up>, <> .
        @prefix z: <http://example.org/z2#> . z:s2 a z:C .
        """,
    "nt": """
        <http://example.org/s> <http://example.org/p> _:x . # comment
        _:x <http://example.org/p> "2020-01-01T00:00:00Z"^^<http://www.w3.org/2001/XMLSchema#dateTime> .
        _:x <http://example.org/p> "caf\\u00E9\\n"@fr .
        """.replace("        ", ""),
    "xml": """<?xml version="1.0"?>
        <!DOCTYPE r [<!ENTITY e "http://example.org/">]>
        <r:RDF xmlns:r="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://example.org/" xmlns:z="http://example.org/z#"
               xml:base="http://example.org/base/">
          <!-- comment -->
          <r:Description r:about="&e;s"><p r:resource="rel"/><z:q r:parseType="Collection"><C r:ID="c"/></z:q></r:Description>
          <n:C xmlns:n="http://example.org/n#" r:nodeID="x"><p r:datatype="http://www.w3.org/2001/XMLSchema#integer">007</p></n:C>
          <n:D xmlns:n="http://example.org/n2#" n:flag="on"><p r:nodeID="x"/><p><![CDATA[a < b]]></p></n:D>
        </r:RDF>""",
    "json-ld": """
        {"@context": {"@vocab": "http://example.org/v#", "z": "http://example.org/z/", "name": "z:name",
                      "knows": {"@id": "z:knows", "@type": "@id"}},
         "@id": "http://example.org/a", "name": ["Ann", {"@value": "Anne", "@language": "fr"}], "knows": ["b", "_:x"],
         "age": 7, "weight": 61.5, "z:list": {"@list": [1, true]}, "friend": {"@id": "_:x", "name": "X"}}
        """,
}
"""Each with blank nodes, prefixes, relative IRIs and literals that rdflib normalises."""


def ours(graph: Graph) -> set[Any]:
    """Return the explicit triples of a graph over the store."""
    return set(store_of(graph).explicit)


def new() -> Graph:
    return Graph(store=KGReasonerStore(Reasoner()))


def dataset() -> Dataset:
    return Dataset(store=KGReasonerStore(Reasoner()))


def as_graph(triples: Iterable[Any]) -> Graph:
    graph = Graph()
    for triple in triples:
        graph.add(triple)
    return graph


def one_by_one(triples: Iterable[Any]) -> Graph:
    """Return triples as the store shows them; to it, a plain literal and one of xsd:string are the same."""
    graph = new()
    for triple in triples:
        graph.add(triple)
    return as_graph(ours(graph))


def reified(dataset: Dataset) -> Graph:
    """Return a graph that states the quads of a dataset, to compare datasets up to their blank nodes."""
    graph = Graph()
    for number, quad in enumerate(dataset.quads()):
        for part, term in zip((EX.s, EX.p, EX.o, EX.g), quad, strict=True):
            graph.add((BNode(f"quad{number}"), part, term or DATASET_DEFAULT_GRAPH_ID))
    return graph


def same_as_rdflib(format: str | None = None, **source: Any) -> Graph:
    """Parse into a graph over the store and into one of rdflib, whose triples are then added one by one."""
    found, expected = new().parse(format=format, **source), Graph().parse(format=format, **source)
    assert isomorphic(as_graph(ours(found)), one_by_one(expected))
    assert list(found.namespaces()) == list(expected.namespaces())
    return found


@pytest.fixture
def in_blocks(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The number of triples in each document that has been added in blocks."""
    heard: list[int] = []
    real = KGReasonerStore.add_rows

    def add_rows(self: KGReasonerStore, triples: Any, *others: Any) -> None:
        heard.append(len(triples))
        real(self, triples, *others)

    monkeypatch.setattr(KGReasonerStore, "add_rows", add_rows)
    return heard


# --- the same triples ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("format", DOCUMENTS)
def test_documents_are_read_as_rdflib_reads_them(format: str, in_blocks: list[int]) -> None:
    same_as_rdflib(format, data=DOCUMENTS[format])
    same_as_rdflib(format, data=DOCUMENTS[format].encode(), publicID="http://example.org/doc/x.rdf#frag")
    assert len(in_blocks) == 2


TERMS = st.sampled_from([EX.a, EX.b, URIRef("http://example.org/ns#c"), BNode("x"), BNode("y")])
FORMS = {
    XSD.integer: ["7", "007", "-0", "+1"],
    XSD.boolean: ["true", "1", "0"],
    XSD.decimal: ["1.50", "01.0", "7"],
    XSD.double: ["1e1", "1.0"],
    XSD.dateTime: ["2020-01-01T00:00:00Z", "2020-01-01T00:00:00.500"],
    XSD.date: ["2000-01-01", "no date"],
    XSD.token: [" x  y ", "x"],
    XSD.string: ["x"],
    EX.type: ["x", "1"],
}
LITERALS = st.one_of(
    st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=4).map(Literal),
    st.sampled_from([Literal('a\n\t"\\', lang="en"), Literal("b", lang="pt-br")]),
    st.sampled_from([Literal(form, datatype=kind, normalize=False) for kind, forms in FORMS.items() for form in forms]),
)
ROWS = st.lists(st.tuples(TERMS, st.sampled_from([EX.p, EX.q]), st.one_of(TERMS, LITERALS)), max_size=12)


@pytest.mark.parametrize("format", TRIPLES)
@settings(max_examples=examples(40), deadline=None)
@given(rows=ROWS)
def test_any_graph_is_read_as_rdflib_reads_it(format: str, rows: list[Any]) -> None:
    same_as_rdflib(format, data=as_graph(rows).serialize(format=format))


@pytest.mark.parametrize("format", QUADS)
@settings(max_examples=examples(40), deadline=None)
@given(
    rows=st.lists(st.tuples(TERMS, st.just(EX.p), st.one_of(TERMS, LITERALS), st.sampled_from([EX.g1, EX.g2, None])), max_size=9)
)
def test_any_dataset_is_read_as_rdflib_reads_it(format: str, rows: list[Any]) -> None:
    plain = Dataset()
    for *triple, name in rows:
        (plain.default_graph if name is None else plain.graph(name)).add(tuple(triple))  # type: ignore[arg-type]
    text = plain.serialize(format=format)
    expected = dataset()
    for *triple, name in Dataset().parse(data=text, format=format).quads():
        expected.graph(name or DATASET_DEFAULT_GRAPH_ID).add(tuple(triple))  # type: ignore[arg-type]
    assert isomorphic(reified(dataset().parse(data=text, format=format)), reified(expected))


def test_the_format_is_guessed_as_rdflib_does(tmp_path: Path) -> None:
    same_as_rdflib(data=DOCUMENTS["turtle"])
    for format, name in (("turtle", "a.ttl"), ("xml", "a.rdf"), ("nt", "a.nt"), ("json-ld", "a.jsonld")):
        (tmp_path / name).write_text(DOCUMENTS[format])
        same_as_rdflib(source=tmp_path / name)


@pytest.mark.parametrize("format", DOCUMENTS)
def test_every_kind_of_source(format: str, tmp_path: Path, in_blocks: list[int]) -> None:
    path = tmp_path / "with space"
    path.write_text(DOCUMENTS[format], encoding="utf-8")
    same_as_rdflib(format, location=str(path))
    same_as_rdflib(format, source=str(path))
    base = "http://example.org/"
    for opened in (
        lambda: path.open("rb"),
        lambda: path.open(encoding="utf-8"),
        lambda: io.BytesIO(path.read_bytes()),
        lambda: io.StringIO(path.read_text(encoding="utf-8")),
    ):
        found, expected = new().parse(opened(), format=format, publicID=base), Graph().parse(opened(), format=format, publicID=base)
        assert isomorphic(as_graph(ours(found)), expected)
    with path.open("rb") as one, path.open("rb") as other:
        assert isomorphic(as_graph(ours(new().parse(file=one, format=format))), Graph().parse(file=other, format=format))
    assert len(in_blocks) == 7


def test_text_in_another_encoding(tmp_path: Path) -> None:
    path = tmp_path / "latin.ttl"
    path.write_text('<http://example.org/a> <http://example.org/p> "café" .', encoding="latin-1")
    with path.open(encoding="latin-1") as file:
        assert ours(new().parse(file, format="turtle")) == {(EX.a, EX.p, Literal("café"))}
    text = (
        DOCUMENTS["xml"]
        .replace('<?xml version="1.0"?>', '<?xml version="1.0" encoding="iso-8859-1"?>')
        .replace("on<", "é<")
        .replace('"on"', '"é"')
    )
    assert any(value == Literal("é") for *_, value in ours(new().parse(data=text, format="xml")))
    assert any(value == Literal("é") for *_, value in ours(new().parse(data=text.encode("latin-1"), format="xml")))


# --- blank nodes, literals, prefixes -----------------------------------------------------------------------------------------


def test_each_parse_has_new_blank_nodes() -> None:
    text = "_:x <http://example.org/p> [ <http://example.org/q> _:x ] ."
    graph, other = new(), new()
    for target in (graph, graph, other):
        target.parse(data=text)
    labels = [{term for triple in ours(target) for term in triple if isinstance(term, BNode)} for target in (graph, other)]
    assert [len(found) for found in labels] == [4, 2]
    assert labels[0].isdisjoint(labels[1])
    assert not any(str(label).endswith("x") and len(str(label)) < 20 for label in labels[0])


def test_literals_are_found_by_literals_of_rdflib(monkeypatch: pytest.MonkeyPatch) -> None:
    text = f'<{EX.a}> <{EX.p}> "007"^^<{XSD.integer}>, "7"^^<{XSD.integer}>, "1"^^<{XSD.boolean}>, "x"^^<{XSD.integer}> .'
    graph = new().parse(data=text)
    assert (EX.a, EX.p, Literal("007", datatype=XSD.integer)) in graph
    assert {str(value) for *_, value in ours(graph)} == {"7", "true", "x"}
    monkeypatch.setattr(rdflib, "NORMALIZE_LITERALS", False)
    assert {str(value) for *_, value in ours(new().parse(data=text))} == {"007", "7", "1", "x"}


def test_prefixes_that_are_bound_already() -> None:
    text = "@prefix ex: <http://example.org/other#> . @prefix foaf: <http://example.org/> . ex:a ex:p ex:b ."
    graphs = new(), Graph()
    for graph in graphs:
        graph.bind("ex", EX)
        graph.parse(data=text)
        graph.parse(data=DOCUMENTS["xml"], format="xml")
    assert list(graphs[0].namespaces()) == list(graphs[1].namespaces())


# --- graphs of a dataset ----------------------------------------------------------------------------------------------------

TRIG = "@prefix : <http://example.org/> . :a :p _:x . :g { :a :q _:x } _:h { _:x :r _:h }"


def test_graphs_named_by_blank_nodes_are_kept() -> None:
    found = dataset().parse(data=TRIG, format="trig")
    quads = {(property, name) for _, property, _, name in found.quads()}
    (blank,) = {name for name in found.store.contexts() if isinstance(name, BNode)}
    assert quads == {(EX.p, DATASET_DEFAULT_GRAPH_ID), (EX.q, EX.g), (EX.r, blank)}
    assert {subject for subject, *_ in found.quads((None, EX.r, blank, None))} == {
        value for *_, value, _ in found.quads((EX.a, EX.p, None, None))
    }


@pytest.mark.parametrize("options", [{}, {"auto_compact": True}, {"context": {"ex": str(EX)}}])
def test_datasets_that_rdflib_writes_as_jsonld(options: dict[str, Any]) -> None:
    written = Dataset()
    for triple in ((EX.a, EX.p, EX.b), (EX.b, EX.p, EX.c)):  # a single node would stand beside the named graphs
        written.add(triple)
        written.graph(EX.g).add(triple)
    text = written.serialize(format="json-ld", **options)
    assert set(dataset().parse(data=text, format="json-ld").quads()) == set(written.quads())


@pytest.mark.parametrize("reasoning", ["union", "graph"])
def test_parse_into_one_graph_of_a_dataset(reasoning: Any) -> None:
    whole = Dataset(store=KGReasonerStore(Reasoner(ruleset="rdfs"), reasoning=reasoning))
    whole.graph(EX.g).parse(data="@prefix : <http://example.org/> . :a :p :b .")
    whole.graph(EX.h).parse(
        data="<http://example.org/a> <http://example.org/p> <http://example.org/c> <http://example.org/k> .", format="nquads"
    )
    assert {(str(value)[-1], str(name)[-1]) for _, _, value, name in whole.quads((EX.a, EX.p, None, None))} == {
        ("b", "g"),
        ("c", "k"),
    }


def test_the_default_graph_by_its_name() -> None:
    text = f"<{EX.a}> <{EX.p}> <{EX.b}> <{DATASET_DEFAULT_GRAPH_ID}> ."
    assert (EX.a, EX.p, EX.b) in dataset().parse(data=text, format="nquads").default_graph


def test_the_graph_of_inferred_triples_is_read_only() -> None:
    whole = Dataset(store=KGReasonerStore(Reasoner(), inferred_graph=str(EX.inferred)))
    with pytest.raises(ReasonerError, match="read-only"):
        whole.parse(data="@prefix : <http://example.org/> . :a :p :b . :inferred { :a :p :c }", format="trig")
    assert len(store_of(whole).explicit) == 0
    with pytest.raises(ReasonerError, match="view"):
        store_of(whole).explicit.parse(data="<http://example.org/a> a <http://example.org/b> .")


# --- errors, events, transactions ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("format", DOCUMENTS)
def test_a_document_with_an_error_adds_nothing(format: str) -> None:
    graph = new()
    text = DOCUMENTS[format].rstrip()[:-9] + "\n <broken"
    with pytest.raises(LoadError):
        graph.parse(data=text, format=format)
    assert (len(graph), dict(graph.namespaces()).get("z")) == (0, None)


def test_errors_show_the_line(tmp_path: Path) -> None:
    path = tmp_path / "a.ttl"
    path.write_text("@prefix : <http://example.org/> .\n:a :b c:d .\n")
    with pytest.raises(LoadError, match=r"a\.ttl:2") as error:
        new().parse(path)
    assert ":a :b c:d ." in str(error.value)
    with pytest.raises(LoadError, match="it looks like rdfxml"):
        new().parse(data=DOCUMENTS["xml"])


def test_bounds_of_documents() -> None:
    text = "<http://example.org/a> <http://example.org/p> [ <http://example.org/p> [ <http://example.org/p> 1 ] ] ."
    with pytest.raises(LoadError, match="nested"):
        new().parse(data=text, bounds=DocumentBounds(depth=1))
    assert len(ours(new().parse(data=text, bounds=DocumentBounds(depth=2)))) == 3


@pytest.mark.parametrize("format", ["turtle", "trig"])
def test_subscribers_hear_of_each_triple(format: str) -> None:
    graph = new()
    heard: list[Any] = []
    graph.store.dispatcher.subscribe(TripleAddedEvent, lambda event: heard.append((event.triple, event.context.identifier)))
    text = "@prefix : <http://example.org/> . :a :p :b ." + (" :g { :a :q :b }" if format == "trig" else "")
    graph.parse(data=text, format=format)
    assert [triple for triple, _ in heard] == [(EX.a, EX.p, EX.b), (EX.a, EX.q, EX.b)][: len(heard)]
    assert len(heard) == (2 if format == "trig" else 1)
    assert format == "turtle" or heard[1][1] == EX.g


def test_parsing_is_part_of_transactions() -> None:
    graph = new()
    graph.parse(data="<http://example.org/a> a <http://example.org/b> .")
    graph.rollback()
    assert len(graph) == 0
    reasoner = Reasoner()
    guest = graph_of(reasoner)
    with reasoner.transaction() as transaction:
        guest.add((EX.x, RDF.type, EX.y))
        guest.parse(data="<http://example.org/a> a <http://example.org/b> .")
        assert len(guest) == 2
        transaction.rollback()
    assert len(guest) == 0


def test_ids_of_a_reasoner_that_has_been_replaced() -> None:
    """Another rule set is opened by another thread while the document is read."""
    graph = Graph(store=KGReasonerStore("rdfs"))
    old = Dictionary()
    ids = old.encode_texts([f"<{term}>" for term in (EX.c, EX.a, EX.p, EX.b)])[None, 1:]
    store_of(graph).add_rows(ids, None, graph, old)
    assert ours(graph) == {(EX.a, EX.p, EX.b)}


# --- what rdflib's parsers read ------------------------------------------------------------------------------------------


def test_graphs_over_other_stores_have_the_parsers_of_rdflib(monkeypatch: pytest.MonkeyPatch) -> None:
    for format, original in {**TRIPLES, **QUADS}.items():
        assert issubclass(plugin.get(format, Parser), original)
    monkeypatch.setattr(parsing, "parse_in_blocks", lambda *_, **__: pytest.fail("in blocks"))
    for format, text in DOCUMENTS.items():
        assert len(Graph().parse(data=text, format=format)) > 1
        assert len(Dataset().parse(data=text, format=format).default_graph) > 1


def test_a_graph_that_overrides_add_gets_every_triple() -> None:
    class Counting(Graph):
        count = 0

        def add(self, triple: Any) -> Counting:
            self.count += 1
            return super().add(triple)

    graph = Counting(store=KGReasonerStore(Reasoner()))
    graph.parse(data="@prefix : <http://example.org/> . :a :p :b, :c .")
    assert (graph.count, len(graph)) == (2, 2)


def test_options_of_rdflib_parsers(in_blocks: list[int]) -> None:
    text = f"_:x <{EX.p}> <{EX.b}> ."
    labels: dict[str, BNode] = {}
    graph = new()
    for _ in range(2):
        graph.parse(data=text, format="nt", bnode_context=labels)
    assert ours(graph) == {(labels["x"], EX.p, EX.b)}
    assert all(isinstance(subject, URIRef) for subject, *_ in ours(new().parse(data=text, format="nquads", skolemize=True)))
    assert (BNode("x"), RDF.type, URIRef("http://example.org/n#C")) in ours(
        new().parse(data=DOCUMENTS["xml"], format="xml", preserve_bnode_ids=True)
    )
    assert in_blocks == []


def test_jsonld_that_only_rdflib_reads(tmp_path: Path, in_blocks: list[int]) -> None:
    context = tmp_path / "context.jsonld"
    context.write_text('{"@context": {"p": "http://example.org/p"}}')
    remote = f'{{"@context": "{context.as_uri()}", "@id": "http://example.org/a", "p": "x"}}'
    for data in (remote, remote.encode(), {"@id": str(EX.a), str(EX.p): "x"}):
        assert ours(new().parse(data=data, format="json-ld")) == {(EX.a, EX.p, Literal("x"))}
    nested = f'{{"@id": "{EX.a}", "{EX.p}": {{"@context": ["{context.as_uri()}"], "@id": "{EX.b}", "p": 1}}}}'
    assert len(ours(new().parse(data=nested, format="json-ld"))) == 2
    assert in_blocks == []


@pytest.mark.parametrize(
    "text",
    [
        '<r:D xmlns:r="RDF" xmlns:e="http://example.org/" r:about="#a"><e:p r:resource="b"/></r:D>',
        '<r:D xmlns:r="RDF" xmlns:e="http://example.org/"><e:p r:parseType="Literal"><e:b>x</e:b><!-- y --></e:p></r:D>',
        '<r:D xmlns:r="RDF" xmlns:e="http://example.org/"><e:p r:parseType="Literal"></e:p></r:D>',
    ],
)
def test_rdfxml_that_only_rdflib_reads(text: str, in_blocks: list[int], tmp_path: Path) -> None:
    text = text.replace("r:D", "r:Description").replace('"RDF"', f'"{RDF}"')
    same_as_rdflib("xml", data=text)
    (tmp_path / "a.rdf").write_text(text)
    same_as_rdflib(source=tmp_path / "a.rdf")
    assert len(in_blocks) == ('"#a"' in text)  # a file has a base


# --- many triples at once --------------------------------------------------------------------------------------------------


def many(count: int = 150) -> list[Any]:
    return [(EX[f"s{number % 7}"], EX.p, Literal(number) if number % 2 else BNode(f"b{number}")) for number in range(count)]


def test_adding_many_quads() -> None:
    whole = dataset()
    names = [EX.g1, EX.g2, DATASET_DEFAULT_GRAPH_ID]
    whole.addN((*triple, whole.graph(names[number % 3])) for number, triple in enumerate(many()))
    expected = {(*triple, names[number % 3]) for number, triple in enumerate(many())}
    assert {(*quad[:3], quad[3] or DATASET_DEFAULT_GRAPH_ID) for quad in whole.quads()} == expected
    again = dataset()
    again += whole
    assert set(again.quads()) == set(whole.quads())


@pytest.mark.parametrize(
    ("triple", "message"),
    [
        ((Literal("x"), EX.p, EX.b), "cannot be the subject"),
        ((EX.a, BNode("p"), EX.b), "cannot be the predicate"),
        ((EX.a, EX.p, URIRef("http://example.org/a b")), "not a valid IRI"),
        ((EX.a, EX.p, URIRef("http://example.org/a\nb")), "not a valid IRI"),
        ((EX.a, EX.p, URIRef("http://example.org/\ud800")), "not a valid IRI"),
    ],
)
def test_adding_many_triples_of_which_one_is_wrong(triple: Any, message: str) -> None:
    graph = new()
    with pytest.raises(LoadError, match=message):
        graph += [*many(), triple, *many(10)]
    assert len(graph) == 0


@settings(max_examples=examples(40), deadline=None)
@given(rows=ROWS, times=st.integers(1, 60))
def test_copying_any_graph(rows: list[Any], times: int) -> None:
    """Of distinct objects for the same term, and of the same objects."""
    rows = rows * times
    for source in (as_graph(rows), rows):
        graph = new()
        graph += source
        assert ours(graph) == set(one_by_one(rows))
        again = new()
        again += graph
        assert ours(again) == ours(graph)
