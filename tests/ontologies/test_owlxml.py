"""OWL/XML is read by the W3C mapping to RDF: each axiom beside the Turtle that says the same."""

from __future__ import annotations

import io

import pytest
import rdflib
from rdflib.compare import graph_diff, to_isomorphic

from kg_reasoner.errors import LoadError
from kg_reasoner.loaders.convert import to_rdflib
from kg_reasoner.loaders.rdf.readers import reader as rdf
from kg_reasoner.storage.terms.dictionary import Dictionary
from kg_reasoner.terms import term_from_text
from tests.helpers.extras import needed

PREFIXES = """
@prefix : <http://example.org/o#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix swrl: <http://www.w3.org/2003/11/swrl#> .
@prefix swrlb: <http://www.w3.org/2003/11/swrlb#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
"""

CLASSES = '<Class IRI="#A"/><Class IRI="#B"/>'
P, Q, D = '<ObjectProperty IRI="#p"/>', '<ObjectProperty IRI="#q"/>', '<DataProperty IRI="#d"/>'
I_, J, K = (f'<NamedIndividual IRI="#{name}"/>' for name in "ijk")
X, Y = (f'<Variable IRI="urn:swrl#{name}"/>' for name in "xy")
ONE = '<Literal datatypeIRI="http://www.w3.org/2001/XMLSchema#integer">01</Literal>'

