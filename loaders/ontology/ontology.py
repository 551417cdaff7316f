"""The axioms of an RDF graph: the inverse of the W3C mapping of OWL 2 to RDF.

The reader is as tolerant as the RL/RDF rules. It requires the triples that carry meaning, not declarations, so RDFS vocabularies,
OWL 1 and OWL 2 all work, and a named class can have an expression as a blank node can. A malformed axiom (a list that does not end,
a restriction without a property) becomes a `Problem`.

Annotations of axioms (owl:Axiom, owl:annotatedSource ...) do not affect the axioms and are ignored. Domains, ranges and
super-properties of annotation properties are read like those of other properties, as in the RL/RDF rules.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, partial
from typing import Final, TypeAlias

from kg_reasoner.expressions.datatypes import DATATYPES
from kg_reasoner.expressions.values import INTEGER_RANGES
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
from kg_reasoner.loaders.rules.swrl import SWRL_CLASSES, SWRL_PREDICATES, Malformed, SwrlRule, read_rules
from kg_reasoner.terms import IRI, OWL, RDF, RDFS, XSD, BlankNode, Literal, Term, Triple, term_text

__all__ = ["CHARACTERISTICS", "SCHEMA_CLASSES", "SCHEMA_PREDICATES", "Ontology", "Problem", "is_schema_triple", "read_ontology"]

_CARDINALITIES: Final = {
    OWL[name]: bound
    for name, bound in {
        "cardinality": "Exact",
        "maxCardinality": "Max",
        "minCardinality": "Min",
        "qualifiedCardinality": "Exact",
        "maxQualifiedCardinality": "Max",
        "minQualifiedCardinality": "Min",
    }.items()
}
_QUALIFIED: Final = frozenset({OWL.qualifiedCardinality, OWL.maxQualifiedCardinality, OWL.minQualifiedCardinality})
_RESTRICTIONS: Final = (OWL.someValuesFrom, OWL.allValuesFrom, OWL.hasValue, OWL.hasSelf, *_CARDINALITIES)
_LISTED: Final[dict[IRI, Callable[[tuple[Term, ...]], ClassExpression]]] = {
    OWL.intersectionOf: IntersectionOf,
    OWL.unionOf: UnionOf,
    OWL.oneOf: OneOf,
}
_FACETS: Final = (
    *(XSD[f"{end}{kind}"] for end in ("min", "max") for kind in ("Inclusive", "Exclusive", "Length")),
    *(XSD[name] for name in ("length", "pattern", "totalDigits", "fractionDigits")),
    RDF.langRange,
)
CHARACTERISTICS: Final = tuple(
    OWL[f"{kind}Property"]
    for kind in ("Functional", "InverseFunctional", "Reflexive", "Irreflexive", "Symmetric", "Asymmetric", "Transitive")
)
"""The classes whose members are properties with a characteristic."""

SCHEMA_PREDICATES: Final = frozenset(
    {
        *(RDF.first, RDF.rest),
        *(RDFS.subClassOf, RDFS.subPropertyOf, RDFS.domain, RDFS.range),
        *(OWL.equivalentClass, OWL.disjointWith, OWL.disjointUnionOf, OWL.hasKey),
        *(OWL.complementOf, OWL.datatypeComplementOf, *_LISTED),
        *(OWL.onProperty, OWL.onProperties, OWL.onClass, OWL.onDataRange, *_RESTRICTIONS),
        *(OWL.onDatatype, OWL.withRestrictions, *_FACETS),
        *(OWL.equivalentProperty, OWL.inverseOf, OWL.propertyDisjointWith, OWL.propertyChainAxiom),
        *(OWL.members, OWL.distinctMembers),
        *(OWL.sourceIndividual, OWL.assertionProperty, OWL.targetIndividual, OWL.targetValue),
        *SWRL_PREDICATES,
    }
)
"""The predicates whose triples state axioms, or parts of axioms."""

SCHEMA_CLASSES: Final = frozenset(
    {
        *(OWL.Class, OWL.Restriction, RDFS.Datatype, OWL.DataRange),
        *(OWL.ObjectProperty, OWL.DatatypeProperty, *CHARACTERISTICS),
        *(OWL.AllDifferent, OWL.AllDisjointClasses, OWL.AllDisjointProperties, OWL.NegativePropertyAssertion),
        *SWRL_CLASSES,
    }
)
"""The classes whose members are axioms or declared names: ``x rdf:type c`` matters to the translation for these `c`."""

_XSD: Final = str(XSD)
_OTHER_DATATYPES: Final = frozenset({OWL.real, OWL.rational, RDF.HTML})
"""Datatypes outside XML Schema's namespace of which `datatypes` does not know the values."""

