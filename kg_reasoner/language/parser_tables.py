"""Lark's LALR parsers with tables that are kept between processes: to build them takes longer than to parse a rule set."""

from __future__ import annotations

import hashlib
import json
import sys
from typing import TYPE_CHECKING, Any

from kg_reasoner import cache

if TYPE_CHECKING:
    from lark import Lark

__all__ = ["lalr_parser"]


def lalr_parser(grammar: str) -> Lark:
    """The LALR parser of a grammar, whose trees know their places.

    The tables are kept as JSON, in the shape that Lark gives them for parsers without Lark (`lark.tools.standalone`). Where a file
    does not fit the installed Lark, they are built again.
    """
    import lark
    from lark.grammar import Rule
    from lark.lexer import TerminalDef

    name = f"parser-{_fingerprint(grammar, lark.__version__)}.json"
    saved = cache.read(name)
    if saved is not None:
        try:
            return lark.Lark.__new__(lark.Lark)._load(json.loads(saved, object_hook=_with_numbers))
        except Exception:  # whatever a Lark raises that was changed without a new version
            pass
    parser = lark.Lark(grammar, parser="lalr", propagate_positions=True, maybe_placeholders=True)
    data, memo = parser.memo_serialize([TerminalDef, Rule])
    cache.write(name, json.dumps({"data": data, "memo": memo}).encode())
    return parser


def _fingerprint(grammar: str, version: str) -> str:
    return hashlib.sha256(f"{grammar}\0{version}\0{sys.version_info[:2]}".encode()).hexdigest()[:24]


def _with_numbers(members: dict[str, Any]) -> dict[Any, Any]:
    """An object of JSON as a dict of Lark's, which numbers states, tokens and rules."""
    return {int(key) if key.isdecimal() else key: value for key, value in members.items()}
