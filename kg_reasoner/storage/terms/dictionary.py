"""Dictionary encoding: RDF terms to dense int32 ids and back. Ids are assigned in order of first occurrence and never reused."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import pairwise
from typing import Any, Final, NamedTuple, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from kg_reasoner.concurrency.forking import new_mutex
from kg_reasoner.errors import CapacityError, LimitError, LoadError
from kg_reasoner.storage.arrays import Ids
from kg_reasoner.storage.kernels import native
from kg_reasoner.storage.kernels.interning import VALUE_BLANK, VALUE_ESCAPED, VALUE_IRI, VALUE_STRING, VALUE_TAGGED, VALUE_TYPED
from kg_reasoner.storage.kernels.layout import EMPTY, MOST, Terms
from kg_reasoner.storage.kernels.memory.buffers import Argument, address, allocate, argument, borrow, grant, lend
from kg_reasoner.storage.kernels.memory.struct_tables import StructTable
from kg_reasoner.storage.terms.term_growth import BYTES_A_TERM, TermGrowth, term_tables
from kg_reasoner.terms import Term, term_of, term_text

__all__ = [
    "VALUE_BLANK",
    "VALUE_ESCAPED",
    "VALUE_IRI",
    "VALUE_STRING",
    "VALUE_TAGGED",
    "VALUE_TYPED",
    "Buffer",
    "Dictionary",
    "TermValues",
]

_ROOM: Final = 64
"""The number of terms for which a new dictionary has room."""
_TEXT_CAPACITY: Final = 1 << 12
"""The bytes of texts for which it has room."""

FEW: Final = 64
"""The maximal number of texts that are looked up through shared buffers, one after the other."""


Buffer: TypeAlias = "bytes | memoryview"

BYTES: Final = 256
"""The number of different bytes."""

_ESCAPED: Final = frozenset(b'"\\\n\r')
"""Bytes that are escaped in the texts of literals, with the one that escapes them."""


class TermValues(NamedTuple):
    """The values of some terms: `data` has them one after the other, with a line break after each.

    Attributes:
        data: The bytes of all values.
        ends: Where each value ends; the next one begins after a line break.
        kinds: What each term is: `VALUE_IRI`, `VALUE_BLANK`, `VALUE_STRING`, `VALUE_TAGGED` or `VALUE_TYPED`; and `VALUE_ESCAPED`.
    """

    data: npt.NDArray[np.uint8]
    ends: npt.NDArray[np.int64]
    kinds: npt.NDArray[np.uint8]


class Dictionary:
    """Terms by id and ids by term. The key of a term is its N-Triples text, see `kg_reasoner.terms.term_text`.

    >>> from kg_reasoner.terms import IRI
    >>> dictionary = Dictionary()
    >>> dictionary.encode(IRI("http://example.org/a")), dictionary.encode(IRI("http://example.org/b"))
    (0, 1)
    >>> dictionary.decode(1)
    IRI(value='http://example.org/b')
    """

    def __init__(self) -> None:
        self._table = StructTable(Terms, capacity=1)
        self._terms = self._table.add(
            texts=allocate(_TEXT_CAPACITY, np.uint8), text_capacity=_TEXT_CAPACITY, **_empty_tables(_ROOM)
        )
        self._address = argument(self._terms.address)
        self._few = _Layout(1 << 12, FEW)
        self._first_bytes: tuple[npt.NDArray[np.uint8], int] = np.empty(0, np.uint8), 0
        self.mutex = new_mutex()
        """Held where terms are looked up or interned."""
        self.claim: Callable[[int], None] = grant
        """Called with a number of bytes before they are allocated; raises an error if that is too much."""
        self._growth = TermGrowth(self._terms)

    def __len__(self) -> int:
        return self._terms.count

    def __contains__(self, term: Term) -> bool:
        return self.find(term) >= 0

    @property
    def nbytes(self) -> int:
        """The size of the dictionary's tables in bytes."""
        return sum(array.nbytes for array in (self._terms.texts, self._terms.offsets, self._terms.slots, self._terms.hashes))

    @property
    def room(self) -> int:
        """The number of terms for which there is room."""
        return int(self._terms.room)

    @property
    def text_bytes(self) -> int:
        """The size of all texts in bytes."""
        return int(self._terms.offsets[self._terms.count])

    def encode(self, term: Term) -> int:
        """Return the id of a term, and assign one if the term is new."""
        text = term_text(term)
        number = self.find_text(text)
        return number if number >= 0 else int(self.encode_texts([text])[0])

    def find(self, term: Term) -> int:
        """Return the id of a term, or -1 if the dictionary does not contain it."""
        return self.find_text(term_text(term))

    def find_text(self, text: str) -> int:
        """Return the id of the term with this text, or -1."""
        data = text.encode(errors="surrogatepass")  # no term has such a text
        layout = self._layout(len(data), 1)
        with self.mutex:
            layout.bytes[: len(data)] = data
            return native.find_text(self._address, layout.addresses[0], len(data))

    def decode(self, number: int) -> Term:
        """Return the term with an id."""
        return term_of(self.text(number))

    def decode_all(self, numbers: Sequence[int]) -> list[Term]:
        """Return the terms with some ids."""
        return list(map(term_of, self.texts_of(numbers)))

    def decode_rows(self, rows: Ids, *, in_order: bool = False) -> Iterator[tuple[Term, ...]]:
        """Return the rows of a table of ids as terms; each term is created once.

        Args:
            rows: The table.
            in_order: Whether the rows are returned in the order of their texts, and each once.
        """
        if not rows.shape[1]:
            return iter([()] * len(rows))
        numbers, places = np.unique(rows, return_inverse=True)
        table, texts = places.reshape(rows.shape), self.texts_of(numbers)
        if in_order:
            order = sorted(range(len(texts)), key=texts.__getitem__)
            texts = [texts[place] for place in order]
            ranks = np.empty(len(order), np.int64)
            ranks[order] = np.arange(len(order))
            table = ranks[table]
            table = table[np.lexsort(table.T[::-1])]
            table = table[np.append(True, (table[1:] != table[:-1]).any(axis=1))] if len(table) else table
        terms = list(map(term_of, texts))
        return zip(*(map(terms.__getitem__, column.tolist()) for column in table.T), strict=True)

    def text(self, number: int) -> str:
        """Return the N-Triples text of the term with an id."""
        if not 0 <= number < self._terms.count:
            raise IndexError(f"no term has the id {number}")
        offsets = self._terms.offsets
        return str(memoryview(self._terms.texts)[int(offsets[number]) : int(offsets[number + 1])], "utf-8")

    def texts_of(self, numbers: Sequence[int] | Ids) -> list[str]:
        """Return the texts of the terms with these ids."""
        ids = np.asarray(numbers, np.int64)
        offsets = np.asarray(self._terms.offsets)
        data = memoryview(self._terms.texts)
        return [str(data[start:end], "utf-8") for start, end in zip(offsets[ids].tolist(), offsets[ids + 1].tolist(), strict=True)]

    def values_of(self, ids: Ids) -> TermValues:
        """Return the values of terms in one block of UTF-8: the texts inside their brackets or quotation marks.

        Args:
            ids: The ids, shape (n,).
        """
        count = len(ids)
        given, kinds, ends = allocate(count, np.int32), allocate(count, np.uint8), allocate(count, np.int64)
        given[:count] = ids
        offsets = np.asarray(self._terms.offsets)
        capacity = int((offsets[given[:count].astype(np.int64) + 1] - offsets[given[:count]]).sum()) + count
        data = allocate(capacity, np.uint8)
        arrays = address(kinds), address(ends), address(data)
        length = self.read_with(native.copy_values, address(given), count, *arrays, len(data))
        return TermValues(np.asarray(data[:length]), np.asarray(ends[:count]), np.asarray(kinds[:count]))

    def search(self, ids: Ids, text: bytes, where: int, case: int, *, takes_any: bool) -> npt.NDArray[np.int8]:
        """Return for each of some terms whether its value has a text, see `kernels.queries.searching.search_values`.

        Args:
            ids: The ids, shape (n,).
            text: The text.
            where: Anywhere, at the start, or at the end.
            case: What letters of the values are converted to before.
            takes_any: Whether the terms may be any that STR converts.

        Returns:
            1 or 0; -1 for what is not a string; -2 where the bytes do not decide.
        """
        from kg_reasoner.storage.kernels.queries.searching import ANYWHERE, AS_IT_IS, IN_STEPS

        count, length = len(ids), len(text)
        given, wanted, truth = allocate(count, np.int32), allocate(length, np.uint8), allocate(count, np.uint8)
        steps = allocate(BYTES, np.uint8)
        given[:count] = ids
        wanted[:length] = np.frombuffer(text, np.uint8)
        if where == ANYWHERE and case == AS_IT_IS and 0 < length < BYTES and not _ESCAPED.intersection(text):
            where, steps[:] = IN_STEPS, length
            for place, byte in enumerate(text[:-1]):
                steps[byte] = length - 1 - place
        self.read_with(
            *(native.search_values, address(given), count, address(wanted), length, address(steps)),
            *(where, case, int(takes_any), address(truth)),
        )
        return np.asarray(truth[:count]).view(np.int8)

    def read(self, ids: Ids) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64], npt.NDArray[np.uint8]]:
        """Return the kinds of terms, their values as integers, and the decimal places of these integers, see
        `kg_reasoner.storage.kernels.literal_values.read_literals`.

        Args:
            ids: The ids, shape (n,).
        """
        from kg_reasoner.storage.kernels.literal_values import NAMES

        count = len(ids)
        given, names = allocate(count, np.int32), allocate(len(NAMES), np.uint8)
        kinds, units, scales = allocate(count, np.uint8), allocate(count, np.int64), allocate(count, np.uint8)
        given[:count], names[:] = ids, np.frombuffer(NAMES, np.uint8)
        results = address(kinds), address(units), address(scales)
        self.read_with(native.read_literals, address(given), count, address(names), *results)
        return np.asarray(kinds[:count]), np.asarray(units[:count]), np.asarray(scales[:count])

    def texts(self, first: int = 0) -> list[str]:
        """Return the texts of all terms with ids from `first` on."""
        offsets = self._terms.offsets[first : self._terms.count + 1].tolist()
        data = bytes(self._terms.texts[: offsets[-1]])
        return [data[start:end].decode() for start, end in pairwise(offsets)]

    def buffers(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint8]]:
        """Return where the text of each term begins (and that of the last ends) in the bytes of all texts, and these bytes.

        The arrays are those of the dictionary: they are not to be changed, and stay as they are when terms are added.
        """
        count = self._terms.count
        offsets = np.asarray(self._terms.offsets[: count + 1])
        return offsets, np.asarray(self._terms.texts)

    def table(self) -> tuple[Any, Any, int]:
        """Return the buffers as arrays for kernels, texts first, and the number of terms."""
        count = self._terms.count
        return self._terms.texts, self._terms.offsets, count

    def read_with(self, kernel: Callable[..., int], *arguments: object) -> int:
        """Call a kernel that only reads the texts of terms. Return its result.

        The kernel sees the texts as they are now. They are held until it returns: meanwhile, other threads may add terms, for which
        full tables are replaced.

        Args:
            kernel: The kernel, which takes the address of the tables first.
            arguments: Its further arguments.
        """
        texts, offsets, count = self.table()
        held = StructTable(Terms, capacity=1)
        held.add(texts=texts, offsets=offsets, count=count)
        return kernel(held.start, *arguments)

    @property
    def address(self) -> Argument:
        """The address of the tables, for kernels that are called under the mutex, or when no other thread adds terms."""
        return self._address

    @property
    def words(self) -> Any:
        """The words of the tables' struct, for kernels that find it in another struct."""
        return self._table.words

    def first_bytes(self) -> npt.NDArray[np.uint8]:
        """Return the first byte of each term's text, by id: ``<`` for IRIs, ``_`` for blank nodes, ``"`` for literals."""
        array, known = self._first_bytes
        if known < self._terms.count:
            with self.mutex:
                array, known = self._first_bytes
                count = self._terms.count
                if count > len(array):
                    grown = allocate(2 * count, np.uint8)
                    grown[:known] = array[:known]
                    array = grown
                array[known:count] = np.asarray(self._terms.texts)[np.asarray(self._terms.offsets[known:count])]
                self._first_bytes, known = (array, count), count
        return array[:known]

    def first_bytes_of(self, ids: Ids) -> npt.NDArray[np.uint8]:
        """Return the first bytes of the texts of some terms: see `first_bytes`, which looks at all terms that are new to it."""
        _, known = self._first_bytes
        if 4 * len(ids) > self._terms.count - known:
            return self.first_bytes()[ids]
        first: npt.NDArray[np.uint8] = np.asarray(self._terms.texts)[np.asarray(self._terms.offsets)[ids]]
        return first

    def with_prefix(self, prefix: str, ids: Ids) -> Ids:
        """Return those of some ids that are of terms whose text begins with an ASCII prefix."""
        texts, offsets = np.asarray(self._terms.texts), np.asarray(self._terms.offsets[: self._terms.count + 1])
        wanted = prefix.encode("ascii")
        found = ids[offsets[ids + 1] - offsets[ids] >= len(wanted)]
        for place in range(len(wanted) - 1, -1, -1):  # most terms differ in the last characters already
            if len(found):
                found = found[texts[offsets[found] + place] == wanted[place]]
        return found

    def with_datatype(self, numbers: Ids) -> Ids:
        """Return those of the ids that are of literals with a datatype other than xsd:string."""
        texts, offsets = np.asarray(self._terms.texts), np.asarray(self._terms.offsets)
        found = numbers[texts[offsets[numbers]] == ord('"')]
        return found[texts[offsets[found + 1] - 1] == ord(">")]

    def is_blank(self, number: int) -> bool:
        """Return whether an id is that of a blank node."""
        return bool(self._terms.texts[self._terms.offsets[number]] == ord("_"))

    def find_texts(self, texts: Sequence[str]) -> Ids:
        """Return the ids of texts in the exact form of `term_text`, or -1 for unknown terms."""
        pieces: Sequence[bytes] | Sequence[str] = texts
        if not (len(texts) > FEW and "".join(texts).isascii()):
            pieces = [text.encode(errors="surrogatepass") for text in texts]  # no term has such a text
        layout = self._layout(sum(map(len, pieces)), len(pieces))
        with self.mutex:
            layout.put(pieces)
            native.find_texts(self._address, *layout.addresses, len(pieces))
            return np.array(layout.ids[: len(pieces)])

    def encode_texts(self, texts: Sequence[str]) -> Ids:
        """Intern texts in the exact form of `term_text` without asserting facts about them; return their ids.

        Raises:
            LoadError: A text has half of a surrogate pair; no term is new then.
        """
        try:
            pieces = [text.encode() for text in texts]
        except UnicodeEncodeError as error:
            raise LoadError(f"the term {error.object} contains half of a surrogate pair, which is not a character") from None
        return self.encode_pieces(pieces)

    def encode_results(self, texts: Sequence[str | None], error: int) -> Ids:
        """Intern texts as `encode_texts` does; the results of functions, of which None stands for an error, are `error` instead."""
        ids = np.full(len(texts), error, np.int32)
        known = [place for place, text in enumerate(texts) if text is not None]
        ids[known] = self.encode_texts([text for text in texts if text is not None])
        return ids

    def encode_pieces(self, pieces: Sequence[bytes]) -> Ids:
        """Intern texts as `encode_texts` does, given as UTF-8."""
        layout = self._layout(sum(map(len, pieces)), len(pieces))
        done = 0
        with self.mutex:
            layout.put(pieces)
            while done < len(pieces):
                done = native.intern_texts(self._address, *layout.addresses, done, len(pieces))
                if done < len(pieces):
                    self.make_room(len(pieces[done]))
            self._growth.advance(self.claim)
            return np.array(layout.ids[: len(pieces)])

    def encode_buffers(self, data: Buffer, offsets: npt.NDArray[np.int64], *, only_known: bool = False) -> Ids:
        """Intern texts in the exact form of `term_text`, which are one after the other in a buffer; return their ids.

        Args:
            data: The texts in UTF-8.
            offsets: Where each begins, and the last one ends.
            only_known: Whether texts that the dictionary does not have get the id -1 instead.
        """
        count = len(offsets) - 1
        ids: Ids = allocate(count, np.int32)
        if not count:
            return np.empty(0, np.int32)
        texts, bounds = borrow(data if len(data) else b"\0"), lend(offsets)
        done, addresses = 0, (address(texts), address(bounds), address(ids))
        with self.mutex:
            if only_known:
                native.find_texts(self._address, *addresses, count)
                done = count
            while done < count:
                done = native.intern_texts(self._address, *addresses, done, count)
                if done < count:
                    self.make_room(int(offsets[done + 1] - offsets[done]))
            self._growth.advance(self.claim)
        return np.asarray(ids)

    def _layout(self, length: int, count: int) -> _Layout:
        """Return buffers for a batch of texts: shared ones for a small batch, to be used under the mutex."""
        few = self._few
        return few if length <= len(few.bytes) and count < len(few.offsets) else _Layout(length, count)

    def merge(self, other: Dictionary, hashes: npt.NDArray[np.int64]) -> Ids:
        """Intern the terms of another dictionary in the order of their ids; return the ids here, by those there.

        Args:
            other: The dictionary, which no other thread changes.
            hashes: What `hashes_of_texts` of it returns.
        """
        count = len(other)
        numbers: Ids = allocate(count, np.int32)
        done = 0
        with self.mutex:
            while True:
                done = native.merge_texts(self._address, other.address, address(hashes), done, address(numbers))
                if done == count:
                    return numbers
                offsets = other._terms.offsets
                self.make_room(int(offsets[done + 1] - offsets[done]))

    def hashes_of_texts(self) -> npt.NDArray[np.int64]:
        """Return the hash of each term's text, by id."""
        hashes: npt.NDArray[np.int64] = allocate(len(self), np.int64)
        native.hash_texts(self._address, address(hashes))
        return hashes

    def clear(self) -> None:
        """Remove all terms, so that ids are assigned from the beginning. No other thread uses the dictionary."""
        self._growth.discard()
        self._terms.count = 0
        self._terms.slots[:] = EMPTY
        self._first_bytes = np.empty(0, np.uint8), 0

    def has_room(self, text_length: int) -> bool:
        """Return whether there is room for another term with a text of `text_length` bytes. The caller holds the mutex."""
        terms = self._terms
        return bool(terms.count < terms.room and terms.offsets[terms.count] + text_length <= terms.text_capacity)

    def make_room(self, text_length: int, expected: int = 4) -> None:
        """Make room for more terms and for `text_length` more bytes. The caller holds the mutex.

        Args:
            text_length: The bytes.
            expected: How many terms there is to be room for.
        """
        terms, room = self._terms, self._terms.room
        while terms.count + expected > room and room < MOST:
            room *= 2
        if room > terms.room or terms.count + 4 > room:
            self._set_room(room)
        needed = self.text_bytes + text_length
        if needed > terms.text_capacity:
            self._set_text_capacity(max(2 * terms.text_capacity, needed))

    def expect(self, terms: int, text_bytes: int) -> bool:
        """Make room for terms that are expected, so that tables do not grow in many steps.

        Args:
            terms: How many terms there will be.
            text_bytes: How many bytes their texts will have.

        Returns:
            Whether there is room for them. Without enough memory, the tables remain as they are.
        """
        with self.mutex, suppress(MemoryError, LimitError):
            self.make_room(text_bytes - self.text_bytes, terms - len(self))
            return True
        return False

    def fit(self) -> None:
        """Give back room, if there is more than four times as much as the terms take, and enough memory to copy them."""
        with self.mutex, suppress(MemoryError, LimitError):
            room = self._terms.room
            while room > max(4 * len(self), _ROOM):
                room //= 2
            if room < self._terms.room:
                self._set_room(room)
            if self._terms.text_capacity > max(4 * self.text_bytes, _TEXT_CAPACITY):
                self._set_text_capacity(max(2 * self.text_bytes, _TEXT_CAPACITY))

    def _set_text_capacity(self, capacity: int) -> None:
        """Switch to a buffer of another size for the texts."""
        terms, used = self._terms, self.text_bytes
        self._growth.discard()
        self.claim(capacity)
        texts = allocate(capacity, np.uint8)
        texts[:used] = terms.texts[:used]
        terms.publish(texts=texts, text_capacity=capacity)

    def _set_room(self, room: int) -> None:
        """Switch to tables of another size, which are complete before other threads see them."""
        terms, count = self._terms, self._terms.count
        if count + 4 > MOST:
            raise CapacityError(f"the dictionary has {count:,} terms, the maximal number")
        self._growth.discard()
        self.claim(BYTES_A_TERM * room)
        fields = _empty_tables(room)
        fields["offsets"][: count + 1] = terms.offsets[: count + 1]
        native.rehash_texts(self._address, address(fields["slots"]), address(fields["hashes"]), fields["mask"], 0, count)
        terms.publish(**fields)