AXIOMS = {
    # name: OWL/XML, Turtle
    "declarations": (
        '<Declaration><Class IRI="#A"/></Declaration><Declaration><ObjectProperty abbreviatedIRI="o:p"/></Declaration>'
        '<Declaration><DataProperty IRI="#d"/></Declaration><Declaration><AnnotationProperty IRI="#n"/></Declaration>'
        '<Declaration><NamedIndividual IRI="#i"/></Declaration><Declaration><Datatype IRI="#t"/></Declaration>',
        ":A a owl:Class . :p a owl:ObjectProperty . :d a owl:DatatypeProperty . :n a owl:AnnotationProperty ."
        " :i a owl:NamedIndividual . :t a rdfs:Datatype .",
    ),
    "import": ("<Import>http://example.org/other</Import>", "<http://example.org/o> owl:imports <http://example.org/other> ."),
    "subclass": (f"<SubClassOf>{CLASSES}</SubClassOf>", ":A rdfs:subClassOf :B ."),
    "equivalent classes": (
        f'<EquivalentClasses>{CLASSES}<Class abbreviatedIRI="owl:Thing"/></EquivalentClasses>',
        ":A owl:equivalentClass :B . :B owl:equivalentClass owl:Thing .",
    ),
    "two disjoint classes": (f"<DisjointClasses>{CLASSES}</DisjointClasses>", ":A owl:disjointWith :B ."),
    "three disjoint classes": (
        f'<DisjointClasses>{CLASSES}<Class IRI="#C"/></DisjointClasses>',
        "[] a owl:AllDisjointClasses ; owl:members (:A :B :C) .",
    ),
    "disjoint union": (f'<DisjointUnion><Class IRI="#U"/>{CLASSES}</DisjointUnion>', ":U owl:disjointUnionOf (:A :B) ."),
    "nested class expressions": (
        f"<SubClassOf><ObjectIntersectionOf>{CLASSES}<ObjectUnionOf><Class IRI='#C'/><ObjectComplementOf><Class IRI='#D'/>"
        f"</ObjectComplementOf></ObjectUnionOf></ObjectIntersectionOf><ObjectOneOf>{I_}{J}</ObjectOneOf></SubClassOf>",
        "[ a owl:Class ; owl:intersectionOf (:A :B [ a owl:Class ; owl:unionOf (:C [ a owl:Class ; owl:complementOf :D ]) ]) ]"
        " rdfs:subClassOf [ a owl:Class ; owl:oneOf (:i :j) ] .",
    ),
    "object restrictions": (
        "".join(
            f"<SubClassOf><Class IRI='#A'/>{restriction}</SubClassOf>"
            for restriction in (
                f"<ObjectSomeValuesFrom>{P}<Class IRI='#B'/></ObjectSomeValuesFrom>",
                f"<ObjectAllValuesFrom><ObjectInverseOf>{P}</ObjectInverseOf><Class IRI='#B'/></ObjectAllValuesFrom>",
                f"<ObjectHasValue>{P}{I_}</ObjectHasValue>",
                f"<ObjectHasSelf>{P}</ObjectHasSelf>",
                f"<ObjectMinCardinality cardinality='2'>{P}</ObjectMinCardinality>",
                f"<ObjectMaxCardinality cardinality='1'>{P}<Class IRI='#B'/></ObjectMaxCardinality>",
                f"<ObjectExactCardinality cardinality='0'>{P}</ObjectExactCardinality>",
            )
        ),
        ":A rdfs:subClassOf"
        " [ a owl:Restriction ; owl:onProperty :p ; owl:someValuesFrom :B ],"
        " [ a owl:Restriction ; owl:onProperty [ owl:inverseOf :p ] ; owl:allValuesFrom :B ],"
        " [ a owl:Restriction ; owl:onProperty :p ; owl:hasValue :i ],"
        " [ a owl:Restriction ; owl:onProperty :p ; owl:hasSelf true ],"
        ' [ a owl:Restriction ; owl:onProperty :p ; owl:minCardinality "2"^^xsd:nonNegativeInteger ],'
        ' [ a owl:Restriction ; owl:onProperty :p ; owl:maxQualifiedCardinality "1"^^xsd:nonNegativeInteger ; owl:onClass :B ],'
        ' [ a owl:Restriction ; owl:onProperty :p ; owl:cardinality "0"^^xsd:nonNegativeInteger ] .',
    ),
    "data restrictions": (
        "".join(
            f"<SubClassOf><Class IRI='#A'/>{restriction}</SubClassOf>"
            for restriction in (
                f"<DataSomeValuesFrom>{D}<Datatype abbreviatedIRI='xsd:string'/></DataSomeValuesFrom>",
                f"<DataAllValuesFrom>{D}<DataProperty IRI='#e'/><Datatype IRI='#t'/></DataAllValuesFrom>",
                f"<DataHasValue>{D}{ONE}</DataHasValue>",
                f"<DataMaxCardinality cardinality='1'>{D}<Datatype IRI='#t'/></DataMaxCardinality>",
                f"<DataExactCardinality cardinality='1'>{D}</DataExactCardinality>",
            )
        ),
        ":A rdfs:subClassOf"
        " [ a owl:Restriction ; owl:onProperty :d ; owl:someValuesFrom xsd:string ],"
        " [ a owl:Restriction ; owl:onProperties (:d :e) ; owl:allValuesFrom :t ],"
        ' [ a owl:Restriction ; owl:onProperty :d ; owl:hasValue "01"^^xsd:integer ],'
        ' [ a owl:Restriction ; owl:onProperty :d ; owl:maxQualifiedCardinality "1"^^xsd:nonNegativeInteger ; owl:onDataRange :t ],'
        ' [ a owl:Restriction ; owl:onProperty :d ; owl:cardinality "1"^^xsd:nonNegativeInteger ] .',
    ),
    "data ranges": (
        f"<DatatypeDefinition><Datatype IRI='#t'/><DataUnionOf><DataOneOf>{ONE}</DataOneOf><DataComplementOf>"
        "<DatatypeRestriction><Datatype abbreviatedIRI='xsd:integer'/>"
        f"<FacetRestriction facet='http://www.w3.org/2001/XMLSchema#minInclusive'>{ONE}</FacetRestriction></DatatypeRestriction>"
        "</DataComplementOf><DataIntersectionOf><Datatype IRI='#u'/><Datatype IRI='#v'/></DataIntersectionOf></DataUnionOf>"
        "</DatatypeDefinition>",
        ':t owl:equivalentClass [ a rdfs:Datatype ; owl:unionOf ( [ a rdfs:Datatype ; owl:oneOf ("01"^^xsd:integer) ]'
        " [ a rdfs:Datatype ; owl:datatypeComplementOf [ a rdfs:Datatype ; owl:onDatatype xsd:integer ;"
        ' owl:withRestrictions ( [ xsd:minInclusive "01"^^xsd:integer ] ) ] ]'
        " [ a rdfs:Datatype ; owl:intersectionOf (:u :v) ] ) ] .",
    ),
    "property axioms": (
        f"<SubObjectPropertyOf>{P}{Q}</SubObjectPropertyOf><SubDataPropertyOf>{D}<DataProperty IRI='#e'/></SubDataPropertyOf>"
        f"<SubObjectPropertyOf><ObjectPropertyChain>{P}{Q}</ObjectPropertyChain>{P}</SubObjectPropertyOf>"
        f"<EquivalentObjectProperties>{P}{Q}</EquivalentObjectProperties>"
        f"<EquivalentDataProperties>{D}<DataProperty IRI='#e'/><DataProperty IRI='#f'/></EquivalentDataProperties>"
        f"<DisjointObjectProperties>{P}{Q}</DisjointObjectProperties>"
        f"<DisjointDataProperties>{D}<DataProperty IRI='#e'/><DataProperty IRI='#f'/></DisjointDataProperties>"
        f"<InverseObjectProperties>{P}{Q}</InverseObjectProperties>"
        f"<ObjectPropertyDomain>{P}<Class IRI='#A'/></ObjectPropertyDomain>"
        f"<ObjectPropertyRange>{P}<Class IRI='#B'/></ObjectPropertyRange>"
        f"<DataPropertyDomain>{D}<Class IRI='#A'/></DataPropertyDomain>"
        f"<DataPropertyRange>{D}<Datatype IRI='#t'/></DataPropertyRange>",
        ":p rdfs:subPropertyOf :q . :d rdfs:subPropertyOf :e . :p owl:propertyChainAxiom (:p :q) . :p owl:equivalentProperty :q ."
        " :d owl:equivalentProperty :e . :e owl:equivalentProperty :f . :p owl:propertyDisjointWith :q ."
        " [] a owl:AllDisjointProperties ; owl:members (:d :e :f) . :p owl:inverseOf :q ."
        " :p rdfs:domain :A ; rdfs:range :B . :d rdfs:domain :A ; rdfs:range :t .",
    ),
    "characteristics": (
        f"<FunctionalObjectProperty>{P}</FunctionalObjectProperty><FunctionalDataProperty>{D}</FunctionalDataProperty>"
        f"<InverseFunctionalObjectProperty><ObjectInverseOf>{Q}</ObjectInverseOf></InverseFunctionalObjectProperty>"
        f"<ReflexiveObjectProperty>{P}</ReflexiveObjectProperty><IrreflexiveObjectProperty>{P}</IrreflexiveObjectProperty>"
        f"<SymmetricObjectProperty>{P}</SymmetricObjectProperty><AsymmetricObjectProperty>{P}</AsymmetricObjectProperty>"
        f"<TransitiveObjectProperty>{P}</TransitiveObjectProperty>",
        ":d a owl:FunctionalProperty . [ owl:inverseOf :q ] a owl:InverseFunctionalProperty ."
        " :p a owl:FunctionalProperty, owl:ReflexiveProperty, owl:IrreflexiveProperty, owl:SymmetricProperty,"
        " owl:AsymmetricProperty, owl:TransitiveProperty .",
    ),
    "key": (f"<HasKey><Class IRI='#A'/>{P}{D}</HasKey>", ":A owl:hasKey (:p :d) ."),
    "individuals": (
        f"<SameIndividual>{I_}{J}{K}</SameIndividual><DifferentIndividuals>{I_}{J}</DifferentIndividuals>"
        f"<DifferentIndividuals>{I_}{J}{K}</DifferentIndividuals>",
        ":i owl:sameAs :j . :j owl:sameAs :k . :i owl:differentFrom :j . [] a owl:AllDifferent ; owl:members (:i :j :k) .",
    ),
    "assertions": (
        f"<ClassAssertion><Class IRI='#A'/><AnonymousIndividual nodeID='_:x'/></ClassAssertion>"
        f"<ObjectPropertyAssertion>{P}<AnonymousIndividual nodeID='_:x'/>{I_}</ObjectPropertyAssertion>"
        f"<ObjectPropertyAssertion><ObjectInverseOf>{Q}</ObjectInverseOf>{I_}{J}</ObjectPropertyAssertion>"
        f"<DataPropertyAssertion>{D}{I_}<Literal xml:lang='EN'> a &amp; b</Literal></DataPropertyAssertion>"
        f"<DataPropertyAssertion>{D}{I_}<Literal datatypeIRI='http://www.w3.org/1999/02/22-rdf-syntax-ns#PlainLiteral'>c@d@fr</Literal>"
        f"</DataPropertyAssertion><DataPropertyAssertion>{D}{I_}<Literal/></DataPropertyAssertion>"
        f"<NegativeObjectPropertyAssertion>{P}{I_}{J}</NegativeObjectPropertyAssertion>"
        f"<NegativeDataPropertyAssertion>{D}{I_}{ONE}</NegativeDataPropertyAssertion>",
        '_:x a :A ; :p :i . :j :q :i . :i :d " a & b"@en, "c@d"@fr, "" .'
        " [] a owl:NegativePropertyAssertion ; owl:sourceIndividual :i ; owl:assertionProperty :p ; owl:targetIndividual :j ."
        " [] a owl:NegativePropertyAssertion ; owl:sourceIndividual :i ; owl:assertionProperty :d ;"
        ' owl:targetValue "01"^^xsd:integer .',
    ),
    "annotations": (
        "<Annotation><AnnotationProperty abbreviatedIRI='rdfs:label'/><Literal>the ontology</Literal></Annotation>"
        "<AnnotationAssertion><AnnotationProperty abbreviatedIRI='rdfs:seeAlso'/><IRI>#A</IRI>"
        "<AbbreviatedIRI>o:B</AbbreviatedIRI></AnnotationAssertion>"
        "<SubAnnotationPropertyOf><AnnotationProperty IRI='#n'/><AnnotationProperty IRI='#m'/></SubAnnotationPropertyOf>"
        "<AnnotationPropertyDomain><AnnotationProperty IRI='#n'/><IRI>#A</IRI></AnnotationPropertyDomain>"
        "<AnnotationPropertyRange><AnnotationProperty IRI='#n'/><IRI>#A</IRI></AnnotationPropertyRange>"
        f"<SubClassOf><Annotation><Annotation><AnnotationProperty IRI='#m'/><Literal>inner</Literal></Annotation>"
        f"<AnnotationProperty IRI='#n'/><Literal>outer</Literal></Annotation>{CLASSES}</SubClassOf>"
        "<DisjointClasses><Annotation><AnnotationProperty IRI='#n'/><Literal>three</Literal></Annotation>"
        f"{CLASSES}<Class IRI='#C'/></DisjointClasses>",
        '<http://example.org/o> rdfs:label "the ontology" . :A rdfs:seeAlso :B ; rdfs:subClassOf :B .'
        " :n rdfs:subPropertyOf :m ; rdfs:domain :A ; rdfs:range :A ."
        ' _:x a owl:Axiom ; owl:annotatedSource :A ; owl:annotatedProperty rdfs:subClassOf ; owl:annotatedTarget :B ; :n "outer" .'
        ' [] a owl:Annotation ; owl:annotatedSource _:x ; owl:annotatedProperty :n ; owl:annotatedTarget "outer" ; :m "inner" .'
        ' [] a owl:AllDisjointClasses ; owl:members (:A :B :C) ; :n "three" .',
    ),
    "a SWRL rule": (
        "<DLSafeRule><Annotation><AnnotationProperty abbreviatedIRI='rdfs:label'/><Literal>all atoms</Literal></Annotation><Body>"
        f"<ClassAtom><Class IRI='#A'/>{X}</ClassAtom><ObjectPropertyAtom>{P}{X}{I_}</ObjectPropertyAtom>"
        f"<DataPropertyAtom>{D}{X}{Y}</DataPropertyAtom><DataRangeAtom><Datatype abbreviatedIRI='xsd:integer'/>{Y}</DataRangeAtom>"
        f"<BuiltInAtom IRI='http://www.w3.org/2003/11/swrlb#lessThan'>{Y}{ONE}</BuiltInAtom></Body>"
        f"<Head><SameIndividualAtom>{X}{J}</SameIndividualAtom><DifferentIndividualsAtom>{X}{K}</DifferentIndividualsAtom></Head>"
        "</DLSafeRule>",
        "<urn:swrl#x> a swrl:Variable . <urn:swrl#y> a swrl:Variable ."
        ' [] a swrl:Imp ; rdfs:label "all atoms" ; swrl:body ('
        " [ a swrl:ClassAtom ; swrl:classPredicate :A ; swrl:argument1 <urn:swrl#x> ]"
        " [ a swrl:IndividualPropertyAtom ; swrl:propertyPredicate :p ; swrl:argument1 <urn:swrl#x> ; swrl:argument2 :i ]"
        " [ a swrl:DatavaluedPropertyAtom ; swrl:propertyPredicate :d ; swrl:argument1 <urn:swrl#x> ; swrl:argument2 <urn:swrl#y> ]"
        " [ a swrl:DataRangeAtom ; swrl:dataRange xsd:integer ; swrl:argument1 <urn:swrl#y> ]"
        ' [ a swrl:BuiltinAtom ; swrl:builtin swrlb:lessThan ; swrl:arguments ( <urn:swrl#y> "01"^^xsd:integer ) ] ) ; swrl:head ('
        " [ a swrl:SameIndividualAtom ; swrl:argument1 <urn:swrl#x> ; swrl:argument2 :j ]"
        " [ a swrl:DifferentIndividualsAtom ; swrl:argument1 <urn:swrl#x> ; swrl:argument2 :k ] ) .",
    ),
}


