"""What breaks on the way to a result, an input, a disk, a worker: a clear error, and no result that only looks whole."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.spark.spark_session import need_spark, session

need_spark()

from kg_reasoner import rulesets
from kg_reasoner.errors import LoadError, OutputError, ReasonerError
from kg_reasoner.spark_backend import SparkReasoner
from kg_reasoner.spark_backend.io import input_documents
from kg_reasoner.spark_backend.io.reading import read_triples
from kg_reasoner.spark_backend.io.triple_files import write
from kg_reasoner.spark_backend.io.workspace import WorkDirectory
from kg_reasoner.spark_backend.run_progress import Progress, Report
from kg_reasoner.terms import term_text
from tests.spark.spark_cases import Flagged, flagged, frame, in_process
from tests.spark.spark_cluster import dying_parser
from tests.spark.spark_killed import chain

pytestmark = pytest.mark.long

OWL2RL = rulesets.load("owl2rl").program


def as_lines(odd: bool = False) -> str:
    """The chain as N-Triples; odd lines take a parser, in a Python worker."""
    blank = "\t" if odd else " "
    return "".join(f"{blank.join(map(term_text, triple))} .\n" for triple in chain())


def reasoner_over(paths: Any, *, resume: bool = False, progress: Progress | None = None, **options: Any) -> SparkReasoner:
    """A reasoner over files, whose iterations are kept beside the first."""
    work = Path(paths).parent / "work"
    return SparkReasoner(
        session(), OWL2RL, read_triples(session(), paths, **options), work_dir=work, resume=resume, progress=progress
    )


def written(folder: Path) -> Flagged:
    """What an output says."""
    return flagged(session().read.parquet(str(folder)))


@pytest.fixture(scope="module")
def expected() -> Flagged:
    """What follows from the chain."""
    return in_process(chain(), ruleset="owl2rl")


def one_clear_error(error: BaseException) -> None:
    """No stack trace, and a few lines at the most."""
    assert "\tat " not in str(error)
    assert len(str(error).splitlines()) <= 4, error


# ---------------------------------------------------------------------------------------------------------------------- inputs


def damaged_gzip(content: bytes) -> bytes:
    """Whole, but for its checksum."""
    packed = bytearray(gzip.compress(content))
    packed[-6] ^= 0xFF
    return bytes(packed)


@pytest.mark.parametrize("policy", ["raise", "skip"])
@pytest.mark.parametrize(
    ("content", "message"),
    [(lambda data: gzip.compress(data)[:-20], "file is truncated"), (damaged_gzip, "file is damaged")],
    ids=["truncated", "damaged"],
)
def test_a_packed_file_that_is_not_whole(tmp_path: Path, policy: str, content: Callable[[bytes], bytes], message: str) -> None:
    """Not even a policy that passes over bad lines passes over a file that ends too early, beside others that are whole."""
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "whole.nt").write_text(as_lines())
    (folder / "bad.nt.gz").write_bytes(content(as_lines().encode() * 500))
    with pytest.raises(LoadError, match=message) as caught:
        reasoner_over(folder, bad_lines=policy).triples()
    assert "bad.nt.gz" in str(caught.value)
    one_clear_error(caught.value)


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """The chain as one file of Parquet, without the checksums that Spark keeps beside it."""
    frame(chain()).coalesce(1).write.parquet(str(tmp_path / "whole"))
    file = tmp_path / "table.parquet"
    shutil.copy(next((tmp_path / "whole").glob("part-*")), file)
    return file


def overwritten(data: bytes) -> bytes:
    """With noughts for all data, between the first four bytes and what is said of it at the end."""
    end = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    return data[:4] + bytes(end - 4) + data[end:]


@pytest.mark.parametrize("policy", ["raise", "skip"])
@pytest.mark.parametrize("damage", [lambda data: data[: len(data) // 2], overwritten], ids=["truncated", "overwritten"])
def test_a_table_that_is_corrupt(tmp_path: Path, table: Path, policy: str, damage: Callable[[bytes], bytes]) -> None:
    table.write_bytes(damage(table.read_bytes()))
    with pytest.raises(LoadError, match=r"table\.parquet") as caught:
        reasoner_over(table, bad_lines=policy).triples()
    one_clear_error(caught.value)


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may read every file")
def test_a_file_without_permission(tmp_path: Path) -> None:
    file = tmp_path / "data.nt"
    file.write_text(as_lines())
    file.chmod(0)
    with pytest.raises(LoadError, match=r"(?s)data\.nt.*change its permissions") as caught:
        reasoner_over(file)
    one_clear_error(caught.value)


BAD = "nonsense .\n"


@pytest.mark.parametrize("odd", [False, True], ids=["plain", "odd"])
@pytest.mark.parametrize("place", [0, 1], ids=["instead", "more"])
def test_a_file_that_changes_after_it_was_checked(tmp_path: Path, odd: bool, place: int) -> None:
    """A bad line has come since. The reasoner is there already, but has not looked at the data yet."""
    file = tmp_path / "data.nt"
    file.write_text(as_lines(odd))
    reasoner = reasoner_over(file)
    file.write_text(as_lines(odd) * place + BAD)
    with pytest.raises(ReasonerError, match="the input has changed since it was checked; it now has the line: nonsense") as caught:
        write(reasoner.triples(), tmp_path / "out")
    one_clear_error(caught.value)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("odd", [False, True], ids=["plain", "odd"])
def test_a_folder_that_vanishes_after_it_was_checked(tmp_path: Path, odd: bool) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "a.nt").write_text(as_lines(odd))
    reasoner = reasoner_over(folder)
    shutil.rmtree(folder)
    with pytest.raises(ReasonerError, match=r"data/a\.nt") as caught:
        write(reasoner.triples(), tmp_path / "out")
    one_clear_error(caught.value)
    assert not (tmp_path / "out").exists()


# ----------------------------------------------------------------------------------------------------------------------- disks


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 2 MB."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(place)]
    if shutil.which("mount") is None or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("a small disk can only be mounted by root, and not in every container")
    yield place
    subprocess.run(["umount", "-l", place], check=True)


def fill(place: Path) -> None:
    """Leave no room on a disk."""
    with (place / "filler").open("wb", buffering=0) as filler:
        for size in (1 << 16, 1):
            try:
                while filler.write(bytes(size)):
                    pass
            except OSError:
                continue


def make_room(place: Path) -> None:
    (place / "filler").unlink()


@pytest.mark.usefixtures("by_iterations")
def test_a_full_work_directory(disk: Path, expected: Flagged) -> None:
    """The disk is full in the middle of a run; when there is room again, that goes on."""
    work = disk / "work"

    def progress(report: Report) -> None:
        if report.iteration == 2:
            fill(disk)

    with pytest.raises(OutputError, match=r"work directory cannot be written.*make room or name another work_dir") as caught:
        SparkReasoner(session(), OWL2RL, frame(chain()), work_dir=work, progress=progress).triples()
    assert str(work) in str(caught.value)
    one_clear_error(caught.value)
    make_room(disk)
    finished = {file: file.stat().st_mtime_ns for file in work.glob("*-[12]-triples.parquet/_SUCCESS")}
    assert len(finished) == 2
    resumed = SparkReasoner(session(), OWL2RL, frame(chain()), work_dir=work, resume=True)
    assert flagged(resumed.triples()) == expected
    assert {file: file.stat().st_mtime_ns for file in finished} == finished


def test_a_work_directory_that_is_full_from_the_start(disk: Path) -> None:
    fill(disk)
    with pytest.raises(OutputError, match=r"work directory cannot be written.*make room or name another work_dir") as caught:
        SparkReasoner(session(), OWL2RL, frame(chain()), work_dir=disk / "work").triples()
    assert str(disk / "work") in str(caught.value)
    one_clear_error(caught.value)


def test_a_full_output(tmp_path: Path, disk: Path, expected: Flagged) -> None:
    reasoner = SparkReasoner(session(), OWL2RL, frame(chain()), work_dir=tmp_path / "work")
    fill(disk)
    with pytest.raises(OutputError, match=r"(?s)the disk is full: free some space, or name another folder") as caught:
        write(reasoner.triples(), disk / "out")
    assert str(disk / "out") in str(caught.value)
    one_clear_error(caught.value)
    assert [path.name for path in disk.iterdir()] == ["filler"]
    make_room(disk)
    resumed = SparkReasoner(session(), OWL2RL, frame(chain()), work_dir=tmp_path / "work", resume=True)
    write(resumed.triples(), disk / "out")
    assert written(disk / "out") == expected


@pytest.mark.parametrize("kept", [0, 10, -1])
def test_a_line_of_the_manifest_that_was_cut_off(tmp_path: Path, kept: int) -> None:
    """A full disk or a dead driver may leave a part of a line. That step is not finished, and the next line begins anew."""

    def workspace() -> WorkDirectory:
        found = WorkDirectory(session(), tmp_path, resume=True)
        found.begin("fingerprint")
        return found

    for name in ("one", "two"):
        workspace().step(name, lambda: session().range(3))
    manifest = tmp_path / "manifest.jsonl"
    whole = manifest.read_text().splitlines(keepends=True)
    manifest.write_text("".join(whole[:-1]) + whole[-1][:kept])
    again = workspace()
    assert again.finished == 1
    for name in ("two", "three"):
        assert again.step(name, lambda: session().range(3)).count == 3
    assert workspace().finished == 3


# --------------------------------------------------------------------------------------------------------------------- workers


def test_a_worker_that_dies_while_it_checks_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, expected: Flagged) -> None:
    """In local mode, Spark does not try again."""
    (tmp_path / "data.nt").write_text(as_lines(odd=True))
    monkeypatch.setattr(input_documents, "terms_of_lines", dying_parser(tmp_path / "died", while_checking=True))
    with pytest.raises(LoadError, match=r"(?s)a Python worker died.*memory") as caught:
        reasoner_over(tmp_path / "data.nt")
    one_clear_error(caught.value)
    write(reasoner_over(tmp_path / "data.nt").triples(), tmp_path / "out")
    assert written(tmp_path / "out") == expected


def test_a_worker_that_dies_while_it_parses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, expected: Flagged) -> None:
    (tmp_path / "data.nt").write_text(as_lines(odd=True))
    monkeypatch.setattr(input_documents, "terms_of_lines", dying_parser(tmp_path / "died", while_checking=False))
    with pytest.raises(ReasonerError, match=r"(?s)a Python worker died.*memory") as caught:
        write(reasoner_over(tmp_path / "data.nt").triples(), tmp_path / "out")
    one_clear_error(caught.value)
    assert not (tmp_path / "out").exists()
    write(reasoner_over(tmp_path / "data.nt", resume=True).triples(), tmp_path / "out")
    assert written(tmp_path / "out") == expected


def on_a_cluster(folder: Path, killed: str) -> dict[str, Any]:
    """What `tests.spark.spark_cluster` says of a run."""
    (folder / "data.nt").write_text(as_lines(odd=True))
    command, root = [sys.executable, "-m", "tests.spark.spark_cluster", str(folder), killed], Path(__file__).parents[2]
    done = subprocess.run(command, cwd=root, start_new_session=True, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    said: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    assert said["died"]  # the Python worker, and Spark tried again
    return said


def test_an_executor_that_dies_in_the_middle_of_a_run(tmp_path: Path, expected: Flagged) -> None:
    """The run goes on with the other one and a new one, and no step says that it has more or fewer rows than it has."""
    said = on_a_cluster(tmp_path, "one")
    assert said["refused"] is None
    assert len(said["killed"]) == 1
    assert len(said["executors"]) == 2
    assert not set(said["killed"]) & set(said["executors"])
    assert written(tmp_path / "out") == expected
    lines_of_manifest = [json.loads(line) for line in (tmp_path / "work" / "manifest.jsonl").read_text().split("\n") if line]
    steps = {line["step"]: line["rows"] for line in lines_of_manifest if "rows" in line}
    assert {name: session().read.parquet(f"{tmp_path}/work/{name}.parquet").count() for name in steps} == steps


def test_a_cluster_that_gives_up(tmp_path: Path, expected: Flagged) -> None:
    """All executors die; what they have finished is not lost, and not confused with what the driver finds in process after that."""
    said = on_a_cluster(tmp_path, "all")
    assert len(said["killed"]) == 1
    assert said["executors"] == []
    assert "all executors died" in said["refused"]
    assert len(said["refused"].splitlines()) <= 2
    assert not (tmp_path / "out").exists()
    reports: list[Report] = []
    resumed = reasoner_over(tmp_path / "data.nt", resume=True, progress=reports.append)
    write(resumed.triples(), tmp_path / "out")
    assert written(tmp_path / "out") == expected
