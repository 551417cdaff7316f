"""Changes of facts by commands of the shell: ``insert``, ``delete``, ``insert_or_update``, ``delete_key`` and ``modify``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from kg_reasoner.api.reasoner import Reasoner
from kg_reasoner.api.transaction import run_in
from kg_reasoner.data_classes import dataclass
from kg_reasoner.errors import ArityError, ReasonerError, UnknownNameError, plural
from kg_reasoner.program import Declaration
from kg_reasoner.shell.commands import FactArguments, Reader, typed
from kg_reasoner.terms import Term

__all__ = ["ShellUpdate", "apply_updates", "read_update"]


@dataclass(slots=True)
class ShellUpdate:
    """A change of facts that has been read and not been applied."""

    kind: str
    predicate: str
    row: tuple[Term, ...]
    changes: Mapping[str, Term]


def read_update(
    reasoner: Reasoner, reader: Reader, word: str, relations: Callable[[], Mapping[str, Sequence[str]]], prefixes: Mapping[str, str]
) -> ShellUpdate:
    """Return the change that a command asks for.

    Args:
        reasoner: The reasoner.
        reader: What follows the command's word.
        word: The word.
        relations: Returns the names of all relations, with those of their columns.
        prefixes: The prefixes of names.

    Returns:
        The change.

    Raises:
        RuleSyntaxError, ArityError, UnknownNameError: It is not one of a known relation with these columns.
    """
    predicate = reader.name("the name of a relation")
    declared = reasoner.core.declared(predicate)
    if declared is None and predicate not in reasoner.engine.arities():
        known = relations()
        raise UnknownNameError("relation", predicate, known) if known else reader.wrong(f"unknown relation {predicate}")
    changes: dict[str, Term] = {}
    if word in ("delete_key", "modify"):
        row = reader.key()
        types: dict[str, str] = {}
        if declared is not None:
            types = {column.name: column.type for column in declared.columns}
            if len(row) == len(declared.key):
                row = tuple(typed(term, types[name], prefixes) for term, name in zip(row, declared.key, strict=True))
            if word == "modify":
                reader.mark("<-")
                fields = reader.fields(list(types))
                changes = {name: typed(term, types.get(name, "any"), prefixes) for name, term in fields.items()}
    else:
        row = _row(reader.arguments(), predicate, declared, prefixes)
    reader.expect_end()
    return ShellUpdate(word, predicate, row, changes)


def _row(arguments: FactArguments, predicate: str, declared: Declaration | None, prefixes: Mapping[str, str]) -> tuple[Term, ...]:
    if arguments.whole is not None and declared is not None and len(declared.columns) == 1:
        arguments = FactArguments([arguments.whole], {})
    if declared is None:
        if arguments.named:
            raise ReasonerError(f"the columns of {predicate} have no names: give all arguments in order")
        return tuple(arguments.ordered)
    terms, columns = arguments.ordered, declared.columns
    if arguments.named:
        names = [column.name for column in columns]
        for name in arguments.named:
            if name not in names:
                raise UnknownNameError(f"column of {predicate}", name, names)
        missing = [name for name in names if name not in arguments.named]
        if missing:
            raise ArityError(f"{predicate} has {plural(len(names), 'argument')}: {', '.join(missing)} is missing")
        terms = [arguments.named[name] for name in names]
    if len(terms) != len(columns):
        raise ArityError(f"{predicate} has {plural(len(columns), 'argument')}, not {len(terms)}")
    return tuple(
        term if column.type in ("any", "string", "integer") else typed(term, column.type, prefixes)
        for term, column in zip(terms, columns, strict=True)
    )


def apply_updates(reasoner: Reasoner, updates: Sequence[ShellUpdate], *, within: bool) -> None:
    """Apply updates: all of them or, after an error, none.

    Args:
        reasoner: The reasoner.
        updates: The updates.
        within: Whether they belong to a transaction that is open.
    """
    if not within:
        if len(updates) == 1:
            _apply_each(reasoner, updates)
        else:
            run_in(reasoner.transaction(collects=False), lambda: _apply_each(reasoner, updates))
        return
    place = reasoner.engine.place
    try:
        _apply_each(reasoner, updates)
    except BaseException:
        if len(updates) > 1 and reasoner.open_transaction is not None:
            reasoner.engine.return_to(place)
        raise


def _apply_each(reasoner: Reasoner, updates: Sequence[ShellUpdate]) -> None:
    """Apply updates in their order, adjacent ones of a kind and a relation together."""
    first = 0
    methods = {
        "insert": reasoner.add_facts,
        "delete": reasoner.remove_facts,
        "insert_or_update": reasoner.insert_or_update,
        "delete_key": reasoner.delete_key,
    }
    while first < len(updates):
        update, end = updates[first], first + 1
        if update.kind == "modify":
            reasoner.modify(update.predicate, update.row, **update.changes)
        else:
            while end < len(updates) and (updates[end].kind, updates[end].predicate) == (update.kind, update.predicate):
                end += 1
            methods[update.kind](update.predicate, [each.row for each in updates[first:end]])
        first = end
