"""Permissions of queries and updates to fetch documents: none, unless the owner of the store gives them."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Final, TypeAlias
from urllib.parse import urlsplit

from kg_reasoner.errors import NotAllowedError, ReasonerError, UnknownNameError

__all__ = ["KINDS", "Allow", "Permissions"]

KINDS: Final = ("service", "load", "files")
"""``service``: SERVICE asks other endpoints; ``load``: LOAD reads documents from the web; ``files``: LOAD reads local files."""

Allow: TypeAlias = Collection[str] | Callable[[str, str], bool]
"""The kinds that are allowed, for any IRI; or a function of a kind and an IRI."""


class Permissions:
    """Decides which addresses may be fetched.

    Args:
        allow: Kinds of access, or a function of a kind and an IRI that decides.

    Raises:
        UnknownNameError: A kind is unknown.
        ReasonerError: The argument is neither kinds nor a function.
    """

    def __init__(self, allow: Allow = ()) -> None:
        if isinstance(allow, str) or not (callable(allow) or isinstance(allow, Collection)):
            raise ReasonerError(f'`allow` takes kinds of access, such as {{"service"}}, or a function, not {allow!r}')
        if not callable(allow):
            for kind in allow:
                if kind not in KINDS:
                    raise UnknownNameError("kind of access", str(kind), KINDS)
        self.allow = allow

    def check_service(self, iri: str) -> None:
        """Raise an error for a SERVICE that is not allowed.

        Raises:
            NotAllowedError: It is not allowed, or is not an http or https address.
        """
        if urlsplit(iri).scheme.lower() not in ("http", "https"):
            raise NotAllowedError(f"SERVICE <{iri}> is refused: only addresses with http and https can be asked")
        self._check("service", "SERVICE", iri)

    def check_load(self, iri: str) -> str:
        """Return the kind of a LOAD; raise an error if it is not allowed.

        Raises:
            NotAllowedError: It is not allowed, or is neither an http or https address nor that of a local file.
        """
        parts = urlsplit(iri)
        scheme, host = parts.scheme.lower(), parts.netloc
        if scheme not in ("http", "https", "file"):
            raise NotAllowedError(f"LOAD <{iri}> is refused: only addresses with http, https and file can be loaded")
        if scheme == "file" and host.lower() not in ("", "localhost"):
            raise NotAllowedError(f"LOAD <{iri}> is refused: only files of this machine can be loaded, not those of {host}")
        kind = "files" if scheme == "file" else "load"
        self._check(kind, "LOAD", iri)
        return kind

    def _check(self, kind: str, word: str, iri: str) -> None:
        allow = self.allow
        if not (allow(kind, iri) if callable(allow) else kind in allow):
            hint = f'allow={{"{kind}"}}, or a function of a kind and an IRI, where the store is made or attached'
            if kind == "service":
                hint += "; --allow-service on the command line"
            message = f"{word} <{iri}> is not allowed: nothing is fetched unless the owner of the data allows it"
            raise NotAllowedError(f"{message}\nhint: {hint}")
