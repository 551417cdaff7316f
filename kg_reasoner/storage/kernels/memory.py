"""The memory model of the kernels: structs of named fields and typed pointers, over NumPy arrays owned by Python.

A kernel is a plain Python function over these types. It runs in two modes:

* compiled: `kernels.compiler` gives the types machine meaning (a struct is an address, a field is one 64-bit word);
* checked: the function runs in Python, and the classes at the end of this file check every access.

A struct has only 64-bit words: integers, and addresses of arrays. All kernel integers are 64 bits wide; narrower array items are
widened when read.
"""

import ctypes
import os
import threading
import weakref
from collections.abc import Callable
from ctypes import addressof
from typing import TYPE_CHECKING, Any, ClassVar, Generic, NamedTuple, TypeAlias, TypeVar, get_args, get_origin, get_type_hints

import numpy as np
import numpy.typing as npt

S = TypeVar("S", bound="Struct")
F = TypeVar("F", bound=Callable[..., Any])
P = TypeVar("P", bound="Pointer")


class Pointer:
    """The address of items of one type. ``p[i]`` reads, ``p[i] = v`` writes, ``p + n`` moves by n items."""

    dtype: ClassVar[np.dtype[Any]]

    def __getitem__(self, index: int) -> int:
        raise NotImplementedError

    def __setitem__(self, index: int, value: int) -> None:
        raise NotImplementedError

    def __add__(self: P, items: int) -> P:
        raise NotImplementedError


class Bytes(Pointer):
    dtype = np.dtype(np.uint8)


class Int16s(Pointer):
    dtype = np.dtype(np.int16)


class Int32s(Pointer):
    dtype = np.dtype(np.int32)


class Int64s(Pointer):
    dtype = np.dtype(np.int64)


class Struct:
    """A record of 64-bit words. Subclasses declare their fields as annotations; `fields` maps each name to (word, type)."""

    fields: ClassVar[dict[str, tuple[int, Any]]] = {}
    record: ClassVar["type[Record]"]
    """A Python view of such structs."""

    def __init_subclass__(cls) -> None:
        hints = {name: hint for name, hint in get_type_hints(cls).items() if name not in Struct.__annotations__}
        cls.fields = {name: (word, hint) for word, (name, hint) in enumerate(hints.items())}
        cls.record = _record_class(cls)


class Array(Generic[S]):
    """The address of consecutive structs; ``structs[i]`` is the i-th."""

    def __getitem__(self, index: int) -> S:
        raise NotImplementedError


def struct_of(array_type: Any) -> type[Struct] | None:
    """Return the struct of an ``Array[...]`` type, or None for any other type."""
    return get_args(array_type)[0] if get_origin(array_type) is Array else None


# --- functions that kernels may call apart from kernels ---------------------------------------------------------------------

_MASK = (1 << 64) - 1
_swapping = threading.Lock()


def mix(key: int) -> int:
    """Hash a 64-bit key to 62 nonnegative bits (two rounds of multiply and fold)."""
    value = (key * 0x9E3779B97F4A7C15) & _MASK
    value ^= value >> 32
    value = (value * 0xC2B2AE3D27D4EB4F) & _MASK
    return (value ^ (value >> 29)) >> 2


def word(items: "Bytes", index: int) -> int:
    """Return the eight bytes from an index on as one integer."""
    return int.from_bytes([items[index + place] for place in range(8)], "little", signed=True)


def set_word(items: "Bytes", index: int, value: int) -> None:
    """Set the eight bytes from an index on to those of one integer."""
    for place, byte in enumerate(value.to_bytes(8, "little", signed=True)):
        items[index + place] = byte


def pair(items: "Int32s", index: int) -> int:
    """Return two nonnegative items from an index on as one integer, the first in its upper half."""
    return int(items[index]) << 32 | int(items[index + 1])


def prefetch(items: Pointer, index: int) -> None:
    """Request the cache line of ``items[index]``; a hint without effect on results."""


def compare_and_swap(items: Int32s, index: int, expected: int, new: int) -> int:
    """Set an item to a new value if it is as expected, and return what it was: one operation, which no other thread interrupts."""
    with _swapping:
        found = items[index]
        if found == expected:
            items[index] = new
        return found


