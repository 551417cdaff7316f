"""Information in the text of a JSON-LD document that its triples do not have: prefixes, and contexts outside it.

rdflib writes a dataset as an array of graphs, which is that of a @graph if there is a context. The default graph has no name in it,
and is read in the same way. By the standard, a graph without a name among others has a blank node for its name.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final

from rdflib.plugins.shared.jsonld.context import Context
from rdflib.plugins.shared.jsonld.util import VOCAB_DELIMS

_CONTEXT: Final = re.compile(r'"@context"\s*:\s*')
_GRAPH_IN_ARRAY: Final = re.compile(r'[\[,]\s*\{\s*"@graph"')
_FIRST: Final = re.compile(r'\s*\{\s*"@context"\s*:\s*')


class JSONText:
    """A document, given as text. What is not JSON has no contexts and graphs: its reader says what is wrong.

    Only the contexts are decoded, wherever they are, and the whole document only if its own context is not its first key, or if an
    array seems to have graphs in it.
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
        if not _GRAPH_IN_ARRAY.search(self._text):
            return None
        try:
            document = json.loads(self._text)
        except (ValueError, RecursionError):
            return None
        is_object = isinstance(document, dict) and document.keys() <= {"@context", "@graph"}
        parts = document.get("@graph") if is_object else document
        if not isinstance(parts, list) or not any(map(_is_unnamed_graph, parts)):
            return None
        merged = [part["@graph"] if _is_unnamed_graph(part) else part for part in parts]  # in an array, another one dissolves
        return json.dumps({**document, "@graph": merged} if is_object else merged).encode()

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
