"""Candidate facts: those derived by an iteration or held by the driver, some of which may already be known."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kg_reasoner.program import TRIPLE, Atom
from kg_reasoner.spark_backend.exec.facts.encodings import local_rows
from kg_reasoner.spark_backend.exec.facts.mask_table import MaskTable
from kg_reasoner.spark_backend.exec.facts.matching_rows import as_relation
from kg_reasoner.spark_backend.io.columns import argument_columns, local_frame, triple_frame
from kg_reasoner.spark_backend.plan.logical_plan import MaskPass
from kg_reasoner.spark_backend.plan.rule_compiler import feature_of
from kg_reasoner.terms import Term, Triple, term_text

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["Candidates", "held_facts"]


@dataclass
class Candidates:
    """Facts derived by one iteration, including known ones."""

    triples: list[DataFrame] = field(default_factory=list)
    open_triples: list[DataFrame] = field(default_factory=list)
    """Triples of rules that have variables for properties or classes: features may be among them."""
    heads: set[Term] = field(default_factory=set)
    """The properties of `triples`."""
    new_triples: list[DataFrame] = field(default_factory=list)
    """Triples that were not known, each once."""
    features: list[DataFrame] = field(default_factory=list)
    relations: dict[int, dict[str, list[DataFrame]]] = field(default_factory=dict)
    """Facts of general predicates, by arity and predicate."""

    def add_relation(self, predicate: str, rows: DataFrame, arity: int) -> None:
        """Add facts of a general predicate, in the columns of their arguments."""
        self.relations.setdefault(arity, {}).setdefault(predicate, []).append(as_relation(predicate, rows))


def held_facts(spark: SparkSession, atoms: Iterable[Atom], features: MaskPass, masks: MaskTable) -> Candidates | None:
    """Return the facts held by the driver, or None."""
    found = Candidates()
    triples: list[Triple] = []
    rows: dict[str, list[tuple[str, ...]]] = {}
    bits: dict[str, set[int]] = {}
    for atom in atoms:
        feature = feature_of(atom, features.bits)
        if feature is not None:
            bits.setdefault(term_text(feature[0]), set()).add(feature[1])  # type: ignore[arg-type]  # a constant
        elif atom.predicate == TRIPLE:
            triples.append(atom.terms)  # type: ignore[arg-type]  # facts have no variables
        else:
            rows.setdefault(atom.predicate, []).append(tuple(map(term_text, atom.terms)))  # type: ignore[arg-type]
    if triples:
        found.triples.append(triple_frame(spark, triples))
        found.heads.update(property for _, property, _ in triples)
    for predicate, some in rows.items():
        columns = argument_columns(len(some[0]))
        frame = local_frame(spark, [row or (1,) for row in some], ", ".join(f"{name} string" for name in columns) or "one int")
        found.add_relation(predicate, frame.select(*columns), len(columns))
    if bits:
        found.features.append(local_rows(spark, masks.encoding, ((text, frozenset(mask)) for text, mask in bits.items())))
    return found if triples or rows or bits else None
