"""LUBM in a reasoner, and parts of it to remove and add: single triples, samples, whole departments."""

from __future__ import annotations

import gc
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from benchmarks.inputs.data import made, universities_as_ntriples, write_ontology
from kg_reasoner.api.reasoner import Reasoner
from kg_reasoner.loaders.rdf.readers import reader as rdf
from kg_reasoner.storage.arrays import Ids
from kg_reasoner.storage.releasing import release_memory

__all__ = ["Ids", "Lubm", "LubmPart", "data_folder", "fingerprint", "fresh", "little_garbage", "lubm", "parts"]


HUNDRED: Final = 100
SHARES: Final = (0.01, 0.1)
DEPARTMENT: Final = re.compile(r"Department\d+\.University\d+")


@dataclass(frozen=True)
class Lubm:
    """A reasoner with the triples of some universities, not yet materialised."""

    reasoner: Reasoner
    data: Ids
    """The distinct triples of the universities, without those of the ontology: taking those out would change rules."""
    ontology: Ids


def data_folder(given: Path | None) -> Path:
    """Return the folder for the benchmarks' data."""
    return given or Path(tempfile.gettempdir()) / "kg-reasoner-benchmarks"


def lubm(universities: int, folder: Path, data_first: bool = False, **options: Any) -> Lubm:
    """Load LUBM's ontology and data, or the data first, into a new `Reasoner` with some options. Equal calls give equal ids.

    Memory that this has needed is given back, as after `Reasoner.load`.
    """
    ontology = made(folder / "ontology.nt", write_ontology)
    data = made(folder / f"lubm{universities}" / "data.nt", lambda file: file.writelines(universities_as_ntriples(universities)))
    reasoner = Reasoner(**options)
    axioms, triples = triples_of(ontology, reasoner), triples_of(data, reasoner)
    for block in (triples, axioms) if data_first else (axioms, triples):
        reasoner.add_triples(block)
    release_memory(len(triples))
    return Lubm(reasoner, triples, axioms)


def triples_of(path: Path, reasoner: Reasoner) -> Ids:
    """Return the distinct triples of a file, as ids of the reasoner's dictionary."""
    blocks = [np.asarray(block.triples) for block in rdf.read(str(path), dictionary=reasoner.dictionary)]
    return np.unique(np.concatenate(blocks), axis=0)


def fresh(reasoner: Reasoner, **options: Any) -> Reasoner:
    """Return a new reasoner with the explicit triples of another one, under the same ids, and its options, or rules without new
    terms.
    """
    made = Reasoner(**options)
    texts = reasoner.dictionary.texts()
    made.dictionary.encode_texts(texts)
    assert made.dictionary.texts() == texts, "the ids differ"
    made.add_triples(reasoner.triple_ids("explicit"))
    return made


@contextmanager
def little_garbage() -> Iterator[None]:
    """Exclude existing objects from Python's garbage collection, so that its runs are short and caused by the measured code.

    In a process that excludes objects already, as that of the tests does, they all remain excluded.
    """
    excluded = gc.get_freeze_count()
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        if not excluded:
            gc.unfreeze()


@dataclass(frozen=True)
class LubmPart:
    """A kind of change: the number of triples, and how they are chosen."""

    name: str
    triples: int
    """How many; of departments, about as many."""
    chosen: npt.NDArray[np.int64] | None = None
    """The department of each triple, where whole departments are chosen (-1: none)."""

    def draws(self, data: Ids, seed: int) -> Iterator[Ids]:
        """Yield independent random parts of the data, without end."""
        random = np.random.default_rng([seed, self.triples])
        while True:
            if self.chosen is None:
                yield data[np.sort(random.choice(len(data), self.triples, replace=False, shuffle=False))]
            else:
                yield data[self._departments(random)]

    def _departments(self, random: np.random.Generator) -> npt.NDArray[np.bool_]:
        """Return one or more departments with the number of triples closest to the given one."""
        assert self.chosen is not None
        sizes = np.bincount(self.chosen[self.chosen >= 0])
        order = random.permutation(len(sizes))
        closest = np.abs(np.cumsum(sizes[order]) - self.triples).argmin()
        return np.isin(self.chosen, order[: closest + 1])


def parts(lubm: Lubm) -> list[LubmPart]:
    """Return the parts that the benchmark removes and adds."""
    count = len(lubm.data)
    departments = departments_of(lubm)
    sizes = np.bincount(departments[departments >= 0])
    found = [LubmPart("1 triple", 1), LubmPart(f"{HUNDRED} triples", min(HUNDRED, count))]
    found += [LubmPart(f"{share:.0%} at random", max(1, int(share * count))) for share in SHARES]
    found.append(LubmPart("1 department", 1, departments))
    at_least = 1.5 * sizes.mean()
    for share in SHARES:
        if share * count >= at_least:
            found.append(LubmPart(f"{share:.0%}, departments", int(share * count), departments))
    return found


def departments_of(lubm: Lubm) -> npt.NDArray[np.int64]:
    """Return for each triple of the data the department of its subject (0, 1 ...), or -1."""
    subjects, places = np.unique(lubm.data[:, 0], return_inverse=True)
    numbers: dict[str, int] = {}
    of_subject = np.full(len(subjects), -1)
    for place, text in enumerate(lubm.reasoner.dictionary.texts_of(subjects.tolist())):
        found = DEPARTMENT.search(text)
        if found:
            of_subject[place] = numbers.setdefault(found[0], len(numbers))
    return of_subject[places.reshape(-1)]


def fingerprint(reasoner: Reasoner) -> tuple[int, int, int]:
    """Return the numbers of explicit triples and of all triples, and an order-independent hash of them.

    Reasoners whose dictionaries differ cannot be compared.
    """
    ids = reasoner.triple_ids().astype(np.uint64)
    mixed = (ids[:, 0] * np.uint64(0x9E3779B97F4A7C15) + ids[:, 1]) * np.uint64(0xC2B2AE3D27D4EB4F) + ids[:, 2]
    mixed ^= mixed >> np.uint64(29)
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    mixed ^= mixed >> np.uint64(32)
    return len(reasoner.triple_ids("explicit")), len(ids), int(mixed.sum(dtype=np.uint64))
