"""Exceptions and warnings that kg_reasoner raises deliberately.

All exceptions derive from `ReasonerError`, so one ``except`` clause catches every error that a user can cause. Each message
states what is wrong, where, and how to fix it. If there is a source text, `SourceError` shows the line with carets under the
error.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Protocol

from kg_reasoner.data_classes import dataclass

__all__ = [
    "ArityError",
    "BeyondProfileWarning",
    "CallbackError",
    "CancelledError",
    "CapacityError",
    "CircuitError",
    "ColumnTypeError",
    "InconsistencyError",
    "InterruptedUpdate",
    "KeyViolationError",
    "LimitError",
    "LoadError",
    "MissingExtraError",
    "NoProofError",
    "NotAllowedError",
    "OutputError",
    "QuerySyntaxError",
    "ReasonerError",
    "ReasonerWarning",
    "RuleSyntaxError",
    "RuleTypeError",
    "SafetyError",
    "SourceError",
    "Span",
    "StratificationError",
    "StreamError",
    "UnknownNameError",
    "UnsupportedError",
    "ValueTooLargeError",
    "expect_name",
    "install_command",
    "plural",
    "suggest",
]


_SHOWN: Final = 200
"""The characters of a source line that messages show."""


_LONGEST: Final = 500
"""The maximal length of a message. Longer ones contain a term or a name of the input, and are shortened."""


def plural(count: int, noun: str, plural_noun: str | None = None) -> str:
    """Return a count with its noun.

    Args:
        count: The count.
        noun: The noun for a count of 1.
        plural_noun: That for others, if it does not end in -s.

    Returns:
        The text.

    >>> plural(1, "triple"), plural(1234, "triple"), plural(0, "entry", "entries")
    ('1 triple', '1,234 triples', '0 entries')
    """
    return f"{count:,} {noun if count == 1 else plural_noun or noun + 's'}"


class ReasonerWarning(UserWarning):
    """The loaded data express more than the reasoner can derive. Issued once per reasoner and cause, see `Reasoner.warnings`."""


class BeyondProfileWarning(ReasonerWarning):
    """An axiom is outside the OWL 2 RL profile: the rules do not derive all of its consequences."""


@dataclass(frozen=True, slots=True)
class Span:
    """A range in a source text. Lines and columns count from 1; `end_column` is the first column after the range."""

    source: str
    line: int
    column: int
    end_column: int
    text: str
    """The whole source line, without its line break."""

    def pointer(self) -> str:
        """Return the source line, shortened around the range if it is long, and a line of carets under the range.

        Returns:
            The two lines.
        """
        first = max(0, self.column - 1 - _SHOWN // 2) if len(self.text) > _SHOWN else 0
        shown = self.text[first : first + _SHOWN]
        width = max(1, min(self.end_column, first + len(shown) + 1) - self.column)
        before = "... " if first else ""
        after = " ..." if first + len(shown) < len(self.text) else ""
        margin = f"{self.line:>5} | {before}"
        indent = "".join("\t" if c == "\t" else " " for c in shown[: self.column - 1 - first])
        return f"{margin}{shown}{after}\n      | {' ' * len(before)}{indent}{'^' * width}"


class ReasonerError(Exception):
    """The base class of all errors that kg_reasoner raises deliberately."""

    def __init__(self, message: str = "") -> None:
        super().__init__(message.encode(errors="backslashreplace").decode())  # half of a surrogate pair could not be printed


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST // 2]} ... {text[-_LONGEST // 2 :]}"


class SourceError(ReasonerError):
    """A source text is wrong at one place. `span` is the place, or None for rules built in Python."""

    def __init__(self, message: str, span: Span | None = None, hint: str | None = None) -> None:
        message, hint = _cut(message), None if hint is None else _cut(hint)
        self.message = message
        self.span = span
        self.hint = hint
        lines = [message] if span is None else [f"{span.source}:{span.line}:{span.column}: {message}", span.pointer()]
        if hint:
            lines.append(f"hint: {hint}")
        super().__init__("\n".join(lines))


class RuleSyntaxError(SourceError):
    """A rule text violates the grammar."""


class QuerySyntaxError(SourceError):
    """A SPARQL query or update violates the grammar, or is nested too deeply to be evaluated."""


class SafetyError(SourceError):
    """A variable of a rule is not bound by a positive body atom."""


class ArityError(SourceError):
    """A predicate is used with a different number of arguments than before or than declared."""


class ColumnTypeError(SourceError):
    """A term of a fact does not have the declared type of its column."""


class RuleTypeError(ColumnTypeError):
    """The types of a rule do not fit together; no term can have all of them."""


class StratificationError(SourceError):
    """A program cannot be stratified: negation or aggregation occurs in a recursion."""


class UnsupportedError(SourceError):
    """A feature is recognised but cannot be evaluated; the message names it."""


class KeyViolationError(SourceError):
    """Two facts of a relation have the same primary key, or none has a key that one is to have."""


class LoadError(SourceError):
    """An input could not be read: a missing file, a syntax error in a document, an invalid term."""


class OutputError(ReasonerError):
    """An output could not be written. An existing file is unchanged."""


class NotAllowedError(ReasonerError):
    """A query or an update needs to fetch something that the owner of the data has not allowed."""


class NoProofError(ReasonerError):
    """A proof is requested for a fact that does not hold, or that has none."""


class TransactionError(ReasonerError):
    """A transaction is used before it has begun or after it has ended, or begins while another one is open."""


class InterruptedUpdate(ReasonerError):
    """The base class of errors that end an operation early; its changes are undone."""


class CapacityError(InterruptedUpdate):
    """A number of facts, terms or relations exceeds 31 bits."""


class LimitError(InterruptedUpdate):
    """An operation exceeded one of its `kg_reasoner.concurrency.limits.Limits`; the message names it."""


class CancelledError(InterruptedUpdate):
    """An operation was cancelled by `Reasoner.cancel`."""


class ValueTooLargeError(InterruptedUpdate):
    """A rule computes a number with too many digits or a text that is too long; the message names the rule and its arguments."""


class RecursionValueError(InterruptedUpdate):
    """A recursion through MIN or MAX has no result: its values improve without end, or some are not numbers."""


class CircuitError(ReasonerError):
    """A circuit (`kg_reasoner.dbsp`) is wired incorrectly or gets an invalid input; the message names the stream."""


class BrokenConstraint(Protocol):
    """A violated constraint in an `InconsistencyError`: a `kg_reasoner.engine.inconsistency.Violation`."""

    @property
    def rule(self) -> Any:
        """The constraint."""

    @property
    def terms(self) -> dict[str, Any]:
        """The values of its variables, by name."""

    @property
    def origin(self) -> Any:
        """The axiom or the name of the rule that it comes from."""

    def text(self, prefixes: Mapping[str, str] | None = None) -> str:
        """Return the violated axiom or rule and the violating terms.

        Args:
            prefixes: The prefixes; by default none.

        Returns:
            The text.
        """

    def as_dict(self) -> dict[str, Any]:
        """Return the violation as plain data.

        Returns:
            The data.
        """


class InconsistencyError(ReasonerError):
    """The data contradict the rules, and a reasoner was asked to refuse that. The transaction is undone.

    `violations` are all the constraints that would not have held; the message names the first ones, with the `prefixes` given.
    """

    def __init__(self, violations: Sequence[BrokenConstraint], prefixes: Mapping[str, str] | None = None) -> None:
        self.violations = tuple(violations)
        shown = [f"  {violation.text(prefixes)}" for violation in self.violations[:3]]
        further = [f"  and {len(self.violations) - 3} more"] if len(self.violations) > 3 else []
        super().__init__("\n".join(["the data contradict the rules:", *shown, *further]))

    def with_prefixes(self, prefixes: Mapping[str, str]) -> InconsistencyError:
        """Return the same error with a message that uses other prefixes.

        Args:
            prefixes: The prefixes.

        Returns:
            The error.
        """
        return InconsistencyError(self.violations, prefixes)


class CallbackError(ReasonerError):
    """A subscriber's callback raised an exception, which is logged and stored as `__cause__` instead of being raised.

    `commit` is the number of the reported commit.
    """

    def __init__(self, message: str, commit: int) -> None:
        self.commit = commit
        super().__init__(message)


class StreamError(ReasonerError):
    """A stream of updates raised an exception, or an update could not be applied; `__cause__` is the original exception.

    `applied` is the number of updates that were applied before; all of them are in place, and nothing else is.
    """

    def __init__(self, message: str, applied: int) -> None:
        self.applied = applied
        super().__init__(message)


class UnknownNameError(ReasonerError):
    """A name (rule set, format, strategy ...) does not exist; the message lists similar ones."""

    def __init__(self, kind: str, name: object, known: Iterable[str]) -> None:
        known = sorted(known)
        choice = f"; choose one of: {', '.join(known)}" if known else ""
        similar = suggest(name, known) if isinstance(name, str) else ""
        super().__init__(f"unknown {kind} {name!r}{similar}{choice}")


def expect_name(kind: str, name: object, known: Collection[str]) -> None:
    """Check that a name is one of those that exist.

    Args:
        kind: What is named, such as ``maintenance strategy``, for the message.
        name: The name. Anything but a text is unknown.
        known: The names that exist.

    Raises:
        UnknownNameError: It is not one of them.
    """
    if not isinstance(name, str) or name not in known:
        raise UnknownNameError(kind, name, known)


class MissingExtraError(ReasonerError):
    """An optional dependency is not installed; the message names the extra and the command that installs it."""

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f"{what} needs an optional dependency: {install_command(extra)}")


def install_command(extra: str) -> str:
    """Return the command that installs an extra of this package, from the checkout if the package runs from one.

    Args:
        extra: The name of the extra, such as ``store``.

    Returns:
        The command.
    """
    import shlex

    root = Path(__file__).resolve().parents[1]
    if (root / "pyproject.toml").is_file():
        return f"pip install -e {shlex.quote(f'{root}[{extra}]')}"
    return f"pip install 'kg-reasoner[{extra}]'"


def suggest(name: str, known: Iterable[str]) -> str:
    """Return text such as ``, did you mean 'rdfs'?`` for the closest known name, or an empty text.

    A name that begins differently and does not contain the other must be closer than one that does.

    >>> suggest("owl2rI", ["owl2rl", "rdfs"])
    ", did you mean 'owl2rl'?"
    >>> suggest("foo", ["obo", "owlxml"])
    ''

    Args:
        name: The unknown name.
        known: The names to choose from.

    Returns:
        The text.
    """
    from difflib import get_close_matches

    names = list(known)
    alike = [each for each in names if each[:1] == name[:1] or name in each or each in name]
    close = get_close_matches(name, names, n=1, cutoff=0.7) or get_close_matches(name, alike, n=1)
    return f", did you mean {close[0]!r}?" if close else ""
