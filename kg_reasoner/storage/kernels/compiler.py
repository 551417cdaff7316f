"""Compile the kernels with Numba to object code. Imported only if no cached object code fits this machine and these sources.

Structs and pointers become plain addresses. Each struct field and each item type has its own alias class (TBAA), so LLVM can keep
``relation.rows`` in a register while rows are being written.
"""

import operator
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from types import FunctionType
from typing import Any, get_type_hints

import llvmlite.binding as llvm
from llvmlite import ir
from numba import njit, types
from numba.core import typed_passes, untyped_passes
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase
from numba.core.compiler_machinery import PassManager
from numba.core.registry import cpu_target
from numba.core.typing.templates import AbstractTemplate, AttributeTemplate, infer_getattr, infer_global, signature
from numba.extending import intrinsic, lower_builtin, lower_getattr_generic, lower_setattr_generic, models, register_model

from kg_reasoner.storage.kernels import memory
from kg_reasoner.storage.kernels.memory import Pointer, struct_of

_I64 = ir.IntType(64)


class Address(types.Type):
    """The Numba type of an address: of one struct, of an array of structs, or of plain items."""

    def __init__(self, target: Any, array: bool) -> None:
        self.target = target
        self.array = array
        super().__init__(name=f"{target.__name__}{'[]' if array else ''}")

    @property
    def is_items(self) -> bool:
        return issubclass(self.target, Pointer)


def numba_type(kind: Any) -> Any:
    """Return the Numba type of a field's or an argument's annotation."""
    if kind in (int, bool):
        return types.int64
    struct = struct_of(kind)
    return Address(struct, True) if struct is not None else Address(kind, False)


@register_model(Address)
class AddressModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Address) -> None:
        super().__init__(manager, kind, _I64)


def _alias_class(builder: Any, instruction: Any, name: str) -> None:
    """Assign an alias class to a load or store: accesses of different classes never overlap."""
    module = builder.module
    root = module.add_metadata(["kg_reasoner"])
    node = module.add_metadata([name, root, ir.Constant(_I64, 0)])
    instruction.set_metadata("tbaa", module.add_metadata([node, node, ir.Constant(_I64, 0)]))


def _place(builder: Any, base: Any, index: Any, bits: int) -> Any:
    pointer = builder.inttoptr(base, ir.IntType(bits).as_pointer())
    return builder.gep(pointer, [index])


def _bits(target: type[Pointer]) -> int:
    return target.dtype.itemsize * 8


def _load(builder: Any, place: Any, name: str, bits: int = 64, signed: bool = True) -> Any:
    value = builder.load(place)
    _alias_class(builder, value, name)
    if bits == 64:
        return value
    return builder.sext(value, _I64) if signed else builder.zext(value, _I64)


def _store(builder: Any, value: Any, place: Any, name: str, bits: int = 64) -> None:
    _alias_class(builder, builder.store(value if bits == 64 else builder.trunc(value, ir.IntType(bits)), place), name)


@infer_global(operator.getitem)
class GetItem(AbstractTemplate):
    def generic(self, args: Any, kws: Any) -> Any:
        base, index = args
        if isinstance(base, Address) and isinstance(index, types.Integer):
            return signature(types.int64 if base.is_items else Address(base.target, False), base, types.int64)
        return None


