"""The join orders and plans of rules and queries, as text: a change that makes one of them worse fails here, and does not only
show as slowness.

The snapshots lie in ``tests/planning/plans``; ``tests/planning/plan_text.py`` says how to read them. After an intended change,
``KG_REASONER_SNAPSHOTS=write python -m pytest tests/planning/test_plans.py`` writes them anew: read the difference before you
commit it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest

from benchmarks.sparql.queries import LUBM, UNIVERSITY, all_queries
from kg_reasoner import Reasoner, lubm, rulesets
from kg_reasoner.language.parser import PREFIXES, parse
from kg_reasoner.planning.aggregates.groups import is_aggregate_rule, split
from kg_reasoner.planning.catalog import RelationCatalog, StoredAtom, StoredRule
from kg_reasoner.planning.layouts.property_tables import PropertyTables
from kg_reasoner.planning.layouts.triple_layout import TripleLayout
from kg_reasoner.planning.layouts.triple_table import TripleTable
from kg_reasoner.planning.plan_drafts import Draft, Use
from kg_reasoner.program import Rule
from kg_reasoner.query import patterns as query
from kg_reasoner.rdflib_store import graph_of
from kg_reasoner.storage.databases.database import Database
from kg_reasoner.storage.terms.dictionary import Dictionary
from tests.planning.plan_text import PlanPrinter

SNAPSHOTS = Path(__file__).parent / "plans"
UB = {"ub": "http://swat.cse.lehigh.edu/onto/univ-bench.owl#"}


def compare(name: str, text: str) -> None:
    """Compare a text with its snapshot, or write it."""
    file = SNAPSHOTS / f"{name}.txt"
    if os.environ.get("KG_REASONER_SNAPSHOTS") == "write":
        file.write_text(text, encoding="utf-8")
    assert file.is_file(), f"there is no {file}: KG_REASONER_SNAPSHOTS=write writes it"
    assert text == file.read_text(encoding="utf-8"), f"the plans differ from {file}; see the docstring of this module"


def has_choices(rule: StoredRule) -> bool:
    """Whether there is more than one part, and so an order to choose."""
    return len(rule.body) + len(rule.checks) > 1


def plans_of(rules: Sequence[Rule], prefixes: dict[str, str], layout: type[TripleLayout]) -> str:
    """The plans of rules before there are any facts."""
    catalog = RelationCatalog(Dictionary(), Database(), layout)
    stored = [one for rule in split(rules) if rule.body and not is_aggregate_rule(rule) for one in catalog.rules(rule)]
    printer = PlanPrinter(catalog, prefixes)
    return "".join(f"{printer.rule(one)}\n\n" for one in stored if has_choices(one))


FIXTURES = SNAPSHOTS / "rules.dl"
SECTIONS = re.findall(r"^# --- (.+)\n((?:(?!# ---).*\n)*)", FIXTURES.read_text(encoding="utf-8"), re.MULTILINE)


@pytest.mark.parametrize(("title", "text"), SECTIONS, ids=[title for title, _ in SECTIONS])
def test_plans_of_rules(title: str, text: str) -> None:
    program = parse(text)
    prefixes = {**PREFIXES, **dict(program.prefixes)}
    compare(title.replace(" ", "-"), plans_of(program.rules, prefixes, TripleTable if "triples" in title else PropertyTables))


@pytest.mark.parametrize("name", rulesets.names())
def test_plans_of_rule_sets(name: str) -> None:
    """Over one relation of all triples, where each rule is planned once, whatever the data."""
    program = rulesets.load(name).program
    compare(name, plans_of(program.rules, {**PREFIXES, **dict(program.prefixes)}, TripleTable))


@pytest.fixture(scope="module")
def university(tmp_path_factory: pytest.TempPathFactory) -> Reasoner:
    data = tmp_path_factory.mktemp("lubm") / "lubm.nt"
    lubm.write(data, 1, seed=0)
    reasoner = Reasoner(ruleset="owl2rl")
    reasoner.load(lubm.ontology_path(), data)
    reasoner.materialise()
    return reasoner


@pytest.mark.filterwarnings("ignore::kg_reasoner.BeyondProfileWarning")
def test_plans_of_an_ontology(university: Reasoner) -> None:
    """The rules that the axioms of LUBM's ontology turn into, with a relation for each property and class."""
    printer = PlanPrinter(university.engine.catalog, {**PREFIXES, **UB})
    planned = [one.rule for one in university.engine.base.materialiser.active_rules()]
    texts = sorted(printer.rule(rule) for rule in planned if has_choices(rule))  # sorted: axioms come in any order
    compare("lubm-rules", "".join(f"{text}\n\n" for text in texts))


