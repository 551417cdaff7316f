"""The types of what kernels read and write: pointers to items, structs, and arrays of structs."""

from typing import Any, ClassVar, Generic, TypeVar, get_args, get_origin, get_type_hints

import numpy as np

__all__ = ["Array", "Bytes", "Int16s", "Int32s", "Int64s", "Pointer", "Struct", "struct_of"]

S = TypeVar("S", bound="Struct")
P = TypeVar("P", bound="Pointer")


class Pointer:
    """The address of items of one type. ``p[i]`` reads, ``p[i] = v`` writes, ``p + n`` moves by n items."""

    dtype: ClassVar[np.dtype[Any]]

    def __getitem__(self, index: int) -> int:
        raise NotImplementedError

    def __setitem__(self, index: int, value: int) -> None:
        raise NotImplementedError

    def __add__(self: P, items: int) -> P:
        raise NotImplementedError


class Bytes(Pointer):
    dtype = np.dtype(np.uint8)


class Int16s(Pointer):
    dtype = np.dtype(np.int16)


class Int32s(Pointer):
    dtype = np.dtype(np.int32)


class Int64s(Pointer):
    dtype = np.dtype(np.int64)


class Struct:
    """A record of 64-bit words. Subclasses declare their fields as annotations; `fields` maps each name to (word, type)."""

    fields: ClassVar[dict[str, tuple[int, Any]]] = {}

    def __init_subclass__(cls) -> None:
        hints = {name: hint for name, hint in get_type_hints(cls).items() if name not in Struct.__annotations__}
        cls.fields = {name: (word, hint) for word, (name, hint) in enumerate(hints.items())}


class Array(Generic[S]):
    """The address of consecutive structs; ``structs[i]`` is the i-th."""

    def __getitem__(self, index: int) -> S:
        raise NotImplementedError


def struct_of(array_type: Any) -> type[Struct] | None:
    """Return the struct of an ``Array[...]`` type, or None for any other type."""
    return get_args(array_type)[0] if get_origin(array_type) is Array else None
