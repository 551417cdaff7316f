"""What a failure of Spark says to a person: the cause, in one line, and what to do. None of it needs Spark."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest

from kg_reasoner.errors import LoadError, ReasonerError
from kg_reasoner.spark_backend.failures import plain_failures


class OfSpark(Exception):
    """As pyspark raises them."""


OfSpark.__module__ = "pyspark.errors.exceptions.captured"

CASES = [
    (
        "Job aborted due to stage failure: Master removed our application: FAILED\nDriver stacktrace:\n\tat a.B.c(D.scala:1)",
        "cannot reason: Job aborted due to stage failure: Master removed our application: FAILED",
        "all executors died",
    ),
    (
        "[SPARK_JOB_CANCELLED] Job 18 cancelled because SparkContext was shut down SQLSTATE: XXKDA",
        "cannot reason: Job 18 cancelled because SparkContext was shut down",
        "all executors died",
    ),
    (
        "An error occurred while calling o99.count.\n: java.lang.IllegalStateException: Cannot call methods on a stopped "
        "SparkContext.\nThis stopped SparkContext was created at:\n\nsome.where(File.scala:1)",
        "cannot reason: Cannot call methods on a stopped SparkContext.",
        "the session has ended",
    ),
    (
        "An error occurred while calling o7.parquet.\n: org.apache.spark.SparkException: Job aborted.\n\tat a.B.c(D.scala:1)\n"
        "Caused by: java.io.IOException: No space left on device\n\tat java.io.D.e(F.java:2)",
        "cannot reason: Job aborted: No space left on device",
        "the disk is full",
    ),
    ("nothing that anybody knows", "cannot reason: nothing that anybody knows", None),
]


@pytest.mark.parametrize(("said", "message", "hint"), CASES)
def test_a_failure_says_its_cause_and_what_to_do(said: str, message: str, hint: str | None) -> None:
    with pytest.raises(ReasonerError) as caught, plain_failures("reason"):
        raise OfSpark(said)
    first, *rest = str(caught.value).splitlines()
    assert first == message
    assert [line.startswith("hint: ") and str(hint) in line for line in rest] == ([True] if hint else [])
    with pytest.raises(LoadError) as caught_load, plain_failures("reason", LoadError):
        raise OfSpark(said)
    assert str(caught_load.value).splitlines()[0].endswith(message)


@pytest.mark.parametrize("dead", [False, True])
def test_what_fails_after_the_cluster_has_ended_the_session(monkeypatch: pytest.MonkeyPatch, dead: bool) -> None:
    """While a session ends, parts of Spark are gone that it then asks for; and Java itself may have died."""

    def is_stopped() -> bool:
        if dead:
            raise ConnectionRefusedError
        return True

    java = SimpleNamespace(sc=lambda: SimpleNamespace(isStopped=is_stopped))
    spark = SimpleNamespace(SparkContext=SimpleNamespace(_active_spark_context=SimpleNamespace(_jsc=java)))
    monkeypatch.setitem(sys.modules, "pyspark", spark)
    with pytest.raises(ReasonerError, match="all executors died"), plain_failures("reason"):
        raise OfSpark('the return value of "org.apache.spark.SparkContext.dagScheduler()" is null')


@pytest.mark.parametrize("error", [ValueError("a mistake of the program"), LoadError("one of ours")])
def test_other_errors_pass_unchanged(error: Exception) -> None:
    with pytest.raises(type(error)) as caught, plain_failures("reason"):
        raise error
    assert caught.value is error
