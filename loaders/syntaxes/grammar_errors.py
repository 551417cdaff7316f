"""Readable syntax errors of grammars in Lark: what was found, and what was expected, in the words of OWL."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Final

from kg_reasoner.errors import LoadError
from kg_reasoner.language.reading.parser_tables import lalr_parser
from kg_reasoner.loaders.syntaxes.document_text import SourceText

if TYPE_CHECKING:
    from lark.exceptions import UnexpectedInput

__all__ = ["expected_words", "explained", "parse_error"]

_WORD: Final = re.compile(r'"[^"\n]*"?|<[^<>\s]*>?|[\w:.%-]*\w:?|\S')
_MOST: Final = 6
"""The maximal number of expected words that are listed."""


def parse_error(
    grammar: str, source: SourceText, start: int, end: int, words: Mapping[str, str], groups: Sequence[tuple[str, frozenset[str]]]
) -> LoadError | None:
    """Parse a part of a text with a grammar, and return the error; None if the part can be the beginning of a valid text."""
    from lark.exceptions import UnexpectedInput

    try:
        lalr_parser(grammar).parse(source.text[start:end])
    except UnexpectedInput as error:
        token: Any = getattr(error, "token", None)
        if token is not None and token.type == "$END" and end < len(source.text):
            return None
        return explained(error, source, start, end, words, groups)
    return None


def explained(
    error: UnexpectedInput,
    source: SourceText,
    offset: int,
    end: int,
    words: Mapping[str, str],
    groups: Sequence[tuple[str, frozenset[str]]],
) -> LoadError:
    """Return the error to raise for a syntax error that Lark found in a part of the text.

    Args:
        error: The error.
        source: The text.
        offset: Where the parsed part begins.
        end: Where it ends.
        words: What terminals are called.
        groups: What several terminals together are called; the first group that is expected completely counts.
    """
    state: Any = getattr(error, "interactive_parser", None)
    accepted: set[str] = set(state.accepts()) if state is not None else set(getattr(error, "allowed", None) or ())
    token: Any = getattr(error, "token", None)
    text = source.text
    if token is None or token.type != "$END":
        place = offset + (error.pos_in_stream or 0)
    else:
        place = end if end < len(text.rstrip()) else len(text.rstrip())
    match = _WORD.match(text, place)
    found = match[0] if match else ""
    message = f"unexpected {f'`{found}`' if found else 'end of the text'}"
    expected = expected_words(accepted, words, groups)
    if expected:
        message += f", expected {expected}"
    known = [words.get(name, "").strip("`") for name in accepted]
    close = get_close_matches(found, [word for word in known if word[:1].isalpha() and " " not in word], n=1, cutoff=0.75)
    hint = f"did you mean {close[0]}?" if close and close[0] != found else None
    if found.startswith('"') and accepted & {"LITERAL", "QUOTED"}:
        hint = "the string that begins here is not closed, or has a backslash before something else than a quote or a backslash"
    return source.error(message, place, place + max(len(found), 1), hint)


def expected_words(accepted: set[str], words: Mapping[str, str], groups: Sequence[tuple[str, frozenset[str]]]) -> str:
    """Return a description of the expected tokens."""
    left = set(accepted) - {"$END"}
    named: list[str] = []
    for name, covered in groups:
        if covered <= left:
            left -= covered
            named.append(name)
    signs = sorted(words.get(name, name) for name in left)
    if len(signs) > _MOST:
        signs = [*signs[:_MOST], "..."]
    both = [*named, *signs] + (["the end of the text"] if "$END" in accepted and not (named or signs) else [])
    return both[0] if len(both) == 1 else f"{', '.join(both[:-1])} or {both[-1]}" if both else ""
