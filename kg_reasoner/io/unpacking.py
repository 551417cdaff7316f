"""Files of tables: the ending of their name says what they contain, and how they are unpacked."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePath
from typing import BinaryIO, cast

from kg_reasoner.errors import LoadError
from kg_reasoner.loaders.rdf.formats import unpacked_name
from kg_reasoner.loaders.rdf.packed import DamagedError, packing_named, unpacked

__all__ = ["format_ending", "unpacked_file"]


def format_ending(path: PurePath) -> str:
    """Return the ending of a file's name in lower case, that of a compressed file left out.

    Args:
        path: The path of the file.

    >>> format_ending(PurePath("Edge.CSV.gz"))
    '.csv'
    """
    return PurePath(unpacked_name(path.name)).suffix


@contextmanager
def unpacked_file(path: Path) -> Iterator[BinaryIO]:
    """Yield an open file, whose content is unpacked if its name ends in ``.gz``, ``.zst``, ``.bz2`` or ``.xz``.

    Args:
        path: The file.

    Raises:
        LoadError: The file is missing, damaged, or cannot be read.
        MissingExtraError: The unpacker is not installed.
    """
    packing = packing_named(path.name)
    try:
        with path.open("rb") as file:
            yield file if packing is None else cast(BinaryIO, io.BufferedReader(unpacked(file, packing)))
    except FileNotFoundError:
        raise LoadError(f"{path} does not exist") from None
    except (OSError, DamagedError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise LoadError(f"cannot read {path}: {reason}") from error
