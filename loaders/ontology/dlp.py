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
  least one value in a subclass (ext-min1); the upper bound of owl:cardinality and owl:qualifiedCardinality 0 and 1; the members and
  the disjointness of owl:disjointUnionOf.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from itertools import combinations, pairwise
from typing import Final, NamedTuple

from kg_reasoner.expressions.datatypes import DATATYPES
from kg_reasoner.loaders.ontology.axioms import (
    AllValuesFrom,
    Axiom,
    Cardinality,
    Characteristic,
    ClassAssertion,
    ClassExpression,
    ComplementOf,
    Definition,
    DifferentIndividuals,
    DisjointClasses,
    DisjointProperties,
    DisjointUnion,
    EquivalentClasses,
    EquivalentProperties,
    HasKey,
    HasSelf,
    HasValue,
    IntersectionOf,
    InverseProperties,
    NegativeAssertion,
    OneOf,
    PropertyChain,
    PropertyDomain,
    PropertyRange,
    SameNames,
    SomeValuesFrom,
    SubClassOf,
    SubPropertyOf,
    UnionOf,
    at_most,
)
from kg_reasoner.loaders.ontology.functional import Texts
from kg_reasoner.loaders.ontology.hierarchy import NO_LINKS, Links, RestrictionGroup
from kg_reasoner.loaders.ontology.ontology import Ontology
from kg_reasoner.loaders.ontology.swrl_clauses import add_rules
from kg_reasoner.loaders.ontology.swrl_texts import rule_text
from kg_reasoner.loaders.ontology.unfold import DraftRule, is_idle, rename, unfold
from kg_reasoner.program import (
    FALSE,
    TRIPLE,
    Argument,
    Atom,
    Bind,
    BodyLiteral,
    Call,
    Filter,
    Negation,
    Origin,
    Rule,
    Variable,
    triple,
)
from kg_reasoner.terms import OWL, RDF, RDFS, BlankNode, Literal, Term, literal, term_text

__all__ = ["AUXILIARY_PREFIX", "LITERAL_TYPE", "Translated", "rules_of"]

AUXILIARY_PREFIX: Final = "_owl_"
"""How the names of the translation's auxiliary predicates begin; they are stable while the blank nodes keep their labels."""

LITERAL_TYPE: Final = "literal_type"
"""The predicate ``literal_type(?literal, ?datatype)``, which the engine provides (see above)."""

_X, _Y, _Z = Variable("x"), Variable("y"), Variable("z")
_I, _J = Variable("i"), Variable("j")
_ARE_DIFFERENT_VALUES: Final = tuple(Filter(Call("!", (Call(name, (_Y, _Z)),))) for name in ("SAMETERM", "SAMEVALUE"))
"""Tests identity of terms first, without calling a function."""
_FALSE: Final = Atom(FALSE, ())
_THING: Final = triple(_X, RDF.type, OWL.Thing)
_IN_NOTHING: Final = (RDF.type, OWL.Nothing)
_BOTTOM: Final = frozenset({OWL.bottomObjectProperty, OWL.bottomDataProperty})
_TOP: Final = frozenset({OWL.topObjectProperty, OWL.topDataProperty})
_MANY: Final = 12
"""More classes, properties or individuals than this are said to differ by a numbered predicate instead of pair by pair."""


class Translated(NamedTuple):
    """The rules of an ontology."""

    rules: list[Rule]
    asks_for_thing: bool
    """Whether some rule asks for owl:Thing."""
    is_closed: bool
    """Whether nothing is about owl:Thing or a universal property, of which only the whole ontology tells whether it matters."""


def rules_of(ontology: Ontology, texts: Texts, check_literals: bool = False, links: Links = NO_LINKS) -> Translated:
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
    return Translated(translation.rules(), translation.asks_for_thing, translation.is_closed)


