"""Triple patterns and property paths."""

from __future__ import annotations

from typing import Final

from kg_reasoner.program import Variable
from kg_reasoner.sparql import algebra
from kg_reasoner.sparql.algebra import Path, PatternTerm
from kg_reasoner.sparql.building import Triple
from kg_reasoner.sparql.syntax.term_syntax import QueryTermReader
from kg_reasoner.sparql.syntax.tokens import LABEL, VARIABLE, WORD, Unread
from kg_reasoner.terms import IRI, RDF

__all__ = ["TripleReader"]

_MODIFIERS: Final = {"*": (0, True), "+": (1, True), "?": (0, False)}


class TripleReader(QueryTermReader):
    """Reads triple patterns, as triples whose properties may be paths."""

    def sees_triples(self) -> bool:
        """Return whether triples are next, in a group."""
        return self.kind in (VARIABLE, LABEL) or self.sees_iri() or self.sees("[")

    def triples(self, *, has_paths: bool = True) -> list[Triple]:
        """Read as many triples as follow; a dot may end the last one."""
        found: list[Triple] = []
        while True:
            self._same_subject(found, has_paths)
            if not self.accept(".") or not self.sees_triples():
                return found

    def _same_subject(self, found: list[Triple], has_paths: bool) -> None:
        if not self.sees("["):
            self._properties(self.term(), found, has_paths)
            return
        node, is_whole = self._in_brackets(found, has_paths)
        if not is_whole or self._sees_verb():
            self._properties(node, found, has_paths)

    def _in_brackets(self, found: list[Triple], has_paths: bool) -> tuple[Variable, bool]:
        """Read a blank node in brackets; return its variable, and whether it has properties."""
        self.expect("[")
        node = self.blank_node()
        if self.accept("]"):
            return node, False
        self.descend()
        self._properties(node, found, has_paths)
        self.ascend()
        self.expect("]")
        return node, True

    def _sees_verb(self) -> bool:
        is_a = self.kind == WORD and self.next == "a"
        return self.kind == VARIABLE or self.sees_iri() or is_a or any(map(self.sees, "^!("))

    def _properties(self, subject: PatternTerm, found: list[Triple], has_paths: bool) -> None:
        """Read properties with values."""
        while True:
            verb = self._verb(has_paths)
            while True:
                found.append((subject, verb, self._value(found, has_paths)))
                if not self.accept(","):
                    break
            if not self.accept(";"):
                return
            while self.accept(";"):
                pass
            if not self._sees_verb():
                return

    def _value(self, found: list[Triple], has_paths: bool) -> PatternTerm:
        return self._in_brackets(found, has_paths)[0] if self.sees("[") else self.term()

    def _verb(self, has_paths: bool) -> Path | Variable:
        if self.kind == VARIABLE:
            return self.variable()
        return self.path() if has_paths else self._property()

    def _property(self) -> IRI:
        """Read an IRI or ``a``."""
        if self.kind == WORD and self.next == "a":
            self.take(WORD)
            return RDF.type
        return self.iri()

    # --- paths ------------------------------------------------------------------------------------------------------

    def path(self) -> Path:
        """Read a path."""
        parts = [self._sequence()]
        while self.accept("|"):
            parts.append(self._sequence())
        if len(parts) == 1:
            return parts[0]
        return algebra.Alternative(tuple(step for part in parts for step in _flat(part, algebra.Alternative)))

    def _sequence(self) -> Path:
        parts = [self._step()]
        while self.accept("/"):
            parts.append(self._step())
        if len(parts) == 1:
            return parts[0]
        return algebra.Sequence(tuple(step for part in parts for step in _flat(part, algebra.Sequence)))

    def _step(self) -> Path:
        return algebra.Inverse(self._repeated()) if self.accept("^") else self._repeated()

    def _repeated(self) -> Path:
        found = self._property_or_path()
        for symbol, (least, is_endless) in _MODIFIERS.items():
            if self.sees(symbol):
                if not self.touches():
                    raise Unread
                self.expect(symbol)
                return algebra.Repeat(found, least, is_endless)
        return found

    def _property_or_path(self) -> Path:
        if self.accept("("):
            self.descend()
            found = self.path()
            self.ascend()
            self.expect(")")
            return found
        if self.accept("!"):
            return self._negated()
        return self._property()

    def _negated(self) -> algebra.Negated:
        forwards: list[IRI] = []
        backwards: list[IRI] = []
        is_list = self.accept("(")
        while True:
            chosen = backwards if self.accept("^") else forwards
            chosen.append(self._property())
            if not is_list or not self.accept("|"):
                break
        if is_list:
            self.expect(")")
        return algebra.Negated(tuple(forwards), tuple(backwards))


def _flat(path: Path, kind: type[algebra.Sequence] | type[algebra.Alternative]) -> tuple[Path, ...]:
    return path.paths if isinstance(path, kind) else (path,)
