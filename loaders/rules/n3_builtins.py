"""The built-ins of N3 (math:, string:, log:, list:, time:, crypto:) as SPARQL's functions on terms.

A built-in is a predicate: ``(1 2) math:sum 3``, ``"abc" string:startsWith "a"``. Built-ins with several arguments take a list
written in the rule. A built-in without a corresponding function in SPARQL is rejected by name: it is neither dropped nor matched
with triples.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

from kg_reasoner.data_classes import dataclass
from kg_reasoner.errors import plural, suggest
from kg_reasoner.loaders.rules.builtins import Builtin, Refused, Way, computation, condition, equality, nested
from kg_reasoner.program import Argument, Call, Expression
from kg_reasoner.terms import IRI

__all__ = ["N3_BUILTINS", "NAMESPACES", "builtins_of", "is_builtin", "short_name"]

_SWAP: Final = "http://www.w3.org/2000/10/swap/"
NAMESPACES: Final = {
    **{prefix: f"{_SWAP}{prefix}#" for prefix in ("math", "string", "log", "list", "time", "crypto", "os", "graph")},
    "func": "http://www.w3.org/2007/rif-builtin-function#",
    "pred": "http://www.w3.org/2007/rif-builtin-predicate#",
    "e": "http://eulersharp.sourceforge.net/2003/03swap/log-rules#",
}
"""The namespaces whose predicates are computed, by the prefixes that N3 files give them."""

_Make: TypeAlias = Callable[[str, Sequence[Argument], Argument], list[Builtin]]


@dataclass(frozen=True, slots=True)
class _N3Builtin:
    """How to translate a built-in from its subject (one argument, or the items of a list) and object, with the number of items.

    `least` 0 stands for a subject that is not a list; `most` None for any number of items.
    """

    make: _Make
    least: int = 0
    most: int | None = 0


def is_builtin(predicate: IRI) -> bool:
    """Return whether a predicate is computed, or would be if a function for it existed."""
    return any(predicate.value.startswith(namespace) for namespace in NAMESPACES.values())


def short_name(predicate: IRI) -> str:
    """Return the usual name of a built-in in N3 files: ``math:sum``."""
    for prefix, namespace in NAMESPACES.items():
        if predicate.value.startswith(namespace):
            return f"{prefix}:{predicate.value[len(namespace) :]}"
    return str(predicate)


def builtins_of(predicate: IRI, subject: Sequence[Argument] | Argument, object: Argument) -> list[Builtin]:
    """Return the translation of a statement with a built-in; the subject is a sequence if it is a list.

    Raises:
        Refused: No function implements it, or its subject is unsuitable.
    """
    name = short_name(predicate)
    definition = N3_BUILTINS.get(name)
    if definition is None:
        raise Refused(f"no function implements the built-in {name}{suggest(name, N3_BUILTINS)}")
    if not isinstance(subject, Sequence):
        if definition.least:
            raise Refused(f"{name} needs a list as its subject, written out as in (?x ?y) {name} ?z")
        return definition.make(name, [subject], object)
    if not definition.least:
        raise Refused(f"the subject of {name} is not a list")
    if len(subject) < definition.least or (definition.most is not None and len(subject) > definition.most):
        few = "few" if len(subject) < definition.least else "many"
        raise Refused(f"the list before {name} has {plural(len(subject), 'item')}, which is too {few}")
    return definition.make(name, subject, object)


def _relation(build: Callable[[Expression, Expression], Expression]) -> _N3Builtin:
    """Return a condition on the subject and the object."""
    return _N3Builtin(lambda name, subject, object: [condition(name, build(subject[0], object))])


def _value(build: Callable[..., Expression]) -> _N3Builtin:
    """Return a definition whose object is a function of the subject."""
    return _N3Builtin(lambda name, subject, object: [computation(name, object, build(subject[0]))])


def _values(least: int, most: int | None, build: Callable[..., Expression]) -> _N3Builtin:
    """Return a definition whose object is a function of the items of the subject."""
    return _N3Builtin(lambda name, subject, object: [computation(name, object, build(*subject))], least, most)


def _function(name: str) -> Callable[..., Expression]:
    return lambda *arguments: Call(name, arguments)


def _not(build: Callable[..., Expression]) -> Callable[..., Expression]:
    return lambda *arguments: Call("!", (build(*arguments),))


def _lower(build: Callable[..., Expression]) -> Callable[..., Expression]:
    """Return a comparison of strings converted to lower case."""
    return lambda *arguments: build(*(Call("LCASE", (argument,)) for argument in arguments))


def _remainder(first: Expression, second: Expression) -> Expression:
    """Return the remainder with the sign of the divisor, as in cwm."""
    return Call("%", (Call("+", (Call("%", (first, second)), second)), second))


def _opposite(name: str, subject: Sequence[Argument], object: Argument) -> list[Builtin]:
    """Translate ``?x math:negation ?y``, in both directions."""
    (number,) = subject
    return [Builtin(name, (Way(Call("neg", (number,)), object), Way(Call("neg", (object,)), number)))]


def _uri(name: str, subject: Sequence[Argument], object: Argument) -> list[Builtin]:
    """Translate ``?iri log:uri ?text``, in both directions."""
    (iri,) = subject
    text = Builtin(name, (Way(Call("STR", (iri,)), object), Way(Call("IRI", (object,)), iri)))
    return [text, condition(name, Call("ISIRI", (iri,)))]


_ORDER: Final = {"lessThan": "<", "notLessThan": ">=", "greaterThan": ">", "notGreaterThan": "<="}

N3_BUILTINS: Final[dict[str, _N3Builtin]] = {
    **{f"math:{name}": _relation(_function(operator)) for name, operator in {"notEqualTo": "!=", **_ORDER}.items()},
    "math:equalTo": _N3Builtin(lambda name, subject, object: [equality(name, subject[0], object)]),
    "math:sum": _values(1, None, lambda *numbers: nested("+", numbers)),
    "math:difference": _values(2, 2, _function("-")),
    "math:product": _values(1, None, lambda *numbers: nested("*", numbers)),
    "math:quotient": _values(2, 2, _function("/")),
    "math:integerQuotient": _values(2, 2, _function("IDIV")),
    "math:remainder": _values(2, 2, _remainder),
    "math:negation": _N3Builtin(_opposite),
    "math:absoluteValue": _value(_function("ABS")),
    "math:rounded": _value(_function("ROUND")),
    "math:ceiling": _value(_function("CEIL")),
    "math:floor": _value(_function("FLOOR")),
    **{f"string:{name}": _relation(_function(operator)) for name, operator in _ORDER.items()},
    "string:concatenation": _values(1, None, lambda *texts: Call("CONCAT", tuple(Call("STR", (text,)) for text in texts))),
    "string:contains": _relation(_function("CONTAINS")),
    "string:containsIgnoringCase": _relation(_lower(_function("CONTAINS"))),
    "string:startsWith": _relation(_function("STRSTARTS")),
    "string:endsWith": _relation(_function("STRENDS")),
    "string:equalIgnoringCase": _relation(_lower(_function("="))),
    "string:notEqualIgnoringCase": _relation(_lower(_function("!="))),
    "string:matches": _relation(_function("REGEX")),
    "string:notMatches": _relation(_not(_function("REGEX"))),
    "string:replace": _values(3, 3, _function("REPLACE")),
    "string:length": _value(_function("STRLEN")),
    "string:upperCase": _value(_function("UCASE")),
    "string:lowerCase": _value(_function("LCASE")),
    "log:equalTo": _N3Builtin(lambda name, subject, object: [equality(name, subject[0], object, same="SAMETERM")]),
    "log:notEqualTo": _relation(_not(_function("SAMETERM"))),
    "log:uri": _N3Builtin(_uri),
    "log:dtlit": _values(2, 2, _function("STRDT")),
    "log:langlit": _values(2, 2, _function("STRLANG")),
    "time:year": _value(_function("YEAR")),
    "time:month": _value(_function("MONTH")),
    "time:day": _value(_function("DAY")),
    "time:hour": _value(_function("HOURS")),
    "time:minute": _value(_function("MINUTES")),
    "time:second": _value(_function("SECONDS")),
    "time:timeZone": _value(_function("TZ")),
    "crypto:md5": _value(_function("MD5")),
    "crypto:sha": _value(_function("SHA1")),
    "crypto:sha256": _value(_function("SHA256")),
    "crypto:sha512": _value(_function("SHA512")),
}
"""The built-ins that have functions, as they are usually written."""
