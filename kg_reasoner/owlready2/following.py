"""A reasoner that follows the changes of a World."""

from __future__ import annotations

from collections.abc import Collection
from types import TracebackType
from typing import Any, Final

import numpy as np

from kg_reasoner.api.reasoner import Reasoner
from kg_reasoner.api.transaction import run_in
from kg_reasoner.classification.hierarchy import Hierarchy
from kg_reasoner.concurrency.forking import new_mutex
from kg_reasoner.errors import MissingExtraError, ReasonerError
from kg_reasoner.loaders.rdf.readers.quadstore import QuadStore
from kg_reasoner.storage.arrays import Ids, contains

__all__ = ["Attached", "attach", "follower_of", "owlready"]


def owlready() -> Any:
    """Return the package owlready2.

    Raises:
        MissingExtraError: It is not installed.
    """
    try:
        import owlready2
    except ModuleNotFoundError:
        raise MissingExtraError("reasoning over Worlds of owlready2", "owlready2") from None
    return owlready2


class Attached:
    """A World with a reasoner that follows it. See `attach`."""

    def __init__(self, world: Any, ruleset: str) -> None:
        self.world = world
        self.ruleset = ruleset
        self.written: dict[tuple[int, ...], tuple[int, ...]] = {}
        """The quads without literals that were inferred and written into the World, which are not premises: their context and the
        ids of their terms, and for each the same in numbers of the World."""
        self.written_values: dict[tuple[int, ...], tuple[int, ...]] = {}
        """Those with literals. The last number is the id of the literal in both."""
        self.taken_back: tuple[dict[tuple[int, int, int], None], dict[tuple[int, int, int], None]] = {}, {}
        """The triples, without and with literals, that were deleted, and that objects may still show."""
        self.current = Reasoner(ruleset=ruleset)
        """The reasoner as it was brought up to date last."""
        self.store = QuadStore(world, self.current.dictionary)
        self.triples: Ids = np.empty((0, 3), np.int32)
        """The triples that the World stated then, in ids."""
        self._seen: tuple[tuple[object, int], Collection[int] | None, int] | None = None
        self._has_renamed = False
        """Whether the ids of the written triples are those of former names."""
        self._lock = new_mutex()

    def __enter__(self) -> Attached:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def inherit(self, former: Attached) -> None:
        """Take over what another reasoner has written into the World, so that it is not a premise here and can be taken back.

        Args:
            former: The reasoner of the same World before.
        """
        self.written = {
            (row[0], *ids): row for row, ids in zip(former.written.values(), self._ids_of(former.written.values(), 4), strict=True)
        }
        literals = {literal for *_, literal in (*former.written_values.values(), *former.taken_back[1])}
        texts = [former.current.dictionary.text(literal) for literal in literals]
        own = dict(zip(literals, self.current.dictionary.encode_texts(texts).tolist(), strict=True))
        self.store.stored_as.update((own[literal], former.store.stored_as[literal]) for literal in literals)
        rows = former.written_values.values()
        self.written_values = {
            (row[0], *ids, own[row[3]]): (*row[:3], own[row[3]]) for row, ids in zip(rows, self._ids_of(rows, 3), strict=True)
        }
        relations, values = former.taken_back
        self.taken_back = dict(relations), {(*row[:2], own[row[2]]): None for row in values}

    def _encode_written(self) -> None:
        """Find the ids of the written triples again, after resources have got other names."""
        rows = self.written.values()
        self.written = {(row[0], *ids): row for row, ids in zip(rows, self._ids_of(rows, 4), strict=True)}
        rows = self.written_values.values()
        self.written_values = {(row[0], *ids, row[3]): row for row, ids in zip(rows, self._ids_of(rows, 3), strict=True)}
        self._has_renamed = False

    def _ids_of(self, rows: Collection[tuple[int, ...]], end: int) -> list[list[int]]:
        """Return the ids of columns 1 to `end` of rows of numbers."""
        table = np.array([row[1:end] for row in rows], np.int64).reshape(len(rows), end - 1)
        found: list[list[int]] = self.store.encoded(table).tolist()
        return found

    def close(self) -> None:
        """Stop following the World."""
        if vars(self.world).get(_FOLLOWER) is self:
            del vars(self.world)[_FOLLOWER]

    @property
    def reasoner(self) -> Reasoner:
        """The reasoner, with the current facts of the World. Whatever is added to it goes when the World changes it."""
        return self.refresh()

    def hierarchy(self) -> Hierarchy:
        """Return the inferred hierarchy of the World, see `kg_reasoner.api.reasoner.Reasoner.hierarchy`.

        Returns:
            The hierarchy.
        """
        return self.refresh().hierarchy()

    def refresh(self, contexts: Collection[int] | None = None) -> Reasoner:
        """Pass the changes of the World since the last call to the reasoner, and return it.

        Args:
            contexts: The numbers of the graphs to read; None: all.

        Returns:
            The reasoner.
        """
        with self._lock:
            seen = self.store.version(), contexts, len(self.written) + len(self.written_values)
            if seen == self._seen:
                return self.current
            self._has_renamed |= self.store.forget_renamed()
            if self._has_renamed:
                self._encode_written()
            relations = _without(list(self.store.relations(contexts)), self.written)
            values = _without(list(self.store.values(contexts)), self.written_values)
            triples = np.concatenate([relations[:, 1:], values[:, 1:]])
            gone = self.triples[~contains(triples, self.triples)]
            new = triples[~contains(self.triples, triples)]

            def change() -> None:
                self.current.remove_triples(gone)
                self.current.add_triples(new)
                with self.current.core.atomic():
                    self.current.engine.set(self, "triples", triples)

            run_in(self.current.transaction(collects=False), change)
            self._seen = seen
            return self.current


def _without(blocks: list[Ids], written: dict[tuple[int, ...], tuple[int, ...]]) -> Ids:
    rows = np.concatenate(blocks) if blocks else np.empty((0, 4), np.int32)
    return rows[~contains(np.array(sorted(written), np.int32).reshape(-1, 4), rows)]


_FOLLOWER: Final = "_kg_reasoner"
"""The attribute of a World that has the object that follows it, so that both are deleted together."""


def attach(world: Any, ruleset: str = "owl2rl") -> Attached:
    """Follow the changes of a World: its reasoner has the current facts whenever it is asked for.

    Changes are found by comparing the quad store, read in blocks, with what was read before; only the differences are passed on.

    Args:
        world: A World of owlready2.
        ruleset: The rule set.

    Returns:
        The World's reasoner; the same object while it is attached with the same rule set.

    Raises:
        MissingExtraError: owlready2 is not installed.
        ReasonerError: The argument is not a World.
    """
    if not isinstance(world, owlready().World):
        raise ReasonerError(f"{world!r} is not a World of owlready2")
    return follower_of(world, ruleset)


def follower_of(world: Any, ruleset: str) -> Attached:
    """Return the object that follows a World with a rule set; it is made at the first call."""
    found: Attached | None = vars(world).get(_FOLLOWER)
    if found is None or found.ruleset != ruleset:
        new = Attached(world, ruleset)
        if found is not None:
            new.inherit(found)
        found = vars(world)[_FOLLOWER] = new
    return found
