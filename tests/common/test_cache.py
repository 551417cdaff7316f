"""Files kept between processes: only what the user wrote is read, whole or not at all, and nothing is left of failed writing."""

from __future__ import annotations

import errno
import hashlib
import logging
import os
import subprocess
import sys
from pathlib import Path

import pytest

from kg_reasoner import cache
from kg_reasoner.language import parser
from kg_reasoner.language.reading import parser_tables
from kg_reasoner.storage.kernels.kernel_groups import GROUPS
from kg_reasoner.storage.kernels.machine_code import loader

NAME = "kernels-0123.bin"
CONTENT = b"code\nwith\0anything"
WHOLE = hashlib.sha256(CONTENT).hexdigest().encode() + b"\n" + CONTENT

posix = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such permissions")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("KG_REASONER_CACHE", str(tmp_path / "new" / "cache"))
    monkeypatch.setattr(cache, "_logged", set())
    return tmp_path / "new" / "cache"


def files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_what_is_written_is_read(folder: Path) -> None:
    assert cache.read(NAME) is None
    cache.write(NAME, CONTENT)
    assert cache.read(NAME) == CONTENT
    assert files(folder) == [NAME]


@pytest.mark.parametrize("content", [b"", b"\n", b"no digest", WHOLE[:-1], WHOLE + b"!"])
def test_what_is_not_whole_is_not_read(folder: Path, content: bytes) -> None:
    cache.write(NAME, CONTENT)
    (folder / NAME).write_bytes(content)
    assert cache.read(NAME) is None


@posix
@pytest.mark.parametrize("mode", [0o020, 0o002])
@pytest.mark.parametrize("of_folder", [True, False], ids=["folder", "file"])
def test_what_others_can_write_is_not_read(folder: Path, mode: int, of_folder: bool, caplog: pytest.LogCaptureFixture) -> None:
    cache.write(NAME, CONTENT)
    assert folder.stat().st_mode & 0o777 == 0o700
    path = folder if of_folder else folder / NAME
    path.chmod(path.stat().st_mode | mode)
    assert cache.read(NAME) is None
    assert cache.read(NAME) is None
    assert [record.getMessage() for record in caplog.records] == [
        f"what was compiled is not kept: {path} can be written to by others (chmod go-w would change that);"
        " KG_REASONER_CACHE can name a folder of your own"
    ]
    if of_folder:
        cache.write("kernels-4567.bin", CONTENT)
        assert files(folder) == [NAME]


@posix
def test_what_another_user_owns_is_not_read(
    folder: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    cache.write(NAME, CONTENT)
    monkeypatch.setattr(os, "geteuid", lambda: folder.stat().st_uid + 1)
    assert cache.read(NAME) is None
    assert f"{folder} belongs to another user" in caplog.text


@pytest.mark.parametrize(
    "error", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()], ids=["full", "interrupt"]
)
def test_nothing_is_left_of_what_was_not_finished(
    folder: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(Path, "replace", fail)
    if isinstance(error, KeyboardInterrupt):
        with pytest.raises(KeyboardInterrupt):
            cache.write(NAME, CONTENT)
    else:
        cache.write(NAME, CONTENT)
        assert "No space left on device" in caplog.text
    assert files(folder) == []


def test_old_files_go(folder: Path) -> None:
    cache.write(NAME, CONTENT)
    for name, days in (("kernels-old.bin", 31), ("kernels-new.bin", 29), ("kernels-1.bin.a.tmp", 2), ("kernels-2.bin.b.tmp", 0)):
        (folder / name).write_bytes(b"")
        then = (folder / NAME).stat().st_mtime - days * 86400
        os.utime(folder / name, (then, then))
    cache.write(NAME, CONTENT)
    assert files(folder) == [NAME, "kernels-2.bin.b.tmp", "kernels-new.bin"]


@pytest.mark.long
def test_tables_of_the_parser_are_kept_and_built_again_if_they_do_not_fit(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    grammar = Path(parser.__file__).with_name("grammar.lark").read_text(encoding="utf-8")
    text = 'p(?x) :- q(?x, "a"@en), FILTER(?x + 1 < 2) . @rule name r(:x) .'
    tree = parser_tables.lalr_parser(grammar).parse(text)
    (name,) = files(folder)
    with monkeypatch.context() as patch:
        patch.setattr("lark.Lark.__init__", None)  # nothing is built
        assert parser_tables.lalr_parser(grammar).parse(text) == tree
    for content in (b"{}", b'{"data": {}, "memo": {}}', b"[]", b"no JSON"):
        cache.write(name, content)
        assert parser_tables.lalr_parser(grammar).parse(text) == tree
        assert cache.read(name) != content


def test_without_a_home(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    def fail() -> Path:
        raise RuntimeError("Could not determine home directory.")

    for name in ("KG_REASONER_CACHE", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(cache, "_logged", set())
    monkeypatch.setattr(Path, "home", fail)
    assert cache.read(NAME) is None
    cache.write(NAME, CONTENT)
    assert [(record.levelno, record.getMessage().count("home directory")) for record in caplog.records] == [(logging.WARNING, 1)]


def test_names_depend_on_the_group_and_the_processor() -> None:
    keys = [loader._key(group, processor) for group in GROUPS for processor in ("x86-64", "aarch64")]
    assert len(set(keys)) == 2 * len(GROUPS)
    assert loader._key(GROUPS[0], "x86-64") == keys[0]


@pytest.mark.long
def test_kernels_run_where_nothing_can_be_kept(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    code = "from kg_reasoner import Reasoner; print(*Reasoner('p(?x) :- q(?x) . q(1) .').facts('p'))"
    environment = {**os.environ, "KG_REASONER_CACHE": str(tmp_path / "file" / "folder"), "KG_REASONER_KERNELS": ""}
    run = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert "lexical='1'" in run.stdout
    assert run.stderr.count("what was compiled is not kept") == 1
