"""What tests of the Spark backend share: frames from terms, results as sets, and the in-process engine to compare with."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import pyoxigraph

from kg_reasoner import Reasoner
from kg_reasoner.engine.inconsistency import Violation
from kg_reasoner.language.printer import format_rule
from kg_reasoner.program import Program, Rule
from kg_reasoner.spark_backend import SparkReasoner
from kg_reasoner.spark_backend.io.columns import argument_columns, triple_frame
from kg_reasoner.terms import Term, Triple, term_from_text, term_text
from tests.spark_session import session

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

Row = tuple[str, ...]
Flagged = set[tuple[str, str, str, bool]]

PREFIXES = """
    @prefix : <http://example.org/> .
    @prefix owl: <http://www.w3.org/2002/07/owl#> .
    @prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
    @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
    @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
"""


def turtle(text: str) -> list[Triple]:
    """The triples of a Turtle text with the usual prefixes."""
    found = pyoxigraph.parse((PREFIXES + text).encode(), format=pyoxigraph.RdfFormat.TURTLE)
    terms = ((str(quad.subject), str(quad.predicate), str(quad.object)) for quad in found)
    return [(term_from_text(s), term_from_text(p), term_from_text(o)) for s, p, o in terms]


def frame(triples: Iterable[Triple]) -> DataFrame:
    """Triples as a DataFrame of the test session."""
    return triple_frame(session(), triples)


def facts_frame(rows: Iterable[tuple[Term, ...]], arity: int) -> DataFrame:
    """Facts of a general predicate as a DataFrame of the test session."""
    schema = ", ".join(f"{name} string" for name in argument_columns(arity)) or "nothing int"
    texts = [tuple(map(term_text, row)) or (0,) for row in rows]
    found = session().createDataFrame(texts, schema)
    return found if arity else found.select()


def flagged(materialised: DataFrame) -> Flagged:
    """A materialisation as a set; no inferred triple may be there twice, or beside an explicit one."""
    rows = [(row.subject, row.predicate, row.object, row.inferred) for row in materialised.collect()]
    inferred = [row[:3] for row in rows if row[3]]
    assert len(inferred) == len(set(inferred))
    assert not set(inferred) & {row[:3] for row in rows if not row[3]}
    return set(rows)


def in_process(triples: Iterable[Triple], program: Program | None = None, ruleset: str | None = None) -> Flagged:
    """What the in-process engine says."""
    reasoner = Reasoner(program, ruleset=ruleset, show_hidden=True)
    reasoner.add_triples(list(triples))
    return of_reasoner(reasoner)


def of_reasoner(reasoner: Reasoner) -> Flagged:
    """The triples of a reasoner as a set of texts."""
    found: Flagged = set()
    for which, inferred in (("explicit", False), ("inferred", True)):
        for subject, predicate, value in reasoner.triples(which=which):  # type: ignore[arg-type]  # both are literals
            found.add((term_text(subject), term_text(predicate), term_text(value), inferred))
    return found


def violations(reasoner: SparkReasoner, engine: Reasoner) -> list[Violation]:
    """The violated constraints that Spark finds, with the rules of the in-process engine."""
    rules = {_identity(rule): rule for rule in (*engine.engine.rules, *engine.engine.applied_rules) if rule.is_constraint}
    return [
        Violation(
            rules[row.rule, str(row.name), str(row.axiom)],
            {name: term_from_text(text) for name, text in row["values"].items()},
        )
        for row in reasoner.inconsistencies().collect()
    ]


def readable(violations: Iterable[Violation]) -> list[tuple[object, ...]]:
    """Violations as something that can be sorted and compared."""
    return sorted(
        (*_identity(some.rule), tuple(sorted((name, term_text(term)) for name, term in some.terms.items()))) for some in violations
    )


def _identity(rule: Rule) -> tuple[str, str, str]:
    return format_rule(rule), str(rule.origin.name), str(rule.origin.axiom)


def facts_of(reasoner: SparkReasoner, predicates: Iterable[str]) -> dict[str, set[Row]]:
    """The facts of general predicates."""
    return {predicate: {tuple(row) for row in reasoner.facts(predicate).collect()} for predicate in predicates}
