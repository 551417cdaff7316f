"""owl:sameAs by representatives: facts are rewritten to one term of each component, and the result is expanded at the end.

The rules of equality (eq-sym, eq-trans, eq-rep-s, eq-rep-o) state that equal terms have the same facts. Applied as rules, they
derive every fact for every member of a component. With rewriting, each fact is stored once while rules are evaluated. The result is
the same if the other rules do not depend on the identity of terms. Comparisons, negation, and variables for properties or classes
do; with those, the rules of equality are applied as rules.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from functools import cache
from typing import TYPE_CHECKING, TypeAlias

from kg_reasoner.language.parser import parse
from kg_reasoner.loaders.ontology.owl import AUXILIARY_PREFIX
from kg_reasoner.program import FALSE, TRIPLE, Argument, Atom, BodyLiteral, Call, Filter, Rule, Variable, variables_of
from kg_reasoner.spark_backend.exec.preparation.components import REPRESENTATIVE
from kg_reasoner.spark_backend.io.columns import INFERRED, OBJECT, PREDICATE, SUBJECT, TERM, TRIPLE_COLUMNS, TYPE, local_frame
from kg_reasoner.terms import OWL, RDF, Literal, Term, term_from_text, term_text

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

__all__ = ["SAME_AS", "Representatives", "can_rewrite", "is_equality_rule", "places_of_literals", "rewritten_rule"]

SAME_AS = term_text(OWL.sameAs)
"""The text of owl:sameAs."""

Place: TypeAlias = tuple[str, int]
"""A general predicate, and the number of an argument."""

_RULES = """
    owl:sameAs[?y, ?x] :- owl:sameAs[?x, ?y] .
    owl:sameAs[?x, ?z] :- owl:sameAs[?x, ?y], owl:sameAs[?y, ?z] .
    [?y, ?p, ?o] :- owl:sameAs[?x, ?y], [?x, ?p, ?o] .
    [?s, ?p, ?y] :- owl:sameAs[?x, ?y], [?s, ?p, ?x], FILTER(?p != rdf:type) .
