"""What the suite of update streams calls the state of a materialisation, read from a reasoner and from its deltas."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from urllib.parse import unquote

from benchmarks.inputs.streams import NAMESPACE, State
from kg_reasoner.api.reasoner import Reasoner
from kg_reasoner.program import TRIPLE
from kg_reasoner.query.delta import Changes
from kg_reasoner.storage.arrays import Ids
from kg_reasoner.terms import RDF


class Reader:
    """Reads facts as lines of the suite's words, with tabs between them; each word is made once."""

    def __init__(self, reasoner: Reasoner) -> None:
        self.reasoner = reasoner
        self._words: list[str] = []

    def lines(self) -> set[str]:
        """All facts of the materialisation."""
        reasoner = self.reasoner
        lines, relations = set(self._lines(TRIPLE, reasoner.triple_ids())), reasoner.engine.catalog.predicates
        for predicate in reasoner.predicates().keys() & relations.keys():  # others have no facts
            lines.update(self._lines(predicate, reasoner.engine.database.rows(relations[predicate])))
        return lines

    def changed(self, changes: Changes) -> set[str]:
        """The facts of one part of a delta."""
        return {line for predicate, change in changes.tables.items() for line in self._lines(predicate, change.ids)}

    def state(self, lines: set[str]) -> State:
        """The state of the materialisation, of which these are all facts."""
        checksum = hashlib.sha256("\n".join(sorted(lines)).encode()).hexdigest()
        return State(self.reasoner.sizes().explicit, len(lines), checksum)

    def _lines(self, predicate: str, rows: Ids) -> Iterator[str]:
        texts = self.reasoner.dictionary.texts(len(self._words))
        self._words += [unquote(text[1 + len(NAMESPACE) : -1]) for text in texts]
        words, type_id = self._words, self.reasoner.dictionary.find(RDF.type)
        if predicate != TRIPLE:
            name = predicate[1:-1].rpartition("/")[0]
            for row in rows.tolist():
                yield "\t".join([name, *(words[number] for number in row)])
            return
        for subject, property, value in rows.tolist():
            if property == type_id:
                yield f"{words[value]}\t{words[subject]}"
            else:
                yield f"{words[property]}\t{words[subject]}\t{words[value]}"
