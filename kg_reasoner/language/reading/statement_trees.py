"""Statements in the parse trees of a text: a program."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Final

from kg_reasoner.errors import RuleSyntaxError
from kg_reasoner.expressions.types import PARAMETRIC, Types
from kg_reasoner.language.checks.analysis import arities
from kg_reasoner.language.choice import choice_rule
from kg_reasoner.language.desugaring.context import Context
from kg_reasoner.language.desugaring.passes import is_plain, rules_of
from kg_reasoner.language.reading.function_definitions import LEARNT, FunctionReader
from kg_reasoner.language.reading.known import Known
from kg_reasoner.language.reading.modules import located, named
from kg_reasoner.language.reading.term_trees import Node, is_token, whole
from kg_reasoner.language.surface import Along, Applied
from kg_reasoner.language.types.type_definitions import check_definitions
from kg_reasoner.program import (
    COLUMN_TYPES,
    FALSE,
    Atom,
    Declaration,
    Index,
    Origin,
    Program,
    Rule,
    TypeDefinition,
    Variant,
)

__all__ = ["TRANSLATIONS", "ProgramReader"]

TRANSLATIONS: Final = ("dlp",)

_DEEPEST: Final = 20
"""The maximal depth of nested imports."""


class ProgramReader(FunctionReader):
    """Reads programs; the arguments are those of `TermReader`."""

    def __init__(self, text: str, source: str, indent: int = 0, known: Known | None = None) -> None:
        super().__init__(text, source, indent, known)
        self.declared: dict[str, str] = {}
        self.declarations: list[Declaration] = []
        self.indexes: list[Index] = []
        self.rules: list[Rule] = []
        self.translate: str | None = None
        self.types: list[TypeDefinition] = []
        self.imported = Program()
        self.modules = {}
        self.imports: dict[str, Path] = {}
        """The files of the modules, by name."""
        self.importing: tuple[Path, ...] = ()
        """The files that import each other, up to this one."""
        self.parse_module: Callable[[Path, Known, tuple[Path, ...]], Program] | None = None

    def program(self, tree: Node) -> Program:
        """Return the program of the tree of a text."""
        self.statements = {
            "prefix": self.add_prefix,
            "base": self.set_base,
            "translate": self.set_translation,
            "import": lambda tree: None,
            "declaration": self.add_declaration,
            "index": self.add_index,
            "rule": self.add_rules,
        }
        heads = (head for rule in tree.find_data("heads") for head in rule.children if not is_token(head))
        self.heads = frozenset(str(head.children[0]) for head in heads)
        self.learn(tree)
        for statement in tree.children:
            if statement.data not in ("type_definition", *LEARNT):
                self.statements[statement.data](statement)
        return self.imported | Program(
            tuple(self.rules),
            tuple(self.declarations),
            tuple(self.declared.items()),
            self.translate,
            tuple(self.types),
            tuple(self.functions),
            tuple(self.indexes),
            tuple(self.reductions),
        )

    def add_prefix(self, tree: Node) -> None:
        namespace, iri = tree.children[-2:]
        self.prefixes[namespace[:-1]] = self.declared[namespace[:-1]] = self.absolute(iri)

    def set_base(self, tree: Node) -> None:
        self.base = self.absolute(tree.children[-1])

    def set_translation(self, tree: Node) -> None:
        name = tree.children[0]
        self.expect(name, TRANSLATIONS, "translation")
        self.translate = str(name)

    def add_declaration(self, tree: Node) -> None:
        role, kind, predicate, *columns, clause = tree.children
        shape = tuple(self.column(column) for column in columns if column is not None)
        name, names = self.predicate(predicate), tuple[str, ...]()
        operator, source, steps, per = "", "", 1, tuple[str, ...]()
        if clause is not None and clause.data == "key":
            names = tuple(map(str, clause.children))
            for column in clause.children:
                self.expect(column, [known.name for known in shape], f"column of {name}")
        elif clause is not None and clause.data == "one_per":
            *chosen, _, other = clause.children
            source, per = self.predicate(other), tuple(map(str, chosen))
            for column in chosen:
                self.expect(column, [known.name for known in shape], f"column of {name}")
        elif clause is not None:
            word, count, other = clause.children
            operator, source = str(word).lower(), self.predicate(other)
            if count is not None and operator == "difference":
                raise RuleSyntaxError("a difference spans one transaction", self.span(count), "write difference, and no number")
            steps = 1 if count is None else whole(count)
        written = role.lower() if role else ""
        span = self.span(predicate)
        if len({column.name for column in shape}) < len(shape):
            raise RuleSyntaxError(f"{name} has two columns of one name", span)
        declaration = Declaration(name, shape, written, span, names, str(kind).lower(), operator, source, steps, per)
        self.declarations.append(declaration)
        if per:
            self.rules.append(choice_rule(declaration))

    def add_index(self, tree: Node) -> None:
        name, _, predicate, *columns = tree.children
        self.indexes.append(Index(str(name), self.predicate(predicate), tuple(map(str, columns)), self.span(name)))

    # --- modules

    def add_module(self, tree: Node) -> None:
        """Add the program of another file, under the name of a module."""
        _, quoted, _, name = tree.children
        span = self.span(quoted)
        path = located(self.unescaped(quoted, quoted[1:-1]), self.source, span)
        if self.imports.setdefault(str(name), path) != path:
            other = self.imports[str(name)].name
            raise RuleSyntaxError(f"{name} is {other} already", self.span(name), "choose another name for the module")
        if path.resolve() in self.importing or len(self.importing) > _DEEPEST:
            raise RuleSyntaxError(f"{path.name} imports itself, directly or indirectly", span)
        if self.parse_module is None:
            raise RuleSyntaxError("a query cannot import", span, "add the import to the program")
        module = named(self.parse_module(path, self.known, (*self.importing, path.resolve())), str(name))
        self.imported |= module
        self.modules[str(name)] = list(arities(module))
        self.known.types = Types({**self.known.types.definitions, **{type_.name: type_ for type_ in module.types}}.values())
        self.known.functions.update({function.name: function.callee for function in module.functions})
        self.known.reductions.update({reduction.name: reduction.callee for reduction in module.reductions})
        self.known.columns.update({declaration.predicate: declaration.columns for declaration in module.declarations})

    # --- types and functions

    def learn(self, tree: Node) -> None:
        """Learn the names of types, functions and columns, which statements before them may use."""
        for node in tree.children:
            if node.data == "import":
                self.add_module(node)
        definitions, old = dict(self.known.types.definitions), dict(self.known.types.definitions)
        former = dict(old)
        own = [node for node in tree.children if node.data == "type_definition"]
        for node in own:
            name = node.children[1]
            if name in COLUMN_TYPES or name in PARAMETRIC:
                raise RuleSyntaxError(f"{name} is a type of the language", self.span(name), "choose another name")
            if str(name) in definitions and str(name) not in old:
                raise RuleSyntaxError(f"{name} is defined twice", self.span(name))
            definitions[str(name)] = TypeDefinition(str(name), alias="any")
            old.pop(str(name), None)
        self.known.types = Types(definitions.values())
        self.types = [self.definition(node) for node in own]
        for definition in self.types:
            if former.get(definition.name, definition) != definition:
                raise RuleSyntaxError(f"another type {definition.name} is defined already", definition.span, "choose another name")
        definitions.update((definition.name, definition) for definition in self.types)
        check_definitions(self.types, definitions)
        self.known.types = Types(definitions.values())
        for node in tree.children:
            if node.data == "declaration" and is_token(node.children[2]):
                columns = (column for column in node.children[3:] if getattr(column, "data", None) == "column")
                self.known.columns[str(node.children[2])] = tuple(map(self.column, columns))
        self.learn_functions(tree)

    def definition(self, tree: Node) -> TypeDefinition:
        """Return the definition of a type."""
        _, name, *parts = tree.children
        kinds = {part.data for part in parts}
        if kinds == {"type"}:
            return TypeDefinition(str(name), alias=self.type(parts[0]), span=self.span(name))
        if kinds == {"string"}:
            return TypeDefinition(str(name), values=tuple(map(self.string, parts)), span=self.span(name))
        if kinds != {"variant"}:
            raise RuleSyntaxError(f"{name} has constructors and values", self.span(name), "a type has either of them")
        variants: dict[str, Variant] = {}
        for part in parts:
            constructor, *fields = part.children
            if str(constructor) in variants:
                raise RuleSyntaxError(f"{constructor} is defined twice", self.span(constructor))
            columns = tuple(self.column(field) for field in fields if field is not None)
            variants[str(constructor)] = Variant(str(constructor), columns)
        return TypeDefinition(str(name), tuple(variants.values()), span=self.span(name))

    def add_rules(self, tree: Node) -> None:
        label, heads, body = tree.children
        self.begin(tree)
        atoms = [self.head(head) for head in heads.children]
        alternatives = self.alternatives(body) if body else []
        origin = Origin(str(label) if label else None, span=self.span(heads))
        if is_plain(atoms, alternatives):
            parts = alternatives[0] if alternatives else ()
            self.rules.extend(Rule(atom, parts, origin) for atom in atoms if isinstance(atom, Atom))
            return
        context = Context((atoms, alternatives), self.names(), atoms)
        origin = replace(origin, text=self.text_of(heads, tree))
        self.rules.extend(rules_of(atoms, alternatives, origin, context))

    def head(self, node: Node) -> Atom | Applied:
        atom = Atom(FALSE, (), self.span(node)) if node == FALSE else self.atom(node, is_head=True)
        if isinstance(atom, Along):
            raise RuleSyntaxError("a path cannot be the head of a rule", atom.span, "a head has one property: [?x, ex:p, ?y]")
        return atom
