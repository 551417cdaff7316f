"""The examples in the docstrings of the Spark backend, which cannot be collected where pyspark is missing."""

from __future__ import annotations

import doctest
from importlib import import_module
from pathlib import Path

import pytest

from tests.spark.spark_session import need_spark

need_spark()

pytestmark = pytest.mark.long

ROOT = Path(__file__).parents[2]
MODULES = sorted(".".join(path.relative_to(ROOT).with_suffix("").parts) for path in (ROOT / "spark_backend").rglob("[a-z]*.py"))


@pytest.mark.parametrize("name", MODULES)
def test_examples(name: str) -> None:
    assert doctest.testmod(import_module(f"kg_reasoner.{name}")).failed == 0
