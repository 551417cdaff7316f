"""kg_reasoner: an incremental Datalog and OWL 2 RL reasoner for Python's knowledge graphs."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kg_reasoner._moved import Finder

if TYPE_CHECKING:
    from kg_reasoner.api.reasoner import Reasoner
    from kg_reasoner.concurrency.limits import Limits
    from kg_reasoner.errors import BeyondProfileWarning, CancelledError, LimitError, ReasonerError, ReasonerWarning
    from kg_reasoner.rdflib_store import KGReasonerStore, attach, detach, graph_of, store_of

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
    "detach",
    "graph_of",
    "store_of",
]
__version__ = "0.1.0"

_checkout = Path(__file__).resolve().parent.parent
if (_checkout / "loaders" / "__init__.py").is_file() and (_checkout / "rulesets" / "__init__.py").is_file():
    # In a checkout, `loaders`, `rulesets` and `spark_backend` are beside this package; installed, they are inside it.
    __path__.append(str(_checkout))

sys.meta_path.insert(0, Finder())  # for modules under their former names

# When NumPy is imported, the threads of its linear algebra library wait busily for 2**26 cycles, on every core, before they
# sleep. 2**20 cycles are enough between two calls of that library, and save a third of the time to the first derived triple.
os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "20")

_HOMES = {
    "BeyondProfileWarning": "errors",
    "CancelledError": "errors",
    "LimitError": "errors",
    "Limits": "concurrency.limits",
    "KGReasonerStore": "rdflib_store",
    "Reasoner": "api.reasoner",
    "ReasonerError": "errors",
    "ReasonerWarning": "errors",
    "attach": "rdflib_store",
    "detach": "rdflib_store",
    "graph_of": "rdflib_store",
    "store_of": "rdflib_store",
}


def __getattr__(name: str) -> Any:
    """Import the public names when they are first used, so that the import of the package costs nothing."""
    if name in _HOMES:
        from importlib import import_module

        home = f"kg_reasoner.{_HOMES[name]}"
        if home not in sys.modules:
            from kg_reasoner.concurrency.garbage import without_collection

            import_module("kg_reasoner.concurrency.forking")  # first, so that a fork waits until the others are imported
            with without_collection():  # modules are kept: the search for garbage among them is a tenth of the time
                import_module(home)
        return getattr(import_module(home), name)
    raise AttributeError(f"module 'kg_reasoner' has no attribute {name!r}")


def __dir__() -> list[str]:
    """Return the public names, whether they have been imported or not. Modules are not among them."""
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})
