"""A stand-in for the part of Spark that the plans use: it evaluates them in this process, thousands of small ones in a minute.

It checks logic. It is stricter than Spark where Spark converts types or guesses which column is meant, and knows nothing of
partitions, memory and files. What it accepts, the tests on Spark try on Spark.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any
from unittest.mock import patch

from tests.standin import functions
from tests.standin.frames import Frame, Observation, Session

__all__ = ["standing_in"]


@contextmanager
def _in_place_of_pyspark(modules: Mapping[str, ModuleType]) -> Iterator[None]:
    """Put modules in the place of others. What else is imported meanwhile stays: two copies of kernels end a process."""
    before = {name: sys.modules[name] for name in modules if name in sys.modules}
    sys.modules.update(modules)
    try:
        yield
    finally:
        for name in modules:
            del sys.modules[name]
        sys.modules.update(before)


@contextmanager
def standing_in(driver_facts: int = 0) -> Iterator[Any]:
    """Yield a session; within the block, pyspark is the stand-in, whether it is installed or not. By default, all is derived by
    iterations, and nothing by the last phase, in process: `driver_facts` is the default of that option.
    """
    names = ("pyspark", "pyspark.sql", "pyspark.errors")
    modules = {name: ModuleType(name) for name in names}
    for name, module in modules.items():
        module.__spec__ = ModuleSpec(name, None)
    modules["pyspark"].__version__ = "3.5"  # type: ignore[attr-defined]
    for name, value in {"functions": functions, "Observation": Observation, "SparkSession": Session, "DataFrame": Frame}.items():
        setattr(modules["pyspark.sql"], name, value)
    modules["pyspark.errors"].PySparkException = RuntimeError  # type: ignore[attr-defined]
    with (
        _in_place_of_pyspark({**modules, "pyspark.sql.functions": functions}),
        patch("kg_reasoner.spark_backend.exec.spark_reasoner.require_pyspark", lambda: None),
        patch("kg_reasoner.spark_backend.exec.spark_run.DRIVER_FACTS", driver_facts),
    ):
        yield Session()
