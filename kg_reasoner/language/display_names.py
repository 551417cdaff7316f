"""Names of terms in texts for people: with prefixes, or labels where they have one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from kg_reasoner.lazy_regex import regular_expression
from kg_reasoner.terms import namespace_of

__all__ = ["DisplayNames", "merged"]

_WORD: Final = regular_expression(r"\w[\w.-]*")


class DisplayNames(dict[str, str]):
    """Prefixes with their namespaces, and labels of IRIs, which are shown in place of prefixed names.

    Wherever prefixes are taken to show terms, this can be given. A label that is not one word is in quotes, as Protégé has it.

    >>> names = DisplayNames({"ex": "http://example.org/"}, {"http://example.org/p1": "part of"})
    >>> names.label("http://example.org/p1"), names.label("http://example.org/p2")
    ("'part of'", None)
    """

    def __init__(self, prefixes: Mapping[str, str], labels: Mapping[str, str]) -> None:
        super().__init__(prefixes)
        self.labels = labels
        self._namespaces: frozenset[str] | None = None

    def namespaces(self) -> frozenset[str]:
        """Return the namespaces of the prefixes and of all IRIs that have a label."""
        if self._namespaces is None:
            self._namespaces = frozenset({*self.values(), *(namespace_of(iri) for iri in self.labels)})
        return self._namespaces

    def label(self, iri: str) -> str | None:
        """Return the label to show for an IRI, or None."""
        found = self.labels.get(iri)
        if found is None or _WORD.fullmatch(found):
            return found
        text = " ".join(found.split()).replace("'", "\\'")
        return f"'{text}'"


def merged(*parts: Mapping[str, str]) -> dict[str, str]:
    """Return all prefixes together with all labels. Later ones win; they come first, and so they win for a namespace, too."""
    prefixes: dict[str, str] = {}
    for part in reversed(parts):
        for prefix, namespace in part.items():
            prefixes.setdefault(prefix, namespace)
    labels = {iri: label for part in parts if isinstance(part, DisplayNames) for iri, label in part.labels.items()}
    return DisplayNames(prefixes, labels) if labels else prefixes