def _empty_tables(room: int) -> dict[str, Any]:
    """Return the fields of empty tables for a number of terms (a power of two)."""
    fields = term_tables(room)
    fields["slots"].fill(EMPTY)
    return fields


class _Layout:
    """A batch of texts in the form for kernels: concatenated bytes, offsets, and an array for the ids."""

    __slots__ = ("addresses", "bytes", "ids", "offsets")

    def __init__(self, length: int, count: int) -> None:
        data, offsets, ids = allocate(length, np.uint8), allocate(count + 1, np.int64), allocate(count, np.int32)
        self.bytes, self.offsets, self.ids = memoryview(data), memoryview(offsets), ids
        self.addresses = argument(address(data)), argument(address(offsets)), argument(address(ids))

    def put(self, pieces: Sequence[bytes] | Sequence[str]) -> None:
        """Store a batch of texts, as UTF-8 or in ASCII."""
        offsets = self.offsets
        offsets[0] = 0
        if len(pieces) > FEW:
            ends = np.cumsum(np.fromiter(map(len, pieces), np.int64, len(pieces)))
            offsets[1 : len(pieces) + 1] = ends.data
            end = int(ends[-1])
        else:
            end = 0
            for number, piece in enumerate(pieces, 1):
                end += len(piece)
                offsets[number] = end
        self.bytes[:end] = _joined(pieces)


def _joined(pieces: Sequence[bytes] | Sequence[str]) -> bytes:
    if pieces and isinstance(pieces[0], str):
        return "".join(cast(Sequence[str], pieces)).encode("ascii")
    return b"".join(cast(Sequence[bytes], pieces))
