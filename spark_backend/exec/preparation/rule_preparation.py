"""Preparation of rules for Spark from a program and statistics of the data: translated, specialised, and relevant."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, field

from kg_reasoner.expressions.demands import demands
from kg_reasoner.language.checks import analysis
from kg_reasoner.language.selection.relevance import relevant_rules
from kg_reasoner.language.strata.recursion import refuse
from kg_reasoner.loaders.ontology import owl
from kg_reasoner.loaders.ontology.owl import AxiomWarning
from kg_reasoner.program import TRIPLE, Aggregate, Atom, Program, Rule, Variable, variables_of
from kg_reasoner.spark_backend.exec.preparation.groups_of_solutions import split_aggregates
from kg_reasoner.spark_backend.exec.preparation.literal_facts import DATATYPE_PREDICATES, LITERAL_PREDICATES, datatype_facts
from kg_reasoner.spark_backend.exec.preparation.merged_terms import is_equality_rule, places_of_literals, rewritten_rule
from kg_reasoner.spark_backend.exec.preparation.schema_closure import closed
from kg_reasoner.spark_backend.exec.preparation.triple_statistics import Statistics
from kg_reasoner.spark_backend.plan.driver import Binding, DriverFacts
from kg_reasoner.spark_backend.plan.id_rows import Row, Rows
from kg_reasoner.spark_backend.plan.rule_compiler import LeveledRule
from kg_reasoner.spark_backend.plan.specialise import SchemaKeys, instances, left_to_data
from kg_reasoner.substitution import in_term
from kg_reasoner.terms import OWL, RDF, Term, Triple

__all__ = ["Rules", "prepare"]


@dataclass(frozen=True)
class Constraint:
    """An instance of a constraint: the rule as it was written, and the values of its schema variables."""

    instance: Rule
    rule: Rule
    schema: Binding

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The variables in a violation: those of the constraint's positive atoms and aggregates, in order."""
        binding = (part for part in self.rule.body if isinstance(part, Atom | Aggregate))
        return tuple(dict.fromkeys(variable for part in binding for variable in variables_of(part)))

    @property
    def kind(self) -> tuple[tuple[Variable, bool], ...]:
        """The variables, and which of them the schema binds."""
        return tuple((variable, variable in self.schema) for variable in self.variables)


@dataclass
class Rules:
    """The rules that remain for Spark, and the results of the driver."""

    rules: list[LeveledRule] = field(default_factory=list)
    """Rules with bodies, and their levels."""
    constraints: list[Constraint] = field(default_factory=list)
    stated: list[Atom] = field(default_factory=list)
    """Facts that need no data; the driver does not know whether they were given."""
    schema: DriverFacts = field(default_factory=DriverFacts)
    schema_rules: tuple[Rule, ...] = ()
    new_schema: Rows = field(default_factory=lambda: DriverFacts().triples)
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
    representatives: Callable[[set[Term]], dict[Term, Term]] | None = None,
) -> Rules:
    """Return the rules that Spark evaluates.

    Args:
        program: Rules; if it says so, the axioms among the schema triples become rules as well.
        statistics: Of the triples that were given.
        found: Schema triples that an earlier run derived from data.
        equalities: owl:sameAs triples about classes and properties.
        names: Terms that data uses as classes or properties.
        predicates: General predicates whose facts are given.
        representatives: If facts are rewritten, says which other terms stand for some terms; rules of equality are left out then.

    Raises:
        UnsupportedError, SafetyError, ArityError, StratificationError: The program cannot be evaluated; it says where.
    """
    result = Rules()
    axioms = set(statistics.schema)
    further = set(found)
    translated: dict[Rule, Rule] = {}
    while True:
        rules = program.rules
        if program.translate is not None:
            translation = owl.translate([*axioms, *equalities], names=set(names))
            result.warnings, result.vocabulary = translation.warnings, translation.vocabulary
            # The axioms that were given name the rules that derived ones are translated to, too.
            rules = tuple(dict.fromkeys((*rules, *(translated.setdefault(rule, rule) for rule in translation.rules))))
        # Results have all triples, also those that a reasoner hides, and that each term is the same as itself.
        rules = (*rules, *demands(rules, merges_equal_terms=representatives is not None, asked=[OWL.sameAs]))
        schema = set(statistics.schema) | further
        written: dict[Rule, list[Rule]] = {}
        if representatives is not None:
            written, schema = _rewritten(rules, schema, representatives)
            rules = tuple(written)
        _close_schema(result, rules, program, statistics, schema, predicates)
        result.constraints = [
            Constraint(some.instance, rule, some.schema)
            for some in result.constraints
            for rule in written.get(some.rule, [some.rule])
        ]
        concluded = set(filter(None, map(owl.concluded_axioms, rules)))
        if program.translate is None or not concluded:
            break
        derived: Iterable[Triple] = result.new_schema  # type: ignore[assignment]  # three terms each
        larger = axioms | {triple for triple in (*further, *derived) if _is_concluded(triple, concluded)}
        if larger == axioms:
            break
        axioms = larger
    return result