@pytest.mark.filterwarnings("ignore::kg_reasoner.BeyondProfileWarning")
def test_plans_of_queries(university: Reasoner, monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernels' plans of the 14 queries of LUBM go by the sizes of the relations."""
    printer = PlanPrinter(university.engine.catalog, {**PREFIXES, **UB})
    plan_query, plans = query.plan_query, list[str]()

    def record(
        memory: Any,
        body: Sequence[StoredAtom],
        checks: Sequence[Any],
        answer: Sequence[str],
        estimate: Callable[[StoredAtom, Collection[str]], float],
        seeds: Sequence[str] = (),
        exact: bool = False,
    ) -> int:
        head = StoredAtom(-1, tuple(answer))
        plans.append(printer.steps(Draft(memory, head, tuple(body), tuple(checks), Use(exact=exact), estimate, seeds)))
        return plan_query(memory, body, checks, answer, estimate, seeds, exact)

    monkeypatch.setattr(query, "plan_query", record)
    graph, lines = graph_of(university), list[str]()
    for name, text in lubm.queries().items():
        plans.clear()
        count = len(graph.query(text))
        shown = "".join(f"    query: {plan}\n" for plan in plans) or "    no plan: the query has one pattern\n"
        lines.append(f"{name}, {count} answers\n{shown}")
    compare("lubm-queries", "\n".join(lines))


def query_plans(reasoner: Reasoner, queries: Iterable[tuple[str, str]]) -> str:
    """The plans of SPARQL queries with their estimates."""
    return "\n".join(f"{name}\n{reasoner.plan(text, prefixes=UB)}\n" for name, text in queries)


SPARQL = [
    (f"sparql-{group.lower()}", [(query.name, query.text) for query in all_queries() if query.group == group])
    for group in (LUBM, UNIVERSITY)
]


@pytest.mark.filterwarnings("ignore::kg_reasoner.BeyondProfileWarning")
@pytest.mark.parametrize(("name", "queries"), SPARQL, ids=[name for name, _ in SPARQL])
def test_plans_of_sparql_queries(university: Reasoner, name: str, queries: Sequence[tuple[str, str]]) -> None:
    """The operators of whole queries, with the join orders, and the estimates on which these depend."""
    compare(name, query_plans(university, queries))


def test_a_worse_join_order_is_noticed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    rules = parse("far(?x, ?z) :- near(?x, ?y), other(?u, ?v), near(?y, ?z), known(?z) .").rules
    before = plans_of(rules, {}, PropertyTables)
    (tmp_path / "far.txt").write_text(before, encoding="utf-8")
    monkeypatch.setattr("tests.planning.test_plans.SNAPSHOTS", tmp_path)
    monkeypatch.delenv("KG_REASONER_SNAPSHOTS", raising=False)
    compare("far", plans_of(rules, {}, PropertyTables))
    monkeypatch.setattr(
        "kg_reasoner.planning.plan_drafts.in_join_order",
        lambda parts, trigger, *_: [(atom, 0) for number, atom in enumerate(parts.body) if number != trigger],
    )
    with pytest.raises(AssertionError, match=r"the plans differ from .*far\.txt"):
        compare("far", plans_of(rules, {}, PropertyTables))