class _DlpTranslation:
    def __init__(self, ontology: Ontology, texts: Texts, check_literals: bool, links: Links) -> None:
        self.ontology = ontology
        self.check_literals = check_literals
        self.texts = texts
        self.steps, self.groups = links
        self.asks_for_thing = False
        self.is_closed = True
        self.in_groups = frozenset(node for nodes in self.groups.values() for node in nodes)
        self.clauses: list[DraftRule] = []
        self.auxiliary: dict[str, str] = {}
        """The auxiliary predicates to unfold, and the texts of what they stand for."""
        self._names: dict[tuple[str, Term], str] = {}
        self._origin: tuple[str, ...] = ()

    def rules(self) -> list[Rule]:
        for node in self.ontology.expressions:
            if isinstance(node, BlankNode):
                expressions = self.ontology.expressions[node]
                self._origin = (self.texts.node(node),) if len(expressions) > 1 else ()
                for expression in expressions:
                    self.define(node, expression)
        for axiom in self.ontology.axioms:
            self._origin = (self.texts.axiom(axiom),)
            self.translate(axiom)
        for rule in self.ontology.rules:
            self._origin = (rule_text(rule, self.texts),)
            add_rules(self, rule)
        self.link_groups()
        self.clauses.sort(key=lambda clause: clause.axioms)
        self.is_closed = not any(map(_is_universal, self.clauses))
        self.drop_idle_tops()
        clauses = self.unfolded(self.with_things())
        clauses.extend(map(rename, self.of_equal_individuals(clauses)))
        clauses.sort(key=lambda clause: clause.axioms)
        return [self.rule(clause) for clause in clauses]

    def unfolded(self, clauses: Iterable[DraftRule]) -> list[DraftRule]:
        """Return the clauses with normalised variables, and as many auxiliary predicates unfolded as possible.

        Clauses without auxiliary predicates do not affect how others are unfolded.
        """
        found: list[DraftRule] = []
        linked: list[DraftRule] = []
        auxiliary = self.auxiliary
        for clause in clauses:
            if clause.head.predicate in auxiliary or any(
                isinstance(part, Atom) and part.predicate in auxiliary for part in clause.body
            ):
                linked.append(clause)
            elif not is_idle(clause):
                found.append(rename(clause))
        return found + unfold(linked, auxiliary)

    def rule(self, clause: DraftRule) -> Rule:
        axioms = clause.axioms
        if not axioms:
            atoms = (part for part in (clause.head, *clause.body) if isinstance(part, Atom))
            axioms = tuple(self.auxiliary[atom.predicate] for atom in atoms if atom.predicate in self.auxiliary)[:1]
        return Rule(clause.head, clause.body, Origin(clause.name or None, "; ".join(axioms)))

    # ---- atoms

    def name(self, kind: str, node: Term) -> str:
        """Return the auxiliary predicate of a blank node: its label, with characters that identifiers lack as code points."""
        known = self._names.get((kind, node))
        if known is not None:
            return known
        label = node.label if isinstance(node, BlankNode) else term_text(node)
        predicate = f"{AUXILIARY_PREFIX}{kind}_" + re.sub(r"[^A-Za-z0-9]", lambda found: f"_{ord(found[0]):x}_", label)
        self.auxiliary[predicate] = self.texts.node(node)
        self._names[kind, node] = predicate
        return predicate

    def member(self, node: Term, instance: Argument) -> Atom:
        """Return the atom for membership of a class or data range."""
        if isinstance(node, BlankNode):
            return Atom(self.name("class", node), (instance,))
        if self.ontology.is_datatype(node):
            return Atom(LITERAL_TYPE, (instance, node))
        return triple(instance, RDF.type, node)

    def stated(self, node: Term, instance: Argument) -> Atom:
        """Return the atom for membership of a node other than by its own expression or that of its groups, if this makes a
        difference.
        """
        return Atom(self.name("stated", node), (instance,)) if self.is_split(node) else self.member(node, instance)

    def is_split(self, node: Term) -> bool:
        """Return whether the translation distinguishes how an instance became a member of a node.

        A member of a restriction by its own expression is a member of the restrictions above it by theirs, so the hierarchy need
        not derive it again. This does not hold for the restriction to some owl:Thing, which requires a value but no membership.
        """
        if not isinstance(node, BlankNode) or node not in self.in_groups:
            return False
        first, *others = self.ontology.expressions[node]
        return not others and not (isinstance(first, SomeValuesFrom) and first.filler == OWL.Thing)

    def related(self, property: Term, subject: Argument, object: Argument) -> Atom:
        """Return the atom for a property, named or not."""
        if property in self.ontology.inverses:
            name, inverted = self.ontology.inverses[property]
            return triple(object, name, subject) if inverted else triple(subject, name, object)
        if isinstance(property, BlankNode):
            return Atom(self.name("property", property), (subject, object))
        if property == RDF.type and not isinstance(object, Variable):
            return self.member(object, subject)
        return triple(subject, property, object)

    def valued(self, property: Term, subject: Argument, value: Argument) -> Atom:
        """Return the atom for a property that identifies individuals: for a data property, an atom about values rather than lexical
        forms.
        """
        if property not in self.ontology.data_properties or property in self.ontology.object_properties:
            return self.related(property, subject, value)
        predicate = _numbered("value", [property])
        self.add(Atom(predicate, (_X, _Z)), [self.related(property, _X, _Y), Bind(Call("VALUE", (_Y,)), _Z)], "dt-eq")
        return Atom(predicate, (subject, value))

    # ---- clauses

    def add(self, head: Atom, body: Iterable[BodyLiteral], name: str) -> None:
        body = tuple(dict.fromkeys(body))
        if any(isinstance(part, Atom) and _is_empty(part) for part in body):
            return
        self.clauses.append(DraftRule(head, body, name, self._origin))

    def conclude(self, node: Term, instance: Argument, body: Iterable[BodyLiteral], name: str) -> None:
        """Add the clause that makes an instance a member of a class or data range."""
        if node == OWL.Nothing:
            self.add(_FALSE, body, "cls-nothing2")
        elif isinstance(node, BlankNode):
            self.add(self.stated(node, instance), body, name)
        elif self.ontology.is_datatype(node):
            if self.check_literals and str(node)[1:-1] in DATATYPES and node != RDFS.Literal and isinstance(instance, Variable):
                known = Atom(LITERAL_TYPE, (instance, RDFS.Literal))
                self.add(_FALSE, (*body, known, Negation(Atom(LITERAL_TYPE, (instance, node)))), "dt-not-type")
        elif not isinstance(instance, Literal):
            self.add(triple(instance, RDF.type, node), body, name)

    def recognise(self, node: Term, body: Iterable[BodyLiteral], name: str) -> None:
        """Add the clause that recognises ``?x`` as a member of a node by the node's own restriction."""
        if self.is_split(node):
            self.add(self.member(node, _X), body, name)
        else:
            self.conclude(node, _X, body, name)

    def relate(self, property: Term, subject: Argument, object: Argument, body: Iterable[BodyLiteral], name: str) -> None:
        """Add the clause that relates two individuals by a property."""
        if property in _BOTTOM:
            self.add(_FALSE, body, name)
        else:
            self.add(self.related(property, subject, object), body, name)

    def equate(self, first: Variable, second: Variable, body: Sequence[BodyLiteral], name: str) -> None:
        self.add(triple(first, OWL.sameAs, second), (*body, Filter(Call("!=", (first, second)))), name)

    def equate_values(self, property: Term, filler: Term | None, body: Sequence[BodyLiteral], name: str) -> None:
        """Add the clauses by which ``?y`` and ``?z`` are the same value of a property: the same individual, or literals that must
        not differ.
        """
        is_data = property in self.ontology.data_properties or (filler is not None and self.ontology.is_datatype(filler))
        is_object = property in self.ontology.object_properties or property in self.ontology.inverses
        if is_object or not is_data:
            self.equate(_Y, _Z, body, name)
        if is_data or not is_object:
            self.add(_FALSE, (*body, *_ARE_DIFFERENT_VALUES), name)

    def exclude(self, nodes: Sequence[Term], atoms: Sequence[Atom], name: str) -> None:
        """Add constraints: no two of the atoms (membership of the nodes, over the same variables) hold together."""
        if len(atoms) <= _MANY:
            for first, second in combinations(atoms, 2):
                self.add(_FALSE, (first, second), name)
            return
        variables = tuple(term for term in atoms[0].terms if isinstance(term, Variable))
        predicate = _numbered("disjoint", nodes)
        for number, atom in enumerate(atoms, start=1):
            self.add(Atom(predicate, (*variables, literal(number))), (atom,), name)
        numbered = (Atom(predicate, (*variables, index)) for index in (_I, _J))
        self.add(_FALSE, (*numbered, Filter(Call("<", (_I, _J)))), name)

    # ---- expressions

    def define(self, node: Term, expression: ClassExpression) -> None:
        """Add the clauses of an expression attached to a node."""
        match expression:
            case IntersectionOf(operands):
                self.conclude(node, _X, [self.member(operand, _X) for operand in operands], "cls-int1")
                for operand in operands:
                    self.conclude(operand, _X, [self.member(node, _X)], "cls-int2")
            case UnionOf(operands):
                for operand in operands:
                    self.conclude(node, _X, [self.member(operand, _X)], "cls-uni")
            case OneOf(members):
                for individual in members:
                    self.conclude(node, individual, [], "cls-oo")
            case ComplementOf(operand):
                self.add(_FALSE, [self.member(node, _X), self.member(operand, _X)], "cls-com")
            case SomeValuesFrom(property, filler):
                name = "cls-svf2" if filler == OWL.Thing else "cls-svf1"
                self.recognise(node, self.with_value(property, filler), name)
            case AllValuesFrom(property, filler):
                self.conclude(filler, _Y, [self.stated(node, _X), self.related(property, _X, _Y)], "cls-avf")
            case HasValue(property, value):
                self.relate(property, _X, value, [self.member(node, _X)], "cls-hv1")
                self.conclude(node, _X, [self.related(property, _X, value)], "cls-hv2")
            case HasSelf(property):
                self.relate(property, _X, _X, [self.member(node, _X)], "ext-self1")
                self.conclude(node, _X, [self.related(property, _X, _X)], "ext-self2")
            case Cardinality():
                self.define_cardinality(node, expression)

    def define_cardinality(self, node: Term, expression: Cardinality) -> None:
        property, filler = expression.property, expression.filler
        if expression.bound == "Min" and expression.number == 1:
            self.conclude(node, _X, self.with_value(property, filler), "ext-min1")
        is_thing, upper = filler == OWL.Thing, at_most(expression)
        if upper == 0:
            name = "cls-maxc1" if filler is None else "cls-maxqc2" if is_thing else "cls-maxqc1"
            self.add(_FALSE, [self.member(node, _X), *self.with_value(property, filler)], name)
        elif upper == 1:
            name = "cls-maxc2" if filler is None else "cls-maxqc4" if is_thing else "cls-maxqc3"
            values = [*self.with_value(property, filler, _Y), *self.with_value(property, filler, _Z)]
            self.equate_values(property, filler, [self.member(node, _X), *values], name)

    def with_value(self, property: Term, filler: Term | None, value: Variable = _Y) -> list[Atom]:
        """Return the atoms by which ``?x`` has a value in the filler."""
        related = self.related(property, _X, value)
        is_literal = filler == RDFS.Literal and self.texts.kind(property) == "Data"
        return [related] if filler is None or filler == OWL.Thing or is_literal else [related, self.member(filler, value)]

    # ---- axioms

    def translate(self, axiom: Axiom) -> None:
        match axiom:
            case SubClassOf(sub, sup):
                self.include(sub, sup, "cax-sco")
            case EquivalentClasses(first, second):
                self.include(first, second, "cax-eqc1")
                self.include(second, first, "cax-eqc2")
            case SameNames(first, second, of_classes=True):
                self.include(first, second, "eq-rep-o")
                self.include(second, first, "eq-rep-o")
            case Definition(name, expression):
                if not self.ontology.is_datatype(name):
                    self.define(name, expression)
            case DisjointClasses(classes):
                self.exclude(classes, [self.member(cls, _X) for cls in classes], axiom.rule)
            case DisjointUnion(whole, parts):
                for part in parts:
                    self.include(part, whole, "cls-uni")
                self.exclude(parts, [self.member(part, _X) for part in parts], "cax-adc")
            case ClassAssertion(cls, individual):
                if not self.ontology.is_datatype(cls):
                    self.conclude(cls, individual, [], "")
            case DifferentIndividuals(individuals):
                self.distinguish(individuals, axiom.rule)
            case NegativeAssertion(property, source, target):
                self.add(_FALSE, [self.related(property, source, target)], axiom.rule)
            case _:
                self.translate_property_axiom(axiom)

    def include(self, sub: Term, sup: Term, name: str) -> None:
        if not self.ontology.is_datatype(sub) and not self.ontology.is_datatype(sup):
            self.conclude(sup, _X, [self.member(sub, _X)], name)

    def distinguish(self, individuals: Sequence[Term], name: str) -> None:
        if len(individuals) <= _MANY:
            for first, second in combinations(individuals, 2):
                self.add(_FALSE, [triple(first, OWL.sameAs, second)], name)
            return
        predicate = _numbered("different", individuals)
        for number, individual in enumerate(individuals, start=1):
            self.add(Atom(predicate, (individual, literal(number))), [], name)
        numbered = Atom(predicate, (_X, _I)), Atom(predicate, (_Y, _J))
        self.add(_FALSE, [triple(_X, OWL.sameAs, _Y), *numbered, Filter(Call("<", (_I, _J)))], name)

    def translate_property_axiom(self, axiom: Axiom) -> None:
        related = self.related
        match axiom:
            case SubPropertyOf(sub, sup):
                self.relate(sup, _X, _Y, [related(sub, _X, _Y)], "prp-spo1")
            case EquivalentProperties(first, second):
                self.relate(second, _X, _Y, [related(first, _X, _Y)], "prp-eqp1")
                self.relate(first, _X, _Y, [related(second, _X, _Y)], "prp-eqp2")
            case SameNames(first, second):
                self.relate(second, _X, _Y, [related(first, _X, _Y)], "eq-rep-p")
                self.relate(first, _X, _Y, [related(second, _X, _Y)], "eq-rep-p")
            case InverseProperties(first, second):
                self.relate(second, _Y, _X, [related(first, _X, _Y)], "prp-inv1")
                self.relate(first, _Y, _X, [related(second, _X, _Y)], "prp-inv2")
            case PropertyChain(chain, sup):
                nodes = [Variable(f"n{number}") for number in range(len(chain) + 1)]
                links = [related(property, *ends) for property, ends in zip(chain, pairwise(nodes), strict=True)]
                self.relate(sup, nodes[0], nodes[-1], links, "prp-spo2")
            case DisjointProperties(properties):
                self.exclude(properties, [related(property, _X, _Y) for property in properties], axiom.rule)
            case PropertyDomain(property, domain):
                self.conclude(domain, _X, [related(property, _X, _Y)], "prp-dom")
            case PropertyRange(property, cls):
                self.conclude(cls, _Y, [related(property, _X, _Y)], "prp-rng")
            case HasKey(cls, keys):
                values = [Variable(f"k{number}") for number in range(len(keys))]
                for_each = [self.valued(key, owner, value) for key, value in zip(keys, values, strict=True) for owner in (_X, _Y)]
                self.equate(_X, _Y, [self.member(cls, _X), *for_each, self.member(cls, _Y)], "prp-key")
            case Characteristic(kind, property):
                self.characterise(kind, property)

    def characterise(self, kind: Term, property: Term) -> None:
        there, back = self.related(property, _X, _Y), self.related(property, _Y, _X)
        if kind == OWL.FunctionalProperty:
            self.equate_values(property, None, [there, self.related(property, _X, _Z)], "prp-fp")
        elif kind == OWL.InverseFunctionalProperty:
            self.equate(_X, _Y, [self.valued(property, _X, _Z), self.valued(property, _Y, _Z)], "prp-ifp")
        elif kind == OWL.TransitiveProperty:
            self.relate(property, _X, _Z, [there, self.related(property, _Y, _Z)], "prp-trp")
        elif kind == OWL.SymmetricProperty:
            self.relate(property, _Y, _X, [there], "prp-symp")
        elif kind == OWL.AsymmetricProperty:
            self.add(_FALSE, [there, back], "prp-asyp")
        elif kind == OWL.IrreflexiveProperty:
            self.add(_FALSE, [self.related(property, _X, _X)], "prp-irp")

    # ---- what belongs to all axioms together

    def link_groups(self) -> None:
        """Add clauses that make members of a restriction members of those above it in the hierarchy."""
        self._origin = ()
        for group, nodes in self.groups.items():
            below, above = self.gate("below", group), self.gate("above", group)
            self.add(above, [below], "")
            for node in nodes:
                self.add(above, [self.stated(node, _X)], "")
                if self.is_split(node):
                    self.add(self.member(node, _X), [self.stated(node, _X)], "")
                self.recognise(node, [below], "")
        for step in self.steps:
            self._origin = (self.texts.axiom(step.reason),)
            self.add(self.gate("below", step.upper), [self.gate("above", step.lower)], step.name)

    def gate(self, kind: str, group: RestrictionGroup) -> Atom:
        """Return the predicate for membership of a restriction below a group (in) or of a member of the group (out)."""
        text = self.texts.expression(group.kind(group.property, group.filler))
        return Atom(self.helper(f"{kind}_{group.kind.__name__}", (group.property, group.filler), text), (_X,))

    def helper(self, kind: str, terms: Iterable[Term], text: str) -> str:
        """Return an auxiliary predicate for a list of terms, described by `text`."""
        predicate = _numbered(kind, terms)
        self.auxiliary[predicate] = text
        return predicate

    def drop_idle_tops(self) -> None:
        """Remove the clauses that derive a universal property, unless another clause uses it."""
        asked = {
            part.terms[1] for clause in self.clauses for part in clause.body if isinstance(part, Atom) and len(part.terms) == 3
        }
        idle = _TOP - asked
        self.clauses = [clause for clause in self.clauses if len(clause.head.terms) != 3 or clause.head.terms[1] not in idle]

    def with_things(self) -> list[DraftRule]:
        """Return the clauses, with those that derive owl:Thing only if a clause that can fire uses it."""
        others = [clause for clause in self.clauses if clause.head.terms[1:] != _THING.terms[1:]]
        if not any(_asks_for_thing(clause) for clause in others):
            return others
        if not any(_asks_for_thing(clause) for clause in self.unfolded(others)):
            return others
        self.asks_for_thing = True
        for cls in sorted({*self.ontology.classes} - {OWL.Thing, OWL.Nothing}, key=str):
            self._origin = (self.texts.axiom(SubClassOf(cls, OWL.Thing)),)
            self.conclude(OWL.Thing, _X, [self.member(cls, _X)], "cax-sco")
        return self.clauses

    def of_equal_individuals(self, clauses: Iterable[DraftRule]) -> list[DraftRule]:
        """Return clauses that copy auxiliary facts about constants to equal individuals.

        The equality rules of a rule set match only triples; these clauses do the same for auxiliary predicates.
        """
        found = []
        for clause in clauses:
            if clause.head.predicate in self.auxiliary:
                for place, term in enumerate(clause.head.terms):
                    if not isinstance(term, Variable | Literal):
                        equal = Variable(f"equal{place}")
                        head = Atom(clause.head.predicate, (*clause.head.terms[:place], equal, *clause.head.terms[place + 1 :]))
                        body = (*clause.body, triple(term, OWL.sameAs, equal))
                        found.append(DraftRule(head, body, "eq-rep-s", clause.axioms))
        return found


def _numbered(kind: str, terms: Iterable[Term]) -> str:
    """Return a predicate for a list of terms."""
    text = "\n".join(map(term_text, terms))
    return f"{AUXILIARY_PREFIX}{kind}_{hashlib.blake2b(text.encode(), digest_size=6).hexdigest()}"


def _is_empty(atom: Atom) -> bool:
    """Return whether an atom is about owl:Nothing or an empty property, which have no facts in consistent data."""
    return atom.terms[1:] == _IN_NOTHING or (atom.predicate == TRIPLE and atom.terms[1] in _BOTTOM)


def _is_universal(clause: DraftRule) -> bool:
    atoms = (part for part in (clause.head, *clause.body) if isinstance(part, Atom))
    return any(atom.terms[1:] == _THING.terms[1:] or (len(atom.terms) == 3 and atom.terms[1] in _TOP) for atom in atoms)


def _asks_for_thing(clause: DraftRule) -> bool:
    return any(isinstance(part, Atom) and part.terms[1:] == _THING.terms[1:] for part in clause.body)