_MOST_LISTS: Final = 16
"""How many lists are read from one head: where nodes have several items, they multiply."""

_WHOLE_NUMBER: Final = re.compile(r"\+?[0-9]{1,9}")


def is_schema_triple(triple: Triple, vocabulary: Collection[Term] = frozenset()) -> bool:
    """Return whether a triple can be relevant to the translation.

    These are the triples with a predicate of `SCHEMA_PREDICATES`, the types among `SCHEMA_CLASSES`, and the types that are blank
    nodes (an individual of an anonymous class). owl:sameAs is data, except about a name of the ontology's `vocabulary`.

    >>> from kg_reasoner.terms import OWL, RDF, IRI
    >>> ada, chair = IRI("http://example.org/ada"), IRI("http://example.org/Chair")
    >>> is_schema_triple((chair, RDF.type, OWL.Class)), is_schema_triple((ada, RDF.type, chair))
    (True, False)
    """
    subject, predicate, object = triple
    if predicate == RDF.type:
        return isinstance(object, BlankNode) or object in SCHEMA_CLASSES
    return predicate in SCHEMA_PREDICATES or (predicate == OWL.sameAs and (subject in vocabulary or object in vocabulary))


@dataclass(frozen=True, slots=True)
class Problem:
    """A triple that should state an axiom or a part of one and does not, with the reason."""

    triple: Triple
    reason: str


@dataclass(frozen=True, slots=True)
class Ontology:
    """The axioms of a graph, without repetitions, in an order that does not depend on that of the triples."""

    axioms: tuple[Axiom, ...]
    rules: tuple[SwrlRule, ...]
    expressions: Mapping[Term, tuple[ClassExpression, ...]]
    """What hangs on each node, normally one expression; the node's members are those of each of them."""
    inverses: Mapping[Term, tuple[Term, bool]]
    """For an anonymous property the named property that it comes from, and whether it is the inverse of that."""
    classes: set[Term]
    """The declared classes (members of owl:Class), owl:Thing and owl:Nothing among them."""
    object_properties: set[Term]
    data_properties: set[Term]
    datatypes: set[Term]
    """The declared datatypes and data ranges, and the known ones."""
    problems: tuple[Problem, ...]
    uses_as_class: Counter[Term]
    """How often each term stands for a class in an axiom, a part of one, or a declaration."""
    uses_as_property: Counter[Term]

    @property
    def vocabulary(self) -> frozenset[IRI]:
        """Every IRI that stands for a class or property in an axiom or a declaration."""
        used = self.uses_as_class.keys() | self.uses_as_property.keys()
        return frozenset(name for name in used if isinstance(name, IRI))

    def is_datatype(self, node: Term) -> bool:
        """Return whether a node denotes a datatype or data range rather than a class."""
        return node in self.datatypes or (isinstance(node, IRI) and node.value.startswith(_XSD))


def read_ontology(triples: Iterable[Triple], names: Collection[Term] = (), *, stated: bool = True) -> Ontology:
    """Return the axioms stated by triples; other triples are skipped.

    `names` may be classes or properties: owl:sameAs about them is an axiom. Nothing is raised for malformed axioms: they are the
    ontology's `problems`. A list node with several items makes several lists, as it does for the RL/RDF rules: further triples
    never take an axiom away. It is a problem if it was `stated`; equal terms derive such nodes.
    """
    return _Reader(triples, names, stated).ontology()


