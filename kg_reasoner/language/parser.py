"""The parser of the rule language: text to `Program`. grammar.lark has the grammar; printer.py is the inverse.

The first call imports Lark and builds the parser.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from kg_reasoner.errors import LoadError, RuleSyntaxError, Span, UnsupportedError
from kg_reasoner.language.prefixes import PREFIXES
from kg_reasoner.language.reading.known import Known
from kg_reasoner.language.reading.parser_tables import lalr_parser
from kg_reasoner.language.reading.syntax_errors import expect_characters, explain
from kg_reasoner.program import FALSE, BodyLiteral, Program, Rule

if TYPE_CHECKING:
    from lark import Lark

__all__ = ["PREFIXES", "parse", "parse_body", "parse_file", "parse_query"]


def parse(
    text: str,
    source: str = "<string>",
    known: Known | None = None,
    *,
    prefixes: Mapping[str, str] | None = None,
    first_line: int = 1,
) -> Program:
    """Parse a rule text into a program.

    >>> parse("path(?x, ?z) :- path(?x, ?y), edge(?y, ?z) .").rules[0].head
    Atom(predicate='path', terms=(Variable(name='x'), Variable(name='z')))

    Args:
        text: The rules.
        source: The name of the text in error messages.
        known: Definitions from elsewhere to which the text may refer.
        prefixes: Prefixes that it need not declare, beside those that no rules need declare.
        first_line: The line of the source in which the text begins.

    Returns:
        The program, which has not been checked.

    Raises:
        RuleSyntaxError: With the place, what was expected there, and a similar name where a name is unknown.
        UnsupportedError: Expressions or aggregates are nested too deep.
    """
    return _parsed(text, source, known, (), prefixes or {}, first_line)


def _parsed(
    text: str,
    source: str,
    known: Known | None,
    importing: tuple[Path, ...],
    prefixes: Mapping[str, str] = MappingProxyType({}),
    first_line: int = 1,
) -> Program:
    from lark.exceptions import UnexpectedInput

    from kg_reasoner.language.reading.statement_trees import ProgramReader

    text = text.removeprefix("\ufeff")
    try:
        expect_characters(text, source)
        tree = _lark().parse(text)
    except UnexpectedInput as error:
        raise _in_source(explain(error, text, source), first_line) from None
    except RuleSyntaxError as error:
        raise _in_source(error, first_line) from None
    reader = ProgramReader(text, source, known=known)
    reader.prefixes.update(prefixes)
    reader.first_line = first_line
    reader.importing, reader.parse_module = importing, _module
    return reader.program(tree)


def _in_source(error: RuleSyntaxError, first_line: int) -> RuleSyntaxError:
    """Return an error at a line of a text as one at the line of its source."""
    span = error.span
    if span is None or first_line == 1:
        return error
    return RuleSyntaxError(error.message, replace(span, line=span.line + first_line - 1), error.hint)


def _module(path: Path, known: Known, importing: tuple[Path, ...]) -> Program:
    """Return the program of a file that another one imports."""
    return _parsed(_text_of(path), str(path), replace(known, columns={}), importing)


def parse_body(
    text: str, prefixes: Mapping[str, str], source: str = "<query>", known: Known | None = None
) -> tuple[BodyLiteral, ...]:
    """Parse the body of a rule, as a query. A dot at its end may be missing.

    >>> parse_body('path("a", ?y), NOT edge(?y, _)', {})[1]
    Negation(atom=Atom(predicate='edge', terms=(Variable(name='y'), Variable(name='_1'))))

    Args:
        text: The body.
        prefixes: Known prefixes, beside those that rules need not declare.
        source: The name of the text in error messages.
        known: What the text may refer to.

    Raises:
        RuleSyntaxError, UnsupportedError: As `parse`.
    """
    bodies, rules = parse_query(text, prefixes, source, known)
    if rules or len(bodies) > 1:
        hint = "state it as rules for a predicate, and ask for the predicate"
        raise UnsupportedError("this has alternatives, or a part that needs rules of its own", None, hint)
    return bodies[0]


def parse_query(
    text: str, prefixes: Mapping[str, str], source: str = "<query>", known: Known | None = None
) -> tuple[list[tuple[BodyLiteral, ...]], list[Rule]]:
    """Parse the body of a rule, as a query. A dot at its end may be missing.

    Args:
        text: The body.
        prefixes: Known prefixes, beside those that rules need not declare.
        source: The name of the text in error messages.
        known: What the text may refer to.

    Returns:
        The alternatives of the body, and the rules for its auxiliary predicates.

    Raises:
        RuleSyntaxError, UnsupportedError: As `parse`.
    """
    from lark.exceptions import UnexpectedInput

    from kg_reasoner.language.reading.statement_trees import ProgramReader

    body = text.strip().removesuffix(".")
    headless = f"{_HEADLESS}{body}"
    expect_characters(body, source)
    reader = ProgramReader(body, source, len(_HEADLESS), known)
    reader.prefixes.update(prefixes)
    try:
        tree = _lark().parse(f"{headless}\n.")
    except UnexpectedInput as error:
        try:
            if (error.pos_in_stream or 0) > len(headless):  # at the dot: the body ends too early
                _lark().parse(headless)
        except UnexpectedInput as end:
            error = end
        found = explain(error, headless, source)
        span = found.span if found.span is None or found.span.line > 1 else _moved(found.span, len(_HEADLESS))
        raise RuleSyntaxError(found.message, span, found.hint) from None
    if len(tree.children) > 1:
        raise RuleSyntaxError("a query is the body of one rule", reader.span(tree.children[1]), "add rules by add_program")
    rules = reader.program(tree).rules
    return [rule.body for rule in rules if rule.is_constraint], [rule for rule in rules if not rule.is_constraint]


_HEADLESS: Final = f"{FALSE} :- "
"""The prefix that makes a rule of a body."""


def _moved(span: Span, columns: int) -> Span:
    """Return a position in the first line, moved to the left by a number of columns."""
    return replace(span, column=span.column - columns, end_column=span.end_column - columns, text=span.text[columns:])


def parse_file(path: str | Path, known: Known | None = None) -> Program:
    """Parse a rule file (UTF-8) into a program.

    Raises:
        LoadError: The file cannot be read.
        RuleSyntaxError: As `parse`.
    """
    return _parsed(_text_of(path), str(path), known, (Path(path).resolve(),))


def _text_of(path: str | Path) -> str:
    """Return the text of a rule file."""
    try:
        return Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise LoadError(f"cannot read the rule file {path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise LoadError(f"cannot read the rule file {path}: it is not UTF-8 (byte {error.start})") from error


@cache
def _lark() -> Lark:
    grammar = Path(__file__).with_name("grammar.lark").read_text(encoding="utf-8")
    return lalr_parser(grammar)
