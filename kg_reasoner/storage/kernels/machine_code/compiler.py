"""Compile the kernels with LLVM to object code. Imported only if no compiled kernels fit this machine and these sources."""

from __future__ import annotations

import ast
from collections.abc import Collection
from functools import cache
from pathlib import Path
from typing import Any, Final

import llvmlite.binding as llvm

from kg_reasoner.storage.kernels import decorators
from kg_reasoner.storage.kernels.kernel_groups import needed_by
from kg_reasoner.storage.kernels.machine_code.assembly import Module
from kg_reasoner.storage.kernels.machine_code.intrinsics import INTRINSICS
from kg_reasoner.storage.kernels.machine_code.machine import Target
from kg_reasoner.storage.kernels.machine_code.translation import callee, declare, translate

__all__ = ["compile_kernels", "machine_of"]


_LARGEST_INLINED: Final = {2: 100, 1: 50}
"""LLVM's threshold by level, which is 225 otherwise. Larger ones make the kernels take longer to compile, and no less to run."""


def compile_kernels(
    names: Collection[str], prefix: str, target: Target, elsewhere: Collection[str] = (), speed_level: int = 1
) -> bytes:
    """Compile kernels that are called from outside, and those that they call.

    Args:
        names: the kernels that are called from outside; their symbols are these names behind a prefix.
        prefix: how the symbols begin.
        target: the processor.
        elsewhere: kernels that are not compiled, because other object code has their symbols.
        speed_level: how much is done for speed, 1 or 2 (LLVM's ``-O``).

    Returns:
        Object code; position-independent, unless the target is this machine's own.
    """
    machine = machine_of(target)
    module = llvm.parse_assembly(_translated(names, prefix, elsewhere).text)
    module.triple, module.data_layout = machine.triple, str(machine.target_data)
    module.verify()
    # The loops of kernels are searches and copies of a few items: unrolling them or using vectors gains nothing.
    options = llvm.create_pipeline_tuning_options(speed_level=speed_level)
    options.inlining_threshold = _LARGEST_INLINED[speed_level]
    options.loop_vectorization = options.loop_interleaving = options.loop_unrolling = False
    passes = llvm.create_pass_builder(machine, options)
    passes.getModulePassManager().run(module, passes)
    return machine.emit_object(module)


def machine_of(target: Target) -> Any:
    """Return LLVM's machine that compiles for a target."""
    if target.triple is None:
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        host = llvm.Target.from_triple(llvm.get_process_triple())
        features = llvm.get_host_cpu_features().flatten()
        return host.create_target_machine(cpu=llvm.get_host_cpu_name(), features=features, opt=2, jit=True, codemodel="jitdefault")
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    other = llvm.Target.from_triple(target.triple)
    return other.create_target_machine(cpu=target.processor, opt=2, reloc="pic", codemodel="small")


def _translated(names: Collection[str], prefix: str, elsewhere: Collection[str]) -> Module:
    """Return a module with the kernels of some names, whose symbols have a prefix, and those that they call."""
    module = Module()
    kernels = {name: decorators.kernels[name] for name in sorted(needed_by(names, elsewhere))}
    prefixes = dict.fromkeys([*names, *elsewhere], prefix)
    functions = {name: declare(module, kernel.function, prefixes.get(name)) for name, kernel in kernels.items()}
    callees = INTRINSICS | {name: callee(functions[name], kernel.function) for name, kernel in kernels.items()}
    for name, kernel in kernels.items():
        if name not in elsewhere:
            functions[name].is_rare = kernel.is_rare
            definition = _definitions(kernel.function.__code__.co_filename)[name]
            translate(module, functions[name], definition, kernel.function, callees)
    return module


@cache
def _definitions(file: str) -> dict[str, ast.FunctionDef]:
    """Return the functions that a file defines, by their names."""
    body = ast.parse(Path(file).read_text(encoding="utf-8"), file).body
    return {node.name: node for node in body if isinstance(node, ast.FunctionDef)}
