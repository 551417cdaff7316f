"""The lexical forms of literals as rdflib normalises them, for triples that do not come through rdflib's terms."""

from __future__ import annotations

import re
from typing import Final, cast

import numpy as np
from rdflib import Literal as RdflibLiteral
from rdflib import URIRef

from kg_reasoner.loaders.convert import text_from_rdflib
from kg_reasoner.storage.arrays import Ids
from kg_reasoner.storage.terms.dictionary import Dictionary
from kg_reasoner.terms import Literal, term_from_text

_XSD: Final = r"http://www\.w3\.org/2001/XMLSchema#"
_NORMAL: Final = re.compile(
    rf'"(?:(?:0|-?[1-9][0-9]{{0,17}})"\^\^<{_XSD}(?:integer|int|long)>'
    rf'|(?:0|-?[1-9][0-9]{{0,17}})\.[0-9]{{1,6}}"\^\^<{_XSD}decimal>'
    rf'|(?:true|false)"\^\^<{_XSD}boolean>'
    rf'|[12][0-9]{{3}}-[01][0-9]-[0-3][0-9]"\^\^<{_XSD}date>)'
)
"""Common literals that are in rdflib's normal form already."""


def normalised(triples: Ids, dictionary: Dictionary) -> Ids:
    """Return triples, given as ids of shape (n, 3), with literals in the form that they have as literals of rdflib.

    This is their normal form if `rdflib.NORMALIZE_LITERALS` is set, so that they are found by literals that a program makes.
    """
    old: list[int] = []
    texts: list[str] = []
    typed = dictionary.with_datatype(np.unique(triples[:, 2]))
    for number, text in zip(typed.tolist(), dictionary.texts_of(typed), strict=True):
        if not _NORMAL.fullmatch(text):
            normal = _normal(text)
            if normal != text:
                old.append(number)
                texts.append(normal)
    if not old:
        return triples
    numbers, replacements = np.array(old, np.int32), dictionary.encode_texts(texts)
    places = np.minimum(np.searchsorted(numbers, triples[:, 2]), len(numbers) - 1)
    found = triples.copy()
    found[:, 2] = np.where(numbers[places] == triples[:, 2], replacements[places], triples[:, 2])
    return found


def _normal(text: str) -> str:
    literal = cast(Literal, term_from_text(text))
    return text_from_rdflib(RdflibLiteral(literal.lexical, datatype=URIRef(literal.datatype)))
