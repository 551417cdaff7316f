"""The error in a statement that ends with a semicolon and is neither a command nor a SPARQL query."""

from __future__ import annotations

import re
from typing import Final

from kg_reasoner.errors import ReasonerError, suggest
from kg_reasoner.shell.text_parts import COMMANDS, Statement

__all__ = ["semicolon_error"]

_WORD: Final = re.compile(r"(\w+)(?!\w|\s*[\[(:])")
_KEYWORDS: Final = ("input", "output", "relation", "index", "type", "function", "reduction", "import", "remove")
"""The words of the rule language that look like commands."""


def semicolon_error(statement: Statement, update: str | None) -> ReasonerError:
    """Return the error for a statement of the kind ``wrong``.

    Args:
        statement: The statement.
        update: The command before it, if that is an update which ended with a comma.

    Returns:
        The error.
    """
    text = statement.text.strip()
    found = _WORD.match(text)
    if found is not None and found[1].lower() not in _KEYWORDS:
        return ReasonerError(f"unknown command {found[1]!r}{suggest(found[1].lower(), COMMANDS) or ': help; lists the commands'}")
    if not text:
        return ReasonerError("a command is missing before the semicolon")
    if text.startswith("?-"):
        return ReasonerError("queries of the rule language end with a dot: ?- body .")
    if update is not None and ":-" not in text:
        return ReasonerError(f"repeat {update} before each fact, as in {update} a(1), {update} a(2);")
    return ReasonerError("rules, facts and declarations end with a dot")
