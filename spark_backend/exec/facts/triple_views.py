"""Views of triples by the wide passes: features for masks, triples implied by properties, types encoded in masks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from kg_reasoner.program import TRIPLE, Variable
from kg_reasoner.spark_backend.exec.facts.mask_table import MaskTable
from kg_reasoner.spark_backend.io.columns import INFERRED, OBJECT, PREDICATE, SUBJECT, TERM, TYPE, local_frame, union
from kg_reasoner.spark_backend.plan.logical_plan import MaskPass, PropertyPass, Sources, X
from kg_reasoner.terms import RDF, Term, term_text

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["Views"]


class Views:
    """The tables of the property pass and of the mask pass, applied to any triples and masks."""

    def __init__(self, spark: SparkSession, properties: PropertyPass, features: MaskPass, masks: MaskTable) -> None:
        self.spark = spark
        self.properties = properties
        self.features = features
        self.masks = masks
        self._sources: dict[Term, Sources] = {}

    def features_of(self, triples: DataFrame) -> DataFrame | None:
        """Return the features that triples give to their subjects and objects, in rows of the masks' encoding, or None."""
        from pyspark.sql import functions as F

        encoding = self.masks.encoding
        frames = []
        if table := self._contributions():
            schema = ", ".join(["key string", "at_subject boolean", *(f"{name} long" for name in encoding.columns)])
            key = F.when(F.col(PREDICATE) == TYPE, F.concat(F.lit(" "), F.col(OBJECT))).otherwise(F.col(PREDICATE))
            lookup = F.broadcast(local_frame(self.spark, table, schema))
            term = F.when(F.col("at_subject"), F.col(SUBJECT)).otherwise(F.col(OBJECT))
            joined = triples.withColumn("key", key).join(lookup, "key")
            frames.append(joined.select(term.alias(TERM), *encoding.columns))
        for end, valued in self._valued().items():
            other = OBJECT if end == SUBJECT else SUBJECT
            schema = ", ".join([f"{PREDICATE} string", f"{other} string", *(f"{name} long" for name in encoding.columns)])
            lookup = F.broadcast(local_frame(self.spark, valued, schema))
            chosen = triples.where(F.col(PREDICATE).isin(sorted({str(row[0]) for row in valued})))
            frames.append(chosen.join(lookup, [PREDICATE, other]).select(F.col(end).alias(TERM), *encoding.columns))
        return union(frames)

    def _contributions(self) -> list[tuple[object, ...]]:
        """Return, for each property and class (marked by a blank), the features that it gives to subjects and to objects."""
        found: dict[tuple[str, bool], set[int]] = {}
        for atom, bit in self.features.bits.items():
            if atom.predicate != TRIPLE:
                continue
            subject, property, value = atom.terms
            if property == RDF.type:
                found.setdefault((f" {term_text(value)}", True), set()).add(bit)  # type: ignore[arg-type]  # a constant
            elif isinstance(subject, Variable) and isinstance(value, Variable):
                for source, swapped in self.sources(property):  # type: ignore[arg-type]  # a constant
                    found.setdefault((term_text(source), (value == X) == swapped), set()).add(bit)
        return [(*key, *row) for key, bits in found.items() for row in self.masks.encoding.rows(frozenset(bits))]

    def _valued(self) -> dict[str, list[tuple[object, ...]]]:
        """Return the features of having a certain value, by the column of the term: a row for each property and value."""
        found: dict[str, dict[tuple[str, str], set[int]]] = {}
        for atom, bit in self.features.bits.items():
            if atom.predicate == TRIPLE and atom.terms[1] != RDF.type:
                subject, property, value = atom.terms
                constant = value if subject == X else subject
                if not isinstance(constant, Variable):
                    for source, swapped in self.sources(property):  # type: ignore[arg-type]  # a constant
                        end = SUBJECT if (subject == X) != swapped else OBJECT
                        key = term_text(source), term_text(constant)
                        found.setdefault(end, {}).setdefault(key, set()).add(bit)
        rows = self.masks.encoding.rows
        return {end: [(*key, *row) for key, bits in some.items() for row in rows(frozenset(bits))] for end, some in found.items()}

    def sources(self, property: Term) -> Sources:
        """Return the properties that imply a property, including itself."""
        if property not in self._sources:
            self._sources[property] = self.properties.sources(property)
        return self._sources[property]

    def implied(self, triples: DataFrame) -> DataFrame | None:
        """Return the triples implied by the property pass, without the given ones, or None if no property implies another."""
        table = self._implications()
        return self._turned(triples, table).drop(INFERRED) if table else None

    def of_targets(self, triples: DataFrame) -> DataFrame | None:
        """Return triples of implied properties, possibly with duplicates: those among triples with the column ``inferred``, and
        those that they imply; None if no property implies another.
        """
        table = self._implications()
        own = [(target, target, False, False) for target in sorted(map(term_text, self.properties.targets))]
        return self._turned(triples, [*own, *table]) if table else None

    def of_properties(self, triples: DataFrame, properties: Iterable[Term]) -> DataFrame:
        """Return triples of some properties: those among triples, and those that they imply."""
        table = [
            (term_text(source), term_text(property), swapped, False)
            for property in sorted(properties, key=str)
            for source, swapped in self.sources(property)
        ]
        return self._turned(triples, table).drop(INFERRED)

    def _implications(self) -> list[tuple[str, str, bool, bool]]:
        """Return a table of properties, with each implied property, whether subject and object are swapped, and whether it is
        inferred.
        """
        implied = self.properties.implied.items()
        return [(term_text(source), term_text(target), swapped, True) for source, targets in implied for target, swapped in targets]

    def _turned(self, triples: DataFrame, table: Sequence[tuple[str, str, bool, bool]]) -> DataFrame:
        """Return a triple for each line of the table with the property of a given triple; ``inferred`` if the line or the triple
        is.
        """
        from pyspark.sql import functions as F

        lookup = F.broadcast(local_frame(self.spark, table, "source string, target string, swapped boolean, implied boolean"))
        joined = triples.join(lookup, triples[PREDICATE] == lookup["source"])
        inferred = F.col("implied") | F.col(INFERRED) if INFERRED in triples.columns else F.col("implied")
        return joined.select(
            F.when(F.col("swapped"), F.col(OBJECT)).otherwise(F.col(SUBJECT)).alias(SUBJECT),
            F.col("target").alias(PREDICATE),
            F.when(F.col("swapped"), F.col(SUBJECT)).otherwise(F.col(OBJECT)).alias(OBJECT),
            inferred.alias(INFERRED),
        )

    def types_of(self, rows: DataFrame, column: str, masks: Iterable[int]) -> DataFrame:
        """Return one triple for each class in the mask whose number is in a column; `masks` are the numbers that occur."""
        from pyspark.sql import functions as F

        texts = {bit: term_text(cls) for cls, bit in self.features.classes.items()}
        table = [(number, texts[bit]) for number in sorted(masks) for bit in sorted(self.masks.masks.of(number)) if bit in texts]
        lookup = F.broadcast(local_frame(self.spark, table, "key long, class string"))
        joined = rows.join(lookup, rows[column] == lookup["key"])
        return joined.select(F.col(TERM).alias(SUBJECT), F.lit(TYPE).alias(PREDICATE), F.col("class").alias(OBJECT))
