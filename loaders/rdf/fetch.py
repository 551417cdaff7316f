"""Documents from the web, fetched only on request: http and https, with limits on redirects and size."""

from __future__ import annotations

import io
import urllib.error
import urllib.request
import zlib
from http.client import HTTPException, HTTPMessage
from typing import IO, Final, cast
from urllib.parse import urlsplit

from kg_reasoner.errors import LoadError, UnknownNameError
from kg_reasoner.loaders.rdf.formats import FORMATS, RDF_XML, Format, find_format, format_of_name
from kg_reasoner.loaders.rdf.sources import Document

__all__ = ["LARGEST", "MOST_REDIRECTS", "TIMEOUT", "fetch"]

LARGEST: Final = 1 << 26
"""The bytes of a document, unpacked."""
MOST_REDIRECTS: Final = 5
TIMEOUT: Final = 30.0
"""The seconds to wait for an answer, and for each further piece of it."""

_SCHEMES: Final = ("http", "https")
_ACCEPT: Final = ", ".join([*(entry.media_type for entry in FORMATS), "application/xml;q=0.5", "*/*;q=0.1"])
_VAGUE: Final = ("text/plain", "text/html", "application/octet-stream", "application/xml", "text/xml", "application/gzip")
"""Media types that do not determine the syntax; the content does."""
_GZIP: Final = b"\x1f\x8b"


def fetch(iri: str, *, largest: int = LARGEST, timeout: float = TIMEOUT) -> tuple[Document, str]:
    """Fetch a document into memory. Return it with its final address after redirects.

    Args:
        iri: The address.
        largest: The maximal size in bytes, packed and unpacked.
        timeout: The timeout of the connection in seconds.

    Raises:
        LoadError: It cannot be fetched: the message says what happened.
    """
    address = iri.partition("#")[0]
    _check(address, iri)
    request = urllib.request.Request(address, headers={"Accept": _ACCEPT, "User-Agent": "kg-reasoner"})
    redirects = _Redirects(iri)
    try:
        with _opener(redirects).open(request, timeout=timeout) as response:
            data = response.read(largest + 1)
            length = response.headers.get("Content-Length", "")
            if length.isdecimal() and len(data) < min(int(length), largest + 1):
                raise _failure(iri, f"it ends after {len(data)} of {length} bytes", "try again")
            found = str(response.geturl())
            format = _format(response.headers.get_content_type(), found)
    except LoadError:
        raise
    except urllib.error.HTTPError as error:
        raise _failure(iri, f"the server answers {error.code} {error.reason}") from None
    except urllib.error.URLError as error:
        raise _failure(iri, str(error.reason)) from None
    except (OSError, HTTPException, ValueError) as error:
        raise _failure(iri, str(error) or type(error).__name__) from None
    data = _unpacked(data, largest, iri)
    if len(data) > largest:
        raise _failure(iri, f"it has more than {largest} bytes", "download it, and map it to the file")
    return Document(found, len(data), lambda: cast(io.RawIOBase, io.BytesIO(data)), True, format), found


def _failure(iri: str, reason: str, hint: str = "map it to a file with a catalog") -> LoadError:
    return LoadError(f"cannot fetch <{iri}>: {reason}", hint=hint)


def _check(address: str, iri: str) -> None:
    scheme = urlsplit(address).scheme
    if scheme not in _SCHEMES:
        raise _failure(iri, f"only http and https are fetched, not {scheme or 'a relative address'}")


class _Redirects(urllib.request.HTTPRedirectHandler):
    """A redirect handler that allows a limited number of redirects, only to http and https."""

    def __init__(self, iri: str) -> None:
        self._iri = iri
        self._count = 0

    def redirect_request(
        self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> urllib.request.Request | None:
        self._count += 1
        if self._count > MOST_REDIRECTS:
            raise _failure(self._iri, f"it is redirected more than {MOST_REDIRECTS} times")
        _check(newurl, self._iri)
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _opener(redirects: _Redirects) -> urllib.request.OpenerDirector:
    """Return an opener with handlers for http and https only; the default opener would also open files."""
    opener = urllib.request.OpenerDirector()
    for handler in (
        urllib.request.ProxyHandler(),
        urllib.request.HTTPHandler(),
        urllib.request.HTTPSHandler(),
        urllib.request.HTTPDefaultErrorHandler(),
        urllib.request.HTTPErrorProcessor(),
        redirects,
    ):
        opener.add_handler(handler)
    return opener


def _format(media_type: str, address: str) -> Format | None:
    if media_type not in _VAGUE:
        try:
            return find_format(media_type)
        except UnknownNameError:
            pass
    named = format_of_name(urlsplit(address).path)
    return None if named is RDF_XML else named


def _unpacked(data: bytes, largest: int, iri: str) -> bytes:
    """Return the document, unpacked if it is gzipped, up to the maximal size."""
    if not data.startswith(_GZIP):
        return data
    try:
        return zlib.decompressobj(wbits=31).decompress(data, largest + 1)
    except zlib.error as error:
        raise _failure(iri, f"the gzip data are damaged: {error}") from None
