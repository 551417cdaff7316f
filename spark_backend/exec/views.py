"""Views of triples by the wide passes: features for masks, triples implied by properties, types encoded in masks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce
from typing import TYPE_CHECKING

from kg_reasoner.program import TRIPLE, Variable
from kg_reasoner.spark_backend.exec.mask_table import MaskTable
from kg_reasoner.spark_backend.io.columns import INFERRED, OBJECT, PREDICATE, SUBJECT, TERM, TYPE, local_frame, union
from kg_reasoner.spark_backend.plan.masks import bits_of, to_words
from kg_reasoner.spark_backend.plan.plan import MaskPass, PropertyPass, Sources, X
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

    def features_of(self, triples: DataFrame, prefix: str) -> DataFrame | None:
        """Return the features that triples give to their subjects and objects, in rows of terms and words, or None."""
        from pyspark.sql import functions as F

        frames = []
        subject_words, object_words = self.masks.names("s"), self.masks.names("o")
        table = self._contributions()
        if table:
            columns = ", ".join(f"{name} long" for name in (*subject_words, *object_words))
            key = F.when(F.col(PREDICATE) == TYPE, F.concat(F.lit(" "), F.col(OBJECT))).otherwise(F.col(PREDICATE))
            lookup = F.broadcast(local_frame(self.spark, table, f"key string, {columns}"))
            joined = triples.withColumn("key", key).join(lookup, "key")
            ends = ((SUBJECT, subject_words), (OBJECT, object_words))
            features = F.array(
                *(
                    F.struct(
                        F.col(end).alias(TERM),
                        *(F.col(word).alias(name) for word, name in zip(words, self.masks.names(prefix), strict=True)),
                    )
                    for end, words in ends
                )
            )
            frames.append(joined.select(F.explode(features).alias("row")).select("row.*"))
        for source, end, value, mask in self._valued():
            other = OBJECT if end == SUBJECT else SUBJECT
            chosen = triples.where((F.col(PREDICATE) == term_text(source)) & (F.col(other) == term_text(value)))
            frames.append(chosen.select(F.col(end).alias(TERM), *self.masks.literals(mask, prefix)))
        rows = union(frames)
        if rows is None:
            return None
        return rows.where(reduce(lambda left, right: left | right, (F.col(name) != 0 for name in self.masks.names(prefix))))

    def _contributions(self) -> list[tuple[object, ...]]:
        """Return, for each property and class (marked by a blank), the masks that it gives to subjects and objects, as words."""
        found: dict[str, list[int]] = {}
        for atom, bit in self.features.bits.items():
            if atom.predicate != TRIPLE:
                continue
            subject, property, value = atom.terms
            if property == RDF.type:
                found.setdefault(f" {term_text(value)}", [0, 0])[0] |= 1 << bit  # type: ignore[arg-type]  # a constant
            elif isinstance(subject, Variable) and isinstance(value, Variable):
                for source, swapped in self.sources(property):  # type: ignore[arg-type]  # a constant
                    found.setdefault(term_text(source), [0, 0])[int((value == X) != swapped)] |= 1 << bit
        count = self.masks.count_of_words
        return [(key, *to_words(ofs, count), *to_words(ofo, count)) for key, (ofs, ofo) in found.items()]

    def _valued(self) -> Iterable[tuple[Term, str, Term, int]]:
        """Yield the features of having a certain value: the property, the column of the term, the value, and the mask."""
        for atom, bit in self.features.bits.items():
            if atom.predicate == TRIPLE and atom.terms[1] != RDF.type:
                subject, property, value = atom.terms
                constant = value if subject == X else subject
                if not isinstance(constant, Variable):
                    for source, swapped in self.sources(property):  # type: ignore[arg-type]  # a constant
                        yield source, SUBJECT if (subject == X) != swapped else OBJECT, constant, 1 << bit

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

    def types_of(self, rows: DataFrame, prefix: str, masks: Iterable[int]) -> DataFrame:
        """Return one triple for each class whose bit is set in the words of a prefix; `masks` are the masks that occur."""
        from pyspark.sql import functions as F

        names, count = self.masks.names(prefix), self.masks.count_of_words
        keys = [f"key_{name}" for name in names]
        texts = {bit: term_text(cls) for cls, bit in self.features.classes().items()}
        table = [(*to_words(mask, count), texts[bit]) for mask in masks for bit in bits_of(mask) if bit in texts]
        lookup = F.broadcast(local_frame(self.spark, table, ", ".join([*(f"{key} long" for key in keys), "class string"])))
        joined = rows.join(lookup, [rows[name] == lookup[key] for name, key in zip(names, keys, strict=True)])
        return joined.select(F.col(TERM).alias(SUBJECT), F.lit(TYPE).alias(PREDICATE), F.col("class").alias(OBJECT))
