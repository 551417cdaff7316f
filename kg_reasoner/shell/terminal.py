"""Lines from a terminal, with completion, highlighting and a history that lasts (prompt_toolkit, pygments)."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from kg_reasoner.expressions.compile import NAMES
from kg_reasoner.shell.session import Session
from kg_reasoner.shell.text_parts import COMMANDS, QUERY_WORDS

if TYPE_CHECKING:
    from prompt_toolkit.completion import CompleteEvent, Completer, Completion
    from prompt_toolkit.document import Document

__all__ = ["candidates", "line_reader"]

HISTORY: Final = "KG_REASONER_HISTORY"
"""The environment variable that names the file of the history."""
_WORD: Final = re.compile(r"[\w:.?@-]*$")
_LANGUAGE: Final = (
    "NOT",
    "FILTER",
    "BIND",
    "AGGREGATE",
    "relation",
    "input",
    "output",
    "index",
    "remove",
    "@prefix",
    "dump_changes",
)
_QUERY: Final = ("WHERE", "OPTIONAL", "UNION", "MINUS", "ORDER BY", "GROUP BY", "LIMIT", "DISTINCT", *QUERY_WORDS)
_RELATION_FOLLOWS: Final = re.compile(r"(?:^|[;,]\s*)(?:insert|insert_or_update|delete|delete_key|modify|dump|clear)\s+\S*$")
_INDEX_FOLLOWS: Final = re.compile(r"(?:^|;\s*)(?:query_index|dump_index)\s+\S*$")
_COLUMN_FOLLOWS: Final = re.compile(r"(\w+)\s*[({][^(){}]*\.\w*$")


def candidates(session: Session, before: str) -> list[str]:
    """Return the words that may stand where a text ends, in the order in which they are shown.

    Args:
        session: The session.
        before: The text of the line up to the cursor.
    """
    relations = session.relations()
    column = _COLUMN_FOLLOWS.search(before)
    if column is not None and column[1] in relations:
        known: Iterable[str] = (f".{name}" for name in relations[column[1]])
    elif _RELATION_FOLLOWS.search(before):
        known = sorted(relations)
    elif _INDEX_FOLLOWS.search(before):
        known = [index.name for index in session.reasoner.program.indexes]
    else:
        first = COMMANDS if not before.strip(" ") or re.fullmatch(r"\s*\w*", before) else ()
        prefixes = (f"{name}:" for name in session.prefixes)
        known = (*first, *sorted(relations), *prefixes, *_LANGUAGE, *_QUERY, *sorted(NAMES))
    word = word_at_end(before)
    return [name for name in dict.fromkeys(known) if name.lower().startswith(word.lower()) and name != word]


def word_at_end(text: str) -> str:
    """Return the word that a text ends with."""
    match = _WORD.search(text)
    return match[0] if match else ""


def line_reader(session: Session) -> Callable[[str], str]:
    """Return a function that asks for a line with a prompt; it raises EOFError at the end, and KeyboardInterrupt.

    Without prompt_toolkit, it is Python's `input`.
    """
    try:
        from prompt_toolkit import PromptSession
        from prompt_toolkit.history import FileHistory, InMemoryHistory
        from prompt_toolkit.lexers import PygmentsLexer
    except ImportError:
        return input
    path = Path(os.environ.get(HISTORY) or Path.home() / ".kg_reasoner_history")
    try:
        path.touch(mode=0o600)
        history: Any = FileHistory(str(path))
    except OSError:
        history = InMemoryHistory()
    asking: PromptSession[str] = PromptSession(
        history=history,
        completer=_completer(session),
        complete_while_typing=False,
        lexer=PygmentsLexer(_lexer()),
        enable_history_search=True,
    )
    return asking.prompt


def _completer(session: Session) -> Completer:
    from prompt_toolkit.completion import Completer, Completion

    class NameCompleter(Completer):
        """Completes commands, keywords, and the names of the program."""

        def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
            before = document.text_before_cursor
            start = -len(word_at_end(before))
            return [Completion(name, start_position=start) for name in candidates(session, before)]

    return NameCompleter()


def _lexer() -> Any:
    """Return the class of the lexer for highlighting."""
    from pygments.lexer import RegexLexer, words
    from pygments.token import Comment, Keyword, Name, Number, Operator, String, Text

    class ShellLexer(RegexLexer):  # type: ignore[misc]
        """Commands, rules and queries."""

        name = "kg-reasoner"
        flags = re.IGNORECASE
        tokens = {  # noqa: RUF012  # as pygments has it
            "root": [
                (r"#[^\n]*", Comment),
                (r'"(?:[^"\\]|\\.)*"?', String),
                (r'<[^\s<>"{}|^`\\]*>', Name.Namespace),
                (r"\?\w+", Name.Variable),
                (words((*COMMANDS, *_LANGUAGE, *_QUERY), prefix=r"\b", suffix=r"\b"), Keyword),
                (words(tuple(NAMES), prefix=r"\b", suffix=r"(?=\s*\()"), Name.Builtin),
                (r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?", Number),
                (r":-|\?-|<-|[=<>!&|*/+-]+", Operator),
                (r"\w+(?=\s*[\[(])", Name.Function),
                (r"\w+", Text),
                (r".|\n", Text),
            ]
        }

    return ShellLexer
