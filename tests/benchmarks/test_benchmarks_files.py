"""The benchmark of reading and writing files in small: each way is measured. Never how fast."""

from __future__ import annotations

from functools import partial
from itertools import islice
from pathlib import Path

import pytest

from benchmarks import parallel_files
from benchmarks.files import PACKINGS, PARQUET, SYNTAXES, materialising, reading, write_documents, writing
from kg_reasoner.lubm import generate


@pytest.mark.long
def test_each_way_is_measured(tmp_path: Path) -> None:
    data = b"".join(islice(generate(1), 1))[:20_000].rpartition(b"\n")[0] + b"\n"
    count = write_documents(tmp_path, data)
    assert count == data.count(b"\n")
    for speeds, names in (
        (list(reading(tmp_path, count, runs=1)), (*SYNTAXES, *PACKINGS)),
        (list(writing(tmp_path, count, runs=1)), (*SYNTAXES, *PACKINGS, PARQUET)),
    ):
        assert tuple(speed.syntax for speed in speeds) == names
        assert all(speed.ours > 0 and (speed.pyoxigraph > 0) == (speed.syntax in SYNTAXES) for speed in speeds)
    parts = materialising(tmp_path / "data.nt", tmp_path, "nt", runs=1)
    assert list(parts) == ["start", "load", "reason", "write"] and all(seconds > 0 for seconds in parts.values())
    assert (tmp_path / "materialised.nt").read_bytes().count(b"\n") >= len(set(data.splitlines()))


def test_threads_give_the_same_results(tmp_path: Path) -> None:
    source = tmp_path / "data.nt"
    source.write_bytes(b"".join(islice(generate(1), 1))[:20_000].rpartition(b"\n")[0] + b"\n")
    runs = [parallel_files.measured(partial(parallel_files.loading, source, threads)) for threads in (1, 2)]
    assert runs[0].digest == runs[1].digest
    assert all(run.critical > 0 for run in runs)
