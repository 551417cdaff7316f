"""Expressions, functions and aggregates."""

from __future__ import annotations

from abc import abstractmethod
from typing import Final

from kg_reasoner.data_classes import dataclass
from kg_reasoner.expressions.functions import FUNCTIONS
from kg_reasoner.program import Call, unary_plus
from kg_reasoner.sparql import algebra
from kg_reasoner.sparql.algebra import Expression, Node
from kg_reasoner.sparql.building import call
from kg_reasoner.sparql.syntax.tokens import NUMBER, STRING, VARIABLE, WORD, Unread
from kg_reasoner.sparql.syntax.triples import TripleReader

__all__ = ["AggregateCall", "QueryExpressionReader", "has"]


_ONE: Final = (
    "STR LANG DATATYPE IRI URI ABS CEIL FLOOR ROUND STRLEN UCASE LCASE ENCODE_FOR_URI YEAR MONTH DAY HOURS MINUTES SECONDS "
    "TIMEZONE TZ MD5 SHA1 SHA256 SHA384 SHA512 ISIRI ISURI ISBLANK ISLITERAL ISNUMERIC"
)
_TWO: Final = "LANGMATCHES CONTAINS STRSTARTS STRENDS STRBEFORE STRAFTER STRLANG STRDT SAMETERM"
_NONE: Final = "RAND NOW UUID STRUUID"
_ARGUMENTS: Final = {
    **dict.fromkeys(_ONE.split(), (1, 1)),
    **dict.fromkeys(_TWO.split(), (2, 2)),
    **dict.fromkeys(_NONE.split(), (0, 0)),
    "IF": (3, 3),
    "BNODE": (0, 1),
    "REGEX": (2, 3),
    "SUBSTR": (2, 3),
    "REPLACE": (3, 4),
    "CONCAT": (0, 1 << 30),
    "COALESCE": (0, 1 << 30),
}
"""The least and the greatest number of arguments of each function."""

AGGREGATES: Final = frozenset({"COUNT", "SUM", "MIN", "MAX", "AVG", "SAMPLE", "GROUP_CONCAT"})

_RELATIONS: Final = frozenset({"=", "!=", "<", ">", "<=", ">="})


@dataclass(frozen=True, slots=True)
class AggregateCall:
    """An aggregate where it is written, inside of an expression. See `kg_reasoner.sparql.algebra.Aggregation`."""

    function: str
    argument: Expression | None
    is_distinct: bool = False
    separator: str = " "


class QueryExpressionReader(TripleReader):
    """Reads expressions. Where aggregates are permitted, an expression may have an `AggregateCall` as an operand."""

    @abstractmethod
    def group(self) -> Node:
        """Read a group in braces."""

    def expression(self) -> Expression:
        """Read an expression."""
        self.descend()
        operands = [self._conjunction()]
        while self.accept("||"):
            operands.append(self._conjunction())
        self.ascend()
        return operands[0] if len(operands) == 1 else call("||", *operands)

    def _conjunction(self) -> Expression:
        operands = [self._relation()]
        while self.accept("&&"):
            operands.append(self._relation())
        return operands[0] if len(operands) == 1 else call("&&", *operands)

    def _relation(self) -> Expression:
        left = self._sum()
        operator = self.next
        if operator in _RELATIONS and self.accept(operator):
            return call(operator, left, self._sum())
        if self.accept_word("IN"):
            return call("IN", left, *self._alternatives())
        if self.accept_word("NOT"):
            self.expect_word("IN")
            return call("NOT IN", left, *self._alternatives())
        return left

    def _alternatives(self) -> list[Expression]:
        self.expect("(")
        return [] if self.accept(")") else self._rest_of_list()

    def _rest_of_list(self) -> list[Expression]:
        """Read expressions up to the closing parenthesis."""
        found = [self.expression()]
        while self.accept(","):
            found.append(self.expression())
        self.expect(")")
        return found

    def _sum(self) -> Expression:
        found = self._product()
        while (operator := self.next) in ("+", "-") and self.accept(operator):
            found = call(operator, found, self._product())
        return found

    def _product(self) -> Expression:
        found = self._unary()
        while (operator := self.next) in ("*", "/") and self.accept(operator):
            found = call(operator, found, self._unary())
        return found

    def _unary(self) -> Expression:
        if self.accept("!"):
            return call("!", self._primary())
        for sign in ("-", "+"):
            if self.accept(sign):
                if self.kind == NUMBER and self.touches():
                    return self.signed_number(sign)
                return call("neg", self._primary()) if sign == "-" else unary_plus(self._primary())
        return self._primary()

    def _primary(self) -> Expression:
        kind = self.kind
        if kind == VARIABLE:
            return self.variable()
        if kind in (STRING, NUMBER):
            return self.literal()
        if self.sees("("):
            return self.bracketed()
        if self.sees_iri():
            return self._iri_or_function()
        if kind == WORD:
            return self.literal() if self.word() in ("TRUE", "FALSE") else self.function()
        raise Unread

    def bracketed(self) -> Expression:
        """Read an expression in parentheses."""
        self.expect("(")
        found = self.expression()
        self.expect(")")
        return found

    def _iri_or_function(self) -> Expression:
        iri = self.iri()
        if not self.sees("("):
            return iri
        arguments = tuple(self._alternatives())
        name = f"<{iri.value}>"
        return call(name, *arguments) if name in FUNCTIONS else algebra.Foreign(iri.value, arguments)

    def constraint(self) -> Expression:
        """Read what may follow FILTER, HAVING or ORDER BY: an expression in parentheses, or a call of a function."""
        if self.sees("("):
            return self.bracketed()
        if self.sees_iri():
            found = self._iri_or_function()
            if isinstance(found, (Call, algebra.Foreign)):
                return found
            raise Unread
        return self.function()

    def function(self) -> Expression:
        """Read a call of a function or an aggregate that has a keyword."""
        name = self.word()
        if name in AGGREGATES:
            return self._aggregate()  # type: ignore[return-value]
        self.take(WORD)
        if name == "NOT":
            self.expect_word("EXISTS")
            return call("!", algebra.Exists(self.group()))
        if name == "EXISTS":
            return algebra.Exists(self.group())
        if name == "BOUND":
            self.expect("(")
            variable = self.variable()
            self.expect(")")
            return call(name, variable)
        if name not in _ARGUMENTS:
            raise Unread
        least, most = _ARGUMENTS[name]
        arguments = self._alternatives()
        if not least <= len(arguments) <= most:
            raise Unread
        return call(name, *arguments)

    def _aggregate(self) -> AggregateCall:
        name = self.take(WORD).upper()
        self.expect("(")
        is_distinct, separator = self.accept_word("DISTINCT"), " "
        argument = None if name == "COUNT" and self.accept("*") else self.expression()
        if argument is not None and (has(AggregateCall, argument) or has(algebra.Exists, argument)):
            raise Unread
        if name == "GROUP_CONCAT" and self.accept(";"):
            self.expect_word("SEPARATOR")
            self.expect("=")
            separator = self.string()
        self.expect(")")
        return AggregateCall(name, argument, is_distinct, separator)


def has(kind: type, expression: Expression) -> bool:
    """Return whether an expression, or an operand in it, is of a kind."""
    if isinstance(expression, kind):
        return True
    return isinstance(expression, (Call, algebra.Foreign)) and any(has(kind, argument) for argument in expression.arguments)
