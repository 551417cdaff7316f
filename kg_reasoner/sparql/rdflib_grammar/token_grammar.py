r"""Corrections of the tokens that rdflib's parser of SPARQL reads (SPARQL 1.1 Query, sections 19.2 and 19.8).

rdflib's parser turns tabs in strings into spaces, refuses ``"it\'s"`` and white space between a path and its modifier, keeps the
backslashes in ``ex:a\,b``, and takes ``\u00e9cafe`` for an escape of eight digits.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import Any, Final

from kg_reasoner.terms import unescape

__all__ = ["Expanded", "correct_tokens"]

_CODE_POINT: Final = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|.)", re.DOTALL)
_IN_STRINGS: Final = {'"': '\\"', "'": "\\'", "\\": "\\\\", "\n": "\\n", "\r": "\\r"}
"""Characters that end strings, or that these cannot have, as their grammar writes them."""
_ESCAPED: Final = re.compile(r"\\(.)")
_MODIFIER: Final = r"\s+(?:\?(?!\w)|\*|\+(?![0-9.]))"
"""A variable and a signed number are longer tokens."""
_LONG: Final = r"{0}{0}{0}(?:[^{0}\\]|\\[tbnrf\\\"']|{0}(?!{0}{0}))*{0}{0}{0}"
_SHORT: Final = r"{0}(?:[^{0}\n\r\\]|\\[tbnrf\\\"'])*{0}(?!{0})"


class Expanded:
    r"""A text with characters in place of escapes of code points.

    >>> text = Expanded(r"<\u00e9cafe> '\u000A' '\\u0041'")
    >>> text.text, text.position(5)
    ("<\xe9cafe> '\\n' '\\\\u0041'", 10)

    Args:
        text: The text.

    Attributes:
        text: The text without these escapes.
    """

    def __init__(self, text: str) -> None:
        self._places: list[int] = []
        self._shifts = [0]
        self._shift = 0
        self.text = _CODE_POINT.sub(self._expand, text) if "\\" in text else text

    def position(self, place: int) -> int:
        """Return where a place was before."""
        return place + self._shifts[bisect_right(self._places, place)]

    def _expand(self, found: re.Match[str]) -> str:
        digits = found[1] or found[2]
        if digits is None:
            return found[0]
        character = chr(int(digits, 16))
        character = _IN_STRINGS.get(character, character)
        end = found.end() - self._shift - len(found[0]) + len(character)
        self._shift += len(found[0]) - len(character)
        self._places.append(end)
        self._shifts.append(self._shift)
        return character


def correct_tokens() -> None:
    """Correct the tokens of rdflib's grammar. The effect is permanent."""
    from pyparsing import Regex
    from rdflib.plugins.sparql import parser

    for whole in (parser.Query, parser.UpdateUnit):
        whole.parse_with_tabs()
    parser.PN_LOCAL.add_parse_action(lambda tokens: _ESCAPED.sub(r"\1", tokens[0]))
    modifiers: Any = parser.PathMod
    spaced = Regex(_MODIFIER).leave_whitespace()
    spaced.set_parse_action(lambda tokens: tokens[0].strip())
    modifiers.exprs.append(spaced)
    strings: Any = parser.String
    strings.exprs[:] = [_string(pattern.format(quote), width) for pattern, width in ((_LONG, 3), (_SHORT, 1)) for quote in "'\""]


def _string(pattern: str, width: int) -> Any:
    """Return the grammar of strings whose quotation marks have a width."""
    from pyparsing import Regex
    from rdflib import Literal

    string = Regex(pattern)
    string.set_parse_action(lambda tokens: Literal(unescape(tokens[0][width:-width])))
    return string
