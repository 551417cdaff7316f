"""Translate kernels, which are Python functions over integers and structs, to LLVM's assembly language.

Every value is a 64-bit word: an integer, the address of a struct, of an array of structs, or of plain items. Words have the kinds
of the annotations (see `memory`), so ``relation.rows[row]`` is resolved when it is translated. Each struct field and each item type
has its own alias class (TBAA), so LLVM can keep ``relation.rows`` in a register while rows are being written.

Kernels use a part of Python: assignments, ``if``, ``while``, ``for`` over ``range``, ``return``, ``break``, ``continue``, calls of
each other, and integer arithmetic, which wraps around. Anything else is a syntax error here.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Final, TypeAlias, cast, get_type_hints

from kg_reasoner.data_classes import dataclass
from kg_reasoner.storage.kernels.machine_code.assembly import ADDRESS, INTEGER, BasicBlock, Builder, KernelFunction, Module, Word
from kg_reasoner.storage.kernels.memory.structs import Pointer, Struct, struct_of

__all__ = ["Callee", "Kind", "Value", "callee", "item_type", "translate"]

Kind: TypeAlias = Any
"""The type of a word: ``int``, a `Struct`, an `Array` of structs, or a `Pointer` to items."""


@dataclass(slots=True)
class Value:
    """A word and its kind."""

    word: Word
    kind: Kind


@dataclass(slots=True)
class Callee:
    """A function of LLVM, or a generator of instructions, that kernels can call."""

    emit: Callable[[Builder, list[Value]], Word]
    """Appends instructions and returns the resulting word."""
    result: Kind


_COMPARISONS: Final = {ast.Eq: "eq", ast.NotEq: "ne", ast.Lt: "slt", ast.LtE: "sle", ast.Gt: "sgt", ast.GtE: "sge"}
_OPERATIONS: Final = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.BitAnd: "and",
    ast.BitOr: "or",
    ast.BitXor: "xor",
    ast.LShift: "shl",
    ast.RShift: "ashr",
}
_ONES: Final = "-1"
_ZERO: Final = {INTEGER: "0", ADDRESS: "null"}


def translate(
    module: Module,
    function: KernelFunction,
    definition: ast.FunctionDef,
    source: Callable[..., Any],
    callees: Mapping[str, Callee],
) -> None:
    """Define a kernel in a module.

    Args:
        module: the module.
        function: its declaration (see `declare`).
        definition: the parsed source.
        source: the Python function, which has the annotations and the global constants.
        callees: the kernels that it may call, by name.

    Raises:
        SyntaxError: the kernel uses what kernels cannot.
    """
    _Translation(module, function, source, callees).define(definition)


def declare(module: Module, source: Callable[..., Any], prefix: str | None) -> KernelFunction:
    """Declare a kernel in a module. One that other modules define or call has a prefix of its symbol."""
    *arguments, result = _kinds(source).values()
    function = module.function((prefix or "") + source.__name__, [_type(kind) for kind in arguments], _type(result))
    function.is_internal = prefix is None
    return function


def callee(function: KernelFunction, source: Callable[..., Any]) -> Callee:
    """Return what calls a kernel."""
    *_, result = _kinds(source).values()
    return Callee(lambda builder, values: builder.call(function, [value.word for value in values]), result)


@cache
def _kinds(source: Callable[..., Any]) -> dict[str, Kind]:
    """Return the kinds of a kernel's arguments by their names, and last that of its result."""
    return {name: _kind(hint) for name, hint in get_type_hints(source).items()}


def _kind(hint: Any) -> Kind:
    return int if hint in (int, bool) else hint


def _type(kind: Kind) -> str:
    """Return the type of a word."""
    return INTEGER if kind is int or kind is type(None) else ADDRESS


def item_type(items: type[Pointer]) -> str:
    """Return the type of each of some items in memory."""
    return f"i{items.dtype.itemsize * 8}"


def _is_items(kind: Kind) -> bool:
    return isinstance(kind, type) and issubclass(kind, Pointer)


