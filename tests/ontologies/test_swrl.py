"""SWRL rules in a reasoner: loaded, changed, refused; every built-in; rules of ours written as SWRL and read back.

What rules turn into is in tests/ontologies/owl/swrl.txt, the OWL/XML form in test_owlxml.
"""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Literal as OneOf

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kg_reasoner import Reasoner
from kg_reasoner.errors import UnknownNameError, UnsupportedError
from kg_reasoner.language.parser import parse
from kg_reasoner.loaders.ontology.owl import refused_rules, translate
from kg_reasoner.loaders.ontology.unfold import DraftRule, rename, unfold
from kg_reasoner.loaders.rules.swrl import SWRL, SWRLB
from kg_reasoner.loaders.rules.swrl_builtins import SWRL_BUILTINS
from kg_reasoner.planning.layouts.property_tables import PropertyTables
from kg_reasoner.planning.layouts.triple_layout import TripleLayout
from kg_reasoner.planning.layouts.triple_table import TripleTable
from kg_reasoner.program import Argument, Atom, Bind, BodyLiteral, Call, Filter, Program, Rule, Variable, triple
from kg_reasoner.terms import IRI, OWL, RDF, RDFS, XSD, BlankNode, Literal, Term, Triple, literal
from tests.helpers.effort import examples
from tests.helpers.extras import needed
from tests.helpers.oracle import evaluate
from tests.rulesets.test_rulesets import TURTLE_PREFIXES, triples_in

EX = "http://example.org/"

ADULTS = """
[] a swrl:Imp ; rdfs:label "adulthood" ;
    swrl:body ( [ a swrl:ClassAtom ; swrl:classPredicate :Person ; swrl:argument1 v:p ]
                [ a swrl:DatavaluedPropertyAtom ; swrl:propertyPredicate :age ; swrl:argument1 v:p ; swrl:argument2 v:a ]
                [ a swrl:BuiltinAtom ; swrl:builtin swrlb:greaterThanOrEqual ; swrl:arguments ( v:a 18 ) ] ) ;
    swrl:head ( [ a swrl:ClassAtom ; swrl:classPredicate :Adult ; swrl:argument1 v:p ] ) .
:ann a :Person ; :age 18 . :tim a :Person ; :age 17 .
"""
SINE = """
[] a swrl:Imp ; rdfs:label "trigonometry" ;
    swrl:body ( [ a swrl:DatavaluedPropertyAtom ; swrl:propertyPredicate :angle ; swrl:argument1 v:p ; swrl:argument2 v:a ]
                [ a swrl:BuiltinAtom ; swrl:builtin swrlb:sin ; swrl:arguments ( v:s v:a ) ] ) ;
    swrl:head ( [ a swrl:DatavaluedPropertyAtom ; swrl:propertyPredicate :sine ; swrl:argument1 v:p ; swrl:argument2 v:s ] ) .
"""


def ex(name: str) -> IRI:
    return IRI(EX + name)


def turtle(text: str) -> bytes:
    return f"{TURTLE_PREFIXES} @prefix v: <urn:swrl#> . {text}".encode()


def adults(reasoner: Reasoner) -> set[Term]:
    return {subject for subject, _, _ in reasoner.triples(None, RDF.type, ex("Adult"))}


# -------------------------------------------------------------------------------------------------------------------- reasoners


def test_an_ontology_with_rules_just_works() -> None:
    reasoner = Reasoner(ruleset="owl2rl")
    reasoner.load(turtle(ADULTS))
    assert adults(reasoner) == {ex("ann")}
    assert reasoner.warnings == []
    (rule,) = (rule for rule in reasoner.rules if rule.origin.name == "adulthood")
    assert rule.origin.axiom == "example:Person(?p) ^ example:age(?p, ?a) ^ swrlb:greaterThanOrEqual(?a, 18) -> example:Adult(?p)"
    assert "adulthood" in str(reasoner.explain((ex("ann"), RDF.type, ex("Adult"))))


