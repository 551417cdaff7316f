"""Partial evaluation: rules over schema and data become rules over data alone.

Schema facts are few, and the driver holds them (`driver`). A rule such as rdfs9, ``[?x, rdf:type, ?d] :- rdfs:subClassOf[?c, ?d],
[?x, rdf:type, ?c]``, has one instance for each pair of classes, in which only data is left to join. The DLP translation does the
same for OWL's axioms; this module does it for rules of any kind. The resulting rules can be compiled into a few wide passes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from kg_reasoner.expressions.compile import compile_filter
from kg_reasoner.program import TRIPLE, Atom, BodyLiteral, Filter, Rule, Variable, variables_of
from kg_reasoner.spark_backend.plan.driver import Binding, DriverFacts
from kg_reasoner.spark_backend.plan.id_rows import Rows
from kg_reasoner.spark_backend.plan.links import linked, without_implied
from kg_reasoner.substitution import in_atom, in_expression, in_part
from kg_reasoner.terms import IRI, OWL, RDF, RDFS, XSD, Term, term_text

__all__ = ["SchemaKeys", "instances", "left_to_data", "substituted"]

_DATA: Final = frozenset(
    {
        *(RDF.type, RDF.value, RDF.subject, RDF.predicate, RDF.object),
        *(RDFS.label, RDFS.comment, RDFS.seeAlso, RDFS.isDefinedBy, RDFS.member),
        *(OWL.sameAs, OWL.differentFrom, OWL.topObjectProperty, OWL.topDataProperty),
        *(OWL.bottomObjectProperty, OWL.bottomDataProperty, OWL.versionInfo, OWL.deprecated),
    }
)
"""Properties of the RDF, RDFS and OWL vocabularies that data uses, too."""
_DATA_CLASSES: Final = frozenset(
    {
        *(OWL.Thing, OWL.Nothing, OWL.NamedIndividual, RDFS.Resource, RDFS.Literal, RDF.Statement, RDF.List),
        *(RDF.Bag, RDF.Seq, RDF.Alt, RDF.PlainLiteral, RDF.langString, RDF.XMLLiteral, RDF.HTML, RDF.JSON),
    }
)
_OF_CLASSES: Final = (str(RDF), str(RDFS), str(OWL), "http://www.w3.org/2003/11/swrl#")
"""The vocabularies whose classes are about the schema; the last one is that of rules in triples."""
_OF_PROPERTIES: Final = (*_OF_CLASSES, str(XSD))
"""Those of properties: XML Schema's are facets of datatypes, while its datatypes have values, which are data."""


class SchemaKeys:
    """Which atoms are about the schema: those of its properties and classes, and of predicates that are derived from nothing else.

    Args:
        rules: The program's.
        data: Predicates whose facts are given.
        known: Predicates whose facts the driver has.
        none: Whether nothing counts as schema.

    >>> from kg_reasoner.language.parser import parse
    >>> keys = SchemaKeys(parse("cell(?l, ?l) :- owl:unionOf[?c, ?l] . member(?x) :- owl:Thing[?x] .").rules)
    >>> sorted(keys.predicates)
    ['cell']
    """

    def __init__(self, rules: Sequence[Rule], data: Iterable[str] = (), known: Iterable[str] = (), *, none: bool = False) -> None:
        self._none = none
        derived = set() if none else {rule.head.predicate for rule in rules} - {TRIPLE}
        self.predicates = frozenset({*derived, *known} - set(data))
        while True:
            kept = self.predicates - {rule.head.predicate for rule in rules if rule.body and not self.covers(rule.body)}
            if kept == self.predicates:
                break
            self.predicates = kept

    def covers(self, body: Sequence[BodyLiteral]) -> bool:
        """Return whether a body has only schema atoms and filters."""
        return all(self.has(part) if isinstance(part, Atom) else isinstance(part, Filter) for part in body)

    def has(self, atom: Atom) -> bool:
        """Return whether all facts that match an atom are about the schema."""
        if atom.predicate != TRIPLE:
            return atom.predicate in self.predicates
        if self._none:
            return False
        _, property, value = atom.terms
        return property == RDF.type and _is_schema_class(value) if property == RDF.type else _is_schema_property(property)

    def is_schema_triple(self, predicate: Term, value: Term) -> bool:
        """Return whether a triple is about the schema."""
        return not self._none and (_is_schema_class(value) if predicate == RDF.type else _is_schema_property(predicate))

    @staticmethod
    def sql(predicate: str, value: str) -> str:
        """Return `is_schema_triple` as an SQL condition over two columns."""
        of_class, of_property = (
            " or ".join(f"startswith({column}, '<{vocabulary}')" for vocabulary in some)
            for column, some in ((value, _OF_CLASSES), (predicate, _OF_PROPERTIES))
        )
        properties, classes = (
            ", ".join(f"'{term_text(term)}'" for term in sorted(some, key=str)) for some in (_DATA, _DATA_CLASSES)
        )
        container = f"startswith({predicate}, '<{RDF}_')"
        typed = f"({of_class}) and {value} not in ({classes})"
        other = f"({of_property}) and {predicate} not in ({properties}) and not {container}"
        return f"case when {predicate} = '{term_text(RDF.type)}' then {typed} else {other} end"


