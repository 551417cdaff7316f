"""Where compiled kernels come from: the package, the cache, or the compiler; and what a process imports for them."""

from __future__ import annotations

import ctypes
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from kg_reasoner import cache
from kg_reasoner.storage.kernels import Native, kernel_groups
from kg_reasoner.storage.kernels.kernel_groups import GROUPS, KernelGroup
from kg_reasoner.storage.kernels.machine_code import images, loader, machine
from kg_reasoner.storage.kernels.machine_code.machine import HOST, LEVELS, Target, this_machine
from kg_reasoner.storage.kernels.memory import buffers
from tests.helpers.effort import thinned

SMALL = KernelGroup("graphs", ("graphs.reaching",))
"""A group that compiles quickly."""

linux = pytest.mark.skipif(this_machine() is HOST, reason="images are for Linux")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache, no image in the package, nothing loaded, and entry points that are compiled in every mode."""
    monkeypatch.setenv("KG_REASONER_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(loader, "_IMAGES", tmp_path / "images")
    monkeypatch.setattr(buffers, "CHECKED", False)
    monkeypatch.setattr(loader, "_loaded", {})
    monkeypatch.setattr(loader, "_images", {})
    return tmp_path


def loaded_anew(group: KernelGroup) -> list[str]:
    """Load a group as a new process does, and return the names of its entry points."""
    loader._loaded.clear()
    loader._images.clear()
    return list(loader.load(group))


@pytest.fixture
def compilations(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is said before kernels are compiled."""
    told: list[str] = []
    monkeypatch.setattr(loader, "on_compile", told.append)
    return told


def test_each_module_of_kernels_is_in_one_group() -> None:
    folder = Path(kernel_groups.__file__).parent
    files = (file for file in folder.rglob("*.py") if re.search(r"^@\w*(kernel|entry)$", file.read_text(), re.MULTILINE))
    with_kernels = [".".join(file.relative_to(folder).with_suffix("").parts) for file in files]
    assert sorted(module for group in GROUPS for module in group.modules) == sorted(with_kernels)


@pytest.mark.parametrize("group", GROUPS, ids=lambda group: group.name)
def test_groups_call_only_groups_that_call_no_others(group: KernelGroup) -> None:
    """So that few groups are loaded for one."""
    assert {other.name for other in group.imports.values()} <= {"evaluation"}


@linux
def test_kernels_are_compiled_once(folder: Path, compilations: list[str]) -> None:
    for _ in range(2):
        assert loaded_anew(SMALL) == ["reach"]
    assert compilations == ["kg_reasoner: compiling its kernels for graphs, once (a few seconds)"]
    (file,) = (folder / "cache").iterdir()
    assert file.name.startswith(f"kernels-graphs-{this_machine().name}-")


IN_A_NEW_PROCESS = """
import sys
from kg_reasoner.storage.kernels.kernel_groups import KernelGroup
from kg_reasoner.storage.kernels.machine_code import loader
loader.GROUPS = (KernelGroup("graphs", ("graphs.reaching",)),)
print(*loader.load(loader.group_with("reach")), "kg_reasoner.storage.kernels.graphs.reaching" in sys.modules)
"""


@linux
def test_a_group_is_loaded_from_its_image_without_its_modules() -> None:
    environment = {name: value for name, value in os.environ.items() if name != "KG_REASONER_KERNELS"}
    command = [sys.executable, "-c", IN_A_NEW_PROCESS]
    found = [subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout for _ in range(2)]
    assert found == ["reach True\n", "reach False\n"]


WITHOUT_OTHER_IMAGES = """
from kg_reasoner.storage.kernels.kernel_groups import GROUPS
from kg_reasoner.storage.kernels.machine_code import loader
for group in GROUPS[:3]:
    loader.load(group)
entry = next(iter(loader.load(GROUPS[2])))
loader._images.clear()
print(loader.group_with(entry).name == GROUPS[2].name, *loader._images)
"""


