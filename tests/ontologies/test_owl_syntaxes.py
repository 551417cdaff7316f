"""Functional syntax, Manchester syntax and OBO: what they are mapped to, and what is said about mistakes.

The fixtures are text: ``owl/functional.txt`` and so on have documents with the axioms that they state, in functional syntax;
``owl/wrong_functional.txt`` and so on have mistakes with every word of the message.
"""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import rdflib
import rdflib.compare

from kg_reasoner import Reasoner
from kg_reasoner.errors import LoadError
from kg_reasoner.loaders.rdf.bounds import DocumentBounds
from kg_reasoner.loaders.syntaxes.constructs import SIGNATURES, Construct
from kg_reasoner.loaders.syntaxes.document_text import Settings, SourceText
from kg_reasoner.loaders.syntaxes.functional import read_functional
from kg_reasoner.loaders.syntaxes.functional_grammar import explain
from kg_reasoner.loaders.syntaxes.functional_writer import construct_text
from kg_reasoner.loaders.syntaxes.manchester import read_manchester
from kg_reasoner.loaders.syntaxes.obo import read_obo
from kg_reasoner.loaders.syntaxes.written_names import WrittenNames
from kg_reasoner.terms import IRI, OWL, RDF, RDFS, XSD
from tests.helpers.extras import needed
from tests.helpers.fixtures import blocks
from tests.ontologies.owl_syntaxes import axioms, mapped, texts, triples_of, written

FOLDER = Path(__file__).with_name("owl_syntaxes")
READERS = {"functional": read_functional, "manchester": read_manchester, "obo": read_obo}
SUFFIXES = {"functional": "ofn", "manchester": "omn", "obo": "obo"}
NAMES = WrittenNames(
    {
        "": "http://example.org/o#",
        "ex": "http://example.org/",
        "obo": "http://purl.obolibrary.org/obo/",
        "oio": "http://www.geneontology.org/formats/oboInOwl#",
        "rdf": str(RDF),
        "rdfs": str(RDFS),
        "owl": str(OWL),
        "xsd": str(XSD),
    }
)
HEADS = {
    "functional": "Prefix(:=<http://example.org/o#>) Ontology(<http://example.org/o>\n",
    "manchester": "Prefix: : <http://example.org/o#> Ontology: <http://example.org/o>\n",
    "obo": "",
}
TAILS = {"functional": "\n)", "manchester": "", "obo": ""}


def cases(name: str) -> Iterator[Any]:
    path = FOLDER / f"{name}.txt"
    if path.exists():
        for title, text in blocks(path):
            before, _, after = text.partition("\n=>\n")
            yield pytest.param(title, before, after.strip("\n"), id=f"{name}: {title}")


def stated(format: str, text: str) -> str:
    """What a document states, in functional syntax."""
    constructs = READERS[format](text, f"document.{SUFFIXES[format]}", Settings())
    return "\n".join(construct_text(construct, NAMES) for construct in constructs if construct.name != "Ontology")


@pytest.mark.parametrize(("title", "text", "expected"), [case for name in READERS for case in cases(name)])
def test_what_documents_state(title: str, text: str, expected: str, request: pytest.FixtureRequest) -> None:
    format = request.node.callspec.id.partition(":")[0]
    assert stated(format, f"{HEADS[format]}{text}{TAILS[format]}") == expected


@pytest.mark.parametrize(("title", "text", "expected"), [case for name in READERS for case in cases(f"wrong_{name}")])
@pytest.mark.sample(2)
def test_messages(title: str, text: str, expected: str, request: pytest.FixtureRequest) -> None:
    format = request.node.callspec.id.partition(":")[0].removeprefix("wrong_")
    with pytest.raises(LoadError) as caught:
        stated(format, text)
    assert str(caught.value) == expected


# ------------------------------------------------------------------------------------------------- interfaces, and their bounds

