"""Maintenance: how the materialisation follows when facts and rules come and go. One module a strategy, chosen by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Final, Literal, NamedTuple, Protocol, TypeAlias, cast

from kg_reasoner.engine.counters import Counters
from kg_reasoner.engine.materialise import Materialiser, PlannedRule
from kg_reasoner.errors import UnknownNameError
from kg_reasoner.planning.groups import AggregateRelation
from kg_reasoner.progress import Progress
from kg_reasoner.storage.arrays import Flags, Rows

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
"""Finds facts, of a relation each, as far as they are known when it is called."""


class ChangedFacts(NamedTuple):
    """Changed facts of one relation: their ids (n, arity), and whether each of them is (or was) explicit."""

    relation: int
    ids: Rows
    explicit: Flags


@dataclass(slots=True)
class Work:
    """The task of a strategy, besides explicit facts that were added (rows beyond the materialised ones) or removed (the context's
    list), and its result: the changed facts.
    """

    new_rules: Sequence[PlannedRule] = ()
    gone_rules: Sequence[PlannedRule] = ()
    gone_aggregates: Sequence[AggregateRelation] = ()
    collects: bool = False
    """Whether the changes are wanted."""
    progress: Progress | None = None
    added: list[ChangedFacts] = field(default_factory=list)
    removed: list[ChangedFacts] = field(default_factory=list)
    restated: list[ChangedFacts] = field(default_factory=list)


class Maintenance(Protocol):
    """A way to bring the materialisation up to date. One object for each database."""

    def apply(self, work: Work) -> None:
        """Insert what follows now, and delete what does not follow any more.

        The rules that are gone are no longer among the materialiser's, the new ones are. When an error interrupts it, the caller
        gives up the database and begins with another one.
        """
        ...

    def expect(self, find: Finder | None) -> None:
        """Hear how to find what the update after the one to be applied next will delete, if that is known."""
        ...

    def needs_restart(self) -> bool:
        """Whether the new strata are such that it has to start over."""
        ...

    @property
    def counters(self) -> Counters:
        """Rule applications so far, by phase."""
        ...


def strategy(name: str) -> Callable[[Materialiser], Maintenance]:
    """The class of a strategy, by its name.

    Raises:
        UnknownNameError: there is none of that name.
    """
    if name not in STRATEGIES:
        raise UnknownNameError("maintenance strategy", name, STRATEGIES)
    module, _, cls = STRATEGIES[cast(Strategy, name)].partition(".")
    found: Callable[[Materialiser], Maintenance] = getattr(import_module(f"{__name__}.{module}"), cls)
    return found
