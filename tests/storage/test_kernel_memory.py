"""What Python hands to kernels: addresses, arguments, and structs with a table of their own."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kg_reasoner import Reasoner
from kg_reasoner.storage.arrays import among_sorted
from kg_reasoner.storage.kernels import native
from kg_reasoner.storage.kernels.layout import Context
from kg_reasoner.storage.kernels.memory import buffers
from kg_reasoner.storage.kernels.memory.buffers import address, allocate, argument, lend
from kg_reasoner.storage.kernels.memory.checked_memory import at_address
from kg_reasoner.storage.kernels.memory.struct_tables import StructTable
from kg_reasoner.storage.kernels.memory.structs import Int32s


def read_only() -> npt.NDArray[np.int64]:
    array = np.arange(4)
    array.flags.writeable = False
    return array


ARRAYS = {
    "ids": np.arange(5, dtype=np.int32),
    "a part": np.arange(9)[3:],
    "every other": np.arange(9)[::2],
    "read-only": read_only(),
    "bytes": np.frombuffer(b"abc", np.uint8),
    "empty": np.empty(0, np.int32),
    "rows": np.zeros((2, 3), np.int32),
}


@pytest.mark.parametrize("name", ARRAYS)
def test_address(name: str) -> None:
    assert address(ARRAYS[name]) == ARRAYS[name].ctypes.data


def test_kernels_take_arguments_that_are_converted() -> None:
    reasoner = Reasoner("p(1, 2) .")
    reasoner.materialise()
    database = reasoner.engine.database
    relation = reasoner.engine.catalog.predicates["p"]
    here = database.context.address
    assert native.is_full_soon(here, relation) == native.is_full_soon(argument(here), argument(relation)) == 0


@pytest.mark.parametrize("number", [0, -1, 1 << 62, -(1 << 63)])
def test_fields_of_a_single_struct(number: int) -> None:
    table = StructTable(Context, capacity=1)
    context = table.add(type_id=number)
    word = Context.fields["type_id"][0]
    assert context.type_id == table.words[0, word] == table.flat[word] == number
    table.words[0, word] = 7
    assert context.type_id == 7
    context.publish(type_id=8, removed=allocate(3, np.int64))
    assert (table.words[0, word], len(context.removed)) == (8, 3)
    assert table.words[0, Context.fields["removed"][0]] == address(context.removed)


def test_a_single_struct_has_no_other_fields() -> None:
    context = StructTable(Context, capacity=1).add()
    with pytest.raises(AttributeError):
        context.unheard_of = 1


def test_a_single_struct_stays_single() -> None:
    table = StructTable(Context, capacity=1)
    table.add()
    with pytest.raises(AssertionError):
        table.add()


numbers = st.lists(st.integers(-5, 20), max_size=12)


@given(numbers, numbers)
def test_among_sorted_tells_which_ids_are_members(ids: list[int], members: list[int]) -> None:
    found = among_sorted(np.array(ids, np.int32), np.unique(np.array(members, np.int32)))
    assert found.tolist() == [number in members for number in ids]


LOADS = """
import sys
from kg_reasoner import Reasoner
from kg_reasoner.terms import IRI, OWL, RDF, RDFS
reasoner = Reasoner(ruleset="owl2rl")
names = [IRI(f"http://example.org/{number}") for number in range(300)]
reasoner.add_triples([(name, RDF.type, OWL.Class) for name in names])
reasoner.add_triples([(one, RDFS.subClassOf, other) for one, other in zip(names, names[1:])])
reasoner.materialise()
print("numpy.ma" in sys.modules)
"""


def test_what_is_lent_remains_known_to_checked_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    """The loan of an array that kernels know already, or of its beginning, ends without their forgetting it."""
    monkeypatch.setattr(buffers, "CHECKED", True)
    table = allocate(8, np.int32, 7)
    for part in (table, table[:4]):
        lent = lend(np.ascontiguousarray(part))
        assert lent.tolist() == part.tolist()
        del lent
        assert at_address(address(table), Int32s)[7] == 7
    lent, place = lend(table[:4]), address(table)
    del table, part
    assert at_address(place, Int32s)[3] == lent[3] == 7


@pytest.mark.skipif(buffers.CHECKED, reason="takes long in checked mode")
def test_first_steps_do_without_masked_arrays() -> None:
    """NumPy imports them when `numpy.unique` is called in its plain form, also by `numpy.isin`; that takes longer than many
    updates.
    """
    done = subprocess.run([sys.executable, "-c", LOADS], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False"]