def is_stopped(context: Any) -> int:
    """Return whether `Context.stop` is set, which another thread may do at any time; a compiler must not cache it."""
    stop: int = context.stop
    return stop


class Kernel(NamedTuple):
    """A registered kernel."""

    function: Callable[..., Any]
    is_entry: bool
    """Whether Python calls it."""
    is_brief: bool
    """Whether an entry keeps the interpreter's lock, because it takes less time than releasing and acquiring it."""
    is_rare: bool = False
    """Whether it is seldom called, and must not be inlined into loops, which it would slow down."""
    is_shared: bool = False
    """Whether other groups of kernels call it where it is (see `kernel_groups`)."""

    @property
    def is_exported(self) -> bool:
        """Whether code outside of its group calls it."""
        return self.is_entry or self.is_shared


kernels: dict[str, Kernel] = {}
"""Every kernel by name, in the order of definition."""


def kernel(function: F) -> F:
    """Register a function to be compiled. The function itself stays callable, as the checked mode."""
    return _registered(function, is_entry=False)


def rare_kernel(function: F) -> F:
    """Register a function that is seldom called from loops that are."""
    kernels[function.__name__] = Kernel(function, is_entry=False, is_brief=False, is_rare=True)
    return function


def shared_kernel(function: F) -> F:
    """Register a function that is compiled once, because it is large, and a call costs little compared with its work."""
    kernels[function.__name__] = Kernel(function, is_entry=False, is_brief=False, is_shared=True)
    return function


def entry(function: F) -> F:
    """Register an entry point, which Python calls through `kg_reasoner.storage.kernels.native`. It releases the GIL."""
    return _registered(function, is_entry=True)


def brief_entry(function: F) -> F:
    """Register an entry point that returns within microseconds. It holds the GIL."""
    return _registered(function, is_entry=True, is_brief=True)


def _registered(function: F, *, is_entry: bool, is_brief: bool = False) -> F:
    known = kernels.get(function.__name__)
    if known is not None and known.function.__module__ != function.__module__:
        raise ValueError(f"{known.function.__module__} has a kernel {function.__name__} already")
    kernels[function.__name__] = Kernel(function, is_entry=is_entry, is_brief=is_brief)
    return function


# --- arrays and structs on the Python side ---------------------------------------------------------------------------------

CHECKED = os.environ.get("KG_REASONER_KERNELS") == "checked"
"""Whether kernels run as Python over arrays that are known by their addresses."""

_arrays: "weakref.WeakValueDictionary[int, _Block]" = weakref.WeakValueDictionary()


_regions: "weakref.WeakValueDictionary[int, _Block]" = weakref.WeakValueDictionary()


class _Block(np.ndarray[Any, Any]):
    """An array whose address can be stored in a struct."""


def grant(nbytes: int) -> None:
    """Allow any number of bytes. Tables call such a function before they grow; this one applies without limits."""


def allocate(shape: int | tuple[int, ...], dtype: npt.DTypeLike, fill: int | None = None) -> Any:
    """Return an array visible to kernels; without `fill` its items are undefined."""
    if fill is None:
        array = np.empty(shape if not isinstance(shape, int) else max(shape, 1), dtype)
    elif fill == 0:
        array = np.zeros(shape, dtype)
    else:
        array = np.empty(shape, dtype)
        array.fill(fill)
    if not CHECKED:
        return array
    block = array.view(_Block)
    _arrays[block.ctypes.data] = block
    return block


def region(shape: tuple[int, ...], dtype: npt.DTypeLike) -> Any:
    """Return an array of zeros that pointers may point into."""
    block = allocate(shape, dtype, 0)
    if CHECKED:
        _regions[block.ctypes.data] = block
    return block


def borrow(data: "bytes | memoryview") -> Any:
    """Return the bytes of an object as an array that kernels can read, without a copy."""
    array = np.frombuffer(data, np.uint8)
    if not CHECKED:
        return array
    block = array.view(_Block)
    _arrays[block.ctypes.data] = block
    return block


