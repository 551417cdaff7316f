"""Text where several things belong is refused: taken for its characters, it would do nothing, or something else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from rdflib import Literal as RdflibLiteral

from kg_reasoner import Reasoner
from kg_reasoner.api.update import Update
from kg_reasoner.errors import LoadError, StreamError
from kg_reasoner.terms import IRI, literal

RULE = "later(?y, ?x) :- box(?x, ?y) ."
PROGRAM = f"input relation box(id: string, place: string) primary key (id) . {RULE}"

Call = Callable[[Any, Any], object]

CALLS: dict[str, Call] = {
    "remove_rules": lambda made, text: made.remove_rules(text),
    "remove_rules, listed": lambda made, text: made.remove_rules([text]),
    "delete_key": lambda made, text: made.delete_key("box", text),
    "add_triples": lambda made, text: made.add_triples(text),
    "remove_triples": lambda made, text: made.remove_triples(text),
    "add_facts": lambda made, text: made.add_facts("box", text),
    "add_facts, listed": lambda made, text: made.add_facts("box", [text]),
    "remove_facts": lambda made, text: made.remove_facts("box", text),
    "insert_or_update": lambda made, text: made.insert_or_update("box", text),
    "add_table": lambda made, text: made.add_table("box", {"a": ["x"], "b": ["y"]}, columns=text),
    "remove_table": lambda made, text: made.remove_table("box", {"a": ["a"], "b": ["b"]}, columns=text),
}
READS: dict[str, Call] = {
    "facts": lambda made, text: list(made.facts("box", arguments=text)),
    "know": lambda made, text: made.know(text),
    "remove_rules, a rule": lambda made, text: made.remove_rules(made.program.rules[0]),
    "remove_rules, a program": lambda made, text: made.remove_rules(made.program),
}


def boxes() -> Reasoner:
    made = Reasoner(PROGRAM)
    made.add_facts("box", [(literal("a"), literal("b")), (literal("b"), literal("b"))])
    made.add_triples([(IRI("urn:a"), IRI("urn:b"), IRI("urn:c"))])
    return made


def state(made: Reasoner) -> object:
    return made.program.rules, sorted(made.facts("box"), key=repr), sorted(made.facts("later"), key=repr), len(list(made.triples()))


@pytest.mark.parametrize("text", ["ab", RdflibLiteral("ab"), b"ab", RULE], ids=["text", "rdflib", "bytes", "rule"])
@pytest.mark.parametrize("name", [*CALLS, *READS])
def test_text_is_refused(name: str, text: Any) -> None:
    made = boxes()
    before = state(made)
    with pytest.raises(LoadError):
        {**CALLS, **READS}[name](made, text)
    assert state(made) == before


@pytest.mark.parametrize("name", CALLS)
def test_text_is_refused_in_transactions(name: str) -> None:
    made = boxes()
    before = state(made)
    with pytest.raises(LoadError), made.transaction() as transaction:
        CALLS[name](transaction, "ab")
    assert state(made) == before


def test_text_is_refused_in_updates() -> None:
    made = boxes()
    before = state(made)
    for update in (Update(remove_rules=RULE), Update(added={"box": "ab"}), Update(removed={"box": "ab"})):  # type: ignore[arg-type, dict-item]
        with pytest.raises(StreamError):
            list(made.process([update]))
        assert state(made) == before


def test_the_error_says_what_to_give() -> None:
    made = boxes()
    with pytest.raises(LoadError, match="is not a list of rules") as caught:
        made.remove_rules(RULE)  # type: ignore[arg-type]
    assert "parse(text).rules" in str(caught.value.hint)
    made.delete_key("box", ["a"])
    assert [key.lexical for key, _ in made.facts("box")] == ["b"]
