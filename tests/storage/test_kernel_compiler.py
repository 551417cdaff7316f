"""The compiler of kernels: what is compiled does what the same function does in Python, and what kernels cannot use is rejected."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies

from kg_reasoner.storage.kernels import decorators, interning, primitives
from kg_reasoner.storage.kernels.machine_code import compiler, images, linking
from kg_reasoner.storage.kernels.machine_code.assembly import Builder, Module
from kg_reasoner.storage.kernels.machine_code.machine import HOST, LEVELS, Target, this_machine
from kg_reasoner.storage.kernels.memory.structs import Array, Bytes, Int16s, Int64s, Struct
from tests.helpers.extras import needed

SHIFT = 3


class Inner(Struct):
    number: int


class Outer(Struct):
    count: int
    items: Int64s
    small: Int16s
    bytes: Bytes
    inner: Array[Inner]


def arithmetic(a: int, b: int) -> int:
    """Wrap around, shift, negate, and divide downwards."""
    c = d = (a + b) * 31 - (a ^ b)
    c += (a & 0xFF) << SHIFT
    c, d = d | -a, ~c >> 2
    return (c + d) ^ (a // 8) ^ (b % 8) ^ (a // (b | 1)) ^ (a % (b | 1))


def conditions(a: int, b: int) -> int:
    """Return the operand that decides, compare, and choose."""
    low = a if a < b else b
    both = a and b
    either = a or b or 7
    result = 1 if not both and (a > 3 or b <= -3) else 0
    equal = a >= b
    if equal == (b != 2):
        result = result + 10
    elif not both:
        result = result - 10
    else:
        return low
    return low + both * 3 + either + result + (not a)


def loops(a: int, b: int) -> int:
    """Leave loops and go on in them."""
    total = 0
    for i in range(a & 15):
        if i == (b & 7):
            continue
        for j in range(i, 20, 3):
            if j > 12:
                break
            total = total + i * j
    for k in range(b & 15, -1, -2):
        total = total * 3 + k
    left = 5
    while True:
        left = left - 1
        if left < 0:
            break
        while total > 1000 and left:
            total = total >> 1
    return total


def inner(value: int) -> int:
    """Be called by another kernel."""
    if value > 100:
        return 100
    return value


def calls(a: int, b: int) -> int:
    """Call a kernel and an intrinsic."""
    return inner(a & 1023) + python_mix(inner(b) ^ a)


def records(outer: Outer, a: int, b: int) -> int:
    """Read and write fields and items of all widths."""
    outer.count = outer.count + a
    places = outer.items + 1
    places[0] = a
    outer.small[1] = b & 0x7FFF
    outer.small[2] = -2
    outer.bytes[3] = 200
    second = outer.inner[1]
    second.number = second.number + 5
    return outer.items[1] + outer.small[1] * outer.small[2] + outer.bytes[3] + outer.inner[1].number + outer.count


def jumps(a: int, b: int) -> int:
    """Have so many cases that they become a table of jumps."""
    if a == 0:
        return b + 3
    if a == 1:
        return b * 5
    if a == 2:
        return b ^ 7
    if a == 3:
        return inner(b)
    if a == 4:
        return -b
    if a == 9:
        return b >> 3
    return python_mix(b)


def fills(items: Bytes, count: int) -> int:
    """Write so regularly that it becomes a call of the C library."""
    for position in range(count):
        items[position] = 7
    return count


def words(items: Bytes, count: int) -> int:
    """Move a word that begins anywhere."""
    python_set_word(items, count, python_word(items, 1))
    return count


python_mix, python_word, python_set_word = primitives.mix, primitives.word, primitives.set_word
TWO = (arithmetic, conditions, loops, calls, jumps)
integers = strategies.integers(-(1 << 63), (1 << 63) - 1) | strategies.integers(-20, 20)


def compiled(*functions: Callable[..., int], target: Target | None = None, speed_level: int = 1) -> dict[str, int]:
    """Compile functions as entry points and return their addresses."""
    names = [function.__name__ for function in functions]
    code = compiler.compile_kernels(names, "t_", target or this_machine(), speed_level=speed_level)
    return images.map_image(linking.linked(code, "t_", ""))


@pytest.fixture(scope="module", autouse=True)
def _registered() -> Iterator[None]:
    """Register this module's kernels as long as it is tested."""
    before = dict(decorators.kernels)
    for function in (inner, *TWO, fills, records, words):
        decorators.entry(function)
    own = {f"python_{name}": compiler.INTRINSICS[name] for name in ("mix", "word", "set_word")}
    compiler.INTRINSICS.update(own)
    yield
    decorators.kernels.clear()
    decorators.kernels.update(before)
    for name in own:
        del compiler.INTRINSICS[name]


