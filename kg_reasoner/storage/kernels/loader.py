"""Load the kernels: compiled ones from the package or the cache, by compiling them once, or as plain Python in checked mode.

A wheel contains images of the kernels for common processors (see `machine`, `images`). Where none fits, the kernels are compiled,
and kept in the user's cache (see `cache`) for the next process. The key is made from the kernels' sources and the processor. On
systems other than Linux, what is kept is object code, which LLVM loads. Set ``KG_REASONER_KERNELS=checked`` to run every kernel as
bounds-checked Python.
"""

from __future__ import annotations

import ctypes
import hashlib
import sys
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

from kg_reasoner import cache
from kg_reasoner.storage.kernels import memory
from kg_reasoner.storage.kernels.images import Image, map_image, packed, unpacked
from kg_reasoner.storage.kernels.machine import HOST, LEVELS, Target, this_machine

Entry = Callable[..., int]

on_compile: Callable[[str], None] | None = None
"""Called with one line of text before kernels are compiled; by default the line goes to standard error on a terminal."""

_PREFIX = "kg_reasoner_"
_IMAGES = Path(__file__).with_name("compiled")


def load(names: Collection[str]) -> dict[str, Entry]:
    """Return the named entry points, to be called with addresses and integers.

    Raises:
        OSError: the operating system does not permit code to be loaded.
    """
    if memory.CHECKED:
        return {name: memory.checked_entry(memory.kernels[name].function) for name in names}
    target = this_machine()
    addresses = _linked_by_llvm(names) if target is HOST else map_image(_image(names, target))
    return {name: _callable(addresses[_PREFIX + name], memory.kernels[name]) for name in names}


def write_images(names: Collection[str], folder: Path) -> None:
    """Write the images that a wheel contains."""
    folder.mkdir(parents=True, exist_ok=True)
    for target in LEVELS:
        (folder / f"{target.name}.bin").write_bytes(cache.sealed(packed(_compiled_image(names, target, _key(names, target.name)))))


def _image(names: Collection[str], target: Target) -> Image:
    """Return the image for a target: that of the package, the cache, or a new one."""
    key = _key(names, target.name)
    name = f"kernels-{target.name}-{key}.bin"
    known = _fitting(_shipped(target), key) or _fitting(cache.read(name), key)
    if known is not None:
        return known
    _tell_of_compiling()
    image = _compiled_image(names, target, key)
    cache.write(name, packed(image))
    return image


def _shipped(target: Target) -> bytes | None:
    """Return the compiled code that the package contains for a target, if it is complete."""
    try:
        return cache.unsealed((_IMAGES / f"{target.name}.bin").read_bytes())
    except OSError:
        return None


def _fitting(content: bytes | None, key: str) -> Image | None:
    """Return the image in some content, if it is one for this key."""
    try:
        image = None if content is None else unpacked(content)
    except (ValueError, TypeError):  # of a version that wrote other images
        return None
    return image if image is not None and image.key == key else None


def _compiled_image(names: Collection[str], target: Target, key: str) -> Image:
    from kg_reasoner.storage.kernels.compiler import compile_kernels
    from kg_reasoner.storage.kernels.linking import linked

    return linked(compile_kernels(names, _PREFIX, target), _PREFIX, key)


def _key(names: Collection[str], processor: str) -> str:
    """Return a name for what the kernels are compiled from and for."""
    digest = hashlib.sha256()
    for source in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(source.read_bytes())
    digest.update(" ".join([processor, *sorted(names)]).encode())
    return digest.hexdigest()[:24]


def _tell_of_compiling() -> None:
    line = "kg_reasoner: compiling its kernels for this machine, once (a few seconds)"
    if on_compile is not None:
        on_compile(line)
    elif sys.stderr is not None and sys.stderr.isatty():
        print(line, file=sys.stderr)


_engines: list[Any] = []  # they keep the machine code alive


def _linked_by_llvm(names: Collection[str]) -> dict[str, int]:
    """Return the address of each symbol of the kernels for this very processor, loaded by LLVM."""
    import llvmlite
    import llvmlite.binding as llvm

    processor = f"{llvmlite.__version__} {llvm.get_host_cpu_name()} {llvm.get_host_cpu_features().flatten()}"
    name = f"kernels-{_key(names, processor)}.bin"
    code = cache.read(name)
    if code is None:
        _tell_of_compiling()
        from kg_reasoner.storage.kernels.compiler import compile_kernels

        code = compile_kernels(names, _PREFIX, HOST)
        cache.write(name, code)
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    machine = llvm.Target.from_triple(llvm.get_process_triple()).create_target_machine(jit=True, codemodel="jitdefault")
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)
    engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    engine.finalize_object()
    _engines.append(engine)
    return {_PREFIX + entry: engine.get_function_address(_PREFIX + entry) for entry in names}


def _callable(address: int, kernel: memory.Kernel) -> Entry:
    """Return an entry point as a Python callable. Other threads can run during the call, unless the entry is brief."""
    arguments = kernel.function.__code__.co_argcount
    signature = (ctypes.PYFUNCTYPE if kernel.is_brief else ctypes.CFUNCTYPE)(ctypes.c_int64, *[ctypes.c_int64] * arguments)
    return signature(address)
