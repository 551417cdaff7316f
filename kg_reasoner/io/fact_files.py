"""The relations of a program, and the files with their facts."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Final, TypeAlias
from urllib.parse import quote

from kg_reasoner.errors import LoadError, suggest
from kg_reasoner.loaders.rdf.packed import PACKED_ENDINGS
from kg_reasoner.program import FALSE, TRIPLE, Column, Program, atoms_within, is_hidden

__all__ = ["Relations", "fact_files", "file_stem", "output_relations", "relations_of", "table_warnings", "unused_tables"]

Relations: TypeAlias = dict[str, tuple[Column, ...]]
"""The columns of each relation, by its predicate."""

_TEXTS: Final = (".tsv", ".csv", ".facts", ".jsonl", ".ndjson")
_SUFFIXES: Final = (*(f"{text}{packing}" for packing in ("", *PACKED_ENDINGS) for text in _TEXTS), ".parquet")


def relations_of(program: Program) -> Relations:
    """Return the columns of each relation of a program: as declared, or of type ``any`` for the arguments of its atoms.

    RDF triples and the head of constraints are not relations.
    """
    relations: Relations = {declaration.predicate: declaration.columns for declaration in program.declarations}
    for rule in program.rules:
        for atom in (rule.head, *atoms_within(rule.body)):
            if is_hidden(atom.predicate):
                continue
            if atom.predicate not in (TRIPLE, FALSE) and atom.predicate not in relations:
                relations[atom.predicate] = tuple(Column(f"column {number}") for number in range(1, atom.arity + 1))
    return relations


def output_relations(program: Program) -> Relations:
    """Return the relations to write: those declared as output; without any, those that the program's own rules derive, or if it has
    no such rules, those of its modules.
    """
    relations = relations_of(program)
    wanted = [declaration.predicate for declaration in program.declarations if declaration.role == "output"]
    if not wanted:
        derived = [rule for rule in program.rules if rule.body and rule.head.predicate in relations]
        own = [rule for rule in derived if not rule.origin.module]
        wanted = [rule.head.predicate for rule in own or derived]
    return {predicate: relations[predicate] for predicate in dict.fromkeys(wanted)}


def file_stem(predicate: str) -> str:
    """Return the file name of a relation, without suffix: the predicate; for an IRI, the IRI with special characters
    percent-encoded.

    >>> file_stem("edge"), file_stem("<http://example.org/edge>")
    ('edge', 'http%3A%2F%2Fexample.org%2Fedge')
    """
    return quote(predicate[1:-1], safe="") if predicate.startswith("<") else predicate


def fact_files(program: Program, folder: str | Path | None, others: Collection[str] = ()) -> dict[str, Path]:
    """Return the files of facts for a program's relations, by predicate. Relations that are declared as output are not read.

    Args:
        program: The program.
        folder: The folder with the files, if there is one.
        others: Predicates whose facts are elsewhere.

    Raises:
        LoadError: There is no such folder, or more than one file for a relation.
    """
    if folder is None:
        return {}
    directory = Path(folder)
    if not directory.is_dir():
        raise LoadError(f"{folder} is not a folder", hint="name the folder that has a file such as edge.tsv for each relation")
    outputs = {declaration.predicate for declaration in program.declarations if declaration.role == "output"}
    files: dict[str, Path] = {}
    for predicate in (name for name in relations_of(program) if name not in outputs and name not in others):
        stem = file_stem(predicate)
        found = [path for suffix in _SUFFIXES if (path := directory / f"{stem}{suffix}").is_file()]
        if len(found) > 1:
            names = ", ".join(path.name for path in found)
            raise LoadError(f"{directory} has more than one file for the relation {predicate}: {names}", hint="keep one of them")
        if found:
            files[predicate] = found[0]
    return files


def unused_tables(program: Program, tables: Mapping[str, Path | str]) -> Iterator[str]:
    """Yield warnings about tables that no relation of the program reads.

    Args:
        program: The program.
        tables: The file, or the query, that gives the facts of each relation.
    """
    relations = relations_of(program)
    for predicate in tables.keys() - relations.keys():
        given = tables[predicate]
        read = f"{given} is read" if isinstance(given, Path) else "there is a query"
        yield f"the program does not use the relation {predicate}, for which {read}{suggest(predicate, relations)}"


def table_warnings(program: Program, folder: str | Path | None, files: Mapping[str, Path | str]) -> Iterator[str]:
    """Yield warnings about likely mistakes, such as typing errors: tables that no relation of the program reads, inputs without
    a table, and other relations without facts.

    Args:
        program: The program.
        folder: The folder with its facts, if there is one.
        files: The files that are read, those that `fact_files` gives and others, and queries.
    """
    relations = relations_of(program)
    yield from unused_tables(program, files)
    stated = {rule.head.predicate for rule in program.rules}
    for declaration in program.declarations:
        if declaration.role == "input" and declaration.predicate not in files.keys() | stated:
            where = "no folder was given"
            if folder is not None:
                where = f"{folder} has no {file_stem(declaration.predicate)}.tsv, .csv, .facts, .jsonl or .parquet"
            yield f"no table for the input relation {declaration.predicate}: {where}"
    stems = {file_stem(predicate) for predicate in relations}
    names = [] if folder is None else sorted(path.name for path in Path(folder).iterdir())
    suffixes = {name: next((suffix for suffix in reversed(_SUFFIXES) if name.endswith(suffix)), "") for name in names}
    for name, suffix in suffixes.items():
        stem = name.removesuffix(suffix)
        if suffix and stem not in stems:
            yield f"{folder}/{name} is not read: the program has no relation {stem}{suggest(stem, stems)}"
    filled = {*files, *(declaration.predicate for declaration in program.declarations if declaration.role == "input")}
    filled.update(rule.head.predicate for rule in program.rules)
    similar = {*filled, *(name.removesuffix(suffix) for name, suffix in suffixes.items() if suffix)}
    reported: set[str] = set()
    for rule in program.rules:
        for atom in atoms_within(rule.body):
            if atom.predicate in relations and atom.predicate not in filled | reported:
                reported.add(atom.predicate)
                span = atom.span or rule.origin.span
                where = f"{span.source}:{span.line}:{span.column}: " if span is not None else ""
                nothing = "no rule derives any, and no file contains any"
                yield f"{where}the relation {atom.predicate} has no facts: {nothing}{suggest(atom.predicate, similar)}"
