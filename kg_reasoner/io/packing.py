"""Compressed files: those of gzip and zstd are compressed in blocks by threads, while the next ones are made.

The content depends on the data only, not on the number of threads or on the sizes of the pieces that are written.
"""

from __future__ import annotations

import io
import os
import struct
import zlib
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, BinaryIO, Final, cast

from kg_reasoner.errors import MissingExtraError

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

__all__ = ["packed", "packing_suffix"]

_BLOCK: Final = 1 << 19
_WINDOW: Final = 1 << 15
_LEVEL: Final = 6
_HEADER: Final = b"\x1f\x8b\x08\0\0\0\0\0\0\xff"
"""Of a gzip file without name and time."""
_THREADS: Final = 4


def packing_suffix(name: str) -> str:
    """Return the ending of a file name that asks for compression, or nothing."""
    return next((suffix for suffix in _PACKERS if name.lower().endswith(suffix)), "")


@contextmanager
def packed(file: BinaryIO, suffix: str) -> Iterator[BinaryIO]:
    """Yield a stream whose content is written to an open file in compressed form; after an error, the file is incomplete.

    Raises:
        MissingExtraError: The compressor is not installed.
    """
    stream = _PACKERS[suffix](file)
    try:
        yield stream
        stream.close()
    finally:
        if isinstance(stream, _Gzip):
            stream.give_up()


def _zstd(file: BinaryIO) -> BinaryIO:
    try:
        import zstandard
    except ImportError:
        raise MissingExtraError("writing files that are compressed with zstd", "zstd") from None
    return cast(BinaryIO, zstandard.ZstdCompressor(threads=-1).stream_writer(file, closefd=False))


def _bzip2(file: BinaryIO) -> BinaryIO:
    import bz2

    return cast(BinaryIO, bz2.BZ2File(file, "wb"))


def _xz(file: BinaryIO) -> BinaryIO:
    import lzma

    return cast(BinaryIO, lzma.LZMAFile(file, "wb"))


def _deflated(block: bytes, before: bytes) -> bytes:
    """Return a block in compressed form that ends at a byte, and may refer to the bytes before it."""
    if before:
        packer = zlib.compressobj(_LEVEL, zlib.DEFLATED, -15, zdict=before)
    else:
        packer = zlib.compressobj(_LEVEL, zlib.DEFLATED, -15)
    return packer.compress(block) + packer.flush(zlib.Z_SYNC_FLUSH)


class _Gzip(io.RawIOBase):
    """A gzip file with one member, of blocks that are compressed each by itself."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._block = bytearray()
        self._before = b""
        self._checksum = 0
        self._size = 0
        self._executor: ThreadPoolExecutor | None = None
        self._waiting: deque[Future[bytes]] = deque()
        self._threads = min(_THREADS, os.cpu_count() or 1)
        file.write(_HEADER)

    def writable(self) -> bool:
        return True

    def write(self, data: object) -> int:
        view = memoryview(cast(bytes, data)).cast("B")
        for start in range(0, len(view), _BLOCK):
            self._block += view[start : start + _BLOCK]
            if len(self._block) >= _BLOCK:
                self._pack(bytes(self._block[:_BLOCK]))
                del self._block[:_BLOCK]
        return len(view)

    def _pack(self, block: bytes) -> None:
        if self._executor is None:
            from concurrent.futures import ThreadPoolExecutor

            self._executor = ThreadPoolExecutor(self._threads, "kg_reasoner-packing")
        self._waiting.append(self._executor.submit(_deflated, block, self._before))
        self._count(block)
        while len(self._waiting) > 2 * self._threads:
            self._file.write(self._waiting.popleft().result())

    def _count(self, block: bytes) -> None:
        self._before = block[-_WINDOW:]
        self._checksum = zlib.crc32(block, self._checksum)
        self._size += len(block)

    def close(self) -> None:
        """Write the rest; the file itself stays open."""
        if self.closed:
            return
        super().close()
        while self._waiting:
            self._file.write(self._waiting.popleft().result())
        block = bytes(self._block)
        self._file.write(_deflated(block, self._before))
        self._count(block)
        self._file.write(zlib.compressobj(_LEVEL, zlib.DEFLATED, -15).flush())
        self._file.write(struct.pack("<II", self._checksum, self._size & 0xFFFFFFFF))

    def give_up(self) -> None:
        """End the threads; nothing more is written."""
        super().close()
        if self._executor is not None:
            self._executor.shutdown(wait=True, cancel_futures=True)


_PACKERS: Final[Mapping[str, Callable[[BinaryIO], BinaryIO]]] = {
    ".gz": cast(Callable[[BinaryIO], BinaryIO], _Gzip),
    ".zst": _zstd,
    ".bz2": _bzip2,
    ".xz": _xz,
}
