"""Compressed files: what is written can be unpacked by anybody, and what is read is complete."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import sys
from pathlib import Path

import pytest
import zstandard

from kg_reasoner.errors import LoadError, MissingExtraError
from kg_reasoner.io import packing
from kg_reasoner.io.atomic_files import atomic_output
from kg_reasoner.loaders.rdf import packed
from kg_reasoner.loaders.rdf.readers import reader as rdf
from kg_reasoner.storage.terms.dictionary import Dictionary

LINES = b"".join(b"<http://example.org/%d> <http://example.org/p> <http://example.org/%d> .\n" % (n, n * n) for n in range(5000))
UNPACK = {
    ".gz": gzip.decompress,
    ".zst": lambda data: zstandard.ZstdDecompressor().decompressobj().decompress(data),
    ".bz2": bz2.decompress,
    ".xz": lzma.decompress,
}
PACK = {".gz": gzip.compress, ".zst": zstandard.ZstdCompressor().compress, ".bz2": bz2.compress, ".xz": lzma.compress}


def load(path: Path) -> int:
    return sum(len(block.triples) for block in rdf.read(path, dictionary=Dictionary()))


@pytest.mark.parametrize("suffix", PACK)
@pytest.mark.parametrize("step", [1, 7, 4096, len(LINES)])
def test_what_is_written_can_be_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str, step: int) -> None:
    monkeypatch.setattr(packing, "_BLOCK", 40_000)  # shorter than the window, so that blocks refer to several before them
    path = tmp_path / f"x.nt{suffix}"
    data = LINES[: 200 * step] if step < 100 else LINES
    with atomic_output(path) as file:
        for start in range(0, len(data), step):
            file.write(data[start : start + step])
    assert UNPACK[suffix](path.read_bytes()) == data
    if len(data) == len(LINES):
        assert load(path) == 5000


def test_the_content_does_not_depend_on_threads_and_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packing, "_BLOCK", 4096)
    contents = set()
    for threads, step in ((1, 999), (3, 4096), (4, len(LINES))):
        monkeypatch.setattr(packing, "_THREADS", threads)
        with atomic_output(tmp_path / "x.gz") as file:
            for start in range(0, len(LINES), step):
                file.write(memoryview(LINES)[start : start + step])
        contents.add((tmp_path / "x.gz").read_bytes())
    assert len(contents) == 1


def test_nothing_is_a_gzip_file(tmp_path: Path) -> None:
    with atomic_output(tmp_path / "x.gz"):
        pass
    assert gzip.decompress((tmp_path / "x.gz").read_bytes()) == b""


def test_an_error_leaves_no_file_and_no_thread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packing, "_BLOCK", 4096)
    with pytest.raises(KeyError), atomic_output(tmp_path / "x.gz") as file:
        file.write(LINES)
        raise KeyError
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("suffix", PACK)
@pytest.mark.parametrize("block", [100, 5000, 1 << 20])
def test_several_parts_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str, block: int) -> None:
    monkeypatch.setattr(packed.ReadAhead.__init__, "__defaults__", (block,))
    monkeypatch.setattr(packed, "_BLOCK", block)
    path = tmp_path / f"x.nt{suffix}"
    half = LINES.index(b"\n", len(LINES) // 2) + 1
    path.write_bytes(PACK[suffix](LINES[:half]) + PACK[suffix](b"") + PACK[suffix](LINES[half:]) + b"\0" * 5)
    assert load(path) == 5000


@pytest.mark.parametrize("suffix", PACK)
@pytest.mark.parametrize("block", [100, 1 << 20])
@pytest.mark.sample(4)
def test_damage_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str, block: int) -> None:
    monkeypatch.setattr(packed.ReadAhead.__init__, "__defaults__", (block,))
    monkeypatch.setattr(packed, "_BLOCK", block)
    path = tmp_path / f"x.nt{suffix}"
    data = PACK[suffix](LINES)
    for broken, part in (
        (data[:-3], "truncated"),
        (data[: len(data) // 2], "truncated"),
        (data[:-20] + b"\x07" * 20, "damaged|truncated"),
        (data + b"something else", "damaged"),
    ):
        path.write_bytes(broken)
        with pytest.raises(LoadError, match=f"file is (?:{part})"):
            load(path)


@pytest.mark.parametrize("first", [0x50, 0x5E, 0x5F])
def test_frames_of_zstd_without_content(tmp_path: Path, first: int) -> None:
    skipped = bytes([first]) + b"\x2a\x4d\x18\4\0\0\0\0abc"
    half = len(LINES) // 2
    parts = [PACK[".zst"](LINES[:half]), PACK[".zst"](LINES[half:])]
    for data in ([skipped, *parts], [parts[0], skipped, parts[1]], [*parts, skipped], [skipped, skipped, *parts]):
        (tmp_path / "x.nt.zst").write_bytes(b"".join(data))
        assert load(tmp_path / "x.nt.zst") == 5000
    (tmp_path / "x.nt.zst").write_bytes(skipped)
    assert load(tmp_path / "x.nt.zst") == 0


def test_zstd_is_an_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "zstandard", None)
    with pytest.raises(MissingExtraError, match=r"compressed with zstd.*\[zstd\]"):
        rdf.read(io.BytesIO(PACK[".zst"](LINES)), dictionary=Dictionary()).__next__()
    with pytest.raises(MissingExtraError, match=r"compressed with zstd.*\[zstd\]"), atomic_output(tmp_path / "x.nt.zst"):
        pass
    assert list(tmp_path.iterdir()) == []
