"""The prefixes of an rdflib store. They are not part of transactions, because rdflib also stores them elsewhere."""

from __future__ import annotations

from collections.abc import Iterator

from rdflib.term import URIRef


class PrefixBindings:
    """Prefixes and their namespaces, one to one."""

    def __init__(self) -> None:
        self._prefixes: dict[str, URIRef] = {}
        self._namespaces: dict[URIRef, str] = {}

    def bind(self, prefix: str, namespace: URIRef, override: bool = True) -> None:
        """Bind a prefix; without `override`, existing bindings of the prefix or the namespace remain."""
        if not override and (prefix in self._prefixes or namespace in self._namespaces):
            return
        old = self._prefixes.pop(prefix, None)
        if old is not None:
            self._namespaces.pop(old, None)
        old_prefix = self._namespaces.pop(namespace, None)
        if old_prefix is not None:
            self._prefixes.pop(old_prefix, None)
        self._prefixes[prefix] = namespace
        self._namespaces[namespace] = prefix

    def namespace(self, prefix: str) -> URIRef | None:
        """Return the namespace of a prefix."""
        return self._prefixes.get(prefix)

    def prefix(self, namespace: URIRef) -> str | None:
        """Return the prefix of a namespace."""
        return self._namespaces.get(namespace)

    def namespaces(self) -> Iterator[tuple[str, URIRef]]:
        """Yield all bound prefixes with their namespaces."""
        yield from list(self._prefixes.items())
