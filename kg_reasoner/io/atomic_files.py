"""Atomically written files, and tables of text in them.

A file is written under a temporary name beside its place and moved when it is complete. After an error, the previous file is
unchanged, and no partial file remains.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import stat
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO, BinaryIO, Final, TypeAlias, cast

from kg_reasoner.errors import OutputError
from kg_reasoner.io.packing import packed, packing_suffix
from kg_reasoner.lazy_regex import regular_expression

__all__ = ["Target", "as_cells", "atomic_output", "atomic_text", "is_standard_output", "write_rows"]

Target: TypeAlias = str | os.PathLike[str]
"""The path of a file, compressed if it ends in ``.gz``, ``.zst``, ``.bz2`` or ``.xz``; ``"-"`` is standard output."""

_STANDARD_OUTPUT: Final = ("-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1")
_BREAKS: Final = regular_expression(r"[\t\n\r]")


def is_standard_output(target: Target) -> bool:
    """Return whether a target is standard output: ``"-"``, or a name that the system has for it.

    Under such a name, a file to which the shell redirects the output must not be replaced: others may write to it as well.
    """
    return os.fspath(target) in _STANDARD_OUTPUT


@contextlib.contextmanager
def atomic_output(target: Target) -> Iterator[BinaryIO]:
    """Yield an open binary file that becomes `target` when the block ends without an error.

    Devices and pipes cannot be replaced and are written to as they are; so is standard output.

    Raises:
        OutputError: The file cannot be written. (A reader of standard output that goes away is a BrokenPipeError.)
    """
    if is_standard_output(target):
        standard_output = cast(BinaryIO, getattr(sys.stdout, "buffer", sys.stdout))
        yield standard_output
        standard_output.flush()
        return
    path = Path(os.path.realpath(target))
    found = _status(path, target)
    in_place = found is not None and not stat.S_ISREG(found.st_mode)
    temporary = path if in_place else path.with_name(f".{path.name}.{os.urandom(4).hex()}.tmp")
    file: _File | None = None
    try:
        with _reported(target):
            file = _File(temporary, target, os.O_WRONLY if in_place else os.O_WRONLY | os.O_CREAT | os.O_EXCL)
        buffered = io.BufferedWriter(file, 1 << 18)
        suffix = packing_suffix(path.name)
        if suffix:
            with packed(cast(BinaryIO, buffered), suffix) as content:
                yield content
        else:
            yield cast(BinaryIO, buffered)
        buffered.close()
        if not in_place:
            with _reported(target):
                if found is not None:
                    temporary.chmod(stat.S_IMODE(found.st_mode))
                temporary.replace(path)
    except BaseException:
        if file is not None:
            file.give_up()
        if not in_place:
            with contextlib.suppress(OSError):  # a file that was not created cannot be removed
                temporary.unlink()
        raise


@contextlib.contextmanager
def atomic_text(target: Target) -> Iterator[io.TextIOBase]:
    """Yield an open text file that becomes `target`, in UTF-8 without conversion of line breaks; see `atomic_output`."""
    with atomic_output(target) as file:
        text = io.TextIOWrapper(file, "utf-8", newline="", write_through=False)
        try:
            yield text
            text.flush()
        finally:
            text.detach()


def as_cells(values: Sequence[str], delimiter: str, width: int) -> list[str]:
    """Return the values of a column as they are written in rows of `width` cells: in quotation marks where CSV needs them.

    Raises:
        OutputError: TSV cannot hold a value.
    """
    if delimiter == "\t":
        broken = next((value for value in values if _BREAKS.search(value)), None)
        if broken is not None:
            raise OutputError(f"a TSV file cannot hold the string {broken!r}, which has a tab or a line break: write CSV instead")
        return list(values)
    special = re.compile(f'["\r\n{re.escape(delimiter)}]')
    quoted = ['"' + value.replace('"', '""') + '"' if special.search(value) else value for value in values]
    return quoted if width > 1 else [value or '""' for value in quoted]  # a row of one empty cell is not an empty line


def write_rows(file: IO[str], rows: Iterable[Sequence[str]], delimiter: str = "\t") -> None:
    """Write a table of cells to an open text file: as CSV (RFC 4180) or, with a tab, as TSV without any quotation.

    Raises:
        OutputError: a cell has a tab or a line break, which TSV cannot hold.
    """
    special = re.compile(f'["\r\n{re.escape(delimiter)}]')
    for row in rows:
        if delimiter == "\t":
            line = "\t".join(row)
            if line.count("\t") >= max(len(row), 1) or "\n" in line or "\r" in line:
                cell = next(cell for cell in row if _BREAKS.search(cell))
                raise OutputError(f"a TSV file cannot hold the string {cell!r}, which has a tab or a line break: write CSV instead")
        else:
            cells = ['"' + cell.replace('"', '""') + '"' if special.search(cell) else cell for cell in row]
            line = delimiter.join(cells) if cells != [""] else '""'  # a row of one empty cell is not an empty line
        file.write(f"{line}\n")


def _status(path: Path, target: Target) -> os.stat_result | None:
    """Check that a file can be put at a place, and return the status of the existing file, or None."""
    with _reported(target):
        try:
            found = path.stat()
        except FileNotFoundError:
            if not path.parent.is_dir():
                raise OutputError(f"cannot write {target}: its folder does not exist; create it first") from None
            return None
        if stat.S_ISDIR(found.st_mode):
            raise OutputError(f"cannot write {target}: it is a folder; name a file in it")
        if not os.access(path, os.W_OK):
            raise OutputError(f"cannot write {target}: the file is write-protected; choose another one")
        return found


@contextlib.contextmanager
def _reported(target: Target) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise OutputError(f"cannot write {target}: {error.strerror or error}; the previous content is unchanged") from error


class _File(io.RawIOBase):
    """An output file whose errors are `OutputError`s."""

    def __init__(self, path: Path, target: Target, flags: int) -> None:
        self._target = target
        self._file = open(os.open(path, flags, 0o666), "wb", buffering=0)  # noqa: PTH123, SIM115 (Path.open has no flags)
        self._given_up = False

    def writable(self) -> bool:
        return True

    def write(self, data: object) -> int:
        if self._given_up:
            return len(memoryview(cast(bytes, data)))
        with _reported(self._target):
            return self._file.write(cast(bytes, data))

    def close(self) -> None:
        if not self.closed:
            with _reported(self._target):
                self._file.close()
        super().close()

    def give_up(self) -> None:
        """Close the file, and discard buffered output."""
        self._given_up = True
        self.close()
