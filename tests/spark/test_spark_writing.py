"""What Spark writes is there as a whole or not at all, and reads back as it was."""

from __future__ import annotations

import gzip
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.spark.spark_session import need_spark, session

need_spark()

from kg_reasoner.errors import OutputError, UnknownNameError
from kg_reasoner.spark_backend.io import triple_files
from kg_reasoner.spark_backend.io.reading import read_triples
from kg_reasoner.spark_backend.io.triple_files import write

pytestmark = pytest.mark.long

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

A, P, B, G = (f"<http://example.org/{name}>" for name in "apbg")
ROWS = [(A, P, B, False, None), (A, P, '"x \\"y\\"\\n"@en', True, G), ("_:b", P, '"é . "', True, None)]
NO_RDF = [('"x"', P, A, True, None), (A, "_:p", A, True, None)]


def triples(rows: list[Any] = ROWS) -> DataFrame:
    return session().createDataFrame(rows, "subject string, predicate string, object string, inferred boolean, graph string")


def texts(folder: Path) -> list[str]:
    """The lines of all parts of a folder."""
    parts = sorted(folder.glob("part-*"))
    opened = (gzip.decompress(part.read_bytes()) if part.suffix == ".gz" else part.read_bytes() for part in parts)
    return sorted(line for data in opened for line in data.decode().split("\n") if line)


def test_lines(tmp_path: Path) -> None:
    assert write(triples(ROWS + NO_RDF), tmp_path / "lines", "ntriples") == 3
    assert texts(tmp_path / "lines") == sorted(f"{s} {p} {o} ." for s, p, o, *_ in ROWS)
    write(triples(), tmp_path / "new" / "quads", "nquads", compression="gzip")
    assert texts(tmp_path / "new" / "quads") == sorted(f"{s} {p} {o}{f' {g}' if g else ''} ." for s, p, o, _, g in ROWS)
    again = read_triples(session(), tmp_path / "new", blank_nodes="shared", graphs=True)
    assert sorted(map(tuple, again.collect()), key=str) == sorted(((s, p, o, g) for s, p, o, _, g in ROWS), key=str)


def test_tables_keep_all_columns(tmp_path: Path) -> None:
    assert write(triples(ROWS + NO_RDF), tmp_path / "table") == 5
    again = session().read.parquet(str(tmp_path / "table"))
    assert sorted(map(tuple, again.collect()), key=str) == sorted(ROWS + NO_RDF, key=str)


def test_nothing_to_write_is_written(tmp_path: Path) -> None:
    assert write(triples([]), f"file:{tmp_path}/empty", "ntriples") == 0
    assert read_triples(session(), tmp_path / "empty", format="ntriples").count() == 0


def test_what_is_there_is_replaced_only_if_asked_for(tmp_path: Path) -> None:
    write(triples(ROWS[:1]), tmp_path / "out")
    with pytest.raises(OutputError, match=r"out: it already exists; overwrite it"):
        write(triples(), tmp_path / "out")
    whole = triples().union(session().read.parquet(str(tmp_path / "out")))  # reads what it replaces
    assert write(whole, tmp_path / "out", overwrite=True) == 4
    assert session().read.parquet(str(tmp_path / "out")).count() == 4
    (tmp_path / "file").write_text("precious")
    assert write(triples(), tmp_path / "file", overwrite=True) == 3
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "out"]


