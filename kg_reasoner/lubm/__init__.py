"""The Lehigh University Benchmark: data of any size, the ontology, the 14 queries.

>>> sum(block.count(b"\\n") for block in generate(universities=1, seed=0))
103271
>>> list(queries())[:3]
['q01', 'q02', 'q03']
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from kg_reasoner.lubm.generator import generate, write

__all__ = ["generate", "ontology_path", "queries", "query_title", "write"]

_HERE = Path(__file__).resolve().parent


def ontology_path() -> Path:
    """Return the path of the benchmark's ontology, in Turtle."""
    return _HERE / "ontology.ttl"


@cache
def _query_texts() -> dict[str, str]:
    return {path.stem: path.read_text(encoding="utf-8") for path in sorted(_HERE.glob("q*.rq"))}


def queries() -> dict[str, str]:
    """Return the 14 queries as SPARQL texts, ``q01`` to ``q14``, in this order. Their constants lie in university 0."""
    return dict(_query_texts())


def query_title(name: str) -> str:
    """Return a short description of a query.

    >>> query_title("q06")
    'all students'

    Raises:
        KeyError: The query does not exist.
    """
    return _query_texts()[name].partition("\n")[0].removeprefix("# ")
