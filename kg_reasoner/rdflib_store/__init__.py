"""The rdflib store: graphs and datasets that show all consequences of the triples added to them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rdflib import plugin
from rdflib.store import Store

from kg_reasoner.concurrency import forking  # noqa: F401  first, so that a fork waits until the others are imported

if TYPE_CHECKING:
    from kg_reasoner.rdflib_store.attaching import attach, detach, graph_of, store_of
    from kg_reasoner.rdflib_store.store import KGReasonerStore

__all__ = ["KGReasonerStore", "attach", "detach", "graph_of", "store_of"]

plugin.register("KGReasoner", Store, "kg_reasoner.rdflib_store", "KGReasonerStore")  # a store registers the other plugins

_HOMES = {"KGReasonerStore": "store", **dict.fromkeys(("attach", "detach", "graph_of", "store_of"), "attaching")}


def __getattr__(name: str) -> Any:
    """Import the public names on first use: rdflib loads `sparql` as a plugin, which must not import the engine."""
    if name in _HOMES:
        from importlib import import_module

        return getattr(import_module(f"kg_reasoner.rdflib_store.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'kg_reasoner.rdflib_store' has no attribute {name!r}")
