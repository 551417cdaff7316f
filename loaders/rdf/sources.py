"""Sources: paths, folders, standard input, open files and bytes become `Document`s; packed ones are unpacked."""

from __future__ import annotations

import codecs
import io
import os
import re
import sys
import zlib
from collections.abc import Callable, Iterator
from dataclasses import field
from pathlib import Path
from typing import BinaryIO, Final, Protocol, cast

from kg_reasoner.data_classes import dataclass
from kg_reasoner.errors import LoadError, Span
from kg_reasoner.lazy_regex import regular_expression
from kg_reasoner.loaders.rdf.bounds import DEFAULT_BOUNDS, DocumentBounds, hint_for
from kg_reasoner.loaders.rdf.formats import (
    OWL_XML,
    RDF_XML,
    Format,
    format_of_name,
    has_known_extension,
)
from kg_reasoner.loaders.rdf.packed import DamagedError, ReadAhead, packing_of, unpacked
from kg_reasoner.loaders.rdf.sniff import HEAD_SIZE, other_than, refuse_binary, sniff

__all__ = ["Document", "OpenDocument", "ReadableStream", "document_of", "documents_under"]

_MAGIC: Final = 4
_BOM: Final = b"\xef\xbb\xbf"
_UTF_16: Final = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_RAW_BUFFER: Final = 1 << 18
_ADDRESS: Final = regular_expression(r"(?:https?|ftp):/", re.IGNORECASE)
_RDF_TEXT: Final = regular_expression(r"[\n<{]|@prefix\b")


class ReadableStream(Protocol):
    """An object with a `read` method that returns bytes or text."""

    def read(self, size: int = -1, /) -> bytes | str: ...


@dataclass(frozen=True)
class Document:
    """An RDF document: its name in messages, its format if known, and how to open its stored bytes.

    `size` is the number of stored bytes (of the compressed file), or None. `reopens` says whether it can be opened again.
    `bounds` are those of the document.
    """

    name: str
    size: int | None
    raw: Callable[[], io.RawIOBase] = field(repr=False)
    reopens: bool
    format: Format | None = None
    bounds: DocumentBounds = DEFAULT_BOUNDS

    def open(self) -> OpenDocument:
        """Open the document at its beginning.

        Raises:
            LoadError: The document cannot be opened, or its format cannot be determined.
        """
        return OpenDocument(self)

    def error(
        self,
        message: str,
        line: int | None = None,
        column: int = 1,
        end_column: int | None = None,
        hint: str | None = None,
        text: str | None = None,
    ) -> LoadError:
        """Return an error at a place in this document. Lines and columns count from 1.

        The line is shown: `text` or, without it, what the document has there if it can be read again.
        """
        if line is None:
            return LoadError(f"{self.name}: {message}", hint=hint)
        if text is None:
            text = self._line(line)
        if text is None:
            return LoadError(f"{self.name}, line {line}: {message}", hint=hint)
        text = text[:HEAD_SIZE]
        if column > len(text) + 1:  # beyond what is kept of a very long line
            return LoadError(f"{self.name}, line {line}, column {column}: {message}", hint=hint)
        return LoadError(message, Span(self.name, line, column, end_column or len(text) + 1, text), hint)

    def _line(self, number: int) -> str | None:
        """Return the text of a line, if the document can be read a second time."""
        if not self.reopens:
            return None
        try:
            with self.open() as again:
                while number > 1 and (piece := again.stream.readline(HEAD_SIZE)):
                    number -= piece.endswith(b"\n")
                found = again.stream.readline(HEAD_SIZE)
        except LoadError:
            return None
        return None if not found or b"\0" in found else found.decode("utf-8", "replace").rstrip("\r\n")


