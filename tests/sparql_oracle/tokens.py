"""The tokens of SPARQL."""

from __future__ import annotations

import re
from typing import Final

_TOKEN: Final = re.compile(
    r"""
    (?P<space>\s+|\#[^\n]*)
    | (?P<iri><[^<>"{}|^`\\\s]*>)
    | (?P<blank>_:\w+)
    | (?P<name>[A-Za-z][\w-]*:\w*|:\w*)
    | (?P<variable>[?$]\w+)
    | (?P<string>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')
    | (?P<language>@[A-Za-z]+(?:-[A-Za-z0-9]+)*)
    | (?P<double>(?:[0-9]+\.?[0-9]*|\.[0-9]+)[eE][+-]?[0-9]+)
    | (?P<decimal>[0-9]*\.[0-9]+)
    | (?P<integer>[0-9]+)
    | (?P<word>[A-Za-z_]\w*)
    | (?P<sign>\^\^|\|\||&&|!=|<=|>=|[-+*/=<>!(){}\[\].,;|^?])
    """,
    re.VERBOSE,
)


class Tokens:
    """The tokens of a text, from the left to the right. A token is its kind and its text."""

    def __init__(self, text: str) -> None:
        self._tokens: list[tuple[str, str]] = []
        position = 0
        while position < len(text):
            match = _TOKEN.match(text, position)
            if match is None or match.lastgroup is None:
                raise SyntaxError(f"no token of SPARQL: {text[position : position + 20]!r}")
            position = match.end()
            if match.lastgroup != "space":
                self._tokens.append((match.lastgroup, match[0]))
        self._next = 0

    @property
    def kind(self) -> str:
        """The kind of the next token, or ``end``."""
        return self._tokens[self._next][0] if self._next < len(self._tokens) else "end"

    @property
    def text(self) -> str:
        """The text of the next token: words in capitals."""
        if self.kind == "end":
            return ""
        kind, text = self._tokens[self._next]
        return text.upper() if kind == "word" and text != "a" else text

    def take(self) -> str:
        """The text of the next token, as it is written, which is then behind."""
        if self.kind == "end":
            raise SyntaxError("the query ends too early")
        self._next += 1
        return self._tokens[self._next - 1][1]

    def follow(self, *texts: str) -> bool:
        """Whether the next tokens are these."""
        there = [text.upper() for _, text in self._tokens[self._next : self._next + len(texts)]]
        return there == [text.upper() for text in texts]

    def has(self, *texts: str) -> bool:
        """Go over the next tokens if they are these."""
        if not self.follow(*texts):
            return False
        self._next += len(texts)
        return True

    def expect(self, text: str) -> None:
        """Go over a token that must be there."""
        if not self.has(text):
            raise SyntaxError(f"{text!r} expected, and not {self.text!r}")
