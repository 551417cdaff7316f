"""No garbage is collected while many objects are made that are kept; afterwards it is as before."""

from __future__ import annotations

import gc

import pytest

from kg_reasoner import Reasoner
from kg_reasoner.concurrency.garbage import without_collection
from kg_reasoner.engine import rulebook
from kg_reasoner.terms import IRI, RDF, RDFS


def test_garbage_is_collected_again_after_an_error() -> None:
    assert gc.isenabled()
    with pytest.raises(ZeroDivisionError), without_collection():
        assert not gc.isenabled()
        _ = 1 // 0
    assert gc.isenabled()


def test_a_collector_that_was_off_stays_off() -> None:
    gc.disable()
    try:
        with without_collection():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_rules_are_planned_without_collection(monkeypatch: pytest.MonkeyPatch) -> None:
    found = []
    plan = rulebook.RuleBook.plan
    monkeypatch.setattr(rulebook.RuleBook, "plan", lambda book: found.append(gc.isenabled()) or plan(book))
    reasoner = Reasoner(ruleset="owl2rl")
    thing, kind, other = (IRI(f"http://example.org/{name}") for name in ("thing", "Kind", "Other"))
    reasoner.add_triples([(kind, RDFS.subClassOf, other), (thing, RDF.type, kind)])
    reasoner.materialise()
    assert found and not any(found) and gc.isenabled()
