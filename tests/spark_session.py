"""The one Spark session of the test run, made small: the data are, and most of the time would go into planning and compiling."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.memory": "2g",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.sql.shuffle.partitions": "2",
    "spark.default.parallelism": "2",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.ui.retainedExecutions": "1",
    "spark.log.level": "ERROR",
}
"""Small partitions, no code generation, a compiler that does not optimise: half the time of Spark's defaults on data of this size."""


@cache
def session(master: str = "local[2]") -> SparkSession:
    """The session, made on first use; tests that need it are skipped, with the reason, where pyspark or Java is missing."""
    pytest.importorskip("pyspark", reason="pyspark is not installed (the extra 'spark')")
    from pyspark.sql import SparkSession

    builder: Any = SparkSession.builder.master(master).appName("kg_reasoner tests")
    for name, value in SETTINGS.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()
