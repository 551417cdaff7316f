"""Programs as data: variables, atoms, expressions and rules. This module evaluates nothing.

An RDF triple is an atom over the ternary predicate `TRIPLE`: ``ub:Person[?x]`` and ``[?x, rdf:type, ub:Person]`` are the same
atom. Programs are independent of how the engine stores triples.

Source positions (`span`) serve error messages and are ignored when parts of programs are compared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import field
from functools import wraps
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar

from kg_reasoner.data_classes import dataclass
from kg_reasoner.errors import Span
from kg_reasoner.lazy_regex import regular_expression
from kg_reasoner.terms import IRI, Term

__all__ = [
    "AUXILIARY",
    "FALSE",
    "TRIPLE",
    "Aggregate",
    "AggregateBinding",
    "Argument",
    "Atom",
    "Bind",
    "BodyLiteral",
    "Call",
    "Column",
    "Declaration",
    "Expression",
    "Filter",
    "FunctionDefinition",
    "Index",
    "Negation",
    "Origin",
    "Program",
    "Rule",
    "TypeDefinition",
    "Variable",
    "Variant",
    "atoms_within",
    "is_hidden",
    "is_reserved",
    "kinds_of_parts",
    "remembered",
    "triple",
    "typed_columns",
    "unary_plus",
    "variables_of",
]

TRIPLE: Final = "[]"
"""The predicate of RDF triples (arity 3). Not an identifier, so that no user predicate can collide with it."""

FALSE: Final = "false"
"""The head predicate of constraints (arity 0): a rule ``false :- body .`` says that `body` must have no instance."""

AUXILIARY: Final = "_aux_"
"""The prefix of the names of predicates that stand for a part of a rule."""

_PART: Final = regular_expression(rf"{AUXILIARY}[a-z]+[0-9]+_[0-9a-f]{{10}}(_\w+)?")
"""Such a name: the kind of part, its number, a digest of the rule, and the name of the module that it comes from."""


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable; `name` excludes the question mark. The parser names wildcards with a leading ``_``."""

    name: str
    span: Span | None = field(default=None, compare=False, repr=False)

    if not TYPE_CHECKING:  # which takes the dataclass's own for more precise

        def __eq__(self, other: object) -> bool:
            return self.name == other.name if other.__class__ is self.__class__ else NotImplemented

    def __hash__(self) -> int:
        return hash(self.name)

    def __str__(self) -> str:
        return f"?{self.name}"


Argument: TypeAlias = Variable | IRI | Term


@dataclass(frozen=True, slots=True)
class Atom:
    """A predicate applied to terms. `predicate` is `TRIPLE`, `FALSE`, an identifier, or an IRI in angle brackets."""

    predicate: str
    terms: tuple[Argument, ...]
    span: Span | None = field(default=None, compare=False, repr=False)

    def __hash__(self) -> int:
        return hash((self.predicate, self.terms))

    @property
    def arity(self) -> int:
        """The number of arguments."""
        return len(self.terms)


def triple(subject: Argument, predicate: Argument, object: Argument, span: Span | None = None) -> Atom:
    """Return the atom of a triple pattern.

    Args:
        subject: The subject.
        predicate: The property.
        object: The object.
        span: Its place in a text.

    Returns:
        The atom.
    """
    return Atom(TRIPLE, (subject, predicate, object), span)


def is_hidden(predicate: str) -> bool:
    """Return whether a predicate is not listed: it is auxiliary, or private to a module.

    Args:
        predicate: The predicate.

    Returns:
        Whether it is not listed.

    >>> is_hidden("g._label"), is_hidden("_own"), is_hidden("<http://example.org/a._b>")
    (True, False, False)
    """
    return predicate.startswith(AUXILIARY) or ("._" in predicate and not predicate.startswith("<"))


def is_reserved(predicate: str) -> bool:
    """Return whether a name begins like those of parts of rules and is none, as printed programs have them.

    Args:
        predicate: The name of a predicate.

    Returns:
        Whether programs and facts cannot use it.

    >>> is_reserved("_aux_mine"), is_reserved("_aux_not1_15768da68c"), is_reserved("_own")
    (True, False, False)
    """
    return predicate.startswith(AUXILIARY) and _PART.fullmatch(predicate) is None


