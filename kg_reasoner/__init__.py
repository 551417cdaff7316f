"""kg_reasoner: an incremental Datalog and OWL 2 RL reasoner for Python's knowledge graphs."""

from __future__ import annotations

from pathlib import Path

_checkout = Path(__file__).resolve().parent.parent
if (_checkout / "loaders" / "__init__.py").is_file() and (_checkout / "rulesets" / "__init__.py").is_file():
    # In a checkout the owner's top-level folders are siblings of this package; installed, they lie inside it.
    __path__.append(str(_checkout))

__version__ = "0.1.0"