linux = pytest.mark.skipif(this_machine() is HOST, reason="images are for Linux")


@linux
@pytest.mark.parametrize("a, b", [(5, 7), (1000, 200), (-3, 1 << 40)])
def test_kernels_call_those_of_other_images(a: int, b: int) -> None:
    first = compiled(inner)
    code = compiler.compile_kernels(["calls"], "t_", this_machine(), elsewhere=["inner"])
    image = linking.linked(code, "t_", "")
    assert list(image.imports) == ["t_inner"]
    signature = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64, ctypes.c_int64)
    assert signature(images.map_image(image, first)["t_calls"])(a, b) == wrapped(calls(a, b))


@pytest.fixture(scope="module", params=[1, 2], ids=["level1", "level2"])
def two(request: pytest.FixtureRequest) -> dict[str, Callable[[int, int], int]]:
    signature = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64, ctypes.c_int64)
    return {name.removeprefix("t_"): signature(address) for name, address in compiled(*TWO, speed_level=request.param).items()}


def wrapped(number: int) -> int:
    return (number + (1 << 63)) % (1 << 64) - (1 << 63)


@linux
@pytest.mark.parametrize("function", TWO)
@given(a=integers, b=integers)
def test_compiled_code_does_what_python_does(
    two: dict[str, Callable[[int, int], int]], function: Callable[[int, int], int], a: int, b: int
) -> None:
    if function is arithmetic:  # wraps around, which Python does not; so the operands are small
        a, b = a >> 40, b >> 40
    assert two[function.__name__](a, b) == wrapped(function(a, b))


@linux
@given(a=integers, b=integers)
def test_integers_wrap_around(two: dict[str, Callable[[int, int], int]], a: int, b: int) -> None:
    parts = wrapped(wrapped(wrapped(a + b) * 31) - (a ^ b))
    shifted = wrapped(parts + ((a & 0xFF) << SHIFT))
    c, d = parts | wrapped(-a), ~shifted >> 2
    expected = wrapped(c + d) ^ (a // 8) ^ (b % 8) ^ wrapped(a // (b | 1)) ^ (a % (b | 1))
    if (a, b | 1) != (-(1 << 63), -1):  # the one quotient that does not fit
        assert two["arithmetic"](a, b) == wrapped(expected)


@linux
def test_structs_and_arrays() -> None:
    (address,) = compiled(records).values()
    function = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_int64] * 3)(address)
    items, small, octets = np.zeros(4, np.int64), np.zeros(4, np.int16), np.zeros(4, np.uint8)
    inners = np.array([[10], [20]], np.int64)
    outer = np.array([7, *(array.ctypes.data for array in (items, small, octets, inners))], np.int64)
    assert function(outer.ctypes.data, 3, 4) == 3 + 4 * -2 + 200 + 25 + 10
    assert (items.tolist(), small.tolist(), octets.tolist()) == ([0, 3, 0, 0], [0, 4, -2, 0], [0, 0, 0, 200])
    assert inners.tolist() == [[10], [25]]
    assert outer[0] == 10


