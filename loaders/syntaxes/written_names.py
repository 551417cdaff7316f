"""IRIs and literals as functional and Manchester syntax write them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from kg_reasoner.loaders.blank_node_labels import safe_label
from kg_reasoner.terms import IRI, XSD, BlankNode, Term

__all__ = ["WrittenNames"]

_LOCAL: Final = re.compile(r"[\w](?:[\w.-]*[\w-])?")
_ESCAPED: Final = re.compile(r'(["\\])')


class WrittenNames:
    """The names of a document with some prefixes."""

    def __init__(self, prefixes: Mapping[str, str]) -> None:
        self.prefixes = dict(prefixes)
        self._short = sorted(((namespace, prefix) for prefix, namespace in prefixes.items()), key=lambda pair: -len(pair[0]))
        self._texts: dict[IRI, str] = {}

    def iri(self, iri: IRI) -> str:
        """Return an IRI with a prefix, or in angle brackets."""
        text = self._texts.get(iri)
        if text is None:
            text = self._texts[iri] = self._shortened(iri.value)
        return text

    def _shortened(self, value: str) -> str:
        for namespace, prefix in self._short:
            if value.startswith(namespace) and _LOCAL.fullmatch(value, len(namespace)):
                return f"{prefix}:{value[len(namespace) :]}"
        return f"<{value}>"

    def term(self, term: Term) -> str:
        """Return any term."""
        if isinstance(term, IRI):
            return self.iri(term)
        if isinstance(term, BlankNode):
            return f"_:{safe_label(term.label)}"
        quoted = f'"{_ESCAPED.sub(_with_backslash, term.lexical)}"'
        if term.language is not None:
            return f"{quoted}@{term.language}"
        return quoted if term.datatype == XSD.string.value else f"{quoted}^^{self.iri(IRI(term.datatype))}"


def _with_backslash(match: re.Match[str]) -> str:
    return f"\\{match[1]}"
