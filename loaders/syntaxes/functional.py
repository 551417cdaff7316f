"""OWL 2 functional syntax to constructs.

One regular expression finds the tokens, and a stack puts them together, without recursion. What cannot be put together is parsed
again with the grammar, whose errors say what was expected: Lark is imported only for errors.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, cast

from kg_reasoner.errors import LoadError
from kg_reasoner.loaders.syntaxes.constructs import AXIOMS, Construct, Malformed, Part, check
from kg_reasoner.loaders.syntaxes.document_text import LANGUAGE, PREFIX, PREFIXED, QUOTED, DocumentNames, Settings, SourceText
from kg_reasoner.terms import BlankNode

__all__ = ["read_functional"]

_NAME, _CLOSE, _IRI, _LITERAL, _NODE, _NUMBER, _OPEN, _PREFIX, _END = 1, 2, 3, 4, 5, 6, 7, 8, 11
_SKIPPED: Final = r"\s*(?:#[^\n]*(?:\n\s*|\Z))*"
_FULL_IRI: Final = r'<[^<>"{}|^`\\\x00-\x20]*>'
_TOKEN: Final = re.compile(
    rf"{_SKIPPED}(?:"
    rf"(?!Prefix\b)([A-Za-z]+){_SKIPPED}\("
    r"|(\))"
    rf"|({_FULL_IRI}|{PREFIXED})"
    rf"|({QUOTED}(?:{LANGUAGE}|\s*\^\^\s*(?:{_FULL_IRI}|{PREFIXED}))?)"
    r"|_:([\w.-]*\w)"
    r"|([0-9]+)(?![\w.:])"
    r"|(\()"
    rf"|(Prefix{_SKIPPED}\({_SKIPPED}({PREFIX}){_SKIPPED}={_SKIPPED}({_FULL_IRI}){_SKIPPED}\))"
    r"|(\Z))"
)
_LISTS: Final = ("ObjectProperties", "DataProperties")
_RANKS: Final = {"Import": 0, "Annotation": 1}
"""The order of the parts of an ontology; axioms come last."""


class _Open:
    """A construct whose end has not been read."""

    __slots__ = ("annotations", "name", "parts", "places", "start")

    def __init__(self, name: str, start: int) -> None:
        self.name = name
        self.start = start
        self.parts: list[Part] = []
        self.places: list[tuple[int, int]] = []
        self.annotations: list[Construct] = []


def read_functional(text: str, name: str, settings: Settings) -> Iterator[Construct]:
    """Yield the ontology, imports, annotations and axioms of a document.

    Args:
        text: The document.
        name: Its name in messages.
        settings: How it is read.

    Raises:
        LoadError: The document is not in functional syntax; the message says where, and what was expected.
    """
    return _Reader(SourceText(text, name), settings).constructs()


def _with_facets(parts: list[Part]) -> list[Part]:
    """Return the parts of a restriction of a datatype, with each facet and its value together."""
    facets = [Construct("FacetRestriction", tuple(parts[place : place + 2])) for place in range(1, len(parts), 2)]
    return [*parts[:1], *facets]


class _Reader:
    def __init__(self, source: SourceText, settings: Settings) -> None:
        self.source = source
        self.names = DocumentNames(source, settings.base, "Prefix({}:=<http://...>)", settings.prefixes)
        self.settings = settings
        self.open: list[_Open] = []
        self.rank = -1
        self.finished = False

    def constructs(self) -> Iterator[Construct]:
        text = self.source.text
        names, stack = self.names, self.open
        match, end, longest = _TOKEN.match, 0, self.settings.token
        while True:
            token = match(text, end)
            if token is None:
                raise self.error(self.bad_token(end))
            if token.end() - end > longest:
                raise self.settings.too_long(self.source, end)
            kind, end = token.lastindex, token.end()
            assert kind is not None
            start = token.start(kind)
            if kind == _NAME:
                found = self.header() if len(stack) == 1 and self.rank < 0 else None
                self.begin(token[_NAME], start, end)
                if found is not None:
                    yield found
            elif kind == _CLOSE:
                found = self.close(start, end)
                if found is not None:
                    yield found
            elif kind == _PREFIX:
                if stack or self.finished:
                    raise self.error((start, end))
                names.declare(token[9], token[10], token.start(10))
            elif kind == _END:
                if not self.finished:
                    raise self.error((start, end))
                return
            else:
                if not stack or (len(stack) == 1 and (kind != _IRI or self.rank >= 0)):
                    raise self.error((start, end))
                if kind == _IRI:
                    part: Part = names.iri(token[_IRI], start)
                elif kind == _LITERAL:
                    part = names.literal(token[_LITERAL], start)
                elif kind == _NODE:
                    part = BlankNode(self.settings.label(token[_NODE]))
                elif kind == _NUMBER:
                    part = self.number(token[_NUMBER], start)
                else:
                    self.begin_list(start, end)
                    continue
                stack[-1].parts.append(part)
                stack[-1].places.append((start, end))

    # ---- constructs

    def begin(self, name: str, start: int, end: int) -> None:
        if self.finished or bool(self.open) == (name == "Ontology"):
            raise self.error((start, end))
        if len(self.open) > self.settings.depth:
            raise self.settings.too_deep(self.source, start, end)
        self.open.append(_Open(name, start))

    def begin_list(self, start: int, end: int) -> None:
        outer = self.open[-1]
        number = len(outer.parts) - 1
        if outer.name != "HasKey" or number not in (0, 1):
            raise self.error((start, end))
        self.open.append(_Open(_LISTS[number], start))

    def header(self) -> Construct:
        """Return the ontology, whose IRIs have been read."""
        self.rank = 0
        if len(self.open[0].parts) > 2:
            raise self.error(self.open[0].places[2])
        return Construct("Ontology", tuple(self.open[0].parts))

    def close(self, start: int, end: int) -> Construct | None:
        """End a construct; return what a document consists of."""
        if not self.open:
            raise self.error((start, end))
        if len(self.open) == 1:
            found = self.header() if self.rank < 0 else None
            self.open.pop()
            self.finished = True
            return found
        done = self.open[-1]
        construct = self.checked(done, end)
        if len(self.open) == 2:
            self.follow_order(done, end)
            self.open.pop()
            return construct
        outer = self.open[-2]
        if done.name == "Annotation":
            if outer.parts:
                raise self.error((done.start, end), "annotations come before the parts of a construct")
            outer.annotations.append(construct)
        else:
            outer.parts.append(construct)
            outer.places.append((done.start, end))
        self.open.pop()
        return None

    def checked(self, done: _Open, end: int) -> Construct:
        """Return a construct that has been read, if it has the parts that it should have."""
        parts = _with_facets(done.parts) if done.name == "DatatypeRestriction" else done.parts
        construct = Construct(done.name, tuple(parts), tuple(done.annotations))
        try:
            check(construct)
            if parts is not done.parts:
                for facet in parts[1:]:
                    check(cast("Construct", facet))
        except Malformed as error:
            place = (done.start, end) if error.part is None or parts is not done.parts else done.places[error.part]
            raise self.error(place, str(error)) from None
        return construct

    def follow_order(self, done: _Open, end: int) -> None:
        """Check that a part of the ontology may follow those that have been read."""
        if done.name not in AXIOMS and done.name not in _RANKS:
            raise self.error((done.start, end))
        rank = _RANKS.get(done.name, 2)
        if rank < self.rank:
            self.open.pop()
            hint = "imports come first in an ontology, then annotations, then axioms"
            raise self.source.error(f"{done.name} is too late", done.start, end, hint)
        self.rank = rank

    def number(self, text: str, start: int) -> int:
        if len(text) > 9:
            raise self.source.error("the cardinality is too large", start, start + len(text))
        return int(text)

    # ---- errors

    def bad_token(self, end: int) -> tuple[int, int]:
        """Return the place of the text that is not a token."""
        skipped = re.compile(_SKIPPED).match(self.source.text, end)
        start = skipped.end() if skipped else end
        return start, start + 1

    def error(self, place: tuple[int, int], message: str | None = None) -> LoadError:
        """Return the error for a place, in the words of the grammar if it finds one."""
        from kg_reasoner.loaders.syntaxes.functional_grammar import explain

        start, end = place
        if self.finished:
            return self.source.error("unexpected text after the end of the ontology", start, end)
        in_ontology = bool(self.open) and self.rank >= 0
        begin = 0 if not in_ontology else self.open[1].start if len(self.open) > 1 else start
        found = explain(self.source, begin, len(self.source.text) if message is None else end, in_ontology)
        return found or self.source.error(message or "this is not understood here", start, end)
