"""The 99 update streams of the shared suite: after every step the number of facts and their checksum are as expected."""

from __future__ import annotations

import pytest

from benchmarks import streams
from benchmarks.streams import Step
from kg_reasoner.reasoner import Reasoner

from .update_streams import Reader

pytestmark = pytest.mark.skipif(not streams.SUITE.is_dir(), reason="the shared suites are not here")


@pytest.mark.parametrize("name", streams.names())
def test_stream(name: str) -> None:
    stream = streams.read(name)
    reasoner = Reasoner(stream.program)
    reader = Reader(reasoner)
    for number, step in enumerate(stream.steps):
        apply(reasoner, step)
        assert reader.state() == step.after, f"step {number}"


def apply(reasoner: Reasoner, step: Step) -> None:
    for predicate, rows in step.update.removed.items():
        reasoner.remove_facts(predicate, rows)
    for predicate, rows in step.update.added.items():
        reasoner.add_facts(predicate, rows)
