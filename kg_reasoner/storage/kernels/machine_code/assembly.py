"""LLVM's assembly language: a module of functions, written block by block. LLVM parses what `Module.text` returns.

Operands are texts: a *word* is an integer of 64 bits or an address, a *bit* the result of a comparison, a *place* an address of
what is loaded and stored. llvmlite has classes for the same, which take most of the time of translating kernels.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final, TypeAlias

__all__ = ["ADDRESS", "INTEGER", "BasicBlock", "Builder", "KernelFunction", "Module", "Word"]

Word: TypeAlias = str
"""An operand of 64 bits: the name of a result, or a number."""

INTEGER: Final = "i64"
ADDRESS: Final = "ptr"
"""The types of words."""


class Module:
    """Functions, and the alias classes (TBAA) of the memory that they load and store.

    Attributes:
        largest_inlined: How many instructions a function may have that becomes a part of all its callers. LLVM may inline others.
        functions: The functions, by the names of their symbols.
    """

    def __init__(self, largest_inlined: int = 0) -> None:
        self.largest_inlined = largest_inlined
        self.functions: dict[str, KernelFunction] = {}
        self._declared: dict[str, None] = {}
        self._metadata = ['!{!"kg_reasoner"}']
        self._alias_classes: dict[str, str] = {}

    @property
    def text(self) -> str:
        """The module in LLVM's assembly language."""
        metadata = (f"!{number} = {node}" for number, node in enumerate(self._metadata))
        functions = (function.text(self.largest_inlined) for function in self.functions.values())
        return "\n".join([*self._declared, *functions, *metadata, ""])

    def function(self, name: str, types: Sequence[str], result: str) -> KernelFunction:
        """Declare a function of words of some types; it is defined by blocks."""
        made = self.functions[name] = KernelFunction(name, types, result)
        return made

    def declare(self, line: str) -> None:
        """Declare a function of LLVM itself."""
        self._declared[line] = None

    def alias_class(self, name: str) -> str:
        """Return the metadata of accesses that overlap no access of another class."""
        known = self._alias_classes.get(name)
        if known is None:
            number = len(self._metadata)
            self._metadata += [f'!{{!"{name}", !0, i64 0}}', f"!{{!{number}, !{number}, i64 0}}"]
            known = self._alias_classes[name] = f", !tbaa !{number + 1}"
        return known


class BasicBlock:
    """Instructions that end with one that goes elsewhere."""

    __slots__ = ("is_terminated", "lines", "name")

    def __init__(self, name: str) -> None:
        self.name = name
        self.lines: list[str] = []
        self.is_terminated = False


class KernelFunction:
    """A function of words that returns a word.

    Attributes:
        types: The types of its arguments.
        result: The type of its result.
        arguments: The names of its arguments.
        is_internal: Whether nothing outside of the module calls it.
        is_rare: Whether it is seldom called, and not to be inlined.
        calls: How many calls of it there are in the module.
        called: The functions that it calls, once for each call.
        instructions: How many instructions it has that calculate, call, choose, or access memory other than its variables.
        blocks: Its blocks, the first of which it starts with; a function without is defined elsewhere.
    """

    def __init__(self, name: str, types: Sequence[str], result: str) -> None:
        self.name = name
        self.types = types
        self.result = result
        self.arguments = [f"%a{number}" for number in range(len(types))]
        self.is_internal = self.is_rare = False
        self.calls = self.instructions = 0
        self.called: list[KernelFunction] = []
        self.blocks: list[BasicBlock] = []
        self._names = 0
        self._size: float | None = None

    def text(self, largest_inlined: int) -> str:
        """Return the definition, or the declaration of a function that has no blocks."""
        if not self.blocks:
            return f"declare {self.signature(self.types)} nounwind"
        linkage = "internal " * self.is_internal
        lines = [f"define {linkage}{self.with_arguments(self.arguments)} {self._attributes(largest_inlined)} {{"]
        for block in self.blocks:
            lines.append(f"{block.name}:")
            lines += block.lines
        return "\n".join([*lines, "}"])

    def _attributes(self, largest_inlined: int) -> str:
        if self.is_rare:
            return "nounwind noinline cold"
        return "nounwind alwaysinline" if self._is_inlined(largest_inlined) else "nounwind"

    def _is_inlined(self, largest: int) -> bool:
        """Return whether it becomes a part of its callers. One with a single call would be optimised by itself and again there."""
        if self.is_rare or not self.blocks or self in self.called:
            return False
        return (self.is_internal and self.calls == 1) or self._size_with_inlined(largest) <= largest

    def _size_with_inlined(self, largest: int) -> float:
        """Return how many instructions it has with what becomes a part of it."""
        if self._size is None:
            self._size = math.inf  # not to follow functions that call each other forever
            inlined = (function._size_with_inlined(largest) - 1 for function in self.called if function._is_inlined(largest))
            self._size = self.instructions + sum(inlined)
        return self._size

    def with_arguments(self, arguments: Sequence[Word]) -> str:
        """Return the function with its types, and some arguments."""
        return self.signature([f"{type} {argument}" for type, argument in zip(self.types, arguments, strict=True)])

    def signature(self, arguments: Sequence[str]) -> str:
        """Return the type of the result, the name, and some arguments."""
        return f'{self.result} @"{self.name}"({", ".join(arguments)})'

    def new_name(self) -> str:
        """Return a name for a result."""
        self._names += 1
        return f"%v{self._names}"

    def new_block(self) -> BasicBlock:
        """Append a block."""
        block = BasicBlock(f"b{len(self.blocks)}")
        self.blocks.append(block)
        return block


