"""The package's own decorator of dataclasses makes what that of the standard library makes."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import operator
import pickle
from collections.abc import Callable
from dataclasses import field
from typing import Any, ClassVar

import pytest

from kg_reasoner import data_classes


class _Plain:
    a: int
    b: str = "x"
    c: list[int] = field(default_factory=list)
    d: int = field(default=0, compare=False, repr=False)
    e: ClassVar[int] = 7

    def __post_init__(self) -> None:
        assert isinstance(self.c, list)


class _Single:
    """A class with one field."""

    value: float


class _Hashed:
    value: int

    def __hash__(self) -> int:
        return 5


class _Compared:
    value: int

    def __eq__(self, other: object) -> bool:
        return True


class _Empty:
    pass


OPTIONS: list[dict[str, bool]] = [
    {},
    {"slots": True},
    {"frozen": True},
    {"frozen": True, "slots": True},
    {"frozen": True, "slots": True, "order": True},
    {"slots": True, "unsafe_hash": True},
    {"slots": True, "eq": False},
    {"frozen": True, "eq": False},
]
ARGUMENTS: dict[type, list[tuple[Any, ...]]] = {
    _Plain: [(1,), (1, "y"), (1, "x", [2]), (1, "x", [], 3), (2,)],
    _Single: [(1.0,), (2.0,), (float("nan"),)],
    _Hashed: [(1,), (2,)],
    _Compared: [(1,), (2,)],
    _Empty: [()],
}


def outcome(function: Callable[..., Any], *arguments: Any) -> Any:
    """Return what a function returns, or the type of its error."""
    try:
        return function(*arguments)
    except Exception as error:
        return type(error)


def behaviour(cls: Any, arguments: list[tuple[Any, ...]]) -> list[Any]:
    """Return what objects of a dataclass do."""
    objects = [cls(*given) for given in arguments]
    found: list[Any] = [str(inspect.signature(cls)), cls.__match_args__, [(f.name, f.compare) for f in dataclasses.fields(cls)]]
    for compare in (operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge):
        found += [outcome(compare, made, other) for made in objects for other in [*objects, 1]]
    for made in objects:
        found += [repr(made), outcome(hash, made) == outcome(hash, copy.copy(made)), outcome(hash, made) is TypeError]
        found += [outcome(dataclasses.asdict, made)] if "nan" not in repr(made) else []
        for name in cls.__match_args__:
            found += [outcome(setattr, made, name, 1), outcome(delattr, made, name)]
    return found


@pytest.mark.parametrize("options", OPTIONS, ids=lambda options: "+".join(options) or "plain")
@pytest.mark.parametrize("given", ARGUMENTS, ids=lambda given: given.__name__[1:])
def test_classes_are_those_of_the_standard_library(given: type, options: dict[str, bool]) -> None:
    if given is _Hashed and "unsafe_hash" in options:
        pytest.skip("the standard library refuses it")
    members = {name: value for name, value in vars(given).items() if name not in ("__dict__", "__weakref__")}
    ours, theirs = (
        behaviour(decorate(**options)(type(given.__name__, (), dict(members))), ARGUMENTS[given])
        for decorate in (data_classes.dataclass, dataclasses.dataclass)
    )
    assert ours == theirs


@data_classes.dataclass(frozen=True, slots=True)
class Point:
    x: int
    y: list[int] = field(default_factory=list)


@data_classes.dataclass(frozen=True, slots=True)
class Named(Point):
    name: str = "n"


def test_copies_pickles_and_subclasses() -> None:
    for made in (Point(1), Named(1, [2], "m")):
        for same in (copy.copy(made), copy.deepcopy(made), pickle.loads(pickle.dumps(made)), dataclasses.replace(made)):
            assert same == made
            assert type(same) is type(made)
    assert Point(1).y is not Point(1).y
    assert Named(1) != Point(1)
    with pytest.raises(TypeError, match="frozen"):
        data_classes.dataclass(type("Changeable", (Point,), {}))


def test_init_is_compiled_when_an_object_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[type] = []
    compiling = data_classes._init
    monkeypatch.setattr(data_classes, "_init", lambda cls, *given: (compiled.append(cls), compiling(cls, *given))[1])
    pair = data_classes.dataclass(frozen=True, slots=True)(type("Pair", (Point,), {"__annotations__": {"z": "int"}, "z": 3}))
    assert compiled == []
    assert [pair(1).z, pair(1, [], 4).z, pair(1) == pair(1, [])] == [3, 4, True]
    assert compiled == [pair]


def test_objects_in_themselves() -> None:
    point = Point(1)
    point.y.append(point)  # type: ignore[arg-type]
    assert repr(point) == "Point(x=1, y=[...])"
