"""The SQL conditions in the Spark backend, as columns of the stand-in."""

from __future__ import annotations

import re
from functools import reduce
from typing import Final

from tests.standin.columns import Column, column, constant

__all__ = ["parse"]

_TOKEN: Final = re.compile(r"\s*('[^']*'|<>|!=|>=|<=|[=<>(),]|\w+)")


class _Parser:
    def __init__(self, text: str) -> None:
        self.tokens = _TOKEN.findall(text)
        assert "".join(self.tokens) == re.sub(r"\s+(?=(?:[^']*'[^']*')*[^']*$)", "", text), text
        self.at = 0

    def peek(self) -> str:
        return self.tokens[self.at].lower() if self.at < len(self.tokens) else ""

    def take(self, *wanted: str) -> bool:
        """Go on past the next token, if it is one of these."""
        if self.peek() not in wanted:
            return False
        self.at += 1
        return True

    def need(self, wanted: str) -> None:
        assert self.take(wanted), f"{wanted} is wanted, not {self.peek()}"

    def disjunction(self) -> Column:
        parts = [self.conjunction()]
        while self.take("or"):
            parts.append(self.conjunction())
        return reduce(lambda one, other: one | other, parts)

    def conjunction(self) -> Column:
        parts = [self.negation()]
        while self.take("and"):
            parts.append(self.negation())
        return reduce(lambda one, other: one & other, parts)

    def negation(self) -> Column:
        if self.take("not"):
            return ~self.negation()
        left = self.atom()
        if self.take("="):
            return left == self.atom()
        if self.take("<>", "!="):
            return left != self.atom()
        if self.take(">"):
            return left > self.atom()
        if self.take("<"):
            return left < self.atom()
        negated = self.take("not")
        if self.take("in"):
            self.need("(")
            found = left.isin(*self.arguments_as_texts())
            return ~found if negated else found
        return left

    def arguments_as_texts(self) -> list[str]:
        texts = []
        while not self.take(")"):
            texts.append(self.tokens[self.at][1:-1])
            self.at += 1
            self.take(",")
        return texts

    def atom(self) -> Column:
        if self.take("("):
            inner = self.disjunction()
            self.need(")")
            return inner
        if self.take("case"):
            self.need("when")
            condition = self.disjunction()
            self.need("then")
            value = self.disjunction()
            self.need("else")
            other = self.disjunction()
            self.need("end")
            return constant(None).when(condition, value).otherwise(other)
        token = self.tokens[self.at]
        self.at += 1
        if token.startswith("'"):
            return constant(token[1:-1])
        if token.isdigit():
            return constant(int(token))
        if token.lower() == "startswith":
            self.need("(")
            subject = self.atom()
            self.need(",")
            prefix = self.tokens[self.at][1:-1]
            self.at += 1
            self.need(")")
            return subject.startswith(prefix)
        return column(token)


def parse(text: str) -> Column:
    """The column of a condition."""
    parser = _Parser(text)
    found = parser.disjunction()
    assert not parser.peek(), text
    return found
