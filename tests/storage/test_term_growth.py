"""Large dictionaries grow in steps: at any step, terms have the ids that they had, and no new term takes long."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator
from random import Random
from typing import Any

import pytest

from kg_reasoner.errors import LimitError
from kg_reasoner.storage import capacities
from kg_reasoner.storage.terms import term_growth
from kg_reasoner.storage.terms.dictionary import Dictionary


@pytest.fixture(autouse=True, params=[1, 16])
def small(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A dictionary counts as large from a hundred terms on, and grows in steps of different sizes."""
    monkeypatch.setattr(capacities, "current", capacities.Capacities(large=100))
    for name in ("SLICE", "TEXT_SLICE"):
        monkeypatch.setattr(term_growth, name, request.param)
    yield


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return the sizes of the dictionaries that have grown at once."""
    sizes: list[int] = []

    def noted(name: str) -> None:
        grow = getattr(Dictionary, name)

        def grown(dictionary: Dictionary, size: int) -> None:
            sizes.append(len(dictionary))
            grow(dictionary, size)

        monkeypatch.setattr(Dictionary, name, grown)

    noted("_set_room")
    noted("_set_text_capacity")
    return sizes


def name(number: int) -> str:
    """Return the text of a term, of any length."""
    return f"<http://example.org/{number}{'x' * (number * 7919 % 60)}>"


def expect_all(dictionary: Dictionary, texts: list[str]) -> None:
    """Expect a dictionary to consist of some terms, in this order."""
    assert dictionary.texts() == texts
    assert dictionary.find_texts(texts).tolist() == list(range(len(texts)))
    assert dictionary.find_text("<http://example.org/unknown>") == -1


def test_single_terms(at_once: list[int]) -> None:
    dictionary, texts = Dictionary(), list[str]()
    for number in range(3000):
        texts.append(name(number))
        assert dictionary.encode_texts([texts[-1]]).tolist() == [number]
        if number % 50 == 0:
            expect_all(dictionary, texts)
    expect_all(dictionary, texts)
    assert dictionary.room == 4096
    assert max(at_once) < 200


def test_batches_of_any_size() -> None:
    """Successors that are not complete in time are discarded."""
    random = Random(7)
    dictionary, texts, known = Dictionary(), list[str](), dict[str, int]()
    while len(texts) < 5000:
        batch = [name(random.randrange(len(texts) + 200)) for _ in range(random.choice((1, 1, 1, 5, 300)))]
        for text in batch:
            if known.setdefault(text, len(texts)) == len(texts):
                texts.append(text)
        assert dictionary.encode_texts(batch).tolist() == [known[text] for text in batch]
        if not random.randrange(20):
            expect_all(dictionary, texts)
    expect_all(dictionary, texts)


def test_other_ways_to_grow_meanwhile() -> None:
    """Terms that are expected, room that is given back, and terms that come without a step of growth."""
    dictionary, texts = Dictionary(), list[str]()

    def add(count: int) -> None:
        for _ in range(count):
            texts.append(name(len(texts)))
            dictionary.encode_texts([texts[-1]])

    add(240)
    assert dictionary.expect(10_000, 1_000_000)
    add(10)
    dictionary.fit()
    expect_all(dictionary, texts)
    add(1000)
    other = Dictionary()
    merged = [name(number) for number in range(1000, 1900)]
    other.encode_texts(merged)
    dictionary.merge(other, other.hashes_of_texts())
    texts += merged[len(texts) - 1000 :]
    add(300)
    expect_all(dictionary, texts)
    dictionary.clear()
    texts.clear()
    add(500)
    expect_all(dictionary, texts)


def test_readers_keep_what_they_see() -> None:
    dictionary, seen = Dictionary(), list[tuple[int, Any, Any]]()
    for number in range(600):
        dictionary.encode_texts([name(number)])
        offsets, texts = dictionary.buffers()
        seen.append((number + 1, offsets, texts))
    for count, offsets, texts in seen:
        assert bytes(texts[: int(offsets[count])]).decode() == "".join(map(name, range(count)))


@pytest.mark.parametrize("error", [MemoryError, LimitError])
def test_without_memory_for_two(error: type[Exception], at_once: list[int]) -> None:
    """Tables whose successors get no memory grow when they are full."""
    dictionary, refused = Dictionary(), list[int]()

    def claim(size: int) -> None:
        if dictionary.has_room(100):
            refused.append(size)
            raise error

    dictionary.claim = claim
    for number in range(400):
        dictionary.encode_texts([name(number)])
    expect_all(dictionary, [name(number) for number in range(400)])
    assert refused
    assert max(at_once) > 200


def growing() -> Dictionary:
    """Return a dictionary whose tables have a successor that is not complete."""
    dictionary = Dictionary()
    dictionary.encode_texts([name(number) for number in range(120)])
    while dictionary._growth._tables is None:
        dictionary.encode_texts([name(len(dictionary))])
    return dictionary


def test_successors_that_are_too_late_are_given_back_first() -> None:
    """Tables that grow at once find the memory that their successors took."""
    dictionary, given_back = growing(), list[bool]()
    assert dictionary._growth._tables is not None
    successor = weakref.ref(dictionary._growth._tables)
    dictionary.claim = lambda _: given_back.append(successor() is None)
    dictionary.encode_texts([name(number) for number in range(300)])
    expect_all(dictionary, [name(number) for number in range(300)])
    assert all(given_back) and given_back


def test_dictionaries_do_not_wait_for_the_garbage_collector() -> None:
    """Their tables are large: they are freed with the last reference, also in the midst of growth."""
    dictionary = growing()
    references = weakref.ref(dictionary), weakref.ref(dictionary._growth)
    gc.disable()
    try:
        del dictionary
        assert [reference() for reference in references] == [None, None]
    finally:
        gc.enable()