@lower_builtin(operator.getitem, Address, types.int64)
def lower_getitem(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    kind = sig.args[0]
    base, index = args
    if kind.array:
        return builder.add(base, builder.mul(index, ir.Constant(_I64, 8 * len(kind.target.fields))))
    bits = _bits(kind.target)
    return _load(builder, _place(builder, base, index, bits), kind.name, bits, kind.target.dtype.kind == "i")


@infer_global(operator.setitem)
class SetItem(AbstractTemplate):
    def generic(self, args: Any, kws: Any) -> Any:
        base, index, _value = args
        if isinstance(base, Address) and base.is_items and isinstance(index, types.Integer):
            return signature(types.none, base, types.int64, types.int64)
        return None


@lower_builtin(operator.setitem, Address, types.int64, types.int64)
def lower_setitem(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    kind = sig.args[0]
    base, index, value = args
    bits = _bits(kind.target)
    _store(builder, value, _place(builder, base, index, bits), kind.name, bits)
    return context.get_dummy_value()


@infer_global(operator.add)
class Move(AbstractTemplate):
    def generic(self, args: Any, kws: Any) -> Any:
        base, items = args
        if isinstance(base, Address) and base.is_items and isinstance(items, types.Integer):
            return signature(base, base, types.int64)
        return None


@lower_builtin(operator.add, Address, types.int64)
def lower_move(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    size = ir.Constant(_I64, sig.args[0].target.dtype.itemsize)
    return builder.add(args[0], builder.mul(args[1], size))


@infer_getattr
class Fields(AttributeTemplate):
    key = Address

    def generic_resolve(self, kind: Address, name: str) -> Any:
        if not kind.array and not kind.is_items and name in kind.target.fields:
            return numba_type(kind.target.fields[name][1])
        return None


def _field(builder: Any, kind: Address, base: Any, name: str) -> Any:
    return _place(builder, base, ir.Constant(_I64, kind.target.fields[name][0]), 64)


@lower_getattr_generic(Address)
def lower_getattr(context: Any, builder: Any, kind: Address, value: Any, name: str) -> Any:
    return _load(builder, _field(builder, kind, value, name), f"{kind.name}.{name}")


@lower_setattr_generic(Address)
def lower_setattr(context: Any, builder: Any, sig: Any, args: Any, name: str) -> None:
    kind = sig.args[0]
    value = context.cast(builder, args[1], sig.args[1], types.int64)
    _store(builder, value, _field(builder, kind, args[0], name), f"{kind.name}.{name}")


@intrinsic
def mix(typing_context: Any, key: Any) -> Any:
    """Implement `memory.mix` on machine words."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        def constant(value: int) -> Any:
            return ir.Constant(_I64, value - (1 << 64) if value >> 63 else value)

        value = builder.mul(args[0], constant(0x9E3779B97F4A7C15))
        value = builder.xor(value, builder.lshr(value, constant(32)))
        value = builder.mul(value, constant(0xC2B2AE3D27D4EB4F))
        return builder.lshr(builder.xor(value, builder.lshr(value, constant(29))), constant(2))

    return types.int64(types.int64), generate


@intrinsic
def word(typing_context: Any, items: Any, index: Any) -> Any:
    """Implement `memory.word` as one load, which need not be aligned."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        place = builder.bitcast(_place(builder, args[0], args[1], 8), _I64.as_pointer())
        value = builder.load(place, align=1)
        _alias_class(builder, value, sig.args[0].name)
        return value

    return types.int64(items, types.int64), generate


@intrinsic
def prefetch(typing_context: Any, items: Any, index: Any) -> Any:
    """Implement `memory.prefetch` as a machine instruction."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        byte = ir.IntType(8).as_pointer()
        place = builder.bitcast(_place(builder, args[0], args[1], _bits(sig.args[0].target)), byte)
        i32 = ir.IntType(32)
        function = builder.module.declare_intrinsic("llvm.prefetch", [byte], ir.FunctionType(ir.VoidType(), [byte, i32, i32, i32]))
        builder.call(function, [place, i32(0), i32(3), i32(1)])
        return context.get_dummy_value()

    return types.none(items, types.int64), generate


@intrinsic
def is_stopped(typing_context: Any, context_address: Any) -> Any:
    """Implement `memory.is_stopped` as an atomic load, which is never cached."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.load_atomic(_field(builder, sig.args[0], args[0], "stop"), "monotonic", 8)

    return types.int64(context_address), generate


class KernelPipeline(CompilerBase):
    """The passes of Numba that scalar code needs. The others look for arrays, closures and literals, and take a third of the
    time.
    """

    def define_pipelines(self) -> list[Any]:
        manager = PassManager("kernel")
        for step in (
            untyped_passes.TranslateByteCode,
            untyped_passes.FixupArgs,
            untyped_passes.IRProcessing,
            untyped_passes.ReconstructSSA,
            typed_passes.NopythonTypeInference,
            typed_passes.PreLowerStripPhis,
            typed_passes.IRLegalization,
            typed_passes.AnnotateTypes,
            typed_passes.NativeLowering,
            typed_passes.NoPythonBackend,
        ):
            manager.add_pass(step, step.__name__)
        manager.finalize()
        return [manager]


class GatheredLibrary(JITCodeLibrary):
    """A library that only collects a function's IR. Numba would optimise a function again for each of its callers."""

    def _optimize_functions(self, module: Any) -> None:
        module.data_layout = self._codegen._data_layout

    def add_linking_library(self, library: Any) -> None:
        self._linking_libraries.append(library)

    def finalize(self) -> None:
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        return 0


@contextmanager
def _gathering(codegen: Any) -> Iterator[None]:
    """Make Numba's code generator collect IR instead of compiling it."""
    codegen._library_class = GatheredLibrary
    codegen.set_env = lambda name, environment: None
    try:
        yield
    finally:
        del codegen._library_class, codegen.set_env


def compile_kernels(names: Collection[str]) -> tuple[dict[str, tuple[str, int]], bytes]:
    """Compile entry points and the kernels that they call. Return the symbol and number of arguments of each entry, and the object
    code.
    """
    dispatchers: dict[str, Any] = {"mix": mix, "word": word, "prefetch": prefetch, "is_stopped": is_stopped}
    entries: dict[str, tuple[str, int]] = {}
    codegen = cpu_target.target_context.codegen()
    module = llvm.parse_assembly("")
    module.triple, module.data_layout = codegen._tm.triple, codegen._data_layout
    with _gathering(codegen):
        needed = _needed(names)
        for name, (function, *_) in memory.kernels.items():
            if name not in needed:
                continue
            hints = get_type_hints(function)
            result = numba_type(hints.pop("return"))
            arguments = tuple(numba_type(kind) for kind in hints.values())
            decorate = njit(pipeline_class=KernelPipeline, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
            dispatchers[name] = decorate(_linked(function, dispatchers))
            dispatchers[name].compile(result(*arguments))
            dispatchers[name].disable_compile()
            (overload,) = dispatchers[name].overloads.values()
            module.link_in(overload.library._final_module)
            if name in names:
                module.link_in(_entry_module(codegen, name, overload.fndesc, result, arguments))
                entries[name] = (_symbol(name), len(arguments))
    symbols = {symbol for symbol, _ in entries.values()}
    for compiled in module.functions:
        if not compiled.is_declaration and compiled.name not in symbols:
            compiled.linkage = "internal"
    passes, builder = codegen._module_pass_manager()
    passes.run(module, builder)
    return entries, codegen._tm.emit_object(module)


def _symbol(name: str) -> str:
    """Return the symbol of an entry point in the object code."""
    return f"kg_reasoner_{name}"


def _entry_module(codegen: Any, name: str, descriptor: Any, result: Any, arguments: tuple[Any, ...]) -> Any:
    """Return an LLVM module with a function that calls a compiled kernel and returns its result by value.

    Numba's own calling convention returns results through memory that the caller provides; here it lies on the stack of each call,
    so that calls in different threads share nothing.
    """
    context = cpu_target.target_context
    library = codegen.create_library(name)
    module = library.create_ir_module(name)
    function = ir.Function(module, ir.FunctionType(_I64, [_I64] * len(arguments)), _symbol(name))
    builder = ir.IRBuilder(function.append_basic_block())
    callee = context.declare_function(module, descriptor)
    _, value = context.call_conv.call_function(builder, callee, result, arguments, function.args)
    builder.ret(value)
    library.add_ir_module(module)
    return library._final_module


def _needed(names: Collection[str]) -> set[str]:
    """Return the given kernels and those that they call, directly or indirectly."""
    needed: set[str] = set()
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name in memory.kernels and name not in needed:
            needed.add(name)
            waiting += memory.kernels[name].function.__code__.co_names
    return needed


def _linked(function: Callable[..., Any], dispatchers: dict[str, Any]) -> Callable[..., Any]:
    """Return a copy of a function that calls compiled kernels wherever its source calls kernels."""
    return FunctionType(function.__code__, {**function.__globals__, **dispatchers}, function.__name__, function.__defaults__)
