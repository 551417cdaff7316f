"""Load the kernels: compiled ones from the package or the cache, by compiling them once, or as plain Python in checked mode.

Kernels are compiled and loaded in groups (see `kernel_groups`), each when it is first used. A wheel contains images of all groups
for common processors (see `machine`, `images`). Where none fits, a group is compiled, and kept in the user's cache (see `cache`)
for the next process. The key is made from the kernels' sources and the processor. On systems other than Linux, what is kept is
object code, which LLVM loads. Set ``KG_REASONER_KERNELS=checked`` to run every kernel as bounds-checked Python.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import cache as cache_result
from pathlib import Path
from typing import Any

from kg_reasoner import cache
from kg_reasoner.digests import digest, digest_of_files, python_sources
from kg_reasoner.storage.kernels import decorators
from kg_reasoner.storage.kernels.kernel_groups import GROUPS, KernelGroup
from kg_reasoner.storage.kernels.machine_code.images import Image, map_image, packed, unpacked
from kg_reasoner.storage.kernels.machine_code.machine import HOST, LEVELS, Target, this_machine
from kg_reasoner.storage.kernels.memory import buffers

Entry = Callable[..., int]

on_compile: Callable[[str], None] | None = None
"""Called with one line of text before kernels are compiled; by default the line goes to standard error on a terminal."""

_PREFIX = "kg_reasoner_"
_IMAGES = Path(__file__).with_name("compiled")
_KERNELS = Path(__file__).parents[1]


def load(group: KernelGroup) -> dict[str, Entry]:
    """Return the entry points of a group, to be called with addresses and integers.

    Raises:
        OSError: the operating system does not permit code to be loaded.
    """
    if buffers.CHECKED:
        from kg_reasoner.storage.kernels.memory.checked_memory import checked_entry

        return {name: checked_entry(decorators.kernels[name].function) for name in group.entries}
    symbols = _symbols(group)
    signatures = _images[group.name].signatures if group.name in _images else _signatures(group)
    return {name: _callable(symbols[_PREFIX + name], *signature) for name, signature in signatures.items()}


def group_with(entry: str) -> KernelGroup | None:
    """Return the group that has an entry point, if there is one. The modules of kernels are imported only if there is no image."""
    for group in GROUPS:
        image = _kept_image(group)
        if image is not None:
            home = image.homes.get(entry)
            return next((other for other in GROUPS if other.name == home), None)
    return next((group for group in GROUPS if entry in group.entries), None)


def write_images(groups: Iterable[KernelGroup], folder: Path) -> None:
    """Write the images that a wheel contains."""
    folder.mkdir(parents=True, exist_ok=True)
    for target in LEVELS:
        for group in groups:
            image = _compiled_image(group, target, _key(group, target.name))
            (folder / _file_name(group, target)).write_bytes(cache.sealed(packed(image)))


def _signatures(group: KernelGroup) -> dict[str, list[int]]:
    """Return the entry points of a group, with the number of arguments of each, and whether it is brief."""
    kernels = {name: decorators.kernels[name] for name in group.entries}
    return {name: [kernel.function.__code__.co_argcount, int(kernel.is_brief)] for name, kernel in kernels.items()}


_images: dict[str, Image] = {}
"""The images that have been read, by the names of their groups."""

_loaded: dict[str, dict[str, int]] = {}
"""The addresses of the symbols of the groups that have been loaded, by their names."""


def _symbols(group: KernelGroup) -> dict[str, int]:
    """Return the addresses of a group's symbols. The groups whose kernels it calls are loaded before it."""
    if group.name not in _loaded:
        if this_machine() is HOST:
            others = {_PREFIX + name: _symbols(other)[_PREFIX + name] for name, other in group.imports.items()}
            _loaded[group.name] = _linked_by_llvm(group, others)
        else:
            image = _image(group)
            others = {name: address for other in GROUPS if other.name in image.groups for name, address in _symbols(other).items()}
            _loaded[group.name] = map_image(image, others)
    return _loaded[group.name]


def _image(group: KernelGroup) -> Image:
    """Return the image of a group for this machine: that of the package, the cache, or a new one."""
    image = _kept_image(group)
    if image is None:
        target = this_machine()
        _tell_of_compiling(group)
        key = _key(group, target.name)
        _images[group.name] = image = _compiled_image(group, target, key)
        cache.write(_cached_name(group, target, key), packed(image))
    return image


