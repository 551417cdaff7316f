"""An oracle for OWL 2 EL: completion rules on nested tuples, applied naively until nothing is new.

Axioms and expressions are those of `benchmarks.inputs.el_data`. A *context* is a class of which something is known; that of a value
of a property with ranges is the intersection of the value's class and these. Source: Baader, Brandt and Lutz, Pushing the EL
Envelope (IJCAI 2005) and Pushing the EL Envelope Further (OWLED 2008).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import product

from benchmarks.inputs.el_data import Axiom, Expression

__all__ = ["subsumptions"]

THING, NOTHING = "Thing", "Nothing"


def parts(expression: Expression) -> Iterator[Expression]:
    """The expression and its parts that are classes."""
    yield expression
    if isinstance(expression, tuple):
        inner = {"and": expression[1:], "some": expression[2:]}.get(expression[0], ())
        for part in inner:
            yield from parts(part)


class _Completion:
    def __init__(self, axioms: Iterable[Axiom]) -> None:
        self.told: set[tuple[Expression, Expression]] = set()
        self.disjoint: set[tuple[Expression, Expression]] = set()
        self.above: set[tuple[str, str]] = set()
        self.chains: set[tuple[str, str, str]] = set()
        self.reflexive: set[str] = set()
        self.domains: set[tuple[str, Expression]] = set()
        self.ranges: set[tuple[str, Expression]] = set()
        self.individuals: set[Expression] = set()
        for kind, *rest in axioms:
            self.read(kind, rest)
        everything = [each for pair in self.told | self.disjoint for each in pair]
        everything += [cls for _, cls in self.domains | self.ranges]
        self.known = {part for each in everything for part in parts(each)} | {THING, NOTHING} | self.individuals
        self.names = {name for name in self.known if isinstance(name, str)}
        roles = {name for pair in self.above for name in pair} | self.reflexive | {name for chain in self.chains for name in chain}
        roles |= {role for role, _ in self.domains | self.ranges}
        roles |= {each[1] for each in self.known if isinstance(each, tuple) and each[0] in ("some", "self")}
        self.above |= {(role, role) for role in roles}
        while new := {(p, s) for (p, q), (r, s) in product(self.above, self.above) if q == r} - self.above:
            self.above |= new
        while (
            new := {
                *(sup for sub, sup in self.above if sub in self.reflexive),
                *(sup for first, second, sup in self.chains if {first, second} <= self.reflexive),
            }
            - self.reflexive
        ):
            self.reflexive |= new
        self.subsumers: dict[Expression, set[Expression]] = {}
        self.links: set[tuple[Expression, str, Expression]] = set()
        for name in self.names | self.individuals:
            self.open(name)

    def read(self, kind: str, rest: list[Expression]) -> None:
        match kind, rest:
            case "class", (name,):
                self.told.add((name, THING))
            case "property", _:
                return
            case "subclass", (sub, sup):
                self.told.add((sub, sup))
            case "equivalent", (first, second):
                self.told |= {(first, second), (second, first)}
            case "disjoint", (first, second):
                self.disjoint.add((first, second))
            case "subproperty", (sub, sup):
                self.above.add((sub, sup))
            case "transitive", (role,):
                self.chains.add((role, role, role))
            case "chain", ((first, second), role):
                self.chains.add((first, second, role))
            case "reflexive", (role,):
                self.reflexive.add(role)
            case "domain", (role, cls):
                self.domains.add((role, cls))
            case "range", (role, cls):
                self.ranges.add((role, cls))
            case "assertion", (individual, cls):
                self.individuals.add(("one", individual))
                self.told.add((("one", individual), cls))
            case "related", (subject, role, value):
                self.individuals |= {("one", subject), ("one", value)}
                self.told.add((("one", subject), ("some", role, ("one", value))))
            case _:
                raise ValueError(kind)

    def open(self, context: Expression) -> None:
        self.subsumers.setdefault(context, {context, THING})

    def relate(self, context: Expression, role: str, value: Expression) -> None:
        """A context has a value that is given by an axiom."""
        ranges = sorted((cls for lower, cls in self.ranges if (role, lower) in self.above), key=str)
        target = ("and", value, *ranges) if ranges else value
        self.open(target)
        self.links.add((context, role, target))

    def size(self) -> int:
        return len(self.links) + sum(map(len, self.subsumers.values()))

    def complete(self) -> None:
        before = -1
        while before != self.size():
            before = self.size()
            self.step()

    def step(self) -> None:
        for context, classes in list(self.subsumers.items()):
            for each in list(classes):
                classes |= {sup for sub, sup in self.told if sub == each}
                if isinstance(each, tuple) and each[0] == "and":
                    classes |= set(each[1:])
                elif isinstance(each, tuple) and each[0] == "some":
                    self.relate(context, each[1], each[2])
                elif isinstance(each, tuple) and each[0] == "self":
                    self.links.add((context, each[1], context))
                elif isinstance(each, tuple) and each[0] == "one":
                    self.equate(context, each)
            classes |= {each for each in self.known if isinstance(each, tuple) and each[0] == "and" and set(each[1:]) <= classes}
            if any(first in classes and second in classes for first, second in self.disjoint):
                classes.add(NOTHING)
            self.links |= {(context, role, context) for role in self.reflexive}
        for context, role, value in list(self.links):
            supers = {sup for sub, sup in self.above if sub == role}
            mine, theirs = self.subsumers[context], self.subsumers[value]
            self.links |= {(context, sup, value) for sup in supers}
            mine |= {
                each
                for each in self.known
                if isinstance(each, tuple) and each[0] == "some" and each[1] in supers and each[2] in theirs
            }
            mine |= {cls for lower, cls in self.domains if lower in supers}
            if NOTHING in theirs:
                mine.add(NOTHING)
            if context == value:  # what is related to itself is a value of the property
                mine |= {cls for lower, cls in self.ranges if lower in supers}
                if context in self.individuals or any(origin == (context, role) for origin in self.selves()):
                    mine |= {each for each in self.known if isinstance(each, tuple) and each[:1] == ("self",) and each[1] in supers}
            for first, second, sup in self.chains:
                if first == role:
                    self.links |= {(context, sup, end) for start, then, end in self.links if start == value and then == second}

    def selves(self) -> set[tuple[Expression, str]]:
        """Contexts that are related to themselves, and not only to another member of the same class."""
        found = {(context, role) for context in self.subsumers for role in self.reflexive}
        found |= {
            (context, each[1])
            for context, classes in self.subsumers.items()
            for each in classes
            if isinstance(each, tuple) and each[0] == "self"
        }
        return found | {(context, sup) for context, role in found for sub, sup in self.above if sub == role}

    def equate(self, context: Expression, individual: Expression) -> None:
        """An individual has what its class has, if that has a member for certain."""
        if context in self.existing():
            self.subsumers[individual] |= self.subsumers[context]
            self.links |= {(start, role, individual) for start, role, value in self.links if value == context}
        self.subsumers[context] |= self.subsumers[individual]

    def existing(self) -> set[Expression]:
        found = set(self.individuals)
        while new := {value for start, _, value in self.links if start in found} - found:
            found |= new
        return found


def subsumptions(axioms: Iterable[Axiom]) -> set[tuple[str, str]]:
    """Return the pairs of a named class or individual and a named class that it is below, or of which it is a member; with
    ``Nothing`` for what is empty.
    """
    completion = _Completion(axioms)
    completion.complete()
    found = set()
    for context, classes in completion.subsumers.items():
        name = context if isinstance(context, str) else context[1] if context[0] == "one" else None
        if name is not None:
            found |= {(name, cls) for cls in classes if isinstance(cls, str)}
    return found
