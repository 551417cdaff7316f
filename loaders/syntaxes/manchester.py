"""OWL 2 Manchester syntax to constructs.

A document is split at its frames, which Lark parses one by one. Descriptions do not tell classes from data ranges, so the data
properties and datatypes of a document are looked up first; a property or class without a declaration is one of data if its
values can be nothing else.
"""

from __future__ import annotations

import itertools
import re
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from kg_reasoner.errors import LoadError
from kg_reasoner.language.reading.parser_tables import lalr_parser
from kg_reasoner.loaders.syntaxes.constructs import Construct
from kg_reasoner.loaders.syntaxes.document_text import Settings, SourceText
from kg_reasoner.loaders.syntaxes.grammar_errors import explained
from kg_reasoner.loaders.syntaxes.manchester_frames import FrameParser, ManchesterNames

if TYPE_CHECKING:
    from lark import Lark

__all__ = ["GRAMMAR", "read_manchester"]

GRAMMAR: Final = Path(__file__).with_name("manchester.lark")

_FRAME: Final = re.compile(
    r'"(?:[^"\\]|\\.)*"|<[^<>"\s]*>|#[^\n]*'
    r"|(?<![\w:.-])(Class|ObjectProperty|DataProperty|AnnotationProperty|Datatype|Individual|EquivalentClasses|DisjointClasses"
    r"|EquivalentProperties|DisjointProperties|SameIndividual|DifferentIndividuals|Rule):(?=\s|<|#|\Z)",
    re.DOTALL,
)
_PREFIX: Final = re.compile(r"Prefix:\s*(\S*:)\s*(<[^<>\s]*>)")
_NAME: Final = re.compile(r"\s*(?:#[^\n]*(?:\n\s*|\Z))*(<[^<>\s]*>|[^\s<>\"(){}\[\],#]+)")
_BRACKETS: Final = re.compile(
    r'"(?:[^"\\]|\\.)*"|<[^<>"\s]*>|#[^\n]*|[(),]'
    r"|(?<![\w:.-])(?:some|only|min|max|exactly|and|or|\w+:(?=\s))(?![\w:.-])",
    re.DOTALL,
)
_DESCRIPTION: Final = frozenset({"IRI", "NOT", "LPAR", "LBRACE", "INVERSE"})
_GROUPS: Final = (
    ("a class expression", _DESCRIPTION),
    ("a literal", frozenset({"QUOTED", "NATURAL", "INTEGER", "DECIMAL", "FLOAT", "TRUTH"})),
    ("an individual", frozenset({"IRI", "NODE"})),
    ("a property", frozenset({"IRI", "INVERSE"})),
    ("a restriction such as `some`", frozenset({"SOME", "ONLY", "VALUE", "SELF", "MIN", "MAX", "EXACTLY"})),
    ("`and` or `or`", frozenset({"AND", "OR"})),
)
_WORDS: Final = {
    "IRI": "an IRI or a name",
    "NAMESPACE": "a prefix such as `ex:`",
    "FULL_IRI": "an IRI in angle brackets",
    "NODE": "an anonymous individual",
    "VARIABLE": "a variable such as `?x`",
    "SAME_AS_ATOM": "`SameAs`",
    "DIFFERENT_FROM_ATOM": "`DifferentFrom`",
    "NATURAL": "a number",
    "CHARACTERISTIC": "a characteristic such as Functional",
    "FACET": "a facet such as `>=` or minLength",
    "QUOTED": "a literal",
    "COMMA": "`,`",
    "LPAR": "`(`",
    "RPAR": "`)`",
    "LBRACE": "`{`",
    "RBRACE": "`}`",
    "LSQB": "`[`",
    "RSQB": "`]`",
}


def read_manchester(text: str, name: str, settings: Settings) -> Iterator[Construct]:
    """Yield the ontology, imports, annotations and axioms of a document.

    Args:
        text: The document.
        name: Its name in messages.
        settings: How it is read.

    Raises:
        LoadError: The document is not in Manchester syntax; the message says where, and what was expected.
    """
    from lark.exceptions import UnexpectedInput

    source = SourceText(text, name)
    starts = [match for match in _FRAME.finditer(text) if match[1]]
    head_end = starts[0].start() if starts else len(text)
    names = ManchesterNames(source, settings.base, "Prefix: {}: <http://...>", settings.prefixes)
    for match in _PREFIX.finditer(text, 0, head_end):
        names.declare(match[1], match[2], match.start(2))
    frames = FrameParser(names, settings)
    for match in starts:
        declared = _NAME.match(text, match.end())
        if declared is not None and match[1] in ("DataProperty", "Datatype", "ObjectProperty", "AnnotationProperty"):
            _declare(frames, match[1], declared, names)
    parser, current = _parser()
    places = [0, head_end, *(match.start() for match in starts[1:]), len(text)] if starts else [0, head_end]
    for start, end in itertools.pairwise(places):
        _check_bounds(source, settings, start, end)
        frames.offset = start
        frames.found = []
        current.frames = frames  # now: another document may be read in turns with this one
        try:
            parser.parse(text[start:end])
        except UnexpectedInput as error:
            words = {terminal.name: f"`{terminal.pattern.value}`" for terminal in parser.terminals}
            raise explained(error, source, start, end, words | _WORDS, _GROUPS) from None
        yield from frames.found


class _Current:
    """The frames of the document that is being parsed: has a method for each rule of the grammar, which calls theirs."""

    frames: FrameParser

    def __getattr__(self, name: str) -> Callable[[Any], Any]:
        if not hasattr(FrameParser, name):
            raise AttributeError(name)
        return lambda children: getattr(self.frames, name)(children)


_of_thread: Final = threading.local()


def _parser() -> tuple[Lark, _Current]:
    """Return the parser of this thread."""
    if not hasattr(_of_thread, "parser"):
        current = _Current()
        _of_thread.parser = lalr_parser(GRAMMAR.read_text(), current), current
    found: tuple[Lark, _Current] = _of_thread.parser
    return found


def _declare(frames: FrameParser, kind: str, declared: re.Match[str], names: ManchesterNames) -> None:
    try:
        frames.declare(kind, names.iri(declared[1], declared.start(1)))
    except LoadError:
        return  # its frame is an error, too, and says so in its place


def _check_bounds(source: SourceText, settings: Settings, start: int, end: int) -> None:
    """Check how deep expressions of a frame are nested, and how long its tokens are."""
    if end - start < min(settings.depth, settings.token):
        return
    depth = 0
    opened = [0]  # for each open bracket, the restrictions that an expression is in and that end with it
    for match in _BRACKETS.finditer(source.text, start, end):
        if match.end() - match.start() > settings.token:
            raise settings.too_long(source, match.start())
        sign = match[0]
        if sign == "(":
            opened.append(0)
            depth += 1
        elif sign in ("some", "only", "min", "max", "exactly"):
            opened[-1] += 1
            depth += 1
        elif sign in ("and", "or", ",") or sign[-1] == ":":
            depth -= opened[-1]
            opened[-1] = 0
        elif sign == ")" and len(opened) > 1:
            depth -= opened.pop() + 1
        if depth > settings.depth:
            raise settings.too_deep(source, match.start(), match.end())
