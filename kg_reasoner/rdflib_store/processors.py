"""Processors of rdflib that apply rule sets, as those that rdflib 8 has for its own reasoner.

rdflib 8 infers by ``graph.query(axioms, processor="owlrl")``, whose result has the graph of inferred triples, and adds them by
``graph.update(axioms, processor="owlrl")``. The name of this package's processors is ``KGReasoner``. They do not need rdflib 8:
the kinds of plugins are older. ``graph.query(..., processor="KGReasoner", ruleset="rdfs")`` chooses the rule set.

>>> from rdflib import Graph
>>> import kg_reasoner.rdflib_store.store  # registers the names, as rdflib itself does for installed packages
>>> graph = Graph().parse(data='''
...     @prefix : <http://example.org/> .
...     @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
...     :Cat rdfs:subClassOf :Animal . :tom a :Cat .
... ''')
>>> len(graph.query("", processor="KGReasoner").graph)
1
>>> graph.update("", processor="KGReasoner")
>>> len(graph)
3

rdflib passes the queries of a graph with a reasoner to its store, whatever the processor; such a graph shows what follows anyway.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rdflib import Graph
from rdflib.query import Processor, UpdateProcessor

from kg_reasoner.errors import ReasonerError
from kg_reasoner.rdflib_store.expanding import Expansion

__all__ = ["RuleProcessor", "RuleUpdateProcessor"]

DEFAULT = "owl2rl"


class RuleProcessor(Processor):
    """Infers from a graph, which does not change.

    Args:
        graph: The graph.
    """

    def __init__(self, graph: Graph) -> None:
        self.graph = graph

    def query(  # type: ignore[override]  # rdflib's own processors have further arguments, too
        self,
        strOrQuery: str | bytes | Graph,
        initBindings: Mapping[str, Any] | None = None,
        initNs: Mapping[str, Any] | None = None,
        base: str | None = None,
        DEBUG: bool = False,
        *,
        ruleset: str = DEFAULT,
    ) -> Mapping[str, Any]:
        """Return a graph of the triples that `RuleUpdateProcessor.update` would add, in the form of rdflib's results.

        Args:
            strOrQuery: Further axioms and rules, as a graph or a document in Turtle or N3; may be empty.
            initBindings: Must be empty.
            initNs: Prefixes for the resulting graph.
            base: The IRI against which relative IRIs in the document are resolved.
            DEBUG: Ignored; rdflib's own processors have it.
            ruleset: The name of a rule set or the path of a ``.dl`` file.

        Returns:
            The graph, as the value of ``graph`` in a mapping.

        Raises:
            LoadError, UnsupportedError, SafetyError: The document or the graph cannot be read.
            UnknownNameError: The rule set is unknown.
            ReasonerError: There are initial bindings.
        """
        found = Graph()
        for prefix, namespace in (initNs or {}).items():
            found.bind(prefix, namespace)
        for triple in _expansion(self.graph, strOrQuery, initBindings, base, ruleset).triples():
            found.add(triple)
        return {"type_": "CONSTRUCT", "graph": found}


class RuleUpdateProcessor(UpdateProcessor):
    """Adds inferred triples to a graph.

    Args:
        graph: The graph.
    """

    def __init__(self, graph: Graph) -> None:
        self.graph = graph

    def update(  # type: ignore[override]  # rdflib's own processors take graphs, too
        self,
        strOrQuery: str | bytes | Graph,
        initBindings: Mapping[str, Any] | None = None,
        initNs: Mapping[str, Any] | None = None,
        base: str | None = None,
        *,
        ruleset: str = DEFAULT,
    ) -> None:
        """Add further axioms, and all that follows from them and from the graph. Rules of the document are only applied.

        Args:
            strOrQuery: As for `RuleProcessor.query`.
            initBindings: Must be empty.
            initNs: Prefixes for the graph.
            base: As for `RuleProcessor.query`.
            ruleset: As for `RuleProcessor.query`.

        Raises:
            LoadError, UnsupportedError, SafetyError, UnknownNameError, ReasonerError: As for `RuleProcessor.query`. Nothing is
                added.
        """
        _expansion(self.graph, strOrQuery, initBindings, base, ruleset).write(self.graph)
        for prefix, namespace in (initNs or {}).items():
            self.graph.bind(prefix, namespace)


def _expansion(
    graph: Graph, axioms: str | bytes | Graph, bindings: Mapping[str, Any] | None, base: str | None, ruleset: str
) -> Expansion:
    """Return the triples inferred from a graph and further axioms."""
    if bindings:
        raise ReasonerError("axioms and rules have no variables to bind: leave initBindings out")
    if not isinstance(axioms, (str, bytes, Graph)):
        raise ReasonerError(f"the axioms are a text in Turtle or N3, or a graph, not {axioms!r}")
    expansion = Expansion(graph, [ruleset])
    expansion.load(axioms, base)
    return expansion
