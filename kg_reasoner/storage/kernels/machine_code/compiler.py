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


_LARGEST_INLINED: Final = 20
"""How many instructions a kernel may have that becomes a part of its callers, at level 1. More make kernels no faster."""

_THRESHOLD: Final = 100
"""What LLVM inlines itself at level 2. It is 225 otherwise, with which kernels take longer to compile, and no less to run."""


def compile_kernels(
    names: Collection[str], prefix: str, target: Target, elsewhere: Collection[str] = (), speed_level: int = 1
) -> bytes:
    """Compile kernels that are called from outside, and those that they call.

    Args:
        names: the kernels that are called from outside; their symbols are these names behind a prefix.
        prefix: how the symbols begin.
        target: the processor.
        elsewhere: kernels that are not compiled, because other object code has their symbols.
        speed_level: how much is done for speed, 1 or 2.

    Returns:
        Object code; position-independent, unless the target is this machine's own.
    """
    machine = machine_of(target)
    largest_inlined = _LARGEST_INLINED if speed_level == 1 else 0
    module = llvm.parse_assembly(_translated(names, prefix, elsewhere, largest_inlined).text)
    module.triple, module.data_layout = machine.triple, str(machine.target_data)
    module.verify()
    _optimise(module, machine, speed_level)
    return machine.emit_object(module)


def _optimise(module: Any, machine: Any, speed_level: int) -> None:
    """Run LLVM's passes over a module.

    Level 2 is LLVM's pipeline. It inlines what seems worth it, and optimises each function before and after, which takes twice as
    long as level 1: that inlines what the module says, and optimises each function once.
    """
    options = llvm.create_pipeline_tuning_options(speed_level=speed_level)
    # The loops of kernels are searches and copies of a few items: unrolling them or using vectors gains nothing.
    options.loop_vectorization = options.loop_interleaving = options.loop_unrolling = False
    options.inlining_threshold = _THRESHOLD
    passes = llvm.create_pass_builder(machine, options)
    if speed_level > 1:
        passes.getModulePassManager().run(module, passes)
        return
    whole = llvm.create_new_module_pass_manager()
    whole.add_sroa_pass()
    whole.add_simplify_cfg_pass()
    whole.add_always_inliner_pass()
    whole.add_global_dead_code_eliminate_pass()
    whole.add_ipsccp_pass()
    whole.add_dead_arg_elimination_pass()
    whole.add_post_order_function_attributes_pass()
    whole.run(module, passes)
    each = passes.getFunctionPassManager()
    for function in module.functions:
        if not function.is_declaration:
            each.run(function, passes)


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


def _translated(names: Collection[str], prefix: str, elsewhere: Collection[str], largest_inlined: int) -> Module:
    """Return a module with the kernels of some names, whose symbols have a prefix, and those that they call."""
    module = Module(largest_inlined)
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