def dies(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    os._exit(9)
    yield from batches


def fails(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    raise ZeroDivisionError("in the middle")
    yield from batches


@pytest.mark.parametrize(("worker", "message"), [(dies, "(?s)worker exited.*memory"), (fails, "ZeroDivisionError: in the middle")])
def test_a_job_that_fails_leaves_everything_as_it_was(tmp_path: Path, worker: Any, message: str) -> None:
    write(triples(), tmp_path / "out")
    failing = triples().mapInArrow(worker, triples().schema)
    for target, overwrite in (("out", True), ("new", False)):
        with pytest.raises(OutputError, match=message) as caught:
            write(failing, tmp_path / target, overwrite=overwrite)
        assert str(tmp_path / target) in str(caught.value)
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    assert session().read.parquet(str(tmp_path / "out")).count() == 3


def test_places_where_nothing_can_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(OutputError, match=r"cannot write .*out: .*file"):
        write(triples(), tmp_path / "file" / "out")
    with pytest.raises(UnknownNameError, match="ntriples"):
        write(triples(), tmp_path / "out", "turtle")  # type: ignore[arg-type]


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 64 kB."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", disk], capture_output=True, check=False)
    if mounted.returncode:
        pytest.skip("a small disk can only be mounted by root")
    yield disk
    subprocess.run(["umount", "-l", disk], check=True)


def test_a_full_disk(small_disk: Path) -> None:
    many = (
        session()
        .range(100_000)
        .selectExpr(*(f"concat('<http://example.org/', id * {n}, '>') {c}" for n, c in zip((3, 5, 7), "spo", strict=True)))
    )
    with pytest.raises(OutputError, match="disk is full"):
        write(many.toDF("subject", "predicate", "object"), small_disk / "out", "ntriples")
    assert list(small_disk.iterdir()) == []


def test_as_many_sorted_files_as_their_size_asks_for(tmp_path: Path) -> None:
    """Adaptive execution puts small parts together, up to the size that the session aims at."""
    rows = [(f"<urn:s{number:05}>", f"<urn:p{number % 3}>", f'"{number}"') for number in range(3000)]
    given = session().createDataFrame([*rows, *rows[:50]], "subject string, predicate string, object string").repartition(8)
    parts_of_shuffles = {"spark.sql.shuffle.partitions": "16", "spark.sql.adaptive.enabled": "true"}
    sizes = {
        "spark.sql.adaptive.advisoryPartitionSizeInBytes": "16k",
        "spark.sql.adaptive.coalescePartitions.minPartitionSize": "8k",
    }
    conf, counts = session().conf, []
    for settings in (parts_of_shuffles, parts_of_shuffles | sizes):
        before = {name: conf.get(name) for name in settings}
        folder = tmp_path / f"out{len(counts)}"
        try:
            for name, value in settings.items():
                conf.set(name, value)
            assert write(given, folder, "ntriples", files="auto") == len(rows)
        finally:
            for name, old in before.items():
                conf.set(name, str(old))
        parts = [part.read_text().splitlines() for part in sorted(folder.glob("part-*"))]
        lines = [line for part in parts for line in part]
        assert sorted(lines) == sorted(f"{s} {p} {o} ." for s, p, o in rows)
        assert lines == sorted(lines, key=lambda line: line.split()[1::-1])
        counts.append(sum(map(bool, parts)))
    assert counts[0] < counts[1]


# ---- where Spark's files are not those of this process


def test_which_paths_are_of_this_process(tmp_path: Path) -> None:
    assert triple_files._shared_place(session(), str(tmp_path / "x")) == tmp_path / "x"
    assert triple_files._shared_place(session(), f"file://{tmp_path}/x") == tmp_path / "x"
    for elsewhere in ("hdfs://host/x", "s3://bucket/x", "dbfs:/x", "abfss://box@host/x"):
        assert triple_files._shared_place(session(), elsewhere) is None
    assert list(tmp_path.iterdir()) == []


def test_without_moving(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(triple_files, "_shared_place", lambda spark, target: None)
    out = tmp_path / "out"
    assert write(triples(), out) == 3
    assert (out / "_SUCCESS").exists()
    with pytest.raises(OutputError, match=r"out.*already exists"):
        write(triples(), out)
    assert write(triples(ROWS[:1]), out, overwrite=True) == 1
    with pytest.raises(OutputError):
        write(triples().mapInArrow(fails, triples().schema), out, overwrite=True)
    assert not (out / "_SUCCESS").exists()
