"""Regular expressions that are compiled when they are first used: a process needs few of those that its modules have."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

__all__ = ["regular_expression"]

_METHODS: Final = ("match", "fullmatch", "search", "sub", "subn", "split", "findall", "finditer")


class _Expression:
    """Stands for a compiled expression, and has its methods from its first use on."""

    def __init__(self, pattern: str | bytes, flags: int) -> None:
        self.pattern, self._flags = pattern, flags

    def __getattr__(self, name: str) -> Any:
        if name not in _METHODS:
            raise AttributeError(name)
        compiled = re.compile(self.pattern, self._flags)
        vars(self).update((method, getattr(compiled, method)) for method in _METHODS)
        return getattr(compiled, name)


if TYPE_CHECKING:
    regular_expression = re.compile
else:

    def regular_expression(pattern: str | bytes, flags: int = 0) -> _Expression:
        """Return a regular expression, which is compiled when it is first used.

        Args:
            pattern: The expression. It must be correct: errors are found when it is used.
            flags: Those of `re.compile`.

        >>> bool(regular_expression("[a-z]+").fullmatch("abc"))
        True
        """
        return _Expression(pattern, flags)
