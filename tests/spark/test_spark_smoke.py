"""Spark at all: everything that it is used for, once. The other tests on Spark take long."""

from __future__ import annotations

from tests.spark.spark_session import need_spark, smoke

need_spark()


def test_everything_once() -> None:
    said = smoke()
    assert "triples are those of the in-process engine" in said
