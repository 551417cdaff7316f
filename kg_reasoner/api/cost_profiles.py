"""Profiles: what materialisation and updates cost, by rule and by axiom."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import replace
from types import TracebackType
from typing import Any, Final, Literal

from kg_reasoner.api import profile_forms
from kg_reasoner.data_classes import dataclass
from kg_reasoner.engine.evaluation.recorder import Activity, Recorder, Tally, difference
from kg_reasoner.errors import expect_name
from kg_reasoner.explain.readable_names import Names, axiom_text, show_rule
from kg_reasoner.program import Rule

__all__ = ["Profile", "ProfileRow"]

Grouping = Literal["rule", "axiom", "name"]
GROUPINGS: Final[tuple[Grouping, ...]] = ("rule", "axiom", "name")


@dataclass(frozen=True, slots=True)
class ProfileRow:
    """The cost of one rule, or of one step that belongs to no rule.

    Attributes:
        kind: ``rule``; ``aggregation``: the solutions and groups that a rule with an aggregate needs; ``step``: anything else, such
            as planning, building an index or searching for proofs of facts that may have to be deleted.
        label: The name of the rule with its axiom or its text, or the name of the step.
        name: The name of the rule, such as ``cax-sco``; None without one.
        axiom: The axiom that the rule was translated from; None without one.
        rule: The rule as text; None for a step.
        seconds: The time of the rule, or of the step without the rules and steps inside it. Where all rules are evaluated together,
            for deletions and under `counting` and `dbsp`, the time is divided among them by the instances that they found.
        runs: How often the rule or the step was run. A rule runs for each block of new facts that may match its body.
        instances: The matches of the rule's body that were found, and derived its head.
        new: The facts derived that were not known before.
        deletion: The instances by which a deleted fact made another one a candidate for deletion; under `counting` and `dbsp`,
            those that came or went.
        backward: The instances that might prove a candidate for deletion.
    """

    kind: Literal["rule", "aggregation", "step"]
    label: str
    name: str | None = None
    axiom: str | None = None
    rule: str | None = None
    seconds: float = 0.0
    runs: int = 0
    instances: int = 0
    new: int = 0
    deletion: int = 0
    backward: int = 0

    @property
    def duplicates(self) -> int:
        """The instances that derived facts known before."""
        return self.instances - self.new

    def to_dict(self) -> dict[str, Any]:
        """Return the row as data for JSON.

        Returns:
            The data.
        """
        named = {name: getattr(self, name) for name in ("kind", "label", "name", "axiom", "rule", "seconds", "runs")}
        return {**named, **{name: getattr(self, name) for name in COUNTS}}


COUNTS: Final = ("instances", "new", "duplicates", "deletion", "backward")
_ADDED: Final = ("seconds", "runs", "instances", "new", "deletion", "backward")


class Profile(AbstractContextManager["Profile"]):
    """The cost of a reasoner's materialisation and updates while the profile is open, see `Reasoner.profile`.

    ``print(profile)`` shows the most expensive rules and steps, and a notebook shows them as a table.

    The profile is not part of the reasoner's state: after an operation that failed, it has what was recorded until then.
    """

    def __init__(self, recorder: Recorder, prefixes: Callable[[], Mapping[str, str]]) -> None:
        self._recorder = recorder
        self._prefixes = prefixes
        self._before = recorder.open(self)
        self._result: Mapping[Activity, Tally] | None = None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.stop()

    def __repr__(self) -> str:
        return f"<Profile {'open' if self._result is None else 'stopped'}, {self.seconds:.3f} s>"

    def stop(self) -> None:
        """Stop recording. The end of the ``with`` block does this."""
        if self._result is None:
            self._result = self._tallies()
            self._recorder.close(self)

    def _tallies(self) -> Mapping[Activity, Tally]:
        return difference(self._recorder.tallies(), self._before) if self._result is None else self._result

    @property
    def seconds(self) -> float:
        """The time of all rules and steps together."""
        return sum(tally.seconds for tally in self._tallies().values())

    def rows(self, by: Grouping = "rule", prefixes: Mapping[str, str] | None = None) -> list[ProfileRow]:
        """Return the cost of each rule and each step, the most expensive first.

        Args:
            by: ``rule``; ``axiom``: the rules that come from an axiom are one row; ``name``: rules of one name are one row.
            prefixes: Prefixes for names in rules and axioms, in addition to those of the reasoner.

        Returns:
            The rows.

        Raises:
            UnknownNameError: The grouping is unknown.
        """
        expect_name("grouping of a profile", by, GROUPINGS)
        names = Names({**self._prefixes(), **(prefixes or {})})
        merged: dict[tuple[str, str], ProfileRow] = {}
        for activity, tally in self._tallies().items():
            if tally != Tally():
                row = _row(activity, tally, names)
                if by == "axiom" and row.axiom is not None:
                    row = replace(row, label=row.axiom, rule=None, name=None)
                elif by == "name" and row.name is not None:
                    row = replace(row, label=row.name, rule=None, axiom=None)
                key = row.kind, row.label
                merged[key] = _sum(merged[key], row) if key in merged else row
        return sorted(merged.values(), key=lambda row: (-row.seconds, row.label))

    def to_text(self, by: Grouping = "rule", prefixes: Mapping[str, str] | None = None, limit: int = 25) -> str:
        """Return a table of the most expensive rules and steps, at most `limit` of them.

        Args:
            by: See `rows`.
            prefixes: See `rows`.
            limit: The maximum number of rows.

        Returns:
            The table as text.
        """
        return profile_forms.text(self.rows(by, prefixes), limit)

    def __str__(self) -> str:
        return self.to_text()

    def to_dict(self, by: Grouping = "rule", prefixes: Mapping[str, str] | None = None) -> dict[str, Any]:
        """Return the rows as data for JSON, with the total time.

        Args:
            by: See `rows`.
            prefixes: See `rows`.

        Returns:
            The data.
        """
        return {"seconds": self.seconds, "rows": [row.to_dict() for row in self.rows(by, prefixes)]}

    def to_svg(self, by: Grouping = "rule", prefixes: Mapping[str, str] | None = None, limit: int = 25) -> str:
        """Return a bar chart of the most expensive rules and steps, as the text of an SVG image.

        Args:
            by: See `rows`.
            prefixes: See `rows`.
            limit: The maximum number of bars.

        Returns:
            The text of the image.
        """
        return profile_forms.svg(self.rows(by, prefixes), limit)

    def to_html(self, by: Grouping = "rule", prefixes: Mapping[str, str] | None = None, limit: int = 1000) -> str:
        """Return a page with the bar chart and the table, which needs nothing from elsewhere.

        Args:
            by: See `rows`.
            prefixes: See `rows`.
            limit: The maximum number of rows of the table.

        Returns:
            The text of the page.
        """
        return profile_forms.page(self.rows(by, prefixes), limit)

    def _repr_html_(self) -> str:
        return profile_forms.table(self.rows(), 25)


def _row(activity: Activity, tally: Tally, names: Names) -> ProfileRow:
    """Return the row of an activity. Rules that delete or search backwards find other instances than those that insert."""
    phase, rule = activity
    if rule is None:
        return ProfileRow("step", phase, seconds=tally.seconds, runs=tally.runs, instances=tally.instances, new=tally.new)
    text = show_rule(rule, names)
    axiom = axiom_text(rule.origin.axiom, names) if rule.origin.axiom else None
    row = ProfileRow("rule", _label(rule, axiom, text), rule.origin.name, axiom, text, tally.seconds, tally.runs)
    if phase in ("deletion", "counting", "circuit"):
        return replace(row, deletion=tally.instances)
    if phase == "backward":
        return replace(row, backward=tally.instances)
    row = replace(row, instances=tally.instances, new=tally.new)
    return replace(row, kind="aggregation", label=f"aggregates of {row.label}") if phase == "aggregation" else row


def _label(rule: Rule, axiom: str | None, text: str) -> str:
    """Return the text that identifies a rule: its name, and its axiom or else its text."""
    name = rule.origin.name
    return f"{name}: {axiom or text}" if name else axiom or text


def _sum(one: ProfileRow, other: ProfileRow) -> ProfileRow:
    """Return one row with the numbers of both."""
    return replace(one, **_added(_ADDED, one, other))


def _added(fields: Iterable[str], one: ProfileRow, other: ProfileRow) -> dict[str, Any]:
    return {field: getattr(one, field) + getattr(other, field) for field in fields}