class _Reader:
    def __init__(self, triples: Iterable[Triple], names: Collection[Term], stated: bool) -> None:
        self.names = names
        self.stated = stated
        self.objects: dict[Term, dict[Term, list[Term]]] = defaultdict(lambda: defaultdict(list))
        # Sorted, so that the same triples in another order give the same rules in the same order.
        text = cache(term_text)
        for subject, predicate, object in sorted(set(triples), key=lambda triple: tuple(map(text, triple))):
            self.objects[predicate][subject].append(object)
        self.members: dict[Term, list[Term]] = defaultdict(list)
        for subject, types in self.objects[RDF.type].items():
            for cls in types:
                if isinstance(cls, BlankNode) or cls in SCHEMA_CLASSES:
                    self.members[cls].append(subject)
        self.datatypes = {*_OTHER_DATATYPES, *map(IRI, DATATYPES), *self.members[RDFS.Datatype], *self.members[OWL.DataRange]}
        self.axioms: list[Axiom] = []
        self.expressions: dict[Term, list[ClassExpression]] = defaultdict(list)
        self.problems: list[Problem] = []
        self.class_names: Counter[Term] = Counter(self.members[OWL.Class])
        self.property_names: Counter[Term] = Counter([*self.members[OWL.ObjectProperty], *self.members[OWL.DatatypeProperty]])

    def ontology(self) -> Ontology:
        self.read_expressions()
        self.read_class_axioms()
        self.read_property_axioms()
        self.read_assertions()
        rules = tuple(dict.fromkeys(read_rules(self)))
        self.read_equal_names()
        return Ontology(
            axioms=tuple(dict.fromkeys(self.axioms)),
            rules=rules,
            expressions={node: tuple(dict.fromkeys(found)) for node, found in self.expressions.items()},
            inverses=self.named_inverses(),
            classes={*self.members[OWL.Class], OWL.Thing, OWL.Nothing},
            object_properties=set(self.members[OWL.ObjectProperty]),
            data_properties=set(self.members[OWL.DatatypeProperty]),
            datatypes=self.datatypes,
            problems=tuple(dict.fromkeys(self.problems)),
            uses_as_class=self.class_names,
            uses_as_property=self.property_names,
        )

    # ---- the parts of axioms

    def triples(self, predicate: Term) -> Iterator[Triple]:
        for subject, objects in list(self.objects[predicate].items()):
            for object in objects:
                yield subject, predicate, object

    def each(self, predicate: Term, make: Callable[[Term, Term], Axiom]) -> None:
        """Add an axiom for each triple of a predicate; record a problem for each that `make` finds malformed."""
        for triple in self.triples(predicate):
            with self.noting(triple):
                self.axioms.append(make(triple[0], triple[2]))

    def each_list(self, triples: Iterable[Triple], make: Callable[[Term, tuple[Term, ...]], Axiom]) -> None:
        """Add an axiom for each list that the triples refer to; record a problem for each malformed one."""
        for triple in triples:
            with self.noting(triple):
                for items in self.lists_of(triple):
                    with self.noting(triple):
                        self.axioms.append(make(triple[0], items))

    def noting(self, triple: Triple) -> _Noting:
        return _Noting(self.problems, triple)

    def cls(self, node: Term) -> Term:
        if isinstance(node, Literal):
            raise Malformed(f"a literal is used as a class: {node}")
        self.class_names[node] += 1
        return node

    def property(self, node: Term) -> Term:
        if isinstance(node, Literal):
            raise Malformed(f"a literal is used as a property: {node}")
        if node == RDF.type:
            raise Malformed("rules about rdf:type as a property range over all classes, which the translation does not do")
        self.property_names[node] += 1
        return node

    def list_of(self, head: Term) -> tuple[Term, ...]:
        """Return the items of an RDF list."""
        items: list[Term] = []
        seen: set[Term] = set()
        node = head
        while node != RDF.nil:
            first = self.objects[RDF.first].get(node, [])
            rest = self.objects[RDF.rest].get(node, [])
            if node in seen:
                raise Malformed("the list is cyclic")
            if not first and not rest:
                raise Malformed(f"the list is incomplete: {node} has neither rdf:first nor rdf:rest")
            if len(first) != 1 or len(rest) != 1:
                raise Malformed(f"a list node has {len(first)} rdf:first and {len(rest)} rdf:rest; it needs one of each")
            seen.add(node)
            items.append(first[0])
            node = rest[0]
        if not items:
            raise Malformed("the list is empty")
        return tuple(items)

    def lists_of(self, triple: Triple) -> list[tuple[Term, ...]]:
        """Return the items of each RDF list (normally one) with the object of a triple as its head."""
        try:
            return [self.list_of(triple[2])]
        except Malformed as error:
            found = self.some_lists(triple[2])
            if not found:
                raise
            if self.stated:
                self.problems.append(Problem(triple, str(error)))
            return found

    def some_lists(self, head: Term) -> list[tuple[Term, ...]]:
        """Return the items of all lists from a head; every node may have several items and successors."""
        firsts, rests = self.objects[RDF.first], self.objects[RDF.rest]
        found: list[tuple[Term, ...]] = []
        waiting: list[tuple[Term, _Items]] = [(head, None)]
        steps = _MOST_LISTS * (len(firsts) + 1)  # circles have no end
        while waiting and len(found) < _MOST_LISTS and steps:
            node, before = waiting.pop()
            steps -= 1
            if node == RDF.nil and before is not None:
                found.append(_in_order(before))
                continue
            pairs = [(rest, (first, before)) for first in firsts.get(node, ()) for rest in rests.get(node, ())]
            waiting += reversed(pairs)
        return found

    def classes(self, nodes: Iterable[Term]) -> tuple[Term, ...]:
        return tuple(map(self.cls, nodes))

    def properties(self, nodes: Iterable[Term]) -> tuple[Term, ...]:
        return tuple(map(self.property, nodes))

    # ---- class expressions

    def read_expressions(self) -> None:
        for predicate, kind in _LISTED.items():
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
        for facet in _FACETS:
            for value in self.objects[facet].get(node, ()):
                yield facet, value

    def read_restrictions(self) -> None:
        for triple in self.triples(OWL.onProperties):
            self.problems.append(Problem(triple, "restrictions of several properties at once are beyond OWL 2 RL"))
        on_property = self.objects[OWL.onProperty]
        for triple in self.triples(OWL.onProperty):
            node, _, property = triple
            found = [(predicate, value) for predicate in _RESTRICTIONS for value in self.objects[predicate].get(node, ())]
            if not found:
                self.problems.append(Problem(triple, "the restriction does not say what it restricts the property to"))
            for predicate, value in found:
                with self.noting((node, predicate, value)):
                    for expression in self.restrictions(node, property, predicate, value):
                        self.hang(node, expression)
        for predicate in _RESTRICTIONS:
            for node, _, value in self.triples(predicate):
                if node not in on_property and node not in self.objects[OWL.onProperties]:
                    self.problems.append(Problem((node, predicate, value), "the restriction has no owl:onProperty"))
        for node in self.members[OWL.Restriction]:
            if node not in on_property and not any(
                node in self.objects[predicate] for predicate in (*_RESTRICTIONS, OWL.onProperties)
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
                raise Malformed(f"owl:hasSelf must be true, not {value}")
            yield HasSelf(self.property(property))
        else:
            number = self.number(value)
            bound = _CARDINALITIES[predicate]
            if predicate not in _QUALIFIED:
                yield Cardinality(bound, number, self.property(property))
                return
            fillers = [*self.objects[OWL.onClass].get(node, ()), *self.objects[OWL.onDataRange].get(node, ())]
            if not fillers:
                raise Malformed("the restriction has neither owl:onClass nor owl:onDataRange")
            for filler in fillers:
                yield Cardinality(bound, number, self.property(property), self.cls(filler))

    @staticmethod
    def number(value: Term) -> int:
        if isinstance(value, Literal) and value.datatype in INTEGER_RANGES and _WHOLE_NUMBER.fullmatch(value.lexical):
            return int(value.lexical)
        raise Malformed(f'a cardinality must be a non-negative integer such as "1"^^xsd:nonNegativeInteger, not {value}')

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

    def listed(self, kind: Term, *predicates: Term) -> Iterator[Triple]:
        """Yield the triples with the members of the n-ary axioms of a kind."""
        for node in self.members[kind]:
            found = [(node, predicate, head) for predicate in predicates for head in self.objects[predicate].get(node, ())]
            if not found:
                names = " or ".join(f"owl:{str(predicate)[1:-1].rpartition('#')[2]}" for predicate in predicates)
                self.problems.append(Problem((node, RDF.type, kind), f"the axiom has no {names}"))
            yield from found

    def read_assertions(self) -> None:
        for triple in self.listed(OWL.AllDifferent, OWL.members, OWL.distinctMembers):
            rule = "eq-diff2" if triple[1] == OWL.members else "eq-diff3"
            self.each_list([triple], partial(_different, rule))
        for cls, individuals in self.members.items():
            if isinstance(cls, BlankNode) and cls in self.class_names:
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
        for known, of_classes in ((self.class_names, True), (self.property_names, False)):
            names = {*known, *self.names}
            waiting = list(self.triples(OWL.sameAs))
            while found := [pair for pair in waiting if pair[0] in names or pair[2] in names]:
                for first, _, second in found:
                    if not isinstance(first, Literal) and not isinstance(second, Literal):
                        self.axioms.append(SameNames(first, second, of_classes))
                        names.update((first, second))
                        known.update((first, second))
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


class _Noting:
    """A context that turns `Malformed` into a problem of a triple."""

    def __init__(self, problems: list[Problem], triple: Triple) -> None:
        self.problems = problems
        self.triple = triple

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> bool:
        if not isinstance(error, Malformed):
            return False
        self.problems.append(Problem(self.triple, str(error)))
        return True


def _different(rule: str, _: Term, individuals: tuple[Term, ...]) -> DifferentIndividuals:
    return DifferentIndividuals(individuals, rule)


_Items: TypeAlias = "tuple[Term, _Items] | None"
"""The items of a list so far: the last one, and those before it."""


def _in_order(items: _Items) -> tuple[Term, ...]:
    found: list[Term] = []
    while items is not None:
        item, items = items
        found.append(item)
    return tuple(reversed(found))
