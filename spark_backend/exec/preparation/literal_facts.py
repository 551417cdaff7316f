"""Facts about the literals of triples and rules, for the datatype rules, computed by the code of the in-process reasoner."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Hashable, Iterable
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from kg_reasoner.expressions.datatypes import DATATYPES, datatypes_of, disjoint_datatypes, identity, is_ill_typed
from kg_reasoner.program import Atom, Call, Expression, Negation, Rule, Variable
from kg_reasoner.spark_backend.io.columns import OBJECT, local_frame
from kg_reasoner.terms import IRI, RDF, RDFS, Literal, Term, term_from_text, term_text

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["LITERAL_PREDICATES", "asked_of_literals", "literal_relations"]

LITERAL_PREDICATES: Final = frozenset({"literal_type", "literal_value", "ill_typed"})
"""``literal_type(?literal, ?datatype)``: rdfs:Literal, and each datatype whose values include the literal's;
``literal_value(?literal, ?value)``: an IRI that stands for the value; ``ill_typed(?literal)``: its lexical form is invalid."""

DATATYPE_PREDICATES: Final = frozenset({"recognised_datatype", "disjoint_datatypes", "container_membership_property"})
"""``recognised_datatype(?datatype)``, ``disjoint_datatypes(?one, ?other)``, and ``container_membership_property(?property)``
for rdf:_1, rdf:_2 ..., as far as they occur. The driver stores these facts."""

VALUES: Final = "tag:kg-reasoner:value/"
"""The prefix of the IRIs that represent values."""


def datatype_facts(terms: Iterable[Term]) -> dict[str, list[tuple[Term, ...]]]:
    """Return the facts of `DATATYPE_PREDICATES`; `terms` are those of triples and rules."""
    names = sorted({*DATATYPES, RDFS.Literal.value})
    membership = re.compile(re.escape(f"{RDF}_") + "[1-9][0-9]*")
    members = {term for term in terms if isinstance(term, IRI) and membership.fullmatch(term.value)}
    return {
        "recognised_datatype": [(IRI(name),) for name in names if name != RDFS.Literal.value],
        "disjoint_datatypes": [(IRI(one), IRI(other)) for one, other in sorted(disjoint_datatypes())],
        "container_membership_property": [(term,) for term in sorted(members)],
    }


def asked_of_literals(rules: Iterable[Rule]) -> frozenset[str]:
    """Return the `LITERAL_PREDICATES` that rules use."""
    atoms = (part.atom if isinstance(part, Negation) else part for rule in rules for part in rule.body)
    return frozenset(atom.predicate for atom in atoms if isinstance(atom, Atom)) & LITERAL_PREDICATES


def literal_relations(triples: DataFrame, others: Iterable[DataFrame], rules: Iterable[Rule]) -> dict[str, DataFrame]:
    """Return the facts of those `LITERAL_PREDICATES` that rules use, about all literals of triples, of other facts, and of the
    rules.
    """
    from pyspark.sql import functions as F

    rules = list(rules)
    wanted = asked_of_literals(rules)
    if not wanted:
        return {}
    columns = [triples.select(F.col(OBJECT).alias("literal"))]
    columns += [frame.select(F.col(name).alias("literal")) for frame in others for name in frame.columns]
    constants = sorted({term_text(term) for rule in rules for term in _literals_of(rule)})
    columns.append(local_frame(triples.sparkSession, [(text,) for text in constants], "literal string"))
    literals = columns[0]
    for further in columns[1:]:
        literals = literals.unionByName(further)
    literals = literals.where(F.col("literal").startswith('"')).distinct()
    found = {}
    if "literal_type" in wanted:
        types = F.udf(_types, "array<string>")
        found["literal_type"] = literals.select("literal", F.explode(types("literal")).alias("datatype"))
    if "literal_value" in wanted:
        value = F.udf(_value, "string")
        found["literal_value"] = literals.select("literal", value("literal").alias("value")).where(F.col("value").isNotNull())
    if "ill_typed" in wanted:
        ill_typed = F.udf(_is_ill_typed, "boolean")
        found["ill_typed"] = literals.where(ill_typed("literal"))
    return found


def _literals_of(rule: Rule) -> Iterable[Literal]:
    """Yield the literals in a rule's atoms and conditions."""
    for part in (rule.head, *rule.body):
        atom = part.atom if isinstance(part, Negation) else part
        if isinstance(atom, Atom):
            yield from (term for term in atom.terms if isinstance(term, Literal))
        elif hasattr(part, "expression"):
            yield from _literals_in(part.expression)


def _literals_in(expression: Expression) -> Iterable[Literal]:
    if isinstance(expression, Call):
        for argument in expression.arguments:
            yield from _literals_in(argument)
    elif isinstance(expression, Literal) and not isinstance(expression, Variable):
        yield expression


def _literal(text: str) -> Literal:
    term = term_from_text(text)
    assert isinstance(term, Literal)
    return term


def _types(text: str) -> list[str]:
    return [term_text(IRI(datatype)) for datatype in datatypes_of(_literal(text))]


def _value(text: str) -> str | None:
    """Return the IRI that denotes the literal's value."""
    value = identity(_literal(text))
    return None if value is None else f"<{VALUES}{hashlib.sha256(_canonical(value).encode()).hexdigest()}>"


def _canonical(value: Hashable) -> str:
    if isinstance(value, tuple):
        return f"({', '.join(map(_canonical, value))})"
    if isinstance(value, Decimal | Fraction) and value == value and not _is_infinite(value):
        return str(Fraction(value))
    return f"{type(value).__name__} {value!r}"


def _is_infinite(value: Decimal | Fraction) -> bool:
    return isinstance(value, Decimal) and value.is_infinite()


def _is_ill_typed(text: str) -> bool:
    return is_ill_typed(_literal(text))