@dataclass(frozen=True, slots=True)
class Call:
    """An operator or function applied to expressions.

    `name` is an operator (``= != < <= > >= + - * / % && || !``; unary minus is ``neg``), a SPARQL function name in upper case,
    or the name of a function of the program's own.
    """

    name: str
    arguments: tuple[Expression, ...]
    span: Span | None = field(default=None, compare=False, repr=False)
    definition: Any = field(default=None, repr=False)
    """A function of the program's own (see `kg_reasoner.expressions.defined_functions`), or None."""


Expression: TypeAlias = Variable | IRI | Term | Call


def unary_plus(operand: Any, span: Span | None = None) -> Call:
    """Return ``+operand``: the operand if that is a number, and otherwise an error. Two changes of sign do that.

    Args:
        operand: The operand, an expression of rules or of SPARQL.
        span: The place in a text.

    Returns:
        The expression.
    """
    return Call("neg", (Call("neg", (operand,), span),), span)


@dataclass(frozen=True, slots=True)
class Negation:
    """``NOT atom``: no fact matches the atom. Variables that occur only in the negation are existential."""

    atom: Atom
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Filter:
    """``FILTER(expression)``: drops rule instances for which the expression is false or an error (SPARQL semantics)."""

    expression: Expression
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Bind:
    """``BIND(expression AS ?variable)``: binds the variable to the value of the expression."""

    expression: Expression
    variable: Variable
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class AggregateBinding:
    """``BIND COUNT(DISTINCT ?y) AS ?n``: one function of an aggregate; `argument` is None for ``COUNT(*)``."""

    function: str
    argument: Expression | None
    variable: Variable
    distinct: bool = False
    definition: Any = field(default=None, repr=False)
    """An aggregate function of the program's own, or None."""


@dataclass(frozen=True, slots=True)
class Aggregate:
    """``AGGREGATE(atoms ON ?group ... BIND function AS ?variable ...)``: functions over groups of solutions."""

    body: tuple[BodyLiteral, ...]
    group: tuple[Variable, ...]
    bindings: tuple[AggregateBinding, ...]
    span: Span | None = field(default=None, compare=False, repr=False)


BodyLiteral: TypeAlias = Atom | Negation | Filter | Bind | Aggregate


@dataclass(frozen=True, slots=True)
class Origin:
    """The origin of a rule.

    Attributes:
        name: Its name in a W3C specification or in its rule set, such as ``cax-sco``.
        axioms: The axioms that it was translated from.
        span: Its place in a text.
        text: The text itself, where it differs from what the rule prints as.
        module: The name of the module that it was imported with.
        expression: The class expression that it gives a meaning to, if it comes from no axiom: several may have that expression.
        is_packaged: Whether it belongs to a rule set of the package.
    """

    name: str | None = None
    axioms: tuple[str, ...] = ()
    span: Span | None = field(default=None, repr=False)
    text: str | None = field(default=None, repr=False)
    module: str | None = None
    expression: str | None = None
    is_packaged: bool = False

    @property
    def axiom(self) -> str | None:
        """The axioms as one text, or the class expression; None if there is neither."""
        return "; ".join(self.axioms) or self.expression


class _Remembers:
    """A cache of values computed from a rule. It is not a field: copies and pickles start with an empty cache."""

    __slots__ = ("_hash", "_known")

    _hash: int
    _known: dict[Callable[..., Any], Any]


@dataclass(frozen=True, slots=True)
class Rule(_Remembers):
    """``head :- body .``; a rule with an empty body states a fact."""

    head: Atom
    body: tuple[BodyLiteral, ...] = ()
    origin: Origin = field(default=Origin(), compare=False, repr=False)

    def __hash__(self) -> int:
        try:
            return self._hash
        except AttributeError:
            value = hash((self.head, self.body))
            object.__setattr__(self, "_hash", value)
            return value

    @property
    def is_constraint(self) -> bool:
        """Whether the head is ``false``."""
        return self.head.predicate == FALSE

    def body_atoms(self) -> Iterator[Atom]:
        """Return the positive atoms of the body, without those inside aggregates.

        Returns:
            An iterator of atoms.
        """
        return (part for part in self.body if isinstance(part, Atom))


