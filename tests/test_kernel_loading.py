"""Where compiled kernels come from: the package, the cache, or the compiler; and what a process imports for them."""

from __future__ import annotations

import ctypes
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from kg_reasoner.storage.kernels import entries, images, loader, machine, memory
from kg_reasoner.storage.kernels.machine import HOST, LEVELS, this_machine

SMALL = ["clear_flags"]
"""Entry points that compile quickly."""

linux = pytest.mark.skipif(this_machine() is HOST, reason="images are for Linux")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache, no image in the package, and entry points that are compiled in every mode."""
    entries.names()
    monkeypatch.setenv("KG_REASONER_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(loader, "_IMAGES", tmp_path / "images")
    monkeypatch.setattr(memory, "CHECKED", False)
    return tmp_path


@pytest.fixture
def compilations(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is said before kernels are compiled."""
    told: list[str] = []
    monkeypatch.setattr(loader, "on_compile", told.append)
    return told


def test_all_modules_of_entry_points_are_listed() -> None:
    listed = {Path(module.__file__ or "").name for module in entries._MODULES}
    files = Path(entries.__file__).parent.glob("*.py")
    assert {file.name for file in files if re.search("^@(brief_)?entry$", file.read_text(), re.MULTILINE)} == listed


@linux
def test_kernels_are_compiled_once(folder: Path, compilations: list[str]) -> None:
    for _ in range(2):
        assert list(loader.load(SMALL)) == SMALL
    assert compilations == ["kg_reasoner: compiling its kernels for this machine, once (a few seconds)"]
    (file,) = (folder / "cache").iterdir()
    assert file.name.startswith(f"kernels-{this_machine().name}-")


@linux
def test_images_of_the_package_are_used_if_they_fit(folder: Path, compilations: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    loader.write_images(SMALL, folder / "images")
    assert sorted(path.stem for path in (folder / "images").iterdir()) == sorted(level.name for level in LEVELS)
    loader.load(SMALL)
    assert (compilations, (folder / "cache").exists()) == ([], False)
    monkeypatch.setattr(loader, "_key", lambda names, processor: "of other sources")
    loader.load(SMALL)
    assert len(compilations) == 1


def test_elsewhere_llvm_loads_object_code(folder: Path, compilations: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loader, "this_machine", lambda: HOST)
    for _ in range(2):
        assert list(loader.load(SMALL)) == SMALL
    assert len(compilations) == 1


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
@pytest.mark.parametrize("ruleset", ["rdfs", "owl2rl"])
def test_what_a_warm_process_imports(ruleset: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()  # the cache that all other tests use
    command = [sys.executable, "-c", FIRST_TRIPLE, ruleset]
    outputs = [subprocess.run(command, capture_output=True, text=True, check=True).stdout for _ in range(2)]
    assert outputs[1].split() == []