def document(body: str) -> bytes:
    return (
        '<?xml version="1.0"?>\n<!DOCTYPE Ontology [<!ENTITY ex "http://example.org/">]>\n'
        '<Ontology xmlns="http://www.w3.org/2002/07/owl#" xml:base="&ex;o" ontologyIRI="&ex;o" versionIRI="&ex;o/1">'
        f'<Prefix name="o" IRI="&ex;o#"/><Prefix name="" IRI="&ex;o#"/>\n{body}</Ontology>'
    ).encode()


def read(data: bytes, **options: str) -> rdflib.Graph:
    dictionary = Dictionary()
    graph = rdflib.Graph()
    for block in rdf.read(data, dictionary=dictionary, **options):  # type: ignore[arg-type]
        for row in block.triples.tolist():
            graph.add(tuple(to_rdflib(term_from_text(dictionary.text(number))) for number in row))  # type: ignore[arg-type]
    return graph


def turtle(text: str) -> rdflib.Graph:
    header = "<http://example.org/o> a owl:Ontology ; owl:versionIRI <http://example.org/o/1> ."
    return read(f"{PREFIXES}{header}{text}".encode(), format="turtle")


@pytest.mark.parametrize("name", AXIOMS)
def test_axioms(name: str) -> None:
    xml, expected = AXIOMS[name]
    _, missing, unexpected = graph_diff(to_isomorphic(turtle(expected)), to_isomorphic(read(document(xml))))
    assert (sorted(missing), sorted(unexpected)) == ([], [])


