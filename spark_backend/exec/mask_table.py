"""The masks of all terms as a growing table: Spark aggregates and joins, the driver closes each distinct mask once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import reduce
from typing import TYPE_CHECKING, Final

from kg_reasoner.spark_backend.exec.table import Part
from kg_reasoner.spark_backend.io.columns import TERM, local_frame
from kg_reasoner.spark_backend.io.workspace import Step, Workspace, rows_of
from kg_reasoner.spark_backend.plan.masks import from_words, to_words, word_count
from kg_reasoner.spark_backend.plan.plan import MaskPass

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

__all__ = ["FEW", "MaskTable"]

FEW: Final = 200_000
"""So many rows of one column are sent to every executor instead of being shuffled."""


class MaskTable:
    """The closed mask of each term that has a feature, in the columns m0, m1 ...

    The first step has the masks as they were given (g0 ...), from which the closed ones and their new bits (n0 ...) are looked up.
    Each later iteration adds one with the terms whose masks change: the mask as it was (m0 ...) and what candidates added to it
    (c0 ...), from which the new mask and its new bits are looked up.
    """

    def __init__(self, plan: MaskPass, workspace: Workspace) -> None:
        self.count_of_words = word_count(len(plan.features))
        self.close = plan.closure()
        self._workspace = workspace
        self._first: DataFrame | None = None
        self._later: list[Step] = []
        self._answers: dict[tuple[int, int], tuple[int, int]] = {}
        self._new: set[int] = set()
        self._has_delta = False
        self.sizes: Counter[int] = Counter()
        """How many terms have each closed mask."""
        self.delta_sizes: Counter[tuple[int, int]] = Counter()
        """How many terms got each closed mask in the last iteration, with the bits that were new."""

    # --- columns ------------------------------------------------------------------------------------------------------

    def names(self, prefix: str) -> list[str]:
        """Return the columns of one kind of mask."""
        return [f"{prefix}{place}" for place in range(self.count_of_words)]

    def literals(self, mask: int, prefix: str) -> list[Column]:
        """Return a constant mask as columns."""
        from pyspark.sql import functions as F

        words = to_words(mask, self.count_of_words)
        return [F.lit(word).cast("long").alias(name) for name, word in zip(self.names(prefix), words, strict=True)]

    def has(self, mask: int, prefix: str) -> Column:
        """Return whether all bits of a mask are set."""
        return self._each_word(mask, prefix, lambda found, word: found == word)

    def lacks(self, mask: int, prefix: str) -> Column:
        """Return whether no bit of a mask is set."""
        return self._each_word(mask, prefix, lambda found, word: found == 0)

    def _each_word(self, mask: int, prefix: str, test: object) -> Column:
        from pyspark.sql import functions as F

        tests = [
            test(F.col(name).bitwiseAND(F.lit(word).cast("long")), word)  # type: ignore[operator]
            for name, word in zip(self.names(prefix), to_words(mask, self.count_of_words), strict=True)
            if word
        ]
        return reduce(lambda left, right: left & right, tests) if tests else F.lit(True)

    def gathered(self, rows: DataFrame, prefix: str) -> DataFrame:
        """Return one row for each term, with the union of the bits of its rows."""
        from pyspark.sql import functions as F

        return rows.groupBy(TERM).agg(*(F.bit_or(name).alias(name) for name in self.names(prefix)))

    # --- growing ------------------------------------------------------------------------------------------------------

    def begin(self, features: DataFrame | None) -> None:
        """Add the given features, in rows of terms and words g0 ..."""
        if features is None:
            return
        step = self._workspace.step("masks", lambda: self.gathered(features, "g"))
        counts = self._counted(step.rows, ["g"])
        pairs = {given: self.close(given) for (given,) in counts}
        for (given,), count in counts.items():
            self.sizes[pairs[given]] += count
        if step.count:
            answers = [((given,), (closed, closed & ~given)) for given, closed in pairs.items()]
            self._first = self._looked_up(step.rows, ["g"], ["m", "n"], answers)
            self._new.update(new for _, (_, new) in answers)

    def absorb(self, name: str, features: DataFrame | None) -> int:
        """Add features, in rows of terms and words c0 ... Return the number of changed terms."""
        self._has_delta, self.delta_sizes = False, Counter()
        if features is None:
            return 0
        candidates = self._workspace.step(f"{name}-features", lambda: self._novel(self.gathered(features, "c")))
        if not candidates.count:
            return 0
        for (mask, added), count in self._counted(candidates.rows, ["m", "c"]).items():
            closed = self.close(mask | added)
            self._answers[mask, added] = closed, closed & ~mask
            self._new.add(closed & ~mask)
            self.sizes[mask] -= count if mask else 0
            self.sizes[closed] += count
            self.delta_sizes[closed, closed & ~mask] += count
        self._later.append(candidates)
        self._has_delta = True
        return candidates.count

    def _changes(self, steps: Sequence[Step]) -> DataFrame | None:
        """Return the changes of some iterations: terms with new masks and new bits, a row for each change of a term."""
        if not steps:
            return None
        changed = self._looked_up(rows_of(steps), ["m", "c"], ["m", "n"], list(self._answers.items()))
        return changed.select(TERM, *self.names("m"), *self.names("n"))

    def _novel(self, candidates: DataFrame) -> DataFrame:
        """Return the candidates with new bits, beside the current masks."""
        from pyspark.sql import functions as F

        known = self.rows("all")
        if known is None:
            return candidates.select(TERM, *self.literals(0, "m"), *self.names("c"))
        joined = candidates.join(known, TERM, "left")
        pairs = list(zip(self.names("m"), self.names("c"), strict=True))
        new = [F.col(c).bitwiseAND(F.bitwise_not(F.coalesce(F.col(m), F.lit(0).cast("long")))) != 0 for m, c in pairs]
        filled = [F.coalesce(F.col(m), F.lit(0).cast("long")).alias(m) for m, _ in pairs]
        return joined.where(reduce(lambda left, right: left | right, new)).select(TERM, *filled, *self.names("c"))

    def _counted(self, rows: DataFrame, prefixes: Sequence[str]) -> dict[tuple[int, ...], int]:
        """Return the distinct masks in some columns, with the number of rows of each."""
        names = [self.names(prefix) for prefix in prefixes]
        found = rows.groupBy(*(name for some in names for name in some)).count().collect()
        return {tuple(from_words(row[name] for name in some) for some in names): row["count"] for row in found}

    def _looked_up(
        self,
        rows: DataFrame,
        keys: Sequence[str],
        values: Sequence[str],
        answers: Sequence[tuple[tuple[int, ...], tuple[int, ...]]],
    ) -> DataFrame:
        """Return rows extended by the masks that the driver computed for their masks."""
        from pyspark.sql import functions as F

        columns = [f"k_{name}" for key in keys for name in self.names(key)]
        results = [f"r_{name}" for value in values for name in self.names(value)]
        table = [tuple(word for mask in (*key, *value) for word in to_words(mask, self.count_of_words)) for key, value in answers]
        schema = ", ".join(f"{name} long" for name in (*columns, *results))
        lookup = F.broadcast(local_frame(rows.sparkSession, table, schema))
        own = [name for key in keys for name in self.names(key)]
        joined = rows.join(lookup, [rows[one] == lookup[other] for one, other in zip(own, columns, strict=True)])
        made = {name.removeprefix("r_"): name for name in results}
        kept = [rows[name] for name in rows.columns if name not in made]
        return joined.select(*kept, *(lookup[name].alias(short) for short, name in made.items()))

    # --- reading ------------------------------------------------------------------------------------------------------

    def rows(self, part: Part) -> DataFrame | None:
        """Return the masks of a part: all terms with their current or old masks, or the changed terms with new bits n0 ..."""
        from pyspark.sql import functions as F

        if part == "delta":
            return self._changes(self._later[-1:]) if self._has_delta else None
        steps = self._later[:-1] if part == "old" and self._has_delta else self._later
        base = None if self._first is None else self._first.select(TERM, *self.names("m"))
        newer = self._changes(steps)
        if newer is None:
            return base
        newer = newer.select(TERM, *self.names("m")) if len(steps) == 1 else self.gathered(newer, "m")
        if base is None:
            return newer
        few = sum(step.count for step in steps) < FEW
        changed = newer.select(TERM)
        return base.join(F.broadcast(changed) if few else changed, TERM, "left_anti").unionByName(newer)

    def values(self, part: Part) -> set[int]:
        """Return the possible masks of `rows`: new bits in a delta, else current or old masks."""
        return {new for _, new in self.delta_sizes} if part == "delta" else set(self.sizes)

    def inferred(self) -> tuple[list[DataFrame], set[int]]:
        """Return the derived features: tables of terms with new bits n0 ..., and the possible values of these."""
        tables = (self._first, self._changes(self._later))
        return [rows.select(TERM, *self.names("n")) for rows in tables if rows is not None], self._new

    def terms(self, required: int, forbidden: int, part: Part) -> DataFrame | None:
        """Return the terms that have the required and lack the forbidden features; in a delta, those that have them all since the
        last iteration.
        """
        from pyspark.sql import functions as F

        rows = self.rows(part)
        size = self.size(required, forbidden, part)
        if rows is None or not size:
            return None
        found = rows.where(self.has(required, "m"))
        if forbidden:
            found = found.where(self.lacks(forbidden, "m"))
        if part == "delta":
            found = found.where(~self.lacks(required, "n"))
        found = found.select(TERM)
        return F.broadcast(found) if size < FEW else found

    def size(self, required: int, forbidden: int, part: Part) -> int:
        """Return the number of rows of `terms` (an upper bound for older parts)."""
        if part == "delta":
            return sum(n for (mask, new), n in self.delta_sizes.items() if _fits(mask, required, forbidden) and new & required)
        return sum(count for mask, count in self.sizes.items() if _fits(mask, required, forbidden))


def _fits(mask: int, required: int, forbidden: int) -> bool:
    return mask & required == required and not mask & forbidden