@linux
@pytest.mark.parametrize("place", [0, 3, 11])
def test_words_need_not_be_aligned(place: int) -> None:
    (address,) = compiled(words).values()
    function = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_int64] * 2)(address)
    octets, expected = (np.arange(250, 230, -1, dtype=np.uint8) for _ in range(2))
    assert function(octets.ctypes.data, place) == place
    expected[place : place + 8] = expected[1:9].copy()
    assert octets.tolist() == expected.tolist()


def copied(length: int) -> list[int]:
    """Return what an array of 40 sevens is after bytes from 4 on have been copied to its sixth place."""
    return [7] * 5 + list(range(4, 4 + length)) + [7] * (35 - length)


@linux
def test_bytes_are_copied_word_by_word() -> None:
    code = compiler.compile_kernels(["copy_bytes"], "t_", this_machine())
    (address,) = images.map_image(linking.linked(code, "t_", "")).values()
    copy = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_int64] * 5)(address)
    source = np.arange(1, 41, dtype=np.uint8)
    for length in range(30):
        out = np.full(40, 7, np.uint8)
        assert copy(source.ctypes.data, 3, 3 + length, out.ctypes.data, 5) == 5 + length
        assert out.tolist() == copied(length)


def test_python_copies_the_same_bytes() -> None:
    for length in range(30):
        out: Any = [7] * 40
        source: Any = list(range(1, 41))
        assert interning.copy_bytes(source, 3, 3 + length, out, 5) == 5 + length
        assert out == copied(length)


# --- what becomes a part of its callers

CALLS = """
tiny 2 :                        # 2 instructions, calls of nothing
pair 0 : tiny tiny              # as large as both, without the calls
four 0 : pair pair              # small where pairs do not become a part of it
lone 9 :                        # called once
recursive 1 : recursive
main 0 : tiny pair pair four four lone recursive
"""


@pytest.mark.parametrize("largest, expected", [(0, {"lone"}), (2, {"lone", "tiny", "four"}), (4, {"lone", "tiny", "pair"})])
def test_small_functions_become_a_part_of_their_callers(largest: int, expected: set[str]) -> None:
    module = Module(largest)
    lines = [line.partition("#")[0].split() for line in CALLS.strip().splitlines()]
    functions = {name: module.function(name, ["i64"], "i64") for name, *_ in lines}
    for name, size, _, *called in lines:
        functions[name].is_internal = name != "main"
        builder = Builder(module, functions[name], functions[name].new_block())
        for _ in range(int(size)):
            builder.operation("add", "%a0", "1")
        for other in called:
            builder.call(functions[other], ["%a0"])
        builder.ret("%a0")
    assert set(re.findall(r'@"(\w+)"\(.*\) nounwind alwaysinline \{', module.text)) == expected


# --- what kernels cannot use: each of these ends in an error that shows the place

REJECTED = """
def keywords(a: int) -> int:
    return inner(value=a)                       # kernels call only kernels, without keywords
def unknown(a: int) -> int:
    return len(a)                               # kernels call only kernels, without keywords
def text(a: int) -> int:
    return "a"                                  # constants are integers
def power(a: int) -> int:
    return a ** 2                               # Pow is not supported
def chain(a: int) -> int:
    return 0 < a < 2                            # comparisons are of two integers
def iteration(a: int) -> int:
    for x in a:                                 # loops are over ranges, without else
        pass
    return 0
def otherwise(a: int) -> int:
    while a:                                    # loops have no else
        a = a - 1
    else:
        return 1
    return 0
def step(a: int) -> int:
    for x in range(0, 9, a):                    # the step of a range is a constant
        pass
    return 0
def field(a: Outer) -> int:
    return a.missing                            # there is no field missing
def item(a: Outer) -> int:
    return a[0]                                 # only arrays have items
def whole(a: Outer) -> int:
    a.inner[0] = 1                              # only items can be set
    return 0
def operands(a: Outer) -> int:
    return a.inner * 2                          # operands are integers
def mixed(a: Outer, b: int) -> int:
    c = a.items if b else a.small               # both values are of one kind
    return c[0]
def kinds(a: Outer) -> int:
    b = 1
    b = a.items                                 # b is of two kinds
    return 0
def free(a: int) -> int:
    return nowhere                              # nowhere is neither a variable nor an integer constant
def handler(a: int) -> int:
    with a:                                     # With is not supported
        return 0
def collection(a: int) -> int:
    return [a]                                  # List is not supported
"""


