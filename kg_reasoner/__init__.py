"""kg_reasoner: an incremental Datalog and OWL 2 RL reasoner for Python's knowledge graphs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kg_reasoner.errors import BeyondProfileWarning, CancelledError, LimitError, ReasonerError, ReasonerWarning
    from kg_reasoner.limits import Limits
    from kg_reasoner.reasoner import Reasoner
    from kg_reasoner.store import KGReasonerStore, attach, graph_of, store_of

__all__ = [
    "BeyondProfileWarning",
    "CancelledError",
    "KGReasonerStore",
    "LimitError",
    "Limits",
    "Reasoner",
    "ReasonerError",
    "ReasonerWarning",
    "attach",
    "graph_of",
    "store_of",
]
__version__ = "0.1.0"

_checkout = Path(__file__).resolve().parent.parent
if (_checkout / "loaders" / "__init__.py").is_file() and (_checkout / "rulesets" / "__init__.py").is_file():
    # In a checkout the owner's top-level folders are siblings of this package; installed, they lie inside it.
    __path__.append(str(_checkout))

_HOMES = {
    "BeyondProfileWarning": "errors",
    "CancelledError": "errors",
    "LimitError": "errors",
    "Limits": "limits",
    "KGReasonerStore": "store",
    "Reasoner": "reasoner",
    "ReasonerError": "errors",
    "ReasonerWarning": "errors",
    "attach": "store",
    "graph_of": "store",
    "store_of": "store",
}


def __getattr__(name: str) -> Any:
    """Import the public names when they are first used, so that the import of the package costs nothing."""
    if name in _HOMES:
        from importlib import import_module

        return getattr(import_module(f"kg_reasoner.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'kg_reasoner' has no attribute {name!r}")


def __dir__() -> list[str]:
    """The names that exist before they are imported, for those who look for them."""
    return sorted({*globals(), *__all__})