class Pieces(NamedTuple):
    """Arrays of one size, and their addresses."""

    arrays: list[Any]
    addresses: npt.NDArray[np.int64]


def allocate_each(count: int, size: int, dtype: npt.DTypeLike, fill: int | None = None) -> Pieces:
    """Return many arrays visible to kernels, all of one size. They share a block, which lives as long as one of them does."""
    if CHECKED:
        arrays = [allocate(size, dtype, fill) for _ in range(count)]
        return Pieces(arrays, np.array([address(array) for array in arrays], np.int64))
    block = allocate((count, size), dtype, fill)
    return Pieces(list(block), address(block) + np.arange(count) * block.strides[0])


def repeated(array: Any, count: int) -> Pieces:
    """Return one array as that of many structs, which never write to it."""
    return Pieces([array] * count, np.full(count, address(array), np.int64))


def lend(array: npt.NDArray[Any]) -> Any:
    """Return an array of Python's, whose items are adjacent, as one that kernels can read, without a copy.

    If kernels know the array already, or a longer one that begins with it, that remains known, also after the lent one is gone.
    """
    if not CHECKED:
        return array
    known = _arrays.get(array.ctypes.data)
    if known is not None and known.dtype == array.dtype and known.size >= array.size:
        return known.reshape(-1)[: array.size].reshape(array.shape)  # a view, which keeps it alive
    block = array.view(_Block)
    _arrays[block.ctypes.data] = block
    return block


_first_byte = ctypes.c_char.from_buffer


def address(array: Any) -> int:
    """Return the address of an array made by `allocate`."""
    try:
        return addressof(_first_byte(array))
    except (TypeError, ValueError):  # an array that is empty or cannot be written to; NumPy takes longer to tell its address
        place: int = array.__array_interface__["data"][0]
        return place


Argument: TypeAlias = int | ctypes.c_int64
"""An integer or an address that entries are called with."""


def argument(number: int) -> Argument:
    """Convert an integer that entries are often called with to the form in which they take it, because the conversion takes as long
    as a small kernel.
    """
    return number if CHECKED else ctypes.c_int64(number)


class Record:
    """Python's view of one struct: fields by name. Setting a pointer field stores an array's address and keeps the array alive.

    An exception between two lines finds each field set or not, and never an address without its array.
    """

    __slots__ = ()

    _table: "StructTable"
    _first: int
    _arrays: dict[str, Any]

    if TYPE_CHECKING:

        def __init__(self, table: "StructTable", first: int) -> None: ...

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

    def __init__(self, table: "StructTable", first: int) -> None:
        self._table, self._first, self._arrays = table, first, {}


def _record_class(struct: type[Struct]) -> type[Record]:
    """Return the class for records of a struct, with a property for each field."""
    members = {name: _word(word) if kind is int else _pointer(name, word) for name, (word, kind) in struct.fields.items()}
    return type(f"{struct.__name__}Record", (_RecordOfTable,), {"__slots__": (), **members})


_single_classes: dict[type[Struct], Any] = {}


def _single_class(struct: type[Struct]) -> Any:
    """Return the class for a struct that has a table of its own: as it never moves, ctypes can read and write its integers."""
    words = [(name if kind is int else f"{name} (address)", ctypes.c_int64) for name, (_, kind) in struct.fields.items()]
    members: dict[str, Any] = {name: _pointer(name, word) for name, (word, kind) in struct.fields.items() if kind is not int}
    members |= {"_fields_": words, "__slots__": _RecordOfTable.__slots__}
    return type(f"Single{struct.__name__}Record", (Record, ctypes.Structure), members)


def _single(table: "StructTable") -> Record:
    """Return the record of the only struct of a table."""
    made = _single_classes.get(table.struct)
    if made is None:
        made = _single_classes[table.struct] = _single_class(table.struct)
    record: Record = made.from_buffer(table.words)
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
        record = _single(self) if len(self.words) == 1 else self.struct.record(self, first)
        for name, value in values.items():
            word, kind = fields[name]
            if kind is int:
                self.flat[first + word] = value
            else:
                setattr(record, name, value)
        self._records.append(record)
        return record

    def add_many(self, count: int, **values: "int | npt.NDArray[np.int64] | Pieces") -> int:
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
            records = [self.struct.record(self, (first + place) * width) for place in range(count)]
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
            record = self._records[index] = self.struct.record(self, index % len(self._records) * len(self.struct.fields))
        return record


