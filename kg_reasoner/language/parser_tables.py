"""Lark's LALR parsers with cached tables: building the tables takes longer than parsing a rule set."""

from __future__ import annotations

import hashlib
import json
import sys
from typing import TYPE_CHECKING, Any

from kg_reasoner import cache

if TYPE_CHECKING:
    from lark import Lark

__all__ = ["lalr_parser"]


def lalr_parser(grammar: str, transformer: object = None) -> Lark:
    """Return the LALR parser of a grammar, whose trees have source positions.

    A `transformer` has methods named as rules and terminals, which are called with the children or the token in place of making a
    tree.

    The tables are cached as JSON, in the format of Lark's standalone parsers (`lark.tools.standalone`). If a file does not match
    the installed Lark, they are built again.
    """
    import lark
    from lark.grammar import Rule
    from lark.lexer import TerminalDef

    name = f"parser-{_fingerprint(grammar, lark.__version__)}.json"
    saved = cache.read(name)
    if saved is not None:
        try:
            return _loaded(json.loads(saved, object_hook=_with_numbers), transformer)
        except Exception:  # whatever a Lark raises that was changed without a new version
            pass
    parser = lark.Lark(grammar, parser="lalr", propagate_positions=True, maybe_placeholders=True)
    data, memo = parser.memo_serialize([TerminalDef, Rule])
    cache.write(name, json.dumps({"data": data, "memo": memo}).encode())
    return parser if transformer is None else _loaded({"data": data, "memo": memo}, transformer)


def _loaded(tables: dict[str, Any], transformer: object) -> Lark:
    import lark

    options = {} if transformer is None else {"transformer": transformer}
    return lark.Lark.__new__(lark.Lark)._load(tables, **options)


def _fingerprint(grammar: str, version: str) -> str:
    return hashlib.sha256(f"{grammar}\0{version}\0{sys.version_info[:2]}".encode()).hexdigest()[:24]


def _with_numbers(members: dict[str, Any]) -> dict[Any, Any]:
    """Return a JSON object as the corresponding dict of Lark, in which states, tokens and rules are numbers."""
    return {int(key) if key.isdecimal() else key: value for key, value in members.items()}
