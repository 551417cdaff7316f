"""Scripts: statements that are executed one after the other, until one is wrong."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kg_reasoner.errors import LoadError, ReasonerError, SourceError
from kg_reasoner.shell.session import Ended, Session
from kg_reasoner.shell.text_parts import Statement, statements

__all__ = ["run_script"]


def run_script(session: Session, lines: Iterable[str], source: str) -> Iterator[Statement]:
    """Execute the statements in some lines, and yield each when it is done.

    Args:
        session: The session. After an error, its open transaction is undone.
        lines: The lines, with their line breaks.
        source: The name of the script.

    Raises:
        ReasonerError: A statement is wrong; the message says where it is.
        Ended: A statement ends the session.
    """
    try:
        for statement in statements(lines, source):
            try:
                session.execute(statement)
            except ReasonerError as error:
                raise _placed(error, statement) from None
            yield statement
    except Ended:
        raise
    except BaseException:
        session.drop_updates()
        session.close()
        raise


def _placed(error: ReasonerError, statement: Statement) -> ReasonerError:
    """Return an error with the place of a statement, if it has none in the script."""
    if not isinstance(error, SourceError):
        return LoadError(str(error), statement.span())
    if error.span is not None and error.span.source == statement.source:
        return error
    return LoadError(error.message, statement.span(), error.hint)
