"""What the suite of update streams calls the state of a materialisation, read from a reasoner."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from urllib.parse import unquote

from benchmarks.streams import NAMESPACE, State
from kg_reasoner.reasoner import Reasoner


class Reader:
    """Reads the materialisation of a reasoner as lines of the suite's words, with tabs between them; each word is made once."""

    def __init__(self, reasoner: Reasoner) -> None:
        self.reasoner = reasoner
        self._words: list[str] = []

    def state(self) -> State:
        sizes, lines = self.reasoner.sizes(), sorted(self.lines())
        return State(sizes.explicit, len(lines), hashlib.sha256("\n".join(lines).encode()).hexdigest())

    def lines(self) -> Iterator[str]:
        """All facts, explicit and derived, in no order."""
        reasoner = self.reasoner
        texts = reasoner.dictionary.texts(len(self._words))
        self._words += [unquote(text[1 + len(NAMESPACE) : -1]) for text in texts]
        words = self._words
        for subject, property, value in reasoner.triple_ids().tolist():
            if property == reasoner.catalog.type_id:
                yield f"{words[value]}\t{words[subject]}"
            else:
                yield f"{words[property]}\t{words[subject]}\t{words[value]}"
        for predicate in reasoner.predicates():
            name = predicate[1:-1].rpartition("/")[0]
            for row in reasoner.database.rows(reasoner.catalog.predicates[predicate]).tolist():
                yield "\t".join([name, *(words[number] for number in row)])
