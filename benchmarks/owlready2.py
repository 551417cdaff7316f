"""``sync_reasoner`` beside HermiT and Pellet through owlready2: ``python -m benchmarks.owlready2 FILES``.

The files are ontologies in RDF/XML, OWL/XML or N-Triples, such as ``test/pizza_onto.owl`` of owlready2's source distribution. Each
is loaded for each reasoner into a World of its own, in a process of its own. The first call includes what it has to start: our
modules, or Java. Then one class gets a further super-class, and the second call is measured; owlready2 starts Java again for it.
The seconds are CPU time, of Java too, or wall time with ``--wall``. Ontologies that a reasoner finds inconsistent, or that cannot
be read, are named.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import click

from benchmarks.measuring.commands import SETTINGS

__all__ = ["main"]

REASONERS = ("ours", "hermit", "pellet")


@click.command(context_settings=SETTINGS, help=__doc__)
@click.argument("files", nargs=-1, type=click.Path(exists=True, dir_okay=False))
@click.option("--reasoner", "reasoners", multiple=True, type=click.Choice(REASONERS), default=("ours", "hermit"), show_default=True)
@click.option("--wall", is_flag=True, help="Measure wall time.")
@click.option("--one", "measured", type=click.Choice(REASONERS), hidden=True, help="Measure the first file in this process.")
def main(files: tuple[str, ...], reasoners: tuple[str, ...], wall: bool, measured: str | None) -> None:
    if measured is not None:
        click.echo(json.dumps(measure(files[0], measured, time.perf_counter if wall else cpu_seconds)))
        return
    click.echo(f"{'seconds of the first and the second call':40}" + "".join(f"{name:>16}" for name in reasoners) + "   ratios")
    for file in files:
        found = {name: in_own_process(file, name, wall) for name in reasoners}
        cells = ["/".join(f"{each:.2f}" for each in times) if isinstance(times, list) else times for times in found.values()]
        ours, ratios = found.get("ours"), ""
        for name, times in found.items():
            if name != "ours" and isinstance(ours, list) and isinstance(times, list):
                ratios += f"   {name} {times[0] / ours[0]:.1f}/{times[1] / ours[1]:.0f} times ours"
        click.echo(f"{Path(file).name:40}" + "".join(f"{cell:>16}" for cell in cells) + ratios)


def in_own_process(file: str, reasoner: str, wall: bool) -> list[float] | str:
    command = [sys.executable, "-m", "benchmarks.owlready2", "--one", reasoner, *(["--wall"] if wall else []), file]
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode:
        return "failed"
    found: list[float] | str = json.loads(result.stdout.splitlines()[-1])
    return found


def cpu_seconds() -> float:
    """Return the CPU time of this process and of those that it has started and that have ended."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def measure(file: str, reasoner: str, clock: Callable[[], float]) -> list[float] | str:
    """Return the seconds of the first and the second call, or what went wrong."""
    import owlready2

    world = owlready2.World()
    path = Path(file).resolve()
    owlready2.onto_path.append(str(path.parent))
    ontology = world.get_ontology(path.as_uri()).load()

    def call() -> float:
        start = clock()
        if reasoner == "ours":
            from kg_reasoner.owlready2 import sync_reasoner

            sync_reasoner(world, debug=0)
        else:
            run = owlready2.sync_reasoner_hermit if reasoner == "hermit" else owlready2.sync_reasoner_pellet
            run(world, debug=0)
        return clock() - start

    try:
        first = call()
        with ontology:
            new = owlready2.types.new_class("AddedByTheBenchmark", (owlready2.Thing,))
            changed = next((each for each in ontology.classes() if each is not new), None)
            if changed is not None:
                changed.is_a.append(new)
        return [first, call()]
    except owlready2.OwlReadyInconsistentOntologyError:
        return "inconsistent"


if __name__ == "__main__":
    main()
