"""Dataclasses that are made quickly, and frozen ones whose objects are, too.

The decorator of `dataclasses` writes and compiles up to six methods for each class, which was a fifth of the time that it takes to
start. This one lets it collect the fields and make the slots, and compiles only ``__init__``, when it is first called: a process
makes objects of few of its classes. The other methods get the values of fields by `operator.attrgetter`. Terms, atoms and rules are
made by the hundred thousand, so the ``__init__`` of a frozen class with slots calls the setters of its slots, which takes half of
the time of `object.__setattr__`.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable, Sequence
from dataclasses import MISSING, Field, FrozenInstanceError, fields
from operator import attrgetter, ge, gt, le, lt
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any, Final, TypeVar, overload

if TYPE_CHECKING:
    from typing_extensions import dataclass_transform
else:

    def dataclass_transform(**_: object) -> Callable[[object], object]:
        """Do nothing: only type checkers read it."""
        return lambda function: function


__all__ = ["dataclass"]

T = TypeVar("T")


class _Absent:
    """Stands for the product of a factory, in the parameters of ``__init__``."""

    def __repr__(self) -> str:
        return "<factory>"


_ABSENT: Final = _Absent()


@overload
def dataclass(cls: type[T], /) -> type[T]: ...
@overload
def dataclass(
    *, eq: bool = True, order: bool = False, unsafe_hash: bool = False, frozen: bool = False, slots: bool = False
) -> Callable[[type[T]], type[T]]: ...
@dataclass_transform(field_specifiers=(dataclasses.Field, dataclasses.field))
def dataclass(
    cls: type[T] | None = None,
    /,
    *,
    eq: bool = True,
    order: bool = False,
    unsafe_hash: bool = False,
    frozen: bool = False,
    slots: bool = False,
) -> type[T] | Callable[[type[T]], type[T]]:
    """Make a class a dataclass, as `dataclasses.dataclass` does. All fields are parameters of ``__init__``.

    Args:
        cls: The class.
        eq: Whether objects with equal fields are equal.
        order: Whether objects are ordered by their fields.
        unsafe_hash: Whether objects are hashed by their fields though these can change.
        frozen: Whether fields cannot be set.
        slots: Whether objects have slots, and no other attributes.

    Returns:
        The class, a new one if it has slots.

    >>> @dataclass(frozen=True, slots=True)
    ... class Point:
    ...     x: int
    ...     y: int = 0
    >>> Point(1), Point(1) == Point(1, 0), Point(1) == Point(2)
    (Point(x=1, y=0), True, False)
    """

    def made(given: type[T]) -> type[T]:
        own = vars(given)
        hashes = unsafe_hash or (eq and frozen)
        has_hash = own.get("__hash__") is not None
        given.__doc__ = given.__doc__ or given.__name__  # otherwise the signature, which takes long
        inherits = any("__dataclass_params__" in vars(base) for base in given.__mro__[1:])  # then it sees that all are frozen
        new = dataclasses.dataclass(init=False, repr=False, eq=False, frozen=frozen and inherits, slots=slots)(given)
        new.__dataclass_params__.frozen = frozen  # type: ignore[attr-defined]  # what subclasses look at
        found = fields(new)  # type: ignore[arg-type]  # a dataclass
        methods: dict[str, Any] = {"__init__": _Init(new, found, frozen, slots), "__repr__": _repr}
        if frozen:
            methods |= _frozen(new, {field.name for field in found})
        if frozen and slots:
            methods |= {"__getstate__": _state, "__setstate__": _set_state}
        if eq or hashes:
            methods |= _comparing([field.name for field in found if field.compare], eq, order, hashes)
        for name, method in methods.items():
            if name not in own or (name == "__hash__" and not has_hash):
                setattr(new, name, method)
        return new

    return made if cls is None else made(cls)


class _Init:
    """Stands for the ``__init__`` of a class until it is first looked up."""

    def __init__(self, cls: type, found: Sequence[Field[Any]], frozen: bool, slots: bool) -> None:
        self._of = cls, found, frozen, slots

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        init = _init(*self._of)
        self._of[0].__init__ = init  # type: ignore[misc]  # it takes this one's place
        return init.__get__(instance, owner)


def _init(cls: type, found: Sequence[Field[Any]], frozen: bool, slots: bool) -> Any:
    """Return the ``__init__`` of a class."""
    known: dict[str, Any] = {"ABSENT": _ABSENT, "set_any": object.__setattr__}
    parameters, lines = [], []
    for field in found:
        name, value = field.name, field.name
        if field.default_factory is not MISSING:
            known[f"make_{name}"] = field.default_factory
            parameters.append(f"{name}=ABSENT")
            value = f"make_{name}() if {name} is ABSENT else {name}"
        elif field.default is not MISSING:
            known[f"default_{name}"] = field.default
            parameters.append(f"{name}=default_{name}")
        else:
            parameters.append(name)
        if frozen and slots:
            known[f"set_{name}"] = getattr(cls, name).__set__
            lines.append(f" set_{name}(self, {value})")
        else:
            lines.append(f" set_any(self, {name!r}, {value})" if frozen else f" self.{name} = {value}")
    if hasattr(cls, "__post_init__"):
        lines.append(" self.__post_init__()")
    head = [f"def closed({', '.join(known)}):", f" def __init__(self, {', '.join(parameters)}):"]
    written: dict[str, Any] = {}  # the globals are those of the class, in which its type hints are evaluated
    text = "\n".join([*head, *(f" {line}" for line in lines), "  return", " return __init__"])  # names of fields only
    exec(text, vars(sys.modules[cls.__module__]), written)
    init = written["closed"](**known)
    init.__annotations__ = {field.name: field.type for field in found} | {"return": None}
    init.__qualname__, init.__module__ = f"{cls.__qualname__}.__init__", cls.__module__
    return init


def _comparing(names: Sequence[str], eq: bool, order: bool, hashes: bool) -> dict[str, Any]:
    """Return the methods that compare, order and hash objects by some of their fields."""
    hashed: Callable[[Any], Any] = attrgetter(*names) if names else lambda _: ()
    values = attrgetter(*names, *names) if len(names) == 1 else hashed  # a tuple, in which identical values are equal

    def __eq__(self: Any, other: Any) -> Any:
        return values(self) == values(other) if other.__class__ is self.__class__ else NotImplemented

    def __hash__(self: Any) -> int:
        return hash(hashed(self))

    def ordering(compare: Callable[[Any, Any], bool]) -> Callable[[Any, Any], Any]:
        return lambda self, other: compare(values(self), values(other)) if other.__class__ is self.__class__ else NotImplemented

    methods: dict[str, Any] = {"__eq__": __eq__} if eq else {}
    if order:
        methods |= {f"__{compare.__name__}__": ordering(compare) for compare in (lt, le, gt, ge)}
    return methods | {"__hash__": __hash__ if hashes else None}


def _frozen(cls: Any, names: set[str]) -> dict[str, Any]:
    """Return the methods that keep the fields of objects from being set."""

    def __setattr__(self: Any, name: str, value: Any) -> None:
        if type(self) is cls or name in names:
            raise FrozenInstanceError(f"cannot assign to field {name!r}")
        super(cls, self).__setattr__(name, value)

    def __delattr__(self: Any, name: str) -> None:
        if type(self) is cls or name in names:
            raise FrozenInstanceError(f"cannot delete field {name!r}")
        super(cls, self).__delattr__(name)

    return {"__setattr__": __setattr__, "__delattr__": __delattr__}


@recursive_repr()
def _repr(self: Any) -> str:
    shown = ", ".join(f"{field.name}={getattr(self, field.name)!r}" for field in fields(self) if field.repr)
    return f"{self.__class__.__qualname__}({shown})"


def _state(self: Any) -> list[Any]:
    """Return what copies and pickles of an object of a frozen class with slots have."""
    return [getattr(self, field.name) for field in fields(self)]


def _set_state(self: Any, state: Sequence[Any]) -> None:
    for field, value in zip(fields(self), state, strict=True):
        object.__setattr__(self, field.name, value)
