"""Plans of many rules of one shape, made together.

An ontology of a hundred thousand axioms has as many rules, but few shapes: ``?x a C :- ?x a D`` is the shape of each subclass
axiom. The rules of a shape differ in their relations and constants only, and so do their plans. A `Pattern` has the plans of one
such rule, whose relations and constants are numbered; those of all others are copies of its words, in which NumPy replaces these
numbers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from enum import IntEnum
from threading import local
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from kg_reasoner.planning.catalog import StoredAtom, StoredCall, StoredComparison, StoredRule, StoredTerm
from kg_reasoner.storage.databases.database import Database
from kg_reasoner.storage.kernels.layout import CALL, COMPARE, EMPTY, PROBE, Plan, Relation, Step
from kg_reasoner.storage.kernels.memory.struct_tables import Record, StructTable
from kg_reasoner.storage.relations.indexes import value_column
from kg_reasoner.storage.relations.plan_memory import JoinFrames, PlanMemory

__all__ = ["Outline", "Pattern", "ShapedPlans", "outline"]

_MANY: Final = 4
"""The number of rules of a shape from which they are planned together; fewer are planned one by one."""
_MOST: Final = 256
"""The maximal number of shapes that are remembered."""
_LONGEST: Final = 16
"""Rules with more body atoms are planned one by one."""

_FIRST: Final = 1 << 20
"""The number of the first constant of an example. Smaller codes mean the same in all plans."""

Numbers: TypeAlias = npt.NDArray[np.int64]
_LOW: Final = (1 << 32) - 1
_PLAN: Final = {name: word for name, (word, _) in Plan.fields.items()}
_PLACES: Final = [_PLAN[name] for name in ("first_step", "trigger", "head", "step_count")]
_SECTION_COLUMN: Final = Relation.fields["section_column"][0]
_STEP: Final = {name: word for name, (word, _) in Step.fields.items()}
_GIVEN: Final = ("relation", "index", "guard", "guard_key")
"""The fields of steps that can be parameters, but for the places of codes."""


class _Parameter(IntEnum):
    """The first parameters of a pattern; relations, constants, indexes, and pairs of constants follow."""

    NONE = 0
    """Always zero."""
    CODE = 1
    STEP = 2
    RULE = 3


class Outline:
    """A rule as its shape, and the relations and constants that fill it. Relations are those of functions, too.

    Attributes:
        shape: Equal for rules whose plans differ in relations and constants only.
        relations: The relations, each once.
        constants: The constants, each once.
    """

    __slots__ = ("constants", "relations", "shape")

    def __init__(self, shape: tuple[Any, ...], relations: Iterable[int], constants: Iterable[int]) -> None:
        self.shape = shape
        self.relations = tuple(relations)
        self.constants = tuple(constants)


def outline(database: Database, rule: StoredRule) -> Outline:
    """Return the outline of a rule. The functions that it applies are parts of its shape.

    Args:
        database: The relations.
        rule: The rule.
    """
    relations: dict[int, int] = {}
    constants: dict[int, int] = {}
    relation_number, constant_number = relations.setdefault, constants.setdefault
    shape: list[Any] = []
    for atom in (rule.head, *rule.body):
        terms = [term if isinstance(term, str) else constant_number(term, len(constants)) for term in atom.terms]
        shape.append((relation_number(atom.relation, len(relations)), atom.negated, *terms))
    for check in rule.checks:
        if isinstance(check, StoredComparison):
            sides = [side if isinstance(side, str) else constant_number(side, len(constants)) for side in (check.left, check.right)]
            shape.append((check.operator, *sides))
        else:
            terms = [term if isinstance(term, str) else constant_number(term, len(constants)) for term in check.arguments]
            result = constant_number(check.result, len(constants)) if isinstance(check.result, int) else check.result
            place = relation_number(check.relation, len(relations))
            shape.append((place, check.function, check.has_several, result, *terms))
    word = database.relations.words.item
    shape.append(tuple([word(number, _SECTION_COLUMN) for number in relations]))
    return Outline(tuple(shape), relations, constants)


class PlanSlot(NamedTuple):
    """Where the plans of a rule are: the numbers of the first plan, step and code."""

    plan: int
    step: int
    code: int


class _Frames(JoinFrames):
    """How large the frames of some plans must be."""

    def __init__(self) -> None:
        self.bindings = self.depth = 0

    def fit(self, bindings: int = 0, depth: int = 0, arity: int = 0) -> None:
        """See `JoinFrames.fit`."""
        self.bindings, self.depth = max(bindings, self.bindings), max(depth, self.depth)


class _ExampleMemory(PlanMemory):
    """A memory for the plans of one example at a time, whose relations and indexes are numbers from 0 on.

    Attributes:
        indexes: The relation, the columns, the constant and the column that is apart of each index.
    """

    def __init__(self) -> None:
        super().__init__()
        self.indexes: dict[tuple[int, tuple[int, ...], int, int], int] = {}
        self._relations = StructTable(Relation)

    def begin(self, memory: PlanMemory, relations: Iterable[int]) -> None:
        """Begin with the next example.

        Args:
            memory: Another memory.
            relations: The relations of the example in the other memory.
        """
        for table in (self.plans, self.steps, self._relations):
            table.truncate(0)
        self._code_count, self.indexes, self.frames = 0, {}, _Frames()
        for number in relations:
            record = memory.relation(number)
            self._relations.add(arity=record.arity, section_column=record.section_column)

    def relation(self, number: int) -> Record:
        """See `PlanMemory.relation`."""
        return self._relations[number]

    def index(self, relation: int, columns: tuple[int, ...], constant: int = -1, apart: int = 0) -> int:
        """See `PlanMemory.index`."""
        return self.indexes.setdefault((relation, columns, constant, apart), len(self.indexes))

    def index_value_column(self, index: int) -> int:
        """See `PlanMemory.index_value_column`."""
        relation, columns, constant, _ = [*self.indexes][index]
        record = self._relations[relation]
        return value_column(record.arity, columns, record.section_column if constant >= 0 else -1)

    @property
    def codes(self) -> Numbers:
        """The codes of the plans."""
        return np.array(self._codes[: self._code_count], np.int64)


class _ExampleMemories(local):
    """The memory of each thread: to make one takes as long as to plan several rules."""

    def __init__(self) -> None:
        self.memory = _ExampleMemory()


_examples: Final = _ExampleMemories()


class Pattern:
    """The plans of an example of a shape, whose relations and indexes are numbers from 0 on, and whose constants are numbers from
    `_FIRST` on.

    Each word of the plans of another rule is that of the example, or differs from it by a *parameter*, which is zero for the
    example: where the plans are, the number of the rule, a relation, an index, a constant, or two constants in one word.

    Args:
        memory: The relations.
        rule: A rule of the shape.
        found: Its outline.
        write: Writes the plans of a rule to a memory.

    Attributes:
        count: The number of plans of a rule.
    """

    def __init__(
        self, memory: PlanMemory, rule: StoredRule, found: Outline, write: Callable[[PlanMemory, StoredRule], object]
    ) -> None:
        example = _examples.memory
        example.begin(memory, found.relations)
        write(example, _example(rule, found))
        self.count = len(example.plans)
        self._frames = example.frames
        self._indexes = tuple(example.indexes)
        self._first_relation = len(_Parameter)
        self._first_constant = self._first_relation + len(found.relations)
        self._first_index = self._first_constant + len(found.constants)
        self._pairs: list[tuple[int, int]] = []
        """The constants that share a word."""
        self._plan_words, self._plan_parameters = self._of_plans(np.array(example.plans.words[: self.count]))
        self._step_words, self._step_parameters = self._of_steps(np.array(example.steps.words[: len(example.steps)]))
        self._code_words, self._code_parameters = self._of_codes(example.codes)

    def copy(self, database: Database, outlines: Sequence[Outline], rules: Sequence[int], slots: Sequence[PlanSlot]) -> list[int]:
        """Write the plans of rules of this shape. Return the number of the first plan of each rule; its others follow.

        Args:
            database: The database of the rules.
            outlines: The outlines of the rules.
            rules: The numbers of the rules.
            slots: Where the plans of the first rules are to be. Those of the others are appended.
        """
        size, reused = len(outlines), len(slots)
        parameters = self._parameters(database, outlines, rules)
        codes = self._code_words + parameters[:, self._code_parameters]
        end = database.add_codes(codes[reused:].reshape(-1))
        appended = np.arange(size - reused)
        parameters[reused:, _Parameter.CODE] = end + appended * codes.shape[1]
        parameters[reused:, _Parameter.STEP] = len(database.steps) + appended * len(self._step_words)
        for place, slot in enumerate(slots):
            parameters[place, [_Parameter.CODE, _Parameter.STEP]] = slot.code, slot.step
        steps = self._step_words + parameters[:, self._step_parameters]
        plans = self._plan_words + parameters[:, self._plan_parameters]
        database.frames.fit(self._frames.bindings, self._frames.depth)
        for place, slot in enumerate(slots):
            database.replace_codes(slot.code, codes[place])
            database.steps.words[slot.step : slot.step + len(self._step_words)] = steps[place]
            database.plans.words[slot.plan : slot.plan + self.count] = plans[place]
        database.steps.append(steps[reused:].reshape(-1, len(_STEP)))
        first = database.plans.append(plans[reused:].reshape(-1, len(_PLAN)))
        return [*(slot.plan for slot in slots), *range(first, first + self.count * (size - reused), self.count)]

    def slot(self, database: Database, plan: int) -> PlanSlot | None:
        """Return the arguments of the plans of a rule of this shape, or None if they are not laid out as here.

        Args:
            database: The database of the rule.
            plan: The number of the first plan.
        """
        words = database.plans.words[plan : plan + self.count]
        offsets = words[:, _PLACES] - self._plan_words[:, _PLACES]
        step, code = int(offsets[0, 0]), int(offsets[0, 1])
        is_alike = bool((offsets == [step, code, code, 0]).all())
        return PlanSlot(plan, step, code) if is_alike else None

    def _parameters(self, database: Database, outlines: Sequence[Outline], rules: Sequence[int]) -> Numbers:
        """Return the parameters of each rule, but for the place of its plans."""
        found = np.zeros((len(outlines), self._first_index + len(self._indexes) + len(self._pairs)), np.int64)
        found[:, _Parameter.RULE] = rules
        found[:, self._first_relation : self._first_index] = [(*each.relations, *each.constants) for each in outlines]
        for place, (relation, columns, constant, apart) in enumerate(self._indexes, self._first_index):
            relations = found[:, self._first_relation + relation].tolist()
            sections = [-1] * len(outlines) if constant < 0 else found[:, self._constant(constant)].tolist()
            found[:, place] = database.all_indexes(relations, columns, sections, apart)
        for place, (first, last) in enumerate(self._pairs, self._first_index + len(self._indexes)):
            found[:, place] = found[:, first] << 32 | found[:, last]
        return found

    def _constant(self, code: int) -> int:
        """Return the parameter of a constant of the example."""
        return self._first_constant + code - _FIRST

    def _of_plans(self, words: Numbers) -> tuple[Numbers, Numbers]:
        """Return the words of plans without parameters, and the parameters of all words."""
        parameters = np.full_like(words, _Parameter.NONE)
        parameters[:, [_PLAN["trigger"], _PLAN["head"]]] = _Parameter.CODE
        parameters[:, _PLAN["first_step"]] = _Parameter.STEP
        parameters[:, _PLAN["rule"]] = _Parameter.RULE
        parameters[:, _PLAN["head_relation"]] = self._first_relation + words[:, _PLAN["head_relation"]]
        words[:, [_PLAN["rule"], _PLAN["head_relation"]]] = 0
        return words, parameters

    def _of_steps(self, words: Numbers) -> tuple[Numbers, Numbers]:
        """Return the same for steps."""
        parameters = np.full_like(words, _Parameter.NONE)
        parameters[:, [_STEP["key"], _STEP["columns"]]] = _Parameter.CODE
        for step, of_step in zip(words, parameters, strict=True):
            kind, relation, index, guard, key = (int(step[_STEP[field]]) for field in ("kind", *_GIVEN))
            given = {
                "relation": None if kind == COMPARE else self._first_relation + relation,
                "index": self._first_index + index if kind in (PROBE, CALL) else None,
                "guard": self._first_index + guard if guard >= 0 else None,
                "guard_key": None if key == EMPTY else self._guard_key(key, len(self._indexes[guard][1])),
            }
            for field, parameter in given.items():
                if parameter is not None:
                    step[_STEP[field]], of_step[_STEP[field]] = 0, parameter
        return words, parameters

    def _guard_key(self, key: int, width: int) -> int:
        """Return the parameter of the key of a guard with one or two constants."""
        last = self._constant(key & _LOW)
        if width == 1:
            return last
        pair = self._constant(key >> 32), last
        if pair not in self._pairs:
            self._pairs.append(pair)
        return self._first_index + len(self._indexes) + self._pairs.index(pair)

    def _of_codes(self, codes: Numbers) -> tuple[Numbers, Numbers]:
        """Return the same for codes."""
        are_constants = codes >= _FIRST
        parameters = np.where(are_constants, codes + (self._first_constant - _FIRST), _Parameter.NONE)
        return np.where(are_constants, 0, codes), parameters


def _example(rule: StoredRule, found: Outline) -> StoredRule:
    """Return a rule with its relations and constants numbered from 0 on."""
    relations = {relation: number for number, relation in enumerate(found.relations)}
    constants = {constant: number for number, constant in enumerate(found.constants, _FIRST)}

    def term(term: StoredTerm) -> StoredTerm:
        return term if isinstance(term, str) else constants[term]

    def atom(atom: StoredAtom) -> StoredAtom:
        return StoredAtom(relations[atom.relation], tuple(map(term, atom.terms)), atom.negated)

    def check(check: StoredComparison | StoredCall) -> StoredComparison | StoredCall:
        if isinstance(check, StoredComparison):
            return StoredComparison(check.operator, term(check.left), term(check.right))
        arguments, result = tuple(map(term, check.arguments)), None if check.result is None else term(check.result)
        return StoredCall(check.function, relations[check.relation], arguments, result, check.has_several)

    return StoredRule(atom(rule.head), tuple(map(atom, rule.body)), tuple(map(check, rule.checks)), rule.source, rule.values)


class ShapedPlans:
    """Plans of rules, made together for those of one shape. Results for a shape are kept for further rules.

    Args:
        database: The database of the rules.
        write: Writes the plans of a rule to a memory, given its number.
    """

    def __init__(self, database: Database, write: Callable[[PlanMemory, StoredRule, int], object]) -> None:
        self._database = database
        self._write = write
        self._patterns: dict[tuple[Any, ...], Pattern] = {}
        self._single: Counter[tuple[Any, ...]] = Counter()
        """The number of rules of a shape that were planned one by one."""
        self._free: dict[tuple[Any, ...], list[int]] = {}
        """The first plans of rules that are out of use, by their shapes."""

    def write(self, rules: Sequence[tuple[StoredRule, int]]) -> list[int]:
        """Write the plans of rules. Return for each rule the number of its first plan; its others follow.

        Args:
            rules: The rules with their numbers.
        """
        first = [0] * len(rules)
        shapes: dict[tuple[Any, ...], list[tuple[int, Outline]]] = {}
        single: list[int] = []
        for place, (rule, _) in enumerate(rules):
            if len(rule.body) > _LONGEST:
                single.append(place)
            else:
                found = outline(self._database, rule)
                shapes.setdefault(found.shape, []).append((place, found))
        for shape, members in shapes.items():
            pattern, free = self._patterns.get(shape), self._free.get(shape, [])
            if pattern is None and not free and len(members) + self._single[shape] < _MANY:
                single.extend(place for place, _ in members)
                self._single[shape] += len(members)
                continue
            places = [place for place, _ in members]
            if pattern is None:
                pattern = self._pattern(rules[places[0]][0], members[0][1])
            reusable = (pattern.slot(self._database, free.pop()) for _ in range(min(len(free), len(places))))
            slots = [slot for slot in reusable if slot is not None]
            copies = pattern.copy(self._database, [found for _, found in members], [rules[place][1] for place in places], slots)
            for place, plan in zip(places, copies, strict=True):
                first[place] = plan
        for place in sorted(single):
            first[place] = len(self._database.plans)
            self._write(self._database, *rules[place])
        return first

    def release(self, rule: StoredRule, plan: int) -> None:
        """Let the plans of further rules take the place of those of a rule that is out of use.

        Args:
            rule: The rule.
            plan: The number of its first plan.
        """
        if len(rule.body) <= _LONGEST:
            self._free.setdefault(outline(self._database, rule).shape, []).append(plan)

    def _pattern(self, rule: StoredRule, found: Outline) -> Pattern:
        """Return a new pattern of the shape of a rule, which is remembered."""
        if len(self._patterns) >= _MOST:
            self._patterns.clear()
            self._single.clear()
        made = Pattern(self._database, rule, found, lambda memory, rule: self._write(memory, rule, 0))
        self._patterns[found.shape] = made
        return made
