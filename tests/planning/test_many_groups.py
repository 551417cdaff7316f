"""Aggregates of many groups at once give what each group gives by itself, also after changes."""

from __future__ import annotations

from typing import Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kg_reasoner import Reasoner
from kg_reasoner.language.parser import parse
from kg_reasoner.planning.aggregates import aggregate_relations, group_functions
from kg_reasoner.terms import IRI, Literal, Term, literal
from tests.helpers.effort import examples

_INTEGER: Final = literal(1).datatype
_VALUES: Final[list[Term]] = [
    *map(literal, (0, 1, 1, 2, -3, 7, 2**52, 1.5, float("nan"), "a", "b\n", 'a"', "é", "ab")),
    *(Literal(text, _INTEGER) for text in ("01", "-0", "x", str(2**62), str(2**63))),
    IRI("http://example.org/a"),
]
_RULES: Final = """
    all(?x, ?c, ?s, ?l, ?g, ?a) :- AGGREGATE(v(?x, ?k, ?y) ON ?x
        BIND COUNT(?y) AS ?c BIND SUM(?y) AS ?s BIND MIN(?y) AS ?l BIND MAX(?y) AS ?g BIND AVG(?y) AS ?a) .
    rows(?x, ?n) :- AGGREGATE(v(?x, ?k, ?y) ON ?x BIND COUNT(*) AS ?n) .
    different(?x, ?n) :- AGGREGATE(v(?x, ?k, ?y) ON ?x BIND COUNT(DISTINCT ?y) AS ?n) .
    sums(?x, ?n) :- AGGREGATE(v(?x, ?k, ?y) ON ?x BIND SUM(DISTINCT ?y) AS ?n) .
    least(?x, ?k, ?n) :- AGGREGATE(v(?x, ?k, ?y) ON ?x ?k BIND MIN(?y) AS ?n) .
    twice(?x, ?n) :- AGGREGATE(v(?x, ?k, ?y) ON ?x BIND SUM(?y * 2) AS ?n) .
    lists(?x, ?l, ?s, ?d) :- AGGREGATE(v(?x, ?k, ?y) ON ?x BIND LIST(?y) AS ?l BIND SET(?y) AS ?s BIND LIST(DISTINCT ?y) AS ?d) .
    best(?x, ?a, ?b, ?m) :- AGGREGATE(v(?x, ?k, ?y) ON ?x
        BIND ARGMIN(?k, ?y) AS ?a BIND ARGMAX(?y, ?k) AS ?b BIND SAMPLE(?y) AS ?m) .
    joined(?x, ?t) :- AGGREGATE(v(?x, ?k, ?y) ON ?x BIND GROUP_CONCAT(?y, ", ") AS ?t) .
    texts(?x, ?t) :- AGGREGATE(v(?x, ?k, ?y) ON ?x BIND GROUP_CONCAT(DISTINCT STR(?y)) AS ?t) .
    graphs(?x, ?c, ?o) :- AGGREGATE(v(?x, ?k, ?y) ON ?x
        BIND STRONG_COMPONENTS(?k, ?y) AS ?c BIND TOPOLOGICAL_LEVELS(?k, ?y) AS ?o) .
    maps(?x, ?t) :- AGGREGATE(v(?x, ?k, ?y) ON ?x BIND MAP(?k, ?y) AS ?t) .
    any(?s, ?n) :- AGGREGATE(v(?x, ?k, ?y), ?k = 1 BIND AVG(?x) AS ?s BIND GROUP_CONCAT(?k, ?x) AS ?n) ."""

_ROWS: Final = st.sets(st.tuples(st.integers(0, 30), st.integers(0, 2), st.integers(0, len(_VALUES) - 1)), max_size=80)
_TEXTS: Final = st.sets(st.tuples(st.integers(0, 3), st.integers(0, 2), st.sampled_from([9, 12, 13])), min_size=20, max_size=80)
_NUMBERS: Final = st.sets(st.tuples(st.integers(0, 30), st.integers(0, 2), st.integers(0, 6)), min_size=20, max_size=80)


@given(st.one_of(_ROWS, _NUMBERS, _TEXTS), _ROWS, st.integers(0, 80))
@settings(max_examples=examples(100))
@pytest.mark.long
def test_many_groups_at_once(first: set[tuple[int, int, int]], added: set[tuple[int, int, int]], removed: int) -> None:
    def results(few: int) -> list[dict[str, set[tuple[Term, ...]]]]:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(aggregate_relations, "FEW", few)
            patch.setattr(group_functions, "MANY", few)
            reasoner = Reasoner(parse(_RULES))
            found = []
            for gone, new in ((set[tuple[int, int, int]](), first), (set(sorted(first)[:removed]), added)):
                with reasoner.transaction():
                    for change, some in ((reasoner.remove_facts, gone), (reasoner.add_facts, new)):
                        change("v", [(literal(x), literal(k), _VALUES[y]) for x, k, y in some])
                names = {rule.head.predicate for rule in reasoner.program.rules if not rule.head.predicate.startswith("_")}
                found.append({name: set(reasoner.facts(name)) for name in names})
            return found

    assert results(0) == results(1000)
