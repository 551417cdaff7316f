"""Round trips through functional syntax, Manchester syntax and OWL/XML: the W3C's cases and random ontologies."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from kg_reasoner.errors import OutputError
from kg_reasoner.loaders.syntaxes.constructs import AXIOMS, KINDS, SIGNATURES, Construct, Malformed, Part, check
from kg_reasoner.loaders.syntaxes.functional_writer import functional_lines
from kg_reasoner.terms import IRI, RDF, RDFS, XSD, BlankNode, Literal
from tests.helpers.effort import by_effort, examples
from tests.helpers.fixtures import blocks
from tests.helpers.suites import SUITES, needs_suite
from tests.ontologies.owl_syntaxes import axioms, mapped, texts, triples_of, written

CASES = SUITES / "owl2" / "cases"
FORMATS = ("functional", "owlxml", "manchester")
LOSSY = ("Ontology", "Declaration")
"""What Manchester syntax adds: a frame declares its name."""


def documents() -> list[Path]:
    return [path for path in sorted(CASES.glob("*/*.nt")) if path.stat().st_size]


@needs_suite("owl2")
@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.sample(3)
def test_the_cases_of_the_w3c(format: str, tmp_path: Path) -> None:
    refused = 0
    for path in documents()[:: by_effort(3, 1, 1)]:
        before = axioms(triples_of(path))
        without = LOSSY if format == "manchester" else ("Ontology",)
        try:
            file = written(mapped(before), tmp_path / "ontology", format)
        except OutputError as error:
            assert format == "manchester" and "has no form for" in str(error)
            refused += 1
            continue
        after = axioms(triples_of(file, format))
        assert texts(after, without) == texts(before, without), path
    assert refused <= 10  # intersections of one class, which OWL 1 had


@pytest.mark.parametrize("format", ["functional", "owlxml"])
def test_documents_of_all_axioms(format: str, tmp_path: Path) -> None:
    """Every kind of axiom, rules of SWRL among them, is the same axiom after being written and read."""
    fixtures = Path(__file__).with_name("owl_syntaxes") / "functional.txt"
    lines = [line for _, text in blocks(fixtures) for line in text.partition("\n=>\n")[2].splitlines()]
    prefixes = "".join(f"Prefix({prefix}:=<http://example.org/{space}>)" for prefix, space in (("", "o#"), ("ex", "")))
    triples = triples_of(f"{prefixes}Ontology(<http://example.org/o>\n{chr(10).join(dict.fromkeys(lines))})".encode())
    warned: list[str] = []
    before = axioms(triples)
    path = written(triples, tmp_path / "ontology", format, warned.append)
    assert texts(axioms(triples_of(path, format)), ()) == texts(before, ())
    assert any(found.name == "DLSafeRule" for found in before)
    assert not warned


# ---------------------------------------------------------------------------------------------------------- random ontologies

EX = "http://example.org/o#"
NAMES = {
    "class": [IRI(f"{EX}{name}") for name in "ABC"],
    "datatype": [XSD.integer, XSD.string, IRI(f"{EX}T")],
    "object-property": [IRI(f"{EX}{name}") for name in "pqr"],
    "data-property": [IRI(f"{EX}{name}") for name in "def"],
    "annotation-property": [IRI(f"{EX}note"), IRI(f"{EX}remark"), RDFS.label],
    "individual": [*(IRI(f"{EX}{name}") for name in "ijk"), BlankNode("x")],
    "iri": [IRI(f"{EX}A"), IRI("http://example.org/other/b-c.d")],
}
LITERALS = [
    Literal("a"),
    Literal('quoted "x" and \\ and\nnew line'),
    Literal("1", XSD.integer.value),
    Literal("chat", RDF.langString.value, "fr"),
    Literal("(a) # <b>", f"{EX}T"),
]
FACETS = [XSD[name] for name in ("minInclusive", "maxExclusive", "length", "pattern")]
DECLARED = [
    Construct("Declaration", (Construct(entity, (name,)),))
    for entity, kind in (
        ("Class", "class"),
        ("ObjectProperty", "object-property"),
        ("DataProperty", "data-property"),
        ("AnnotationProperty", "annotation-property"),
    )
    for name in NAMES[kind]
] + [Construct("Declaration", (Construct("Datatype", (IRI(f"{EX}T"),)),))]
LEAVES = {
    "class-name": "class",
    "data-range": "datatype",
    "object-property-or-chain": "object-property",
    "object-property-name": "object-property",
    "subject": "iri",
}


def parts(kind: str, depth: int) -> st.SearchStrategy[Part]:
    """Parts of a kind, with constructs inside each other up to a depth."""
    if kind == "literal":
        return st.sampled_from(LITERALS)
    if kind == "number":
        return st.integers(0, 3)
    if kind == "value":
        return st.one_of(st.sampled_from(LITERALS), st.sampled_from(NAMES["individual"]))
    inner = sorted(KINDS[kind].constructs - {"FacetRestriction"}) if depth else []
    if kind == "facet":
        return st.builds(
            lambda iri, value: Construct("FacetRestriction", (iri, value)), st.sampled_from(FACETS), st.sampled_from(LITERALS)
        )
    if kind in ("object-properties", "data-properties"):
        name = "ObjectProperties" if kind.startswith("object") else "DataProperties"
        return constructs(name, depth)
    if kind in ("entity", "body", "head"):
        return st.one_of([constructs(name, depth) for name in sorted(KINDS[kind].constructs)])
    leaves = st.sampled_from(NAMES[LEAVES.get(kind, kind)])
    return st.one_of(leaves, *(constructs(name, depth - 1) for name in inner)) if inner else leaves


@st.composite
def constructs(draw: st.DrawFn, name: str, depth: int = 2) -> Construct:
    found: list[Part] = []
    for slot in SIGNATURES[name]:
        least = max(slot.least, 2) if name.endswith(("IntersectionOf", "UnionOf")) else slot.least
        count = draw(st.integers(least, least + 1 if slot.most is None else slot.most))
        if name in ("DataSomeValuesFrom", "DataAllValuesFrom"):
            count = 1  # several properties have no form in Manchester syntax
        chosen = draw(st.lists(parts(slot.kind, depth), min_size=count, max_size=count, unique_by=str))
        found += chosen
    return Construct(name, tuple(found))


@st.composite
def annotated(draw: st.DrawFn) -> Construct:
    name = draw(st.sampled_from(sorted(set(AXIOMS) - {"DLSafeRule", "Declaration"})))
    annotations = draw(st.lists(constructs("Annotation"), max_size=2, unique_by=str))
    return draw(constructs(name))._replace(annotations=tuple(annotations))


def is_valid(construct: Construct) -> bool:
    try:
        check(construct)
    except Malformed:
        return False
    return True


ONTOLOGIES = st.lists(annotated().filter(is_valid), min_size=1, max_size=4)


@pytest.mark.parametrize("format", FORMATS)
@given(ontology=ONTOLOGIES)
@settings(deadline=None, max_examples=examples(150))
def test_random_ontologies(format: str, ontology: list[Construct], tmp_path_factory: pytest.TempPathFactory) -> None:
    """What is read again is what was written; what two axioms say together in RDF is the same before and after."""
    before = axioms(mapped([Construct("Ontology", (IRI("http://example.org/o"),)), *DECLARED, *ontology]))
    without = LOSSY if format == "manchester" else ()
    try:
        file = written(mapped(before), tmp_path_factory.getbasetemp() / f"random.{format}", format)
    except OutputError as error:
        assert format == "manchester" and re.search("has no form for", str(error))
        return
    assert texts(axioms(triples_of(file, format)), without) == texts(before, without)


@given(ontology=ONTOLOGIES)
@example(ontology=[Construct("DatatypeDefinition", (IRI(f"{EX}T"), XSD.integer))])
@settings(deadline=None, max_examples=examples(150))
def test_documents_without_declarations(ontology: list[Construct]) -> None:
    """What a document in functional syntax says does not depend on whether it declares its names."""
    text = "\n".join(functional_lines([Construct("Ontology", ()), *ontology], {}))
    assert texts(axioms(triples_of(text.encode(), "functional")), LOSSY) == texts(axioms(mapped([*DECLARED, *ontology])), LOSSY)


def test_a_declaration_is_added_only_where_triples_do_not_tell() -> None:
    document = """
        SubClassOf(:A DataSomeValuesFrom(:d DatatypeRestriction(xsd:integer xsd:minInclusive "1"^^xsd:integer)))
        SubClassOf(:A DataMaxCardinality(1 :e xsd:string)) SubClassOf(:A ObjectSomeValuesFrom(:r :B))
        DataPropertyAssertion(:f :i "x") FunctionalDataProperty(:f) DataPropertyRange(:g xsd:string)
        SubDataPropertyOf(:h :k) AnnotationAssertion(:note :A "x")
    """
    found = axioms(triples_of(f"Prefix(:=<{EX}>) Ontology({document})".encode(), "functional"))
    declared = texts([each for each in found if each.name == "Declaration"])
    assert declared == Counter(
        [*(f"Declaration(DataProperty(<{EX}{name}>))" for name in "hk"), f"Declaration(AnnotationProperty(<{EX}note>))"]
    )
    assert len(found) - len(declared) == 9


@given(axiom=annotated().filter(is_valid))
@settings(deadline=None, max_examples=examples(150))
def test_triples_of_one_axiom_state_it(axiom: Construct) -> None:
    """The mapping and its reverse are inverse to each other, but for pairs and names of inverse properties."""
    found = [each for each in axioms(mapped([*DECLARED, axiom])) if each.name not in LOSSY]
    again = [each for each in axioms(mapped([*DECLARED, *found])) if each.name not in LOSSY]
    assert texts(found, ()) == texts(again, ())
    chained = axiom.name.startswith(("Equivalent", "Same")) and len(axiom.parts) > 2
    inverse = axiom.name in ("ObjectPropertyAssertion", "InverseObjectProperties") and isinstance(axiom.parts[0], Construct)
    if not (chained or inverse):
        assert texts(found, ()) == texts([axiom], ())
