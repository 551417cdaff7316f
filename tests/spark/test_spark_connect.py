"""Spark Connect: the same through a server, without a JVM in this process. It takes a process of its own."""

from __future__ import annotations

from importlib.util import find_spec

import pytest

from tests.spark.spark_session import missing, need_spark, smoke

need_spark()

pytestmark = pytest.mark.long


def test_everything_through_a_server() -> None:
    if find_spec("grpc") is None:
        missing("connect", "what Spark Connect needs is not installed (the extra 'spark-connect')")
    said = smoke("--remote")
    assert said.startswith("pyspark.sql.connect.session, Spark ")
