"""All facts of a run: triples as rows, consequences of properties as views, features as masks, general predicates as relations.

Atoms are matched here with every representation of facts. New facts are absorbed here: known ones are dropped, and features go into
the masks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from typing import TYPE_CHECKING, Final

from kg_reasoner.language.strata.stratification import Key, key_of
from kg_reasoner.program import TRIPLE, Atom, Variable
from kg_reasoner.spark_backend.exec.facts.candidates import Candidates
from kg_reasoner.spark_backend.exec.facts.growing_table import Growing, Part
from kg_reasoner.spark_backend.exec.facts.mask_table import FEW, MaskTable
from kg_reasoner.spark_backend.exec.facts.matching_rows import RELATION, as_relation, matched
from kg_reasoner.spark_backend.exec.facts.skew import LEAST, Heavy, heavy_terms
from kg_reasoner.spark_backend.exec.facts.triple_views import Views
from kg_reasoner.spark_backend.exec.preparation.merged_terms import Representatives
from kg_reasoner.spark_backend.exec.preparation.triple_statistics import Statistics
from kg_reasoner.spark_backend.io.columns import (
    OBJECT,
    PREDICATE,
    SUBJECT,
    TERM,
    TRIPLE_COLUMNS,
    TYPE,
    argument_columns,
    local_frame,
    union,
)
from kg_reasoner.spark_backend.io.workspace import StoredStep, WorkDirectory, rows_of
from kg_reasoner.spark_backend.plan.logical_plan import Axioms, Choice, MaskPass, PropertyPass, X
from kg_reasoner.spark_backend.plan.rule_compiler import feature_of
from kg_reasoner.terms import RDF, Term, term_from_text, term_text

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["FactFrames"]

SMALL: Final = 100_000
"""The maximum number of triples that are read where they are at each use, instead of being extracted."""

ROWS_OF_A_FILE: Final = 2_000_000
"""The number of rows of a file that is made of smaller ones."""


class FactFrames:
    """The facts of a run.

    Args:
        spark: The session.
        properties: The rules that copy triples from properties to others.
        masks: The rules about one term.
        workspace: The folder for intermediate steps.
        base: All triples that were given or stated.
        statistics: How many of them there are of each property and class.
        relations: Facts of general predicates that were given.
        representatives: Those to which facts are rewritten, or None.
        is_open: Whether rules ask for triples of any property or class. Then all triples are written out, what properties and masks
            imply among them, so that these rules need not put them together each time.
    """

    def __init__(
        self,
        spark: SparkSession,
        properties: PropertyPass,
        masks: MaskPass,
        workspace: WorkDirectory,
        base: DataFrame,
        statistics: Statistics,
        relations: Mapping[str, DataFrame],
        *,
        is_open: bool = False,
        representatives: Representatives | None = None,
    ) -> None:
        self.spark = spark
        self.representatives = representatives
        self.properties = properties
        self.features = masks
        self.workspace = workspace
        self.statistics = statistics
        self.base = base
        self._compactions = 0
        self.derived = Growing(compacted=self._compacted)
        self._new_properties: set[Term] = set()
        """Of the triples that the last iteration derived."""
        self._is_open = is_open
        self.closed = Growing()
        """All triples, if rules are open."""
        self.masks = MaskTable(masks, workspace)
        self._extracts: dict[Term, DataFrame] = {}
        self._heavy: Heavy = {}
        self._axioms: dict[int, DataFrame] = {}
        self.views = Views(spark, properties, masks, self.masks)
        self.relations: dict[int, Growing] = {}
        self._sizes = Counter(dict.fromkeys(relations, SMALL))
        self._new_facts: Counter[str] = Counter()
        """The approximate number of facts of general predicates, and the number of these from the last iteration."""
        by_arity: dict[int, list[DataFrame]] = {}
        for predicate, rows in relations.items():
            by_arity.setdefault(len(rows.columns), []).append(as_relation(predicate, rows))
        for arity, frames in by_arity.items():
            self.relations[arity] = Growing(union(frames), self._compacted)

    # --- features of triples ------------------------------------------------------------------------------------------

    def begin(self) -> None:
        """Compute the masks of terms, with one shuffle."""
        if self.features.features:
            self.masks.begin(self.views.features_of(self.base))
        if self._is_open:
            implies = bool(self.properties.implied or self.features.features)
            step = self.workspace.step("closed", lambda: self._closure(self.base, "all")) if implies else None
            self.closed = Growing(self.base if step is None else step.rows, self._compacted)

    def _closure(self, triples: DataFrame, part: Part) -> DataFrame:
        """Return triples, their consequences by properties, and the types encoded in masks, without duplicates."""
        found = union(filter(None, (triples, self.views.implied(triples), self._types(part))))
        assert found is not None
        return found.distinct()

    # --- matching -----------------------------------------------------------------------------------------------------

    def has(self, atom: Atom, part: Part) -> bool:
        """Return whether facts may match an atom."""
        return self.size(atom, part) > 0

    def size(self, atom: Atom, part: Part, properties: frozenset[Term] | None = None) -> int:
        """Return the approximate number of facts that match an atom; 0 only if there are none.

        `properties` are those that an atom about triples is about; None for any.
        """
        if atom.predicate != TRIPLE:
            new, size = self._new_facts[atom.predicate], self._sizes[atom.predicate]
            return new if part == "delta" else size - new if part == "old" else size
        if properties is None and not isinstance(atom.terms[1], Variable):
            properties = frozenset([atom.terms[1]])
        is_open = properties is None or RDF.type in properties
        if part == "delta":
            sources = (source for property in properties or () for source, _ in self.views.sources(property))
            has_new = properties is None or any(source in self._new_properties for source in sources)
            return (self.derived.delta_count if has_new else 0) + (len(self.masks.delta_sizes) if is_open else 0)
        if is_open:
            return self.statistics.total + 1
        size = SMALL if self.derived.has(part) else 0
        for source in {source for property in properties or () for source, _ in self.views.sources(property)}:
            size += self.statistics.count(source)
        return size

    def new_keys(self) -> set[Key]:
        """Return the keys of the facts of the last iteration, and possibly more."""
        new = self._new_properties if self.derived.delta_count else ()
        found: set[Key] = {(TRIPLE, property, None) for property in new}
        found.update((predicate, None, None) for predicate, count in self._new_facts.items() if count)
        atoms = list(self.features.bits)
        numbers = {number for _, number in self.masks.delta_sizes}
        return found | {key_of(atoms[bit]) for number in numbers for bit in self.masks.masks.of(number)}

    def count_at_least(self, keys: Iterable[Key], features: Iterable[int]) -> int:
        """Return a lower bound of the number of facts that keys are about, and of terms with features, without a job."""
        properties = {property for predicate, property, _ in keys if predicate == TRIPLE and property != RDF.type}
        given = self.statistics.total if None in properties else sum(self.statistics.count(some) for some in properties if some)
        choices = [Choice(frozenset([bit])) for bit in features]
        return given + (self.masks.size(choices, "all") if choices else 0)

    def estimate(self) -> int:
        """Return about how many triples there are, given and derived, without a job."""
        implied = sum(self.statistics.count(source) * len(targets) for source, targets in self.properties.implied.items())
        typed = sum(count * len(self.masks.masks.of(number)) for number, count in self.masks.sizes.items())
        return self.statistics.total + implied + typed + self.derived.count

    def match(
        self, atom: Atom, part: Part, names: Mapping[Variable, str], properties: frozenset[Term] | None = None
    ) -> DataFrame | None:
        """Return the values of an atom's variables for all matching facts, in columns with their names, or None.

        `properties` are those that an atom about triples is about; None for any.
        """
        if atom.predicate != TRIPLE:
            return self._match_relation(atom, part, names)
        subject, property, value = atom.terms
        if property == RDF.type and not isinstance(value, Variable) and (bit := self.features.classes.get(value)) is not None:
            terms = self.masks.terms(Choice(frozenset([bit])), part)
            return None if terms is None else matched(terms, (TERM,), (subject,), names)
        if property == RDF.type or (properties is None and isinstance(property, Variable)):
            rows = self.closed.rows(part)
            return None if rows is None else matched(rows, TRIPLE_COLUMNS, atom.terms, names)
        if isinstance(property, Variable) and properties is not None:
            rows = self.triples_of(properties, part)
            return None if rows is None else matched(rows, TRIPLE_COLUMNS, atom.terms, names)
        pairs = self.pairs(property, part)  # type: ignore[arg-type]  # a constant
        return None if pairs is None else matched(pairs, (SUBJECT, OBJECT), (subject, value), names)

    def parameters(self, axioms: Axioms, names: Mapping[Variable, str]) -> DataFrame:
        """Return the table of axioms of one shape, with a column for each parameter."""
        from pyspark.sql import functions as F

        rows = self._axioms.get(id(axioms))
        if rows is None:
            texts = [tuple(value if isinstance(value, int) else term_text(value) for value in row) for row in axioms.rows]
            kinds = ("string" if parameter in axioms.domains else "long" for parameter in axioms.parameters)
            fields = (f"{names[parameter]} {kind}" for parameter, kind in zip(axioms.parameters, kinds, strict=True))
            rows = self._axioms[id(axioms)] = local_frame(self.spark, texts, ", ".join(fields))
        return F.broadcast(rows) if len(axioms.rows) < FEW else rows

    def triples_of(self, properties: frozenset[Term], part: Part) -> DataFrame | None:
        """Return the triples of some properties, including those implied by other properties, possibly with duplicates."""
        from pyspark.sql import functions as F

        if self._is_open:
            rows = self.closed.rows(part)
            return None if rows is None else rows.where(F.col(PREDICATE).isin(sorted(map(term_text, properties))))
        sources = {source for property in properties for source, _ in self.views.sources(property)}
        texts = sorted(map(term_text, sources))
        rows = union(rows.where(F.col(PREDICATE).isin(texts)) for rows in self._rows_of(sorted(sources, key=str), part))
        return None if rows is None else self.views.of_properties(rows, properties)

    def pairs(self, property: Term, part: Part) -> DataFrame | None:
        """Return the subjects and objects of a property, including those implied by other properties, possibly with duplicates."""
        from pyspark.sql import functions as F

        if self._is_open:
            rows = self.closed.rows(part)
            return None if rows is None else rows.where(F.col(PREDICATE) == term_text(property)).select(SUBJECT, OBJECT)
        frames = []
        for swapped in (False, True):
            sources = [source for source, turns in self.views.sources(property) if turns == swapped]
            ends = (F.col(OBJECT).alias(SUBJECT), F.col(SUBJECT).alias(OBJECT)) if swapped else (F.col(SUBJECT), F.col(OBJECT))
            for rows in self._rows_of(sources, part):
                frames.append(rows.where(F.col(PREDICATE).isin([term_text(source) for source in sources])).select(*ends))
        return union(frames)

    def _rows_of(self, properties: Sequence[Term], part: Part) -> list[DataFrame]:
        """Return tables that together contain all triples of some properties."""
        found: list[DataFrame] = []
        if part != "delta":
            given = [property for property in properties if self.statistics.count(property)]
            places = {id(frame): frame for frame in (self._extracts.get(property, self.base) for property in given)}
            found += places.values()
        if properties and (derived := self.derived.rows(part)) is not None:
            found.append(derived)
        return found

    def extract(self, properties: Iterable[Term], name: str) -> None:
        """Store the given triples of some properties, and of properties that imply them, separately."""
        from pyspark.sql import functions as F

        wanted = {source for property in properties for source, _ in self.views.sources(property)} - self._extracts.keys()
        wanted = {property for property in wanted if self.statistics.count(property)}
        if not wanted or self.statistics.total < SMALL:
            return
        texts = sorted(map(term_text, wanted))
        step = self.workspace.step(name, lambda: self.base.where(F.col(PREDICATE).isin(texts)))
        self._extracts.update(dict.fromkeys(wanted, step.rows))
        many = sorted(term_text(property) for property in wanted if self.statistics.count(property) > LEAST)
        if many:
            self._heavy.update(heavy_terms(step.rows.where(F.col(PREDICATE).isin(many))))

    def heavy(self, properties: Iterable[Term], end: str) -> frozenset[str]:
        """Return the terms that many triples of some properties, or of those that imply them, have as subject or object."""
        found: frozenset[str] = frozenset()
        if self._heavy:
            other = OBJECT if end == SUBJECT else SUBJECT
            for source, swapped in {some for property in properties for some in self.views.sources(property)}:
                found |= self._heavy.get((term_text(source), other if swapped else end), frozenset())
        return found

    def _types(self, part: Part) -> DataFrame | None:
        """Return the types encoded in masks, as triples."""
        rows = self.masks.rows(part)
        if rows is None or not self.features.classes:
            return None
        return self.views.types_of(rows, "n" if part == "delta" else "m", self.masks.values(part))

    def _match_relation(self, atom: Atom, part: Part, names: Mapping[Variable, str]) -> DataFrame | None:
        from pyspark.sql import functions as F

        if atom.predicate in self.features.predicates:
            found = feature_of(atom, self.features.bits)
            terms = None if found is None else self.masks.terms(Choice(frozenset([found[1]])), part)
            return None if terms is None or found is None else matched(terms, (TERM,), (found[0],), names)
        table = self.relations.get(atom.arity)
        rows = None if table is None else table.rows(part)
        if rows is None:
            return None
        return matched(rows.where(F.col(RELATION) == atom.predicate), argument_columns(atom.arity), atom.terms, names)

    def with_new(self, properties: Iterable[Term]) -> frozenset[Term]:
        """Return the properties that have new triples, of their own or by properties that imply them."""
        new = self._new_properties
        return frozenset(some for some in properties if any(source in new for source, _ in self.views.sources(some)))

    def not_reached_by(self, others: Set[Term], closed: Set[Term]) -> frozenset[Term]:
        """Return those of some closed properties whose triples only their own closure has added to."""
        return frozenset(
            some
            for some in closed
            if not any(source in others or (source in closed and source != some) for source, _ in self.views.sources(some))
        )

    # --- growing ------------------------------------------------------------------------------------------------------

    def facts_of(self, predicate: str, arity: int) -> DataFrame | None:
        """Return all facts of a general predicate in columns a0, a1 ..., or None."""
        from pyspark.sql import functions as F

        frames = []
        for feature, bit in self.features.bits.items():
            if feature.predicate == predicate and (terms := self.masks.terms(Choice(frozenset([bit])), "all")) is not None:
                columns = (F.col(TERM) if term == X else F.lit(term_text(term)) for term in feature.terms)  # type: ignore[arg-type]
                frames.append(terms.select(*(column.alias(f"a{place}") for place, column in enumerate(columns))))
        table = self.relations.get(arity)
        if table is not None and (rows := table.rows("all")) is not None:
            frames.append(rows.where(F.col(RELATION) == predicate).select(*argument_columns(arity)))
        return union(frames)

    def absorb(self, name: str, found: Candidates) -> int:
        """Add the new facts among the candidates as the step of an iteration, and return their number."""
        from pyspark.sql import functions as F

        features = list(found.features)
        triples = list(found.triples)
        heads: set[Term] | None = found.heads
        if (candidates := union(found.open_triples)) is not None:
            step = self.workspace.step(f"{name}-open", candidates.distinct)
            heads = None if self._is_open else found.heads | _properties_of(step)
            open_triples = step.rows
            classes = [term_text(cls) for cls in self.features.classes]
            in_masks = (F.col(PREDICATE) == TYPE) & F.col(OBJECT).isin(classes) if classes else F.lit(False)
            triples.append(open_triples.where(~in_masks))
            if classes and (rows := self.views.features_of(open_triples.where(in_masks))) is not None:
                features.append(rows)
        count = self._absorb_triples(f"{name}-triples", union(triples), union(found.new_triples), heads)
        self._new_facts = Counter()
        for arity in sorted(set(self.relations) | set(found.relations)):
            count += self._absorb_relation(f"{name}-relations-{arity}", arity, found.relations.get(arity, {}))
        new = self.derived.rows("delta")
        if new is not None and self.features.features and (rows := self.views.features_of(new)) is not None:
            features.append(rows)
        count += self.masks.absorb(name, union(features))
        if self._is_open:
            self._absorb_closed(f"{name}-closed", count)
        return count

    def suppose(self, triples: StoredStep | None, relations: Mapping[int, StoredStep]) -> None:
        """Treat existing facts as the delta of the last iteration, so that they trigger rules."""
        self._new_properties = set() if triples is None else _properties_of(triples)
        for table in (self.closed, self.derived):
            table.advance(triples)
        self._new_facts = Counter()
        for arity, table in self.relations.items():
            step = relations.get(arity)
            table.advance(step)
            if step is not None:
                self._count(step)

    def _absorb_closed(self, name: str, count: int) -> None:
        """Write out the delta of an iteration, if rules are open."""
        new = self.derived.rows("delta")
        types = self._types("delta")
        if not count or (new is None and types is None):
            self.closed.advance(None)
            return
        found = self._closure(new, "delta") if new is not None else types
        assert found is not None
        self.closed.advance(self._novel(name, found, self.closed.rows("all"), TRIPLE_COLUMNS))

    def _absorb_triples(self, name: str, candidates: DataFrame | None, new: DataFrame | None, heads: set[Term] | None) -> int:
        """Add candidate triples, and others that are new. `heads` are their properties, or None if they can have any."""
        self._new_properties = heads or set()
        if candidates is None and new is None:
            self.derived.advance(None)
            return 0
        if candidates is not None:
            known = self.closed.rows("all") if heads is None else self.triples_of(frozenset(heads), "all")
            step = self._novel(name, candidates, known, TRIPLE_COLUMNS)
            new = None if new is None else new.unionByName(step.rows)
        if new is not None:
            rows = new
            step = self.workspace.step(f"{name}-together", lambda: rows)
        if heads is None:
            self._new_properties = _properties_of(step)
        self.derived.advance(step)
        return step.count

    def _novel(self, name: str, candidates: DataFrame, known: DataFrame | None, columns: Sequence[str]) -> StoredStep:
        """Store the candidates that are not known, without duplicates. Known facts are not shuffled for few candidates: those that
        are among the candidates are found where they are.
        """
        from pyspark.sql import functions as F

        if known is None:
            return self.workspace.step(name, candidates.distinct)
        if self.statistics.total < SMALL:
            return self.workspace.step(name, lambda: candidates.distinct().join(known, list(columns), "left_anti"))
        found = self.workspace.step(f"{name}-candidates", candidates.distinct)
        if not found.count:
            return found
        rivals = known if found.count >= FEW else F.broadcast(known.join(F.broadcast(found.rows), list(columns), "left_semi"))
        return self.workspace.step(name, lambda: found.rows.join(rivals, list(columns), "left_anti"))

    def _compacted(self, steps: Sequence[StoredStep]) -> StoredStep:
        """Store the rows of several steps as one."""
        self._compactions += 1
        rows = sum(step.count for step in steps)
        files = 1 + rows // ROWS_OF_A_FILE
        return self.workspace.step(f"compacted-{self._compactions}", lambda: rows_of(steps).coalesce(files))

    def _absorb_relation(self, name: str, arity: int, found: Mapping[str, Sequence[DataFrame]]) -> int:
        table = self.relations.setdefault(arity, Growing(compacted=self._compacted))
        candidates = union(frame for frames in found.values() for frame in frames)
        if candidates is None:
            table.advance(None)
            return 0
        known = table.rows("all")
        step = self._novel(name, candidates, known, (RELATION, *argument_columns(arity)))
        table.advance(step)
        self._count(step, found)
        return step.count

    def _count(self, step: StoredStep, predicates: Iterable[str] = ()) -> None:
        """Count the new facts of each predicate; `predicates` are those that they may have, if this is known. As for properties,
        this is cheaper than rules that read a predicate in vain.
        """
        possible = list(predicates)
        new: Counter[str] = Counter()
        if step.count and len(possible) == 1:
            new[possible[0]] = step.count
        elif step.count:
            new.update({row[RELATION]: row["count"] for row in step.rows.groupBy(RELATION).count().collect()})
        self._new_facts += new
        self._sizes += new


def _properties_of(triples: StoredStep) -> set[Term]:
    """Return the properties of stored triples: determining them is cheaper than rules that read a property in vain."""
    if not triples.count:
        return set()
    return {term_from_text(row[PREDICATE]) for row in triples.rows.select(PREDICATE).distinct().collect()}