PETS = """Prefix(:=<http://example.org/o#>)
Ontology(<http://example.org/o>
  Import(<http://example.org/other>)
  SubClassOf(:Cat :Animal)
  ClassAssertion(:Cat _:x)
  ClassAssertion(:Cat :tom)
)"""
MANCHESTER_PETS = """Prefix: : <http://example.org/o#>
Ontology: <http://example.org/o>
Class: Cat SubClassOf: Animal
Individual: tom Types: Cat
"""
OBO_PETS = """format-version: 1.2
ontology: pets

[Term]
id: P:1
name: cat
is_a: P:2 ! animal

[Instance]
id: P:3
instance_of: P:1
"""


@pytest.mark.parametrize(
    ("text", "cls", "individual"),
    [
        (PETS, "http://example.org/o#Animal", "http://example.org/o#tom"),
        (MANCHESTER_PETS, "http://example.org/o#Animal", "http://example.org/o#tom"),
        (OBO_PETS, "http://purl.obolibrary.org/obo/P_2", "http://purl.obolibrary.org/obo/P_3"),
    ],
)
def test_a_reasoner_draws_conclusions(text: str, cls: str, individual: str, tmp_path: Path) -> None:
    reasoner = Reasoner(ruleset="owl2rl")
    reasoner.load(text.encode())
    assert (IRI(individual), RDF.type, IRI(cls)) in set(reasoner.triples())
    path = tmp_path / "ontology.owl"  # where the content says which syntax it is
    path.write_text(text)
    assert len(triples_of(path)) == len(triples_of(text.encode()))


def test_graphs_parse_functional_syntax_with_its_prefixes() -> None:
    graph = rdflib.Graph(store="KGReasoner")
    graph.parse(data=PETS, format="functional")
    assert dict(graph.namespaces())[""] == rdflib.URIRef("http://example.org/o#")
    assert (rdflib.URIRef("http://example.org/o#tom"), rdflib.RDF.type, rdflib.URIRef("http://example.org/o#Cat")) in graph


