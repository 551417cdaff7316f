"""The programming interface: the `Reasoner`, its transactions, subscriptions, streams, named graphs and documents.

The package exports the types in the signatures of the `Reasoner`, for annotations: ``from kg_reasoner.api import QueryResult``. The
signatures name them as attributes (``api.QueryResult``), so that `typing.get_type_hints` finds them, and nothing that is unused is
imported.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from kg_reasoner.api.answers import Answers
    from kg_reasoner.api.change_feed import ChangeFeed
    from kg_reasoner.api.cost_profiles import Profile
    from kg_reasoner.api.explicit.named_graphs import NamedGraphs
    from kg_reasoner.api.fact_tables import Facts
    from kg_reasoner.api.operations.subscriptions import Callback, Pattern, Subscription
    from kg_reasoner.api.sizes import Sizes
    from kg_reasoner.api.update import Update
    from kg_reasoner.classification.hierarchy import Hierarchy
    from kg_reasoner.explain import Proof, WhyNot
    from kg_reasoner.loaders.imports.catalogs import CatalogSource
    from kg_reasoner.loaders.imports.closure import ImportsMode
    from kg_reasoner.loaders.ontology.owl import AxiomWarning
    from kg_reasoner.loaders.ontology.profiles.owl_profiles import Profiles
    from kg_reasoner.loaders.rdf.bounds import DocumentBounds
    from kg_reasoner.sparql.queries.query_plan import QueryPlan
    from kg_reasoner.sparql.results.result import QueryResult
    from kg_reasoner.tables.table_facts import Nulls

_HOMES: Final = {
    "Answers": "api.answers",
    "AxiomWarning": "loaders.ontology.owl",
    "Callback": "api.operations.subscriptions",
    "CatalogSource": "loaders.imports.catalogs",
    "ChangeFeed": "api.change_feed",
    "DocumentBounds": "loaders.rdf.bounds",
    "Facts": "api.fact_tables",
    "Hierarchy": "classification.hierarchy",
    "ImportsMode": "loaders.imports.closure",
    "NamedGraphs": "api.explicit.named_graphs",
    "Nulls": "tables.table_facts",
    "Pattern": "api.operations.subscriptions",
    "Profile": "api.cost_profiles",
    "Profiles": "loaders.ontology.profiles.owl_profiles",
    "Proof": "explain",
    "QueryPlan": "sparql.queries.query_plan",
    "QueryResult": "sparql.results.result",
    "Sizes": "api.sizes",
    "Subscription": "api.operations.subscriptions",
    "Update": "api.update",
    "WhyNot": "explain",
}

__all__ = [
    "Answers",
    "AxiomWarning",
    "Callback",
    "CatalogSource",
    "ChangeFeed",
    "DocumentBounds",
    "Facts",
    "Hierarchy",
    "ImportsMode",
    "NamedGraphs",
    "Nulls",
    "Pattern",
    "Profile",
    "Profiles",
    "Proof",
    "QueryPlan",
    "QueryResult",
    "Sizes",
    "Subscription",
    "Update",
    "WhyNot",
]


def __getattr__(name: str) -> Any:
    """Import a type when it is first asked for."""
    if name in _HOMES:
        return getattr(import_module(f"kg_reasoner.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
