"""Terms and parts of rules as objects of Python: copies, pickles, equality, keywords. They are dataclasses of `data_classes`."""

from __future__ import annotations

import copy
import pickle
from dataclasses import FrozenInstanceError, asdict, dataclass, fields, replace
from inspect import signature
from typing import Any

import pytest

from kg_reasoner.program import Atom, Bind, Call, Filter, Negation, Origin, Rule, Variable
from kg_reasoner.terms import IRI, BlankNode, Literal

X = Variable("x")
OBJECTS: list[Any] = [
    IRI("urn:a"),
    BlankNode("a"),
    Literal("a", language="en"),
    X,
    Atom("p", (X,)),
    Call("+", (X, X)),
    Negation(Atom("p", (X,))),
    Filter(X),
    Bind(X, X),
    Origin("name", axioms=("axiom",)),
    Rule(Atom("p", (X,)), (Atom("q", (X,)),)),
]


@pytest.mark.parametrize("made", OBJECTS, ids=lambda made: type(made).__name__)
def test_copies_are_equal(made: Any) -> None:
    given = {field.name: getattr(made, field.name) for field in fields(made)}
    for same in (copy.copy(made), copy.deepcopy(made), pickle.loads(pickle.dumps(made)), replace(made), type(made)(**given)):
        assert same == made
        assert hash(same) == hash(made)
        assert repr(same) == repr(made)
    assert list(asdict(made)) == list(given) == list(signature(type(made)).parameters)
    with pytest.raises(FrozenInstanceError):
        setattr(made, next(iter(given)), None)
    with pytest.raises(TypeError):
        type(made)(**given, other=None)


@dataclass(frozen=True)
class Noted(IRI):
    note: str = ""


def test_terms_of_subclasses_are_different() -> None:
    """As for all dataclasses: equality is transitive, and goes with hashes, whatever the subclass adds."""

    class Label(BlankNode):
        pass

    assert Noted("urn:a", "b") == Noted("urn:a", "b") != Noted("urn:a", "c")
    assert IRI("urn:a") != Noted("urn:a", "b") != IRI("urn:a")
    assert BlankNode("a") != Label("a") == Label("a")
    assert IRI("a") != BlankNode("a") != Literal("a")
