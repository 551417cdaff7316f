"""When rules change, only what has changed is looked at again; what is remembered must never be wrong."""

from __future__ import annotations

import copy
import pickle
from itertools import pairwise

import pytest

from kg_reasoner.api.reasoner import Reasoner
from kg_reasoner.engine.maintenance import STRATEGIES
from kg_reasoner.errors import ArityError
from kg_reasoner.language.parser import parse
from kg_reasoner.program import Program, Rule, remembered
from kg_reasoner.storage.relations import arguments, changing_relations
from kg_reasoner.storage.terms.dictionary import Dictionary
from kg_reasoner.terms import IRI, BlankNode, Term, literal, term_text

PREFIX = "@prefix e: <http://example.org/> ."
p, q, x, y = (IRI(f"http://example.org/{name}") for name in "pqxy")


def rules(text: str) -> tuple[Rule, ...]:
    return parse(f"{PREFIX} {text}").rules


def test_rules_remember_what_functions_say_of_them() -> None:
    seen = []

    @remembered
    def length(rule: Rule) -> int:
        seen.append(rule)
        return len(rule.body)

    one, other = rules("a(?x) :- b(?x), c(?x) . a(?x) :- b(?x) .")
    assert [length(one), length(one), length(other), length(one)] == [2, 2, 1, 2]
    assert seen == [one, other]


def test_copies_of_rules_are_equal_and_remember_nothing() -> None:
    (rule,) = rules("a(?x) :- b(?x), FILTER(?x > 5) .")
    number = hash(rule)
    assert remembered(lambda _: 1)(rule) == 1
    for same in (copy.copy(rule), copy.deepcopy(rule), pickle.loads(pickle.dumps(rule)), Rule(rule.head, rule.body, rule.origin)):
        assert same == rule
        assert hash(same) == number
        assert same.origin == rule.origin
        assert same is rule or not hasattr(same, "_known")


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_copy_that_two_rules_have_goes_with_the_last_of_them(strategy: str) -> None:
    """The first rule, with p for ``?a``, is the second."""
    general, special = rules("[?y, ?a, ?x] :- [?x, ?a, ?y] . [?y, e:p, ?x] :- [?x, e:p, ?y] .")
    for first, second in ((general, special), (special, general)):
        reasoner = Reasoner(maintenance=strategy)
        reasoner.add_triples([(x, p, y), (x, q, y)])
        there = {(x, p, y), (x, q, y)}
        for rule in (first, second, first):
            reasoner.add_program(Program((rule,)))
            assert (y, p, x) in set(reasoner.triples())
        reasoner.remove_rules([first])
        assert set(reasoner.triples()) == there | ({(y, p, x)} if second is special else {(y, p, x), (y, q, x)})
        reasoner.remove_rules([second])
        assert set(reasoner.triples()) == there


def test_the_property_of_a_head_expands_its_own_rule() -> None:
    reasoner = Reasoner(f"{PREFIX} [?a, e:q, ?a] :- [?x, ?a, ?x] .")
    reasoner.add_triples([(x, p, x)])
    assert set(reasoner.triples()) == {(x, p, x), (p, q, p), (q, q, q)}


def test_rules_wait_for_facts_and_for_each_other() -> None:
    reasoner = Reasoner(f"{PREFIX} c(?x) :- b(?x) . d(?x) :- c(?x), [?x, e:p, ?y] .")
    reasoner.add_facts("a", [(x,)])
    assert list(reasoner.facts("d")) == []
    (bridge,) = rules("b(?x) :- a(?x) .")
    reasoner.add_program(f"{PREFIX} b(?x) :- a(?x) .")
    assert list(reasoner.facts("c")) == [(x,)]
    reasoner.add_triples([(x, p, y)])
    assert list(reasoner.facts("d")) == [(x,)]
    reasoner.remove_rules([bridge])
    assert list(reasoner.facts("d")) == list(reasoner.facts("c")) == []
    reasoner.add_program(f"{PREFIX} b(?x) :- a(?x) .")
    assert list(reasoner.facts("d")) == [(x,)]


def test_arities_follow_the_program() -> None:
    reasoner = Reasoner("a(?x) :- b(?x) .")
    reasoner.add_facts("b", [(x,)])
    reasoner.add_program("c(?x, ?y) :- d(?x, ?y) .")
    with pytest.raises(ArityError, match="c has 2 arguments, not 1"):
        reasoner.add_facts("c", [(x,)])
    reasoner.add_facts("e", [(x, y, x)])
    with pytest.raises(ArityError, match="e has 3 arguments, not 1"):
        reasoner.add_facts("e", [(x,)])
    with pytest.raises(ArityError, match="b has 2 arguments here and 1"):
        reasoner.add_program("f(?x) :- b(?x, ?y) .")


def test_texts_are_found_all_at_once() -> None:
    dictionary = Dictionary()
    terms: list[Term] = [x, BlankNode("b"), literal("ä \n"), literal(5)]
    numbers = [dictionary.encode(term) for term in terms]
    texts = [term_text(term) for term in (*terms, y, x)]
    assert dictionary.find_texts(texts).tolist() == [*numbers, -1, numbers[0]]
    assert len(dictionary.find_texts([])) == 0
    assert len(dictionary) == len(terms)


@pytest.mark.parametrize("room", [1, arguments.RETAINED])
@pytest.mark.parametrize("strategy", ["backward-forward", "delete-rederive", "counting"])
def test_deltas_do_not_depend_on_the_room_for_them(strategy: str, room: int, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (arguments, changing_relations):
        monkeypatch.setattr(module, "RETAINED", room)
    reasoner = Reasoner("path(?x, ?y) :- edge(?x, ?y) . path(?x, ?z) :- path(?x, ?y), edge(?y, ?z) .", maintenance=strategy)
    nodes = [literal(number) for number in range(4)]
    reasoner.add_facts("edge", pairwise(nodes))
    reasoner.add_facts("path", [(nodes[0], nodes[1]), (nodes[1], nodes[3])])
    with reasoner.transaction() as transaction:
        transaction.remove_facts("edge", [(nodes[1], nodes[2])])
        transaction.remove_facts("path", [(nodes[0], nodes[1])])
        transaction.add_facts("path", [(nodes[2], nodes[3]), (nodes[3], nodes[0])])
    assert transaction.delta.text().split("\n") == [
        "- edge(1, 2)  explicit",
        "- path(0, 2)  derived",
        "- path(0, 3)  derived",
        "- path(1, 2)  derived",
        "+ path(3, 0)  explicit",
        "+ path(3, 1)  derived",
        "= path(2, 3)  explicit now",
        "= path(0, 1)  derived now",
    ]
