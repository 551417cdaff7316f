"""The 99 update streams of the shared suite: after every step the number of facts and their checksum are as expected."""

from __future__ import annotations

import pytest

from kg_reasoner.reasoner import Reasoner

from . import update_streams
from .update_streams import Reader, Step

pytestmark = pytest.mark.skipif(not update_streams.SUITE.is_dir(), reason="the shared suites are not here")


@pytest.mark.parametrize("name", update_streams.names())
def test_stream(name: str) -> None:
    stream = update_streams.read(name)
    reasoner = Reasoner(stream.program)
    reader = Reader(reasoner)
    for number, step in enumerate(stream.steps):
        apply(reasoner, step)
        assert reader.state() == step.after, f"step {number}"


def apply(reasoner: Reasoner, step: Step) -> None:
    for predicate, rows in step.deleted.items():
        reasoner.remove_facts(predicate, rows)
    for predicate, rows in step.added.items():
        reasoner.add_facts(predicate, rows)
