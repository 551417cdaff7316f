"""Writes conclusions into the quad store of a World, and applies them to the Python objects that are loaded.

As with owlready2's reasoners, objects change without writing triples of their own: the inferred triples are written first.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextvars import copy_context
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from kg_reasoner.expressions.values import INTEGER_RANGES
from kg_reasoner.owlready2.following import Attached, owlready
from kg_reasoner.owlready2.undoing import Undo
from kg_reasoner.storage.arrays import contains
from kg_reasoner.terms import OWL, RDF, RDFS, XSD, Literal

if TYPE_CHECKING:
    from kg_reasoner.owlready2.conclusions import Conclusions

__all__ = ["Writer"]

_Triple: TypeAlias = tuple[int, int, int]

_IS_A: Final = {"class": RDFS.subClassOf, "property": RDFS.subPropertyOf, "individual": RDF.type}
_EQUIVALENT: Final = {"class": OWL.equivalentClass, "property": OWL.equivalentProperty}
_NUMBERS: Final = {XSD.double.value: float, XSD.float.value: float, XSD.decimal.value: float}


_OF_OWL: Final = 300
"""The last number of the resources that every World has, such as owl:Thing."""


class Writer:
    """Applies conclusions to a World.

    Args:
        attached: The World and its reasoner.
        target: The ontology to which triples are written.
        debug: Above 0, changes of objects are listed on standard error.
    """

    def __init__(self, attached: Attached, target: Any, debug: int) -> None:
        self.attached = attached
        self.world = attached.world
        self.target = target
        self.debug = debug
        self.number = {name: self.world._abbreviate(name.value) for name in (*_IS_A.values(), *_EQUIVALENT.values())}

    def apply(self, found: Conclusions) -> int:
        """Write the conclusions, and take back those written before that no longer follow; return the number of new triples.

        If this is interrupted, the World, its objects and what is recorded of them are as before; so they are if another interrupt
        comes while they are restored.
        """
        undo = Undo(self.attached)
        try:
            try:
                return self._apply_undoably(found, undo)
            except BaseException:
                undo.roll_back()
                raise
        except BaseException:
            undo.roll_back()
            raise

    def _apply_undoably(self, found: Conclusions, undo: Undo) -> int:
        undo.begin()
        written = self._apply(found, undo)
        undo.end()
        return written

    def _apply(self, found: Conclusions, undo: Undo) -> int:
        hierarchy = list(self.of_hierarchy(found))
        relations = self.unstated(found.relations)
        wanted = dict.fromkeys([*self.unstated(hierarchy), *self.not_stated_inversely(relations)])
        gone = self.retract(self.attached.written, wanted, of_literals=False)
        written = self.write(wanted)
        values = dict.fromkeys(self.unstated(found.values, of_literals=True))
        gone_values = self.retract(self.attached.written_values, values, of_literals=True)
        new_values = self.write_values(values)
        copy_context().run(self._update_objects, found, gone, undo)
        for subject, property, value in (*relations, *gone):
            self.forget(subject, property, value)
        for subject, property, _ in (*new_values, *gone_values):
            self.forget(subject, property, None)
        self.attached.taken_back = {}, {}
        return len(written) + len(new_values)

    def _update_objects(self, found: Conclusions, gone: list[_Triple], undo: Undo) -> None:
        """Apply the written triples to the objects; in a copy of the context, for the reason given in `Undo`."""
        with owlready().base.LOADING:  # nothing is written
            self.update_equivalents(found, gone, undo)
            self.update_parents(found, gone, undo)

    # --- triples

    def of_hierarchy(self, found: Conclusions) -> Iterator[_Triple]:
        for child, parents in found.parents.items():
            relation = self.number[_IS_A[found.kinds[child]]]
            yield from ((child, relation, parent) for parent in parents)
        yield from ((individual, self.number[RDF.type], cls) for individual, cls in found.punned)
        for one, others in found.equivalents.items():
            relation = self.number[_EQUIVALENT[found.kinds[one]]]
            yield from ((one, relation, other) for other in others)

    def ids(self, triples: Iterable[_Triple], of_literals: bool) -> np.ndarray[Any, np.dtype[np.int32]]:
        """Return triples of the quad store in the reasoner's ids."""
        table = np.array(list(triples), np.int64).reshape(-1, 3)
        encoded = self.attached.store.encoded(table[:, :2] if of_literals else table)
        return np.column_stack([encoded, table[:, 2]] if of_literals else [encoded]).astype(np.int32)

    def unstated(self, triples: list[_Triple], of_literals: bool = False) -> list[_Triple]:
        """Return the triples that the World does not state itself."""
        stated = contains(self.attached.triples, self.ids(triples, of_literals)).tolist()
        return [triple for triple, is_stated in zip(triples, stated, strict=True) if not is_stated]

    def not_stated_inversely(self, triples: list[_Triple]) -> list[_Triple]:
        """Return the triples that the World does not state of the inverse property. Earlier inferred ones are not stated."""
        inverses: dict[_Triple, _Triple] = {}
        for subject, property, value in triples:
            inverse = self.inverse(property)
            if inverse:
                inverses[subject, property, value] = value, inverse, subject
        unstated = set(self.unstated(list(inverses.values())))
        return [triple for triple in triples if triple not in inverses or inverses[triple] in unstated]

    def inverse(self, property: int) -> int:
        """Return the property whose triples owlready2 also reads, backwards; 0 without one. A symmetric one is its own."""
        return getattr(self.entity(property), "_inverse_storid", 0) or 0

    def retract(
        self, written: dict[tuple[int, ...], tuple[int, ...]], wanted: dict[_Triple, None], *, of_literals: bool
    ) -> list[_Triple]:
        """Delete and return the triples that were written before and no longer follow."""
        taken_back = self.attached.taken_back[of_literals]
        for key, (context, subject, property, value) in list(written.items()):
            if (subject, property, value) in wanted:
                continue
            triple = subject, property, value
            taken_back[triple] = None  # first, so that a call after an interrupted one finishes it
            graph = self.world.graph.context_2_user_context(context)
            if of_literals:
                graph._del_data_triple_raw_spod(subject, property, *self.stored(value))
            else:
                graph._del_obj_triple_raw_spo(subject, property, value)
            del written[key]
        return list(taken_back)

    def write(self, wanted: dict[_Triple, None]) -> list[_Triple]:
        """Write the triples that are not there; return them."""
        new = [triple for triple in wanted if not self.world._has_obj_triple_spo(*triple)]
        context = self.target.graph.c
        for triple, ids in zip(new, self.ids(new, False).tolist(), strict=True):
            key = (context, *ids)
            self.attached.written[key] = (context, *triple)
            self.target._add_obj_triple_raw_spo(*triple)
        return new

    def write_values(self, wanted: dict[_Triple, None]) -> list[_Triple]:
        """Write the triples with literals that are not there; return them."""
        context, new = self.target.graph.c, []
        for triple, ids in zip(wanted, self.ids(wanted, True).tolist(), strict=True):
            subject, property, literal = triple
            value, datatype = self.stored(literal)
            if not self.world._has_data_triple_spod(subject, property, value):  # of whatever datatype, as owlready2 does
                key = (context, *ids)
                self.attached.written_values[key] = (context, *triple)
                self.target._add_data_triple_raw_spod(subject, property, value, datatype)
                new.append(triple)
        return new

    def stored(self, literal: int) -> tuple[Any, Any]:
        """Return a literal as the World has it, or would have it."""
        known = self.attached.store.stored_as
        if literal not in known:
            term = self.attached.current.dictionary.decode(literal)
            assert isinstance(term, Literal)
            if term.language is not None:
                known[literal] = term.lexical, f"@{term.language}"
            else:
                convert = int if term.datatype in INTEGER_RANGES else _NUMBERS.get(term.datatype, str)
                known[literal] = convert(term.lexical), self.world._abbreviate(term.datatype)
        return known[literal]

    # --- objects

    def tell(self, text: str) -> None:
        if self.debug:
            print(f"* kg_reasoner * {text}", file=sys.stderr)

    def entity(self, number: int) -> Any:
        return self.world._get_by_storid(number)

    def update_equivalents(self, found: Conclusions, gone: list[_Triple], undo: Undo) -> None:
        numbers = {self.number[name] for name in _EQUIVALENT.values()}
        for one, property, other in gone:
            entity = self.world._entities.get(one)
            if property in numbers and entity is not None:
                undo.note_equivalents(entity)
                if self.entity(other) in entity.equivalent_to:
                    entity.equivalent_to._remove(self.entity(other))
                entity.equivalent_to._indirect = None
        for one, others in found.equivalents.items():
            for other in others:
                entity = self.world._entities.get(one)
                if entity is None and self.world._entities.get(other) is None:
                    continue
                entity, second = self.entity(one), self.entity(other)
                if second not in entity.equivalent_to:
                    self.tell(f"Equivalenting: {entity} {second}")
                    undo.note_equivalents(entity)
                    entity.equivalent_to._append(second)
                    entity.equivalent_to._indirect = None

    def update_parents(self, found: Conclusions, gone: list[_Triple], undo: Undo) -> None:
        package = owlready()
        kinds = {self.number[name]: kind for kind, name in _IS_A.items()}
        changed = {subject: kinds[property] for subject, property, _ in gone if property in kinds}
        for number, kind in {**changed, **found.kinds}.items():
            entity = self.world._entities.get(number)
            parents = found.parents.get(number, [])
            if entity is None or (kind == "property" and not parents and number not in changed):
                continue
            old = [parent for parent in entity.is_a if not isinstance(parent, package.class_construct.Construct)]
            told = self.told(entity, number, kind) if number in changed else old
            new = self.nearest(found, number, told, [self.entity(parent) for parent in parents])
            if kind in ("class", "individual") and not new:
                new = [package.Thing]
            if new and set(new) != set(old):
                self.tell(f"Reparenting {entity}: {set(old)} => {set(new)}")
                kept = [each for each in entity.is_a if each in new or each not in old]
                undo.note_parents(entity)
                entity.is_a.reinit([*kept, *(each for each in new if each not in kept)])

    def told(self, entity: Any, number: int, kind: str) -> list[Any]:
        """Return the parents that the quad store has for an entity, some of whose triples were taken back."""
        above = self.world._get_obj_triples_sp_o(number, self.number[_IS_A[kind]])
        builtin = [each for each in entity.is_a if getattr(each, "storid", _OF_OWL + 1) <= _OF_OWL]
        found = [self.entity(upper) for upper in above if upper > _OF_OWL]
        return list(dict.fromkeys([*builtin, *(each for each in found if isinstance(each, type))]))

    def nearest(self, found: Conclusions, number: int, old: list[Any], parents: list[Any]) -> list[Any]:
        """Return the nearest of the parents of an entity: those that are not above another one."""
        skipped = {owlready().Thing.storid, *found.equivalents.get(number, ())}
        every = [each for each in dict.fromkeys([*old, *parents]) if each is not None and each.storid not in skipped]
        near = {parent.storid for parent in parents if parent is not None}
        kept = []
        for each in every:
            is_far = any(each.storid in found.above(other) for other in near) and each.storid not in near
            is_same = each.storid not in near and any(other in found.equivalents.get(each.storid, ()) for other in near)
            is_base = any(other is not each and each in getattr(other, "__mro__", ()) for other in every) and each.storid > _OF_OWL
            if not (is_far or is_same or is_base):
                kept.append(each)
        return kept

    def forget(self, subject: int, property: int, value: int | None) -> None:
        """Make objects read the values of a property again."""
        if property <= _OF_OWL:
            return
        self._forget(subject, property)
        if value is not None and (inverse := self.inverse(property)):
            self._forget(value, inverse)

    def _forget(self, number: int, property: int) -> None:
        entity, name = self.world._entities.get(number), getattr(self.entity(property), "_python_name", None)
        if entity is not None and name is not None and name in entity.__dict__:
            delattr(entity, name)
