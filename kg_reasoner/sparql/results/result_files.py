"""Writing results to files, under a name or open."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterable, Sequence
from typing import IO, Any, Final, TypeAlias, cast

from kg_reasoner.errors import OutputError, UnknownNameError
from kg_reasoner.io.atomic_files import Target, atomic_output
from kg_reasoner.loaders.rdf.formats import unpacked_name
from kg_reasoner.sparql.results.results_formats import Format

__all__ = ["FORMATS", "File", "write"]

File: TypeAlias = IO[str] | IO[bytes]
"""An open file."""

FORMATS: Final[tuple[Format, ...]] = ("json", "xml", "csv", "tsv")

_OTHER_NAMES: Final[dict[str, Format]] = {
    "srj": "json",
    "srx": "xml",
    "application/sparql-results+json": "json",
    "application/sparql-results+xml": "xml",
    "text/csv": "csv",
    "text/tab-separated-values": "tsv",
}


def write(
    target: Target | File, format: str | None, parts: Callable[[Format], Iterable[str]], formats: Sequence[Format] = FORMATS
) -> None:
    """Write a result.

    Args:
        target: A path (``"-"`` is standard output), or an open file of bytes or of text.
        format: The format, by name, extension or media type; None: that of the path's extension.
        parts: Returns the text in a format, in parts.
        formats: The formats that the result has.

    Raises:
        UnknownNameError: The result does not have the format.
        OutputError: The file cannot be written, or its name does not tell the format.
    """
    name = os.fspath(target) if isinstance(target, str | os.PathLike) else None
    found = _format(name, format, formats)
    if name is not None:
        with atomic_output(name) as file:
            _write(file, found, parts)
    else:
        _write(cast(File, target), found, parts)


def _format(name: str | None, format: str | None, formats: Sequence[Format]) -> Format:
    wanted = format
    if wanted is None:
        wanted = "" if name is None else unpacked_name(name).rpartition(".")[2]
        if _OTHER_NAMES.get(wanted, wanted) not in FORMATS:
            raise OutputError(f"the file name does not determine the format: give one of {', '.join(formats)} as `format`")
    found = _OTHER_NAMES.get(wanted.lower(), wanted.lower())
    if found not in formats:
        raise UnknownNameError("results format", wanted, formats)
    return cast(Format, found)


def _write(file: File, format: Format, parts: Callable[[Format], Iterable[str]]) -> None:
    is_text = isinstance(file, io.TextIOBase) or hasattr(file, "encoding")
    put: Callable[[Any], object] = file.write
    for part in parts(format):
        put(part if is_text else part.encode())
