"""The DLP translation of axioms to rules (Grosof, Horrocks, Volz, Decker: Description Logic Programs, WWW 2003).

Every class expression of the ontology is attached to a node, and membership of a node is a predicate: triples of rdf:type for a
named class, an auxiliary predicate for a blank node. An expression yields clauses that recognise members of its node (as a
subclass) and clauses for the consequences of membership (as a superclass); an axiom links nodes. This specialises the RL/RDF rules
of tables 5 to 7 of the W3C profile document to the ontology, so both derive the same types and properties. Auxiliary predicates are
then unfolded unless that increases the number of rules (`unfold`).

Properties of the translation:

* Classes and properties in atoms are constants; the only exceptions are auxiliary predicates.
* owl:Thing is derived only in ontologies in which it has consequences, and then for the members of declared classes, as by scm-cls.
  The same holds for the super-properties owl:topObjectProperty and owl:topDataProperty.
* owl:Nothing in a head makes a constraint (cls-nothing2), and so does owl:bottomObjectProperty.
* Members of datatypes are facts ``literal_type(?literal, ?datatype)``, which the engine has to provide for each literal and each
  datatype in `kg_reasoner.expressions.datatypes.datatypes_of` it. A range with a datatype derives no types of literals (prp-rng
  would). Optionally it makes a constraint that is violated by literals whose value is known and does not belong to that datatype
  (prp-rng and dt-not-type). This is not the default, because listing the types of all literals costs more than all other reasoning.
* Two values of a functional property are equal (owl:sameAs). If the property is declared as a data property only, the rule is a
  constraint instead: two values that are known to differ (by the datatype map, see `kg_reasoner.expressions.datatypes`) are an
  inconsistency; equal values with different lexical forms are not, nor are literals of unknown datatypes. An undeclared property
  has both rules.
* Values of data properties in keys, and of inverse functional data properties, are compared as values. This requires a declaration
  (owl:DatatypeProperty); values of other properties are compared as terms.
* Constants are matched as terms: ``hasValue "1"^^xsd:integer`` does not match ``"01"^^xsd:integer``.
* Some axioms beyond the RL/RDF rules are translated because rules can express them: owl:hasSelf (named ext-self1 and ext-self2); at
  least one value in a subclass (ext-min1); the members of a union of one class (ext-uni1); the upper bound of owl:cardinality and
  owl:qualifiedCardinality 0 and 1; the members and the disjointness of owl:disjointUnionOf.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Final, NamedTuple

from kg_reasoner.loaders.ontology.axiom_texts import Texts
from kg_reasoner.loaders.ontology.axioms import SubClassOf
from kg_reasoner.loaders.ontology.class_clauses import add_axiom, define
from kg_reasoner.loaders.ontology.clauses import Clauses, X
from kg_reasoner.loaders.ontology.idle_nodes import concluded_class, without_idle_nodes
from kg_reasoner.loaders.ontology.ontology import Ontology
from kg_reasoner.loaders.ontology.restriction_hierarchy import NO_LINKS, Links, RestrictionGroup
from kg_reasoner.loaders.ontology.unfold import DraftRule, apart, is_idle, rename, unfold
from kg_reasoner.program import Atom, Origin, Rule, Variable, triple
from kg_reasoner.terms import IRI, OWL, RDF, BlankNode, Literal, Term

__all__ = ["TranslatedOntology", "rules_of"]

_THING: Final = triple(X, RDF.type, OWL.Thing)
_TOP: Final = frozenset({OWL.topObjectProperty, OWL.topDataProperty})
_TOP_IRIS: Final = frozenset(property.value for property in _TOP)
_THING_IRI: Final = OWL.Thing.value


class TranslatedOntology(NamedTuple):
    """The rules of an ontology."""

    rules: list[Rule]
    asks_for_thing: bool
    """Whether some rule asks for owl:Thing."""
    is_closed: bool
    """Whether nothing is about owl:Thing or a universal property, of which only the whole ontology tells whether it matters."""


def rules_of(ontology: Ontology, texts: Texts, check_literals: bool = False, links: Links = NO_LINKS) -> TranslatedOntology:
    """Return the rules for an ontology's axioms, in the order of the axioms' texts.

    A rule is repeated if several axioms between names yield it, or other ones as well. The rule of an axiom between names depends
    on what its names are declared to be, and otherwise only on that axiom.

    Args:
        ontology: The ontology.
        texts: The texts of its axioms.
        check_literals: Whether what a range or a restriction says about literals makes constraints.
        links: The steps of the hierarchy of its restrictions.
    """
    translation = _DlpTranslation(ontology, texts, check_literals, links)
    return TranslatedOntology(translation.rules(), translation.asks_for_thing, translation.is_closed)


class _DlpTranslation:
    def __init__(self, ontology: Ontology, texts: Texts, check_literals: bool, links: Links) -> None:
        self.ontology = ontology
        self.texts = texts
        self.check_literals = check_literals
        self.links = links
        self.clauses = Clauses(ontology, texts, check_literals, frozenset())
        self.asks_for_thing = False
        self.is_closed = True

    def rules(self) -> list[Rule]:
        idle, links = without_idle_nodes(self.ontology, self.links)
        self.add_clauses(links, idle)
        self.is_closed = not any(map(_is_universal, self.clauses.drafts))
        if not self.is_closed:
            self.drop_idle_tops()
            if idle and self.needs_things():  # whose members are those of all classes
                self.add_clauses(self.links)
                self.drop_idle_tops()
            self.clauses.drafts = self.with_things()
        clauses = self.unfolded(self.clauses.drafts)
        clauses.extend(map(rename, self.of_equal_individuals(clauses)))
        clauses.sort(key=lambda clause: clause.axioms)
        return [self.rule(clause) for clause in clauses]

    def add_clauses(self, links: Links, idle: Collection[Term] = ()) -> None:
        """Begin with the clauses of all expressions, axioms and rules.

        Args:
            links: The links to follow.
            idle: Nodes to be left out, see `without_idle_nodes`.
        """
        self.clauses = Clauses(self.ontology, self.texts, self.check_literals, frozenset[Term]().union(*links.groups.values()))
        for node in self.ontology.expressions:
            if isinstance(node, BlankNode) and node not in idle:
                expressions = self.ontology.expressions[node]
                self.clauses.origin = (self.texts.node(node),) if len(expressions) > 1 else ()
                for expression in expressions:
                    define(self.clauses, node, expression)
        for axiom in self.ontology.axioms:
            if not idle or concluded_class(axiom) not in idle:
                self.clauses.origin = (self.texts.axiom(axiom),)
                add_axiom(self.clauses, axiom)
        if self.ontology.rules:
            self.add_swrl_rules()
        self.link_groups(links)
        self.clauses.drafts.sort(key=lambda clause: clause.axioms)

    def add_swrl_rules(self) -> None:
        from kg_reasoner.loaders.ontology.swrl_clauses import add_rules
        from kg_reasoner.loaders.ontology.swrl_texts import rule_text

        for rule in self.ontology.rules:
            self.clauses.origin = (rule_text(rule, self.texts),)
            add_rules(self.clauses, rule)

    def unfolded(self, clauses: Iterable[DraftRule]) -> list[DraftRule]:
        """Return the clauses with normalised variables, and as many auxiliary predicates unfolded as possible.

        Clauses without auxiliary predicates do not affect how others are unfolded.
        """
        alone, linked = apart(clauses, self.clauses.auxiliary)
        return [rename(clause) for clause in alone if not is_idle(clause)] + unfold(linked, self.clauses.auxiliary)

    def rule(self, clause: DraftRule) -> Rule:
        expressions: Iterable[str] = ()
        if not clause.axioms:
            atoms = (part for part in (clause.head, *clause.body) if isinstance(part, Atom))
            expressions = (self.clauses.auxiliary[atom.predicate] for atom in atoms if atom.predicate in self.clauses.auxiliary)
        origin = Origin(clause.name or None, clause.axioms, expression=next(iter(expressions), None))
        return Rule(clause.head, clause.body, origin)

    def link_groups(self, links: Links) -> None:
        """Add clauses that make members of a restriction members of those above it in the hierarchy."""
        self.clauses.origin = ()
        for group, nodes in links.groups.items():
            below, above = self.gate("below", group), self.gate("above", group)
            self.clauses.add(above, [below], "")
            for node in nodes:
                self.clauses.add(above, [self.clauses.stated(node, X)], "")
                if self.clauses.is_split(node):
                    self.clauses.add(self.clauses.member(node, X), [self.clauses.stated(node, X)], "")
                self.clauses.recognise(node, [below], "")
        for step in links.steps:
            self.clauses.origin = (self.texts.axiom(step.reason),)
            self.clauses.add(self.gate("below", step.upper), [self.gate("above", step.lower)], step.name)

    def gate(self, kind: str, group: RestrictionGroup) -> Atom:
        """Return the predicate for membership of a restriction below a group (in) or of a member of the group (out)."""
        text = self.texts.expression(group.kind(group.property, group.filler))
        return Atom(self.clauses.helper(f"{kind}_{group.kind.__name__}", (group.property, group.filler), text), (X,))

    def drop_idle_tops(self) -> None:
        """Remove the clauses that derive a universal property, unless another clause uses it."""
        asked = {
            part.terms[1]
            for clause in self.clauses.drafts
            for part in clause.body
            if isinstance(part, Atom) and len(part.terms) == 3
        }
        idle = _TOP - asked
        self.clauses.drafts = [
            clause for clause in self.clauses.drafts if len(clause.head.terms) != 3 or clause.head.terms[1] not in idle
        ]

    def needs_things(self) -> bool:
        """Return whether a clause that can fire uses owl:Thing."""
        others = self.without_things()
        return any(map(_asks_for_thing, others)) and any(map(_asks_for_thing, self.unfolded(others)))

    def without_things(self) -> list[DraftRule]:
        """Return the clauses but for those that derive owl:Thing."""
        return [clause for clause in self.clauses.drafts if clause.head.terms[1:] != _THING.terms[1:]]

    def with_things(self) -> list[DraftRule]:
        """Return the clauses, with those that derive owl:Thing only if a clause that can fire uses it."""
        if not self.needs_things():
            return self.without_things()
        self.asks_for_thing = True
        for cls in sorted({*self.ontology.classes} - {OWL.Thing, OWL.Nothing}, key=str):
            self.clauses.origin = (self.texts.axiom(SubClassOf(cls, OWL.Thing)),)
            self.clauses.conclude(OWL.Thing, X, [self.clauses.member(cls, X)], "cax-sco")
        return self.clauses.drafts

    def of_equal_individuals(self, clauses: Iterable[DraftRule]) -> list[DraftRule]:
        """Return clauses that copy auxiliary facts about constants to equal individuals.

        The equality rules of a rule set match only triples; these clauses do the same for auxiliary predicates.
        """
        found = []
        for clause in clauses:
            if clause.head.predicate in self.clauses.auxiliary:
                for place, term in enumerate(clause.head.terms):
                    if not isinstance(term, Variable | Literal):
                        equal = Variable(f"equal{place}")
                        head = Atom(clause.head.predicate, (*clause.head.terms[:place], equal, *clause.head.terms[place + 1 :]))
                        body = (*clause.body, triple(term, OWL.sameAs, equal))
                        found.append(DraftRule(head, body, "eq-rep-s", clause.axioms))
        return found


def _is_universal(clause: DraftRule) -> bool:
    for atom in (clause.head, *clause.body):
        if isinstance(atom, Atom) and len(atom.terms) == 3:
            _, property, value = atom.terms
            if (isinstance(property, IRI) and property.value in _TOP_IRIS) or (
                isinstance(value, IRI) and value.value == _THING_IRI
            ):
                return True
    return False


def _asks_for_thing(clause: DraftRule) -> bool:
    return any(isinstance(part, Atom) and part.terms[1:] == _THING.terms[1:] for part in clause.body)
