"""The work directory: steps of a run, stored as Parquet, and the list of finished steps.

Writing a step and reading it back keeps Spark's plans small: an iteration does not depend on the plans of earlier ones. A step is
finished when the manifest lists it, which is written after the step's files. A resumed run goes through the same steps in the same
order, and reads finished steps instead of computing them.
"""

from __future__ import annotations

import atexit
import copy
import json
import os
import tempfile
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

from kg_reasoner.errors import OutputError, ReasonerError
from kg_reasoner.spark_backend.io.columns import PARQUET_OPTIONS
from kg_reasoner.spark_backend.io.literal_paths import escaped, local_path

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["StoredStep", "WorkDirectory", "rows_of", "temporary_folder"]

MANIFEST: Final = "manifest"
FINGERPRINT: Final = "fingerprint"


class StoredStep:
    """A finished step: its rows, to be read from the work directory, their number, and the number of values in a counted column."""

    __slots__ = ("count", "location", "rows", "values")

    def __init__(self, rows: DataFrame, count: int, values: int, location: str) -> None:
        self.rows = rows
        self.count = count
        self.values = values
        self.location = location


def rows_of(steps: Sequence[StoredStep]) -> DataFrame:
    """Return the rows of one or more steps with the same columns, in a single scan."""
    if len(steps) == 1:
        return steps[0].rows
    first = steps[0].rows
    return first.sparkSession.read.schema(first.schema).parquet(*(step.location for step in steps))


class WorkDirectory:
    """The steps of a run in a work directory.

    Args:
        spark: The session to write and read with.
        path: A local folder, or any location that Spark can write to; None for a temporary folder, in local mode only.
        resume: Keep the finished steps of an earlier run that began with the same fingerprint.

    Raises:
        ReasonerError: No path is given, and the executors may be on other machines.
    """

    def __init__(self, spark: SparkSession, path: str | os.PathLike[str] | None = None, *, resume: bool = False) -> None:
        self.spark = spark
        self._path = temporary_folder(spark) if path is None else str(path).rstrip("/")
        self._local = local_path(self._path)
        self.resumes = resume
        self._is_clear = False
        self._prefix = ""
        self._finished: dict[str, tuple[int, int]] = {}
        """Steps, the numbers of their rows and of the values that were counted."""

    def begin(self, fingerprint: str, *, start_over: bool = False) -> None:
        """Record what the run computes and its input, before its steps (except those that compute the fingerprint).

        With `start_over`, discard steps of a different run instead of raising an error.

        Raises:
            ReasonerError: A run is to be resumed, and what is there belongs to another program or other triples.
        """
        if self.resumes:
            found = {line["step"]: line for line in self._read_manifest()}
            if FINGERPRINT in found and found[FINGERPRINT]["of"] == fingerprint:
                self._finished.update({name: (line["rows"], line["values"]) for name, line in found.items() if "rows" in line})
                self._is_clear = True
                return
            if FINGERPRINT in found and not start_over:
                raise ReasonerError(
                    f"the run in {self._path} cannot be resumed: it had another program, other triples or another version of "
                    "this package; run without resuming to start over"
                )
        self._append({"step": FINGERPRINT, "of": fingerprint})

    @property
    def finished(self) -> int:
        """The number of finished steps."""
        return len(self._finished)

    def within(self, name: str) -> WorkDirectory:
        """Return the same work directory for a part of the run whose steps have their own names."""
        part = copy.copy(self)
        part._prefix = f"{self._prefix}{name}-"
        return part

    def step(self, name: str, make: Callable[[], DataFrame], counted: str | None = None) -> StoredStep:
        """Return the step with a name: read if it is finished, else computed and stored. The values of one column may be
        counted.

        Raises:
            OutputError: The work directory cannot be written.
        """
        from pyspark.sql import Observation
        from pyspark.sql import functions as F

        name = self._prefix + name
        location = f"{self._path}/{name}.parquet"
        if name in self._finished:
            found = self._to_read(location)
            return StoredStep(self.spark.read.parquet(found), *self._finished[name], found)
        frame, seen = make(), Observation()
        counts = (F.count(F.lit(1)).alias("rows"), F.count(F.lit(None) if counted is None else counted).alias("values"))
        try:
            frame.observe(seen, *counts).write.mode("overwrite").options(compression="zstd", **PARQUET_OPTIONS).parquet(location)
        except Exception as error:
            raise _explained(error, location) from error
        self._finished[name] = rows, values = int(seen.get["rows"]), int(seen.get["values"])
        self._append({"step": name, "rows": rows, "values": values})
        found = self._to_read(location)
        return StoredStep(self.spark.read.schema(frame.schema).parquet(found), rows, values, found)

    def _to_read(self, location: str) -> str:
        """Return where to read what was written to a location: Spark reads patterns, and writes to names."""
        return location if self._local is None else escaped(location)

    # --- the manifest: one line of JSON for each step -----------------------------------------------------------------

    def _read_manifest(self) -> list[dict[str, Any]]:
        if self._local is not None:
            file = self._local / f"{MANIFEST}.jsonl"
            texts = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
        else:
            from pyspark.errors import PySparkException

            try:
                texts = [row.value for row in self.spark.read.text(f"{self._path}/{MANIFEST}").collect()]
            except PySparkException:  # there is none
                texts = []
        return [json.loads(text) for text in texts if text.endswith("}")]

    def _clear_manifest(self) -> None:
        if self._local is not None:
            self._local.mkdir(parents=True, exist_ok=True)
            (self._local / f"{MANIFEST}.jsonl").unlink(missing_ok=True)
        else:
            self.spark.createDataFrame([], "value string").write.mode("overwrite").text(f"{self._path}/{MANIFEST}")

    def _append(self, line: dict[str, Any]) -> None:
        try:
            if not self._is_clear:
                self._clear_manifest()
                self._is_clear = True
            self._write(json.dumps(line))
        except OSError as error:
            raise _cannot_write(self._path, error.strerror or str(error)) from error

    def _write(self, text: str) -> None:
        if self._local is not None:
            with (self._local / f"{MANIFEST}.jsonl").open("a", encoding="utf-8") as file:
                file.write(f"\n{text}")  # so that it does not go on with a line that was cut off
                file.flush()
                os.fsync(file.fileno())
        else:
            self.spark.createDataFrame([(text,)], "value string").coalesce(1).write.mode("append").text(f"{self._path}/{MANIFEST}")


def temporary_folder(spark: SparkSession) -> str:
    """Return a folder that is removed when the process ends.

    Raises:
        ReasonerError: The executors may be on other machines.
    """
    if not str(spark.conf.get("spark.master", "")).startswith("local"):
        raise ReasonerError("on a cluster, say where iterations are kept: work_dir, a location that all executors can write to")
    folder = tempfile.TemporaryDirectory(prefix="kg_reasoner_", ignore_cleanup_errors=True)
    atexit.register(folder.cleanup)
    return folder.name


def _explained(error: Exception, location: str) -> Exception:
    """Return a readable error for a full or forbidden work directory, and any other error unchanged."""
    text = str(error)
    for sign in (
        "No space left",
        "Permission denied",
        "AccessControlException",
        "AccessDenied",
        "Quota",
        "Mkdirs failed",
        "Read-only",
    ):
        if sign in text:
            return _cannot_write(location, sign)
    return error


def _cannot_write(location: str, reason: str) -> OutputError:
    return OutputError(
        f"the work directory cannot be written: {location} ({reason}); make room or name another work_dir, then resume"
    )
