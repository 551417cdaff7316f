"""Translate kernels, which are Python functions over integers and structs, to LLVM's intermediate representation.

Every value is a 64-bit word: an integer, the address of a struct, of an array of structs, or of plain items. Words have the kinds
of the annotations (see `memory`), so ``relation.rows[row]`` is resolved when it is translated. Each struct field and each item type
has its own alias class (TBAA), so LLVM can keep ``relation.rows`` in a register while rows are being written.

Kernels use a part of Python: assignments, ``if``, ``while``, ``for`` over ``range``, ``return``, ``break``, ``continue``, calls of
each other, and integer arithmetic, which wraps around. Anything else is a syntax error here.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias, cast, get_type_hints

from llvmlite import ir

from kg_reasoner.data_classes import dataclass
from kg_reasoner.storage.kernels.memory import Pointer, Struct, struct_of

__all__ = ["WORD", "Callee", "KernelModule", "Kind", "Value", "callee", "place_of", "translate", "with_alias"]

WORD = ir.IntType(64)

Kind: TypeAlias = Any
"""The type of a word: ``int``, a `Struct`, an `Array` of structs, or a `Pointer` to items."""


@dataclass(frozen=True)
class Value:
    """A word, and what it is."""

    word: Any
    kind: Kind


@dataclass(frozen=True)
class Callee:
    """A function of LLVM, or a generator of instructions, that kernels can call."""

    emit: Callable[[Any, list[Value]], Any]
    """Appends instructions to a builder and returns the resulting word."""
    result: Kind


class KernelModule(ir.Module):  # type: ignore[misc]  # llvmlite has no types
    """A module of LLVM whose loads and stores have alias classes."""

    def __init__(self) -> None:
        super().__init__("kernels")
        self._root = self.add_metadata(["kg_reasoner"])
        self._alias_classes: dict[str, Any] = {}

    def alias_class(self, name: str) -> Any:
        """Return the metadata of the accesses of an alias class."""
        known = self._alias_classes.get(name)
        if known is None:
            node = self.add_metadata([name, self._root, WORD(0)])
            known = self._alias_classes[name] = self.add_metadata([node, node, WORD(0)])
        return known


_COMPARISONS = {ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}
_OPERATIONS = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.BitAnd: "and_",
    ast.BitOr: "or_",
    ast.BitXor: "xor",
    ast.LShift: "shl",
    ast.RShift: "ashr",
}


def translate(module: Any, definition: ast.FunctionDef, source: Callable[..., Any], callees: Mapping[str, Callee]) -> Any:
    """Define a kernel in a module, whose declaration is there already (see `callee`). Return LLVM's function.

    Args:
        definition: the parsed source.
        source: the Python function, which has the annotations and the global constants.

    Raises:
        SyntaxError: the kernel uses what kernels cannot.
    """
    function = module.globals[source.__name__]
    _Function(function, source, callees).define(definition)
    return function


def callee(module: Any, source: Callable[..., Any], prefix: str | None = None) -> Callee:
    """Declare a kernel in a module, for those that call it. With a prefix of its symbol, it is defined elsewhere."""
    hints = get_type_hints(source)
    result = _kind(hints.pop("return"))
    function = ir.Function(module, ir.FunctionType(WORD, [WORD] * len(hints)), (prefix or "") + source.__name__)
    if prefix is None:
        function.linkage = "internal"
    function.attributes.add("nounwind")
    return Callee(lambda builder, arguments: builder.call(function, [value.word for value in arguments]), result)


def place_of(builder: Any, base: Any, index: Any, bits: int) -> Any:
    """Return the address of an item as a pointer of LLVM."""
    return builder.gep(builder.inttoptr(base, ir.IntType(bits).as_pointer()), [index])


def with_alias(builder: Any, instruction: Any, name: str) -> Any:
    """Give a load or store, in a `KernelModule`, an alias class: accesses of different classes never overlap."""
    instruction.set_metadata("tbaa", builder.module.alias_class(name))
    return instruction


def _kind(hint: Any) -> Kind:
    return int if hint in (int, bool) else hint


def _is_items(kind: Kind) -> bool:
    return isinstance(kind, type) and issubclass(kind, Pointer)


class _Function:
    """The translation of one function."""

    def __init__(self, function: Any, source: Callable[..., Any], callees: Mapping[str, Callee]) -> None:
        self.function = function
        self.source = source
        self.constants = source.__globals__
        self.callees = callees
        self.variables: dict[str, Value] = {}
        """The places of the local variables on the stack; LLVM makes registers of them."""
        self.loops: list[tuple[Any, Any]] = []
        """Where `continue` and `break` go, in the loops around the current statement."""
        self.entry = ir.IRBuilder(function.append_basic_block("entry"))
        """Appends the places of variables to the first block."""
        self.builder = ir.IRBuilder(function.append_basic_block("body"))

    def define(self, definition: ast.FunctionDef) -> None:
        """Translate the arguments and the body."""
        body, hints = self.builder.block, get_type_hints(self.source)
        for argument, word in zip(definition.args.args, self.function.args, strict=True):
            self.assign(argument, argument.arg, Value(word, _kind(hints[argument.arg])))
        self.statements(definition.body)
        if not self.builder.block.is_terminated:
            self.builder.ret(WORD(0))
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
        self.builder.ret(WORD(0) if node.value is None else self.value(node.value).word)

    def on_If(self, node: ast.If) -> None:
        yes, no, after = (self.function.append_basic_block(name) for name in ("then", "else", "after"))
        self.branch(node.test, yes, no)
        goes_on = [self.block(block, nodes, after) for block, nodes in ((yes, node.body), (no, node.orelse))]
        self.builder.position_at_end(after)
        if not any(goes_on):
            self.builder.unreachable()

    def on_While(self, node: ast.While) -> None:
        if node.orelse:
            raise self.fail(node, "loops have no else")
        head, body, after = (self.function.append_basic_block(name) for name in ("while", "body", "after"))
        self.builder.branch(head)
        self.builder.position_at_end(head)
        self.branch(node.test, body, after)
        self.loops.append((head, after))
        self.block(body, node.body, head)
        self.loops.pop()
        self.builder.position_at_end(after)

    def on_For(self, node: ast.For) -> None:
        bounds = self.range(node)
        if not isinstance(node.target, ast.Name):
            raise self.fail(node.target, "only a variable can count")
        first, end, step = bounds
        counter = self.on_stack("")
        self.builder.store(first, counter)
        head, body, following, after = (self.function.append_basic_block(name) for name in ("for", "body", "next", "after"))
        self.builder.branch(head)
        self.builder.position_at_end(head)
        number = self.builder.load(counter)
        self.builder.cbranch(self.builder.icmp_signed("<" if step > 0 else ">", number, end), body, after)
        self.builder.position_at_end(body)
        self.assign(node.target, node.target.id, Value(number, int))
        self.loops.append((following, after))
        self.block(body, node.body, following)
        self.loops.pop()
        self.builder.position_at_end(following)
        self.builder.store(self.builder.add(number, WORD(step), flags=("nsw",)), counter)
        self.builder.branch(head)
        self.builder.position_at_end(after)

    def range(self, node: ast.For) -> tuple[Any, Any, int]:
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
        return (WORD(0), values[0], step) if len(values) == 1 else (values[0], values[1], step)

    def on_Break(self, node: ast.Break) -> None:
        self.builder.branch(self.loops[-1][1])

    def on_Continue(self, node: ast.Continue) -> None:
        self.builder.branch(self.loops[-1][0])

    def block(self, block: Any, nodes: list[ast.stmt], after: Any) -> bool:
        """Translate statements into a block, and return whether control goes on from there to another."""
        self.builder.position_at_end(block)
        self.statements(nodes)
        if self.builder.block.is_terminated:
            return False
        self.builder.branch(after)
        return True

    # --- variables and memory

    def on_stack(self, name: str) -> Any:
        """Return a new word on the stack."""
        return self.entry.alloca(WORD, name=name)

    def assign(self, node: ast.AST, name: str, value: Value) -> None:
        """Assign to a local variable, which has the same kind everywhere."""
        if name not in self.variables:
            self.variables[name] = Value(self.on_stack(name), value.kind)
        elif self.variables[name].kind != value.kind:
            raise self.fail(node, f"{name} is of two kinds")
        self.builder.store(value.word, self.variables[name].word)

    def store(self, target: ast.expr, value: Value) -> None:
        """Assign to a variable, a field or an item."""
        if isinstance(target, ast.Name):
            self.assign(target, target.id, value)
        elif isinstance(target, ast.Attribute):
            place, alias, _ = self.field(target)
            with_alias(self.builder, self.builder.store(value.word, place), alias)
        elif isinstance(target, ast.Subscript):
            base = self.value(target.value)
            if not _is_items(base.kind):
                raise self.fail(target, "only items can be set")
            bits = _bits(base.kind)
            word = value.word if bits == 64 else self.builder.trunc(value.word, ir.IntType(bits))
            place = place_of(self.builder, base.word, self.value(target.slice).word, bits)
            with_alias(self.builder, self.builder.store(word, place), base.kind.__name__)
        else:
            raise self.fail(target, "this cannot be assigned to")

    def field(self, node: ast.Attribute) -> tuple[Any, str, Kind]:
        """Return the place of a field, its alias class and its kind."""
        base = self.value(node.value)
        if not (isinstance(base.kind, type) and issubclass(base.kind, Struct) and node.attr in base.kind.fields):
            raise self.fail(node, f"there is no field {node.attr}")
        word, hint = base.kind.fields[node.attr]
        place = place_of(self.builder, base.word, WORD(word), 64)
        return place, f"{base.kind.__name__}.{node.attr}", _kind(hint)

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
        return Value(WORD(_signed(int(node.value))), int)

    def of_Name(self, node: ast.Name) -> Value:
        if node.id in self.variables:
            variable = self.variables[node.id]
            return Value(self.builder.load(variable.word), variable.kind)
        constant = self.constants.get(node.id)
        if not isinstance(constant, int):
            raise self.fail(node, f"{node.id} is neither a variable nor an integer constant")
        return Value(WORD(_signed(int(constant))), int)

    def of_Attribute(self, node: ast.Attribute) -> Value:
        place, alias, kind = self.field(node)
        return Value(with_alias(self.builder, self.builder.load(place), alias), kind)

    def of_Subscript(self, node: ast.Subscript) -> Value:
        base, index = self.value(node.value), self.value(node.slice).word
        struct = struct_of(base.kind)
        if struct is not None:
            offset = self.builder.mul(index, WORD(8 * len(struct.fields)))
            return Value(self.builder.add(base.word, offset), struct)
        if not _is_items(base.kind):
            raise self.fail(node, "only arrays have items")
        bits = _bits(base.kind)
        word = with_alias(self.builder, self.builder.load(place_of(self.builder, base.word, index, bits)), base.kind.__name__)
        if bits < 64:
            word = self.builder.sext(word, WORD) if base.kind.dtype.kind == "i" else self.builder.zext(word, WORD)
        return Value(word, int)

    def of_BinOp(self, node: ast.BinOp) -> Value:
        left, right = self.value(node.left), self.value(node.right)
        if _is_items(left.kind) and isinstance(node.op, ast.Add):
            moved = self.builder.mul(right.word, WORD(left.kind.dtype.itemsize))
            return Value(self.builder.add(left.word, moved), left.kind)
        if left.kind is not int or right.kind is not int:
            raise self.fail(node, "operands are integers")
        if isinstance(node.op, ast.FloorDiv | ast.Mod):
            return Value(self.divided(node.op, left.word, right.word), int)
        if type(node.op) not in _OPERATIONS:
            raise self.fail(node, f"{type(node.op).__name__} is not supported")
        return Value(getattr(self.builder, _OPERATIONS[type(node.op)])(left.word, right.word), int)

    def divided(self, operator: ast.operator, dividend: Any, divisor: Any) -> Any:
        """Return the quotient or remainder of a division that rounds down. Kernels never divide by zero."""
        builder = self.builder
        remainder = builder.srem(dividend, divisor)
        is_above = builder.and_(
            builder.icmp_signed("!=", remainder, WORD(0)), builder.icmp_signed("<", builder.xor(remainder, divisor), WORD(0))
        )
        if isinstance(operator, ast.Mod):
            return builder.select(is_above, builder.add(remainder, divisor), remainder)
        return builder.sub(builder.sdiv(dividend, divisor), builder.zext(is_above, WORD))

    def of_UnaryOp(self, node: ast.UnaryOp) -> Value:
        if isinstance(node.op, ast.Not):
            return self.truth(node)
        word = self.value(node.operand).word
        if isinstance(node.op, ast.USub):
            return Value(self.builder.neg(word), int)
        if isinstance(node.op, ast.Invert):
            return Value(self.builder.not_(word), int)
        raise self.fail(node, f"{type(node.op).__name__} is not supported")

    def of_Compare(self, node: ast.Compare) -> Value:
        return Value(self.builder.zext(self.comparison(node), WORD), int)

    def comparison(self, node: ast.Compare) -> Any:
        """Return the bit that says whether a comparison holds."""
        if len(node.ops) != 1 or type(node.ops[0]) not in _COMPARISONS:
            raise self.fail(node, "comparisons are of two integers")
        left, right = self.value(node.left), self.value(node.comparators[0])
        return self.builder.icmp_signed(_COMPARISONS[type(node.ops[0])], left.word, right.word)

    def of_BoolOp(self, node: ast.BoolOp) -> Value:
        """Return the operand that decides, as Python does."""
        *others, last = node.values
        result, after = self.on_stack(""), self.function.append_basic_block("after")
        for operand in others:
            value = self.value(operand)
            self.builder.store(value.word, result)
            following = self.function.append_basic_block("next")
            is_true = self.builder.icmp_signed("!=", value.word, WORD(0))
            self.builder.cbranch(is_true, *((following, after) if isinstance(node.op, ast.And) else (after, following)))
            self.builder.position_at_end(following)
        self.builder.store(self.value(last).word, result)
        self.builder.branch(after)
        self.builder.position_at_end(after)
        return Value(self.builder.load(result), int)

    def of_IfExp(self, node: ast.IfExp) -> Value:
        result = self.on_stack("")
        yes, no, after = (self.function.append_basic_block(name) for name in ("then", "else", "after"))
        self.branch(node.test, yes, no)
        kinds = []
        for block, operand in ((yes, node.body), (no, node.orelse)):
            self.builder.position_at_end(block)
            value = self.value(operand)
            kinds.append(value.kind)
            self.builder.store(value.word, result)
            self.builder.branch(after)
        if kinds[0] != kinds[1]:
            raise self.fail(node, "both values are of one kind")
        self.builder.position_at_end(after)
        return Value(self.builder.load(result), kinds[0])

    def of_Call(self, node: ast.Call) -> Value:
        if not isinstance(node.func, ast.Name) or node.func.id not in self.callees or node.keywords:
            raise self.fail(node, "kernels call only kernels, without keywords")
        called = self.callees[node.func.id]
        return Value(called.emit(self.builder, [self.value(argument) for argument in node.args]), called.result)

    # --- conditions

    def truth(self, node: ast.expr) -> Value:
        """Return 1 or 0 for a condition."""
        yes, no, after = (self.function.append_basic_block(name) for name in ("then", "else", "after"))
        self.branch(node, yes, no)
        for block in (yes, no):
            self.builder.position_at_end(block)
            self.builder.branch(after)
        self.builder.position_at_end(after)
        word = self.builder.phi(WORD)
        word.add_incoming(WORD(1), yes)
        word.add_incoming(WORD(0), no)
        return Value(word, int)

    def branch(self, node: ast.expr, yes: Any, no: Any) -> None:
        """Go on where a condition leads."""
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            self.branch(node.operand, no, yes)
        elif isinstance(node, ast.BoolOp):
            for operand in node.values[:-1]:
                following = self.function.append_basic_block("next")
                self.branch(operand, *((following, no) if isinstance(node.op, ast.And) else (yes, following)))
                self.builder.position_at_end(following)
            self.branch(node.values[-1], yes, no)
        elif isinstance(node, ast.Constant):
            self.builder.branch(yes if node.value else no)
        else:
            bit = self.comparison(node) if isinstance(node, ast.Compare) else None
            if bit is None:
                bit = self.builder.icmp_signed("!=", self.value(node).word, WORD(0))
            self.builder.cbranch(bit, yes, no)


def _bits(items: type[Pointer]) -> int:
    return items.dtype.itemsize * 8


def _signed(number: int) -> int:
    """Return a number as 64 bits with a sign."""
    return (number + (1 << 63)) % (1 << 64) - (1 << 63)