# --- checked mode ----------------------------------------------------------------------------------------------------------


class CheckedPointer:
    """A pointer that knows its array: an access outside raises IndexError, a value that does not fit OverflowError."""

    __slots__ = ("array", "offset")

    def __init__(self, array: Any, offset: int = 0) -> None:
        self.array = array
        self.offset = offset

    def __getitem__(self, index: int) -> int:
        return int(self.array[self._place(index)])

    def __setitem__(self, index: int, value: int) -> None:
        self.array[self._place(index)] = value

    def __add__(self, items: int) -> "CheckedPointer":
        return CheckedPointer(self.array, self.offset + items)

    def _place(self, index: int) -> int:
        place = self.offset + index
        if not 0 <= place < self.array.size:
            raise IndexError(f"item {place} of an array of {self.array.size}")
        return place


class CheckedStruct:
    """A struct that checks field names and the arrays behind its pointers."""

    __slots__ = ("_index", "_struct", "_words")

    def __init__(self, struct: type[Struct], words: Any, index: int) -> None:
        if not 0 <= index < len(words):
            raise IndexError(f"{struct.__name__} {index} of {len(words)}")
        object.__setattr__(self, "_struct", struct)
        object.__setattr__(self, "_words", words)
        object.__setattr__(self, "_index", index)

    def __getattr__(self, name: str) -> Any:
        word, kind = self._struct.fields[name]
        value = int(self._words[self._index, word])
        return value if kind is int else at_address(value, kind)

    def __setattr__(self, name: str, value: int) -> None:
        word, kind = self._struct.fields[name]
        if kind is not int:
            raise TypeError(f"kernels never set pointers: {self._struct.__name__}.{name}")
        self._words[self._index, word] = value


class CheckedArray:
    """An array of structs with checked indices."""

    __slots__ = ("first", "struct", "words")

    def __init__(self, struct: type[Struct], words: Any, first: int = 0) -> None:
        self.struct = struct
        self.words = words
        self.first = first

    def __getitem__(self, index: int) -> CheckedStruct:
        return CheckedStruct(self.struct, self.words, self.first + index)


def at_address(value: int, kind: Any) -> Any:
    """Return the object at an address, with checked accesses.

    Raises:
        ValueError: the address is of no living array, or of one with other items.
    """
    struct = struct_of(kind) or kind
    is_struct = issubclass(struct, Struct)
    array = _arrays.get(value)
    if array is None:
        array = _around(value)
    if array is None or (array.shape[-1] != len(struct.fields) if is_struct else array.dtype != kind.dtype):
        raise ValueError(f"dangling pointer to {struct.__name__}")
    place = (value - array.ctypes.data) // (array.strides[0] if is_struct else array.itemsize)
    if not is_struct:
        return CheckedPointer(array.reshape(-1), place)
    return CheckedArray(struct, array, place) if struct is not kind else CheckedStruct(struct, array, place)


def _around(value: int) -> "_Block | None":
    """Return the region or table of structs that contains an address."""
    regions, arrays = _regions.valuerefs(), _arrays.valuerefs()  # copies, as other threads allocate meanwhile
    blocks = [reference() for reference in regions] + [
        block for reference in arrays if (block := reference()) is not None and block.ndim == 2
    ]
    for block in blocks:
        if block is not None and block.ctypes.data <= value < block.ctypes.data + block.nbytes:
            return block
    return None


def checked_entry(function: Callable[..., Any]) -> Callable[..., int]:
    """Return an entry point that takes addresses as the compiled one does, and runs the Python function over checked memory."""
    kinds = [kind for name, kind in get_type_hints(function).items() if name != "return"]

    def call(*arguments: int) -> int:
        values = (value if kind is int else at_address(value, kind) for value, kind in zip(arguments, kinds, strict=True))
        return int(function(*values))

    return call