class _Translation:
    """The translation of one function."""

    def __init__(self, module: Module, function: KernelFunction, source: Callable[..., Any], callees: Mapping[str, Callee]) -> None:
        self.module = module
        self.function = function
        self.source = source
        self.constants = source.__globals__
        self.callees = callees
        self.variables: dict[str, Value] = {}
        """The places of the local variables on the stack; LLVM makes registers of them."""
        self.loops: list[tuple[BasicBlock, BasicBlock]] = []
        """Where `continue` and `break` go, in the loops around the current statement."""
        self.entry = Builder(module, function, function.new_block())
        """Appends the places of variables to the first block."""
        self.builder = Builder(module, function, function.new_block())

    def define(self, definition: ast.FunctionDef) -> None:
        """Translate the arguments and the body."""
        body, kinds = self.builder.block, _kinds(self.source)
        for argument, word in zip(definition.args.args, self.function.arguments, strict=True):
            self.assign(argument, argument.arg, Value(word, kinds[argument.arg]))
        self.statements(definition.body)
        if not self.builder.block.is_terminated:
            self.builder.ret(_ZERO[self.function.result])
        self.entry.branch(body)

    def fail(self, node: ast.AST, message: str) -> SyntaxError:
        """Return an error that says where a kernel uses what kernels cannot."""
        code = self.source.__code__
        line, column = getattr(node, "lineno", code.co_firstlineno), getattr(node, "col_offset", 0) + 1
        return SyntaxError(f"kernel {self.source.__name__}: {message}", (code.co_filename, line, column, ast.unparse(node)))

    # --- statements

    def statements(self, nodes: list[ast.stmt]) -> None:
        """Translate statements up to the first one behind which nothing is reached."""
        for node in nodes:
            if self.builder.block.is_terminated:
                return
            method = getattr(self, f"on_{type(node).__name__}", None)
            if method is None:
                raise self.fail(node, f"{type(node).__name__} is not supported")
            method(node)

    def on_Pass(self, node: ast.Pass) -> None:
        pass

    def on_Expr(self, node: ast.Expr) -> None:
        if not isinstance(node.value, ast.Constant):  # a docstring
            self.value(node.value)

    def on_Assign(self, node: ast.Assign) -> None:
        if isinstance(node.value, ast.Tuple):
            (target,) = node.targets
            values = [self.value(item) for item in node.value.elts]
            for place, value in zip(cast(ast.Tuple, target).elts, values, strict=True):
                self.store(place, value)
        else:
            value = self.value(node.value)
            for target in node.targets:
                self.store(target, value)

    def on_AugAssign(self, node: ast.AugAssign) -> None:
        if not isinstance(node.target, ast.Name):
            raise self.fail(node, "only variables can be changed in place")
        name = ast.copy_location(ast.Name(node.target.id, ast.Load()), node)
        self.store(node.target, self.value(ast.copy_location(ast.BinOp(name, node.op, node.value), node)))

    def on_Return(self, node: ast.Return) -> None:
        self.builder.ret(_ZERO[self.function.result] if node.value is None else self.value(node.value).word)

    def on_If(self, node: ast.If) -> None:
        yes, no, after = (self.function.new_block() for _ in range(3))
        self.branch(node.test, yes, no)
        goes_on = [self.block(block, nodes, after) for block, nodes in ((yes, node.body), (no, node.orelse))]
        self.builder.go_to(after)
        if not any(goes_on):
            self.builder.unreachable()

    def on_While(self, node: ast.While) -> None:
        if node.orelse:
            raise self.fail(node, "loops have no else")
        head, body, after = (self.function.new_block() for _ in range(3))
        self.builder.branch(head)
        self.builder.go_to(head)
        self.branch(node.test, body, after)
        self.loops.append((head, after))
        self.block(body, node.body, head)
        self.loops.pop()
        self.builder.go_to(after)

    def on_For(self, node: ast.For) -> None:
        bounds = self.range(node)
        if not isinstance(node.target, ast.Name):
            raise self.fail(node.target, "only a variable can count")
        first, end, step = bounds
        counter = self.entry.variable(INTEGER)
        self.builder.store(first, counter)
        head, body, following, after = (self.function.new_block() for _ in range(4))
        self.builder.branch(head)
        self.builder.go_to(head)
        number = self.builder.load(counter)
        self.builder.branch_if(self.builder.operation("icmp slt" if step > 0 else "icmp sgt", number, end), body, after)
        self.builder.go_to(body)
        self.assign(node.target, node.target.id, Value(number, int))
        self.loops.append((following, after))
        self.block(body, node.body, following)
        self.loops.pop()
        self.builder.go_to(following)
        self.builder.store(self.builder.operation("add nsw", number, str(step)), counter)
        self.builder.branch(head)
        self.builder.go_to(after)

    def range(self, node: ast.For) -> tuple[Word, Word, int]:
        """Return the first number of a range, its end, and its step."""
        call = node.iter
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or call.func.id != "range" or node.orelse:
            raise self.fail(node, "loops are over ranges, without else")
        step = 1
        if len(call.args) == 3:
            try:
                step = cast(int, ast.literal_eval(call.args[2]))
            except ValueError:
                raise self.fail(call, "the step of a range is a constant") from None
        values = [self.value(argument).word for argument in call.args[:2]]
        return ("0", values[0], step) if len(values) == 1 else (values[0], values[1], step)

    def on_Break(self, node: ast.Break) -> None:
        self.builder.branch(self.loops[-1][1])

    def on_Continue(self, node: ast.Continue) -> None:
        self.builder.branch(self.loops[-1][0])

    def block(self, block: BasicBlock, nodes: list[ast.stmt], after: BasicBlock) -> bool:
        """Translate statements into a block, and return whether control goes on from there to another."""
        self.builder.go_to(block)
        self.statements(nodes)
        if self.builder.block.is_terminated:
            return False
        self.builder.branch(after)
        return True

    # --- variables and memory

    def assign(self, node: ast.AST, name: str, value: Value) -> None:
        """Assign to a local variable, which has the same kind everywhere."""
        if name not in self.variables:
            self.variables[name] = Value(self.entry.variable(_type(value.kind)), value.kind)
        elif self.variables[name].kind != value.kind:
            raise self.fail(node, f"{name} is of two kinds")
        self.builder.store(value.word, self.variables[name].word, _type(value.kind))

    def store(self, target: ast.expr, value: Value) -> None:
        """Assign to a variable, a field or an item."""
        if isinstance(target, ast.Name):
            self.assign(target, target.id, value)
        elif isinstance(target, ast.Attribute):
            place, alias, kind = self.field(target)
            self.builder.store(value.word, place, _type(kind), alias)
        elif isinstance(target, ast.Subscript):
            base = self.value(target.value)
            if not _is_items(base.kind):
                raise self.fail(target, "only items can be set")
            type = item_type(base.kind)
            place = self.builder.place(base.word, self.value(target.slice).word, type)
            self.builder.store(value.word, place, type, self.module.alias_class(base.kind.__name__))
        else:
            raise self.fail(target, "this cannot be assigned to")

    def field(self, node: ast.Attribute) -> tuple[str, str, Kind]:
        """Return the place of a field, the metadata of its alias class, and its kind."""
        base = self.value(node.value)
        if not (isinstance(base.kind, type) and issubclass(base.kind, Struct) and node.attr in base.kind.fields):
            raise self.fail(node, f"there is no field {node.attr}")
        word, hint = base.kind.fields[node.attr]
        place = self.builder.place(base.word, str(word), INTEGER)
        return place, self.module.alias_class(f"{base.kind.__name__}.{node.attr}"), _kind(hint)

    # --- expressions

    def value(self, node: ast.expr) -> Value:
        """Translate an expression."""
        method = getattr(self, f"of_{type(node).__name__}", None)
        if method is None:
            raise self.fail(node, f"{type(node).__name__} is not supported")
        return cast(Value, method(node))

    def of_Constant(self, node: ast.Constant) -> Value:
        if not isinstance(node.value, int):
            raise self.fail(node, "constants are integers")
        return Value(_signed(node.value), int)

    def of_Name(self, node: ast.Name) -> Value:
        if node.id in self.variables:
            variable = self.variables[node.id]
            return Value(self.builder.load(variable.word, _type(variable.kind)), variable.kind)
        constant = self.constants.get(node.id)
        if not isinstance(constant, int):
            raise self.fail(node, f"{node.id} is neither a variable nor an integer constant")
        return Value(_signed(constant), int)

    def of_Attribute(self, node: ast.Attribute) -> Value:
        place, alias, kind = self.field(node)
        return Value(self.builder.load(place, _type(kind), alias), kind)

    def of_Subscript(self, node: ast.Subscript) -> Value:
        base, index = self.value(node.value), self.value(node.slice).word
        struct = struct_of(base.kind)
        if struct is not None:
            return Value(self.builder.place(base.word, index, f"[{len(struct.fields)} x {INTEGER}]"), struct)
        if not _is_items(base.kind):
            raise self.fail(node, "only arrays have items")
        type = item_type(base.kind)
        found = self.builder.load(self.builder.place(base.word, index, type), type, self.module.alias_class(base.kind.__name__))
        if type != INTEGER:
            found = self.builder.widen("sext" if base.kind.dtype.kind == "i" else "zext", type, found)
        return Value(found, int)

    def of_BinOp(self, node: ast.BinOp) -> Value:
        left, right = self.value(node.left), self.value(node.right)
        if _is_items(left.kind) and isinstance(node.op, ast.Add):
            return Value(self.builder.place(left.word, right.word, item_type(left.kind)), left.kind)
        if left.kind is not int or right.kind is not int:
            raise self.fail(node, "operands are integers")
        if isinstance(node.op, ast.FloorDiv | ast.Mod):
            return Value(self.divided(node.op, left.word, right.word), int)
        if type(node.op) not in _OPERATIONS:
            raise self.fail(node, f"{type(node.op).__name__} is not supported")
        return Value(self.builder.operation(_OPERATIONS[type(node.op)], left.word, right.word), int)

    def divided(self, operator: ast.operator, dividend: Word, divisor: Word) -> Word:
        """Return the quotient or remainder of a division that rounds down. Kernels never divide by zero."""
        operation = self.builder.operation
        remainder = operation("srem", dividend, divisor)
        is_some = operation("icmp ne", remainder, "0")
        differ = operation("icmp slt", operation("xor", remainder, divisor), "0")
        is_above = self.builder.both(is_some, differ)
        if isinstance(operator, ast.Mod):
            return self.builder.select(is_above, operation("add", remainder, divisor), remainder)
        return operation("sub", operation("sdiv", dividend, divisor), self.builder.widen("zext", "i1", is_above))

    def of_UnaryOp(self, node: ast.UnaryOp) -> Value:
        if isinstance(node.op, ast.Not):
            return self.truth(node)
        word = self.value(node.operand).word
        if isinstance(node.op, ast.USub):
            return Value(self.builder.operation("sub", "0", word), int)
        if isinstance(node.op, ast.Invert):
            return Value(self.builder.operation("xor", word, _ONES), int)
        raise self.fail(node, f"{type(node.op).__name__} is not supported")

    def of_Compare(self, node: ast.Compare) -> Value:
        return Value(self.builder.widen("zext", "i1", self.comparison(node)), int)

    def comparison(self, node: ast.Compare) -> str:
        """Return the bit that says whether a comparison holds."""
        if len(node.ops) != 1 or type(node.ops[0]) not in _COMPARISONS:
            raise self.fail(node, "comparisons are of two integers")
        left, right = self.value(node.left), self.value(node.comparators[0])
        return self.builder.operation(f"icmp {_COMPARISONS[type(node.ops[0])]}", left.word, right.word)

    def of_BoolOp(self, node: ast.BoolOp) -> Value:
        """Return the operand that decides, as Python does."""
        *others, last = node.values
        result, after = self.entry.variable(INTEGER), self.function.new_block()
        for operand in others:
            value = self.value(operand)
            self.builder.store(value.word, result)
            following = self.function.new_block()
            is_true = self.builder.operation("icmp ne", value.word, "0")
            self.builder.branch_if(is_true, *((following, after) if isinstance(node.op, ast.And) else (after, following)))
            self.builder.go_to(following)
        self.builder.store(self.value(last).word, result)
        self.builder.branch(after)
        self.builder.go_to(after)
        return Value(self.builder.load(result), int)

    def of_IfExp(self, node: ast.IfExp) -> Value:
        yes, no, after = (self.function.new_block() for _ in range(3))
        self.branch(node.test, yes, no)
        values, blocks = [], []
        for block, operand in ((yes, node.body), (no, node.orelse)):
            self.builder.go_to(block)
            values.append(self.value(operand))
            blocks.append(self.builder.block)
            self.builder.branch(after)
        kind = values[0].kind
        if kind != values[1].kind:
            raise self.fail(node, "both values are of one kind")
        self.builder.go_to(after)
        choices = [(value.word, block) for value, block in zip(values, blocks, strict=True)]
        return Value(self.builder.phi(choices, _type(kind)), kind)

    def of_Call(self, node: ast.Call) -> Value:
        if not isinstance(node.func, ast.Name) or node.func.id not in self.callees or node.keywords:
            raise self.fail(node, "kernels call only kernels, without keywords")
        called = self.callees[node.func.id]
        return Value(called.emit(self.builder, [self.value(argument) for argument in node.args]), called.result)

    # --- conditions

    def truth(self, node: ast.expr) -> Value:
        """Return 1 or 0 for a condition."""
        yes, no, after = (self.function.new_block() for _ in range(3))
        self.branch(node, yes, no)
        for block in (yes, no):
            self.builder.go_to(block)
            self.builder.branch(after)
        self.builder.go_to(after)
        return Value(self.builder.phi([("1", yes), ("0", no)]), int)

    def branch(self, node: ast.expr, yes: BasicBlock, no: BasicBlock) -> None:
        """Go on where a condition leads."""
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            self.branch(node.operand, no, yes)
        elif isinstance(node, ast.BoolOp):
            for operand in node.values[:-1]:
                following = self.function.new_block()
                self.branch(operand, *((following, no) if isinstance(node.op, ast.And) else (yes, following)))
                self.builder.go_to(following)
            self.branch(node.values[-1], yes, no)
        elif isinstance(node, ast.Constant):
            self.builder.branch(yes if node.value else no)
        else:
            bit = self.comparison(node) if isinstance(node, ast.Compare) else None
            if bit is None:
                bit = self.builder.operation("icmp ne", self.value(node).word, "0")
            self.builder.branch_if(bit, yes, no)


def _signed(number: int) -> Word:
    """Return a number as 64 bits with a sign."""
    return str((int(number) + (1 << 63)) % (1 << 64) - (1 << 63))
