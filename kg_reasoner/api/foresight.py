"""The facts that an announced update will delete."""

from __future__ import annotations

from collections.abc import Mapping

from kg_reasoner.api.operations.core import ReasonerCore
from kg_reasoner.api.update import Update
from kg_reasoner.engine.facts.row_encoding import find_rows, find_triples
from kg_reasoner.errors import ReasonerError
from kg_reasoner.program import TRIPLE
from kg_reasoner.storage.arrays import Ids

__all__ = ["expect_update", "facts_to_go"]


def expect_update(given: object) -> Update:
    """Return what was given if it is an update in the right form.

    Raises:
        ReasonerError: Something else is given, or what it adds or removes is not given by predicate.
    """
    if not isinstance(given, Update):
        raise ReasonerError(f"{given!r} is not an Update")
    for what, facts in (("adds", given.added), ("removes", given.removed)):
        if not isinstance(facts, Mapping):
            raise ReasonerError(f"what an Update {what} is a mapping from predicates to rows of terms, not {facts!r}")
    return given


def facts_to_go(core: ReasonerCore, update: Update) -> list[tuple[int, Ids]]:
    """Return the facts that an update will delete, as far as they are known, by relation."""
    engine = core.engine
    catalog, found = engine.catalog, list[tuple[int, Ids]]()
    for predicate, rows in update.removed.items():
        if predicate != TRIPLE:
            relation = catalog.predicates.get(predicate, -1)
            if relation >= 0:
                found.append((relation, find_rows(core.dictionary, rows, engine.database.relations[relation].arity)))
            continue
        found += catalog.layout.found(find_triples(core.dictionary, rows))  # type: ignore[arg-type]  # rows of three
    return found
