"""Packages that only some tests need. Where one is missing, the tests are skipped and say how to install it."""

from __future__ import annotations

from types import ModuleType

import pytest

SOURCES = {
    "adbc_driver_postgresql": "adbc-driver-postgresql",
    "adbc_driver_sqlite": "adbc-driver-sqlite",
    "build": ".[dev]",
    "duckdb": ".[duckdb]",
    "igraph": ".[dev]",
    "kg_reasoner": ".",
    "maplib": ".[bench]",
    "matplotlib": ".[bench]",
    "mypy": ".[dev]",
    "nmo_python": ".[bench]",
    "owlready2": ".[owlready2]",
    "owlrl": ".[test]",
    "oxrdflib": ".[bench]",
    "pandas": ".[pandas]",
    "polars": ".[polars]",
    "prompt_toolkit": ".[shell]",
    "psycopg": ".[postgresql]",
    "pyarrow": ".[results]",
    "pyhornedowl": ".[dev]",
    "pyshacl": ".[test]",
    "pyspark": ".[spark]",
    "reasonable": ".[bench]",
    "setuptools": "setuptools",
    "tomli": ".[test]",
    "unicorn": "unicorn",
}
"""What `pip install` needs for a package: an extra of this one in a checkout, or another distribution."""


def needed(module: str) -> ModuleType:
    """Return a module; skip the test if its package is not installed."""
    package = module.partition(".")[0]
    found: ModuleType = pytest.importorskip(module, reason=f"{package} is not installed: pip install '{SOURCES[package]}'")
    return found