@pytest.mark.parametrize("layout", [PropertyTables, TripleTable])
def test_a_rule_comes_and_goes_with_its_triples(layout: type[TripleLayout]) -> None:
    program = parse("same(?p, ?q) :- [?x, ?p, ?y], [?y, ?q, ?x] .") if layout is TripleTable else None
    reasoner = Reasoner(program, ruleset="owl2rl")
    reasoner.load(turtle(ADULTS))
    assert type(reasoner.engine.catalog.layout) is layout
    assert adults(reasoner) == {ex("ann")}
    assert any(rule.origin.name == "adulthood" for rule in reasoner.rules)
    (bound,) = reasoner.triples(None, RDF.first, literal(18))
    reasoner.remove_triples([bound])
    assert adults(reasoner) == set()
    assert any("breaks off" in warning.reason or "rdf:first" in warning.reason for warning in reasoner.warnings)
    reasoner.add_triples([(bound[0], RDF.first, literal(17))])
    assert adults(reasoner) == {ex("ann"), ex("tim")}
    rules = list(reasoner.triples(None, RDF.type, SWRL.Imp))
    reasoner.remove_triples(rules)
    assert adults(reasoner) == set()


def test_rules_and_axioms_work_together() -> None:
    reasoner = Reasoner(ruleset="owl2rl")
    reasoner.load(turtle(ADULTS + ":Adult rdfs:subClassOf :Voter . :Pupil rdfs:subClassOf :Person . :pam a :Pupil ; :age 19 ."))
    assert (ex("pam"), RDF.type, ex("Voter")) in set(reasoner.triples())
    reasoner.add_triples([(ex("pam"), OWL.sameAs, ex("pamela"))])
    assert ex("pamela") in adults(reasoner)


def test_a_rule_that_cannot_be_expressed_is_refused_and_nothing_is_loaded() -> None:
    reasoner = Reasoner(ruleset="owl2rl")
    with pytest.raises(UnsupportedError) as caught:
        reasoner.load(turtle(ADULTS), turtle(SINE))
    assert str(caught.value).startswith("<bytes>: the rule example:angle(?p, ?a)")
    assert "no function implements the built-in swrlb:sin" in str(caught.value)
    assert "example:angle(?p, ?a) ^ swrlb:sin(?s, ?a) -> example:sine(?p, ?s)" in str(caught.value)
    assert "refused='skip'" in str(caught.value)
    assert list(reasoner.triples()) == []


def test_or_skipped_with_a_warning_if_that_is_asked_for() -> None:
    reasoner = Reasoner(ruleset="owl2rl")
    reasoner.load(turtle(ADULTS), turtle(SINE), refused="skip")
    assert adults(reasoner) == {ex("ann")}
    (warning,) = reasoner.warnings
    assert warning.reason == "no function implements the built-in swrlb:sin"
    with pytest.raises(UnknownNameError, match="did you mean 'skip'"):
        reasoner.load(turtle(SINE), refused="skips")


def test_rule_sets_that_translate_no_axioms_take_rules_for_data() -> None:
    reasoner = Reasoner(ruleset="rdfs")
    reasoner.load(turtle(SINE))
    assert len(list(reasoner.triples(None, RDF.type, SWRL.Imp))) == 1


def test_a_rule_is_named_by_its_iri_where_it_has_no_label() -> None:
    body = "swrl:body () ; swrl:head ( [ a swrl:ClassAtom ; swrl:classPredicate :C ; swrl:argument1 :i ] ) ."
    for subject, name in ((":named", f"{EX}named"), ("[]", "swrl")):
        reasoner = Reasoner(ruleset="owl2rl")
        reasoner.load(turtle(f"{subject} a swrl:Imp ; {body}"))
        assert [rule.origin.name for rule in reasoner.rules if rule.origin.axiom] == [name]