@pytest.mark.parametrize(
    "name", ["subclass", "two disjoint classes", "three disjoint classes", "disjoint union", "object restrictions"]
)
def test_owlready2_agrees_where_it_is_faithful(name: str) -> None:
    parse = needed("owlready2.owlxml_2_ntriples").parse
    theirs = rdflib.Graph()

    def node(text: str) -> rdflib.term.Node:
        return rdflib.BNode(text[2:]) if text.startswith("_:") else rdflib.URIRef(text)

    def add_data(subject: str, predicate: str, value: str, datatype: str) -> None:
        theirs.add((node(subject), rdflib.URIRef(predicate), rdflib.Literal(value, datatype=datatype)))

    def add_object(subject: str, predicate: str, object: str) -> None:
        theirs.add((node(subject), rdflib.URIRef(predicate), node(object)))

    data = document(AXIOMS[name][0])
    parse(io.BytesIO(data), add_object, add_data)
    assert to_isomorphic(theirs) == to_isomorphic(read(data))


def test_an_ontology_without_an_iri_and_prefixed_element_names() -> None:
    graph = read(
        b'<o:Ontology xmlns:o="http://www.w3.org/2002/07/owl#"><o:Declaration><o:Class IRI="http://x/A"/></o:Declaration></o:Ontology>'
    )
    assert set(graph.objects(None, rdflib.RDF.type)) == {rdflib.OWL.Ontology, rdflib.OWL.Class}


