"""An interrupted `sync_reasoner` leaves the World and its objects as they were, or as they are after it.

So it does if a second interrupt comes while the first one is handled.
"""

from __future__ import annotations

import sys
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from tests.helpers.effort import by_effort

pytest.importorskip("owlready2", reason="owlready2 is not installed: pip install '.[owlready2]'")

from kg_reasoner.owlready2.following import owlready
from kg_reasoner.owlready2.undoing import Undo
from tests.owlready2.test_owlready2_reasoning import ANIMALS, ZOO, world_of

FILES = tuple(f"{Path('kg_reasoner', 'owlready2')}/{name}.py" for name in ("world_writing", "undoing", "sync"))


class Stop(BaseException):
    """The interrupt."""


class Lines:
    """Counts the lines of our modules that are executed, and raises an interrupt at one of them.

    Python traces no more after that. With `second`, tracing begins again when a rollback does, and another interrupt is raised at
    that line from there on.
    """

    def __init__(self, at: int, second: int | None = None) -> None:
        self.at, self.count, self.second = at, 0, second
        self.rolls_back = Undo.roll_back

    def __enter__(self) -> Lines:
        if self.second is not None:
            Undo.roll_back = lambda undo: self.traced_again(undo, sys._getframe(1))  # type: ignore[method-assign]
        sys.settrace(self.trace)
        return self

    def __exit__(self, *_: object) -> None:
        sys.settrace(None)
        Undo.roll_back = self.rolls_back  # type: ignore[method-assign]

    def traced_again(self, undo: Undo, frame: FrameType) -> None:
        if self.second is not None:
            self.at, self.count, self.second = self.second, 0, None
            frame.f_trace = self.trace
            sys.settrace(self.trace)
        self.rolls_back(undo)

    def trace(self, frame: FrameType, event: str, _: Any) -> Any:
        if not frame.f_code.co_filename.endswith(FILES) or frame.f_code.co_name == "__exit__":
            return None
        if event == "line":
            self.count += 1
            if self.count == self.at:
                sys.settrace(None)
                raise Stop
        return self.trace


def world() -> Any:
    """A World with an ontology whose objects are all loaded."""
    made = world_of(ANIMALS)
    ontology = made.get_ontology(ZOO)
    list(ontology.individuals())
    return made


def state(made: Any) -> tuple[Any, ...]:
    ontology = made.get_ontology(ZOO)
    triples = sorted(map(str, made.graph.execute("SELECT s,p,o FROM objs UNION ALL SELECT s,p,o FROM datas").fetchall()))
    objects = [(each.name, sorted(map(str, each.is_a)), sorted(map(str, each.equivalent_to))) for each in ontology.classes()]
    individuals = [
        (each.name, sorted(map(str, each.is_a)), sorted(map(str, each.knows)), list(each.number)) for each in ontology.individuals()
    ]
    return triples, objects, individuals


def changed(made: Any) -> None:
    ontology = made.get_ontology(ZOO)
    ontology.Mammal.is_a.append(ontology.CatOwner)
    ontology.Beast.equivalent_to.clear()
    ontology.ann.owns = []


def call(made: Any, at: int = 0, second: int | None = None) -> int:
    from kg_reasoner.owlready2 import sync_reasoner

    with Lines(at, second) as lines:
        sync_reasoner(made, infer_property_values=True, infer_data_property_values=True, debug=0)
    return lines.count


def lines_of_rollback(made: Any, at: int) -> int:
    """Interrupt a call; return how many lines are executed from the beginning of the rollback until the call ends."""
    from kg_reasoner.owlready2 import sync_reasoner

    with Lines(at, 0) as lines, pytest.raises(Stop):
        sync_reasoner(made, infer_property_values=True, infer_data_property_values=True, debug=0)
    return lines.count


@pytest.mark.filterwarnings("ignore::kg_reasoner.errors.BeyondProfileWarning")
@pytest.mark.parametrize("is_second", [False, True])
def test_a_call_is_before_or_after(is_second: bool) -> None:
    """The second call takes back what the first one wrote, and writes more."""

    def prepared() -> Any:
        made = world()
        if is_second:
            call(made)
            changed(made)
        return made

    made = prepared()
    before = state(made)
    count = call(made)
    assert before != state(made) and count > 200
    rolled_back = 0
    for at in range(1, count + 1, max(1, count // by_effort(12, 60, count))):
        made = prepared()
        before = state(made)
        with pytest.raises(Stop):
            call(made, at)
        now = state(made)
        assert not owlready().base.LOADING, f"line {at} of {count}"
        call(made)
        assert now in (before, state(made)), f"line {at} of {count}"
        rolled_back += now == before
    assert rolled_back


@pytest.mark.filterwarnings("ignore::kg_reasoner.errors.BeyondProfileWarning")
def test_a_second_interrupt_while_the_first_is_handled() -> None:
    def prepared() -> Any:
        made = world()
        call(made)
        changed(made)
        return made

    count = call(prepared())
    seconds = 0
    for first in range(count - 5, 0, -max(1, count // by_effort(2, 4, 20))):
        until = lines_of_rollback(prepared(), first)
        for second in range(1, until + 1, by_effort(7, 1, 1)):
            made = prepared()
            before = state(made)
            with pytest.raises(Stop):
                call(made, first, second)
            seconds += 1
            now = state(made)
            assert not owlready().base.LOADING, f"lines {first} and {second} of {count}"
            call(made)
            assert now in (before, state(made)), f"lines {first} and {second} of {count}"
    assert seconds >= 5


def test_what_an_interrupted_call_passed_on_is_taken_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fact that the reasoner has got, though nobody saw that, and that the World has lost again by the next call."""
    from kg_reasoner.owlready2 import attach

    made = world()
    ontology = made.get_ontology(ZOO)
    attached = attach(made)
    before = set(attached.reasoner.triples())
    ontology.rex.is_a.append(ontology.Cat)
    transaction = type(attached.current.transaction())
    commit = transaction.commit

    def interrupt(*arguments: Any) -> None:
        commit(*arguments)
        raise Stop

    with monkeypatch.context() as patch, pytest.raises(Stop):
        patch.setattr(transaction, "commit", interrupt)
        attached.refresh()
    ontology.rex.is_a.remove(ontology.Cat)
    assert set(attached.reasoner.triples()) == before
