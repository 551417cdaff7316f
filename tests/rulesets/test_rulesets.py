"""The rule sets: each rule alone on the fixtures of tests/rulesets, and all of them together on small ontologies."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import pyoxigraph
import pytest

from kg_reasoner import Reasoner, rulesets
from kg_reasoner.errors import LoadError, RuleSyntaxError, UnknownNameError
from kg_reasoner.language.checks.analysis import check
from kg_reasoner.language.parser import parse
from kg_reasoner.language.printer import format_program
from kg_reasoner.loaders.convert import from_oxigraph
from kg_reasoner.planning.catalog import layout_for
from kg_reasoner.planning.layouts.property_tables import PropertyTables
from kg_reasoner.program import FALSE, TRIPLE, Program, Rule
from kg_reasoner.storage.terms.dictionary import Dictionary
from kg_reasoner.storage.terms.literals import LiteralFacts
from kg_reasoner.terms import IRI, RDF, Literal, Term
from tests.helpers.effort import thinned
from tests.helpers.extras import needed
from tests.helpers.fixtures import blocks
from tests.helpers.oracle import Facts, Row, evaluate

FIXTURES = Path(__file__).parent
TURTLE_PREFIXES = """
    @prefix : <http://example.org/> . @prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
    @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
    @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
    @prefix swrl: <http://www.w3.org/2003/11/swrl#> . @prefix swrlb: <http://www.w3.org/2003/11/swrlb#> .
"""

TABLES = """
    eq-ref eq-sym eq-trans eq-rep-s eq-rep-p eq-rep-o eq-diff1 eq-diff2 eq-diff3

    prp-ap prp-dom prp-rng prp-fp prp-ifp prp-irp prp-symp prp-asyp prp-trp prp-spo1 prp-spo2 prp-eqp1 prp-eqp2 prp-pdw prp-adp
    prp-inv1 prp-inv2 prp-key prp-npa1 prp-npa2

    cls-thing cls-nothing1 cls-nothing2 cls-int1 cls-int2 cls-uni cls-com cls-svf1 cls-svf2 cls-avf cls-hv1 cls-hv2
    cls-maxc1 cls-maxc2 cls-maxqc1 cls-maxqc2 cls-maxqc3 cls-maxqc4 cls-oo

    cax-sco cax-eqc1 cax-eqc2 cax-dw cax-adc

    dt-type1 dt-type2 dt-eq dt-diff dt-not-type

    scm-cls scm-sco scm-eqc1 scm-eqc2 scm-op scm-dp scm-spo scm-eqp1 scm-eqp2 scm-dom1 scm-dom2 scm-rng1 scm-rng2
    scm-hv scm-svf1 scm-svf2 scm-avf1 scm-avf2 scm-int scm-uni
"""
"""The names of the rules in tables 4 to 9 of OWL 2 Profiles."""

CONSTRAINTS = """
    eq-diff1 eq-diff2 eq-diff3 prp-irp prp-asyp prp-pdw prp-adp prp-npa1 prp-npa2 cls-nothing2 cls-com cls-maxc1
    cls-maxqc1 cls-maxqc2 cax-dw cax-adc dt-not-type
"""
"""Those that conclude `false`."""

BEYOND = """
    beyond/symmetry beyond/pairs beyond/datatypes
    beyond/exact beyond/complement beyond/bottom beyond/min beyond/self beyond/disjoint-union beyond/union-of-one
