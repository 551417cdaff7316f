"""LLVM's assembly language: a module of functions, written block by block. LLVM parses what `Module.text` returns.

Operands are texts: a *word* is an integer of 64 bits, a *bit* the result of a comparison, a *place* a pointer to an integer of some
bits. llvmlite has classes for the same, which take most of the time of translating kernels.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypeAlias

__all__ = ["BasicBlock", "Builder", "KernelFunction", "Module", "Word"]

Word: TypeAlias = str
"""An operand of 64 bits: the name of a result, or a number."""

_NAMED: Final = 'i64 @"{}"'


class Module:
    """Functions, and the alias classes (TBAA) of what they load and store."""

    def __init__(self) -> None:
        self.functions: dict[str, KernelFunction] = {}
        self._declared: dict[str, None] = {}
        self._metadata = ['!{!"kg_reasoner"}']
        self._alias_classes: dict[str, str] = {}

    @property
    def text(self) -> str:
        """The module in LLVM's assembly language."""
        metadata = (f"!{number} = {node}" for number, node in enumerate(self._metadata))
        return "\n".join([*self._declared, *(function.text for function in self.functions.values()), *metadata, ""])

    def function(self, name: str, arity: int) -> KernelFunction:
        """Declare a function of words; it is defined by blocks."""
        made = self.functions[name] = KernelFunction(name, arity)
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
        is_internal: Whether nothing outside of the module calls it.
        is_rare: Whether it is seldom called, and not to be inlined.
        blocks: Its blocks, the first of which it starts with; a function without is defined elsewhere.
    """

    def __init__(self, name: str, arity: int) -> None:
        self.name = name
        self.arguments = [f"%a{number}" for number in range(arity)]
        self.is_internal = self.is_rare = False
        self.blocks: list[BasicBlock] = []
        self._names = 0

    @property
    def text(self) -> str:
        """The definition, or the declaration of a function that has no blocks."""
        if not self.blocks:
            return f"declare {_NAMED.format(self.name)}({', '.join(['i64'] * len(self.arguments))}) nounwind"
        linkage, attributes = "internal " * self.is_internal, "nounwind noinline cold" if self.is_rare else "nounwind"
        arguments = ", ".join(f"i64 {argument}" for argument in self.arguments)
        lines = [f"define {linkage}{_NAMED.format(self.name)}({arguments}) {attributes} {{"]
        for block in self.blocks:
            lines.append(f"{block.name}:")
            lines += block.lines
        return "\n".join([*lines, "}"])

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
        """Append an instruction that computes something of words: ``add``, ``icmp slt`` and so on."""
        name = self.function.new_name()
        self.block.lines.append(f"{name} = {code} i64 {', '.join(operands)}")
        return name

    def widen(self, how: str, bits: int, value: str) -> Word:
        """Append ``zext`` or ``sext`` from some bits to a word."""
        name = self.function.new_name()
        self.block.lines.append(f"{name} = {how} i{bits} {value} to i64")
        return name

    def both(self, first: str, second: str) -> str:
        """Append the conjunction of two bits."""
        name = self.function.new_name()
        self.block.lines.append(f"{name} = and i1 {first}, {second}")
        return name

    def select(self, bit: str, yes: Word, no: Word) -> Word:
        """Append an instruction that chooses one of two words."""
        name = self.function.new_name()
        self.block.lines.append(f"{name} = select i1 {bit}, i64 {yes}, i64 {no}")
        return name

    def call(self, function: KernelFunction, arguments: Sequence[Word]) -> Word:
        """Append a call."""
        name = self.function.new_name()
        self.block.lines.append(f"{name} = call {_NAMED.format(function.name)}({', '.join(map('i64 '.__add__, arguments))})")
        return name

    def phi(self, choices: Sequence[tuple[Word, BasicBlock]]) -> Word:
        """Append an instruction that takes the word of the block that control comes from."""
        name = self.function.new_name()
        self.block.lines.append(f"{name} = phi i64 {', '.join(f'[{word}, %{block.name}]' for word, block in choices)}")
        return name

    # --- memory

    def variable(self) -> str:
        """Append a place on the stack."""
        name = self.function.new_name()
        self.block.lines.append(f"{name} = alloca i64")
        return name

    def place(self, base: Word, index: Word, bits: int) -> str:
        """Append what computes the place of an item of some bits, by its index behind an address."""
        pointer, name = self.function.new_name(), self.function.new_name()
        self.block.lines += [
            f"{pointer} = inttoptr i64 {base} to i{bits}*",
            f"{name} = getelementptr i{bits}, i{bits}* {pointer}, i64 {index}",
        ]
        return name

    def place_of_word(self, place: str, bits: int) -> str:
        """Append what makes the place of a word of that of an item of other bits."""
        name = self.function.new_name()
        self.block.lines.append(f"{name} = bitcast i{bits}* {place} to i64*")
        return name

    def load(self, place: str, bits: int = 64, alias: str = "", align: int = 0) -> str:
        """Append a load of some bits, of an alias class (see `Module.alias_class`)."""
        name = self.function.new_name()
        self.block.lines.append(f"{name} = load i{bits}, i{bits}* {place}{_aligned(align)}{alias}")
        return name

    def load_again(self, place: str) -> Word:
        """Append a load of a word that other threads change: it is repeated each time."""
        name = self.function.new_name()
        self.block.lines.append(f"{name} = load atomic i64, i64* {place} monotonic, align 8")
        return name

    def store(self, word: Word, place: str, bits: int = 64, alias: str = "", align: int = 0) -> None:
        """Append a store of the lower bits of a word."""
        value = word
        if bits < 64:
            value = self.function.new_name()
            self.block.lines.append(f"{value} = trunc i64 {word} to i{bits}")
        self.block.lines.append(f"store i{bits} {value}, i{bits}* {place}{_aligned(align)}{alias}")

    def prefetch(self, place: str, bits: int) -> None:
        """Append a hint that a place is read soon."""
        self.module.declare("declare void @llvm.prefetch.p0i8(i8*, i32, i32, i32)")
        byte = place
        if bits != 8:
            byte = self.function.new_name()
            self.block.lines.append(f"{byte} = bitcast i{bits}* {place} to i8*")
        self.block.lines.append(f"call void @llvm.prefetch.p0i8(i8* {byte}, i32 0, i32 3, i32 1)")

    # --- the ends of blocks

    def branch(self, block: BasicBlock) -> None:
        """End the block: go to another one."""
        self._end(f"br label %{block.name}")

    def branch_if(self, bit: str, yes: BasicBlock, no: BasicBlock) -> None:
        """End the block: go to one of two others."""
        self._end(f"br i1 {bit}, label %{yes.name}, label %{no.name}")

    def ret(self, word: Word) -> None:
        """End the block: return a word."""
        self._end(f"ret i64 {word}")

    def unreachable(self) -> None:
        """End the block, which is never reached."""
        self._end("unreachable")

    def _end(self, line: str) -> None:
        self.block.lines.append(line)
        self.block.is_terminated = True


def _aligned(bytes: int) -> str:
    """Return what says that an access is aligned to fewer bytes than it has; 0 for as many."""
    return f", align {bytes}" if bytes else ""
