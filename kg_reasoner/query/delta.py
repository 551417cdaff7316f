"""The changes of an update: facts that entered the materialisation, and facts that left it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from kg_reasoner.data_classes import dataclass
from kg_reasoner.program import TRIPLE
from kg_reasoner.query.matching import Which
from kg_reasoner.storage.arrays import Flags, Ids, selected_rows
from kg_reasoner.storage.terms.dictionary import Dictionary
from kg_reasoner.terms import IRI, Literal, Term, Triple

__all__ = ["Change", "Changes", "Delta"]

ABSENT, DERIVED, EXPLICIT = 0, 1, 2
"""The states of a fact before and after an update."""


@dataclass(frozen=True, slots=True, eq=False)
class Change:
    """Changed facts of one predicate.

    Attributes:
        ids: One fact for each row, int32 of shape (n, arity), without duplicates.
        explicit: Whether each fact is asserted (shape (n,)): after the update if it entered, before it if it left.
    """

    ids: Ids
    explicit: Flags

    def __len__(self) -> int:
        return len(self.ids)

    def where(self, chosen: Flags) -> Change:
        """Return the rows for which `chosen` (shape (n,)) is true."""
        return self if chosen.all() else Change(selected_rows(self.ids, chosen), self.explicit[chosen])


class Changes:
    """Changed facts by predicate; RDF triples have the predicate `kg_reasoner.program.TRIPLE`.

    Args:
        dictionary: The dictionary of the ids.
        tables: The facts of each predicate, if there are any. Predicates without facts are omitted.
    """

    __slots__ = ("dictionary", "tables")

    def __init__(self, dictionary: Dictionary, tables: Mapping[str, Change] | None = None) -> None:
        self.dictionary = dictionary
        self.tables: Mapping[str, Change] = (
            {predicate: change for predicate, change in tables.items() if len(change)} if tables else {}
        )

    def __len__(self) -> int:
        return sum(map(len, self.tables.values()))

    def __bool__(self) -> bool:
        return bool(self.tables)

    def __repr__(self) -> str:
        return f"<Changes: {', '.join(f'{len(change)} of {name}' for name, change in self.tables.items()) or 'none'}>"

    def predicates(self) -> list[str]:
        """Return the predicates with changed facts.

        Returns:
            The names.
        """
        return list(self.tables)

    def facts(self, predicate: str, which: Which = "all") -> Iterator[tuple[Term, ...]]:
        """Yield the changed facts of a predicate: all, the explicit, or the inferred ones.

        Args:
            predicate: The name of the predicate.
            which: ``all``, ``explicit``, or ``inferred`` for those that are not explicit.

        Returns:
            An iterator of tuples of terms.
        """
        change = self.tables.get(predicate)
        if change is not None:
            chosen = change if which == "all" else change.where(change.explicit == (which == "explicit"))
            yield from self.dictionary.decode_rows(chosen.ids)

    def triples(self, which: Which = "all") -> Iterator[Triple]:
        """Yield the changed RDF triples.

        Facts with a literal as the subject, or with a property that is not an IRI, are omitted.

        Args:
            which: As for `facts`.

        Returns:
            An iterator of triples.
        """
        for subject, property, value in self.facts(TRIPLE, which):
            if isinstance(property, IRI) and not isinstance(subject, Literal):
                yield subject, property, value


class Delta:
    """The net change of the materialisation by an update.

    A fact that entered and left again is in neither part. Deltas remain valid after later updates, and can be read in other
    threads than the reasoner's.

    Args:
        added: The facts that entered.
        removed: The facts that left.
        restated: Facts that stayed, but are explicit now and were only derived before (`explicit` is true), or vice versa. They do
            not count as changes.
    """

    __slots__ = ("added", "removed", "restated")

    def __init__(self, added: Changes, removed: Changes, restated: Changes | None = None) -> None:
        self.added = added
        self.removed = removed
        self.restated = Changes(added.dictionary, {}) if restated is None else restated

    @classmethod
    def nothing(cls, dictionary: Dictionary) -> Delta:
        """Return the delta of an update that changes nothing.

        Args:
            dictionary: The dictionary of its terms.

        Returns:
            The delta.

        >>> print(Delta.nothing(Dictionary()))
        no change
        """
        none = Changes(dictionary)
        return cls(none, none, none)

    def __len__(self) -> int:
        return len(self.added) + len(self.removed)

    def __bool__(self) -> bool:
        return bool(self.added) or bool(self.removed)

    @classmethod
    def net(cls, dictionary: Dictionary, steps: Sequence[Delta]) -> Delta:
        """Return the net change of consecutive updates, in order.

        Whether facts are explicit is exact if all deltas include `restated`.

        Args:
            dictionary: The dictionary of the terms.
            steps: The deltas.

        Returns:
            The delta.
        """
        tables: dict[str, list[tuple[Ids, Ids, Ids]]] = {}
        for step in steps:
            for predicate in dict.fromkeys(name for changes in step._parts() for name in changes.tables):
                tables.setdefault(predicate, []).append(step._table(predicate))
        net = {predicate: _net_change(parts) for predicate, parts in tables.items()}
        return cls(*(Changes(dictionary, {name: parts[part] for name, parts in net.items()}) for part in range(3)))

    def then(self, later: Delta) -> Delta:
        """Return the net change of this update and the next one; see `net`.

        Args:
            later: The delta of the next update.

        Returns:
            The delta.
        """
        if not any(self._parts()):
            return later
        if not any(later._parts()):
            return self
        return Delta.net(self.added.dictionary, (self, later))

    def _parts(self) -> tuple[Changes, Changes, Changes]:
        return self.added, self.removed, self.restated

    def _table(self, predicate: str) -> tuple[Ids, Ids, Ids]:
        """Return the ids of the facts of a predicate, and the state of each before and after the update."""
        ids, before, after = [], [], []
        for changes in self._parts():
            change = changes.tables.get(predicate)
            if change is not None:
                kind = np.where(change.explicit, np.int32(EXPLICIT), np.int32(DERIVED))
                absent = np.full(len(change), ABSENT, np.int32)
                ids.append(change.ids)
                before.append(absent if changes is self.added else kind if changes is self.removed else EXPLICIT + DERIVED - kind)
                after.append(absent if changes is self.removed else kind)
        return np.concatenate(ids), np.concatenate(before), np.concatenate(after)

    def text(self, prefixes: Mapping[str, str] | None = None) -> str:
        """Return one line for each fact, in the rule language, sorted: removed (``-``), added (``+``) and restated (``=``).

        Args:
            prefixes: The prefixes to use.

        Returns:
            The lines.

        >>> dictionary = Dictionary()
        >>> ids = dictionary.encode_texts(['"a"', '"b"']).reshape(1, 2)
        >>> path = Changes(dictionary, {"path": Change(ids, np.array([False]))})
        >>> print(Delta(path, Changes(dictionary, {})))
        + path("a", "b")  derived
        """
        lines = []
        for sign, changes, now in (("-", self.removed, ""), ("+", self.added, ""), ("=", self.restated, " now")):
            for predicate in sorted(changes.tables):
                for kind in ("explicit", "derived"):
                    which: Which = "explicit" if kind == "explicit" else "inferred"
                    facts = (_fact_text(predicate, row, prefixes) for row in changes.facts(predicate, which))
                    lines += [f"{sign} {fact}  {kind}{now}" for fact in sorted(facts)]
        return "\n".join(lines) or "no change"

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return f"<Delta: {len(self.added)} added, {len(self.removed)} removed>"


def _net_change(steps: list[tuple[Ids, Ids, Ids]]) -> tuple[Change, Change, Change]:
    """Return the facts that consecutive steps have added, removed and restated, each step given as by `Delta._table`."""
    facts, was, becomes = (np.concatenate(columns) for columns in zip(*steps, strict=True))
    if len(steps) > 1:  # one fact may occur in several steps
        order = np.lexsort(facts.T[::-1]) if facts.shape[1] else np.arange(len(facts))  # stable: equal facts stay in order of time
        ids = facts.take(order, axis=0)
        differs = (ids[1:] != ids[:-1]).any(axis=1)
        first, last = np.append(True, differs), np.append(differs, True)
        facts, was, becomes = ids[first], was[order][first], becomes[order][last]
    return (
        Change(facts, becomes == EXPLICIT).where((was == ABSENT) & (becomes != ABSENT)),
        Change(facts, was == EXPLICIT).where((was != ABSENT) & (becomes == ABSENT)),
        Change(facts, becomes == EXPLICIT).where((was != becomes) & (was != ABSENT) & (becomes != ABSENT)),
    )


def _fact_text(predicate: str, terms: tuple[Term, ...], prefixes: Mapping[str, str] | None) -> str:
    from kg_reasoner.language.prefixes import PREFIXES
    from kg_reasoner.language.printer import format_term

    known = PREFIXES if prefixes is None else {**PREFIXES, **prefixes}
    arguments = ", ".join(format_term(term, known) for term in terms)
    return f"[{arguments}]" if predicate == TRIPLE else f"{predicate}({arguments})"


def joined(changes: Sequence[Change]) -> Change:
    """Return the union of several changes of one predicate, which concern different facts."""
    if len(changes) == 1:
        return changes[0]
    return Change(np.concatenate([change.ids for change in changes]), np.concatenate([change.explicit for change in changes]))


def difference(dictionary: Dictionary, before: Changes, after: Changes) -> Delta:
    """Return the delta between two materialisations, given as all of their facts."""
    nothing = Changes(dictionary, {})
    return Delta(nothing, before).then(Delta(after, nothing))