@pytest.mark.parametrize("suffix", ["ofn", "omn", "owx", "obo"])
def test_graphs_find_the_parser_by_the_name_of_the_file(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"pets.{suffix}"
    if suffix == "obo":
        path.write_text(OBO_PETS)
    else:
        path.write_text(rdflib.Graph().parse(data=PETS, format="ofn").serialize(format=suffix))
    assert len(rdflib.Graph().parse(path)) == len(triples_of(path))


@pytest.mark.parametrize("end", ["\r\n", "\r"])
def test_lines_of_obo_end_in_any_way(end: str) -> None:
    assert triples_of(OBO_PETS.replace("\n", end).encode(), "obo") == triples_of(OBO_PETS.encode(), "obo")


@pytest.mark.parametrize("store", ["KGReasoner", "default"])
@pytest.mark.parametrize("format", ["functional", "manchester", "owlxml"])
def test_graphs_are_serialised(store: str, format: str) -> None:
    graph = rdflib.Graph(store=store)
    graph.parse(data=PETS, format="ofn")
    text = graph.serialize(format=format)
    again = rdflib.Graph(store=store).parse(data=text, format=format)
    assert rdflib.compare.isomorphic(graph, again) or format == "manchester"  # which declares names
    assert (rdflib.URIRef("http://example.org/o#tom"), rdflib.RDF.type, rdflib.URIRef("http://example.org/o#Cat")) in again


@pytest.mark.parametrize("store", ["KGReasoner", "default"])
@pytest.mark.parametrize("is_union", [False, True])
def test_datasets_are_serialised_as_their_patterns_match(store: str, is_union: bool) -> None:
    dataset = rdflib.Dataset(store=store, default_union=is_union)
    dataset.parse(
        data="<urn:a> a owl:Class . GRAPH <urn:g> { <urn:b> a owl:Class }".replace("owl:Class", f"<{rdflib.OWL.Class}>"),
        format="trig",
    )
    text = dataset.serialize(format="ofn")
    assert ("<urn:a>" in text, "<urn:b>" in text) == (True, is_union)


def test_imports_are_found(tmp_path: Path) -> None:
    other = "Prefix: : <http://example.org/o#> Ontology: <http://example.org/other> Class: Animal SubClassOf: Thing"
    (tmp_path / "other.omn").write_text(other)
    reasoner = Reasoner(ruleset="owl2rl")
    (tmp_path / "o.ofn").write_text(PETS)
    reasoner.load(tmp_path / "o.ofn", catalog=tmp_path)
    thing = IRI("http://example.org/o#Thing")
    assert (IRI("http://example.org/o#tom"), RDF.type, thing) in set(reasoner.triples())


def test_blank_nodes_of_two_documents_are_two() -> None:
    reasoner = Reasoner()
    for _ in range(2):
        reasoner.load(PETS.encode())
    assert len({subject for subject, *_ in reasoner.triples(None, RDF.type, IRI("http://example.org/o#Cat"))}) == 3


def test_blocks_are_as_small_as_asked_for() -> None:
    from kg_reasoner.loaders.rdf.readers.reader import read
    from kg_reasoner.storage.terms.dictionary import Dictionary

    text = OBO_PETS + "".join(f"\n[Term]\nid: P:{number}\nname: {number}\n" for number in range(10, 60))
    sizes = [len(block.triples) for block in read(text.encode(), dictionary=Dictionary(), block=20)]
    assert max(sizes) == 20 and len(sizes) > 5


@pytest.mark.parametrize("format", ["functional", "manchester"])
def test_depth_and_length_are_bounded(format: str) -> None:
    inner = {
        "functional": f"SubClassOf(:A {'ObjectComplementOf(' * 50}:B{')' * 51}",
        "manchester": f"Class: A SubClassOf: {'(' * 50}B{')' * 50}",
    }
    data = f"{HEADS[format]}{inner[format]}{TAILS[format]}".encode()
    assert triples_of(data, format)
    with pytest.raises(LoadError, match="nested more than 20 deep"):
        Reasoner().load(data, format=format, bounds=DocumentBounds(depth=20))
    if format == "manchester":
        chain = f"Class: A SubClassOf: {':p some ' * 15}(:q only {':p some ' * 15}B)"
        assert triples_of(f"{HEADS[format]}ObjectProperty: p ObjectProperty: q {chain}".encode(), format)
        side_by_side = f"Class: A SubClassOf: {', '.join([':p some (:q some B and :p only B)'] * 15)}"
        for inner_text, is_deep in ((chain, True), (side_by_side, False)):
            data = f"{HEADS[format]}ObjectProperty: p ObjectProperty: q {inner_text}".encode()
            with pytest.raises(LoadError, match="nested more than 20 deep") if is_deep else contextlib.nullcontext():
                Reasoner().load(data, format=format, bounds=DocumentBounds(depth=20))
    note = {"functional": f'AnnotationAssertion(:n :A "{"x" * 5000}")', "manchester": f'Class: A Annotations: :n "{"x" * 5000}"'}
    data = f"{HEADS[format]}{note[format]}{TAILS[format]}".encode()
    with pytest.raises(LoadError, match="longer than 1000"):
        Reasoner().load(data, format=format, bounds=DocumentBounds(literal=1000))


@pytest.mark.parametrize("format", ["functional", "owlxml", "manchester"])
@pytest.mark.long
def test_deep_expressions_need_no_deep_stack(format: str, tmp_path: Path) -> None:
    expression: Any = IRI("http://example.org/o#A")
    for _ in range(3000):
        expression = Construct("ObjectComplementOf", (expression,))
    triples = mapped([Construct("SubClassOf", (IRI("http://example.org/o#A"), expression))])
    path = written(triples, tmp_path / "deep", format)
    found = triples_of(path, format)
    assert sum(property == OWL.complementOf for _, property, _ in found) == 3000


# ------------------------------------------------------------------------------------------------------------------ the grammars


@pytest.mark.long
def test_the_grammar_accepts_what_the_reader_accepts() -> None:
    """The grammar, which explains mistakes, and the reader, which is fast, know the same language."""
    for case in cases("functional"):
        _, _, axioms = case.values  # one a line
        for line in axioms.splitlines():
            assert explain(SourceText(line, "x"), 0, len(line), in_ontology=True) is None, line


def test_every_construct_has_an_example() -> None:
    text = (FOLDER / "functional.txt").read_text()
    absent = [name for name in SIGNATURES if not re.search(rf"\b{name}\(", text)]
    assert absent == ["Import", "FacetRestriction", "ObjectProperties", "DataProperties"]  # the last ones have no name there


@pytest.mark.long
def test_lark_is_imported_for_mistakes_only() -> None:
    code = (
        "import sys; from kg_reasoner import Reasoner; r = Reasoner(); "
        f"r.load({PETS.encode()!r}); r.load({OBO_PETS.encode()!r}); "
        "assert 'lark' not in sys.modules, 'lark is imported'"
    )
    subprocess.run([sys.executable, "-c", code], check=True, env={**os.environ})


# ------------------------------------------------------------------------------------------------------------------- horned-owl

HORNED = {"functional": "ofn", "owlxml": "owx", "manchester": "omn"}
UNKNOWN = re.compile(r"DLSafeRule|Declaration\(Annotation|DataAllValuesFrom\(:d :e|HasKey|Cardinality\(3 :p owl:Thing")
"""What horned-owl does not read, or reads in other words."""


@pytest.mark.parametrize("format", HORNED)
def test_horned_owl_reads_the_same(format: str, tmp_path: Path) -> None:
    """What we write, horned-owl reads as what we read."""
    horned = needed("pyhornedowl")
    lines = [
        line for case in cases("manchester" if format == "manchester" else "functional") for line in case.values[2].splitlines()
    ]
    text = "\n".join(line for line in dict.fromkeys(lines) if not UNKNOWN.search(line) and line.count('"') % 2 == 0)
    prefixes = "".join(f"Prefix({prefix}:=<{namespace}>)" for prefix, namespace in NAMES.prefixes.items())
    triples = triples_of(f"{prefixes}Ontology(<http://example.org/o>\n{text})".encode(), "functional")
    path = written(triples, tmp_path / f"ontology.{HORNED[format]}", format)
    theirs = horned.open_ontology_from_string(path.read_text(), HORNED[format]).save_to_string("ofn")
    ours = axioms(triples_of(path, format))
    assert texts(axioms(triples_of(theirs.encode(), "functional"))) == texts(ours)


LOGICAL = re.compile(r"(?:SubClassOf|EquivalentClasses|DisjointClasses|SubObjectPropertyOf|TransitiveObjectProperty)\(")


def test_horned_owl_reads_the_same_axioms_of_obo() -> None:
    """Annotations differ: horned-owl labels those of the format, and leaves out some."""
    horned = needed("pyhornedowl")
    text = """format-version: 1.2
ontology: x

[Term]
id: X:1
name: one
is_a: X:2 ! two
relationship: BFO:0000050 X:3

[Term]
id: X:2
disjoint_from: X:3

[Term]
id: X:4
intersection_of: X:1
intersection_of: BFO:0000050 X:3

[Term]
id: X:3

[Typedef]
id: BFO:0000050
is_transitive: true
is_a: RO:1

[Typedef]
id: RO:1
"""

    def logical(document: str, format: str) -> set[str]:
        return {line for line in texts(axioms(triples_of(document.encode(), format))) if LOGICAL.match(line)}

    theirs = logical(horned.open_ontology_from_string(text, "obo").save_to_string("ofn"), "functional")
    assert theirs == logical(text, "obo")
    assert len(theirs) == 6