def _kept_image(group: KernelGroup) -> Image | None:
    """Return the image of a group that the package or the cache has for this machine, if there is one and images are used."""
    target = this_machine()
    if group.name in _images or target is HOST or buffers.CHECKED:
        return _images.get(group.name)
    key = _key(group, target.name)
    known = _fitting(_shipped(group, target), key) or _fitting(cache.read(_cached_name(group, target, key)), key)
    if known is not None:
        _images[group.name] = known
    return known


def _cached_name(group: KernelGroup, target: Target, key: str) -> str:
    return f"kernels-{group.name}-{target.name}-{key}.bin"


def _file_name(group: KernelGroup, target: Target) -> str:
    return f"{target.name}-{group.name}.bin"


def _shipped(group: KernelGroup, target: Target) -> bytes | None:
    """Return the compiled code of a group that the package contains for a target, if it is complete."""
    try:
        return cache.unsealed((_IMAGES / _file_name(group, target)).read_bytes())
    except OSError:
        return None


def _fitting(content: bytes | None, key: str) -> Image | None:
    """Return the image in some content, if it is one for this key."""
    try:
        image = None if content is None else unpacked(content)
    except (ValueError, TypeError):  # of a version that wrote other images
        return None
    return image if image is not None and image.key == key else None


def _compiled_image(group: KernelGroup, target: Target, key: str) -> Image:
    from kg_reasoner.storage.kernels.machine_code.linking import linked

    groups = sorted({other.name for other in group.imports.values()})
    image = linked(_object_code(group, target), _PREFIX, key)
    homes = {entry: other.name for other in GROUPS for entry in other.entries}
    return replace(image, signatures=_signatures(group), groups=groups, homes=homes)


def _object_code(group: KernelGroup, target: Target) -> bytes:
    from kg_reasoner.storage.kernels.machine_code.compiler import compile_kernels

    return compile_kernels(group.exports, _PREFIX, target, group.imports, group.speed_level)


def _key(group: KernelGroup, processor: str) -> str:
    """Return a name for the sources of a group and the processor for which it is compiled."""
    parts = [_digest_of_sources(), processor, group.name, *group.modules]
    return digest(" ".join(parts).encode())


@cache_result
def _digest_of_sources() -> str:
    return digest_of_files(python_sources(_KERNELS))


def _tell_of_compiling(group: KernelGroup) -> None:
    line = f"kg_reasoner: compiling its kernels for {group.name}, once (a few seconds)"
    if on_compile is not None:
        on_compile(line)
    elif sys.stderr is not None and sys.stderr.isatty():
        print(line, file=sys.stderr)


_engines: list[Any] = []  # they keep the machine code alive


def _linked_by_llvm(group: KernelGroup, others: Mapping[str, int]) -> dict[str, int]:
    """Return the address of each symbol of a group for this very processor, loaded by LLVM.

    Args:
        group: The group.
        others: The addresses of the symbols of other groups that it calls.
    """
    import llvmlite
    import llvmlite.binding as llvm

    processor = f"{llvmlite.__version__} {llvm.get_host_cpu_name()} {llvm.get_host_cpu_features().flatten()}"
    name = f"kernels-{group.name}-{_key(group, processor)}.bin"
    code = cache.read(name)
    if code is None:
        _tell_of_compiling(group)
        code = _object_code(group, HOST)
        cache.write(name, code)
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    for symbol, address in others.items():
        llvm.add_symbol(symbol, address)
    machine = llvm.Target.from_triple(llvm.get_process_triple()).create_target_machine(jit=True, codemodel="jitdefault")
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)
    engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    engine.finalize_object()
    _engines.append(engine)
    return {_PREFIX + name: engine.get_function_address(_PREFIX + name) for name in group.exports}


def _callable(address: int, arguments: int, is_brief: int) -> Entry:
    """Return an entry point as a Python callable. Other threads can run during the call, unless the entry is brief."""
    signature = (ctypes.PYFUNCTYPE if is_brief else ctypes.CFUNCTYPE)(ctypes.c_int64, *[ctypes.c_int64] * arguments)
    return signature(address)
