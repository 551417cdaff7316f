"""Lark's LALR parsers with cached tables: building the tables takes longer than parsing a rule set."""

from __future__ import annotations

import json
import sys
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final

from kg_reasoner import cache
from kg_reasoner.digests import digest

if TYPE_CHECKING:
    from lark import Lark

__all__ = ["lalr_parser"]


_ONLY: Final = itemgetter(0)


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
            return _shortened(_loaded(json.loads(saved, object_hook=_with_numbers), transformer))
        except Exception:  # whatever a Lark raises that was changed without a new version
            pass
    parser = lark.Lark(grammar, parser="lalr", propagate_positions=True, maybe_placeholders=True)
    data, memo = parser.memo_serialize([TerminalDef, Rule])
    cache.write(name, json.dumps({"data": data, "memo": memo}).encode())
    return _shortened(parser if transformer is None else _loaded({"data": data, "memo": memo}, transformer))


def _loaded(tables: dict[str, Any], transformer: object) -> Lark:
    import lark

    options = {} if transformer is None else {"transformer": transformer}
    return lark.Lark.__new__(lark.Lark)._load(tables, **options)


def _shortened(parser: Lark) -> Lark:
    """Return a parser that makes nothing of the levels of precedence that a text does not use.

    A rule ``?sum: product (...)*`` gives its only child as it is. Lark finds that out by what it does for all rules, which is most
    of the work for grammars with many levels.
    """
    from lark.grammar import Rule

    callbacks = parser._callbacks
    for rule in callbacks:
        if not isinstance(rule, Rule):
            continue  # the name of a terminal for which the transformer has a method
        is_single = len(rule.expansion) == 1 and rule.options.expand1 and not rule.alias and not any(rule.options.empty_indices)
        if is_single and not rule.expansion[0].name.startswith("_") and not getattr(rule.expansion[0], "filter_out", False):
            callbacks[rule] = _ONLY
    return parser


def _fingerprint(grammar: str, version: str) -> str:
    return digest(f"{grammar}\0{version}\0{sys.version_info[:2]}".encode())


def _with_numbers(members: dict[str, Any]) -> dict[Any, Any]:
    """Return a JSON object as the corresponding dict of Lark, in which states, tokens and rules are numbers."""
    return {int(key) if key.isdecimal() else key: value for key, value in members.items()}
