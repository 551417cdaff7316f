"""Room that is made in a dictionary for the terms that the rest of a document is expected to bring."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kg_reasoner.errors import LimitError, LoadError
from kg_reasoner.loaders.rdf import term_forecast
from kg_reasoner.loaders.rdf.readers.reader import read
from kg_reasoner.loaders.rdf.term_forecast import TermForecast
from kg_reasoner.storage.terms.dictionary import Dictionary


@pytest.fixture(autouse=True)
def _few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(term_forecast, "_MANY", 1 << 7)


def add(dictionary: Dictionary, terms: range) -> None:
    dictionary.encode_texts([f"<http://example.org/{number:06}>" for number in terms])


def lines(count: int) -> Iterator[bytes]:
    for number in range(count):
        yield b'<http://example.org/%06d> <http://example.org/p> "%s" .\n' % (number, b"x" * 400)


def test_room_for_terms_at_a_constant_rate() -> None:
    dictionary = Dictionary()
    add(dictionary, range(10))  # of an earlier document
    forecast = TermForecast(dictionary, 1_000_000)
    for position in range(0, 1_000_000, 10_000):
        add(dictionary, range(position // 500, (position + 10_000) // 500))
        forecast.look(position + 10_000)
        if dictionary.room >= 2000:
            break
    assert position < 150_000
    assert dictionary.room == 2048
    before = dictionary.nbytes
    add(dictionary, range(2000))
    assert dictionary.nbytes == before


def test_nothing_is_expected_of_a_document_without_a_size() -> None:
    dictionary = Dictionary()
    forecast = TermForecast(dictionary, None)
    add(dictionary, range(200))
    for position in (1000, 2000, 3000):
        forecast.look(position)
    assert dictionary.room == 256


def test_a_small_document_makes_little_room() -> None:
    """A document of so few bytes can have many terms, but room for them would take more memory than the document."""
    dictionary = Dictionary()
    forecast = TermForecast(dictionary, 20_000)
    for position in (100, 200, 300):
        add(dictionary, range(position))
        forecast.look(position)
    assert dictionary.room <= 512


def test_room_for_terms_that_do_not_come_is_given_back() -> None:
    dictionary = Dictionary()
    with TermForecast(dictionary, 10_000_000) as forecast:
        for position in (10_000, 20_000):
            add(dictionary, range(position // 50))
            forecast.look(position)
        assert dictionary.room >= 20_000
        texts = list(dictionary.texts())
    assert dictionary.room <= 1024
    assert dictionary.nbytes < 100_000
    assert list(dictionary.texts()) == texts
    assert dictionary.encode_texts(texts).tolist() == list(range(400))


@pytest.mark.parametrize("error", [MemoryError, LimitError])
def test_without_memory_tables_remain_as_they_are(error: type[Exception]) -> None:
    dictionary = Dictionary()

    def claim(_: int) -> None:
        raise error

    with TermForecast(dictionary, 10_000_000) as forecast:
        add(dictionary, range(200))
        forecast.look(10_000)
        dictionary.claim = claim
        forecast.look(20_000)
    assert dictionary.room == 256
    assert len(dictionary) == 200


@pytest.mark.parametrize("error", [MemoryError, LimitError])
def test_without_memory_room_is_not_given_back(error: type[Exception]) -> None:
    dictionary = Dictionary()
    add(dictionary, range(200))
    assert dictionary.expect(20_000, 1_000_000)

    def claim(_: int) -> None:
        raise error

    dictionary.claim = claim
    room = dictionary.room
    dictionary.fit()
    assert dictionary.room == room
    assert dictionary.find_text("<http://example.org/000199>") == 199


@pytest.mark.parametrize("threads", [1, 3])
def test_documents_are_read_with_the_same_ids(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    document = b"".join(lines(3000))
    grown: list[int] = []
    expect = Dictionary.expect

    def noted(dictionary: Dictionary, terms: int, text_bytes: int) -> bool:
        grown.append(terms)
        return expect(dictionary, terms, text_bytes)

    monkeypatch.setattr(Dictionary, "expect", noted)
    dictionary = Dictionary()
    blocks = list(read(document, format="nt", dictionary=dictionary, block=100, threads=threads))
    assert sum(len(block.triples) for block in blocks) == 3000
    assert list(dictionary.texts()) == ["<http://example.org/000000>", "<http://example.org/p>", f'"{"x" * 400}"'] + [
        f"<http://example.org/{number:06}>" for number in range(1, 3000)
    ]
    assert grown and max(grown) < 2 * len(dictionary)


def test_a_document_with_an_error_leaves_no_room_for_the_rest_of_it() -> None:
    document = b"".join(lines(600)) + b"<no triple\n" + b"# nothing\n" * 1_000_000
    dictionary = Dictionary()
    rooms: list[int] = []
    with pytest.raises(LoadError, match="601"):
        for _ in read(document, format="nt", dictionary=dictionary, block=100, threads=1):
            rooms.append(dictionary.room)
    assert max(rooms) > 8192
    assert dictionary.room <= 4096