"""
"""Rules that are not in the tables."""

RDFS_PATTERNS = "rdfs1 rdfs2 rdfs3 rdfs4a rdfs4b rdfs5 rdfs6 rdfs7 rdfs8 rdfs9 rdfs10 rdfs11 rdfs12 rdfs13 rdfD1 rdfD2"


@dataclass(frozen=True)
class Case:
    """One fixture: a premise, and what rules of a name make of it."""

    rule: str
    premise: str
    follows: str = ""
    does_not_follow: str = ""
    consistent: bool | None = None


def cases(ruleset: str) -> list[Case]:
    found = []
    for rule, text in blocks(FIXTURES / f"{ruleset}.txt"):
        case = Case(rule.strip(), "")
        field = "premise"
        for line in text.splitlines():
            if line in ("=> false", "=> true"):
                case = replace(case, consistent=line == "=> true")
            elif line in ("=>", "=/>"):
                field = "follows" if line == "=>" else "does_not_follow"
            else:
                case = replace(case, **{field: f"{getattr(case, field)}{line}\n"})
        found.append(case)
    return found


def facts_in(text: str) -> set[Row]:
    """The triples that a text of the rule language states."""
    program = parse(f"@prefix : <http://example.org/> . {text}")
    return {ground(rule) for rule in program.rules}


def ground(rule: Rule) -> Row:
    assert not rule.body
    assert rule.head.predicate == TRIPLE
    return tuple(term for term in rule.head.terms if isinstance(term, Term))


def triples_in(turtle: str) -> set[Row]:
    quads = pyoxigraph.parse(f"{TURTLE_PREFIXES}{turtle}".encode(), pyoxigraph.RdfFormat.TURTLE)
    return {(from_oxigraph(q.subject), from_oxigraph(q.predicate), from_oxigraph(q.object)) for q in quads}


def with_literals(triples: set[Row]) -> Facts:
    """The triples, and the facts about their literals and datatypes that a reasoner gives by itself."""
    dictionary = Dictionary()
    for row in triples:
        for term in row:
            dictionary.encode(term)
    given = LiteralFacts(dictionary).new()
    return {TRIPLE: triples} | {name: {tuple(map(dictionary.decode, row)) for row in rows} for name, rows in given.items()}


def premise_of(case: Case) -> Facts:
    lines = case.premise.splitlines()
    stated = facts_in("\n".join(line[1:] for line in lines if line.startswith("+")))
    return with_literals(stated | triples_in("\n".join(line for line in lines if not line.startswith("+"))))


def alone(program: Program, name: str) -> Program:
    """The rules of a name, with all rules about helper predicates."""
    return replace(
        program, rules=tuple(r for r in program.rules if r.origin.name == name or r.head.predicate not in (TRIPLE, FALSE))
    )


ALL_CASES = [pytest.param(name, case, id=f"{name}: {case.rule}") for name in rulesets.names() for case in cases(name)]


@pytest.mark.parametrize(("ruleset", "case"), thinned(ALL_CASES, 3))
@pytest.mark.sample(2)
def test_a_rule_alone_does_what_it_should(ruleset: str, case: Case) -> None:
    program = rulesets.load(ruleset).program
    model = evaluate(alone(program, case.rule), premise_of(case))
    assert facts_in(case.follows) <= model[TRIPLE]
    assert not facts_in(case.does_not_follow) & model[TRIPLE]
    if case.consistent is not None:
        assert (FALSE not in model) == case.consistent
        assert any(rule.is_constraint for rule in program.rules if rule.origin.name == case.rule)


@pytest.mark.parametrize("case", thinned([case for case in cases("owl2rl-full") if case.consistent], 3), ids=lambda case: case.rule)
def test_what_violates_no_constraint_of_its_own_violates_no_other(case: Case) -> None:
    assert FALSE not in evaluate(rulesets.load("owl2rl-full").program, premise_of(case))


def test_the_rules_of_tables_4_to_9_are_there_and_have_a_fixture_each() -> None:
    expected = set(TABLES.split())
    rules = rulesets.load("owl2rl-full").program.rules
    found = {rule.origin.name or "" for rule in rules}
    assert {name for name in found if "/" not in name} == expected
    assert {name.partition("/")[0] for name in found if "/" in name} <= expected | {"list", "beyond"}
    assert {case.rule for case in cases("owl2rl-full")} == expected | set(BEYOND.split())
    assert {rule.origin.name for rule in rules if rule.is_constraint} == {
        *CONSTRAINTS.split(),
        *("beyond/datatypes", "beyond/exact", "beyond/complement", "beyond/bottom", "beyond/disjoint-union"),
    }


@pytest.mark.parametrize("ruleset", ["owl2rl-full", "rdfs-full"])
def test_every_rule_has_a_near_miss(ruleset: str) -> None:
    """A premise that looks like the rule's, from which it must not conclude what it might; rules without premises have none."""
    rules = rulesets.load(ruleset).program.rules
    conditional = {rule.origin.name for rule in rules if rule.body}
    missing = {case.rule for case in cases(ruleset) if case.does_not_follow or case.consistent}
    assert {case.rule for case in cases(ruleset)} & conditional <= missing


def test_the_entailment_patterns_of_rdfs_are_there_and_have_a_fixture_each() -> None:
    named = {rule.origin.name for rule in rulesets.load("rdfs-full").program.rules} - {"datatypes/stated", "datatypes/used"}
    assert set(RDFS_PATTERNS.split()) <= named
    assert {case.rule for case in cases("rdfs-full")} == named


@pytest.mark.parametrize("name", rulesets.names())
def test_a_rule_set_is_sound_named_and_described(name: str) -> None:
    ruleset = rulesets.load(name)
    check(ruleset.program)
    assert all(rule.origin.name for rule in ruleset.program.rules)
    assert 20 < len(ruleset.description) < 150
    assert parse(format_program(ruleset.program)) == ruleset.program
    assert rulesets.load(name) is ruleset


def test_the_translating_rule_set_needs_no_view_of_all_triples() -> None:
    program = rulesets.load("owl2rl").program
    assert program.translate == "dlp"
    assert layout_for(program.rules) is PropertyTables


