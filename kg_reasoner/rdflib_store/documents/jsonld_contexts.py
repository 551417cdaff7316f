"""Information in the text of a JSON-LD document that its triples do not have: prefixes, and contexts outside it.

rdflib writes a dataset as an array of graphs, of which the default graph has no name, and reads it in the same way. By the
standard, a graph without a name among others has a blank node for its name.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final

from rdflib.plugins.shared.jsonld.context import Context
from rdflib.plugins.shared.jsonld.util import VOCAB_DELIMS

_CONTEXT: Final = re.compile(r'"@context"\s*:\s*')
_FIRST: Final = re.compile(r'\s*\{\s*"@context"\s*:\s*')


class JSONText:
    """A document, given as text. What is not JSON has no contexts and graphs: its reader says what is wrong.

    Only the contexts are decoded, wherever they are, and the whole document only if its own context is not its first key, or if it
    is an array of graphs.
    """

    def __init__(self, data: bytes) -> None:
        text = self._text = data.decode("utf-8", "replace")
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

    def without_unnamed_graphs(self) -> bytes | None:
        """Return the document with the content of graphs without a name in an array in their place; None: there are none."""
        if not self._text.lstrip().startswith("[") or '"@graph"' not in self._text:
            return None
        try:
            parts = json.loads(self._text)
        except (ValueError, RecursionError):
            return None
        if not any(map(_is_unnamed_graph, parts)):
            return None
        merged = [part["@graph"] if _is_unnamed_graph(part) else part for part in parts]
        return json.dumps(merged).encode()  # in an array within an array, the inner one dissolves

    @property
    def refers_outside(self) -> bool:
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


def _is_unnamed_graph(part: object) -> bool:
    return isinstance(part, dict) and part.keys() == {"@graph"}


def _refers_outside(context: object) -> bool:
    if isinstance(context, list):
        return any(map(_refers_outside, context))
    return isinstance(context, str) or (isinstance(context, dict) and "@import" in context)
