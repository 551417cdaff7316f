"""Data frames of Polars and pandas, made from tables of Arrow."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from kg_reasoner.errors import MissingExtraError

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

__all__ = ["pandas_frame", "polars_frame"]


def polars_frame(what: str, table: Callable[[], pyarrow.Table]) -> polars.DataFrame:
    """Return a table as a data frame of Polars.

    Args:
        what: What the table has, for the error.
        table: Makes the table.

    Raises:
        MissingExtraError: polars or pyarrow is not installed.
    """
    try:
        import polars
    except ImportError:
        raise MissingExtraError(f"{what} as a data frame of Polars", "polars") from None
    frame = polars.from_arrow(table())
    assert isinstance(frame, polars.DataFrame)
    return frame


def pandas_frame(what: str, table: Callable[[], pyarrow.Table]) -> pandas.DataFrame:
    """Return a table as a data frame of pandas.

    Args:
        what: What the table has, for the error.
        table: Makes the table.

    Raises:
        MissingExtraError: pandas or pyarrow is not installed.
    """
    try:
        import pandas  # noqa: F401
    except ImportError:
        raise MissingExtraError(f"{what} as a data frame of pandas", "pandas") from None
    return table().to_pandas()
