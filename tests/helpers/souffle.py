"""Reads the Datalog suite's programs (a JSON tree, facts and expected outputs as TSV) as programs of ours."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import count
from pathlib import Path
from typing import Any

from kg_reasoner.program import (
    Aggregate,
    AggregateBinding,
    Argument,
    Atom,
    Bind,
    BodyLiteral,
    Call,
    Expression,
    Filter,
    Negation,
    Program,
    Rule,
    Variable,
    variables_of,
)
from kg_reasoner.terms import XSD, Term, literal

Row = tuple[Term, ...]
OPERATORS = {"==": "="}
_NUMBERS = count()
"""Tells the auxiliary relations of different rules apart."""


class Case:
    """One program of the suite: `program`, the facts of its inputs, and the rows that each output must have.

    `numbers` says which numbers of the rules and input facts stand for others.
    """

    def __init__(self, folder: Path, numbers: Mapping[int, int]) -> None:
        tree = json.loads((folder / "program.json").read_text())
        replaced = {literal(old): literal(new) for old, new in numbers.items()}
        self.types: dict[str, list[str]] = tree["relations"]
        self.program = Program(tuple(rule for node in tree["rules"] for rule in _Reader(numbers).rules(node)))
        facts = {name: self._rows(folder / "facts" / f"{name}.tsv", name) for name in tree["inputs"]}
        self.facts = {name: {tuple(replaced.get(term, term) for term in row) for row in rows} for name, rows in facts.items()}
        self.expected = {name: self._rows(folder / "expected" / f"{name}.tsv", name) for name in tree["outputs"]}

    def _rows(self, path: Path, name: str) -> set[Row]:
        kinds = self.types[name]
        if not path.exists():
            return set()
        lines = path.read_text().split("\n")
        rows = [line.split("\t") for line in lines if line or (kinds and len(lines) > 1 and lines.index(line) < len(lines) - 1)]
        if not kinds:
            return {()} if path.read_text() else set()
        return {tuple(map(_term, row, kinds)) for row in rows}


def _term(cell: str, kind: str) -> Term:
    return literal(int(cell)) if kind == "number" else literal(cell)


class _Reader:
    """Reads one rule."""

    def __init__(self, numbers: Mapping[int, int]) -> None:
        self._numbers = numbers
        self._fresh = count()
        self._extra: list[BodyLiteral] = []
        self._scope: tuple[Any, list[Any]] = ({}, [])
        self._waiting: list[tuple[Any, list[Any]]] = []

    def rules(self, node: Any) -> Iterator[Rule]:
        """The rule, and others that say what it needs. Equalities that bind a variable are replaced by what they say."""
        self._waiting = [(node["head"], node["body"])]
        while self._waiting:
            self._scope = self._waiting.pop()
            head, nodes = self._scope
            body = self._body(nodes)
            for rule in _grouped(_inlined(Rule(self._atom(head), (*body, *self._extra)))):
                yield from _with_empty_groups(rule)
            self._extra = []

    def _body(self, nodes: Any) -> tuple[BodyLiteral, ...]:
        """The parts of a body, and after them those that compute what they ask for."""
        outside, self._extra = self._extra, []
        parts = [self._part(node) for node in nodes]
        parts += self._extra
        self._extra = outside
        return tuple(parts)

    def _part(self, node: Any) -> BodyLiteral:
        if "atom" in node:
            return self._atom(node["atom"])
        if "not" in node:
            return Negation(self._atom(node["not"]))
        # What a side computes is a variable, so that it is computed for its own values only.
        return Filter(Call(OPERATORS.get(node["cmp"], node["cmp"]), (self._argument(node["l"]), self._argument(node["r"]))))

    def _atom(self, node: Any) -> Atom:
        return Atom(node["rel"], tuple(self._argument(argument) for argument in node["args"]))

    def _argument(self, node: Any) -> Argument:
        expression = self._expression(node)
        if isinstance(expression, Call):
            variable = Variable(f"value{next(self._fresh)}")
            self._extra.append(Bind(expression, variable))
            return variable
        return expression

    def _expression(self, node: Any) -> Expression:
        if "var" in node:
            return Variable(node["var"])
        if "wild" in node:
            return Variable(f"_{next(self._fresh)}")
        if "num" in node:
            return literal(self._numbers.get(int(node["num"]), int(node["num"])))
        if "str" in node:
            return literal(str(node["str"]))
        if "agg" in node:
            return self._aggregate(node)
        left, right = self._expression(node["l"]), self._expression(node["r"])
        if node["op"] not in ("/", "%"):
            return Call(node["op"], (left, right))
        quotient = Call(f"<{XSD.integer.value}>", (Call("/", (left, right)),))  # of integers, and towards zero
        return quotient if node["op"] == "/" else Call("-", (left, Call("*", (quotient, right))))

    def _aggregate(self, node: Any) -> Variable:
        """The result of an aggregate. What its body shares with the rule is bound outside, or is a witness: bound by the body."""
        number = next(self._fresh)
        variable = Variable(f"aggregate{number}")
        function = node["agg"].upper()
        _, nodes = self._scope
        bound = _bound([part for part in nodes if not _has(part, node)])
        own = _bound(node["body"])
        results = {
            side["var"]
            for part in nodes
            if part.get("cmp") == "="
            for side, other in _sides(part)
            if other is node and "var" in side
        }
        local = {name: f"{name}_of{number}" for name in results & own - bound}
        body = _renamed(node["body"], local)
        of = _renamed(node.get("of"), local)
        shared = _names([body, of]) & _names(self._scope)
        witnesses = sorted(shared & own - bound)
        if not witnesses and not any(_is_computed(part) for part in body):
            value = self._expression(of) if of else None
            self._extra.append(Aggregate(self._body(body), (), (AggregateBinding(function, value, variable),)))
            return variable
        # A relation has the solutions of the body, and the value that each of them adds.
        body = _renamed(body, {}, self._fresh)
        group = sorted(shared & bound)
        columns = [{"var": name} for name in sorted(_names([body]))]
        name = f"solutions_{next(_NUMBERS)}"
        values = [{"atom": part["atom"]} for part in nodes if "atom" in part and not _has(part, node)] if set(group) - own else []
        self._waiting.append(({"rel": name, "args": [*columns, of or {"num": 1}]}, [*body, *values]))
        inner = tuple(Variable(column["var"] if column["var"] in group else f"{column['var']}_in{number}") for column in columns)
        value = Variable(f"of{number}")
        binding = AggregateBinding(function, value if of else None, variable)
        self._extra.append(Aggregate((Atom(name, (*inner, value)),), (), (binding,)))
        if witnesses:
            kept = {*group, *witnesses}
            outer = (Variable(column["var"] if column["var"] in kept else f"_{next(self._fresh)}") for column in columns)
            self._extra.append(Atom(name, (*outer, variable)))
        return variable


def _has(tree: Any, node: Any) -> bool:
    if tree is node:
        return True
    return any(_has(child, node) for child in (tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list) else ()))


def _names(tree: Any) -> set[str]:
    """The variables of a tree, outside of its aggregates."""
    if tree is None or (isinstance(tree, dict) and "agg" in tree):
        return set()
    if isinstance(tree, dict) and "var" in tree:
        return {tree["var"]}
    children = tree.values() if isinstance(tree, dict) else tree if isinstance(tree, (list, tuple)) else ()
    return {name for child in children for name in _names(child)}


def _sides(part: Any) -> tuple[tuple[Any, Any], tuple[Any, Any]]:
    return (part["l"], part["r"]), (part["r"], part["l"])


def _bound(nodes: list[Any]) -> set[str]:
    """The variables that a body gives values to."""
    bound = {argument["var"] for part in nodes if "atom" in part for argument in part["atom"]["args"] if "var" in argument}
    while True:
        found = {
            side["var"]
            for part in nodes
            if part.get("cmp") == "="
            for side, other in _sides(part)
            if "var" in side and ("agg" in other or _names(other) <= bound)
        }
        if found <= bound:
            return bound
        bound |= found


def _is_computed(part: Any) -> bool:
    """Whether a part of the body of an aggregate gives a value to a variable, or aggregates itself."""
    return part.get("cmp") == "=" or "agg" in json.dumps(part)


def _renamed(tree: Any, names: Mapping[str, str], wild: Iterator[int] | None = None) -> Any:
    """The tree with other variables, and with names for the wildcards of its atoms if there are numbers for them."""
    if isinstance(tree, list):
        return [_renamed(child, names, wild) for child in tree]
    if not isinstance(tree, dict):
        return tree
    if "var" in tree:
        return {"var": names.get(tree["var"], tree["var"])}
    if "wild" in tree:
        return {"var": f"wild{next(wild)}"} if wild is not None else tree
    inside = None if "not" in tree or "agg" in tree else wild
    return {key: _renamed(child, names, inside) for key, child in tree.items()}


def _grouped(rule: Rule) -> Iterator[Rule]:
    """Aggregates group by the variables that they share with the rest of the rule; a further rule says what values those have."""
    body: list[BodyLiteral] = []
    for part in rule.body:
        if isinstance(part, Aggregate):
            inner = {v for other in part.body for v in variables_of(other)}
            outer = {v for other in (rule.head, *rule.body) if other is not part for v in variables_of(other)}
            bound = {v for other in part.body if isinstance(other, Atom) for v in variables_of(other)}
            binders = tuple(atom for atom in rule.body_atoms() if (inner - bound) & set(variables_of(atom)))
            if binders:
                values = Atom(f"values_{rule.head.predicate}_{next(_NUMBERS)}", tuple(sorted(inner & outer, key=str)))
                yield Rule(values, tuple(rule.body_atoms()))
                part = Aggregate((*part.body, values), part.group, part.bindings)
            part = Aggregate(part.body, tuple(sorted(inner & outer, key=str)), part.bindings)
        body.append(part)
    yield Rule(rule.head, tuple(body))


def _with_empty_groups(rule: Rule) -> Iterator[Rule]:
    """In Soufflé, the number or sum of nothing is 0, also for values that no group has: further rules say so."""
    yield rule
    for place, part in enumerate(rule.body):
        if isinstance(part, Aggregate) and part.group and part.bindings[0].function in ("COUNT", "SUM"):
            some = Atom(f"some_{rule.head.predicate}_{next(_NUMBERS)}", part.group)
            yield Rule(some, part.body)
            nothing = Negation(some), Bind(literal(0), part.bindings[0].variable)
            yield Rule(rule.head, (*rule.body[:place], *nothing, *rule.body[place + 1 :]))


def _inlined(rule: Rule) -> Rule:
    """Soufflé's ``x = 5`` binds x when nothing else does; ours compares only."""
    while True:
        bound = {v for atom in rule.body_atoms() for v in variables_of(atom)}
        bound |= {part.variable for part in rule.body if isinstance(part, Bind)}
        bound |= {binding.variable for part in rule.body if isinstance(part, Aggregate) for binding in part.bindings}
        for part in rule.body:
            if isinstance(part, Filter) and isinstance(part.expression, Call) and part.expression.name == "=":
                left, right = part.expression.arguments
                if isinstance(right, Variable) and right not in bound:
                    left, right = right, left
                if not isinstance(left, Variable) or left in bound:
                    continue
                if isinstance(right, Call):
                    if not bound.issuperset(variables_of(right)):
                        continue
                    rule = Rule(rule.head, tuple(Bind(right, left) if other is part else other for other in rule.body))
                else:
                    rule = _replaced(rule, part, left, right)
                break
        else:
            return rule


def _replaced(rule: Rule, gone: BodyLiteral, variable: Variable, value: Argument) -> Rule:
    def term(old: Any) -> Any:
        if isinstance(old, Call):
            return Call(old.name, tuple(term(argument) for argument in old.arguments))
        return value if old == variable else old

    def part(old: Any) -> Any:
        if isinstance(old, Atom):
            return Atom(old.predicate, tuple(term(t) for t in old.terms))
        if isinstance(old, Negation):
            return Negation(part(old.atom))
        if isinstance(old, Filter):
            return Filter(term(old.expression))
        if isinstance(old, Bind):
            return Bind(term(old.expression), old.variable)
        if isinstance(old, Aggregate):
            return Aggregate(tuple(map(part, old.body)), old.group, old.bindings)
        return old

    return Rule(part(rule.head), tuple(part(other) for other in rule.body if other is not gone))