def test_owl_xml_is_the_same(tmp_path: Path) -> None:
    path = tmp_path / "adults.owx"
    path.write_text("""<Ontology xmlns="http://www.w3.org/2002/07/owl#" xml:base="http://example.org/" ontologyIRI="http://example.org/">
        <Prefix name="rdfs" IRI="http://www.w3.org/2000/01/rdf-schema#"/>
        <DLSafeRule>
            <Annotation><AnnotationProperty abbreviatedIRI="rdfs:label"/><Literal>adulthood</Literal></Annotation>
            <Body>
                <ClassAtom><Class IRI="Person"/><Variable IRI="urn:swrl#p"/></ClassAtom>
                <DataPropertyAtom>
                    <DataProperty IRI="age"/><Variable IRI="urn:swrl#p"/><Variable IRI="urn:swrl#a"/>
                </DataPropertyAtom>
                <BuiltInAtom IRI="http://www.w3.org/2003/11/swrlb#greaterThanOrEqual"><Variable IRI="urn:swrl#a"/>
                    <Literal datatypeIRI="http://www.w3.org/2001/XMLSchema#integer">18</Literal></BuiltInAtom>
            </Body>
            <Head><ClassAtom><Class IRI="Adult"/><Variable IRI="urn:swrl#p"/></ClassAtom></Head>
        </DLSafeRule>
    </Ontology>""")
    one, other = (Reasoner(ruleset="owl2rl") for _ in range(2))
    one.load(path)
    other.load(turtle(ADULTS))
    assert set(one.rules) == set(other.rules)


def test_rules_that_owlready2_writes_are_read(tmp_path: Path) -> None:
    owlready2 = needed("owlready2")
    text = "Person(?p), age(?p, ?a), add(?b, ?a, 1), greaterThan(?b, 18), knows(?p, ?q), differentFrom(?p, ?q)"
    text += " -> Adult(?p), nextAge(?p, ?b), knows(?q, ?p)"
    ontology = owlready2.World().get_ontology("http://example.org/")
    with ontology:
        for name, kind in (("Person", owlready2.Thing), ("Adult", owlready2.Thing), ("knows", owlready2.ObjectProperty)):
            type(kind)(name, (kind,), {})
        for name in ("age", "nextAge"):
            type(owlready2.DataProperty)(name, (owlready2.DataProperty,), {})
        theirs = owlready2.Imp()
        theirs.set_as_rule(text, namespaces=[ontology])
        ann, tim = ontology.Person("ann", age=[18]), ontology.Person("tim", age=[3])
        ann.knows = [tim]
        owlready2.AllDifferent([ann, tim])
    path = tmp_path / "people.owl"
    ontology.save(str(path), format="rdfxml")
    reasoner = Reasoner(ruleset="owl2rl")
    reasoner.load(path)
    texts = {str(rule.origin.axiom).replace("example:", "").replace("swrlb:", "").replace(" ^ ", ", ") for rule in reasoner.rules}
    assert text in texts
    assert adults(reasoner) == {ex("ann")}
    assert {(ex("ann"), ex("nextAge"), literal(19)), (ex("tim"), ex("knows"), ex("ann"))} <= set(reasoner.triples())
    assert reasoner.warnings == []


EQUALITY = """
[] a swrl:Imp ;
    swrl:body ( [ a swrl:IndividualPropertyAtom ; swrl:propertyPredicate :owns ; swrl:argument1 v:p ; swrl:argument2 v:a ]
                [ a swrl:IndividualPropertyAtom ; swrl:propertyPredicate :drives ; swrl:argument1 v:p ; swrl:argument2 v:b ]
                [ a swrl:SameIndividualAtom ; swrl:argument1 v:a ; swrl:argument2 v:b ] ) ;
    swrl:head ( [ a swrl:ClassAtom ; swrl:classPredicate :OwnerDriver ; swrl:argument1 v:p ] ) .
[] a swrl:Imp ;
    swrl:body ( [ a swrl:IndividualPropertyAtom ; swrl:propertyPredicate :rules ; swrl:argument1 v:a ; swrl:argument2 v:l ]
                [ a swrl:IndividualPropertyAtom ; swrl:propertyPredicate :rules ; swrl:argument1 v:b ; swrl:argument2 v:m ]
                [ a swrl:DifferentIndividualsAtom ; swrl:argument1 v:l ; swrl:argument2 v:m ] ) ;
    swrl:head ( [ a swrl:DifferentIndividualsAtom ; swrl:argument1 v:a ; swrl:argument2 v:b ] ) .
[] a swrl:Imp ;
    swrl:body ( [ a swrl:IndividualPropertyAtom ; swrl:propertyPredicate :twin ; swrl:argument1 v:a ; swrl:argument2 v:b ] ) ;
    swrl:head ( [ a swrl:SameIndividualAtom ; swrl:argument1 v:a ; swrl:argument2 v:b ] ) .
[] a owl:AllDifferent ; owl:members ( :north :south ) . :norden owl:sameAs :north .
:ann :rules :norden ; :owns :car ; :drives :car . :tim :rules :south ; :owns :bus ; :drives :coach .
:bus owl:sameAs :coach . :pam :owns :car ; :drives :bus ; :twin :pamela . :pamela a :Twin .
"""