class Builder:
    """Appends instructions to a block of a function. Its methods are named like the instructions, and return their results."""

    def __init__(self, module: Module, function: KernelFunction, block: BasicBlock) -> None:
        self.module = module
        self.function = function
        self.block = block

    def go_to(self, block: BasicBlock) -> None:
        """Append to another block from now on."""
        self.block = block

    def operation(self, code: str, *operands: Word) -> Word:
        """Append an instruction that computes something of integers: ``add``, ``icmp slt`` and so on."""
        name = self.function.new_name()
        self.function.instructions += 1
        self.block.lines.append(f"{name} = {code} i64 {', '.join(operands)}")
        return name

    def widen(self, how: str, type: str, value: str) -> Word:
        """Append ``zext`` or ``sext`` from a smaller type to an integer."""
        name = self.function.new_name()
        self.block.lines.append(f"{name} = {how} {type} {value} to i64")
        return name

    def both(self, first: str, second: str) -> str:
        """Append the conjunction of two bits."""
        name = self.function.new_name()
        self.block.lines.append(f"{name} = and i1 {first}, {second}")
        return name

    def select(self, bit: str, yes: Word, no: Word) -> Word:
        """Append an instruction that chooses one of two words."""
        name = self.function.new_name()
        self.function.instructions += 1
        self.block.lines.append(f"{name} = select i1 {bit}, i64 {yes}, i64 {no}")
        return name

    def call(self, function: KernelFunction, arguments: Sequence[Word]) -> Word:
        """Append a call."""
        name = self.function.new_name()
        function.calls += 1
        self.function.called.append(function)
        self.function.instructions += 1
        self.block.lines.append(f"{name} = call {function.with_arguments(arguments)}")
        return name

    def phi(self, choices: Sequence[tuple[Word, BasicBlock]], type: str = INTEGER) -> Word:
        """Append an instruction that takes the word of the block that control comes from."""
        name = self.function.new_name()
        self.block.lines.append(f"{name} = phi {type} {', '.join(f'[{word}, %{block.name}]' for word, block in choices)}")
        return name

    # --- memory

    def variable(self, type: str) -> str:
        """Append a place on the stack."""
        name = self.function.new_name()
        self.block.lines.append(f"{name} = alloca {type}")
        return name

    def place(self, base: Word, index: Word, items: str) -> Word:
        """Append what computes the address of an item, by its index behind an address, and the type of the items."""
        name = self.function.new_name()
        self.block.lines.append(f"{name} = getelementptr {items}, ptr {base}, i64 {index}")
        return name

    def load(self, place: Word, type: str = INTEGER, metadata: str = "", align: int = 0) -> Word:
        """Append a load, with metadata such as its alias class (see `Module.alias_class`)."""
        name = self.function.new_name()
        self.function.instructions += bool(metadata)
        self.block.lines.append(f"{name} = load {type}, ptr {place}{_aligned(align)}{metadata}")
        return name

    def load_again(self, place: Word) -> Word:
        """Append a load of an integer that other threads change: it is repeated each time."""
        name = self.function.new_name()
        self.block.lines.append(f"{name} = load atomic i64, ptr {place} monotonic, align 8")
        return name

    def store(self, word: Word, place: Word, type: str = INTEGER, metadata: str = "", align: int = 0) -> None:
        """Append a store of a word, or of its lower bits."""
        value = word
        if type not in (INTEGER, ADDRESS):
            value = self.function.new_name()
            self.block.lines.append(f"{value} = trunc i64 {word} to {type}")
        self.function.instructions += bool(metadata)
        self.block.lines.append(f"store {type} {value}, ptr {place}{_aligned(align)}{metadata}")

    def compare_and_swap(self, place: Word, type: str, expected: Word, new: Word) -> Word:
        """Append an atomic exchange of a smaller integer, if it is as expected. Its result is what was there."""
        smaller = [self.function.new_name() for _ in range(2)]
        for name, word in zip(smaller, (expected, new), strict=True):
            self.block.lines.append(f"{name} = trunc i64 {word} to {type}")
        pair, found = self.function.new_name(), self.function.new_name()
        self.block.lines.append(f"{pair} = cmpxchg ptr {place}, {type} {smaller[0]}, {type} {smaller[1]} acq_rel acquire")
        self.block.lines.append(f"{found} = extractvalue {{{type}, i1}} {pair}, 0")
        return self.widen("sext", type, found)

    def prefetch(self, place: Word) -> None:
        """Append a hint that a place is read soon."""
        self.module.declare("declare void @llvm.prefetch.p0(ptr, i32, i32, i32)")
        self.block.lines.append(f"call void @llvm.prefetch.p0(ptr {place}, i32 0, i32 3, i32 1)")

    # --- the ends of blocks

    def branch(self, block: BasicBlock) -> None:
        """End the block: go to another one."""
        self._end(f"br label %{block.name}")

    def branch_if(self, bit: str, yes: BasicBlock, no: BasicBlock) -> None:
        """End the block: go to one of two others."""
        self.function.instructions += 1
        self._end(f"br i1 {bit}, label %{yes.name}, label %{no.name}")

    def ret(self, word: Word) -> None:
        """End the block: return a word."""
        self._end(f"ret {self.function.result} {word}")

    def unreachable(self) -> None:
        """End the block, which is never reached."""
        self._end("unreachable")

    def _end(self, line: str) -> None:
        self.block.lines.append(line)
        self.block.is_terminated = True


def _aligned(bytes: int) -> str:
    """Return what says that an access is aligned to fewer bytes than it has; 0 for as many."""
    return f", align {bytes}" if bytes else ""