def atoms_within(body: Iterable[BodyLiteral]) -> Iterator[Atom]:
    """Yield all atoms of a body, including negated ones and those inside aggregates.

    Args:
        body: The body.

    Returns:
        An iterator of atoms.
    """
    for part in body:
        if isinstance(part, Atom):
            yield part
        elif isinstance(part, Negation):
            yield part.atom
        elif isinstance(part, Aggregate):
            yield from atoms_within(part.body)


T = TypeVar("T")
_UNKNOWN: Final = object()


def remembered(function: Callable[[Rule], T]) -> Callable[[Rule], T]:
    """Cache the value of a function of a rule in the rule, so re-analysing a program after one change is cheap.

    Errors are not cached.

    Args:
        function: The function.

    Returns:
        The function with a cache.
    """

    @wraps(function)
    def known(rule: Rule) -> T:
        try:
            values = rule._known
        except AttributeError:
            values = {}
            object.__setattr__(rule, "_known", values)
        value = values.get(function, _UNKNOWN)
        if value is _UNKNOWN:
            value = values[function] = function(rule)
        return value

    return known


@remembered
def kinds_of_parts(rule: Rule) -> frozenset[type]:
    """Return the classes of the parts of a rule's body.

    Args:
        rule: The rule.

    Returns:
        The classes, such as `Atom` and `Negation`.

    >>> rule = Rule(Atom("a", ()), (Atom("b", ()), Negation(Atom("c", ()))))
    >>> sorted(kind.__name__ for kind in kinds_of_parts(rule))
    ['Atom', 'Negation']
    """
    return frozenset(map(type, rule.body))


COLUMN_TYPES: Final = (*("any", "term", "iri", "string", "integer", "decimal", "float", "double", "boolean", "date", "dateTime"),)
"""The types of columns that have neither parameters nor a definition."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a declared relation: its name and type (see `kg_reasoner.expressions.types`)."""

    name: str
    type: str = "any"


@dataclass(frozen=True, slots=True)
class Declaration:
    """``input relation name(column: type, ...) primary key (column, ...) .``

    Attributes:
        role: ``input``, ``output`` or ``""``.
        key: The names of the columns that identify a fact, in the order in which values are given.
        kind: ``relation``; ``multiset``, whose facts are counted; or ``stream``, whose facts live for one transaction.
        operator: ``delay``: the facts that another relation had some transactions ago; ``difference``: those that it gained by the
            last transaction; or nothing.
        source: The other relation.
        steps: The transactions of a delay.
        per: The columns whose values identify a fact of a choice from the other relation; empty if it is not a choice.
    """

    predicate: str
    columns: tuple[Column, ...]
    role: str = ""
    span: Span | None = field(default=None, compare=False, repr=False)
    key: tuple[str, ...] = ()
    kind: str = "relation"
    operator: str = ""
    source: str = ""
    steps: int = 1
    per: tuple[str, ...] = ()

    @property
    def arity(self) -> int:
        """The number of columns."""
        return len(self.columns)

    @property
    def derived_as(self) -> str:
        """How the facts come from those of the other relation: as a ``delay``, ``difference`` or ``choice``; or nothing."""
        return "choice" if self.per else self.operator

    @property
    def is_temporal(self) -> bool:
        """Whether the facts depend on the transactions before, or are gone after one."""
        return self.kind == "stream" or bool(self.operator)


@dataclass(frozen=True, slots=True)
class Index:
    """``index name on relation(column, ...) .``: facts of a declared relation are found by these columns."""

    name: str
    predicate: str
    columns: tuple[str, ...]
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Variant:
    """``Ok(value: integer)``: a constructor of records, and their fields."""

    name: str
    fields: tuple[Column, ...]


