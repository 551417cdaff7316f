"""The checked mode: pointers and structs that check every access, for kernels that run as Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, get_type_hints

from kg_reasoner.storage.kernels.memory.buffers import block_at
from kg_reasoner.storage.kernels.memory.structs import Struct, struct_of

__all__ = ["at_address", "checked_entry"]


class CheckedPointer:
    """A pointer that knows its array: an access outside raises IndexError, a value that does not fit OverflowError."""

    __slots__ = ("array", "offset")

    def __init__(self, array: Any, offset: int = 0) -> None:
        self.array = array
        self.offset = offset

    def __getitem__(self, index: int) -> int:
        return int(self.array[self._place(index)])

    def __setitem__(self, index: int, value: int) -> None:
        self.array[self._place(index)] = value

    def __add__(self, items: int) -> CheckedPointer:
        return CheckedPointer(self.array, self.offset + items)

    def _place(self, index: int) -> int:
        place = self.offset + index
        if not 0 <= place < self.array.size:
            raise IndexError(f"item {place} of an array of {self.array.size}")
        return place


class CheckedStruct:
    """A struct that checks field names and the arrays behind its pointers."""

    __slots__ = ("_index", "_struct", "_words")

    def __init__(self, struct: type[Struct], words: Any, index: int) -> None:
        if not 0 <= index < len(words):
            raise IndexError(f"{struct.__name__} {index} of {len(words)}")
        object.__setattr__(self, "_struct", struct)
        object.__setattr__(self, "_words", words)
        object.__setattr__(self, "_index", index)

    def __getattr__(self, name: str) -> Any:
        word, kind = self._struct.fields[name]
        value = int(self._words[self._index, word])
        return value if kind is int else at_address(value, kind)

    def __setattr__(self, name: str, value: int) -> None:
        word, kind = self._struct.fields[name]
        if kind is not int:
            raise TypeError(f"kernels never set pointers: {self._struct.__name__}.{name}")
        self._words[self._index, word] = value


class CheckedArray:
    """An array of structs with checked indices."""

    __slots__ = ("first", "struct", "words")

    def __init__(self, struct: type[Struct], words: Any, first: int = 0) -> None:
        self.struct = struct
        self.words = words
        self.first = first

    def __getitem__(self, index: int) -> CheckedStruct:
        return CheckedStruct(self.struct, self.words, self.first + index)


def at_address(value: int, kind: Any) -> Any:
    """Return the object at an address, with checked accesses.

    Raises:
        ValueError: the address is of no living array, or of one with other items.
    """
    struct = struct_of(kind) or kind
    is_struct = issubclass(struct, Struct)
    array = block_at(value)
    if array is None or (array.shape[-1] != len(struct.fields) if is_struct else array.dtype != kind.dtype):
        raise ValueError(f"dangling pointer to {struct.__name__}")
    place = (value - array.ctypes.data) // (array.strides[0] if is_struct else array.itemsize)
    if not is_struct:
        return CheckedPointer(array.reshape(-1), place)
    return CheckedArray(struct, array, place) if struct is not kind else CheckedStruct(struct, array, place)


def checked_entry(function: Callable[..., Any]) -> Callable[..., int]:
    """Return an entry point that takes addresses as the compiled one does, and runs the Python function over checked memory."""
    kinds = [kind for name, kind in get_type_hints(function).items() if name != "return"]

    def call(*arguments: int) -> int:
        values = (value if kind is int else at_address(value, kind) for value, kind in zip(arguments, kinds, strict=True))
        return int(function(*values))

    return call
