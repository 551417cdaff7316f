"""Unpacking of gzip, zstd, bzip2 and xz, beside parsing: a thread unpacks the next block while the one before is read."""

from __future__ import annotations

import io
import zlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, Protocol, cast

from kg_reasoner.data_classes import dataclass
from kg_reasoner.errors import MissingExtraError

if TYPE_CHECKING:
    import bz2
    import lzma
    from concurrent.futures import Future, ThreadPoolExecutor

__all__ = ["PACKED_ENDINGS", "DamagedError", "ReadAhead", "packing_named", "packing_of", "unpacked"]

_BLOCK: Final = 1 << 20


class DamagedError(Exception):
    """Packed data cannot be unpacked."""


class _Unpacker(Protocol):
    """The part of the objects of `zlib`, zstandard, `bz2` and `lzma` that is needed."""

    @property
    def eof(self) -> bool: ...

    @property
    def unused_data(self) -> bytes: ...

    def decompress(self, data: bytes, /) -> bytes: ...


@dataclass(frozen=True)
class _Packing:
    """A way of packing: its name, the ending of its files, how they may begin, its unpacker, and how many bytes it gets at a time.

    They may expand to a thousand times as many, those of zstd to more; of what bzip2 and xz give, a limited part is requested.
    """

    name: str
    ending: str
    magic: tuple[bytes, ...]
    unpacker: Callable[[], tuple[_Unpacker, type[Exception]]]
    step: int


def _gzip() -> tuple[_Unpacker, type[Exception]]:
    return cast(_Unpacker, zlib.decompressobj(31)), zlib.error


def _zstd() -> tuple[_Unpacker, type[Exception]]:
    try:
        import zstandard
    except ImportError:
        raise MissingExtraError("reading files that are compressed with zstd", "zstd") from None
    return cast(_Unpacker, zstandard.ZstdDecompressor().decompressobj()), zstandard.ZstdError


class _InBlocks:
    """An unpacker of `bz2` or `lzma`, which gives a block at a time; the data for the next ones wait in it.

    Args:
        unpacker: The unpacker.
    """

    def __init__(self, unpacker: bz2.BZ2Decompressor | lzma.LZMADecompressor) -> None:
        self._unpacker = unpacker

    @property
    def eof(self) -> bool:
        return self._unpacker.eof

    @property
    def unused_data(self) -> bytes:
        return self._unpacker.unused_data

    @property
    def has_more(self) -> bool:
        """Whether it can go on without further data."""
        return not (self._unpacker.eof or self._unpacker.needs_input)

    def decompress(self, data: bytes, /) -> bytes:
        return self._unpacker.decompress(data, _BLOCK)


def _bzip2() -> tuple[_Unpacker, type[Exception]]:
    import bz2

    return _InBlocks(bz2.BZ2Decompressor()), OSError


def _xz() -> tuple[_Unpacker, type[Exception]]:
    import lzma

    return _InBlocks(lzma.LZMADecompressor()), lzma.LZMAError


_SKIPPABLE: Final = tuple(bytes([first]) + b"\x2a\x4d\x18" for first in range(0x50, 0x60))
"""The beginnings of frames of zstd without content, which some programs write before the others."""

_PACKINGS: Final = (
    _Packing("gzip", ".gz", (b"\x1f\x8b",), _gzip, 1 << 14),
    _Packing("zstd", ".zst", (b"\x28\xb5\x2f\xfd", *_SKIPPABLE), _zstd, 1 << 11),
    _Packing("bzip2", ".bz2", tuple(b"BZh%d" % size for size in range(1, 10)), _bzip2, 1 << 14),
    _Packing("xz", ".xz", (b"\xfd7zX",), _xz, 1 << 14),
)


PACKED_ENDINGS: Final = tuple(packing.ending for packing in _PACKINGS)
"""The endings of compressed files."""


def packing_of(head: bytes) -> _Packing | None:
    """Return how data that begin like this are packed, or None."""
    return next((packing for packing in _PACKINGS if head.startswith(packing.magic)), None)


def packing_named(file_name: str) -> _Packing | None:
    """Return how a file of this name is packed, or None."""
    return next((packing for packing in _PACKINGS if file_name.lower().endswith(packing.ending)), None)


def unpacked(stream: io.BufferedReader[Any], packing: _Packing) -> io.RawIOBase:
    """Return the stream of unpacked data.

    Reading it raises `DamagedError` if the data are damaged or incomplete.

    Raises:
        MissingExtraError: The unpacker is not installed.
    """
    return _Unpacked(stream, packing)


class _Unpacked(io.RawIOBase):
    """The content of packed data, which may have several parts one after the other, and zeros behind them."""

    def __init__(self, stream: io.BufferedReader[Any], packing: _Packing) -> None:
        self._stream = stream
        self._packing = packing
        self._unpacker, self._error = packing.unpacker()
        self._rest = b""
        self._ready = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object) -> int:
        view = memoryview(cast(bytearray, buffer))
        while not self._ready:
            data = self._next()
            if data is None:
                return 0
            self._ready = memoryview(data)
        length = min(len(view), len(self._ready))
        view[:length] = self._ready[:length]
        self._ready = self._ready[length:]
        return length

    def _next(self) -> bytes | None:
        """Return the content of some further bytes, or None at the end."""
        has_more = isinstance(self._unpacker, _InBlocks) and self._unpacker.has_more
        data = self._rest if self._rest or has_more else self._stream.read(self._packing.step)
        self._rest = b""
        try:
            if self._unpacker.eof:
                data = data.lstrip(b"\0")
                if not data:
                    return b"" if self._stream.peek(1) else None
                self._unpacker, _ = self._packing.unpacker()
            elif not data and not has_more:
                raise DamagedError(f"the {self._packing.name} file is truncated")
            found = self._unpacker.decompress(data)
        except self._error as error:
            raise DamagedError(f"the {self._packing.name} file is damaged: {error}") from error
        if self._unpacker.eof:
            self._rest = self._unpacker.unused_data
        return found


class ReadAhead(io.RawIOBase):
    """A stream whose next block is read in a thread, except for the beginning. Close it before what it reads from."""

    def __init__(self, inner: io.RawIOBase, block: int = _BLOCK) -> None:
        self._inner = inner
        self._block = block
        self._begun = 0
        self._executor: ThreadPoolExecutor | None = None
        self._following: Future[bytes] | None = None
        self._ready = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object) -> int:
        view: Any = memoryview(cast(bytearray, buffer))
        if self._begun < self._block:
            read = self._inner.readinto(view) or 0
            self._begun += read
            return read
        if not self._ready:
            if self._executor is None:
                from concurrent.futures import ThreadPoolExecutor

                self._executor = ThreadPoolExecutor(1, "kg_reasoner-unpacking")
            following = self._following or self._executor.submit(self._next)
            self._following = None
            data = following.result()
            if not data:
                return 0
            self._following = self._executor.submit(self._next)
            self._ready = memoryview(data)
        length = min(len(view), len(self._ready))
        view[:length] = self._ready[:length]
        self._ready = self._ready[length:]
        return length

    def _next(self) -> bytes:
        pieces, size = [], 0
        while size < self._block and (piece := self._inner.read(self._block - size)):
            pieces.append(piece)
            size += len(piece)
        return b"".join(pieces)

    def close(self) -> None:
        """Wait for the thread, and end it."""
        if self._executor is not None:
            self._executor.shutdown(wait=True, cancel_futures=True)
        super().close()
