"""Labels of blank nodes that every syntax can express."""

from __future__ import annotations

from typing import Final

from kg_reasoner.lazy_regex import regular_expression

__all__ = ["safe_label"]

_SAFE: Final = regular_expression(r"[A-Za-z0-9_](?:[A-Za-z0-9_.-]*[A-Za-z0-9_-])?")
_CODED: Final = "coded."


def safe_label(label: str, *, as_name: bool = False) -> str:
    """Return a label that every syntax can express: the label itself if possible, or one with its bytes in hexadecimal.

    XML's names (`as_name`) do not begin with a digit.

    >>> safe_label("b1"), safe_label("a:b")
    ('b1', 'coded.613a62')
    """
    is_safe = _SAFE.fullmatch(label) and not label.startswith(_CODED) and not (as_name and label[0].isdigit())
    return label if is_safe else _CODED + label.encode().hex()
