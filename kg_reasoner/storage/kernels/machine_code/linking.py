"""Link object code to an image: lay out its sections, resolve what refers from one place to another, add slots for imports.

Object code is a relocatable ELF file for x86-64 or AArch64 that LLVM emits as position-independent code; so all references are
relative, but those to the C library, which go through a stub with a slot for the address.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from typing import NamedTuple

from kg_reasoner.storage.kernels.machine_code.images import Image

__all__ = ["linked"]

_ALLOCATED = 2  # a flag of sections
_RELOCATIONS, _SYMBOLS, _NO_BITS = 4, 2, 8  # types of sections
_X86_64, _AARCH64 = 62, 183  # machines

_PAGE = 4096

_STUBS = {
    _X86_64: bytes.fromhex("ff2502000000 0f0b"),  # jmp *slot(%rip); the slot follows
    _AARCH64: bytes.fromhex("50000058 00021fd6"),  # ldr x16, slot; br x16; the slot follows
}


class _Section(NamedTuple):
    name: int
    type: int
    flags: int
    address: int
    offset: int
    size: int
    link: int
    info: int
    alignment: int
    entry_size: int


class _Symbol(NamedTuple):
    name: str
    section: int
    value: int


def linked(code: bytes, prefix: str, key: str) -> Image:
    """Return the image of some object code.

    Args:
        code: the object code.
        prefix: how the symbols of entry points begin.
        key: what the code was compiled from and for.

    Raises:
        ValueError: the object code refers to something in a way that is not supported.
    """
    (machine,) = struct.unpack_from("<H", code, 18)
    sections = _sections(code)
    starts, image = _layout(code, sections)
    symbols = _symbols(code, sections)
    imports: dict[str, int] = {}
    places = []
    for symbol in symbols:
        if symbol.section == 0 and symbol.name:
            imports.setdefault(symbol.name, _add_stub(image, machine))
            places.append(imports[symbol.name])
        else:
            places.append(starts.get(symbol.section, 0) + symbol.value)
    for target, offset, number, kind, addend in _relocations(code, sections):
        if target in starts:
            place = starts[target] + offset
            _RELOCATORS[machine](image, place, places[number] + addend, kind)
    entries = {symbol.name: place for symbol, place in zip(symbols, places, strict=True) if symbol.name.startswith(prefix)}
    slots = {name: stub + len(_STUBS[machine]) for name, stub in imports.items()}
    image.extend(bytes(-len(image) % _PAGE))
    return Image(key, entries, slots, bytes(image))


def _sections(code: bytes) -> list[_Section]:
    """Return the section headers."""
    (first,) = struct.unpack_from("<Q", code, 40)
    size, count = struct.unpack_from("<HH", code, 58)
    return [_Section(*struct.unpack_from("<IIQQQQIIQQ", code, first + number * size)) for number in range(count)]


def _layout(code: bytes, sections: list[_Section]) -> tuple[dict[int, int], bytearray]:
    """Return where each section begins that is loaded, and all of them one after the other."""
    starts: dict[int, int] = {}
    image = bytearray()
    for number, section in enumerate(sections):
        if section.flags & _ALLOCATED:
            image.extend(bytes(-len(image) % max(section.alignment, 1)))
            starts[number] = len(image)
            filled = section.type != _NO_BITS
            image.extend(code[section.offset : section.offset + section.size] if filled else bytes(section.size))
    return starts, image


def _symbols(code: bytes, sections: list[_Section]) -> list[_Symbol]:
    """Return the symbols of object code, in the order of its tables."""
    found = []
    for section in sections:
        if section.type == _SYMBOLS:
            names = sections[section.link].offset
            for offset in range(section.offset, section.offset + section.size, 24):
                name, _, _, place, value, _ = struct.unpack_from("<IBBHQQ", code, offset)
                found.append(_Symbol(code[names + name : code.index(b"\0", names + name)].decode(), place, value))
    return found


def _relocations(code: bytes, sections: list[_Section]) -> Iterator[tuple[int, int, int, int, int]]:
    """Yield for each reference its section and offset, the symbol's number, its kind and addend."""
    for section in sections:
        if section.type == _RELOCATIONS:
            for place in range(section.offset, section.offset + section.size, 24):
                offset, information, addend = struct.unpack_from("<QQq", code, place)
                yield section.info, offset, information >> 32, information & 0xFFFFFFFF, addend


def _add_stub(image: bytearray, machine: int) -> int:
    """Append a jump to an address that is filled in later, behind it. Return the place of the jump."""
    image.extend(bytes(-len(image) % 8))
    place = len(image)
    image.extend(_STUBS[machine] + bytes(8))
    return place


def _relocate_x86_64(image: bytearray, place: int, target: int, kind: int) -> None:
    if kind == 24:  # R_X86_64_PC64
        struct.pack_into("<q", image, place, target - place)
    elif kind in (2, 4):  # R_X86_64_PC32, R_X86_64_PLT32
        struct.pack_into("<i", image, place, target - place)
    else:
        raise ValueError(f"x86-64 object code has a relocation of type {kind}")


_LOW_BITS = {277: 0, 278: 0, 284: 1, 285: 2, 286: 3, 299: 4}
"""Relocations of AArch64 that are a place in a page of 4 KB (ADD, LDST8 to LDST128): the bits that are not encoded."""


def _relocate_aarch64(image: bytearray, place: int, target: int, kind: int) -> None:
    distance = target - place
    if kind == 260:  # R_AARCH64_PREL64
        struct.pack_into("<q", image, place, distance)
        return
    if kind == 261:  # R_AARCH64_PREL32
        struct.pack_into("<i", image, place, distance)
        return
    (word,) = struct.unpack_from("<I", image, place)
    if kind in (282, 283):  # R_AARCH64_JUMP26, R_AARCH64_CALL26
        word |= distance >> 2 & 0x3FFFFFF
    elif kind in (274, 275):  # R_AARCH64_ADR_PREL_LO21, R_AARCH64_ADR_PREL_PG_HI21
        value = distance if kind == 274 else (target // _PAGE - place // _PAGE)
        word |= (value & 3) << 29 | (value >> 2 & 0x7FFFF) << 5
    elif kind in _LOW_BITS:
        word |= (target % _PAGE >> _LOW_BITS[kind]) << 10
    else:
        raise ValueError(f"AArch64 object code has a relocation of type {kind}")
    struct.pack_into("<I", image, place, word)


_RELOCATORS: dict[int, Callable[[bytearray, int, int, int], None]] = {_X86_64: _relocate_x86_64, _AARCH64: _relocate_aarch64}