def rejected() -> list[tuple[str, int, str]]:
    """Return each function of `REJECTED`, and the line and text of its error."""
    found, name = [], ""
    for number, line in enumerate(REJECTED.splitlines(), 1):
        name = line[4 : line.index("(")] if line.startswith("def ") else name
        if "#" in line:
            found.append((name, number, line.partition("#")[2].strip()))
    return found


@pytest.mark.parametrize("name, line, message", rejected())
def test_what_kernels_cannot_use(name: str, line: int, message: str, tmp_path: Path) -> None:
    file = tmp_path / "kernels.py"
    file.write_text(REJECTED)
    scope = {"Outer": Outer, "inner": inner}
    exec(compile(REJECTED, str(file), "exec"), scope)
    try:
        decorators.entry(scope[name])  # type: ignore[type-var]
        with pytest.raises(SyntaxError, match=re.escape(f"kernel {name}: {message}")) as raised:
            compiler.compile_kernels([name], "t_", LEVELS[0])
    finally:
        del decorators.kernels[name]
    assert (raised.value.filename, raised.value.lineno) == (str(file), line)


# --- images


def test_aarch64_code_is_linked() -> None:
    """Run code for AArch64 in an emulator."""
    unicorn = needed("unicorn")
    registers = needed("unicorn.arm64_const")
    (aarch64,) = (level for level in LEVELS if level.name == "aarch64")
    names = [function.__name__ for function in (*TWO, fills)]
    image = linking.linked(compiler.compile_kernels(names, "t_", aarch64), "t_", "")
    start, stack, memset, arrays = 0x10000, 0x200000, 0x300000, 0x400000
    machine = unicorn.Uc(unicorn.UC_ARCH_ARM64, unicorn.UC_MODE_ARM)
    for place in (start, stack, memset, arrays):
        machine.mem_map(place, 0x10000)
    code = bytearray(image.code)
    assert list(image.imports) == ["memset"]
    code[image.imports["memset"] : image.imports["memset"] + 8] = memset.to_bytes(8, "little")
    machine.mem_write(start, bytes(code))
    machine.mem_write(memset, bytes.fromhex("820000b4 01140038 420400d1 fdffff17 c0035fd6"))  # cbz, strb, sub, b, ret

    def run(name: str, *arguments: int) -> int:
        for register, argument in zip((registers.UC_ARM64_REG_X0, registers.UC_ARM64_REG_X1), arguments, strict=True):
            machine.reg_write(register, argument % (1 << 64))
        machine.reg_write(registers.UC_ARM64_REG_SP, stack + 0x8000)
        machine.reg_write(registers.UC_ARM64_REG_LR, stack)
        machine.emu_start(start + image.entries[f"t_{name}"], stack)
        return wrapped(machine.reg_read(registers.UC_ARM64_REG_X0))

    numbers = [-(1 << 40), -17, -1, 0, 1, 2, 9, 12345, 1 << 40]
    for function in TWO:
        for a in numbers:
            for b in numbers:
                assert run(function.__name__, a, b) == wrapped(function(a, b)), (function.__name__, a, b)
    assert run("fills", arrays, 100) == 100
    assert machine.mem_read(arrays, 101) == bytes([7]) * 100 + b"\0"


def test_unknown_relocations_are_rejected() -> None:
    for relocate in linking._RELOCATORS.values():
        with pytest.raises(ValueError, match="has a relocation of type 999"):
            relocate(bytearray(16), 0, 8, 999)