class OpenDocument:
    """An open document. `head` is its beginning, `stream` its whole content from the start, decompressed, without a BOM, and `size`
    the number of its stored bytes if it is not compressed and they are known.
    """

    def __init__(self, document: Document) -> None:
        self.document = document
        self._ahead: ReadAhead | None = None
        try:
            self._raw = _Raw(document.raw())
        except OSError as error:
            raise LoadError(f"cannot read {document.name}: {_reason(error)}") from error
        try:
            stored = io.BufferedReader(self._raw, _RAW_BUFFER)
            content: io.RawIOBase = stored  # type: ignore[assignment]
            packing = packing_of(stored.peek(_MAGIC)[:_MAGIC])
            self.size = document.size if packing is None else None
            if packing is not None:
                content = unpacked(stored, packing)
                if document.size is not None:  # a pipe may keep a thread waiting
                    content = self._ahead = ReadAhead(content)
            guarded = _Guarded(content, document, None if packing is None else self._raw)
            self.head = guarded.look(HEAD_SIZE)
            if self.head.startswith(_UTF_16) and not self._is_xml():  # parsers of XML know encodings
                guarded = _Guarded(_FromUtf16(guarded), document, None)
                self.head = guarded.look(HEAD_SIZE)
            self.stream = cast(BinaryIO, io.BufferedReader(guarded, _RAW_BUFFER))
            if self.head.startswith(_BOM):
                self.stream.read(len(_BOM))
                self.head = self.head[len(_BOM) :]
        except OSError as error:
            self._raw.close()
            raise LoadError(f"cannot read {document.name}: {_reason(error)}") from error
        except BaseException:
            self._raw.close()
            raise

    def _is_xml(self) -> bool:
        try:
            return (self.document.format or sniff(self.head, self.document.name)) in (RDF_XML, OWL_XML)
        except LoadError:
            return False

    def format(self) -> Format | None:
        """Return the document's declared format, or the one detected from its content; None for an empty document.

        Raises:
            LoadError: The content is not RDF or in an unknown syntax.
        """
        if not self.head or self.head.isspace():
            return None
        refuse_binary(self.head, self.document.name)
        return self.document.format or sniff(self.head, self.document.name)

    def other_format(self) -> Format | None:
        """Return the format detected from the content, if it contradicts the declared one."""
        declared = self.document.format
        return None if declared is None else other_than(declared, self.head)

    def position(self) -> int:
        """Return the number of stored bytes read so far."""
        return self._raw.count

    def __enter__(self) -> OpenDocument:
        return self

    def __exit__(self, *_: object) -> None:
        if self._ahead is not None:
            self._ahead.close()
        self._raw.close()


class _Raw(io.RawIOBase):
    """A stream that counts the bytes read, and buffers those received beyond a request."""

    def __init__(self, inner: io.RawIOBase) -> None:
        self._inner = inner
        self._reads_into = isinstance(inner, io.FileIO | io.BytesIO)
        self._rest = b""
        self.count = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object) -> int:
        view = memoryview(cast(bytearray, buffer))
        if self._reads_into and not self._rest:
            read = self._inner.readinto(view) or 0
            self.count += read
            return read
        data = self._rest or self._inner.read(len(view)) or b""
        data, self._rest = data[: len(view)], data[len(view) :]
        view[: len(data)] = data
        self.count += len(data)
        return len(data)

    def close(self) -> None:
        if not self.closed:
            self._inner.close()
        super().close()


class _Guarded(io.RawIOBase):
    """A stream that turns errors of reading and unpacking into `LoadError`, and allows access to its beginning first."""

    def __init__(self, inner: io.RawIOBase, document: Document, packed: _Raw | None) -> None:
        self._inner = inner
        self._document = document
        self._packed = packed
        self._unpacked = 0
        self._head = b""

    def look(self, size: int) -> bytes:
        pieces = []
        while size > 0 and (piece := self._read(size)):
            pieces.append(piece)
            size -= len(piece)
        self._head = b"".join(pieces)
        return self._head

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object) -> int:
        view = memoryview(cast(bytearray, buffer))
        if self._head:
            data, self._head = self._head[: len(view)], self._head[len(view) :]
            view[: len(data)] = data
            return len(data)
        return self._read_into(view)

    def _read(self, size: int) -> bytes:
        data = bytearray(size)
        return bytes(data[: self._read_into(memoryview(data))])

    def _read_into(self, view: memoryview) -> int:
        try:
            read = self._inner.readinto(view) or 0
        except DamagedError as error:
            raise LoadError(f"cannot read {self._document.name}: {error}", hint="fetch or compress it again") from error
        except OSError as error:
            raise LoadError(f"cannot read {self._document.name}: {_reason(error)}") from error
        if self._packed is not None:
            self._check_size(read, self._packed.count)
        return read

    def _check_size(self, more: int, packed: int) -> None:
        self._unpacked += more
        bounds = self._document.bounds
        if self._unpacked > bounds.unpacked:
            message = f"it unpacks to more than {bounds.unpacked} bytes"
            raise LoadError(f"cannot read {self._document.name}: {message}", hint=hint_for("unpacked"))
        if self._unpacked > bounds.expanded(packed):
            message = f"it unpacks to more than {bounds.expansion} times its size"
            raise LoadError(f"cannot read {self._document.name}: {message}", hint=hint_for("expansion"))


