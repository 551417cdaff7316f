"""The interface of the package owlrl, over this package's rule sets.

In a program that uses owlrl, ``from kg_reasoner import owlrl`` replaces ``import owlrl``:

>>> from rdflib import Graph
>>> from kg_reasoner import owlrl
>>> graph = Graph().parse(data='''
...     @prefix : <http://example.org/> .
...     @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
...     :Cat rdfs:subClassOf :Animal . :tom a :Cat .
... ''')
>>> owlrl.DeductiveClosure(owlrl.OWLRL_Semantics).expand(graph)
>>> len(graph)
3

The classes of semantics are names for rule sets. Those of owlrl, and of the copy of it in rdflib 8, are accepted as well. For the
differences in the triples that are added, see the guide for applications.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from kg_reasoner.errors import ReasonerError, UnknownNameError
from kg_reasoner.lazy_modules import LazyModule

if TYPE_CHECKING:
    import rdflib

    from kg_reasoner.engine import inconsistency
else:
    inconsistency, rdflib = LazyModule("kg_reasoner.engine.inconsistency"), LazyModule("rdflib")

__all__ = ["DeductiveClosure", "OWLRL_Semantics", "RDFS_OWLRL_Semantics", "RDFS_Semantics"]


class RDFS_Semantics:
    """The rule set ``rdfs``; with axiomatic triples or datatype axioms, ``rdfs-full``."""


class OWLRL_Semantics:
    """The rule set ``owl2rl``; with axiomatic triples or datatype axioms, ``owl2rl-full``."""


class RDFS_OWLRL_Semantics:
    """As `OWLRL_Semantics`, which includes the rules of ``rdfs``; with axiomatic triples or datatype axioms, and ``rdfs-full``."""


_RULESETS: Final = {
    "RDFS_Semantics": (("rdfs",), ("rdfs-full",)),
    "OWLRL_Semantics": (("owl2rl",), ("owl2rl-full",)),
    "RDFS_OWLRL_Semantics": (("owl2rl",), ("owl2rl-full", "rdfs-full")),
}
"""The rule sets of each semantics, without and with axiomatic triples."""

_PACKAGES: Final = ("kg_reasoner", "owlrl", "rdflib")
"""Where classes with these names have their meaning; a class of the user's own has rules of its own, in Python."""


class DeductiveClosure:
    """Expands graphs by their inferred triples. One object can expand any number of graphs.

    Args:
        closure_class: One of the three classes of semantics, of this module or of owlrl; None: `expand` does nothing.
        improved_datatypes: Accepted and ignored: literals are compared by value as their datatypes require.
        rdfs_closure: Whether the rules of RDFS are added to those of OWL 2 RL.
        axiomatic_triples: Use the rule sets that follow the specifications exactly, with the axiomatic triples of RDFS.
        datatype_axioms: Likewise.
        show_hidden: Whether triples that hold for every term (``x owl:sameAs x``) are added; owlrl adds them.
        on_inconsistency: ``report``: inconsistent data cause a `ReasonerWarning`; ``raise``: an error, and nothing is added.

    Raises:
        ReasonerError: The first argument is not a class.
        UnknownNameError: It is another class.
    """

    def __init__(
        self,
        closure_class: type | None,
        improved_datatypes: bool = True,
        rdfs_closure: bool = False,
        axiomatic_triples: bool = False,
        datatype_axioms: bool = False,
        *,
        show_hidden: bool = False,
        on_inconsistency: inconsistency.Reaction = "report",
    ) -> None:
        name = None if closure_class is None else _name_of(closure_class)
        if rdfs_closure and name == "OWLRL_Semantics":
            name = "RDFS_OWLRL_Semantics"
        self.closure_class = closure_class
        self.improved_datatypes = improved_datatypes
        self.rdfs_closure = rdfs_closure
        self.axiomatic_triples = axiomatic_triples
        self.datatype_axioms = datatype_axioms
        self.rulesets: tuple[str, ...] = () if name is None else _RULESETS[name][axiomatic_triples or datatype_axioms]
        """The rule sets that are used, together."""
        self._show_hidden = show_hidden
        self._on_inconsistency: inconsistency.Reaction = on_inconsistency

    def expand(self, graph: rdflib.Graph, destination: rdflib.Graph | rdflib.URIRef | str | None = None) -> None:
        """Add the inferred triples of a graph to it; for a dataset, those of all its graphs together to its default graph.

        The triples become ordinary triples of the graph. Use `kg_reasoner.attach` for a graph that follows later changes. All are
        computed before the first is added.

        Args:
            graph: A Graph or Dataset of rdflib, over any store.
            destination: The graph to which the triples are added instead, or the name of a graph of the dataset.

        Raises:
            LoadError: A term is not an RDF term, or stands where RDF does not allow it. Nothing is added.
            InconsistencyError: The data contradict the rules, and `on_inconsistency` is ``raise``. Nothing is added.
            ReasonerError: The argument is not an rdflib graph, or a graph is named by `destination` and it has no named graphs.
        """
        from rdflib import Dataset
        from rdflib.term import URIRef

        from kg_reasoner.rdflib_store.expanding import Expansion

        if not self.rulesets:
            return
        if isinstance(destination, str):
            if not isinstance(graph, Dataset):
                raise ReasonerError(f"the destination {destination} names a graph of a Dataset, and {graph!r} is not a Dataset")
            destination = graph.graph(URIRef(destination))
        expansion = Expansion(graph, self.rulesets, show_hidden=self._show_hidden, on_inconsistency=self._on_inconsistency)
        expansion.write(graph if destination is None else destination)


def _name_of(closure_class: Any) -> str:
    """Return the name of a class of semantics."""
    if not isinstance(closure_class, type):
        raise ReasonerError(f"the semantics is a class, such as owlrl.OWLRL_Semantics, not {closure_class!r}")
    name = closure_class.__name__
    if name not in _RULESETS or closure_class.__module__.partition(".")[0] not in _PACKAGES:
        raise UnknownNameError("semantics", f"{closure_class.__module__}.{name}", tuple(_RULESETS))
    return name
