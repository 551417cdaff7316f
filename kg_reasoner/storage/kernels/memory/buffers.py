"""Arrays of NumPy that kernels read and write, and their addresses."""

from __future__ import annotations

import ctypes
import os
import weakref
from ctypes import addressof
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = [
    "CHECKED",
    "Argument",
    "Pieces",
    "address",
    "allocate",
    "allocate_each",
    "argument",
    "block_at",
    "borrow",
    "grant",
    "lend",
    "region",
    "repeated",
]

CHECKED = os.environ.get("KG_REASONER_KERNELS") == "checked"
"""Whether kernels run as Python over arrays that are known by their addresses."""

_arrays: weakref.WeakValueDictionary[int, _Block] = weakref.WeakValueDictionary()
"""In checked mode: the arrays that kernels may access, by their addresses."""

_regions: weakref.WeakValueDictionary[int, _Block] = weakref.WeakValueDictionary()
"""Those that pointers may point into."""


class _Block(np.ndarray[Any, Any]):
    """An array whose address can be stored in a struct."""


def grant(nbytes: int) -> None:
    """Allow any number of bytes. Tables call such a function before they grow; this one applies without limits."""


def allocate(shape: int | tuple[int, ...], dtype: npt.DTypeLike, fill: int | None = None) -> Any:
    """Return an array visible to kernels; without `fill` its items are undefined."""
    if fill is None:
        array = np.empty(shape if not isinstance(shape, int) else max(shape, 1), dtype)
    elif fill == 0:
        array = np.zeros(shape, dtype)
    else:
        array = np.empty(shape, dtype)
        array.fill(fill)
    return _registered(array) if CHECKED else array


def region(shape: tuple[int, ...], dtype: npt.DTypeLike) -> Any:
    """Return an array of zeros that pointers may point into."""
    block = allocate(shape, dtype, 0)
    if CHECKED:
        _regions[block.ctypes.data] = block
    return block


def borrow(data: bytes | memoryview) -> Any:
    """Return the bytes of an object as an array that kernels can read, without a copy."""
    array = np.frombuffer(data, np.uint8)
    return _registered(array) if CHECKED else array


class Pieces(NamedTuple):
    """Arrays of one size, and their addresses."""

    arrays: list[Any]
    addresses: npt.NDArray[np.int64]


def allocate_each(count: int, size: int, dtype: npt.DTypeLike, fill: int | None = None) -> Pieces:
    """Return many arrays visible to kernels, all of one size. They share a block, which lives as long as one of them does."""
    if CHECKED:
        arrays = [allocate(size, dtype, fill) for _ in range(count)]
        return Pieces(arrays, np.array([address(array) for array in arrays], np.int64))
    block = allocate((count, size), dtype, fill)
    return Pieces(list(block), address(block) + np.arange(count) * block.strides[0])


def repeated(array: Any, count: int) -> Pieces:
    """Return one array as that of many structs, which never write to it."""
    return Pieces([array] * count, np.full(count, address(array), np.int64))


def lend(array: npt.NDArray[Any]) -> Any:
    """Return an array of Python's, whose items are adjacent, as one that kernels can read, without a copy.

    If kernels know the array already, or a longer one that begins with it, that remains known, also after the lent one is gone.
    """
    if not CHECKED:
        return array
    known = _arrays.get(array.ctypes.data)
    if known is not None and known.dtype == array.dtype and known.size >= array.size:
        return known.reshape(-1)[: array.size].reshape(array.shape)  # a view, which keeps it alive
    return _registered(array)


def _registered(array: npt.NDArray[Any]) -> _Block:
    """Return an array that is known by its address."""
    block = array.view(_Block)
    _arrays[block.ctypes.data] = block
    return block


def block_at(place: int) -> _Block | None:
    """Return the array at an address, or the region or table of structs that contains it, in checked mode."""
    block = _arrays.get(place)
    return block if block is not None else _block_around(place)


def _block_around(place: int) -> _Block | None:
    regions, arrays = _regions.valuerefs(), _arrays.valuerefs()  # copies, as other threads allocate meanwhile
    blocks = [reference() for reference in regions] + [
        block for reference in arrays if (block := reference()) is not None and block.ndim == 2
    ]
    for block in blocks:
        if block is not None and block.ctypes.data <= place < block.ctypes.data + block.nbytes:
            return block
    return None


_first_byte = ctypes.c_char.from_buffer


def address(array: Any) -> int:
    """Return the address of an array made by `allocate`."""
    try:
        return addressof(_first_byte(array))
    except (TypeError, ValueError):  # an array that is empty or cannot be written to; NumPy takes longer to tell its address
        place: int = array.__array_interface__["data"][0]
        return place


Argument: TypeAlias = int | ctypes.c_int64
"""An integer or an address that entries are called with."""


def argument(number: int) -> Argument:
    """Convert an integer that entries are often called with to the form in which they take it, because the conversion takes as long
    as a small kernel.
    """
    return number if CHECKED else ctypes.c_int64(number)