@pytest.mark.parametrize("equality", ["axioms", "rewrite"])
def test_equal_and_different_individuals(equality: OneOf["axioms", "rewrite"]) -> None:
    reasoner = Reasoner(ruleset="owl2rl", equality=equality)
    reasoner.load(turtle(EQUALITY))
    found = set(reasoner.triples())
    assert {subject for subject, _, _ in reasoner.triples(None, RDF.type, ex("OwnerDriver"))} == {ex("ann"), ex("tim")}
    assert {(ex("ann"), OWL.differentFrom, ex("tim")), (ex("tim"), OWL.differentFrom, ex("ann"))} <= found
    assert (ex("ann"), OWL.differentFrom, ex("ann")) not in found
    assert (ex("pam"), RDF.type, ex("Twin")) in found


# -------------------------------------------------------------------------------------------------------------------- built-ins

NOON = '"2001-02-03T12:30:15Z"^^xsd:dateTime'


@pytest.mark.parametrize(
    ("atom", "follows"),
    [
        ("equal(1, 1.0)", True),
        ('equal("a", "b")', False),
        ("notEqual(1, 2)", True),
        ("lessThan(1, 1)", False),
        ("lessThanOrEqual(1, 1.0)", True),
        ("greaterThan(2, 1)", True),
        ('greaterThan("b", "a")', True),
        ("greaterThanOrEqual(1, 2)", False),
        ("add(6, 1, 2, 3)", True),
        ("add(?r, 1, 2, 3)", "6"),
        ("subtract(?r, 1, 2)", "-1"),
        ("multiply(?r, 2, 3, 4)", "24"),
        ("divide(?r, 1, 2)", "0.5"),
        ("divide(?r, 1, 0)", False),
        ("integerDivide(?r, -7, 2)", "-3"),
        ("mod(?r, -7, 2)", "-1"),
        ("mod(?r, 1e0, 0.1e0)", "9.999999999999995E-2"),
        ("unaryPlus(?r, 3)", "3"),
        ("unaryPlus(?r, -0e0)", "-0.0E0"),
        ("unaryMinus(?r, 3)", "-3"),
        ("abs(?r, -3)", "3"),
        ("ceiling(3, 2.5)", True),
        ("floor(2, 2.5)", True),
        ("round(3, 2.5)", True),
        ("booleanNot(?r, true)", "false"),
        ('stringEqualIgnoreCase("Abc", "aBC")', True),
        ('stringConcat(?r, "a", "b", "c")', '"abc"'),
        ('stringConcat(?r, "a"@en, 5)', '"a5"'),
        ('substring(?r, "motor car", 6)', '" car"'),
        ('substring(?r, "metadata", 4, 3)', '"ada"'),
        ('stringLength(?r, "abc")', "3"),
        ('normalizeSpace(?r, "  a \\t b ")', '"a b"'),
        ('upperCase(?r, "abC")', '"ABC"'),
        ('lowerCase(?r, "ABc")', '"abc"'),
        ('contains("abc", "b")', True),
        ('containsIgnoreCase("abc", "B")', True),
        ('startsWith("abc", "b")', False),
        ('endsWith("abc", "c")', True),
        ('substringBefore(?r, "1999/04", "/")', '"1999"'),
        ('substringAfter(?r, "1999/04", "/")', '"04"'),
        ('matches("abc", "^a.c$")', True),
        ('replace(?r, "abracadabra", "bra", "*")', '"a*cada*"'),
        ('date("2001-02-03"^^xsd:date, ?r, 2, 3)', "2001"),
        ('date("2001-02-03Z"^^xsd:date, 2001, 2, 3, ?r)', '"Z"'),
        (f"dateTime({NOON}, 2001, 2, 3, ?r, 30, 15)", "12"),
        (f"dateTime({NOON}, 2001, 2, 4, ?r, 30, 15)", False),
    ],
)
@pytest.mark.sample(2)
def test_builtins(atom: str, follows: bool | str) -> None:
    """The built-in holds, or not, or its result is this; arguments are written as in the rule language."""
    name, _, rest = atom.partition("(")
    call = parse(f"h() :- FILTER(COALESCE({rest}) .").rules[0].body[0]
    assert isinstance(call, Filter)
    assert isinstance(call.expression, Call)
    arguments = [_constant(argument) for argument in call.expression.arguments]
    result = next((argument for argument in arguments if isinstance(argument, Variable)), literal(True))
    rule = Rule(triple(ex("it"), ex("is"), result), ())
    reasoner = Reasoner(ruleset="owl2rl")
    reasoner.add_triples(_Writer().rule(rule, [(SWRLB[name], arguments)]))
    found = [value for _, _, value in reasoner.triples(ex("it"), ex("is"))]
    assert reasoner.warnings == []
    if isinstance(follows, str):
        expected = parse(f"p({follows}) .").rules[0].head.terms[0]
        assert found == [expected]
    else:
        assert bool(found) == follows