def _is_concluded(triple: Triple, concluded: Set[tuple[Term, Term | None]]) -> bool:
    """Return whether a derived triple is an axiom that other rules than those of the schema may conclude, as the engine has it."""
    subject, property, value = triple
    if not owl.is_schema_triple(triple):
        return False
    return (property, value if property == RDF.type else None) in concluded and not (
        value == OWL.Class and subject in (OWL.Thing, OWL.Nothing)
    )


def _rewritten(
    rules: Iterable[Rule], schema: Iterable[Triple], representatives: Callable[[set[Term]], dict[Term, Term]]
) -> tuple[dict[Rule, list[Rule]], set[Triple]]:
    """Return rules in terms of representatives, each with the rules as they were written, without the rules of equality; and the
    schema in these terms.
    """
    rules = [rule for rule in rules if not is_equality_rule(rule)]
    facts = [Rule(Atom(TRIPLE, triple)) for triple in schema]
    atoms = (part for rule in (*rules, *facts) for part in (rule.head, *rule.body) if isinstance(part, Atom))
    names = representatives({term for atom in atoms for term in atom.terms if not isinstance(term, Variable)})
    triples = {rewritten_rule(fact, names).head.terms for fact in facts}
    kept = places_of_literals(rules)
    written: dict[Rule, list[Rule]] = {}
    for rule in rules:
        written.setdefault(rewritten_rule(rule, names, kept), []).append(rule)
    return written, triples  # type: ignore[return-value]  # three terms


def _close_schema(
    result: Rules, rules: Sequence[Rule], program: Program, statistics: Statistics, given: set[Triple], predicates: Iterable[str]
) -> None:
    """Check the rules, close the schema, and specialise the other rules."""
    analysis.check(Program(tuple(rules), program.declarations))
    refuse(rules, "the Spark backend")
    written = split_aggregates(rules)
    rules = tuple(written)
    levels = analysis.levels(rules)
    given_data = {*predicates, *LITERAL_PREDICATES}
    result.keys = keys = SchemaKeys(rules, given_data, DATATYPE_PREDICATES, none=not _schema_is_lowest(levels))
    on_driver = dict.fromkeys(rule for rule in rules if _is_about_schema(rule, keys))
    of_anything: dict[Rule, None] = {}
    while True:
        result.schema = _closed([*on_driver, *of_anything], rules, given, keys, statistics)
        result.stated = []
        leveled: list[LeveledRule] = []
        constraints: list[Constraint] = []
        known_rules = len(on_driver) + len(of_anything)
        for rule in rules:
            if rule in on_driver or (not rule.body and keys.has(rule.head)):
                continue
            for instance, binding in instances(rule, keys, result.schema):
                if rule.is_constraint:
                    constraints.append(Constraint(instance, written[rule], binding))
                elif not instance.body:
                    result.stated.append(instance.head)
                elif _is_about_schema(instance, keys):
                    on_driver[instance] = None
                else:
                    leveled.append((instance, levels[rule]))
                    if _concludes_schema_from_anything(instance, keys):
                        of_anything[instance] = None
        if len(on_driver) + len(of_anything) == known_rules:
            break
    result.schema_rules = tuple(on_driver)
    joined = {atom.predicate for rule in rules if rule not in on_driver for atom in left_to_data(rule, keys)}
    result.stated += (Atom(name, row) for name in sorted(joined) for row in sorted(result.schema.rows(name), key=str))
    result.new_schema = result.schema.triples.without(statistics.schema)
    facts = {*predicates, *LITERAL_PREDICATES}
    able = _relevant([*(rule for rule, _ in leveled), *(some.instance for some in constraints)], result, statistics, facts)
    result.rules = [(rule, level) for rule, level in dict.fromkeys(leveled) if rule in able]
    result.constraints = [some for some in constraints if some.instance in able]


