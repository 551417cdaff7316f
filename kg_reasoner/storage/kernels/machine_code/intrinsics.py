"""The functions that kernels call apart from other kernels: those of `primitives`, as machine instructions."""

from __future__ import annotations

from kg_reasoner.storage.kernels.machine_code.assembly import INTEGER, Builder, Word
from kg_reasoner.storage.kernels.machine_code.translation import Callee, Value, item_type

__all__ = ["INTRINSICS"]


def _mix(builder: Builder, arguments: list[Value]) -> Word:
    """Implement `primitives.mix` on machine words."""

    def folded(word: Word, factor: int, distance: int) -> Word:
        signed = factor - (1 << 64) if factor >> 63 else factor
        product = builder.operation("mul", word, str(signed))
        return builder.operation("xor", product, builder.operation("lshr", product, str(distance)))

    return builder.operation("lshr", folded(folded(arguments[0].word, 0x9E3779B97F4A7C15, 32), 0xC2B2AE3D27D4EB4F, 29), "2")


def _word(builder: Builder, arguments: list[Value]) -> Word:
    """Implement `primitives.word` as one load, which need not be aligned."""
    items, index = arguments
    place = builder.place(items.word, index.word, "i8")
    return builder.load(place, metadata=builder.module.alias_class(items.kind.__name__), align=1)


def _set_word(builder: Builder, arguments: list[Value]) -> Word:
    """Implement `primitives.set_word` as one store, which need not be aligned."""
    items, index, value = arguments
    place = builder.place(items.word, index.word, "i8")
    builder.store(value.word, place, metadata=builder.module.alias_class(items.kind.__name__), align=1)
    return "0"


def _pair(builder: Builder, arguments: list[Value]) -> Word:
    """Implement `primitives.pair` as one load and a rotation."""
    items, index = arguments
    place = builder.place(items.word, index.word, "i32")
    both = builder.load(place, metadata=builder.module.alias_class(items.kind.__name__), align=4)
    return builder.operation("or", builder.operation("shl", both, "32"), builder.operation("lshr", both, "32"))


def _prefetch(builder: Builder, arguments: list[Value]) -> Word:
    """Implement `primitives.prefetch` as a machine instruction."""
    items, index = arguments
    builder.prefetch(builder.place(items.word, index.word, item_type(items.kind)))
    return "0"


def _compare_and_swap(builder: Builder, arguments: list[Value]) -> Word:
    """Implement `primitives.compare_and_swap` as an atomic instruction."""
    items, index, expected, new = arguments
    type = item_type(items.kind)
    return builder.compare_and_swap(builder.place(items.word, index.word, type), type, expected.word, new.word)


def _is_stopped(builder: Builder, arguments: list[Value]) -> Word:
    """Implement `primitives.is_stopped` as an atomic load, which is never cached."""
    context = arguments[0]
    word, _ = context.kind.fields["stop"]
    return builder.load_again(builder.place(context.word, str(word), INTEGER))


INTRINSICS = {
    "mix": Callee(_mix, int),
    "word": Callee(_word, int),
    "set_word": Callee(_set_word, int),
    "pair": Callee(_pair, int),
    "prefetch": Callee(_prefetch, int),
    "compare_and_swap": Callee(_compare_and_swap, int),
    "is_stopped": Callee(_is_stopped, int),
}
"""By name: how the functions of `primitives` are translated."""
