"""Checks of streams, delays and differences: what follows from a stream is one, and nothing depends on its own difference."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from kg_reasoner.errors import RuleSyntaxError, StratificationError, plural, suggest
from kg_reasoner.expressions.types import Types
from kg_reasoner.program import AUXILIARY, FALSE, Aggregate, Atom, Declaration, Program, Rule, atoms_within

__all__ = ["check_streams", "differences_in_order"]


def check_streams(program: Program, declared: Mapping[str, Declaration]) -> None:
    """Check the rules and declarations of a program with streams, delays or differences.

    Raises:
        RuleSyntaxError: A declaration or rule does not fit.
        StratificationError: A difference depends on itself.
    """
    streams = {name for name, declaration in declared.items() if declaration.kind == "stream"}
    known = {*declared, *(atom.predicate for rule in program.rules for atom in _atoms(rule))}
    shapes = {found.source: found for found in reversed(program.declarations) if found.operator} | dict(declared)
    types = Types(program.types)
    for declaration in declared.values():
        if declaration.operator:
            _check_source(declaration, shapes[declaration.source], known, streams, types)
    sources = {name: name for name in streams}
    auxiliary = [rule for rule in program.rules if rule.head.predicate.startswith(AUXILIARY)]
    _add_auxiliary(auxiliary, sources, streams)
    for rule in program.rules:
        if not rule.head.predicate.startswith(AUXILIARY):
            _check_rule(rule, declared, streams, sources)
    differences_in_order(program)


def _add_auxiliary(rules: Sequence[Rule], sources: dict[str, str], streams: set[str]) -> None:
    """Add the predicates that the rules of the language's own constructs derive from streams.

    Args:
        rules: The rules for these predicates.
        sources: The predicates that read a stream, each with the stream. Further ones are added.
        streams: The predicates that have facts only if a stream has. Those whose rules all read one, not negated, are added.
    """
    found = -1
    while found != len(sources) + len(streams):
        found = len(sources) + len(streams)
        for rule in rules:
            read = [sources[atom.predicate] for atom in atoms_within(rule.body) if atom.predicate in sources]
            if read:
                sources.setdefault(rule.head.predicate, read[0])
        without = {rule.head.predicate for rule in rules if not _has_stream(rule, streams)}
        streams.update(rule.head.predicate for rule in rules if rule.head.predicate not in without)


def _check_source(declaration: Declaration, shape: Declaration, known: Iterable[str], streams: Iterable[str], types: Types) -> None:
    """Check a declaration of a delay or a difference, given one with the columns of its source."""
    name, source = declaration.predicate, declaration.source
    if source not in known:
        raise RuleSyntaxError(f"unknown relation {source}{suggest(source, known)}", declaration.span)
    hint = f"a {declaration.derived_as} has the columns of its source"
    if shape.arity != declaration.arity:
        message = f"{name} has {plural(declaration.arity, 'column')}, and {source} {shape.arity}"
        raise RuleSyntaxError(message, declaration.span, hint)
    for own, its in zip(declaration.columns, shape.columns, strict=True):
        if types.meant(own.type) not in ("any", "term", types.meant(its.type)):
            of_source = f"column {its.name} of {shape.predicate} as {its.type}"
            message = f"column {own.name} of {name} is declared as {own.type}, and {of_source}"
            raise RuleSyntaxError(message, declaration.span, hint)
    if declaration.role == "input":
        raise RuleSyntaxError(f"{name} is a {declaration.derived_as}, and cannot be an input", declaration.span)
    if declaration.operator == "delay":
        if not 1 <= declaration.steps <= 1000:
            raise RuleSyntaxError("a delay takes 1 to 1000 transactions", declaration.span)
        if (source in streams) != (declaration.kind == "stream"):
            kind = "stream" if source in streams else "relation"
            raise RuleSyntaxError(f"the delay of a {kind} is a {kind}", declaration.span, f"declare it as {kind} {name}(...)")


def _check_rule(rule: Rule, declared: Mapping[str, Declaration], streams: Iterable[str], sources: Mapping[str, str]) -> None:
    head, span = rule.head.predicate, rule.head.span or rule.origin.span
    if (found := declared.get(head)) is not None and found.operator:
        raise RuleSyntaxError(f"a rule derives {head}, which is a {found.operator} of {found.source}", span)
    read = [sources[atom.predicate] for atom in atoms_within(rule.body) if atom.predicate in sources]
    if head in sources and not rule.body:
        raise RuleSyntaxError(f"the program states a fact of the stream {head}, whose facts come with transactions", span)
    if head in sources and not _has_stream(rule, streams):
        raise RuleSyntaxError(
            f"no stream is in the body of a rule for the stream {head}", span, f"declare it as relation {head}(...)"
        )
    if read and head not in sources and head != FALSE:
        hint = f"declare it as stream {head}(...), or take a difference of the stream: relation x(...) difference {read[0]} ."
        raise RuleSyntaxError(f"{head} follows from the stream {read[0]}, and is not a stream", span, hint)


def _has_stream(rule: Rule, streams: Iterable[str]) -> bool:
    """Return whether a rule derives nothing without facts of streams: one is in its body, or in an aggregate with groups."""
    if any(atom.predicate in streams for atom in rule.body_atoms()):
        return True
    parts = [part for part in rule.body if isinstance(part, Aggregate) and part.group]
    return any(isinstance(part, Atom) and part.predicate in streams for found in parts for part in found.body)


def differences_in_order(program: Program) -> Sequence[Declaration]:
    """Return the differences of a program, each after those that its source depends on.

    Raises:
        StratificationError: A source depends on its own difference.
    """
    differences = {found.predicate: found for found in program.declarations if found.operator == "difference"}
    if not differences:
        return ()
    below: dict[str, set[str]] = {}
    for rule in program.rules:
        below.setdefault(rule.head.predicate, set()).update(atom.predicate for atom in atoms_within(rule.body))
    done: dict[str, Declaration] = {}

    def visit(declaration: Declaration, path: tuple[str, ...]) -> None:
        if declaration.predicate in path:
            cycle = " -> ".join((*path[path.index(declaration.predicate) :], declaration.predicate))
            hint = "take the facts of an earlier transaction: relation x(...) delay y ."
            raise StratificationError(f"a difference depends on itself: {cycle}", declaration.span, hint)
        if declaration.predicate in done:
            return
        for name in _reached(declaration.source, below):
            if name in differences:
                visit(differences[name], (*path, declaration.predicate))
        done[declaration.predicate] = declaration

    for declaration in differences.values():
        visit(declaration, ())
    return tuple(done.values())


def _reached(predicate: str, below: Mapping[str, set[str]]) -> set[str]:
    """Return a predicate and all that it depends on in one transaction."""
    found, left = {predicate}, [predicate]
    while left:
        for name in below.get(left.pop(), ()):
            if name not in found:
                found.add(name)
                left.append(name)
    return found


def _atoms(rule: Rule) -> Iterable[Atom]:
    return (rule.head, *atoms_within(rule.body))