"""
"""The rules that rewriting stands for: eq-sym, eq-trans, eq-rep-s, eq-rep-o."""


@cache
def _equality_rules() -> frozenset[tuple[object, ...]]:
    return frozenset(map(_shape, parse(_RULES).rules))


def _shape(rule: Rule) -> tuple[object, ...]:
    """Return a rule with normalised variable names."""
    numbers: dict[Variable, int] = {}

    def shape(part: object) -> object:
        if isinstance(part, Variable):
            return numbers.setdefault(part, len(numbers))
        if isinstance(part, Atom):
            return part.predicate, tuple(map(shape, part.terms))
        expression = getattr(part, "expression", None)
        if expression is not None:
            return shape(expression)
        arguments = getattr(part, "arguments", None)
        return part if arguments is None else (getattr(part, "name", None), tuple(map(shape, arguments)))

    return shape(rule.head), tuple(map(shape, rule.body))


def is_equality_rule(rule: Rule) -> bool:
    """Return whether a rule is one of those that rewriting replaces."""
    return _shape(rule) in _equality_rules()


def can_rewrite(program: Iterable[Rule], others: Sequence[Rule], stated: Iterable[Atom], has_facts: bool) -> bool:
    """Return whether rewriting gives the same result as the rules of equality.

    Args:
        program: All rules of the program; the rules of equality must be there.
        others: The rules that are evaluated beside them.
        stated: Facts of the program.
        has_facts: Whether facts of general predicates are given, to which the rules of equality do not apply.
    """
    shapes = set(map(_shape, program))
    if has_facts or not _equality_rules() <= shapes:
        return False
    if any(atom.predicate != TRIPLE and not atom.predicate.startswith(AUXILIARY_PREFIX) for atom in stated):
        return False
    numbers = places_of_literals(program)
    return all(_ignores_names(rule, numbers) for rule in others)


def places_of_literals(program: Iterable[Rule]) -> frozenset[Place]:
    """Return the arguments of general predicates that can only be literals which the program itself states, such as the positions
    in lists.

    >>> from kg_reasoner.language.parser import parse
    >>> rules = parse("next(1, 2) . at(?l, 1) :- <urn:list>[_, ?l] . at(?l, ?n) :- at(?l, ?m), next(?m, ?n) .").rules
    >>> sorted(places_of_literals(rules))
    [('at', 1), ('next', 0), ('next', 1)]
    """
    rules = [rule for rule in program if rule.head.predicate not in (TRIPLE, FALSE)]
    found = {(rule.head.predicate, place) for rule in rules for place in range(rule.head.arity)}
    while True:
        others = {
            (rule.head.predicate, place)
            for rule in rules
            for place, term in enumerate(rule.head.terms)
            if not (isinstance(term, Literal) or (isinstance(term, Variable) and term in _literals_in(rule, found)))
        }
        if not others & found:
            return frozenset(found)
        found -= others


def _literals_in(rule: Rule, places: Set[Place]) -> set[Variable]:
    """Return the variables of a rule that some places bind."""
    atoms = (part for part in rule.body if isinstance(part, Atom))
    return {
        term
        for atom in atoms
        for place, term in enumerate(atom.terms)
        if isinstance(term, Variable) and (atom.predicate, place) in places
    }


def _ignores_names(rule: Rule, places: Set[Place]) -> bool:
    """Return whether a rule consists of atoms only, without variables for properties or classes.

    A filter is fine if it only keeps a rule that concludes an equality from saying that a term equals itself (see
    `Representatives.differing`), or if it compares literals that the program states.
    """
    for part in rule.body:
        if isinstance(part, Atom) or _asks_for_two(part, rule.head):
            continue
        if not isinstance(part, Filter) or not _literals_in(rule, places).issuperset(variables_of(part)):
            return False
    for atom in (rule.head, *rule.body):
        if isinstance(atom, Atom) and atom.predicate == TRIPLE:
            _, property, value = atom.terms
            if isinstance(property, Variable) or (property == RDF.type and isinstance(value, Variable)):
                return False
    return True


def _asks_for_two(part: BodyLiteral, head: Atom) -> bool:
    """Return whether a part of a body is ``FILTER(?x != ?y)``, and the head ``owl:sameAs[?x, ?y]``."""
    if head.predicate != TRIPLE or head.terms[1] != OWL.sameAs or not isinstance(part, Filter):
        return False
    expression = part.expression
    if not isinstance(expression, Call) or expression.name != "!=":
        return False
    return set(expression.arguments) == {head.terms[0], head.terms[2]} and len(set(variables_of(expression))) == 2


class Representatives:
    """A table from terms to their representatives, without the representatives themselves."""

    def __init__(self, table: DataFrame) -> None:
        from pyspark.sql import functions as F

        self.table = table
        self.of_literals = not table.where(F.col(REPRESENTATIVE).startswith('"')).isEmpty()
        """Whether some stand for literals, and are literals themselves: another one may have the same value as some of them."""

    def differing(self, rows: DataFrame, one: str, other: str, differ: Column) -> DataFrame:
        """Return the rows in which some members of two columns' terms differ, according to a condition on these columns."""
        from pyspark.sql import functions as F

        if not self.of_literals:
            return rows.where(differ)
        are_literals = F.col(one).startswith('"') & F.col(other).startswith('"')
        pairs = rows.where(are_literals).select(F.col(one).alias("first"), F.col(other).alias("second"), one, other).distinct()
        found = self.expand_facts(pairs, [one, other]).where(differ).select(F.col("first").alias(one), F.col("second").alias(other))
        return rows.where(~are_literals & differ).unionByName(rows.join(found, [one, other], "left_semi").select(*rows.columns))

    def of(self, terms: Iterable[Term]) -> dict[Term, Term]:
        """Return the representatives of those terms that have a different one."""
        texts = [(term_text(term),) for term in set(terms)]
        if not texts:
            return {}
        asked = local_frame(self.table.sparkSession, texts, f"{TERM} string")
        rows = self.table.join(asked, TERM).collect()
        return {term_from_text(row[TERM]): term_from_text(row[REPRESENTATIVE]) for row in rows}

    def rewrite(self, triples: DataFrame) -> DataFrame:
        """Return triples with representatives as subjects and, except with rdf:type, as objects."""
        from pyspark.sql import functions as F

        for column, applies in _places():
            table = self.table.select(F.col(TERM).alias("old"), F.col(REPRESENTATIVE).alias("new"))
            joined = triples.join(table, (triples[column] == table["old"]) & applies, "left")
            triples = joined.withColumn(column, F.coalesce(F.col("new"), F.col(column))).select(*TRIPLE_COLUMNS)
        return triples

    def pairs_with(self, terms: Iterable[Term]) -> DataFrame:
        """Return the pairs of different equal terms of which one is among some terms, in either order."""
        from pyspark.sql import functions as F

        asked = local_frame(self.table.sparkSession, [(term_text(term),) for term in sorted(set(terms), key=str)], f"{TERM} string")
        ones = self.members().join(F.broadcast(asked), TERM, "left_semi").select(REPRESENTATIVE, F.col(TERM).alias("subject"))
        others = self.members().select(REPRESENTATIVE, F.col(TERM).alias("object"))
        pairs = others.join(F.broadcast(ones), REPRESENTATIVE).where("subject <> object").select("subject", "object")
        return pairs.unionByName(pairs.select(F.col("object").alias("subject"), F.col("subject").alias("object")))

    def reflexive(self) -> DataFrame:
        """Return a triple for each representative that states its equality with itself: the rewritten form of all equalities."""
        from pyspark.sql import functions as F

        same = F.lit(SAME_AS).alias(PREDICATE)
        return self.table.select(F.col(REPRESENTATIVE).alias(SUBJECT), same, F.col(REPRESENTATIVE).alias(OBJECT)).distinct()

    def members(self) -> DataFrame:
        """Return the components: a row for each representative and member, including the representative itself."""
        from pyspark.sql import functions as F

        least = self.table.select(F.col(REPRESENTATIVE), F.col(REPRESENTATIVE).alias(TERM)).distinct()
        return self.table.select(REPRESENTATIVE, TERM).unionByName(least)

    def expand(self, materialised: DataFrame, given: DataFrame) -> DataFrame:
        """Return a materialisation of rewritten triples, with every triple for all members; `given` are the original input
        triples.
        """
        from pyspark.sql import functions as F

        rows = self._expanded(materialised)
        touched = F.col("touched")
        rewritten = rows.where(touched).select(*TRIPLE_COLUMNS).distinct().join(given, list(TRIPLE_COLUMNS), "left_anti")
        untouched = rows.where(~touched).select(*TRIPLE_COLUMNS, INFERRED)
        explicit = self._touching(given).select(*TRIPLE_COLUMNS, F.lit(False).alias(INFERRED))
        return untouched.unionByName(explicit).unionByName(rewritten.select(*TRIPLE_COLUMNS, F.lit(True).alias(INFERRED)))

    def _expanded(self, rows: DataFrame) -> DataFrame:
        """Return a row for each way to replace subject and object by members of their components, and whether there are several."""
        from pyspark.sql import functions as F

        rows = rows.withColumn("touched", F.lit(False))
        for column, applies in _places():
            members = self.members().select(F.col(REPRESENTATIVE).alias("old"), F.col(TERM).alias("new"))
            joined = rows.join(members, (rows[column] == members["old"]) & applies, "left")
            rows = joined.withColumn("touched", F.col("touched") | F.col("new").isNotNull())
            rows = rows.withColumn(column, F.coalesce(F.col("new"), F.col(column))).drop("old", "new")
        return rows

    def _touching(self, triples: DataFrame) -> DataFrame:
        """Return the triples that contain a member of a component."""
        from pyspark.sql import functions as F

        terms = self.members().select(F.col(TERM).alias("member"))
        for column, applies in _places():
            found = terms.select(F.col("member").alias(f"in_{column}"))
            triples = triples.join(found, (triples[column] == found[f"in_{column}"]) & applies, "left")
        some = F.coalesce(*(F.col(f"in_{column}") for column, _ in _places())).isNotNull()
        return triples.where(some).select(*TRIPLE_COLUMNS)

    def expand_facts(self, facts: DataFrame, terms: Sequence[str]) -> DataFrame:
        """Return rows for all members of the components of the terms in some columns."""
        from pyspark.sql import functions as F

        columns = facts.columns
        for column in terms:
            members = self.members().select(F.col(REPRESENTATIVE).alias("old"), F.col(TERM).alias("new"))
            joined = facts.join(members, facts[column] == members["old"], "left")
            facts = joined.withColumn(column, F.coalesce(F.col("new"), F.col(column))).select(*columns)
        return facts


def _places() -> list[tuple[str, Column]]:
    """Return the rewritten columns, and in which rows they are rewritten."""
    from pyspark.sql import functions as F

    return [(SUBJECT, F.lit(True)), (OBJECT, F.col(PREDICATE) != TYPE)]


def rewritten_rule(rule: Rule, names: dict[Term, Term], kept: Set[Place] = frozenset()) -> Rule:
    """Return a rule with its constants replaced by representatives, as in the facts, except in the places that are kept."""

    def in_atom(atom: Atom) -> Atom:
        if atom.predicate != TRIPLE:
            terms = (term if (atom.predicate, place) in kept else replaced(term) for place, term in enumerate(atom.terms))
            return Atom(atom.predicate, tuple(terms), atom.span)
        subject, property, value = atom.terms
        return Atom(TRIPLE, (replaced(subject), property, value if property == RDF.type else replaced(value)), atom.span)

    def replaced(term: Argument) -> Argument:
        return term if isinstance(term, Variable) else names.get(term, term)

    body = tuple(in_atom(part) if isinstance(part, Atom) else part for part in rule.body)
    return Rule(in_atom(rule.head), body, rule.origin)