@pytest.mark.parametrize(
    ("attributes", "base", "expected"),
    [
        ('xml:base="http://b/x#y" ontologyIRI="http://o/"', None, "http://b/x#A"),
        ('ontologyIRI="http://o/dir/x"', "http://given/d/doc", "http://given/d/doc#A"),
        ('ontologyIRI="http://o/dir/x"', None, "http://o/dir/x#A"),
        ('xml:base="urn:x:y"', None, "urn:x:y#A"),
    ],
)
def test_relative_iris(attributes: str, base: str | None, expected: str) -> None:
    body = '<Declaration><Class IRI="#A"/></Declaration>'
    data = f'<Ontology xmlns="http://www.w3.org/2002/07/owl#" {attributes}>{body}</Ontology>'.encode()
    options = {"base": base} if base else {}
    assert rdflib.URIRef(expected) in set(read(data, **options).subjects(rdflib.RDF.type, rdflib.OWL.Class))


def test_the_slash_at_the_end_of_an_iri_stays() -> None:
    data = b'<Ontology xmlns="http://www.w3.org/2002/07/owl#" ontologyIRI="http://o/"/>'
    assert set(read(data).subjects()) == {rdflib.URIRef("http://o/")}


@pytest.mark.parametrize(
    ("body", "line", "part"),
    [
        ("<SubClassOf>\n<Class IRI='#A'/></SubClassOf>", 4, "too few"),
        (f"\n<SubClassOf>{CLASSES}<Class IRI='#C'/></SubClassOf>", 5, "too many"),
        ("<DLSafeRule>\n<Body/></DLSafeRule>", 4, "too few"),
        ("<DLSafeRule><Body/>\n<Tail/></DLSafeRule>", 5, "Tail is not understood"),
        (f"<DLSafeRule><Head/><Body>\n<Atom>{X}</Atom></Body></DLSafeRule>", 5, "Atom is not understood"),
        ("<SubClassOf>\n<Klass IRI='#A'/><Class IRI='#B'/></SubClassOf>", 5, "Klass is not understood"),
        ("<Declaration>\n<Class/></Declaration>", 5, "no IRI"),
        ("<Declaration>\n<Class IRI='http://a b'/></Declaration>", 5, "not valid"),
        ("<Declaration>\n<Class abbreviatedIRI='zz:A'/></Declaration>", 5, "prefix zz: is not declared"),
        ("<Declaration>\n<Literal>a</Literal></Declaration>", 5, "not an entity such as Class"),
        (f"<DataPropertyAssertion>{D}{I_}\n<Literal xml:lang='e_n'>a</Literal></DataPropertyAssertion>", 5, "language tag"),
        ("<x xmlns='http://other'/>", 4, "not part of OWL/XML"),
        ("<Declaration>\n<Class IRI='#A'></Declaration>", 5, "not well-formed"),
        ("<Declaration>\n<Class IRI='#A'/>", 5, "not well-formed"),
        ("<Declaration>\n<Class IRI='&undefined;A'/></Declaration>", 5, "undefined entity"),
    ],
)
def test_errors_have_a_line(body: str, line: int, part: str) -> None:
    with pytest.raises(LoadError) as caught:
        read(document(body) if "not well-formed" not in part or "IRI='#A'>" in body else document(body)[: -len("</Ontology>")])
    assert part in str(caught.value)
    assert caught.value.span is not None
    assert caught.value.span.line == line


