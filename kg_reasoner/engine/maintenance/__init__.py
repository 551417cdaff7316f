"""Maintenance of the materialisation under changes of facts and rules. One module for each strategy, chosen by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, Protocol, TypeAlias, cast

from kg_reasoner.data_classes import dataclass
from kg_reasoner.engine.evaluation.counters import Counters
from kg_reasoner.engine.evaluation.materialiser import Materialiser
from kg_reasoner.engine.evaluation.planned_rules import PlannedRule
from kg_reasoner.errors import expect_name
from kg_reasoner.progress import Progress
from kg_reasoner.storage.arrays import Flags, Rows

if TYPE_CHECKING:
    from kg_reasoner.planning.aggregates.aggregate_relations import ComputedRelation

Strategy: TypeAlias = Literal["backward-forward", "delete-rederive", "counting", "dbsp", "rematerialise"]
DEFAULT: Final[Strategy] = "backward-forward"

STRATEGIES: Final[Mapping[Strategy, str]] = {
    "backward-forward": "backward_forward.BackwardForward",
    "delete-rederive": "delete_rederive.DeleteRederive",
    "counting": "counting.Counting",
    "dbsp": "dbsp.Dbsp",
    "rematerialise": "rematerialise.Rematerialise",
}
"""The strategies: the name for users, and the module and class here."""


Finder: TypeAlias = Callable[[], Sequence[tuple[int, Rows]]]
"""Returns the facts that are known at the time of the call, by relation."""


class ChangedFacts(NamedTuple):
    """Changed facts of one relation: their ids (n, arity), and whether each of them is (or was) explicit."""

    relation: int
    ids: Rows
    explicit: Flags


@dataclass(slots=True)
class Work:
    """The task of a strategy, and its result: the changed facts. Not listed are the explicit facts that were added (rows beyond the
    materialised ones) or removed (the context's list).
    """

    new_rules: Sequence[PlannedRule] = ()
    gone_rules: Sequence[PlannedRule] = ()
    gone_aggregates: Sequence[ComputedRelation] = ()
    collects: bool = False
    """Whether to collect the changes."""
    progress: Progress | None = None
    added: list[ChangedFacts] = field(default_factory=list)
    removed: list[ChangedFacts] = field(default_factory=list)
    restated: list[ChangedFacts] = field(default_factory=list)


class Maintenance(Protocol):
    """A maintenance strategy for the materialisation of one database."""

    def apply(self, work: Work) -> None:
        """Insert new consequences, and delete facts that are no longer derivable.

        The materialiser already has the new rules, and no longer the removed ones. After an error, the caller discards the
        database.
        """
        ...

    def expect(self, find: Finder | None) -> None:
        """Set a function that finds the facts that the update after the next one deletes, or None if they are unknown."""
        ...

    def needs_restart(self) -> bool:
        """Return whether the new strata require a rematerialisation."""
        ...

    @property
    def counters(self) -> Counters:
        """Rule applications so far, by phase."""
        ...


def strategy(name: str) -> Callable[[Materialiser], Maintenance]:
    """Return the class of a strategy.

    Raises:
        UnknownNameError: The name is unknown.
    """
    expect_name("maintenance strategy", name, STRATEGIES)
    return _imported(name)


@cache
def _imported(name: str) -> Callable[[Materialiser], Maintenance]:
    """Return the class of a strategy that is known."""
    module, _, cls = STRATEGIES[cast(Strategy, name)].partition(".")
    found: Callable[[Materialiser], Maintenance] = getattr(import_module(f"{__name__}.{module}"), cls)
    return found