class _FromUtf16(io.RawIOBase):
    """A stream of UTF-16 as UTF-8. What is not UTF-16 becomes bytes that are not UTF-8, as its reader will say."""

    def __init__(self, inner: io.RawIOBase) -> None:
        self._inner = inner
        self._decode = codecs.getincrementaldecoder("utf-16")("surrogatepass").decode
        self._rest = b""
        self._ended = False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object) -> int:
        view = memoryview(cast(bytearray, buffer))
        while not self._rest and not self._ended:
            data = self._inner.read(max(2, len(view) // 2)) or b""
            self._ended = not data
            try:
                self._rest = self._decode(data, self._ended).encode("utf-8", "surrogatepass")
            except UnicodeDecodeError:
                self._rest, self._ended = b"\xff", True
        data, self._rest = self._rest[: len(view)], self._rest[len(view) :]
        view[: len(data)] = data
        return len(data)


def _stream_errors() -> tuple[type[Exception], ...]:
    """Return the errors of streams that are truncated, damaged, closed, or text in another encoding, besides OSError."""
    import lzma

    return EOFError, ValueError, zlib.error, lzma.LZMAError


class _Encoded(io.RawIOBase):
    """The bytes of an object with a `read` method that returns bytes or text; closing this stream does not close the object."""

    def __init__(self, inner: ReadableStream) -> None:
        self._inner = inner

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        try:
            data = self._inner.read(size)
        except _stream_errors() as error:
            raise OSError(str(error)) from error
        return data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data  # no UTF-8, as its reader will say


def document_of(source: object, format: Format | None, bounds: DocumentBounds = DEFAULT_BOUNDS) -> Document | None:
    """Return the document for a file's path, ``"-"`` (standard input), bytes or an open file; None for other objects.

    Raises:
        LoadError: The file does not exist, or reading it is not permitted.
    """
    if isinstance(source, bytes | bytearray | memoryview):
        data = bytes(source)
        return Document("<bytes>", len(data), lambda: cast(io.RawIOBase, io.BytesIO(data)), True, format, bounds)
    if isinstance(source, str) and source == "-":
        standard_input = getattr(sys.stdin, "buffer", sys.stdin)
        return Document("<stdin>", None, lambda: _Encoded(standard_input), False, format, bounds)
    if isinstance(source, str | os.PathLike):
        return _file(os.fspath(cast(str, source)), format, bounds)
    if hasattr(source, "read"):
        stream = cast(ReadableStream, getattr(source, "buffer", source))
        name = getattr(source, "name", None)
        name = name if isinstance(name, str) and name else "<stream>"
        return Document(name, None, lambda: _Encoded(stream), False, format or format_of_name(name), bounds)
    return None


def documents_under(folder: Path, format: Format | None, bounds: DocumentBounds = DEFAULT_BOUNDS) -> Iterator[Document]:
    """Return the RDF documents in a folder and its subfolders, ordered by path.

    Only names with an extension of an RDF syntax count (that of a compressed file may follow); names that begin with a dot are
    passed over. A given format is taken for the format of all of them.

    Raises:
        LoadError: The folder has none, or reading a folder is not permitted.
    """

    def refuse(error: OSError) -> None:
        raise LoadError(f"cannot read the folder {error.filename}: {_reason(error)}") from error

    found: list[Path] = []
    for parent, folders, files in os.walk(folder, onerror=refuse):
        folders[:] = [name for name in folders if not name.startswith(".")]
        found += [Path(parent, name) for name in files if not name.startswith(".") and has_known_extension(name)]
    if not found:
        raise LoadError(
            f"no RDF file in the folder {folder}",
            hint="names must end in .nt, .nq, .ttl, .trig, .rdf, .owl ..., .gz, .zst, .bz2 or .xz may follow",
        )
    return (_file(path, format, bounds) for path in sorted(found))


def _file(given: str | Path, format: Format | None, bounds: DocumentBounds) -> Document:
    """Return the document for a file; messages show its name as given (a Path makes ``http:/`` of ``http://``)."""
    path = Path(given)
    try:
        size: int | None = path.stat().st_size
        if not path.is_file():
            size = None  # a pipe, for example
        elif not os.access(path, os.R_OK):
            raise LoadError(f"cannot read {given}: permission denied")
    except FileNotFoundError:
        raise LoadError(f"{given} does not exist", hint=_instead(str(given))) from None
    except (OSError, ValueError) as error:
        raise LoadError(f"cannot read {given}: {_reason(error)}") from error
    return Document(
        str(path), size, lambda: path.open("rb", buffering=0), size is not None, format or format_of_name(path.name), bounds
    )


def _instead(given: str) -> str | None:
    """Return a hint at the likely meaning of an argument that is not a file."""
    if _ADDRESS.match(given):
        return "nothing is fetched from the web: download the document, and name the file"
    if given.lower().startswith("file:/"):
        return "give the path of the file, not its address"
    if _RDF_TEXT.search(given):
        return "RDF text is read from bytes: pass text.encode()"
    return _nearby(Path(given))


def _nearby(path: Path) -> str | None:
    """Return a hint with a file of similar name."""
    from difflib import get_close_matches

    try:
        names = sorted(entry.name for entry in path.parent.iterdir())
    except OSError:
        return f"the folder {path.parent} does not exist either"
    close = get_close_matches(path.name, names, n=1)
    return f"did you mean {path.parent / close[0]}?" if close else None


def _reason(error: Exception) -> str:
    return str(getattr(error, "strerror", None) or error)