def test_no_document_type_is_fetched() -> None:
    data = b'<!DOCTYPE Ontology SYSTEM "http://192.0.2.1/x.dtd">\n<Ontology xmlns="http://www.w3.org/2002/07/owl#"/>'
    with pytest.raises(LoadError, match="nothing is fetched"):
        read(data)


def test_a_relative_iri_without_any_base() -> None:
    data = b'<Ontology xmlns="http://www.w3.org/2002/07/owl#"><Declaration><Class IRI="#A"/></Declaration></Ontology>'
    with pytest.raises(LoadError, match="pass base="):
        read(data)


PLAIN = 'datatypeIRI="http://www.w3.org/1999/02/22-rdf-syntax-ns#PlainLiteral"'


@pytest.mark.parametrize(
    ("literal", "expected"),
    [
        (f'<Literal xml:lang="en" {PLAIN}>hello</Literal>', '"hello"@en'),
        (f"<Literal {PLAIN}>hello</Literal>", '"hello"'),
        (f'<Literal xml:lang="en" {PLAIN}>me@x.org</Literal>', '"me@x.org"@en'),
        (f'<Literal xml:lang="en" {PLAIN}>mail me@en</Literal>', '"mail me@en"@en'),
        (f"<Literal {PLAIN}>me@x.org</Literal>", '"me@x.org"'),
        (f"<Literal {PLAIN}>chat@fr</Literal>", '"chat"@fr'),
        (f"<Literal {PLAIN}>me@x.org@</Literal>", '"me@x.org"'),
        (f"<Literal {PLAIN}>me@x.org@en-GB</Literal>", '"me@x.org"@en-gb'),
        (f"<Literal {PLAIN}>@</Literal>", '""'),
        ('<Literal xml:lang="en">a@fr</Literal>', '"a@fr"@en'),
        ("<Literal>a@fr</Literal>", '"a@fr"'),
    ],
)
def test_plain_literals(literal: str, expected: str) -> None:
    """The form ``text@language`` of rdf:PlainLiteral is for those without xml:lang."""
    graph = read(document(f"<Annotation><AnnotationProperty IRI='#note'/>{literal}</Annotation>"))
    (value,) = graph.objects(None, rdflib.URIRef("http://example.org/o#note"))
    assert value.n3() == expected