@dataclass(frozen=True, slots=True)
class TypeDefinition:
    """``type Result = Ok(value: integer) | Error(message: string) .``: records, values, or another name of a type."""

    name: str
    variants: tuple[Variant, ...] = ()
    values: tuple[Term, ...] = ()
    alias: str = ""
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class FunctionDefinition:
    """``function double(?x: integer): integer = ?x * 2 .``; the types of parameters are those of the columns."""

    name: str
    parameters: tuple[Column, ...]
    result: str
    body: Expression
    span: Span | None = field(default=None, compare=False, repr=False)
    callee: Any = field(default=None, compare=False, repr=False)
    """The object that calls of it refer to."""


@dataclass(frozen=True, slots=True)
class ReductionDefinition:
    """``reduction total(?s: integer, ?x: integer): integer = initial 0, add ?s + ?x, remove ?s - ?x, result ?s .``

    The first parameter is the state of a group, the others are the arguments. `remove` may be None, and so may `final`, which gives
    the value of a state.
    """

    name: str
    parameters: tuple[Column, ...]
    result: str
    initial: Expression
    add: Expression
    remove: Expression | None = None
    final: Expression | None = None
    span: Span | None = field(default=None, compare=False, repr=False)
    callee: Any = field(default=None, compare=False, repr=False)
    """The object that aggregates with it refer to."""


@dataclass(frozen=True, slots=True)
class Program:
    """Rules and declarations in their original order.

    `translate` names the translation that turns an ontology's axioms into further rules (``dlp``), or is None: rule sets use it.
    """

    rules: tuple[Rule, ...] = ()
    declarations: tuple[Declaration, ...] = ()
    prefixes: tuple[tuple[str, str], ...] = ()
    translate: str | None = None
    types: tuple[TypeDefinition, ...] = ()
    functions: tuple[FunctionDefinition, ...] = ()
    indexes: tuple[Index, ...] = ()
    reductions: tuple[ReductionDefinition, ...] = ()

    def __or__(self, other: Program) -> Program:
        """Return a program with the rules and declarations of both programs, without duplicates."""
        return Program(
            tuple(dict.fromkeys(self.rules + other.rules)),
            tuple(dict.fromkeys(self.declarations + other.declarations)),
            tuple(dict(self.prefixes + other.prefixes).items()),
            self.translate or other.translate,
            tuple(dict.fromkeys(self.types + other.types)),
            tuple(dict.fromkeys(self.functions + other.functions)),
            tuple(dict.fromkeys(self.indexes + other.indexes)),
            tuple(dict.fromkeys(self.reductions + other.reductions)),
        )


def typed_columns(program: Program) -> dict[str, tuple[Column, ...]]:
    """Return the columns of the predicates that have a type in one of them.

    The undeclared source of a delay or a difference has the columns of that.

    Args:
        program: Has the declarations.

    Returns:
        The columns, by predicate.
    """
    declared = {declaration.predicate: declaration.columns for declaration in program.declarations}
    sources = {declaration.source: declaration.columns for declaration in reversed(program.declarations) if declaration.operator}
    return {name: columns for name, columns in (sources | declared).items() if any(column.type != "any" for column in columns)}


def variables_of(part: Atom | BodyLiteral | Expression | Iterable[Argument]) -> Iterator[Variable]:
    """Yield the variables of a part of a rule in order of occurrence, with repetitions.

    Args:
        part: An atom, another part of a body, an expression, or arguments.

    Returns:
        An iterator of variables.
    """
    if isinstance(part, Variable):
        yield part
    elif isinstance(part, Atom):
        yield from (term for term in part.terms if isinstance(term, Variable))
    elif isinstance(part, Negation):
        yield from variables_of(part.atom)
    elif isinstance(part, Filter):
        yield from variables_of(part.expression)
    elif isinstance(part, Bind):
        yield from variables_of(part.expression)
        yield part.variable
    elif isinstance(part, Call):
        for argument in part.arguments:
            yield from variables_of(argument)
    elif isinstance(part, Aggregate):
        yield from part.group
        yield from (binding.variable for binding in part.bindings)
    elif isinstance(part, Iterable):
        yield from (term for term in part if isinstance(term, Variable))
