"""The contexts of a JSON-LD document: whether they refer to others outside it, and the prefixes that rdflib binds for them."""

from __future__ import annotations

import json
import re
from typing import Any, Final

from rdflib.plugins.parsers.jsonld import VOCAB_DELIMS
from rdflib.plugins.shared.jsonld.context import Context

_CONTEXT: Final = re.compile(r'"@context"\s*:\s*')
_FIRST: Final = re.compile(r'\s*\{\s*"@context"\s*:\s*')


class JSONContexts:
    """The contexts of a document, given as text. What is not JSON has none: its reader says what is wrong.

    Only the contexts are decoded, wherever they are, and the whole document only if its own context is not its first key.
    """

    def __init__(self, data: bytes) -> None:
        text = data.decode("utf-8", "replace")
        self._own: Any = None
        self._found: list[Any] = []
        decoder = json.JSONDecoder()
        try:
            places = [found.end() for found in _CONTEXT.finditer(text)]
            self._found = [decoder.raw_decode(text, place)[0] for place in places]
            if _FIRST.match(text):
                self._own = self._found[0]
            elif places:
                document = decoder.decode(text)
                self._own = document.get("@context") if isinstance(document, dict) else None
        except (ValueError, RecursionError):
            self._own = None

    @property
    def refer_outside(self) -> bool:
        """Whether a context is somewhere else, and its address is given."""
        return any(map(_refers_outside, self._found))

    def prefixes(self, base: str) -> list[tuple[str, str]]:
        """Return the prefixes that the context of the whole document declares, with their namespaces, as rdflib's parser does.

        Args:
            base: The base of the document.
        """
        if not self._own:
            return []
        context = Context(base=base, version=1.1)
        context.load(self._own, context.base)
        found = [("", str(context.vocab))] if context.vocab else []
        return found + [(name, str(term.id)) for name, term in context.terms.items() if term.id and term.id.endswith(VOCAB_DELIMS)]


def _refers_outside(context: object) -> bool:
    if isinstance(context, list):
        return any(map(_refers_outside, context))
    return isinstance(context, str) or (isinstance(context, dict) and "@import" in context)
