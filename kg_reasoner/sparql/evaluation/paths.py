"""Property paths as tables of pairs (SPARQL 1.1 Query, section 18.4).

A path is followed from known nodes, from either end, or everywhere. Pairs have multiplicities, except those of repetitions
(``* + ?``), which hold once.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from kg_reasoner.concurrency.limits import current_watch
from kg_reasoner.data_classes import dataclass
from kg_reasoner.program import Variable
from kg_reasoner.sparql import algebra
from kg_reasoner.sparql.algebra import Path, TriplePattern
from kg_reasoner.sparql.evaluation.pattern_matcher import PatternMatcher
from kg_reasoner.sparql.solutions.table import Table
from kg_reasoner.storage.arrays import Flags, Ids, Numbers
from kg_reasoner.storage.grouping import gathered, group_rows, pair_rows
from kg_reasoner.storage.recursion.closures import reached
from kg_reasoner.terms import IRI

__all__ = ["Pairs", "PathFollower", "inverse"]

_FROM, _TO, _BY = Variable("from"), Variable("to"), Variable("by")

FIRST: Final = 16
"""A number of pairs that are looked for from one start after the other."""

GROWTH: Final = 16
"""The factor by which more steps are looked at than starts are wanted, and then more each time."""

FEW: Final = 4
"""The maximal number of nodes from which a repetition is followed step by step instead of over all steps at once."""

ROUNDS: Final = 32
"""The number of steps after which a repetition of simple steps is no longer followed step by step."""


@dataclass(frozen=True, slots=True)
class Pairs:
    """Pairs of nodes."""

    starts: Ids
    ends: Ids

    def __len__(self) -> int:
        return len(self.starts)

    def flipped(self) -> Pairs:
        return Pairs(self.ends, self.starts)

    def once(self) -> Pairs:
        """Return the different pairs."""
        _, firsts = group_rows(np.stack([self.starts, self.ends], axis=1))
        return Pairs(self.starts[firsts], self.ends[firsts])


def inverse(path: Path) -> Path:
    """Return the path in the other direction."""
    if isinstance(path, algebra.Inverse):
        return path.path
    if isinstance(path, algebra.Sequence):
        return algebra.Sequence(tuple(inverse(step) for step in reversed(path.paths)))
    if isinstance(path, algebra.Alternative):
        return algebra.Alternative(tuple(map(inverse, path.paths)))
    if isinstance(path, algebra.Repeat):
        return algebra.Repeat(inverse(path.path), path.least, path.is_endless)
    if isinstance(path, algebra.Negated):
        return algebra.Negated(path.backwards, path.forwards)
    return algebra.Inverse(path)


class PathFollower:
    """Follows paths in one place.

    Args:
        matcher: Matches patterns in the place.
    """

    def __init__(self, matcher: PatternMatcher) -> None:
        self._matcher = matcher
        self._nodes: Ids | None = None

    def nodes(self) -> Ids:
        """Return the subjects and objects of all triples."""
        if self._nodes is None:
            triples = self._matcher.solve([(_FROM, _BY, _TO)], {"from", "to"})
            self._nodes = np.unique(np.concatenate([triples.column("from"), triples.column("to")]))
        return self._nodes

    def are_nodes(self, ids: Ids) -> Flags:
        """Return whether each of some ids is the subject or object of a triple."""
        return np.isin(ids, self.nodes())

    def pairs(self, path: Path, starts: Ids | None = None, enough: int | None = None) -> Pairs:
        """Return the pairs that a path connects.

        Args:
            path: The path.
            starts: Different nodes from which it starts; by default, all.
            enough: A sufficient number of pairs; by default, all.
        """
        if isinstance(path, algebra.Inverse) and not isinstance(path.path, IRI):
            return self.pairs(inverse(path.path), starts)
        if isinstance(path, (IRI, algebra.Inverse)):
            return self._step(_triple(path), starts)
        if isinstance(path, algebra.Sequence):
            return self._sequence(path, starts)
        if isinstance(path, algebra.Alternative):
            return _together([self.pairs(each, starts) for each in path.paths])
        if isinstance(path, algebra.Repeat):
            return self._repeated(path, starts, enough)
        return self._negated(path, starts)

    def _step(self, triple: TriplePattern, starts: Ids | None) -> Pairs:
        if starts is not None and self._matcher.extends([triple]):
            rows, found = self._matcher.extend(Table({"from": starts}, len(starts)), ["from"], [triple])
            return Pairs(starts[rows], found.column("to"))
        table = self._matcher.solve([triple])
        return _among(Pairs(table.column("from"), table.column("to")), starts)

    def _sequence(self, path: algebra.Sequence, starts: Ids | None) -> Pairs:
        found = self.pairs(path.paths[0], starts)
        for step in path.paths[1:]:
            between = np.unique(found.ends)
            following = self.pairs(step, between)
            rows, others = pair_rows(found.ends[:, None], following.starts[:, None])
            found = Pairs(gathered(found.starts, rows), gathered(following.ends, others))
        return found

    def _negated(self, path: algebra.Negated, starts: Ids | None) -> Pairs:
        table = self._matcher.solve([(_FROM, _BY, _TO)])
        found: list[Pairs] = []
        pairs = Pairs(table.column("from"), table.column("to"))
        for properties, directed in ((path.forwards, pairs), (path.backwards, pairs.flipped())):
            if properties or (directed is pairs and not path.backwards):
                excluded = self._matcher.ids(properties)
                kept = ~np.isin(table.column("by"), excluded)
                found.append(_among(Pairs(directed.starts[kept], directed.ends[kept]), starts))
        return _together(found)

    # --- repetitions ------------------------------------------------------------------------------------------------

    def _repeated(self, path: algebra.Repeat, starts: Ids | None, enough: int | None) -> Pairs:
        found = self._closure(path.path, starts, enough) if path.is_endless else self.pairs(path.path, starts)
        if path.least:
            return found.once()
        zero = self.nodes() if starts is None else starts
        return _together([Pairs(zero, zero), found]).once()

    def _closure(self, path: Path, starts: Ids | None, enough: int | None) -> Pairs:
        if starts is not None and len(starts) <= FEW:
            return _together([self._followed(path, starts[place : place + 1]) for place in range(len(starts))])
        if starts is None and enough is not None and enough <= FIRST:
            return self._first(path, enough)
        return self._over_all_steps(path, starts, enough)

    def _first(self, path: Path, enough: int) -> Pairs:
        """Return a sufficient number of pairs, from one start after the other; all if there are fewer."""
        starts, found, total = self._some_starts(path, enough), list[Pairs](), 0
        for place in range(len(starts)):
            found.append(self._followed(path, starts[place : place + 1]))
            total += len(found[-1])
            if total >= enough:
                break
        return _together(found)

    def _some_starts(self, path: Path, enough: int) -> Ids:
        """Return a sufficient number of different nodes where a path starts; all if there are fewer."""
        if not (isinstance(path, IRI) or (isinstance(path, algebra.Inverse) and isinstance(path.path, IRI))):
            return np.unique(self.pairs(path).starts)
        limit = GROWTH * enough
        while True:
            steps = self._matcher.solve([_triple(path)], {"from"}, limit).column("from")
            starts = np.unique(steps)
            if len(starts) >= enough or len(steps) < limit:
                return starts
            limit *= GROWTH

    def _over_all_steps(self, path: Path, starts: Ids | None, enough: int | None = None) -> Pairs:
        steps = self.pairs(path)
        origins = np.unique(steps.starts) if starts is None else starts
        numbers, ends = reached(steps.starts, steps.ends, origins, current_watch().check, enough)
        return Pairs(origins[numbers], ends)

    def _followed(self, path: Path, start: Ids) -> Pairs:
        """Follow a path from one node, from each newly reached one in turn (semi-naive evaluation)."""
        if isinstance(path, IRI) or (isinstance(path, algebra.Inverse) and isinstance(path.path, IRI)):
            found = self._matcher.reached(_triple(path), int(start[0]))
            if found is not None:
                return Pairs(np.repeat(start, len(found)), found)
        known = delta = np.unique(self.pairs(path, start).ends)
        rounds = 1
        while len(delta):
            if rounds == ROUNDS and _is_simple(path):
                return self._over_all_steps(path, start)
            ends = np.unique(self.pairs(path, delta).ends)
            delta = ends[~_contains(known, ends)]
            known = np.insert(known, np.searchsorted(known, delta), delta)
            rounds += 1
            current_watch().check(len(known), known.nbytes)
        return Pairs(np.repeat(start, len(known)), known.astype(np.int32))


def _triple(path: IRI | algebra.Inverse) -> TriplePattern:
    """Return the pattern of a step along a property or against it."""
    if isinstance(path, IRI):
        return _FROM, path, _TO
    assert isinstance(path.path, IRI)
    return _TO, path.path, _FROM


def _is_simple(path: Path) -> bool:
    """Return whether a path has no more pairs than there are triples in both directions, so that all of them can be found."""
    if isinstance(path, algebra.Alternative):
        return all(map(_is_simple, path.paths))
    return isinstance(path, (IRI, algebra.Negated)) or (isinstance(path, algebra.Inverse) and _is_simple(path.path))


def _contains(known: Ids, ids: Ids) -> Numbers:
    """Return a mask of the ids that are among known ones, which are sorted."""
    places = np.searchsorted(known, ids)
    flags: Numbers = (places < len(known)) & (known[np.minimum(places, len(known) - 1)] == ids)
    return flags


def _among(pairs: Pairs, starts: Ids | None) -> Pairs:
    if starts is None:
        return pairs
    kept = np.isin(pairs.starts, starts)
    return Pairs(pairs.starts[kept], pairs.ends[kept])


def _together(parts: list[Pairs]) -> Pairs:
    none = np.empty(0, np.int32)
    found = Pairs(np.concatenate([none, *(part.starts for part in parts)]), np.concatenate([none, *(part.ends for part in parts)]))
    _check(found)
    return found


def _check(pairs: Pairs) -> None:
    current_watch().check(len(pairs), 8 * len(pairs))
