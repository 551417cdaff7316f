"""The tokens of queries. What only rdflib's parser reads, such as names with escapes or characters beyond ASCII, is not a token."""

from __future__ import annotations

import re
from typing import Final

__all__ = ["END", "IRIREF", "LABEL", "LANGUAGE", "NAME", "NUMBER", "STRING", "SYMBOL", "VARIABLE", "WORD", "Tokens", "Unread"]

IRIREF, VARIABLE, NAME, STRING, LANGUAGE, NUMBER, LABEL, WORD, SYMBOL = (
    "iri", "variable", "name", "string", "language", "number", "label", "word", "symbol",
)  # fmt: skip
END: Final = "end"

_TOKEN: Final = re.compile(
    r"""[ \t\r\n]*(?:\#[^\r\n]*(?:[\r\n][ \t\r\n]*|\Z))*(?:
      <(?P<iri>[^<>"{}|^`\\\x00-\x20]*)>
    | \?(?P<variable>[A-Za-z_0-9]+)
    | (?P<label>_:[A-Za-z_0-9]+)(?!\.*[A-Za-z_0-9-])
    | (?P<name>(?:[A-Za-z](?:[A-Za-z0-9_.-]*[A-Za-z0-9_-])?)?:(?:[A-Za-z_0-9:](?:[A-Za-z0-9_.:-]*[A-Za-z0-9_:-])?)?)
    | (?P<number>[0-9]+(?:\.[0-9]+)?)(?![0-9A-Za-z_:]|\.[0-9eE])
    | (?P<word>[A-Za-z_]+[0-9]*)(?![0-9A-Za-z_$:])
    | (?P<string>"(?:[^"\\\n\r]|\\["'\\ntbrf])*"(?!")|'(?:[^'\\\n\r]|\\["'\\ntbrf])*'(?!'))
    | (?P<language>(?<=["'])@[A-Za-z]+(?:-[A-Za-z0-9]+)*)
    | (?P<symbol>(?<=["'])\^\^(?=[<A-Za-z:])|&&|\|\||!=|<=|>=|[{}()\[\].,;=<>!*/+|?^-])
    )(?!%|\\|[^\x00-\x7f])
    """,
    re.VERBOSE,
)
_SPACE: Final = re.compile(r"[ \t\r\n]*(?:#[^\r\n]*(?:[\r\n][ \t\r\n]*|\Z))*")
_UNUSUAL: Final = re.compile(r"\\[uU]|[\ud800-\udfff]")


class Unread(Exception):
    """The text is outside the common part of the grammar, and may not be a query. `place` is where the tokens of a text end."""

    def __init__(self, place: int = 0) -> None:
        super().__init__()
        self.place = place


class Tokens:
    """The tokens of a text, of which one after the other is read.

    Args:
        text: The text.

    Raises:
        Unread: Some of it is not a token.
    """

    def __init__(self, text: str) -> None:
        if _UNUSUAL.search(text):
            raise Unread
        kinds: list[str] = []
        texts: list[str] = []
        ends: list[int] = []
        match, place = _TOKEN.match, 0
        while found := match(text, place):
            kind = found.lastgroup
            assert kind is not None
            kinds.append(kind)
            texts.append(found[kind])
            place = found.end()
            ends.append(place)
        if _SPACE.fullmatch(text, place) is None:
            raise Unread(place)
        self.text = text
        self._kinds, self._texts, self._ends = [*kinds, END], [*texts, ""], [*ends, len(text)]
        self._place = 0

    @property
    def kind(self) -> str:
        """The kind of the next token."""
        return self._kinds[self._place]

    @property
    def next(self) -> str:
        """The text of the next token."""
        return self._texts[self._place]

    def span(self, text: str) -> tuple[int, int]:
        """Return where the next token begins and ends in a text that begins with this one."""
        space = _SPACE.match(text, self._ends[self._place - 1] if self._place else 0)
        assert space is not None
        return space.end(), max(self._ends[self._place], space.end() + 1)

    def take(self, kind: str) -> str:
        """Return the text of the next token, which must be of a kind, and go on."""
        place = self._place
        if self._kinds[place] != kind:
            raise Unread
        self._place = place + 1
        return self._texts[place]

    def sees(self, symbol: str) -> bool:
        """Return whether a symbol is next."""
        place = self._place
        return self._texts[place] == symbol and self._kinds[place] == SYMBOL

    def accept(self, symbol: str) -> bool:
        """Go on if a symbol is next, and return whether it was."""
        if self.sees(symbol):
            self._place += 1
            return True
        return False

    def expect(self, symbol: str) -> None:
        """Go on past a symbol."""
        if not self.accept(symbol):
            raise Unread

    def word(self) -> str:
        """Return the next token in upper case if it is a word; otherwise nothing."""
        place = self._place
        return self._texts[place].upper() if self._kinds[place] == WORD else ""

    def accept_word(self, word: str) -> bool:
        """Go on if a keyword is next, and return whether it was."""
        if self.word() == word:
            self._place += 1
            return True
        return False

    def expect_word(self, word: str) -> None:
        """Go on past a keyword."""
        if not self.accept_word(word):
            raise Unread

    def touches(self) -> bool:
        """Return whether nothing is between the last token and the next one, a symbol."""
        place = self._place
        return self._ends[place] - len(self._texts[place]) == self._ends[place - 1]
