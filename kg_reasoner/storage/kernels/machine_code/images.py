"""Images of compiled kernels: position-independent machine code that is mapped into memory as it is, without a linker or LLVM.

An image needs nothing but the addresses of a few functions of the C library and of other images, which have slots in it. `linking`
makes images.
"""

from __future__ import annotations

import ctypes
import json
import mmap
import os
from collections.abc import Mapping
from dataclasses import asdict, field
from typing import Any

from kg_reasoner.data_classes import dataclass

__all__ = ["Image", "map_image", "packed", "unpacked"]


@dataclass(frozen=True)
class Image:
    """Machine code, and where its entry points are."""

    key: str
    """Identifies the sources and the target of the code, which is used only while both are the same."""
    entries: dict[str, int]
    """Where each symbol begins in the code."""
    imports: dict[str, int]
    """For each function of another image or the C library, the slot in the code for its address."""
    code: bytes
    signatures: dict[str, list[int]] = field(default_factory=dict)
    """For each kernel that Python calls, the number of its arguments, and 1 if it is brief."""
    groups: list[str] = field(default_factory=list)
    """The groups of kernels that have the functions of other images."""
    homes: dict[str, str] = field(default_factory=dict)
    """The group of each kernel of all groups that Python calls, so that the first image says where the others are."""


def packed(image: Image) -> bytes:
    """Return the content of a file with an image.

    >>> image = Image("key", {"run": 0}, {}, b"code", {"run": [1, 0]}, ["evaluation"])
    >>> unpacked(packed(image)) == image
    True
    """
    fields = asdict(image)
    code = fields.pop("code")
    return json.dumps(fields).encode() + b"\n" + code


def unpacked(content: bytes) -> Image:
    """Return the image packed by `packed`."""
    header, _, code = content.partition(b"\n")
    return Image(**json.loads(header), code=code)


_mapped: list[Any] = []  # the memory of all images, which stays as long as the process

_PROTECT_READ, _PROTECT_EXECUTE = 1, 4


def map_image(image: Image, others: Mapping[str, int] | None = None) -> dict[str, int]:
    """Copy an image to memory that can be executed and no longer written to.

    Args:
        image: The image.
        others: The addresses of symbols of other images. All other symbols are functions of the C library.

    Returns:
        The address of each symbol.

    Raises:
        OSError: the operating system does not permit this.
    """
    library, known = ctypes.CDLL(None, use_errno=True), others or {}
    memory = mmap.mmap(-1, len(image.code), flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    memory[: len(image.code)] = image.code
    for name, slot in image.imports.items():
        address = known[name] if name in known else ctypes.cast(getattr(library, name), ctypes.c_void_p).value or 0
        memory[slot : slot + 8] = address.to_bytes(8, "little")
    held = ctypes.c_char.from_buffer(memory)
    start = ctypes.addressof(held)
    if library.mprotect(ctypes.c_void_p(start), ctypes.c_size_t(len(image.code)), _PROTECT_READ | _PROTECT_EXECUTE):
        error = ctypes.get_errno()
        raise OSError(error, f"compiled kernels cannot be made executable ({os.strerror(error)})")
    _mapped.append((memory, held))
    return {name: start + offset for name, offset in image.entries.items()}