def _constant(argument: object) -> Argument:
    """The argument of a parsed call; ``-7`` is parsed as a number already."""
    assert isinstance(argument, Variable | IRI | BlankNode | Literal)
    return argument


def test_every_builtin_is_tested() -> None:
    (marker,) = (mark for mark in test_builtins.pytestmark if mark.name == "parametrize")  # type: ignore[attr-defined]
    assert {atom.partition("(")[0] for atom, _ in marker.args[1]} == SWRL_BUILTINS.keys()


@pytest.mark.parametrize(
    ("facet", "allowed"), [("minInclusive", "345"), ("minExclusive", "45"), ("maxInclusive", "123"), ("maxExclusive", "12")]
)
def test_facets(facet: str, allowed: str) -> None:
    reasoner = Reasoner(ruleset="owl2rl")
    restricted = f"[ a rdfs:Datatype ; owl:onDatatype xsd:integer ; owl:withRestrictions ( [ xsd:{facet} 3 ] ) ]"
    reasoner.load(
        turtle(f"""
        [] a swrl:Imp ; swrl:head ( [ a swrl:ClassAtom ; swrl:classPredicate :Adult ; swrl:argument1 v:p ] ) ; swrl:body (
            [ a swrl:DatavaluedPropertyAtom ; swrl:propertyPredicate :n ; swrl:argument1 v:p ; swrl:argument2 v:a ]
            [ a swrl:DataRangeAtom ; swrl:dataRange {restricted} ; swrl:argument1 v:a ] ) .
        :i1 :n 1 . :i2 :n 2 . :i3 :n 3 . :i4 :n 4 . :i5 :n 5 . :i6 :n 3.5 . :i7 :n "3" .
    """)
    )
    assert adults(reasoner) == {ex(f"i{number}") for number in allowed}


def test_a_facet_that_is_more_than_a_bound_is_refused() -> None:
    restricted = '[ a rdfs:Datatype ; owl:onDatatype xsd:string ; owl:withRestrictions ( [ xsd:pattern "a+" ] ) ]'
    text = f"""
        [] a swrl:Imp ; swrl:head () ; swrl:body (
            [ a swrl:DatavaluedPropertyAtom ; swrl:propertyPredicate :n ; swrl:argument1 v:p ; swrl:argument2 v:a ]
            [ a swrl:DataRangeAtom ; swrl:dataRange {restricted} ; swrl:argument1 v:a ] ) .
    """
    with pytest.raises(UnsupportedError, match=r"the facet <.*#pattern> is not supported"):
        Reasoner(ruleset="owl2rl").load(turtle(text))


def test_too_many_equalities_are_refused() -> None:
    writer = _Writer()
    equal = [(OWL.sameAs, [Variable(f"x{n}"), Variable(f"x{n + 1}")]) for n in range(7)]
    triples = writer.rule(Rule(triple(Variable("x0"), ex("p"), Variable("x7")), ()), equal)
    assert [warning.reason for warning in refused_rules(triples)] == ["a body with more than 6 atoms of sameAs"]


