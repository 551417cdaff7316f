"""The Gene Ontology as N-Triples, with an instance of each class: ``python -m benchmarks.gene_ontology GO.sqlite go.nt``.

Reads the SQLite file of Bioconductor's package GO.db (Debian's ``r-bioc-go.db`` has it, too): 43,500 terms and 86,000 relations, as
subclasses and as existential restrictions, in version 3.16. `benchmarks.spark_files` compares what Spark and the engine derive.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import click

from benchmarks.measuring.commands import SETTINGS
from kg_reasoner.terms import OWL, RDF, RDFS, literal, term_text

_TYPE, _SUB, _CLASS = (term_text(term) for term in (RDF.type, RDFS.subClassOf, OWL.Class))
_PARTS: Final = ("bp", "mf", "cc")
"""Processes, functions and components have tables of their own."""


def _(name: str) -> str:
    return f"<http://purl.obolibrary.org/obo/{name.replace(':', '_').replace(' ', '_')}>"


def gene_ontology(file: str) -> Iterator[str]:
    """Yield the lines of the ontology.

    Args:
        file: The SQLite file.
    """
    tables = sqlite3.connect(f"file:{file}?mode=ro", uri=True)
    names = {}
    for number, name, label in tables.execute("select _id, go_id, term from go_term"):
        names[number] = _(name)
        yield f"{_(name)} {_TYPE} {_CLASS}"
        yield f"{_(name)} {term_text(RDFS.label)} {term_text(literal(label))}"
        yield f"{_(f'instance {name}')} {_TYPE} {_(name)}"
    kinds = set()
    for part in _PARTS:
        rows = tables.execute(f"select rowid, _id, _parent_id, relationship_type from go_{part}_parents order by rowid")
        for row, number, parent, kind in rows:
            if kind == "isa":
                yield f"{names[number]} {_SUB} {names[parent]}"
            elif parent in names:
                kinds.add(kind)
                restriction = f"_:{part}{row}"
                yield f"{restriction} {_TYPE} {term_text(OWL.Restriction)}"
                yield f"{restriction} {term_text(OWL.onProperty)} {_(kind)}"
                yield f"{restriction} {term_text(OWL.someValuesFrom)} {names[parent]}"
                yield f"{names[number]} {_SUB} {restriction}"
    for kind in sorted(kinds):
        yield f"{_(kind)} {_TYPE} {term_text(OWL.ObjectProperty)}"
    yield f"{_('part of')} {_TYPE} {term_text(OWL.TransitiveProperty)}"


@click.command(context_settings=SETTINGS)
@click.argument("source", type=click.Path(exists=True, dir_okay=False))
@click.argument("target", type=click.Path())
def main(source: str, target: str) -> None:
    """Write the ontology of SOURCE, an SQLite file of GO.db, to TARGET."""
    try:
        lines = [f"{line} .\n" for line in gene_ontology(source)]
    except sqlite3.DatabaseError as error:
        raise click.ClickException(f"{source} is not GO.db: {error}") from None
    Path(target).write_text("".join(lines), encoding="utf-8")
    click.echo(f"{len(lines):,} triples")


if __name__ == "__main__":
    main()
