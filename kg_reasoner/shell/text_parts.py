"""Text in parts: commands, which end with a semicolon (updates also with a comma), queries, and rules, which end with a dot."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from kg_reasoner.data_classes import dataclass
from kg_reasoner.errors import RuleSyntaxError, Span

__all__ = ["COMMANDS", "QUERY_WORDS", "UPDATES", "Splitter", "Statement", "statements"]

UPDATES: Final = ("insert", "insert_or_update", "delete", "delete_key", "modify")
"""The commands that change facts."""
COMMANDS: Final = (
    *UPDATES,
    *("start", "commit", "rollback", "dump", "clear", "query_index", "dump_index", "echo", "profile", "timestamp", "mssleep"),
    *("log_level", "exit", "help", "explain", "why_not"),
)
"""The words that commands begin with."""
QUERY_WORDS: Final = ("SELECT", "ASK", "CONSTRUCT", "DESCRIBE", "PREFIX", "BASE")
"""The words that SPARQL queries begin with."""

_LONGEST: Final = 100
"""The characters in which two words are looked for."""
_BLANK: Final = re.compile(r"(?:\s+|#[^\n]*(?:\n|$))*")
_WORD: Final = re.compile(r"(\w+)(?![\w:]*\s*[\[(:]|\w)")
_LITERAL: Final = r'"(?:[^"\\]|\\.)*(?:"|\\?\Z)|<[^\s<>"{}|^`\\]*>|\#[^\n]*'
_MARKS: Final = re.compile(rf"{_LITERAL}|[()\[\]{{}},;]", re.DOTALL)
_DOTS: Final = re.compile(rf"{_LITERAL}|'(?:[^'\\\n]|\\.)*'|\\.|\.(?=\s|$)|:-|[()\[\]{{}};]", re.DOTALL)
_COMMAND_FOLLOWS: Final = re.compile(
    rf"(?:\s+|\#[^\n]*\n)*(?:\?-|(?:{'|'.join(COMMANDS)})(?:\s*;|\s+[^\s\[(:])|(?i:{'|'.join(QUERY_WORDS)})\s+[^\s\[(:])"
)


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement without the mark at its end.

    Attributes:
        kind: ``command``, ``sparql``, ``query`` (``?- body .``), ``remove`` (``remove rule .``), ``rules``, or ``wrong`` for
            one of the last three, or of no kind, that ends with a semicolon.
        text: The text.
        word: What a command begins with.
        mark: The sign with which it ends: a semicolon, a comma or a dot.
        source: The name of the text that it is from.
        line: The line in which it begins.
    """

    kind: str
    text: str
    word: str
    mark: str
    source: str
    line: int

    def span(self) -> Span:
        """Return its place, for messages."""
        first = self.text.split("\n", 1)[0]
        return Span(self.source, self.line, 1, len(first) + 1, first)


@dataclass(slots=True)
class _Search:
    """How far the end of the statement that has begun has been looked for, so that long ones are not read again with each line."""

    offset: int = 0
    """Where to go on, from the beginning of the statement."""
    depth: int = 0
    """The brackets that are open there."""
    has_body: bool = False
    """Whether the body of a rule or query has begun there."""


