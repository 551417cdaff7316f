"""Recursions that may go on for ever: warned of when they are added, and stopped by limits."""

from __future__ import annotations

import warnings

import pytest

from kg_reasoner import LimitError, Limits, Reasoner
from kg_reasoner.errors import ReasonerWarning
from kg_reasoner.language.parser import parse
from kg_reasoner.language.strata.growth import growing

ENDLESS = {
    "counting": ("n(?x + 1) :- n(?x) .", "?x"),
    "through another predicate": ("a(?y) :- b(?x), ?y = ?x * 2 . b(?x) :- a(?x) .", "?x"),
    "lengths of paths": ("path(?x, ?z, ?n + ?m) :- path(?x, ?y, ?n), edge(?y, ?z, ?m) .", "?n, ?m"),
    "growing texts": ('t(CONCAT(?x, "a")) :- t(?x) .', "?x"),
    "new blank nodes": ("s(SKOLEM(?x, 1)) :- s(?x) .", "?x"),
    "hashes of hashes": ("h(MD5(?x)) :- h(?x) .", "?x"),
    "growing maps": ("m(PUT(?m, SIZE(?m), 1)) :- m(?m) .", "?m"),
    "growing records": ('r(RECORD("S", ?x)) :- r(?x) .', "?x"),
    "functions of the program": ("function f(?x) = ?x + 1 . n(f(?x)) :- n(?x) .", "?x"),
    "a value of a value": ("n(?z) :- n(?x), ?y = ?x + 1, ?z = ?y .", "?x"),
    "down, with a bound above": ("n(?x - 1) :- n(?x), ?x < 200 .", "?x"),
    "down by adding": ("n(?y) :- n(?x), ?y = -1 + ?x, 200 >= ?y .", "?x"),
    "up, with a bound below": ("n(?x + 1) :- n(?x), ?x > 0 .", "?x"),
    "remainders of products": ("n((?x * ?x) % 10) :- n(?x) .", "?x"),
    "triples": ("ex:n[?s, ?x + 1] :- ex:n[?s, ?x] .", "?x"),
}
BOUNDED = [
    "n(?x + 1) :- n(?x), ?x < 10 .",
    "n(?y) :- n(?x), ?y = ?x + 1, ?y <= 10 .",
    "n(?x + 1) :- n(?x), limit(?x) .",
    "n(?x - 1) :- n(?x), ?x > 0 .",
    "n(?y) :- n(?x), ?y = ?x + -1, 0 <= ?y .",
    "n(?x + 1) :- n(?x), ?x > 0, ?x < 10 .",
    "n(?x + ?x) :- n(?x), ?x < 10 .",
    "n(?x + 1) :- n(?x), !(?x >= 10) .",
    "n(?x + 1) :- n(?x), NOT (?x >= 10) .",
    "n(?x + 1) :- n(?x), ?x + 5 < 10 .",
    "n((?x + 1) % 10) :- n(?x) .",
    "n((3 * ?x - ?y) % 7) :- n(?x), n(?y) .",
    "n(?y) :- n(?x), ?y = ?x + 1, limit(?y) .",
    "n(?x + 1) :- m(?x) .",
    "n(?x) :- n(?x), ?y = ?x + 1, m(?y) .",
    "path(?x, ?z) :- path(?x, ?y), edge(?y, ?z) .",
    "c(?y) :- c(?x), ?y IN RANGE(0, ?x) .",
    "length(STRLEN(?x)) :- length(?x) .",
    "dist(?y, ?m) :- AGGREGATE(dist(?x, ?d), road(?x, ?y, ?w) ON ?y BIND MIN(?d + ?w) AS ?m) .",
    "reach(?y, ?d + ?w) :- dist(?x, ?d), road(?x, ?y, ?w) . dist(?y, ?d) :- AGGREGATE(reach(?y, ?c) ON ?y BIND MIN(?c) AS ?d) .",
]


@pytest.mark.parametrize("name", ENDLESS)
def test_what_may_be_endless_is_a_warning(name: str) -> None:
    text, used = ENDLESS[name]
    (warning,) = growing(parse(f"@prefix ex: <http://example.org/> . {text}", "rules.dl").rules)
    assert warning.startswith("rules.dl:1:")
    assert f"computes new values from its own results ({used}), perhaps without end" in warning


@pytest.mark.parametrize("text", BOUNDED)
def test_bounded_recursions_cause_no_warning(text: str) -> None:
    assert not list(growing(parse(text).rules))


def test_the_reasoner_warns_and_limits_stop_it() -> None:
    with pytest.warns(ReasonerWarning, match="the rule for n computes new values from its own results"):
        reasoner = Reasoner("n(?x + 1) :- n(?x) .", limits=Limits(facts=1000))
    with pytest.raises(LimitError):
        reasoner.add_program("n(0) .")
        list(reasoner.facts("n"))


def test_rule_sets_do_not_grow() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", ReasonerWarning)
        for name in ("rdfs", "owl2rl"):
            assert not list(growing(Reasoner(ruleset=name).rules))
