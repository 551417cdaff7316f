"""The one Spark session of the test run, made small: the data are, and most of the time would go into planning and compiling.

Tests that need what is not there are skipped, with the reason; or fail, where `KG_REASONER_REQUIRE` names it: ``spark``,
``graphframes``, ``connect``. The jar of GraphFrames is loaded where `KG_REASONER_GRAPHFRAMES` holds its Maven coordinates.
"""

from __future__ import annotations

import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import pytest

from kg_reasoner.errors import ReasonerError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

REQUIRED = os.environ.get("KG_REASONER_REQUIRE", "").split(",")

SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.memory": "2g",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.jars.packages": os.environ.get("KG_REASONER_GRAPHFRAMES", ""),
    "spark.python.sql.dataFrameDebugging.enabled": "false",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.shuffle.partitions": "2",
    "spark.default.parallelism": "2",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.constraintPropagation.enabled": "false",
    "spark.sql.lightweightPlanChangeValidation": "false",
    "spark.sql.optimizer.dynamicPartitionPruning.enabled": "false",
    "spark.sql.optimizer.runtime.bloomFilter.enabled": "false",
    "spark.sql.artifact.isolation.enabled": "false",
    "spark.sql.ui.retainedExecutions": "1",
    "spark.log.level": "ERROR",
}
"""Small partitions, no code generation, a compiler that does not optimise: half the time of Spark's defaults on small data. Without
what looks for better plans and checks them, another tenth.
Adaptive execution makes a job of each stage, and takes a quarter longer; the smoke test and the tests on a cluster have it.
"""

ADAPTIVE = {"spark.sql.adaptive.enabled": "true"}
"""As Spark has it by default."""


def missing(what: str, problem: str) -> NoReturn:
    """Skip the test or, while a test module is imported, all of it; or fail, if what is missing is required."""
    if what in REQUIRED:
        pytest.fail(f"{what} is required: {problem}")
    pytest.skip(problem, allow_module_level=True)


def need_spark() -> None:
    """To be called before a test module imports the Spark backend or pyspark."""
    try:
        from kg_reasoner.spark_backend.requirements import require_java, require_pyspark

        require_pyspark()
        require_java()
    except ReasonerError as error:
        missing("spark", str(error))


@cache
def session(master: str = "local[2]") -> SparkSession:
    """The session, made on first use."""
    need_spark()
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder: Any = SparkSession.builder.master(master).appName("kg_reasoner tests")
    for name, value in SETTINGS.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def smoke(*options: str) -> str:
    """Run everything once in a process of its own, and return what it says."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.spark.spark_smoke", *options],
        cwd=Path(__file__).parents[2],
        env={**os.environ, "PYSPARK_PYTHON": sys.executable},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr[-3000:]
    return done.stdout
