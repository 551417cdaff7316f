"""Property paths (SPARQL 1.1 Query, section 9) as atoms and disjunctions.

A path that may have length zero is the same term at both ends, or a path of a length of at least one: `longer` says which.
Repetition is an auxiliary predicate, the transitive closure.
"""

from __future__ import annotations

from kg_reasoner.errors import Span
from kg_reasoner.language.desugaring.context import Context
from kg_reasoner.language.surface import Along, AnyOf, Inverse, OneOf, Path, Repeated, Same, Steps, SurfaceBody
from kg_reasoner.program import Argument, Atom, Variable, triple
from kg_reasoner.terms import IRI

__all__ = ["longer", "without_path"]


def longer(path: Path) -> tuple[Path, bool]:
    """Return a path for the connections of a path that have at least one step, and whether it also has those of none.

    >>> p, q = IRI("http://example.org/p"), IRI("http://example.org/q")
    >>> longer(Steps((p, Repeated(q, "?")))) == (OneOf((p, Steps((p, q)))), False)
    True
    """
    if isinstance(path, Inverse):
        inner, has_none = longer(path.path)
        return Inverse(inner), has_none
    if isinstance(path, Repeated):
        inner, has_none = longer(path.path)
        return (inner if path.sign == "?" else Repeated(inner, "+")), has_none or path.sign != "+"
    if isinstance(path, OneOf):
        found = [longer(inner) for inner in path.paths]
        return OneOf(tuple(inner for inner, _ in found)), any(has_none for _, has_none in found)
    if isinstance(path, Steps):
        ways: list[tuple[Path, ...]] = [()]
        for step in path.paths:
            inner, has_none = longer(step)
            ways = (ways if has_none else []) + [(*way, inner) for way in ways]
        some: list[Path] = [way[0] if len(way) == 1 else Steps(way) for way in ways if way]
        return (some[0] if len(some) == 1 else OneOf(tuple(some))), len(some) < len(ways)
    return path, False


def without_path(part: Along, context: Context) -> SurfaceBody:
    """Return atoms and disjunctions in place of a property path between two arguments."""
    path, has_none = longer(part.path)
    subject, object, span = part.subject, part.object, part.span
    if not has_none:
        return _connected(subject, path, object, span, context)
    return (AnyOf(((Same(subject, object, span),), _connected(subject, path, object, span, context)), span),)


def _connected(subject: Argument, path: Path, object: Argument, span: Span | None, context: Context) -> SurfaceBody:
    """Return the parts of a path that always has a step, as do the paths in it."""
    if isinstance(path, IRI):
        return (triple(subject, path, object, span),)
    if isinstance(path, Inverse):
        return _connected(object, path.path, subject, span, context)
    if isinstance(path, OneOf):
        return (AnyOf(tuple(_connected(subject, inner, object, span, context) for inner in path.paths), span),)
    if isinstance(path, Steps):
        places = [subject, *(context.variable("between") for _ in path.paths[1:]), object]
        steps = zip(places, path.paths, places[1:], strict=False)
        return tuple(part for start, inner, end in steps for part in _connected(start, inner, end, span, context))
    name, first, middle, last = context.predicate("closure"), Variable("x"), Variable("y"), Variable("z")
    context.define(
        Atom(name, (first, last), span),
        _connected(first, path.path, last, span, context),
        (Atom(name, (first, middle), span), *_connected(middle, path.path, last, span, context)),
    )
    return (Atom(name, (subject, object), span),)
