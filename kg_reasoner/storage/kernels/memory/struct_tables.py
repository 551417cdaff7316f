"""Tables of structs, and Python's view of each struct: its fields by name."""

from __future__ import annotations

import ctypes
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from kg_reasoner.storage.kernels.memory.buffers import Pieces, address, allocate
from kg_reasoner.storage.kernels.memory.structs import Struct

__all__ = ["Record", "StructTable"]


class Record:
    """Python's view of one struct: fields by name. Setting a pointer field stores an array's address and keeps the array alive.

    An exception between two lines finds each field set or not, and never an address without its array.
    """

    __slots__ = ()

    _table: StructTable
    _first: int
    _arrays: dict[str, Any]

    if TYPE_CHECKING:

        def __init__(self, table: StructTable, first: int) -> None: ...

        def __getattr__(self, name: str) -> Any: ...
        def __setattr__(self, name: str, value: Any) -> None: ...

    @property
    def address(self) -> int:
        """The address of the struct, for kernels. It changes when its table grows."""
        return self._table.start + 8 * self._first

    @property
    def nbytes(self) -> int:
        """The size in bytes of the arrays behind its pointers."""
        return sum(array.nbytes for array in self._arrays.values())

    def publish(self, **values: Any) -> None:
        """Set several fields atomically: an interrupt finds all of them set, or none."""
        table, first, arrays = self._table, self._first, self._arrays.copy()
        places, words = [], []
        for name, value in values.items():
            word, kind = table.struct.fields[name]
            places.append(first + word)
            if kind is int:
                words.append(value)
            else:
                words.append(address(value))
                arrays[name] = value
        table.words.reshape(-1)[places], self._arrays = words, arrays  # one line: nothing interrupts between two stores


class _RecordOfTable(Record):
    """A struct in a table that can grow."""

    __slots__ = ("_arrays", "_first", "_table")

    def __init__(self, table: StructTable, first: int) -> None:
        self._table, self._first, self._arrays = table, first, {}


@cache
def _record_class(struct: type[Struct]) -> type[_RecordOfTable]:
    """Return the class for records of a struct, with a property for each field."""
    members = {name: _word(word) if kind is int else _pointer(name, word) for name, (word, kind) in struct.fields.items()}
    return type(f"{struct.__name__}Record", (_RecordOfTable,), {"__slots__": (), **members})


@cache
def _single_class(struct: type[Struct]) -> Any:
    """Return the class for a struct that has a table of its own: as it never moves, ctypes can read and write its integers."""
    words = [(name if kind is int else f"{name} (address)", ctypes.c_int64) for name, (_, kind) in struct.fields.items()]
    members: dict[str, Any] = {name: _pointer(name, word) for name, (word, kind) in struct.fields.items() if kind is not int}
    members |= {"_fields_": words, "__slots__": _RecordOfTable.__slots__}
    return type(f"Single{struct.__name__}Record", (Record, ctypes.Structure), members)


def _single(table: StructTable) -> Record:
    """Return the record of the only struct of a table."""
    record: Record = _single_class(table.struct).from_buffer(table.words)  # type: ignore[arg-type]  # see `StructTable`
    record._table, record._first, record._arrays = table, 0, {}
    return record


def _word(word: int) -> property:
    def read(record: Record) -> int:
        number: int = record._table.flat[record._first + word]
        return number

    def write(record: Record, value: int) -> None:
        record._table.flat[record._first + word] = value

    return property(read, write)


def _pointer(name: str, word: int) -> property:
    def read(record: Record) -> Any:
        return record._arrays.get(name)

    def write(record: Record, array: Any) -> None:
        record._arrays[name], record._table.flat[record._first + word] = array, address(array)

    return property(read, write)


class StructTable:
    """A growing array of structs of one type. `owner` and `field` locate the pointer to it, which is kept up to date.

    The array that it grows out of is left as it is, so that whoever holds it may go on reading it. With a capacity of 1, it has a
    single struct, and does not grow.
    """

    def __init__(self, struct: type[Struct], owner: Record | None = None, field: str = "", capacity: int = 16) -> None:
        self.struct = struct
        self._record_class = _record_class(struct)  # type: ignore[arg-type]  # mypy takes `__hash__` of the class for its own
        self.owner = owner
        self.field = field
        self._records: list[Record | None] = []
        """Python views of the structs, each made on first use."""
        self._use(allocate((capacity, len(struct.fields)), np.int64, 0))

    def _use(self, words: Any) -> None:
        """Switch to another array of words. `flat` is the same array in one dimension, for quick access, `start` its address."""
        flat, start, owner = memoryview(words.reshape(-1)), address(words), self.owner
        if owner is None:
            self.words, self.flat, self.start = words, flat, start
            return
        places, place = owner._table.flat, owner._first + owner._table.struct.fields[self.field][0]
        owner._arrays[self.field], places[place], self.words, self.flat, self.start = words, start, words, flat, start

    def add(self, **values: Any) -> Record:
        """Append a struct with the given field values; other fields are zero. The struct becomes visible when all fields are
        set.
        """
        count, fields = len(self._records), self.struct.fields
        first = count * len(fields)
        self._fit(count + 1)
        self.words[count] = 0
        record = _single(self) if len(self.words) == 1 else self._record_class(self, first)
        for name, value in values.items():
            word, kind = fields[name]
            if kind is int:
                self.flat[first + word] = value
            else:
                setattr(record, name, value)
        self._records.append(record)
        return record

    def add_many(self, count: int, **values: int | npt.NDArray[np.int64] | Pieces) -> int:
        """Append structs, and return the number of the first one. They become visible together.

        Args:
            count: How many.
            values: Fields: one value for all structs or one for each, arrays as `Pieces`. Other fields are zero.
        """
        first, width = len(self._records), len(self.struct.fields)
        self._fit(first + count)
        words = self.words[first : first + count]
        words[:] = 0
        arrays: dict[str, list[Any]] = {}
        for name, value in values.items():
            if isinstance(value, Pieces):
                arrays[name] = value.arrays
            words[:, self.struct.fields[name][0]] = value.addresses if isinstance(value, Pieces) else value
        if arrays:
            records = [self._record_class(self, (first + place) * width) for place in range(count)]
            for record, *held in zip(records, *arrays.values(), strict=True):
                record._arrays = dict(zip(arrays, held, strict=True))
            self._records += records
        else:
            self._records += [None] * count
        return first

    def append(self, words: npt.NDArray[np.int64]) -> int:
        """Append structs of numbers, given all their words, and return the number of the first one."""
        first = len(self._records)
        self._fit(first + len(words))
        self.words[first : first + len(words)] = words
        self._records += [None] * len(words)
        return first

    def _fit(self, count: int) -> None:
        """Make room for this number of structs."""
        if count > len(self.words):
            assert len(self.words) > 1
            used = len(self._records)
            room = max(count + count // 8, 2 * len(self.words))  # after many structs, leave room for single ones
            grown = allocate((room, self.words.shape[1]), np.int64, 0)
            grown[:used] = self.words[:used]
            self._use(grown)

    @property
    def records(self) -> list[Record]:
        """All structs."""
        return [self[number] for number in range(len(self._records))]

    def truncate(self, count: int) -> None:
        """Remove the last structs, leaving `count`."""
        del self._records[count:]

    def __len__(self) -> int:
        return len(self._records)

    def __getitem__(self, index: int) -> Record:
        record = self._records[index]
        if record is None:
            record = self._records[index] = self._record_class(self, index % len(self._records) * len(self.struct.fields))
        return record