def _is_about_schema(rule: Rule, keys: SchemaKeys) -> bool:
    """Return whether a rule derives schema from schema alone."""
    return bool(rule.body) and not rule.is_constraint and keys.has(rule.head) and keys.covers(rule.body)


def _closed(by: Sequence[Rule], rules: Sequence[Rule], given: set[Triple], keys: SchemaKeys, statistics: Statistics) -> DriverFacts:
    """Return the schema, closed under some rules. Rules that derive schema from arbitrary triples are applied here to the schema
    and to the mere use of properties and classes; they are applied to data later.
    """
    facts: dict[str, list[Row]] = defaultdict(list, datatype_facts(_terms(rules, statistics)))
    facts[TRIPLE] += [triple for triple in given if keys.is_schema_triple(*triple[1:])]
    facts[TRIPLE] += _said_of_names([rule for rule in by if _concludes_schema_from_anything(rule, keys)], statistics)
    for rule in rules:
        if not rule.body and keys.has(rule.head):
            facts[rule.head.predicate].append(rule.head.terms)  # type: ignore[arg-type]  # facts have no variables
    return closed(by, facts)


def _concludes_schema_from_anything(rule: Rule, keys: SchemaKeys) -> bool:
    """Return whether a rule derives schema from one triple of any property, or of any class, as rdfD2 does."""
    if len(rule.body) != 1 or not isinstance(atom := rule.body[0], Atom) or atom.predicate != TRIPLE:
        return False
    return rule.head.predicate == TRIPLE and keys.has(rule.head) and not keys.has(atom)


def _said_of_names(rules: Iterable[Rule], statistics: Statistics) -> Iterator[Triple]:
    """Yield the conclusions of rules with one atom from the mere use of a property or class, without reading data."""
    for rule in rules:
        subject, property, value = rule.body[0].terms  # type: ignore[union-attr]  # it is an atom
        name, names, others = property, statistics.properties, [subject, value]
        if not isinstance(property, Variable):
            name, names, others = value, statistics.classes if property == RDF.type else {}, [subject]
        is_any = all(isinstance(other, Variable) for other in others) and len({name, *others}) == len(others) + 1
        if is_any and isinstance(name, Variable) and set(variables_of(rule.head)) == {name}:
            for term in names:
                yield tuple(in_term(part, {name: term}) for part in rule.head.terms)  # type: ignore[misc]  # three constants


def _terms(rules: Iterable[Rule], statistics: Statistics) -> set[Term]:
    """Return the terms of rules and schema, and the properties and classes of data."""
    atoms = (part for rule in rules for part in (rule.head, *rule.body) if isinstance(part, Atom))
    constants = {term for atom in atoms for term in atom.terms if not isinstance(term, Variable)}
    return constants.union(statistics.properties, statistics.classes, *statistics.schema)


def _schema_is_lowest(levels: dict[Rule, int]) -> bool:
    """Return whether no rule with negation or aggregation derives schema; otherwise, the schema could not be closed before the
    data.
    """
    anything = SchemaKeys(())
    return not any(
        level > 0 and rule.body and rule.head.predicate == TRIPLE and _may_be_schema(rule.head, anything)
        for rule, level in levels.items()
    )


def _may_be_schema(head: Atom, keys: SchemaKeys) -> bool:
    _, property, value = head.terms
    return isinstance(property, Variable) or (property == RDF.type and isinstance(value, Variable)) or keys.has(head)


def _relevant(rules: Sequence[Rule], result: Rules, statistics: Statistics, predicates: set[str]) -> set[Rule]:
    """Return the relevant rules."""
    derived = [*result.stated, *(Atom(TRIPLE, triple) for triple, _ in result.new_schema.counts(1, 2))]
    stated = [Rule(atom) for atom in {analysis.key_of(atom): atom for atom in derived}.values()]  # one for all of a kind
    return set(relevant_rules(rules, lambda key: statistics.has_facts(key) or key[0] in predicates, stated))
