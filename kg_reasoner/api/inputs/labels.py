"""Labels of terms: rdfs:label or else skos:prefLabel, in the preferred language."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Protocol

from kg_reasoner.api.inputs.given_values import expect_prefixes
from kg_reasoner.language.display_names import DisplayNames
from kg_reasoner.terms import IRI, RDFS, Literal, Term, Triple

__all__ = ["LABELS", "labelled", "language_tag"]

LABELS: Final = (RDFS.label, IRI("http://www.w3.org/2004/02/skos/core#prefLabel"))
"""The properties of labels, the preferred one first."""

_TAG: Final = re.compile("[A-Za-z]{1,8}(-[A-Za-z0-9]{1,8})*")


class _Readable(Protocol):
    def triples(self, subject: Term | None = None, predicate: Term | None = None) -> Iterable[Triple]: ...


def labelled(source: _Readable, prefixes: Mapping[str, str], languages: Sequence[str]) -> DisplayNames:
    """Return the prefixes with the labels of all IRIs.

    An IRI with several labels has that in the first of the languages (``en`` is also that of ``en-GB``), else one without a
    language, else an English one, else the first in the order of the alphabet. Labels that several IRIs would have are left out:
    they do not tell what is meant.

    Raises:
        ValueError: A language is not a language tag.
        LoadError: The prefixes are not a mapping of texts.
    """
    expect_prefixes(prefixes)
    best: dict[str, tuple[int, int, str, str]] = {}
    wanted = [language_tag(language).lower() for language in languages]
    for number, property in enumerate(LABELS):
        for subject, _, label in source.triples(None, property):
            if isinstance(subject, IRI) and isinstance(label, Literal) and label.lexical.strip():
                rank = (_rank(label.language, wanted), number, label.language or "", label.lexical)
                if subject.value not in best or rank < best[subject.value]:
                    best[subject.value] = rank
    uses = Counter(rank[3] for rank in best.values())
    return DisplayNames(prefixes, {iri: rank[3] for iri, rank in best.items() if uses[rank[3]] == 1})


def language_tag(text: str) -> str:
    """Return a language tag, if it has the form that BCP 47 prescribes.

    Raises:
        ValueError: It has not.

    >>> language_tag("en_GB")
    Traceback (most recent call last):
    ValueError: 'en_GB' is not a language tag such as en or pt-BR (BCP 47); did you mean 'en-GB'?
    """
    if isinstance(text, str) and _TAG.fullmatch(text):
        return text
    similar = "-".join(re.findall("[A-Za-z0-9]+", str(text)))
    hint = f"; did you mean {similar!r}?" if _TAG.fullmatch(similar) else ""
    raise ValueError(f"{text!r} is not a language tag such as en or pt-BR (BCP 47){hint}")


def _rank(language: str | None, wanted: Sequence[str]) -> int:
    if language is None:
        return len(wanted)
    for number, name in enumerate([*wanted, None, "en"]):
        if name is not None and (language == name or language.startswith(f"{name}-")):
            return number
    return len(wanted) + 2