class Splitter:
    """Splits text that comes in pieces into statements.

    Args:
        source: The name of the text.

    >>> [(part.kind, part.text) for part in Splitter("x").feed('start; insert edge("a;", 1), p(?x) :- q(?x) . dump')]
    [('command', 'start'), ('command', 'insert edge("a;", 1)'), ('rules', 'p(?x) :- q(?x) .')]
    """

    def __init__(self, source: str) -> None:
        self._source = source
        self._text = ""
        self._line = 1
        self._last_break = -1
        self._search = _Search()

    @property
    def is_empty(self) -> bool:
        """Whether no statement has begun."""
        return not self._rest()

    def feed(self, text: str) -> Iterator[Statement]:
        """Add text, and yield the statements that are complete. What follows them is kept for later text."""
        self._text += text
        self._last_break = self._text.rfind("\n")
        place = 0
        try:
            while True:
                place = self._skip(place)
                found = self._next(place)
                if found is None:
                    return
                end, statement = found
                self._search = _Search()
                self._line += self._text.count("\n", place, end)
                place = end
                yield statement
        finally:
            self._text = self._text[place:]

    def drop(self) -> None:
        """Forget the statement that has begun."""
        self._text = ""
        self._search = _Search()

    def end(self) -> None:
        """Note that no text follows.

        Raises:
            RuleSyntaxError: A statement is not complete.
        """
        rest = self._rest()
        if rest:
            first = rest.split("\n", 1)[0]
            span = Span(self._source, self._line, 1, len(first) + 1, first)
            hint = "commands and SPARQL end with ; rules and ?- queries with ."
            raise RuleSyntaxError("the last statement is not complete", span, hint)

    def _rest(self) -> str:
        match = _BLANK.match(self._text)
        return self._text[match.end() :] if match else self._text

    def _skip(self, place: int) -> int:
        match = _BLANK.match(self._text, place)
        end = match.end() if match else place
        self._line += self._text.count("\n", place, end)
        return end

    def _next(self, place: int) -> tuple[int, Statement] | None:
        """Return the statement that begins at a place, and where it ends; None if it does not end yet."""
        text = self._text
        if place >= len(text):
            return None
        match = _WORD.match(text, place)
        word = match[1] if match else ""
        if word in UPDATES:
            return self._until(_MARKS, ",;", place, "command", word)
        if word == "echo":
            end = text.find(";", place)
            return None if end < 0 else (end + 1, self._made("command", text[place:end], word, ";"))
        if word in COMMANDS:
            return self._until(_MARKS, ";", place, "command", word)
        if word.upper() in QUERY_WORDS:
            return self._until(_MARKS, ";", place, "sparql", word)
        if text.startswith("?-", place):
            return self._until_dot(place, "query", "?-")
        return self._until_dot(place, "remove" if word == "remove" else "rules", word)

    def _until(self, marks: re.Pattern[str], ends: str, place: int, kind: str, word: str) -> tuple[int, Statement] | None:
        depth, text = self._search.depth, self._text
        for match in marks.finditer(text, place + self._search.offset):
            mark = match[0]
            if mark in "([{":
                depth += 1
            elif mark in ")]}":
                depth -= 1
            elif depth <= 0 and mark in ends:
                return match.end(), self._made(kind, text[place : match.start()], word, mark)
            self._passed(place, match, depth)
        return None

    def _until_dot(self, place: int, kind: str, word: str) -> tuple[int, Statement] | None:
        """Look for a dot. A semicolon is in place between the alternatives of a body only, and no command is one."""
        depth, text = self._search.depth, self._text
        has_body = kind == "query" or self._search.has_body
        is_open = False  # whether a semicolon may turn out to be the end
        for match in _DOTS.finditer(text, place + self._search.offset):
            mark = match[0]
            if mark == ".":
                stop = match.end() if kind == "rules" else match.start()
                return match.end(), self._made(kind, text[place:stop], word, mark)
            if mark == ":-":
                has_body = True
            elif mark in "([{":
                depth += 1
            elif mark in ")]}":
                depth -= 1
            elif mark == ";" and depth <= 0:
                if not has_body or _COMMAND_FOLLOWS.match(text, match.end()):
                    return match.end(), self._made("wrong", text[place : match.start()], word, mark)
                is_open = is_open or not self._has_two_words(match.end())
            if not is_open:
                self._passed(place, match, depth, has_body)
        return None

    def _passed(self, place: int, match: re.Match[str], depth: int, has_body: bool = False) -> None:
        """Note that the search need not look again at a mark of the statement that begins at a place."""
        if match.end() <= self._last_break:  # otherwise later text may belong to it
            self._search.offset = match.end() - place
            self._search.depth, self._search.has_body = depth, has_body

    def _has_two_words(self, place: int) -> bool:
        """Return whether two words follow, by which a command is known."""
        start = match.end() if (match := _BLANK.match(self._text, place)) else place
        return len(self._text[start : start + _LONGEST].split(None, 2)) > 2

    def _made(self, kind: str, text: str, word: str, mark: str) -> Statement:
        return Statement(kind, text, word, mark, self._source, self._line)


def statements(lines: Iterable[str], source: str) -> Iterator[Statement]:
    """Yield the statements in lines of text.

    Raises:
        RuleSyntaxError: The last one is not complete.
    """
    splitter = Splitter(source)
    for line in lines:
        yield from splitter.feed(line)
    splitter.end()