def test_facts_that_need_several_rules() -> None:
    model = evaluate(
        rulesets.load("owl2rl-full").program,
        with_literals(
            triples_in("""
                :hasUncle owl:propertyChainAxiom (:hasParent :hasBrother) . :hasBrother rdfs:subPropertyOf :hasSibling .
                :hasParent owl:inverseOf :hasChild . :hasSibling a owl:SymmetricProperty .
                :Parent owl:equivalentClass [ owl:onProperty :hasChild ; owl:someValuesFrom owl:Thing ] .
                :Father owl:equivalentClass [ owl:intersectionOf (:Parent :Man) ] .
                :Man rdfs:subClassOf [ owl:complementOf :Woman ] .
                :ssn a owl:InverseFunctionalProperty . :age rdfs:range xsd:nonNegativeInteger .
                :bob :hasChild :ann ; a :Man ; :hasBrother :carl . :robert :ssn "1" ; :age 50 . :bob :ssn "1" .
            """)
        ),
    )
    expected = facts_in("""
        :hasUncle[:ann, :carl], :Father[:bob], :Father[:robert], :hasSibling[:carl, :robert], :hasParent[:ann, :robert],
        owl:sameAs[:bob, :robert], :age[:bob, 50], xsd:nonNegativeInteger[50], rdfs:subClassOf[:Father, :Man] .
    """)
    assert expected <= model[TRIPLE]
    assert FALSE not in model


def test_the_reasoner_owlrl_finds_the_same() -> None:
    """An implementation of the same tables by other people, compared on what it says about the user's own names."""
    owlrl = needed("owlrl")
    import rdflib

    turtle = """
        :C owl:intersectionOf (:D :E :F) . :G owl:unionOf (:C :H) .
        :G rdfs:subClassOf [ owl:onProperty :p ; owl:allValuesFrom :K ] .
        :K rdfs:subClassOf [ owl:onProperty :q ; owl:hasValue :v ] .
        :L owl:equivalentClass [ owl:onProperty :q ; owl:someValuesFrom :V ] .
        :O owl:oneOf (:v :w) . :O rdfs:subClassOf :V . :D owl:disjointWith :H .
        :q rdfs:subPropertyOf :r . :r a owl:TransitiveProperty ; rdfs:range :R .
        :t owl:propertyChainAxiom (:p :r) ; owl:inverseOf :u . :u rdfs:domain :U .
        :M owl:onProperty :s ; owl:maxCardinality "1"^^xsd:nonNegativeInteger . :K rdfs:subClassOf :M . :N owl:hasKey (:k :l) .
        :a a :D, :E, :F ; :p :b . :b :s :c, :d . :c a :N ; :k 1 ; :l 2 . :e a :N ; :k 1 ; :l 2 ; :r :a . :v :r :e .
    """
    graph = rdflib.Graph().parse(data=f"{TURTLE_PREFIXES}{turtle}", format="turtle")
    owlrl.DeductiveClosure(owlrl.OWLRL_Semantics).expand(graph)
    ours = evaluate(rulesets.load("owl2rl-full").program, with_literals(triples_in(turtle)))[TRIPLE]

    def own(name: str) -> bool:
        return name.startswith("http://example.org/")

    def named(triples: set[tuple[str, ...]]) -> set[tuple[str, ...]]:
        """Those about the user's classes and properties."""
        about = {(s, p, o) for s, p, o in triples if own(s) and (own(p) or p == RDF.type.value)}
        return {(s, p, o) for s, p, o in about if own(o) or not o.startswith("http")}

    def plain(term: Term) -> str:
        return term.value if isinstance(term, IRI) else term.lexical if isinstance(term, Literal) else "http-blank"

    theirs = {tuple("http-blank" if isinstance(term, rdflib.BNode) else str(term) for term in row) for row in graph}
    assert named({tuple(map(plain, row)) for row in ours}) == named(theirs)
    assert len(named(theirs)) > 40


@pytest.mark.parametrize("name", ["owl2el", "owl2el+owl2rl", "rdfs+owl2el"])
def test_rules_of_the_package_are_not_warned_of(name: str, recwarn: pytest.WarningsRecorder) -> None:
    assert len(Reasoner(ruleset=name).rules) == len(rulesets.load(name).program.rules)
    assert [str(each.message) for each in recwarn] == []


def test_an_unknown_name_is_an_error_with_similar_ones() -> None:
    with pytest.raises(UnknownNameError, match=r"unknown rule set 'owl2rI', did you mean 'owl2rl'\?; choose one of: owl2el,"):
        rulesets.load("owl2rI")


def test_a_file_of_ones_own_is_a_rule_set(tmp_path: Path) -> None:
    path = tmp_path / "mine.dl"
    path.write_text("# What I need\np(?x) :- q(?x) .\n")
    ruleset = rulesets.load(path)
    assert (ruleset.name, ruleset.description, len(ruleset.program.rules)) == ("mine", "What I need", 1)
    path.write_text("p(?x) :- q(?x), r(?x) .\n")
    assert len(rulesets.load(str(path)).program.rules[0].body) == 2
    path.write_text("p(?x) :- \n")
    with pytest.raises(RuleSyntaxError, match=r"mine\.dl:1"):
        rulesets.load(path)
    with pytest.raises(LoadError, match=r"absent\.dl: No such file"):
        rulesets.load(tmp_path / "absent.dl")
