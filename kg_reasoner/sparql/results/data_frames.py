"""Data frames of Polars and pandas, made from tables of Arrow."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from kg_reasoner.errors import MissingExtraError
from kg_reasoner.lazy_modules import LazyModule

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow
else:
    pandas, polars, pyarrow = LazyModule("pandas"), LazyModule("polars"), LazyModule("pyarrow")

__all__ = ["DataFrames"]


class DataFrames(ABC):
    """Results that convert to a table of Arrow, and so to data frames of other libraries."""

    @abstractmethod
    def to_arrow(self) -> pyarrow.Table:
        """Return a table of Arrow.

        Returns:
            The table.

        Raises:
            MissingExtraError: pyarrow is not installed.
        """

    def to_polars(self) -> polars.DataFrame:
        """Return a data frame of Polars, made from the table of Arrow.

        Returns:
            The data frame.

        Raises:
            MissingExtraError: polars or pyarrow is not installed.
        """
        try:
            import polars
        except ImportError:
            raise MissingExtraError("a data frame of Polars", "polars") from None
        frame = polars.from_arrow(self.to_arrow())
        assert isinstance(frame, polars.DataFrame)
        return frame

    def to_pandas(self) -> pandas.DataFrame:
        """Return a data frame of pandas, made from the table of Arrow.

        Integers and booleans of a column in which values are missing have pandas' nullable types, ``Int64`` and ``boolean``: as
        floats, large integers would be other ones.

        Returns:
            The data frame.

        Raises:
            MissingExtraError: pandas or pyarrow is not installed.
        """
        try:
            import pandas
        except ImportError:
            raise MissingExtraError("a data frame of pandas", "pandas") from None
        import pyarrow

        table = self.to_arrow()
        frame = table.to_pandas()
        nullable = {pyarrow.int64(): pandas.Int64Dtype(), pyarrow.bool_(): pandas.BooleanDtype()}
        for place, column in enumerate(table.columns):
            if column.null_count and column.type in nullable:
                frame.isetitem(place, column.to_pandas(types_mapper=nullable.get))
        return frame