def _is_schema_property(term: object) -> bool:
    return _is_in(term, _OF_PROPERTIES) and term not in _DATA and not str(term).startswith(f"<{RDF}_")


def _is_schema_class(term: object) -> bool:
    return _is_in(term, _OF_CLASSES) and term not in _DATA_CLASSES


def _is_in(term: object, vocabularies: tuple[str, ...]) -> bool:
    return isinstance(term, IRI) and term.value.startswith(vocabularies)


def instances(rule: Rule, keys: SchemaKeys, facts: DriverFacts) -> Iterator[tuple[Rule, Binding]]:
    """Yield the instances of a rule with its schema atoms matched and removed, each with the values of its variables. Instances
    that differ only in variables not used elsewhere count once, except for constraints; and those that lead from one name to
    another by way of a third one are left out.
    """
    left = left_to_data(rule, keys)
    known = [part for part in rule.body if isinstance(part, Atom) and keys.has(part) and part not in left]
    rest = tuple(part for part in rule.body if part not in known)
    needed = {variable for part in (rule.head, *rest) for variable in variables_of(part)}
    seen = set()
    for solution in _solutions(rule, known, rest, keys, facts):
        values = frozenset((v, term) for v, term in solution.items() if v in needed or rule.is_constraint)
        if values not in seen:
            seen.add(values)
            instance = substituted(Rule(rule.head, rest, rule.origin), dict(values))
            if instance is not None:
                yield instance, dict(values)


def _solutions(
    rule: Rule, known: Sequence[Atom], rest: Sequence[BodyLiteral], keys: SchemaKeys, facts: DriverFacts
) -> Iterator[Binding]:
    """Yield the values of a rule's variables that its schema atoms bind, without those whose instances follow from others."""
    ends = linked(rule, known, rest)
    if ends is None:
        yield from facts.solutions(known)
        return
    pairs = facts.pairs(known[0], *ends)
    # The driver applies rules about the schema, too.
    about_schema = pairs.where_any(lambda name: keys.has(in_atom(rest[0], {ends[0]: name})))  # type: ignore[arg-type]  # it is an atom
    among_data = pairs.where(~about_schema)
    for pair in (*pairs.where(about_schema), *Rows(without_implied(among_data.ids), pairs.names)):
        yield dict(zip(ends, pair, strict=True))


def left_to_data(rule: Rule, keys: SchemaKeys) -> list[Atom]:
    """Return the schema atoms that are better joined with data, because many instances would need the same data.

    These are atoms of general predicates that bind no property and no class, in a rule that asks for triples of any property, or
    for none at all.
    """
    atoms = [part for part in rule.body if isinstance(part, Atom)]
    asked = [atom for atom in atoms if not keys.has(atom)]
    if (
        rule.is_constraint
        or not asked
        or any(atom.predicate == TRIPLE and not isinstance(atom.terms[1], Variable) for atom in asked)
    ):
        return []
    names = {term for atom in (rule.head, *atoms) if atom.predicate == TRIPLE for term in _naming(atom)}
    names |= {variable for atom in atoms if atom.predicate == TRIPLE and keys.has(atom) for variable in variables_of(atom)}
    asked_variables = {variable for atom in asked for variable in variables_of(atom)}
    return [
        atom
        for atom in atoms
        if atom.predicate != TRIPLE
        and keys.has(atom)
        and asked_variables & set(variables_of(atom))
        and not names & set(variables_of(atom))
    ]


def _naming(atom: Atom) -> tuple[object, ...]:
    """Return the terms of a triple atom that determine its property or class."""
    return atom.terms[1:] if atom.terms[1] == RDF.type else atom.terms[1:2]


def substituted(rule: Rule, values: Binding) -> Rule | None:
    """Return a copy of a rule with variables replaced and ground filters evaluated, or None if a filter is false or the rule is
    trivial.

    Variables that occur once keep their names, so that equal rules stay equal.
    """
    body: list[BodyLiteral] = []
    for part in rule.body:
        new = in_part(part, values)
        if not isinstance(part, Filter) or any(True for _ in variables_of(new)):
            body.append(new)
        elif not compile_filter(in_expression(part.expression, values), [])([]):
            return None
    head = in_atom(rule.head, values)
    return None if head in body else Rule(head, tuple(dict.fromkeys(body)), rule.origin)


def occurrences(rule: Rule) -> Counter[Variable]:
    """Return the number of occurrences of each variable in a rule."""
    return Counter(variable for part in (rule.head, *rule.body) for variable in variables_of(part))
