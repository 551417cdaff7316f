"""The axioms of an RDF graph: the inverse of the W3C mapping of OWL 2 to RDF.

The reader is as tolerant as the RL/RDF rules. It requires the triples that carry meaning, not declarations, so RDFS vocabularies,
OWL 1 and OWL 2 all work, and a named class can have an expression as a blank node can. A malformed axiom (a list that does not end,
a restriction without a property) becomes a `Problem`.

Annotations of axioms (owl:Axiom, owl:annotatedSource ...) do not affect the axioms and are ignored. Domains, ranges and
super-properties of annotation properties are read like those of other properties, as in the RL/RDF rules.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import partial
from typing import Final

from kg_reasoner.data_classes import dataclass
from kg_reasoner.expressions.datatypes import DATATYPES
from kg_reasoner.expressions.values import INTEGER_RANGES
from kg_reasoner.lazy_regex import regular_expression
from kg_reasoner.loaders.ontology.axioms import (
    AllValuesFrom,
    Axiom,
    Cardinality,
    Characteristic,
    ClassAssertion,
    ClassExpression,
    ComplementOf,
    DatatypeRestriction,
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
)
from kg_reasoner.loaders.ontology.ontology_triples import OntologyTriples, Problem
from kg_reasoner.loaders.ontology.schema_vocabulary import CARDINALITIES, CHARACTERISTICS, FACETS, LISTED, QUALIFIED, RESTRICTIONS
from kg_reasoner.loaders.rules.swrl import MalformedTriples, SwrlRule, read_rules
from kg_reasoner.terms import IRI, OWL, RDF, RDFS, XSD, BlankNode, Literal, Term, Triple, term_text

__all__ = ["Ontology", "read_ontology", "reading_place"]

_XSD: Final = str(XSD)
_OTHER_DATATYPES: Final = frozenset({OWL.real, OWL.rational, RDF.HTML})
"""Datatypes outside XML Schema's namespace of which `datatypes` does not know the values."""

_KINDS_IN_ORDER: Final = {
    kind: number for number, kind in enumerate((IntersectionOf, UnionOf, OneOf, ComplementOf, DatatypeRestriction))
}
"""The order in which expressions are read; restrictions come last."""

_WHOLE_NUMBER: Final = regular_expression(r"\+?[0-9]{1,9}")


@dataclass(frozen=True, slots=True)
class Ontology:
    """The axioms of a graph, without repetitions, in an order that does not depend on that of the triples."""

    axioms: tuple[Axiom, ...]
    repeated: Counter[Axiom]
    """The axioms that several lists or nodes state, each with how many do."""
    rules: tuple[SwrlRule, ...]
    expressions: dict[Term, tuple[ClassExpression, ...]]
    """The class expressions of each node, normally one; the node's members are those of each of them."""
    inverses: Mapping[Term, tuple[Term, bool]]
    """For an anonymous property the named property that it comes from, and whether it is the inverse of that."""
    classes: set[Term]
    """The declared classes (members of owl:Class), owl:Thing and owl:Nothing among them."""
    object_properties: set[Term]
    data_properties: set[Term]
    datatypes: set[Term]
    """The declared datatypes and data ranges, and the known ones."""
    datatype_names: frozenset[str]
    """The texts of those among them that have names."""
    problems: tuple[Problem, ...]
    uses_as_class: Counter[Term]
    """The number of times that each term stands for a class in an axiom, a part of one, or a declaration."""
    uses_as_property: Counter[Term]

    @property
    def vocabulary(self) -> frozenset[IRI]:
        """Every IRI that stands for a class or property in an axiom or a declaration."""
        used = self.uses_as_class.keys() | self.uses_as_property.keys()
        return frozenset(name for name in used if isinstance(name, IRI))

    def is_datatype(self, node: Term) -> bool:
        """Return whether a node denotes a datatype or data range rather than a class."""
        if isinstance(node, IRI):  # texts have their hashes, and IRIs do not
            return node.value in self.datatype_names or node.value.startswith(_XSD)
        return node in self.datatypes


def reading_place(node: Term, expressions: Iterable[ClassExpression]) -> tuple[int, str]:
    """Return a key for the order in which the nodes of expressions are read."""
    return min(_KINDS_IN_ORDER.get(type(expression), len(_KINDS_IN_ORDER)) for expression in expressions), term_text(node)