@linux
def test_the_first_image_tells_where_an_entry_point_is() -> None:
    """So that no image is read in vain: each takes a tenth of a millisecond, which the first change of a process would wait for."""
    environment = {name: value for name, value in os.environ.items() if name != "KG_REASONER_KERNELS"}
    done = subprocess.run([sys.executable, "-c", WITHOUT_OTHER_IMAGES], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == f"True {GROUPS[0].name}\n"


@linux
def test_images_of_the_package_are_used_if_they_fit(folder: Path, compilations: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    loader.write_images([SMALL], folder / "images")
    assert sorted(path.stem for path in (folder / "images").iterdir()) == sorted(f"{level.name}-graphs" for level in LEVELS)
    loaded_anew(SMALL)
    assert (compilations, (folder / "cache").exists()) == ([], False)
    monkeypatch.setattr(loader, "_key", lambda group, processor: "of other sources")
    loaded_anew(SMALL)
    assert len(compilations) == 1


@linux
@pytest.mark.parametrize(
    "damaged",
    [
        lambda whole: whole[: len(whole) // 2],
        lambda whole: whole[:-1] + b"!",
        lambda whole: whole.partition(b"\n")[2],
        lambda whole: b"",
        lambda whole: cache.sealed(b"no JSON\n"),
        lambda whole: cache.sealed(b'{"of": "another version"}\n'),
        lambda whole: cache.sealed(b"[]\n"),
    ],
    ids=["cut", "changed", "without digest", "empty", "no JSON", "other fields", "no fields"],
)
@pytest.mark.parametrize("where", ["package", "cache"])
@pytest.mark.sample(4)
def test_images_that_are_not_whole_are_compiled_again(
    where: str, damaged: Callable[[bytes], bytes], folder: Path, compilations: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded_anew(SMALL)
    (cached,) = (folder / "cache").iterdir()
    whole = cached.read_bytes()
    if where == "package":
        cached.unlink()
        cached = folder / "images" / f"{this_machine().name}-graphs.bin"
        cached.parent.mkdir()
    cached.write_bytes(damaged(whole))
    assert loaded_anew(SMALL) == ["reach"]
    assert len(compilations) == 2


@linux
def test_images_that_cannot_be_read_are_compiled_again(folder: Path, compilations: list[str]) -> None:
    (folder / "images" / f"{this_machine().name}-graphs.bin").mkdir(parents=True)
    assert loaded_anew(SMALL) == ["reach"]
    assert len(compilations) == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this platform has no forks")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_fork_while_another_thread_loads(monkeypatch: pytest.MonkeyPatch) -> None:
    """The forked process loads the kernels itself; the thread that was about to do so is not in it."""
    begun, over = threading.Event(), threading.Event()

    def load(group: KernelGroup) -> dict[str, Callable[..., int]]:
        begun.set()
        over.wait(60)
        return {"run": lambda: 7}

    monkeypatch.setattr(loader, "load", load)
    native = Native()
    thread = threading.Thread(target=lambda: native.run())
    thread.start()
    begun.wait(60)
    child = os.fork()
    if child == 0:
        over.set()
        signal.alarm(20)
        os._exit(native.run())
    over.set()
    thread.join()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7


def test_elsewhere_llvm_loads_object_code(folder: Path, compilations: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loader, "this_machine", lambda: HOST)
    for _ in range(2):
        assert loaded_anew(SMALL) == ["reach"]
    assert len(compilations) == 1


@pytest.mark.long
@pytest.mark.parametrize("where", [HOST, this_machine()], ids=["by LLVM", "images"])
def test_groups_that_are_called_are_loaded_before(where: Target, compilations: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loader, "this_machine", lambda: where)
    assert loaded_anew(KernelGroup("queries", ("queries.small_queries",))) == ["fetch_few"]
    assert sorted(line.split()[5] for line in compilations) == ["evaluation,", "queries,"]


@linux
def test_a_system_may_forbid_code_to_be_mapped(monkeypatch: pytest.MonkeyPatch) -> None:
    class Library:
        def __init__(self, *_: object, **__: object) -> None:
            ctypes.set_errno(13)

        def mprotect(self, *_: object) -> int:
            return -1

    monkeypatch.setattr(ctypes, "CDLL", Library)
    with pytest.raises(OSError, match="compiled kernels cannot be made executable"):
        images.map_image(images.Image("", {}, {}, bytes(4096)))


V3 = "cx16 lahf_lm popcnt sse4_1 sse4_2 ssse3 abm avx avx2 bmi1 bmi2 f16c fma movbe xsave avx512f"


@pytest.mark.parametrize(
    "platform, architecture, flags, level",
    [
        ("linux", "x86_64", V3, "x86-64-v3"),
        ("linux", "AMD64", V3.replace("bmi2 ", ""), "x86-64"),
        ("linux", "x86_64", "", "x86-64"),
        ("linux", "aarch64", "", "aarch64"),
        ("linux", "riscv64", "", "host"),
        ("darwin", "arm64", "", "host"),
        ("win32", "AMD64", V3, "host"),
    ],
)
def test_levels(platform: str, architecture: str, flags: str, level: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setattr(machine.platform, "machine", lambda: architecture)
    monkeypatch.setattr(machine, "_flags", lambda: frozenset(flags.split()))
    assert this_machine().name == level


FIRST_TRIPLE = """
import sys
from kg_reasoner import Reasoner
from kg_reasoner.terms import IRI, RDF, RDFS
reasoner = Reasoner(ruleset=sys.argv[1])
small, large, thing = (IRI(f"http://example.org/{name}") for name in ("Small", "Large", "thing"))
reasoner.add_triples([(small, RDFS.subClassOf, large), (thing, RDF.type, small)])
assert (thing, RDF.type, large) in set(reasoner.triples())
reasoner.remove_triples([(small, RDFS.subClassOf, large)])
assert (thing, RDF.type, large) not in set(reasoner.triples())
print(*sorted({"lark", "llvmlite", "pyoxigraph", "rdflib", "click", "rich", "re2", "pyarrow"} & set(sys.modules)))
"""


@linux
@pytest.mark.skipif(os.environ.get("KG_REASONER_KERNELS") == "checked", reason="nothing is compiled")
@pytest.mark.parametrize("ruleset", thinned(["owl2rl", "rdfs"], 2))
@pytest.mark.long
def test_what_a_warm_process_imports(ruleset: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()  # the cache that all other tests use
    command = [sys.executable, "-c", FIRST_TRIPLE, ruleset]
    outputs = [subprocess.run(command, capture_output=True, text=True, check=True).stdout for _ in range(2)]
    assert outputs[1].split() == []
