"""Load the kernels: from cached object code, by compiling once, or as plain Python in checked mode.

Importing Numba and compiling takes seconds; loading cached object code with llvmlite takes hundredths of a second. The cache is per
user (see `cache`); the key is made from the kernels' sources, the compiler's versions and the processor. Set
``KG_REASONER_KERNELS=checked`` to run every kernel as bounds-checked Python.
"""

from __future__ import annotations

import ctypes
import hashlib
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

from kg_reasoner import cache
from kg_reasoner.storage.kernels import memory

Entry = Callable[..., int]

Compiled: TypeAlias = "tuple[dict[str, tuple[str, int]], bytes]"
"""Per entry its symbol and number of arguments; the object code."""

on_compile: Callable[[str], None] | None = None
"""Called with one line of text before kernels are compiled; by default the line goes to standard error on a terminal."""


def load(names: list[str]) -> dict[str, Entry]:
    """Return the named entry points, to be called with addresses and integers."""
    if memory.CHECKED:
        return {name: memory.checked_entry(memory.kernels[name].function) for name in names}
    return _link(*_object(names))


def _fingerprint(names: list[str]) -> str:
    import llvmlite
    import llvmlite.binding as llvm

    digest = hashlib.sha256()
    for source in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(source.read_bytes())
    machine = f"{llvm.get_host_cpu_name()} {llvm.get_host_cpu_features().flatten()}"
    digest.update(" ".join(sorted(names)).encode())
    digest.update(f"{llvmlite.__version__} {sys.version_info[:2]} {machine}".encode())
    return digest.hexdigest()[:24]


def _object(names: list[str]) -> Compiled:
    name = f"kernels-{_fingerprint(names)}.bin"
    saved = cache.read(name)
    if saved is not None:
        return unpacked(saved)
    line = "kg_reasoner: compiling its kernels for this machine, once (a few seconds)"
    if on_compile is not None:
        on_compile(line)
    elif sys.stderr is not None and sys.stderr.isatty():
        print(line, file=sys.stderr)
    from kg_reasoner.storage.kernels.compiler import compile_kernels

    compiled = compile_kernels(names)
    cache.write(name, packed(compiled))
    return compiled


def packed(compiled: Compiled) -> bytes:
    """Return the content of a file with object code and its entry points.

    >>> unpacked(packed(({"run": ("symbol", 1)}, b"code")))
    ({'run': ('symbol', 1)}, b'code')
    """
    entries, code = compiled
    return json.dumps(entries).encode() + b"\n" + code


def unpacked(content: bytes) -> Compiled:
    """Return the object code and entry points packed by `packed`."""
    header, _, code = content.partition(b"\n")
    return {name: (symbol, arguments) for name, (symbol, arguments) in json.loads(header).items()}, code


_engines: list[Any] = []  # they keep the machine code alive


def _link(entries: dict[str, tuple[str, int]], code: bytes) -> dict[str, Entry]:
    """Load object code and wrap each entry point as a Python callable."""
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    machine = llvm.Target.from_default_triple().create_target_machine(
        cpu=llvm.get_host_cpu_name(), features=llvm.get_host_cpu_features().flatten(), opt=3, jit=True, codemodel="jitdefault"
    )
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)
    engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    engine.finalize_object()
    _engines.append(engine)
    return {
        name: _callable(engine.get_function_address(symbol), arguments, memory.kernels[name].is_brief)
        for name, (symbol, arguments) in entries.items()
    }


def _callable(address: int, arguments: int, keeps_gil: bool) -> Entry:
    """Return an entry point as a Python callable. Other threads can run during the call, unless it `keeps_gil`."""
    signature = (ctypes.PYFUNCTYPE if keeps_gil else ctypes.CFUNCTYPE)(ctypes.c_int64, *[ctypes.c_int64] * arguments)
    return signature(address)