def read_ontology(
    triples: Iterable[Triple], names: Collection[Term] = (), *, stated: bool = True, in_order: bool = False
) -> Ontology:
    """Return the axioms stated by triples; other triples are skipped.

    `names` may be classes or properties: owl:sameAs about them is an axiom. Nothing is raised for malformed axioms: they are the
    ontology's `problems`. A list node with several items makes several lists, as it does for the RL/RDF rules: further triples
    never take an axiom away. It is a problem if it was `stated`; equal terms derive such nodes. With `in_order`, the triples are
    given in the order of their texts, and each once.
    """
    return _Reader(triples, names, stated, in_order).ontology()


class _Reader(OntologyTriples):
    def __init__(self, triples: Iterable[Triple], names: Collection[Term], stated: bool, in_order: bool) -> None:
        super().__init__(triples, stated, in_order)
        self.names = names
        self.datatypes = {*_OTHER_DATATYPES, *map(IRI, DATATYPES), *self.members[RDFS.Datatype], *self.members[OWL.DataRange]}
        self.axioms: list[Axiom] = []
        self.expressions: dict[Term, list[ClassExpression]] = defaultdict(list)
        self.class_names: list[Term] = [*self.members[OWL.Class]]
        self.property_names: list[Term] = [*self.members[OWL.ObjectProperty], *self.members[OWL.DatatypeProperty]]

    def ontology(self) -> Ontology:
        self.read_expressions()
        self.read_class_axioms()
        self.read_property_axioms()
        self.read_assertions()
        rules = tuple(dict.fromkeys(read_rules(self)))
        self.read_equal_names()
        axioms = tuple(dict.fromkeys(self.axioms))
        counts = Counter(self.axioms if len(axioms) < len(self.axioms) else ())
        return Ontology(
            axioms=axioms,
            repeated=Counter({axiom: count for axiom, count in counts.items() if count > 1}),
            rules=rules,
            expressions={node: tuple(dict.fromkeys(found)) for node, found in self.expressions.items()},
            inverses=self.named_inverses(),
            classes={*self.members[OWL.Class], OWL.Thing, OWL.Nothing},
            object_properties=set(self.members[OWL.ObjectProperty]),
            data_properties=set(self.members[OWL.DatatypeProperty]),
            datatypes=self.datatypes,
            datatype_names=frozenset(name.value for name in self.datatypes if isinstance(name, IRI)),
            problems=tuple(dict.fromkeys(self.problems)),
            uses_as_class=Counter(self.class_names),
            uses_as_property=Counter(self.property_names),
        )

    # ---- the parts of axioms

    def each(self, predicate: Term, make: Callable[[Term, Term], Axiom]) -> None:
        """Add an axiom for each triple of a predicate; record a problem for each that `make` finds malformed."""
        for triple in self.triples(predicate):
            try:
                self.axioms.append(make(triple[0], triple[2]))
            except MalformedTriples as error:
                self.problems.append(Problem(triple, str(error)))

    def each_list(self, triples: Iterable[Triple], make: Callable[[Term, tuple[Term, ...]], Axiom]) -> None:
        """Add an axiom for each list that the triples refer to; record a problem for each malformed one."""
        for triple in triples:
            with self.noting(triple):
                for items in self.lists_of(triple):
                    with self.noting(triple):
                        self.axioms.append(make(triple[0], items))

    def cls(self, node: Term) -> Term:
        if isinstance(node, Literal):
            raise MalformedTriples(f"a literal is used as a class: {node}")
        self.class_names.append(node)
        return node

    def property(self, node: Term) -> Term:
        if isinstance(node, Literal):
            raise MalformedTriples(f"a literal is used as a property: {node}")
        if node == RDF.type:
            raise MalformedTriples("rules about rdf:type as a property range over all classes, which the translation does not do")
        self.property_names.append(node)
        return node

    def classes(self, nodes: Iterable[Term]) -> tuple[Term, ...]:
        return tuple(map(self.cls, nodes))

    def properties(self, nodes: Iterable[Term]) -> tuple[Term, ...]:
        return tuple(map(self.property, nodes))

    # ---- class expressions

    def read_expressions(self) -> None:
        for predicate, kind in LISTED.items():
            for triple in self.triples(predicate):
                with self.noting(triple):
                    for items in self.lists_of(triple):
                        with self.noting(triple):
                            self.hang(triple[0], kind(items if kind is OneOf else self.classes(items)))
        for predicate in (OWL.complementOf, OWL.datatypeComplementOf):
            for node, _, operand in self.triples(predicate):
                with self.noting((node, predicate, operand)):
                    self.hang(node, ComplementOf(self.cls(operand)))
        for node, _, datatype in self.triples(OWL.onDatatype):
            self.datatypes.add(node)
            for head in self.objects[OWL.withRestrictions].get(node, [RDF.nil]):
                with self.noting((node, OWL.withRestrictions, head)):
                    facets = (facet for item in self.list_of(head) for facet in self.facets(item))
                    self.hang(node, DatatypeRestriction(datatype, tuple(facets)))
        self.read_restrictions()

    def hang(self, node: Term, expression: ClassExpression) -> None:
        self.cls(node)
        self.expressions[node].append(expression)
        if isinstance(node, IRI):
            self.axioms.append(Definition(node, expression))

    def facets(self, node: Term) -> Iterator[tuple[Term, Term]]:
        for facet in FACETS:
            for value in self.objects[facet].get(node, ()):
                yield facet, value

    def read_restrictions(self) -> None:
        for triple in self.triples(OWL.onProperties):
            self.problems.append(Problem(triple, "restrictions of several properties at once are beyond OWL 2 RL"))
        on_property = self.objects[OWL.onProperty]
        used = [(predicate, objects) for predicate in RESTRICTIONS if (objects := self.objects[predicate])]
        for triple in self.triples(OWL.onProperty):
            node, _, property = triple
            found = [(predicate, value) for predicate, objects in used for value in objects.get(node, ())]
            if not found:
                self.problems.append(Problem(triple, "the restriction does not say what it restricts the property to"))
            for predicate, value in found:
                with self.noting((node, predicate, value)):
                    for expression in self.restrictions(node, property, predicate, value):
                        self.hang(node, expression)
        for predicate in RESTRICTIONS:
            for node, _, value in self.triples(predicate):
                if node not in on_property and node not in self.objects[OWL.onProperties]:
                    self.problems.append(Problem((node, predicate, value), "the restriction has no owl:onProperty"))
        for node in self.members[OWL.Restriction]:
            if node not in on_property and not any(
                node in self.objects[predicate] for predicate in (*RESTRICTIONS, OWL.onProperties)
            ):
                self.problems.append(Problem((node, RDF.type, OWL.Restriction), "the restriction has no owl:onProperty"))

    def restrictions(self, node: Term, property: Term, predicate: IRI, value: Term) -> Iterator[ClassExpression]:
        if predicate == OWL.hasValue:
            # The members of a class are not a variable class, so rdf:type may be the property here.
            yield HasValue(property if property == RDF.type else self.property(property), value)
        elif predicate == OWL.someValuesFrom:
            yield SomeValuesFrom(self.property(property), self.cls(value))
        elif predicate == OWL.allValuesFrom:
            yield AllValuesFrom(self.property(property), self.cls(value))
        elif predicate == OWL.hasSelf:
            if not isinstance(value, Literal) or value.lexical not in ("true", "1"):
                raise MalformedTriples(f"owl:hasSelf must be true, not {value}")
            yield HasSelf(self.property(property))
        else:
            number = self.number(value)
            bound = CARDINALITIES[predicate]
            if predicate not in QUALIFIED:
                yield Cardinality(bound, number, self.property(property))
                return
            fillers = [*self.objects[OWL.onClass].get(node, ()), *self.objects[OWL.onDataRange].get(node, ())]
            if not fillers:
                raise MalformedTriples("the restriction has neither owl:onClass nor owl:onDataRange")
            for filler in fillers:
                yield Cardinality(bound, number, self.property(property), self.cls(filler))

    @staticmethod
    def number(value: Term) -> int:
        if isinstance(value, Literal) and value.datatype in INTEGER_RANGES and _WHOLE_NUMBER.fullmatch(value.lexical):
            return int(value.lexical)
        raise MalformedTriples(f'a cardinality must be a non-negative integer such as "1"^^xsd:nonNegativeInteger, not {value}')

    # ---- axioms

    def read_class_axioms(self) -> None:
        self.each(RDFS.subClassOf, lambda sub, sup: SubClassOf(self.cls(sub), self.cls(sup)))
        self.each(OWL.equivalentClass, lambda first, second: EquivalentClasses(self.cls(first), self.cls(second)))
        self.each(OWL.disjointWith, lambda first, second: DisjointClasses((self.cls(first), self.cls(second)), "cax-dw"))
        of_lists = self.each_list
        of_lists(self.triples(OWL.disjointUnionOf), lambda whole, parts: DisjointUnion(self.cls(whole), self.classes(parts)))
        of_lists(self.triples(OWL.hasKey), lambda cls, keys: HasKey(self.cls(cls), self.properties(keys)))
        of_lists(self.listed(OWL.AllDisjointClasses, OWL.members), lambda _, items: DisjointClasses(self.classes(items)))

    def read_property_axioms(self) -> None:
        self.each(RDFS.subPropertyOf, lambda sub, sup: SubPropertyOf(self.property(sub), self.property(sup)))
        self.each(OWL.equivalentProperty, lambda first, second: EquivalentProperties(self.property(first), self.property(second)))
        self.each(OWL.inverseOf, lambda first, second: InverseProperties(self.property(first), self.property(second)))
        self.each(OWL.propertyDisjointWith, lambda p, q: DisjointProperties((self.property(p), self.property(q)), "prp-pdw"))
        chains = self.triples(OWL.propertyChainAxiom)
        self.each_list(chains, lambda sup, chain: PropertyChain(self.properties(chain), self.property(sup)))
        self.each(RDFS.domain, lambda property, cls: PropertyDomain(self.property(property), self.cls(cls)))
        self.each(RDFS.range, lambda property, cls: PropertyRange(self.property(property), self.cls(cls)))
        for kind in CHARACTERISTICS:
            for property in self.members[kind]:
                with self.noting((property, RDF.type, kind)):
                    self.axioms.append(Characteristic(kind, self.property(property)))
        disjoint = self.listed(OWL.AllDisjointProperties, OWL.members)
        self.each_list(disjoint, lambda _, items: DisjointProperties(self.properties(items)))

    def read_assertions(self) -> None:
        for triple in self.listed(OWL.AllDifferent, OWL.members, OWL.distinctMembers):
            rule = "eq-diff2" if triple[1] == OWL.members else "eq-diff3"
            self.each_list([triple], partial(_different, rule))
        anonymous = {cls: individuals for cls, individuals in self.members.items() if isinstance(cls, BlankNode)}
        used = set(self.class_names) if anonymous else set()
        for cls, individuals in anonymous.items():
            if cls in used:
                self.axioms.extend(ClassAssertion(cls, individual) for individual in individuals)
        self.read_negative_assertions()

    def read_negative_assertions(self) -> None:
        parts = (OWL.sourceIndividual, OWL.assertionProperty)
        targets = ((OWL.targetIndividual, "prp-npa1"), (OWL.targetValue, "prp-npa2"))
        nodes = dict.fromkeys(self.members[OWL.NegativePropertyAssertion])
        for predicate in (*parts, OWL.targetIndividual, OWL.targetValue):
            nodes.update(dict.fromkeys(self.objects[predicate]))
        for node in nodes:
            triple = node, RDF.type, OWL.NegativePropertyAssertion
            sources, properties = (self.objects[predicate].get(node, []) for predicate in parts)
            values = [(target, rule) for predicate, rule in targets for target in self.objects[predicate].get(node, ())]
            if not (sources and properties and values):
                reason = "it needs owl:sourceIndividual, owl:assertionProperty, and owl:targetIndividual or owl:targetValue"
                self.problems.append(Problem(triple, reason))
            for property in properties:
                with self.noting(triple):
                    negated = self.property(property)
                    self.axioms.extend(NegativeAssertion(negated, s, target, rule) for s in sources for target, rule in values)

    def read_equal_names(self) -> None:
        """Record names equal to a class as classes (and likewise for properties): data may use a name that occurs in no axiom."""
        equal = list(self.triples(OWL.sameAs))
        if not equal:
            return
        for known, of_classes in ((self.class_names, True), (self.property_names, False)):
            names, waiting = {*known, *self.names}, equal
            while found := [pair for pair in waiting if pair[0] in names or pair[2] in names]:
                for first, _, second in found:
                    if not isinstance(first, Literal) and not isinstance(second, Literal):
                        self.axioms.append(SameNames(first, second, of_classes))
                        names.update((first, second))
                        known.extend((first, second))
                seen = set(found)
                waiting = [pair for pair in waiting if pair not in seen]

    def named_inverses(self) -> dict[Term, tuple[Term, bool]]:
        """Return the named property for each anonymous inverse; of several, the first by name (the others become axioms)."""
        linked: dict[Term, list[Term]] = defaultdict(list)
        for first, _, second in self.triples(OWL.inverseOf):
            linked[first].append(second)
            linked[second].append(first)
        names = (node for node in linked if isinstance(node, IRI) and node != RDF.type)
        found: dict[Term, tuple[Term, bool]] = {name: (name, False) for name in sorted(names)}
        queue = deque(found)
        while queue:
            node = queue.popleft()
            name, inverted = found[node]
            for other in linked[node]:
                if isinstance(other, BlankNode) and other not in found:
                    found[other] = name, not inverted
                    queue.append(other)
        return {node: named for node, named in found.items() if isinstance(node, BlankNode)}


def _different(rule: str, _: Term, individuals: tuple[Term, ...]) -> DifferentIndividuals:
    return DifferentIndividuals(individuals, rule)
