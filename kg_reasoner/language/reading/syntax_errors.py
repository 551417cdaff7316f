"""Readable syntax errors: what was found, what was expected, and a guess at the cause."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from kg_reasoner.errors import RuleSyntaxError, Span, suggest
from kg_reasoner.lazy_regex import regular_expression

if TYPE_CHECKING:
    from lark.exceptions import UnexpectedInput

__all__ = ["RESERVED", "expect_characters", "explain"]

RESERVED: Final = ("AGGREGATE", "BIND", "FILTER")
"""Keywords that cannot name predicates, in any case: a parenthesis follows them, too."""

_KEYWORDS: Final = (*RESERVED, "NOT")
"""The words that begin a part of a body, in any case."""

_MISSPELT: Final = (*_KEYWORDS, "FUNCTION", "IMPORT", "INPUT", "OUTPUT", "PREFIX", "REDUCTION", "RELATION")
_DIRECTIVES: Final = ("prefix", "base", "translate", "rule")

_CONSTANTS: Final = frozenset(["IRI", "PREFIXED", "BLANK_NODE", "BOOLEAN", "DOUBLE", "DECIMAL", "INTEGER", "STRING"])
_ATOM: Final = frozenset(["LSQB", "NAME", "IRI", "PREFIXED", "VARIABLE", "FALSE"])
_EXPRESSION: Final = _CONSTANTS | frozenset(
    ["NOT_SIGN", "PLUS", "MINUS", "LPAR", "NAME", "COLUMN", "MATCH", "VARIABLE", "WILDCARD"]
)
_OPERATORS: Final = frozenset(["COMPARISON", "OR", "AND", "PLUS", "MINUS", "STAR", "SLASH", "PERCENT", "IN", "NOT_IN"])
_STATEMENT: Final = frozenset(
    [
        *("RELATION", "IMPORT", "TYPE", "FUNCTION", "REDUCTION", "INPUT", "OUTPUT", "PREFIX", "BASE"),
        *("_AT_PREFIX", "_AT_BASE", "_AT_TRANSLATE", "_AT_RULE", "_INDEX"),
    ]
)
_PLACES: Final[tuple[tuple[str, frozenset[str], str], ...]] = (
    ("RELATION", _STATEMENT | _ATOM, "a rule, a declaration or a directive"),
    ("FILTER", _ATOM | _EXPRESSION | frozenset([*_KEYWORDS, "_CHOOSE"]), "an atom, a condition, NOT, FILTER, BIND or AGGREGATE"),
    ("NOT_SIGN", _EXPRESSION, "an expression"),
    ("WILDCARD", _CONSTANTS | frozenset(["WILDCARD", "VARIABLE"]), "a term"),
    ("LSQB", _ATOM, "an atom"),
    ("COMPARISON", _OPERATORS, "an operator"),
    ("CARET", frozenset(["CARET", "A", "IRI", "PREFIXED", "LPAR"]), "a path"),
    ("BAR", frozenset(["BAR", "SLASH", "PLUS", "STAR", "QUESTION"]), "an operator of paths"),
    ("PREFIXED", frozenset(["PREFIXED", "IRI"]), "an IRI"),
)
"""The input allowed at a position: a terminal accepted only there; the terminals that the words cover; the words."""

_WORDS: Final = {
    "$END": "the end of the text",
    "A": "a",
    "AND": "`&&`",
    "COLON": "`:`",
    "COMMA": "`,`",
    "DOT": "`.`",
    "LESSTHAN": "`<`",
    "MORETHAN": "`>`",
    "PAST": "delay or difference",
    "PER": "PER",
    "OF": "OF",
    "_ADD": "add",
    "_CHOOSE_ONE": "choose one per",
    "_INITIAL": "initial",
    "_PRIMARY_KEY": "primary key",
    "_REMOVE": "remove",
    "_RESULT": "result",
    "IRI": "an IRI in angle brackets",
    "LABEL": "the name of a rule",
    "LANGUAGE": "a language tag",
    "LPAR": "`(`",
    "LSQB": "`[`",
    "NAME": "a name",
    "NAMESPACE": "a prefix such as `ub:`",
    "OR": "`||`",
    "RPAR": "`)`",
    "RSQB": "`]`",
    "SEMICOLON": "`;`",
    "STAR": "`*`",
    "VARIABLE": "a variable",
    "_IF": "`:-`",
    "_TYPED": "`^^`",
}
CHOICE: Final = "a choice has a key: CHOOSE(body PER ?x) is one solution of the body for each value of ?x"
"""A hint about a CHOOSE without PER, which could be a predicate of this name."""
_NEGATED: Final = "NOT takes an atom, or a body in parentheses; variables that occur only there are existential"
_AFTER: Final = {
    "AGGREGATE": "an aggregate is AGGREGATE(body ON ?x BIND COUNT(?y) AS ?n)",
    "BIND": "BIND(?x + 1 AS ?y) gives ?y a value; in an AGGREGATE, BIND follows a body",
    "EXISTS": _NEGATED,
    "FILTER": "a condition after FILTER is in parentheses: FILTER(?x > 3)",
    "IN": "IN is followed by a variable or a function, or by values in parentheses: ?x IN ?list, ?x IN RANGE(1, 5), ?x IN (1, 2)",
    "NOT": _NEGATED,
}
"""Hints at what follows a keyword."""
_ELSEWHERE: Final = {
    "and": "a comma is between the parts of a body: a(?x), b(?x)",
    "or": "a semicolon is between alternatives: a(?x) ; b(?x)",
    "&": "a comma is between the parts of a body: a(?x), b(?x)",
    "|": "a semicolon is between alternatives: a(?x) ; b(?x)",
    "==": "values are compared by =, as in ?x = 1",
    ":=": "a variable gets its value by =, as in ?x = ?y + 1",
}
"""Operators of other languages, and their equivalents here."""
_SURROGATE: Final = regular_expression("[\ud800-\udfff]")
_WORD: Final = regular_expression(r"[?@]?(?:[\w:.-]*\w|\w)|:-|\S")


def expect_characters(text: str, source: str) -> None:
    """Check that a text can be written as UTF-8.

    Raises:
        RuleSyntaxError: It has half of a surrogate pair.
    """
    if (found := _SURROGATE.search(text)) is not None:
        span = _span(text.encode(errors="replace").decode(), source, found.start(), 1)
        raise RuleSyntaxError(f"U+{ord(found[0]):04X} is half of a surrogate pair, which is not a character", span)


def explain(error: UnexpectedInput, text: str, source: str) -> RuleSyntaxError:
    """Return the error to raise for a syntax error that Lark found in `text`."""
    state: Any = getattr(error, "interactive_parser", None)
    accepted: set[str] = set(state.accepts()) if state is not None else set()
    stack: list[Any] = state.parser_state.value_stack if state is not None else []
    token: Any = getattr(error, "token", None)
    at_end = token is not None and token.type == "$END"
    start = (token.end_pos or 0) if at_end else error.pos_in_stream or 0
    found_word = _WORD.match(text, start)
    found = "" if at_end or found_word is None else found_word[0]
    span = _span(text, source, start, max(len(found), 1))
    message = f"unexpected {f'`{found}`' if found else 'end of the text'}"
    expected = _in_words(accepted)
    if expected:
        message += f", expected {expected}"
    special = _special(found, accepted, text[start - 1 : start])
    return RuleSyntaxError(special or message, span, _hint(_Fault(found, accepted, stack, text, start, at_end)))


def _span(text: str, source: str, start: int, width: int) -> Span:
    line_start = text.rfind("\n", 0, start) + 1
    line_end = text.find("\n", start)
    line = text[line_start : len(text) if line_end < 0 else line_end].rstrip("\r")
    column = start - line_start + 1
    return Span(source, text.count("\n", 0, start) + 1, column, column + width, line)


def _in_words(accepted: Iterable[str]) -> str:
    left = set(accepted)
    words: list[str] = []
    for mark, covered, name in _PLACES:
        if mark in left:
            left -= covered
            words.append(name)
    # Closing signs come first; keywords are written as they are.
    words = sorted(_WORDS.get(name, name) for name in left if name not in ("$END", "LANGUAGE", "_TYPED")) + words
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}" if words else ""


def _special(found: str, accepted: set[str], before: str) -> str | None:
    """Return a message for faults whose cause is clearer than the list of expected tokens."""
    if found in ('"', "'") and "STRING" in accepted:
        return "the string that begins here is not closed on this line"
    if found == "<" and before == "=":
        return "=< is not an operator here: write <="
    if found == "<" and "IRI" in accepted:
        return "the IRI that begins here is not closed, or has a character that IRIs cannot contain (such as a space)"
    if found.startswith("@") and "_AT_PREFIX" in accepted:
        return f"unknown directive {found!r}{suggest(found, [f'@{name}' for name in _DIRECTIVES])}"
    return None


class _Fault(NamedTuple):
    """A place where a text cannot be parsed.

    Attributes:
        found: The word there.
        accepted: The kinds of tokens that could be there.
        stack: The part of the statement that has been parsed.
        text: The whole text.
        start: The place of the word.
        at_end: Whether it is the end of the text.
    """

    found: str
    accepted: set[str]
    stack: list[Any]
    text: str
    start: int
    at_end: bool

    @property
    def last(self) -> str:
        """The token before; empty if there is a larger part of the statement."""
        return str(self.stack[-1]) if self.stack and hasattr(self.stack[-1], "type") else ""

    def is_within(self, *kinds: str) -> bool:
        """Return whether a token of some kinds is among what has been parsed."""
        return any(getattr(value, "type", None) in kinds for value in self.stack)


def _hint(fault: _Fault) -> str | None:
    """Return a guess at the cause, the most specific first."""
    return _about_keywords(fault) or _about_operators(fault) or _about_places(fault)


def _about_keywords(fault: _Fault) -> str | None:
    """Return a hint about a misspelt keyword, or one in the wrong place."""
    last = fault.last
    if any(getattr(value, "type", None) == "NAME" and value.upper() == "CHOOSE" for value in fault.stack):
        return CHOICE
    for word in _names(fault.stack, fault.found):
        from difflib import get_close_matches

        close = get_close_matches(word.upper(), _MISSPELT, n=1, cutoff=0.7)
        if close and close[0] != word.upper():
            return f"did you mean {close[0] if close[0] in _KEYWORDS else close[0].lower()} instead of `{word}`?"
    if last.upper() in _AFTER:
        return _AFTER[last.upper()]
    if last == "false":
        return "false can only be the head of a constraint: `false :- body .`"
    if last and fault.stack[-1].type == "LABEL":
        return f"`{last}` was read as the name of the rule, which follows @rule"
    return None


def _about_operators(fault: _Fault) -> str | None:
    """Return a hint about what is written in another way in other languages."""
    found, last = fault.found, fault.last
    if found in _ELSEWHERE and "COMMA" in fault.accepted:
        return _ELSEWHERE[found]
    for start in (fault.start - 1, fault.start):
        if fault.text[start : start + 2] in _ELSEWHERE:
            return _ELSEWHERE[fault.text[start : start + 2]]
    if found == ".decl":
        return "declare a relation like this: input relation edge(from: iri, to: iri) ."
    if found in ("<", ">", "=", "!") and last.startswith("?") and fault.accepted == {"LSQB"}:
        return f"write comparisons in FILTER, as in FILTER({last} > 3)"
    if fault.accepted == {"LPAR"} and last and fault.is_within("LPAR", "LSQB"):
        return f'write ?{last} for a variable, "{last}" for a string; parentheses follow the name of a function'
    if found in ("%", "/"):
        return "comments begin with #"
    return None


def _about_places(fault: _Fault) -> str | None:
    """Return a hint about what the place asks for."""
    found, accepted, last = fault.found, fault.accepted, fault.last
    if found == "]" and accepted == {"COMMA"}:
        return "an atom of a triple has three terms: [subject, predicate, object]"
    if "_IF" in accepted and found in ("<", "-", ":", "="):
        return "a rule is written `head :- body .`"
    if "LPAR" in accepted and not accepted & {"NOT_SIGN", "LSQB"} and last.isidentifier():
        return f"arguments follow a predicate's name in parentheses: {last}() if it has none"
    if "WILDCARD" in accepted and found[:1].isalpha():
        return f'write ?{found} for a variable, "{found}" for a string, <...> for an IRI'
    if "DOT" in accepted and fault.at_end:
        return "every statement ends with a `.`"
    if "DOT" in accepted and not fault.text[fault.text.rfind("\n", 0, fault.start) + 1 : fault.start].strip():
        return "is the `.` at the end of the statement before this one missing?"
    return None


def _names(stack: list[Any], found: str) -> Iterator[str]:
    """Return the words of the statement that may be misspelt keywords, last one first."""
    if found.isidentifier():
        yield found
    for value in reversed(stack):
        if getattr(value, "type", None) == "NAME":
            yield str(value)