# -------------------------------------------------------------------------------------- our rules, written as SWRL and read back


class _Writer:
    """Writes rules as the triples of SWRL's RDF form."""

    def __init__(self) -> None:
        self.triples: list[Triple] = []
        self.numbers = itertools.count()

    def rule(self, rule: Rule, computed: list[tuple[IRI, list[Argument]]]) -> list[Triple]:
        """The triples of a rule with further atoms, of built-ins and of owl:sameAs."""
        node = self.node(SWRL.Imp)
        atoms = [self.atom(part) for part in rule.body if isinstance(part, Atom)]
        atoms += [self.same(arguments) if name == OWL.sameAs else self.builtin(name, arguments) for name, arguments in computed]
        self.triples += [(node, SWRL.body, self.list(atoms)), (node, SWRL.head, self.list([self.atom(rule.head)]))]
        return self.triples

    def node(self, kind: IRI) -> BlankNode:
        node = BlankNode(f"n{next(self.numbers)}")
        self.triples.append((node, RDF.type, kind))
        return node

    def atom(self, atom: Atom) -> BlankNode:
        subject, property, value = atom.terms
        if property == RDF.type:
            node = self.node(SWRL.ClassAtom)
            self.triples += [(node, SWRL.classPredicate, self.term(value)), (node, SWRL.argument1, self.term(subject))]
            return node
        node = self.node(SWRL.DatavaluedPropertyAtom if isinstance(value, Literal) else SWRL.IndividualPropertyAtom)
        self.triples += [(node, SWRL.propertyPredicate, self.term(property)), *self.arguments(node, [subject, value])]
        return node

    def same(self, arguments: list[Argument]) -> BlankNode:
        node = self.node(SWRL.SameIndividualAtom)
        self.triples += self.arguments(node, arguments)
        return node

    def builtin(self, name: IRI, arguments: list[Argument]) -> BlankNode:
        node = self.node(SWRL.BuiltinAtom)
        self.triples += [(node, SWRL.builtin, name), (node, SWRL.arguments, self.list([self.term(each) for each in arguments]))]
        return node

    def arguments(self, node: BlankNode, arguments: list[Argument]) -> list[Triple]:
        return [(node, SWRL[f"argument{place}"], self.term(each)) for place, each in enumerate(arguments, start=1)]

    def term(self, argument: Argument) -> Term:
        return IRI(f"urn:swrl:var#{argument.name}") if isinstance(argument, Variable) else argument

    def list(self, items: list[Term]) -> Term:
        rest: Term = RDF.nil
        for item in reversed(items):
            node = BlankNode(f"n{next(self.numbers)}")
            self.triples += [(node, RDF.first, item), (node, RDF.rest, rest)]
            rest = node
        return rest


_VARIABLES = [Variable(name) for name in ("p", "q", "age")]
_NODES: list[Term] = [ex("a"), ex("b")]
_VALUES: list[Term] = [*_NODES, literal(5), Literal("1.50", XSD.decimal.value), literal('"')]
_COMPARISONS = {
    "=": "equal",
    "!=": "notEqual",
    "<": "lessThan",
    "<=": "lessThanOrEqual",
    ">": "greaterThan",
    ">=": "greaterThanOrEqual",
}
_COMPUTED = {"+": "add", "-": "subtract", "*": "multiply", "/": "divide"}


