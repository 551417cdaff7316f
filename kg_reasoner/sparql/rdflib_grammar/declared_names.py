"""Prefixed names and relative IRIs of SPARQL texts, resolved by what stands before them.

rdflib keeps one prefix for each namespace, and declares the prefixes and the base from outside again for every operation of an
update, over those that the text has declared. So names are resolved here, before rdflib translates the text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

__all__ = ["DeclaredNames"]

_SCHEME: Final = re.compile("[A-Za-z][A-Za-z0-9+.-]*:")


class DeclaredNames:
    """The base and the prefixes that are declared at a place of a text.

    Args:
        base: The IRI against which relative IRIs are resolved until the text declares a base.
        prefixes: Namespaces for the prefixes that the text does not declare.
    """

    def __init__(self, base: str | None, prefixes: Mapping[str, Any] | None) -> None:
        self.base = base or ""
        self._namespaces = {prefix or "": str(namespace) for prefix, namespace in (prefixes or {}).items()}

    def declare(self, prologue: Sequence[Any]) -> None:
        """Declare what a prologue declares, whose IRIs become absolute."""
        for part in prologue:
            part["iri"] = self._absolute(part.iri)
            if part.name == "Base":
                self.base = str(part.iri)
            else:
                self._namespaces[part.prefix or ""] = str(part.iri)

    def resolve(self, part: Any) -> Any:
        """Return what a part of a parse tree becomes; None for one that stays, as a name whose prefix is not known here.

        A SERVICE gets the declarations with which its text is sent.
        """
        from rdflib.plugins.sparql.parserutils import CompValue
        from rdflib.term import URIRef

        if isinstance(part, CompValue) and part.name == "pname":
            namespace = self._namespaces.get(part.prefix or "")
            return None if namespace is None else URIRef(namespace + (part.localname or ""))
        if isinstance(part, CompValue) and part.name == "ServiceGraphPattern":
            part["prefixes"], part["base"] = dict(self._namespaces), self.base
            return None
        return self._absolute(part) if isinstance(part, URIRef) else None

    def _absolute(self, iri: Any) -> Any:
        from rdflib.term import URIRef

        return URIRef(iri, base=self.base) if self.base and not _SCHEME.match(iri) else iri
