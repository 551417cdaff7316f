"""The masks of all terms as a growing table: Spark gathers features, the driver closes and numbers each distinct mask once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

from kg_reasoner.spark_backend.exec.facts.encodings import encoding_for
from kg_reasoner.spark_backend.exec.facts.growing_table import Part
from kg_reasoner.spark_backend.io.columns import TERM, local_frame
from kg_reasoner.spark_backend.io.workspace import StoredStep, WorkDirectory, rows_of
from kg_reasoner.spark_backend.plan.logical_plan import Choice, MaskPass
from kg_reasoner.spark_backend.plan.masks import Mask, Masks

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

__all__ = ["CHOICE", "FEW", "MOST_MASKS", "MaskTable", "TooManyMasks"]

FEW: Final = 200_000
"""The maximum number of rows of one column that are sent to every executor instead of being shuffled."""

MOST_MASKS: Final = 300_000
"""The maximal number of distinct masks that the driver closes."""

CHOICE: Final = "choice"
"""The column of the choice of features that a term fits."""


class TooManyMasks(Exception):  # not an error: the run goes on without masks
    """The terms have more distinct sets of features than the driver can close."""


class MaskTable:
    """The number of each term's closed mask, in the column m.

    The first step has the features as they were given, from which the closed mask and that of the new features (n) are looked up.
    Each later iteration adds one with the terms that candidates are about: the mask as it was (m), and what the candidates added,
    from which the new mask and its new features are looked up. Where nothing is new, the lookup finds nothing, and there is no row.
    """

    def __init__(self, plan: MaskPass, workspace: WorkDirectory) -> None:
        self.close = plan.closure()
        self.masks = Masks()
        self.encoding = encoding_for(workspace.spark, len(plan.features))
        self._spark = workspace.spark
        self._workspace = workspace
        self._first: DataFrame | None = None
        self._later: list[StoredStep] = []
        self._answers: dict[tuple[int, Mask], tuple[int, int]] = {}
        self._new: set[int] = set()
        self._has_delta = False
        self.sizes: Counter[int] = Counter()
        """The number of terms with each closed mask."""
        self.delta_sizes: Counter[tuple[int, int]] = Counter()
        """The number of terms that got each closed mask in the last iteration, with the mask of the new features."""

    # --- growing ------------------------------------------------------------------------------------------------------

    def begin(self, features: DataFrame | None) -> None:
        """Add the given features, in rows of the encoding.

        Raises:
            TooManyMasks: The driver would have to close more than `MOST_MASKS`.
        """
        if features is None:
            return
        step = self._workspace.step("masks", lambda: self.encoding.gathered(features))
        answers = []
        for row in self._counted(step.rows, []):
            given = self.encoding.mask(row)
            closed = self.close(given)
            number, new = self.masks.number(closed), self.masks.number(closed - given)
            self.sizes[number] += row["count"]
            self._new.add(new)
            answers.append((*self.encoding.key(given), number, new))
        if step.count:
            self._first = self._looked_up(step.rows, answers, [])

    def absorb(self, name: str, features: DataFrame | None) -> int:
        """Add features, in rows of the encoding. Return the number of changed terms."""
        self._has_delta, self.delta_sizes = False, Counter()
        if features is None:
            return 0
        gathered = self._workspace.step(f"{name}-gathered", lambda: self.encoding.gathered(features))
        if not gathered.count:
            return 0
        candidates = self._workspace.step(f"{name}-features", lambda: self._beside_known(gathered))
        if not candidates.count:
            return 0
        changed = 0
        for row in self._counted(candidates.rows, ["m"]):
            before, count = self.masks.of(row["m"]), row["count"]
            added = self.encoding.mask(row)
            closed = self.close(before | added)
            if closed == before:
                continue
            number, new = self.masks.number(closed), self.masks.number(closed - before)
            self._answers[row["m"], added] = number, new
            self._new.add(new)
            self.sizes[row["m"]] -= count if row["m"] else 0
            self.sizes[number] += count
            self.delta_sizes[number, new] += count
            changed += count
        if changed:
            self._later.append(candidates)
            self._has_delta = True
        return changed

    def _changes(self, steps: Sequence[StoredStep]) -> DataFrame | None:
        """Return the changes of some iterations: terms with new masks and new features, a row for each change of a term."""
        if not steps:
            return None
        answers = [(*self.encoding.key(added), before, *answer) for (before, added), answer in self._answers.items()]
        return self._looked_up(rows_of(steps), answers, ["m"])

    def _beside_known(self, step: StoredStep) -> DataFrame:
        """Return candidates with the current masks of their terms. Known masks are not shuffled for few candidates."""
        from pyspark.sql import functions as F

        known, candidates = self.rows("all"), step.rows
        if known is not None and step.count < FEW:
            known = F.broadcast(known.join(F.broadcast(candidates.select(TERM)), TERM, "left_semi"))
        none = F.lit(0).cast("long")
        if known is None:
            return candidates.select(TERM, none.alias("m"), *self.encoding.keys)
        return candidates.join(known, TERM, "left").select(TERM, F.coalesce("m", none).alias("m"), *self.encoding.keys)

    def _counted(self, rows: DataFrame, further: Sequence[str]) -> list[dict[str, Any]]:
        """Return the distinct masks of rows, with the number of rows of each."""
        found = rows.groupBy(*self.encoding.keys, *further).count().limit(MOST_MASKS + 1).collect()
        if len(found) > MOST_MASKS:
            raise TooManyMasks
        names = (*self.encoding.keys, *further, "count")
        return [{name: row[name] for name in names} for row in found]

    def _looked_up(self, rows: DataFrame, answers: Sequence[tuple[object, ...]], further: Sequence[str]) -> DataFrame:
        """Return terms with the masks that the driver found."""
        from pyspark.sql import functions as F

        keys = [*self.encoding.keys, *further]
        kinds = [self.encoding.key_type] * len(self.encoding.keys) + ["long"] * len(further)
        fields = [f"k_{name} {kind}" for name, kind in zip(keys, kinds, strict=True)]
        lookup = F.broadcast(local_frame(self._spark, answers, ", ".join([*fields, "r_m long", "r_n long"])))
        joined = rows.join(lookup, [rows[name] == lookup[f"k_{name}"] for name in keys])
        return joined.select(rows[TERM].alias(TERM), lookup["r_m"].alias("m"), lookup["r_n"].alias("n"))

    # --- reading ------------------------------------------------------------------------------------------------------

    def rows(self, part: Part) -> DataFrame | None:
        """Return the masks of a part: all terms with their current or old masks, or the changed terms with new features (n)."""
        from pyspark.sql import functions as F

        if part == "delta":
            return self._changes(self._later[-1:]) if self._has_delta else None
        steps = self._later[:-1] if part == "old" and self._has_delta else self._later
        base = None if self._first is None else self._first.select(TERM, "m")
        newer = self._changes(steps)
        if newer is None:
            return base
        # A term's masks grow, and so do their numbers.
        newer = newer.select(TERM, "m") if len(steps) == 1 else newer.groupBy(TERM).agg(F.max("m").alias("m"))
        if base is None:
            return newer
        few = sum(step.count for step in steps) < FEW
        changed = newer.select(TERM)
        return base.join(F.broadcast(changed) if few else changed, TERM, "left_anti").unionByName(newer)

    def values(self, part: Part) -> set[int]:
        """Return the possible masks of `rows`: new features in a delta, else current or old masks."""
        return {new for _, new in self.delta_sizes} if part == "delta" else set(self.sizes)

    def inferred(self) -> tuple[list[DataFrame], set[int]]:
        """Return the derived features: tables of terms with new features (n), and the possible values of these."""
        tables = (self._first, self._changes(self._later))
        return [rows.select(TERM, "n") for rows in tables if rows is not None], self._new

    def terms(self, choice: Choice, part: Part) -> DataFrame | None:
        """Return the terms whose features fit a choice; in a delta, those that fit since the last iteration."""
        from pyspark.sql import functions as F

        rows = self.rows(part)
        size = self.size([choice], part)
        if rows is None or not size:
            return None
        fits = list(self._fits([choice], part))
        found = rows.where(self._among("m", {number for _, number, _ in fits}))
        if part == "delta":
            found = found.where(self._among("n", {new for _, _, new in fits}))
        found = found.select(TERM)
        return F.broadcast(found) if size < FEW else found

    def _among(self, name: str, numbers: set[int]) -> Column:
        from pyspark.sql import functions as F

        return F.col(name).isin(sorted(numbers))

    def terms_of(self, choices: Sequence[Choice], part: Part) -> DataFrame | None:
        """Return the terms whose features fit some choices, with the number of the choice."""
        from pyspark.sql import functions as F

        rows = self.rows(part)
        size = self.size(choices, part)
        if rows is None or not size:
            return None
        names = ["m", "n"] if part == "delta" else ["m"]
        table = sorted({(place, number, new)[: 1 + len(names)] for place, number, new in self._fits(choices, part)})
        schema = ", ".join(f"{name} long" for name in (CHOICE, *names))
        found = rows.select(TERM, *names).join(F.broadcast(local_frame(self._spark, table, schema)), names).select(TERM, CHOICE)
        return F.broadcast(found) if size < FEW else found

    def size(self, choices: Sequence[Choice], part: Part) -> int:
        """Return the number of rows of `terms` or `terms_of` (an upper bound for older parts)."""
        fits = self._fits(choices, part)
        if part == "delta":
            return sum(self.delta_sizes[number, new] for _, number, new in fits)
        return sum(self.sizes[number] for _, number, _ in fits)

    def _fits(self, choices: Sequence[Choice], part: Part) -> Iterator[tuple[int, int, int]]:
        """Yield the masks that fit: the numbers of the choice, of the mask, and of its new part (0 except in a delta)."""
        by_feature: dict[int, list[int]] = {}
        for place, choice in enumerate(choices):
            by_feature.setdefault(min(choice.required, default=-1), []).append(place)
        found = self.delta_sizes if part == "delta" else ((number, 0) for number in self.sizes)
        for number, new in found:
            mask, added = self.masks.of(number), self.masks.of(new)
            for feature in (-1, *mask):
                for place in by_feature.get(feature, ()):
                    choice = choices[place]
                    fits = choice.required <= mask and mask.isdisjoint(choice.forbidden)
                    if fits and (part != "delta" or not added.isdisjoint(choice.required)):
                        yield place, number, new