@st.composite
def rules(draw: st.DrawFn) -> tuple[Rule, list[tuple[IRI, list[Argument]]]]:
    """A rule, and its built-ins as SWRL has them."""

    def some_atom(variables: list[Variable]) -> Atom:
        subject = draw(st.sampled_from([*variables, *_NODES]))
        if draw(st.booleans()):
            return triple(subject, RDF.type, draw(st.sampled_from([ex("C"), ex("D")])))
        return triple(subject, draw(st.sampled_from([ex("r"), ex("s")])), draw(st.sampled_from([*variables, *_VALUES])))

    atoms = list(dict.fromkeys(some_atom(_VARIABLES) for _ in range(draw(st.integers(1, 3)))))
    bound = sorted({term for atom in atoms for term in atom.terms if isinstance(term, Variable)}, key=str)
    values = st.sampled_from([*bound, *_VALUES])
    parts: list[BodyLiteral] = []
    written: list[tuple[IRI, list[Argument]]] = []
    if draw(st.booleans()):
        name, first, second = draw(st.sampled_from(sorted(_COMPARISONS))), draw(values), draw(values)
        parts.append(Filter(Call(name, (second, first) if name == "=" else (first, second))))
        written.append((SWRLB[_COMPARISONS[name]], [first, second]))
    if draw(st.booleans()):
        name, first, second = draw(st.sampled_from(sorted(_COMPUTED))), draw(values), draw(values)
        parts.append(Bind(Call(name, (first, second)), Variable("result")))
        written.append((SWRLB[_COMPUTED[name]], [Variable("result"), first, second]))
        bound.append(Variable("result"))
    return Rule(some_atom(bound), (*atoms, *parts)), written


@given(rules())
@settings(max_examples=examples(150))
def test_our_rules_written_as_swrl_are_read_back(written: tuple[Rule, list[tuple[IRI, list[Argument]]]]) -> None:
    rule, computed = written
    found = translate(_Writer().rule(rule, computed))
    assert found.warnings == ()
    expected = rename(DraftRule(rule.head, rule.body))
    idle = rule.head in rule.body or any(isinstance(p, Filter) and _never(p) for p in rule.body)
    assert [(clause.head, clause.body) for clause in found.rules] == ([] if idle else [(expected.head, expected.body)])


def _never(part: Filter) -> bool:
    """Whether a filter asks ``?x != ?x`` or the like: such rules are left out."""
    call = part.expression
    return isinstance(call, Call) and call.name in ("!=", "<") and call.arguments[0] == call.arguments[1]


def test_labels_of_other_things_are_not_schema() -> None:
    reasoner = Reasoner(ruleset="owl2rl")
    reasoner.load(turtle(ADULTS))
    before = reasoner.rules
    reasoner.add_triples([(ex("ann"), RDFS.label, literal("Ann"))])
    assert reasoner.rules == before


def test_assignments_survive_the_unfolding_of_auxiliary_predicates() -> None:
    program = parse("""
        aux(?x, ?y) :- p(?x, ?z), BIND(?z + 1 AS ?y) .
        two(?x) :- aux(?x, 2) .
        known(?x) :- aux(?x, ?y), q(?y) .
        next(?x, ?y) :- aux(?x, ?y) .
    """)
    unfolded = [Rule(clause.head, clause.body) for clause in unfold([DraftRule(r.head, r.body) for r in program.rules], ["aux"])]
    assert all("aux" not in str(rule) for rule in unfolded)
    facts = {"p": {(ex("a"), literal(1)), (ex("b"), literal(2)), (ex("c"), literal("c"))}, "q": {(literal(3),)}}
    expected, found = evaluate(program, facts), evaluate(Program(tuple(unfolded)), facts)
    assert {name: found.get(name) for name in ("two", "known", "next")} == {
        name: expected[name] for name in ("two", "known", "next")
    }
    assert expected["two"] == {(ex("a"),)}


BROKEN = sorted(triples_in(f"@prefix v: <urn:swrl#> . {ADULTS} {SINE} {EQUALITY}"), key=str)
TERMS = [*sorted({term for triple in BROKEN for term in triple[::2]}, key=str), RDF.nil, literal("x"), SWRLB.add]


@given(st.data())
@settings(max_examples=examples(150))
def test_broken_rules_are_warnings_and_never_exceptions(data: st.DataObject) -> None:
    triples = [*BROKEN]
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(triples) - 1))
        subject, predicate, _ = triples[place]
        other = (subject, predicate, data.draw(st.sampled_from(TERMS)))
        triples[place : place + 1] = data.draw(st.sampled_from([[], [other], [triples[place], other]]))
    found = translate(triples)
    assert all(rule.origin.axiom for rule in found.rules)
    assert len(refused_rules(triples)) <= len(found.warnings)
