"""Terms and variables in queries."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from kg_reasoner.program import Variable
from kg_reasoner.sparql.algebra import PatternTerm
from kg_reasoner.sparql.syntax.tokens import IRIREF, LABEL, LANGUAGE, NAME, NUMBER, STRING, VARIABLE, WORD, Tokens, Unread
from kg_reasoner.terms import IRI, RDF, XSD, Literal, is_iri, is_language, unescape

__all__ = ["BLANK", "QueryTermReader"]

BLANK: Final = "_:"
"""Variables with such names stand for blank nodes."""

_CANONICAL: Final = re.compile(r"(?!-0(?:\.0+)?$)-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?")
"""The numbers that rdflib does not normalise."""
_OF_AGGREGATE: Final = re.compile("__agg_[0-9]+__")
"""The names of the variables for aggregates."""
_OF_LANGUAGES: Final = (RDF.langString, RDF.dirLangString)
"""The datatypes of literals with language tags, which others cannot have."""
_DEEPEST: Final = 40


class QueryTermReader(Tokens):
    """Reads terms.

    Args:
        text: The text of the query.
        prefixes: Namespaces by prefix, to which those that the text declares are added.
    """

    def __init__(self, text: str, prefixes: Mapping[str, Any]) -> None:
        super().__init__(text)
        self.prefixes = dict(prefixes)
        self.declared: dict[str, str] = {}
        """The prefixes that the text declares."""
        self.seen: dict[Variable, None] = {}
        """The variables that were read in the present SELECT, those of its subqueries excepted."""
        self._blank_nodes = 0
        self._depth = 0
        self._patterns = 0
        self._pattern = 0
        self._labels: dict[str, int] = {}
        """The basic graph pattern in which each label of a blank node is; it cannot be in two of them."""

    def descend(self) -> None:
        """Count a level of nesting, which ends with `ascend`."""
        self._depth += 1
        if self._depth > _DEEPEST:
            raise Unread

    def ascend(self) -> None:
        """End a level of nesting."""
        self._depth -= 1

    def start_basic_pattern(self) -> int:
        """Start a basic graph pattern; return the one before."""
        before = self._pattern
        self._patterns += 1
        self._pattern = self._patterns
        return before

    def resume_basic_pattern(self, pattern: int) -> None:
        """Go on with a basic graph pattern in which others were."""
        self._pattern = pattern

    def forget_labels(self) -> None:
        """Forget the labels of the blank nodes of a template."""
        self._labels = {}

    def prologue(self) -> None:
        """Read the declarations of prefixes."""
        while self.accept_word("PREFIX"):
            name = self.take(NAME)
            if not name.endswith(":") or name.count(":") > 1:
                raise Unread
            space = self.take(IRIREF)
            if not is_iri(space):
                raise Unread
            self.declared[name[:-1]] = self.prefixes[name[:-1]] = space

    def variable(self) -> Variable:
        """Read a variable."""
        name = self.take(VARIABLE)
        if _OF_AGGREGATE.fullmatch(name):
            raise Unread
        found = Variable(name)
        self.seen[found] = None
        return found

    def blank_node(self) -> Variable:
        """Return the variable of a blank node without a label."""
        self._blank_nodes += 1
        return Variable(f"{BLANK}[{self._blank_nodes}]")

    def _labelled(self) -> Variable:
        label = self.take(LABEL)
        if self._labels.setdefault(label, self._pattern) != self._pattern:
            raise Unread
        return Variable(label)

    def sees_iri(self) -> bool:
        """Return whether an IRI is next."""
        return self.kind in (IRIREF, NAME)

    def iri(self) -> IRI:
        """Read an IRI."""
        if self.kind == IRIREF:
            value = self.take(IRIREF)
            if not is_iri(value):
                raise Unread
            return IRI(value)
        prefix, _, local = self.take(NAME).partition(":")
        space = self.prefixes.get(prefix)
        if space is None:
            raise Unread
        value = f"{space}{local}"  # a namespace may be a subclass of str, whose sum is, too
        if not is_iri(value):
            raise Unread
        return IRI(value)

    def string(self) -> str:
        """Read a string."""
        return unescape(self.take(STRING)[1:-1])

    def literal(self) -> Literal:
        """Read a literal; a number has no sign."""
        kind = self.kind
        if kind == STRING:
            return self._text()
        if kind == NUMBER:
            return self.signed_number("")
        if kind == WORD and self.word() in ("TRUE", "FALSE"):
            return Literal(self.take(WORD).lower(), XSD.boolean.value)
        raise Unread

    def signed_number(self, sign: str) -> Literal:
        """Read a number, after its sign."""
        number = sign + self.take(NUMBER)
        if _CANONICAL.fullmatch(number) is None:
            raise Unread
        return Literal(number, (XSD.decimal if "." in number else XSD.integer).value)

    def _text(self) -> Literal:
        lexical = self.string()
        if self.kind == LANGUAGE:
            tag = self.take(LANGUAGE)[1:]
            if not is_language(tag):
                raise Unread
            return Literal(lexical, RDF.langString.value, tag.lower())
        if self.accept("^^"):
            datatype = self.iri()
            if datatype in _OF_LANGUAGES:
                raise Unread
            return Literal(lexical, datatype.value)
        return Literal(lexical)

    def term(self) -> PatternTerm:
        """Read a variable, an IRI, a literal, or a blank node with a label."""
        kind = self.kind
        if kind == VARIABLE:
            return self.variable()
        if kind in (IRIREF, NAME):
            return self.iri()
        if kind == LABEL:
            return self._labelled()
        return self.literal()
