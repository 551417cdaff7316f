"""Many rules at once: plans that are made together for the rules of a shape equal those made one by one."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kg_reasoner import Reasoner
from kg_reasoner.engine.evaluation import planned_strata
from kg_reasoner.planning import rule_shapes
from kg_reasoner.planning.catalog import DISTINCT_TERMS, StoredAtom, StoredCall, StoredComparison, StoredRule
from kg_reasoner.planning.planner import plan_backward, plan_rule, plan_trigger
from kg_reasoner.planning.rule_shapes import ShapedPlans, outline
from kg_reasoner.program import Atom, Rule
from kg_reasoner.storage.databases.database import Database
from kg_reasoner.storage.kernels.layout import CALL, CHECK, EMPTY, PROBE, SCAN, SKIP, Plan, Step
from kg_reasoner.storage.kernels.primitives import mix
from kg_reasoner.storage.relations.plan_memory import PlanMemory
from kg_reasoner.terms import IRI, OWL, RDF, RDFS, BlankNode, Triple

KINDS = {1: (0, 1, 2), 2: (3, 4, 5), 3: (6, 7)}
"""Relations by their number of columns. Those with three are grouped by the second one."""
RESULTS = {1: (8, 9), 2: (10, 11)}
"""The relations of functions by their number of arguments."""
VARIABLES = ("x", "y", "z")
SOURCE = Rule(Atom("p", ()))


def database() -> Database:
    made = Database()
    for columns, relations in KINDS.items():
        made.add_relations(len(relations), columns, 1 if columns == 3 else -1)
    for arguments, relations in RESULTS.items():
        made.add_relations(len(relations), arguments + 1, -1)
    return made


def atoms(terms: st.SearchStrategy[int | str]) -> st.SearchStrategy[StoredAtom]:
    return st.sampled_from([*KINDS]).flatmap(
        lambda columns: st.builds(StoredAtom, st.sampled_from(KINDS[columns]), st.tuples(*[terms] * columns))
    )


@st.composite
def rules(draw: st.DrawFn) -> StoredRule:
    terms = st.sampled_from(VARIABLES) | st.integers(0, 4)
    body = draw(st.lists(atoms(terms), min_size=1, max_size=4))
    bound = sorted({term for atom in body for term in atom.terms if isinstance(term, str)})
    known = st.sampled_from(bound) | st.integers(0, 4) if bound else st.integers(0, 4)
    for atom in draw(st.lists(atoms(terms), max_size=1)):
        body.insert(draw(st.integers(0, len(body))), StoredAtom(atom.relation, atom.terms, negated=True))
    comparisons = st.builds(StoredComparison, st.sampled_from(["=", "!=", "<", DISTINCT_TERMS]), known, known)
    checks: list[StoredComparison | StoredCall] = draw(st.lists(comparisons, max_size=1))
    if bound and draw(st.booleans()):
        arguments = tuple(draw(st.lists(st.sampled_from(bound), min_size=1, max_size=2)))
        result = draw(st.sampled_from([None, "value", *bound]))
        has_several = result == "value" and draw(st.booleans())
        relation = draw(st.sampled_from(RESULTS[len(arguments)]))
        checks.append(StoredCall(draw(st.integers(0, 1)), relation, arguments, result, has_several))
    return StoredRule(draw(atoms(known)), tuple(body), tuple(checks), SOURCE)


@st.composite
def rules_of_shapes(draw: st.DrawFn) -> list[StoredRule]:
    """Rules, and the same ones with other relations and constants."""
    found = []
    for rule in draw(st.lists(rules(), min_size=1, max_size=3)):
        found.append(rule)
        for _ in range(draw(st.integers(0, 2))):
            kinds = (*KINDS.values(), *RESULTS.values())
            relations = {old: new for kind in kinds for old, new in zip(kind, draw(st.permutations(kind)), strict=True)}
            constants = draw(st.permutations(range(5)))
            found.append(renamed(rule, relations.__getitem__, constants.__getitem__))
    return found


@st.composite
def changed_rules(draw: st.DrawFn) -> tuple[StoredRule, StoredRule, bool]:
    """A rule, the same with other relations and constants in some places, and whether that is a renaming: one-to-one."""
    rule, pairs = draw(rules()), set[tuple[str, int, int]]()

    def changed(what: str, old: int, choices: Sequence[int]) -> int:
        new = draw(st.just(old) | st.sampled_from(choices))
        pairs.add((what, old, new))
        return new

    def relation(old: int) -> int:
        (kind,) = (kind for kind in (*KINDS.values(), *RESULTS.values()) if old in kind)
        return changed("relation", old, kind)

    other = renamed(rule, relation, lambda old: changed("constant", old, range(5)))
    is_renaming = len({pair[:2] for pair in pairs}) == len(pairs) == len({pair[::2] for pair in pairs})
    return rule, other, is_renaming


def renamed(rule: StoredRule, relation: Callable[[int], int], constant: Callable[[int], int]) -> StoredRule:
    def term(old: int | str) -> int | str:
        return old if isinstance(old, str) else constant(old)

    def atom(old: StoredAtom) -> StoredAtom:
        return StoredAtom(relation(old.relation), tuple(map(term, old.terms)), old.negated)

    def check(old: StoredComparison | StoredCall) -> StoredComparison | StoredCall:
        if isinstance(old, StoredCall):
            return replace(old, relation=relation(old.relation))
        return StoredComparison(old.operator, term(old.left), term(old.right))

    return StoredRule(atom(rule.head), tuple(map(atom, rule.body)), tuple(map(check, rule.checks)), rule.rule)


def meaning(memory: Database, number: int, trigger: int) -> Iterator[Any]:
    """Yield the fields of a plan and its steps, with indexes and lists of codes in place of their numbers."""
    plan = memory.plans[number]
    names = {index: key for key, index in memory._indexes.items()}

    def codes(first: int, count: int) -> list[int]:
        return [int(code) for code in memory._codes[first : first + count]]

    yield {name: getattr(plan, name) for name in Plan.fields if name not in ("first_step", "trigger", "head")}
    yield codes(plan.trigger, trigger), codes(plan.head, memory.relations[plan.head_relation].arity)
    for place in range(plan.first_step, plan.first_step + plan.step_count):
        step = memory.steps[place]
        fields = {name: getattr(step, name) for name in Step.fields if name not in ("key", "columns", "index", "guard")}
        matched = step.kind == SCAN or (step.kind == PROBE and step.value_slot == CHECK)
        has_result = step.kind == CALL and step.value_slot == SKIP
        yield fields, codes(step.key, step.width + has_result)
        yield codes(step.columns, memory.relations[step.relation].arity if matched or step.kind == CALL else 0)
        yield names[step.index] if step.kind in (PROBE, CALL) else None, names[step.guard] if step.guard >= 0 else None


def ways(exact: bool) -> dict[str, Any]:
    """The kinds of plans: how those of a rule are written, and the columns of the row that triggers each of them."""

    def triggered(memory: PlanMemory, rule: StoredRule, number: int) -> None:
        for position in range(len(rule.body)):
            plan_trigger(memory, rule, number, position, exact)

    return {
        "triggered": (triggered, lambda rule: [len(atom.terms) for atom in rule.body]),
        "whole": (lambda memory, rule, number: plan_rule(memory, rule, number, exact), lambda rule: [0]),
        "backward": (plan_backward, lambda rule: [len(rule.head.terms)]),
    }


@given(rules_of_shapes(), st.booleans(), st.integers(1, 3))
def test_plans_made_together_are_those_made_one_by_one(found: list[StoredRule], exact: bool, many: int) -> None:
    for write, triggers in ways(exact).values():
        single, together = database(), database()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(rule_shapes, "_MANY", many)
            first = ShapedPlans(together, write).write([(rule, 10 + number) for number, rule in enumerate(found)])
        for number, (rule, plan) in enumerate(zip(found, first, strict=True)):
            start = len(single.plans)
            write(single, rule, 10 + number)
            for place, trigger in enumerate(triggers(rule)):
                expected = list(meaning(single, start + place, trigger))
                assert list(meaning(together, plan + place, trigger)) == expected
        assert single._indexes.keys() == together._indexes.keys()
        assert (together.frames.bindings, together.frames.depth) >= (single.frames.bindings, single.frames.depth)


@given(rules_of_shapes(), st.booleans(), st.integers(1, 3), st.data())
def test_plans_out_of_use_are_replaced(found: list[StoredRule], exact: bool, many: int, data: st.DataObject) -> None:
    gone = data.draw(st.sets(st.integers(0, len(found) - 1)))
    again = data.draw(st.permutations(sorted(gone)))
    for write, triggers in ways(exact).values():
        single, together = database(), database()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(rule_shapes, "_MANY", many)
            plans = ShapedPlans(together, write)
            first = plans.write([(rule, 10 + number) for number, rule in enumerate(found)])
            sizes = len(together.plans), len(together.steps), together._code_count
            for number in gone:
                plans.release(found[number], first[number])
            replaced = plans.write([(found[number], 10 + number) for number in again])
        assert (len(together.plans), len(together.steps), together._code_count) == sizes
        assert sorted(replaced) == sorted(first[number] for number in gone)
        first = [dict(zip(again, replaced, strict=True)).get(number, plan) for number, plan in enumerate(first)]
        for number, (rule, plan) in enumerate(zip(found, first, strict=True)):
            start = len(single.plans)
            write(single, rule, 10 + number)
            for place, trigger in enumerate(triggers(rule)):
                assert list(meaning(together, plan + place, trigger)) == list(meaning(single, start + place, trigger))


@given(changed_rules())
def test_rules_have_one_shape_if_they_can_be_renamed_to_each_other(found: tuple[StoredRule, StoredRule, bool]) -> None:
    one, other, is_renaming = found
    memory = database()
    first, second = outline(memory, one), outline(memory, other)
    assert (first.shape == second.shape) == is_renaming
    if is_renaming:
        relations = dict(zip(first.relations, second.relations, strict=True))
        constants = dict(zip(first.constants, second.constants, strict=True))
        assert renamed(one, relations.__getitem__, constants.__getitem__) == other


def tree(count: int) -> Iterator[Triple]:
    """Classes in a tree, each with a property and an existential."""
    for number in range(count):
        cls, property, node = (IRI(f"http://example.org/{kind}{number}") for kind in ("C", "p", "r"))
        above = IRI(f"http://example.org/C{number // 2}")
        yield cls, RDFS.subClassOf, above
        yield property, RDFS.domain, cls
        yield property, RDFS.range, above
        blank = BlankNode(node.value[-5:].strip("/."))
        yield blank, RDF.type, OWL.Restriction
        yield blank, OWL.onProperty, property
        yield blank, OWL.someValuesFrom, above
        yield blank, RDFS.subClassOf, cls
        yield IRI(f"http://example.org/x{number}"), property, IRI(f"http://example.org/x{number + 1}")
        yield IRI(f"http://example.org/x{number + 1}"), RDF.type, above


def test_an_ontology_is_planned_by_shapes_and_not_by_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    planned = []
    monkeypatch.setattr(planned_strata, "plan_trigger", lambda *given: planned.append(given) or plan_trigger(*given))
    reasoner = Reasoner(ruleset="owl2rl")
    reasoner.add_triples(tree(100))
    reasoner.materialise()
    assert len(reasoner.rules) > 350 and len(planned) < 60
    inferred = set(reasoner.triples(which="inferred"))
    monkeypatch.setattr(rule_shapes, "_MANY", 1 << 30)
    other = Reasoner(ruleset="owl2rl")
    other.add_triples(tree(100))
    other.materialise()
    assert len(planned) > 350 and set(other.triples(which="inferred")) == inferred


def test_axioms_that_come_and_go_leave_no_plans() -> None:
    reasoner = Reasoner(ruleset="owl2rl")
    reasoner.add_triples(tree(30))
    taken, kept = [], []

    def planned() -> int:
        # not `isinstance`, which would follow weak proxies of other tests, whose objects may be gone
        return sum(type(each) is planned_strata.PlannedRule for each in gc.get_objects())

    for number in range(60):
        axiom = IRI(f"http://example.org/C{number % 29 + 1}"), RDFS.subClassOf, IRI(f"http://example.org/C{number % 7 + 30}")
        reasoner.add_triples([axiom])
        reasoner.materialise()
        reasoner.remove_triples([axiom])
        reasoner.materialise()
        database = reasoner.engine.base.database
        taken.append((len(database.plans), len(database.steps), database._code_count))
        if number in (10, 59):  # looking at all objects takes long
            kept.append(planned())
    assert taken[-1] == taken[10] and kept[1] <= kept[0]


def test_sections_are_found_however_many_there_are() -> None:
    made = database()
    sections = {constant: made.section(6, constant) for constant in range(7, 700, 3)}
    assert {constant: made.section(6, constant) for constant in sections} == sections
    record, found = made.relations[6], {}
    for constant in sections:
        slot = mix(constant) & record.section_mask
        while record.section_keys[slot] not in (EMPTY, constant):
            slot = (slot + 1) & record.section_mask
        found[constant] = record.section_ids[slot]
    assert found == sections
    assert made.relations[7].section_keys[0] == EMPTY


@pytest.mark.long
def test_new_facts_are_followed_through_many_relations() -> None:
    """Each relation comes before the one that it is derived from, and two ways lead to some of them."""
    count = 1_500
    links = "".join(f"p{number}(?x) :- p{number + 1}(?x) .\n" for number in range(count))
    others = "".join(f"q{number}(?x) :- p{number}(?x), start(?x) .\n" for number in range(count))
    reasoner = Reasoner(f"{links}{others} p{count}(1) . p{count}(2) . p{count // 2}(3) . start(2) .")
    reasoner.materialise()
    expected = {f"p{number}": {1, 2} | ({3} if number <= count // 2 else set()) for number in range(count + 1)}
    expected |= {f"q{number}": {2} for number in range(count)}
    found = {predicate: {int(terms[0].lexical) for terms in reasoner.facts(predicate)} for predicate in expected}
    assert found == expected
