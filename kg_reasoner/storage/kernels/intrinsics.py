"""The functions that kernels call besides each other: those of `memory` that are machine instructions."""

from __future__ import annotations

from typing import Any

from llvmlite import ir

from kg_reasoner.storage.kernels.translation import WORD, Callee, Value, place_of, with_alias

__all__ = ["INTRINSICS"]


def _mix(builder: Any, arguments: list[Value]) -> Any:
    """Implement `memory.mix` on machine words."""

    def constant(value: int) -> Any:
        return WORD(value - (1 << 64) if value >> 63 else value)

    word = builder.mul(arguments[0].word, constant(0x9E3779B97F4A7C15))
    word = builder.xor(word, builder.lshr(word, constant(32)))
    word = builder.mul(word, constant(0xC2B2AE3D27D4EB4F))
    return builder.lshr(builder.xor(word, builder.lshr(word, constant(29))), constant(2))


def _word(builder: Any, arguments: list[Value]) -> Any:
    """Implement `memory.word` as one load, which need not be aligned."""
    items, index = arguments
    place = builder.bitcast(place_of(builder, items.word, index.word, 8), WORD.as_pointer())
    return with_alias(builder, builder.load(place, align=1), items.kind.__name__)


def _pair(builder: Any, arguments: list[Value]) -> Any:
    """Implement `memory.pair` as one load and a rotation."""
    items, index = arguments
    place = builder.bitcast(place_of(builder, items.word, index.word, 32), WORD.as_pointer())
    both, half = with_alias(builder, builder.load(place, align=4), items.kind.__name__), WORD(32)
    return builder.or_(builder.shl(both, half), builder.lshr(both, half))


def _prefetch(builder: Any, arguments: list[Value]) -> Any:
    """Implement `memory.prefetch` as a machine instruction."""
    items, index = arguments
    byte, i32 = ir.IntType(8).as_pointer(), ir.IntType(32)
    place = builder.bitcast(place_of(builder, items.word, index.word, items.kind.dtype.itemsize * 8), byte)
    function = builder.module.declare_intrinsic("llvm.prefetch", [byte], ir.FunctionType(ir.VoidType(), [byte, i32, i32, i32]))
    builder.call(function, [place, i32(0), i32(3), i32(1)])
    return WORD(0)


def _is_stopped(builder: Any, arguments: list[Value]) -> Any:
    """Implement `memory.is_stopped` as an atomic load, which is never cached."""
    context = arguments[0]
    word, _ = context.kind.fields["stop"]
    return builder.load_atomic(place_of(builder, context.word, WORD(word), 64), "monotonic", 8)


INTRINSICS = {
    "mix": Callee(_mix, int),
    "word": Callee(_word, int),
    "pair": Callee(_pair, int),
    "prefetch": Callee(_prefetch, int),
    "is_stopped": Callee(_is_stopped, int),
}
"""By name: how `memory`'s functions are translated."""
