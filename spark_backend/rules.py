"""From a program and a look at the data to the rules that are left for Spark: translated, specialised, and able to fire."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from kg_reasoner import analysis
from kg_reasoner.analysis import Key
from kg_reasoner.loaders import owl
from kg_reasoner.loaders.owl import AxiomWarning
from kg_reasoner.program import TRIPLE, Atom, Program, Rule
from kg_reasoner.spark_backend.compiler import LeveledRule, refuse_unsupported
from kg_reasoner.spark_backend.driver import DriverFacts
from kg_reasoner.spark_backend.literals import LITERAL_PREDICATES
from kg_reasoner.spark_backend.specialise import SchemaKeys, instances
from kg_reasoner.spark_backend.statistics import Statistics
from kg_reasoner.supply import supplied_rules
from kg_reasoner.terms import RDF, Term, Triple

__all__ = ["Rules", "concludes_axioms", "prepare"]


@dataclass
class Rules:
    """What is left to do on Spark, and what the driver has done."""

    rules: list[LeveledRule] = field(default_factory=list)
    """Rules with bodies, constraints among them, and their levels."""
    stated: list[Atom] = field(default_factory=list)
    """Facts that need no data; the driver does not know whether they were given."""
    schema: DriverFacts = field(default_factory=DriverFacts)
    schema_rules: tuple[Rule, ...] = ()
    new_schema: list[Triple] = field(default_factory=list)
    """The schema triples that the driver derived."""
    keys: SchemaKeys = field(default_factory=lambda: SchemaKeys(()))
    warnings: tuple[AxiomWarning, ...] = ()
    vocabulary: frozenset[Term] = frozenset()


def prepare(
    program: Program,
    statistics: Statistics,
    *,
    found: Iterable[Triple] = (),
    equalities: Iterable[Triple] = (),
    names: Iterable[Term] = (),
    predicates: Iterable[str] = (),
) -> Rules:
    """The rules that Spark evaluates.

    Args:
        program: rules; if it says so, the axioms among the schema triples become rules as well.
        statistics: of the triples that were given.
        found: schema triples that an earlier run derived from data.
        equalities: owl:sameAs triples about classes and properties.
        names: terms that data uses as classes or properties.
        predicates: general predicates whose facts are given.

    Raises:
        UnsupportedError, SafetyError, ArityError, StratificationError: the program cannot be evaluated; it says where.
    """
    result = Rules()
    axioms = set(statistics.schema)
    further = set(found)
    while True:
        rules = program.rules
        if program.translate is not None:
            translation = owl.translate([*axioms, *equalities], names=set(names))
            result.warnings, result.vocabulary = translation.warnings, translation.vocabulary
            rules = tuple(dict.fromkeys(rules + translation.rules))
        _close_schema(result, rules, program, statistics, further, predicates)
        if program.translate is None or not concludes_axioms(rules):
            break
        larger = axioms | further | {triple for triple in result.new_schema if owl.is_schema_triple(triple)}
        if larger == axioms:
            break
        axioms = larger
    return result


def _close_schema(
    result: Rules, rules: Sequence[Rule], program: Program, statistics: Statistics, found: set[Triple], predicates: Iterable[str]
) -> None:
    """Check the rules, close the schema, and specialise the rest."""
    analysis.check(Program(tuple(rules), program.declarations))
    refuse_unsupported(rules)
    levels = analysis.levels(rules)
    result.keys = keys = SchemaKeys(rules if _schema_is_lowest(levels) else (), {*predicates, *LITERAL_PREDICATES})
    on_driver = [rule for rule in rules if rule.body and not rule.is_constraint and keys.has(rule.head) and keys.covers(rule.body)]
    result.schema_rules, result.schema = tuple(on_driver), DriverFacts(on_driver)
    schema = [triple for triple in statistics.schema if keys.is_schema_triple(*triple[1:])]
    result.schema.add(TRIPLE, [*schema, *found])
    result.stated = []
    leveled: list[LeveledRule] = []
    for rule in rules:
        if not rule.body and keys.has(rule.head):
            result.schema.add(rule.head.predicate, [rule.head.terms])  # type: ignore[list-item]  # facts have no variables
    known = set(on_driver)
    for rule in rules:
        if rule in known or (not rule.body and keys.has(rule.head)):
            continue
        for instance in instances(rule, keys, result.schema):
            if instance.body:
                leveled.append((instance, levels[rule]))
            elif not rule.is_constraint:
                result.stated.append(instance.head)
    result.new_schema = [triple for triple in result.schema.triples() if triple not in set(schema)]
    result.rules = _supplied(list(dict.fromkeys(leveled)), result, statistics, {*predicates, *LITERAL_PREDICATES})


def _schema_is_lowest(levels: dict[Rule, int]) -> bool:
    """Whether nothing that looks down derives schema: if it did, the schema could not be closed before the data."""
    anything = SchemaKeys(())
    return not any(
        level > 0 and rule.body and rule.head.predicate == TRIPLE and _may_be_schema(rule.head, anything)
        for rule, level in levels.items()
    )


def _may_be_schema(head: Atom, keys: SchemaKeys) -> bool:
    from kg_reasoner.program import Variable

    _, property, value = head.terms
    return isinstance(property, Variable) or (property == RDF.type and isinstance(value, Variable)) or keys.has(head)


def _supplied(rules: list[LeveledRule], result: Rules, statistics: Statistics, predicates: set[str]) -> list[LeveledRule]:
    """The rules that can fire."""
    stated = [Rule(atom) for atom in result.stated] + [Rule(Atom(TRIPLE, triple)) for triple in result.new_schema]

    def has_facts(key: Key) -> bool:
        return statistics.has_facts(key) or key[0] in predicates

    able = set(supplied_rules([rule for rule, _ in rules], has_facts, stated))
    return [(rule, level) for rule, level in rules if rule in able]


def concludes_axioms(rules: Iterable[Rule]) -> bool:
    """Whether some rule other than the schema rules (scm-*), whose axioms are redundant, can conclude an axiom."""
    for rule in rules:
        if (rule.origin.name or "").startswith("scm-") or rule.head.predicate != TRIPLE or not rule.body:
            continue
        _, property, value = rule.head.terms
        if property in owl.SCHEMA_PREDICATES or (property == RDF.type and value in owl.SCHEMA_CLASSES):
            return True
    return False
