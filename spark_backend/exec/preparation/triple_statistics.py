"""Statistics from one pass over all triples: counts by property and class, the schema, and a fingerprint."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from kg_reasoner.language.checks.analysis import Key
from kg_reasoner.program import TRIPLE
from kg_reasoner.spark_backend.exec.preparation.given_frames import is_triple, refuse_other_than_triples
from kg_reasoner.spark_backend.io.columns import OBJECT, PREDICATE, SUBJECT, TRIPLE_COLUMNS, TYPE
from kg_reasoner.spark_backend.plan.id_rows import Rows
from kg_reasoner.spark_backend.plan.specialise import SchemaKeys
from kg_reasoner.terms import RDF, Term, Triple, term_from_text

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["Statistics", "look_at"]


@dataclass
class Statistics:
    """Counts of triples, the schema, and a fingerprint of all triples."""

    properties: dict[Term, int] = field(default_factory=dict)
    classes: dict[Term, int] = field(default_factory=dict)
    schema: list[Triple] = field(default_factory=list)
    """The triples about the schema, and those that say that something is of a class without a name."""
    derived_schema: list[Triple] = field(default_factory=list)
    """The schema among triples that are known to follow."""
    fingerprint: str = ""

    @property
    def total(self) -> int:
        """The number of triples."""
        return sum(self.properties.values())

    def count(self, property: Term) -> int:
        """Return the number of triples with a property."""
        return self.properties.get(property, 0)

    def copy(self) -> Statistics:
        """Return an independent copy."""
        return replace(self, properties=dict(self.properties), classes=dict(self.classes))

    def add(self, triples: Rows) -> None:
        """Count additional triples."""
        for (_, property, value), count in triples.counts(1, 2):
            self.properties[property] = self.properties.get(property, 0) + count
            if property == RDF.type:
                self.classes[value] = self.classes.get(value, 0) + count

    def include(self, derived: Statistics) -> list[Triple]:
        """Count triples known to follow; their schema makes no axioms. Return that schema."""
        for mine, others in ((self.properties, derived.properties), (self.classes, derived.classes)):
            for term, count in others.items():
                mine[term] = mine.get(term, 0) + count
        self.derived_schema += derived.schema
        self.fingerprint += derived.fingerprint
        return derived.schema

    def has_facts(self, key: Key) -> bool:
        """Return whether triples match a key (see `analysis.key_of`)."""
        predicate, property, cls = key
        if predicate != TRIPLE:
            return False
        if property is None:
            return bool(self.properties)
        return cls in self.classes if cls is not None else property in self.properties


def look_at(triples: DataFrame) -> Statistics:
    """Collect statistics in one pass over all triples, with a shuffle of the distinct properties, classes and schema triples.

    Raises:
        LoadError: A row is not a triple.
    """
    from pyspark.sql import functions as F

    is_type = F.col(PREDICATE) == TYPE
    is_schema = F.expr(SchemaKeys.sql(PREDICATE, OBJECT)) | (is_type & F.col(OBJECT).startswith("_:"))
    shown = triples.select(
        PREDICATE,
        F.when(is_schema, F.col(SUBJECT)).alias(SUBJECT),
        F.when(is_schema | is_type, F.col(OBJECT)).alias(OBJECT),
        F.xxhash64(*TRIPLE_COLUMNS).alias("hash"),
        F.when(is_triple(), 0).otherwise(1).alias("others"),
    )
    found = Statistics()
    digests = []
    counts = (F.count("*").alias("rows"), F.bit_xor("hash").alias("hash"), F.sum("others").alias("others"))
    rows = shown.groupBy(*TRIPLE_COLUMNS).agg(*counts).collect()
    if any(row["others"] for row in rows):
        refuse_other_than_triples(triples)
    for row in rows:
        property = term_from_text(row[PREDICATE])
        found.properties[property] = found.properties.get(property, 0) + row["rows"]
        value = None if row[OBJECT] is None else term_from_text(row[OBJECT])
        if value is not None and row[PREDICATE] == TYPE:
            found.classes[value] = found.classes.get(value, 0) + row["rows"]
        if value is not None and row[SUBJECT] is not None:
            found.schema.append((term_from_text(row[SUBJECT]), property, value))
        digests.append(f"{row[PREDICATE]} {row[SUBJECT]} {row[OBJECT]} {row['rows']} {row['hash']}")
    found.fingerprint = hashlib.sha256("\n".join(sorted(digests)).encode()).hexdigest()
    return found
