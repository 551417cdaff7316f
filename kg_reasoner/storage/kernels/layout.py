"""Data structures of the kernels: relations, indexes, plans and join frames; one append-only relation per predicate.

A *tuple* is a pointer to `arity` ids. A *row* is the number of a tuple in its relation: rows are only appended, so row order is
derivation order. A *code* is an integer that denotes an argument of an atom:

* ``code >= 0``: the constant with that id;
* ``SKIP < code < 0``: slot ``-1 - code`` of the frame's bindings. In a list of columns to match it means *bind*;
* ``code <= CHECK``: only in lists of columns to match: slot ``CHECK - code`` must hold the same value;
* ``SKIP``: the column is ignored.

A *fact* is ``relation << 32 | row``.
"""

from kg_reasoner.storage.kernels.memory.structs import Array, Bytes, Int16s, Int32s, Int64s, Struct

ROW = (1 << 32) - 1
"""The part of a fact that is its row."""

EMPTY = -1
"""In hash tables: no key here."""

SKIP = -(1 << 28)
CHECK = -(1 << 29)

# what `insert` returns instead of a row
PRESENT = -1
FULL = -2

# further results of `readiness`, apart from BUILD_INDEX and VALUES
IDLE = 0
READY = 1

# what `run` and other long kernels return
DONE = 0
GROW = 1
PAUSE = 2
BUILD_INDEX = 3
VALUES = 4
"""Terms are compared whose values are not in the tables yet."""
STOPPED = 6
"""The context is stopped."""
FUNCTION_RESULTS = 5
"""Functions are applied whose results are not known yet: they are in the list of requests."""
WIDE = 7
"""A relation (`wanted`) has enough new rows for several threads (see `parallel_blocks`), or a deletion has enough facts for them:
CANDIDATES, OVERDELETED or DELETED (see `parallel_deletion`)."""
UNPLANNED = 8
"""Some rules whose heads are in a section (`wanted`) have no plans from their heads yet."""

# in place of a relation: what threads share in a deletion
CANDIDATES = -1
"""The candidates for deletion, from `candidates_done` on."""
OVERDELETED = -2
"""The same, for an algorithm without proofs."""
DELETED = -3
"""The consequences of the deleted facts."""

# phases of an update by `update_stratum`
BEGIN, COLLECT, PROCESS, INSERT, FINISH = 0, 1, 2, 3, 4

KIND_BITS = 2
"""In the number of a group of changes, the bits of the kind of change. Those above them are the relation."""

BLANK, GENERAL, VOCABULARY, REFLEXIVE = 1, 2, 4, 8
"""Marks of terms: a blank node; a class of which every term is a member; a term of a vocabulary; a property that relates every
term of some kind to itself. See `kg_reasoner.query.visibility`.
"""

IN_ROW = -1
"""In place of a property: the relation has triples of all properties, which are in its rows."""

# kinds of steps
SCAN = 0
"""All rows."""
PROBE = 1
"""The rows of one key of an index."""
LOOKUP = 2
"""One tuple, all of whose columns are known."""
COMPARE = 3
"""No atom: a comparison of two values. This kind and the next match no rows."""
CALL = 4
"""No atom: a function of ids; its results so far are the rows of a relation, an argument in each column, the result in the last."""

FAILED = 0x7FFFFFFF
"""The result of a function that has none for these arguments."""
HOLDS = 1
"""The result of a filter that lets an instance pass."""

# flags of rows
EXPLICIT = 1
"""Asserted by the user."""
STATED = 2
"""Stated by the program (a rule without a body), or about literals, by the engine."""
DEAD = 128
"""Deleted by an earlier update; the row waits for compaction."""

# flags of rows that only last for one update
GONE = 512
"""Deleted by this update: the row still belongs to the old materialisation."""
REBORN = 1024
"""Inserted by this update, which had deleted the same fact: it belongs to the old and the new materialisation."""
RETRACTED = 2048
"""Was explicit before this update."""
MARKED = 4096
"""EXPIRING, or follows directly from a fact that is: the next update makes it a candidate for deletion."""
EXPIRING = 8192
"""Explicit, comes with an update and goes with the next: what follows from it directly is MARKED (see `marks`)."""
CLAIMED = 16384
"""Was there before this update, and has become explicit by it."""

ABSENT = DEAD | GONE
"""The rows that do not belong to the materialisation."""

# flags that only the backward/forward deletion of a stratum uses, and takes away again (see `deletion` and `proving`)
CHECKED = 4
"""A proof has been looked for."""
PROVED = 8
"""A proof has been found."""
DISPROVED = 16
"""All proofs have been tried, and each depends on candidates for deletion."""
CANDIDATE = 32
"""A rule instance that derived it may no longer hold: it is in the list of candidates for deletion."""
PROCESSED = 64
"""Without proof, and its consequences are candidates for deletion, too."""
WATCHED = 256
"""Rule instances wait for its proof."""

# flags that only counting uses, instead of those
OUT = 4
"""Not in the state that joins see at the moment (see `derivation_counts`)."""
TOUCHED = 32
"""In the list of facts that may be gone."""

NEVER = 1 << 30
"""The rank of a fact that no iteration derives."""

# comparison operators
EQUAL, NOT_EQUAL, LESS, LESS_EQUAL = 0, 1, 2, 3
DISTINCT = 4
"""Not the same term, whatever the values."""

# kinds of values (how `values` compares them)
OPAQUE = 0
"""A literal without a known value: equal to itself, unequal to literals with a language; an error with any other literal."""
RESOURCE = 1
"""An IRI or blank node: equal to itself, unequal to all else, without order."""
NAN = 2
"""Unequal to all literals that have a value, itself too."""
LANG_STRING = 3
"""A string with a language: unequal to all literals of other kinds, without order."""
STRUCTURE = 4
"""Equal or not, but without order."""
MIXED_DURATION = 5
"""A duration of both months and seconds; likewise."""
ORDERED = 6
"""From here on: kinds of values that are ordered among themselves."""
NO_DURATION = 6
"""The duration without months and seconds, which is also ordered among the next two."""
SECONDS = 7
"""A duration without months."""
MONTHS = 8
"""A duration without seconds."""
OTHERS = 9
"""The first of the other kinds."""

MOST = (1 << 31) - 1
"""The most rows of a relation, entries of an index, relations, and terms: their numbers are 31 bits wide."""

BLOCK = 4096
"""Rows that are processed together. The order of derived rows depends on it."""
CACHED = 1 << 14
"""Hash tables with fewer slots are assumed to be in the processor's cache."""
MOST_VALUES = 1 << 8
"""The most distinct values of a column by which a block is filtered (see `block_filters`): their numbers are bytes."""
VALUE_SLOTS = 1 << 10
"""The slots of a hash table of these values."""
FEW = 16
"""The number of rows that are processed together without checking whether they can match."""
MANY_CHANGED = 64
"""An update that adds or removes this many facts needs indexes immediately, because it would scan rows for each of them."""
SPARSE = 1 << 10
"""With more relations than this between two that have new rows, the next ones are not looked for in their order."""
RING = 32
"""Heads that wait for their cache line (a power of two); at most half of them at once."""
RECENT_VALUES = 1 << 14
"""The length of the table of the values that the inner loop over pairs has derived."""


class Index(Struct):
    """A map from a key to the vector of entries with this key (see `vectors`).

    A key of one column is its id, of two both packed, of none 0, of more a fingerprint (whose rows are compared again). An entry
    is ``row << 32 | value``, value being that of the one column outside the key if there is just one. In relations of more than two
    columns, it is only the row, where the value is found.
    """

    relation: int
    built: int
    width: int
    apart: int
    """A column, or 0: rows that have the same term there as in the first column are left out."""
    columns: Int32s
    value_column: int
    keys: Int64s
    starts: Int32s
    """Where the vectors begin in the arena; for vectors of several pages, the complement of where their directories begin."""
    lengths: Int32s
    mask: int
    used: int
    limit: int
    has_values: int
    arena: Int64s
    """The vectors, if entries have values."""
    row_arena: Int32s
    """The vectors, if entries are rows."""
    page_bits: int
    """A page has 2**page_bits entries."""
    top: int
    capacity: int
    free: Int64s
    next: int
    slot: int
    need: int
    constant: int
    """The constant of the section whose rows it has, or -1 for all rows."""
    patience: int
    """While it is not built: how many rows deletions may still scan in its place."""


class Section(Struct):
    """The rows of a relation with one constant in its section column (or all rows): their indexes and triggered plans."""

    first_index: int
    first_trigger: int
    end_trigger: int
    first_deriver: int
    end_deriver: int
    first_blocker: int
    end_blocker: int


class Relation(Struct):
    """Rows, flags, and a hash table of the rows. A slot has the number of a row, and, in the bits that are left, some of the
    hash of its tuple, so that hardly any other tuple is compared with the row.
    """

    arity: int
    count: int
    capacity: int
    rows: Int32s
    flags: Int16s
    slots: Int32s
    """EMPTY, or the newest row of a tuple, which may be dead."""
    row_mask: int
    """The bits of a slot that are the number of the row."""
    mask: int
    used: int
    limit: int
    dead: int
    """Rows that are DEAD or GONE."""
    level: int
    """The stratum whose rules derive its rows, or -1 if no rules do."""
    section: int
    section_column: int
    section_keys: Int64s
    section_ids: Int32s
    section_mask: int
    watches: Int32s
    """Per WATCHED row, the first rule instance that waits for it."""
    ranks: Int32s
    """Under counting: the first iteration that derives a row, 0 for explicit ones, or NEVER."""
    ranked: int
    """Under counting: the stratum for which the ranks count; its level, but until the end of the update that takes its rules."""
    tallies: Int32s
    """Under counting: a row's first entry in the pool of tallies, or -1."""
    is_alone: int
    """1: threads do not share the work on its new rows."""
    known: Bytes
    """A bit for each term: set if copies have found or inserted it in this relation of one column (see `known_terms`)."""
    known_room: int
    """The number of these bits."""
    lateness: int
    """In a first materialisation, its new rows are processed when none of lower lateness has any (see `late_relations`)."""


class Step(Struct):
    """A body atom, comparison or function in a plan's join order. Positions refer to the context's codes."""

    kind: int
    relation: int
    index: int
    newest: int
    """1: stands after the trigger in the rule's body: sees the block of rows that is being processed, too."""
    negated: int
    once: int
    """1: one match is enough, for nothing that this step binds is used later; for a call, the function has one result."""
    key: int
    width: int
    columns: int
    value_slot: int
    """For an index entry's value: the slot to bind; SKIP: of no use; CHECK: the columns must be matched instead."""
    operator: int
    """Of a comparison; for a call, the number of the function."""
    guard: int
    """An index, or -1: without an entry there, no row can match."""
    guard_key: int
    """The key of the entry, made of constants, or EMPTY for any entry."""
    first_column: int
    """The columns of the triggering row that make the tuple of one or two terms which a look-up looks for, or -1."""
    second_column: int


class Plan(Struct):
    """A rule compiled for one trigger: the columns that the triggering row must match, the steps to join, and the head."""

    first_step: int
    step_count: int
    trigger: int
    head_relation: int
    head: int
    copies: int
    """1: the rule has one body atom, and its head is made of one or two of the triggering row's columns: these."""
    first_column: int
    second_column: int
    decided: int
    """1: the triggering row determines the head, which is made of these columns, so that one match of the steps is enough."""
    probe_column: int
    """The column of the triggering row that is the key of the first step's index, or -1."""
    required: int
    """The number of the first steps that look up tuples of the triggering row's terms (see `Step.first_column`)."""
    semijoin: int
    """1: the triggering row determines the head as if `copies`, and all steps are such look-ups."""
    filter_column: int
    """The only column of the triggering row on which the key of the first step depends, or -1."""
    rule: int
    checked_block: int
    active: int
    last_key: int
    """The key of the head that was queued last in this block."""
    apart: int
    """A column, or 0: rows that have the same term there as in the first column do not trigger the plan."""
    other: int
    """1: the next plan finds the same instances, and begins with another step, which may find fewer rows."""
    negation: int
    """The step of the negated atom that triggers the plan, if several rows can block the same instances, or -1."""
    found: int
    """Rule instances found outside of insertion, for profiles."""


class Level(Struct):
    """The state of a join at one step."""

    slot: int
    """Of the step's key in its index; SCANNED: there is no index, and `position` is a row."""
    position: int
    row: int


class Frame(Struct):
    """The state of a join. `level` is that of the last match, FRESH before the first, FINISHED after the last."""

    plan: int
    level: int
    bindings: Int32s
    levels: Array[Level]
    scratch: Int32s
    fact: int
    """The new fact that triggered the plan, or -1."""


FRESH = -1
FINISHED = -2

SCANNED = -1


class HeadList(Struct):
    """Heads that one thread has derived and not inserted, in the order of derivation."""

    relations: Int32s
    keys: Int64s
    values: Int32s
    """The heads, `ring_stride` integers each."""
    places: Int64s
    """Per head: the slot that it has claimed, or NOT_NEW, or UNCLAIMED, or POSTPONED."""
    tasks: Int32s
    """Per head that has claimed a slot during the joins: the number of the task. A thread takes tasks in order."""
    task: int
    """The number of the present task."""
    claimed: int
    """The end of the heads that may have claimed slots during the joins, some of which may no longer be listed."""
    has_unclaimed: int
    """1: some heads claim slots when all threads have joined."""
    repeated: int
    """How many of the derived heads were the same as listed ones that had claimed slots."""
    recent: Int64s
    """By hash, a head that was listed recently, so that most repetitions are not listed: its number, and above it 32 bits of its
    hash, so that hardly any other head is compared."""
    count: int
    room: int
    requests: Int64s
    """What a deletion by threads needs before it can go on, each once: the kind of request above the number `wanted`."""
    request_count: int


NOT_NEW = -1
POSTPONED = -2
"""One thread claims its slot, after the others (see `parallel_blocks.decide_rest`)."""
UNCLAIMED = -3
"""It claims its slot when all threads have joined."""

LIST_BITS = 6
"""The numbers of lists are below 2**6, those of the heads in a list below 2**25."""

RECENT = 1 << 14
"""The size of a table of recent heads (a power of two)."""

REQUESTS = 1 << 6
"""The most requests that a thread lists in a deletion; others are met again later."""


class Goal(Struct):
    """A fact to prove. Goal number n uses frame n + 1."""

    fact: int
    own_section: int
    """0 while the rules for all rows are tried, then 1 for those of the fact's section."""
    next_deriver: int
    open: int
    """1: the frame has a rule whose further instances are to be tried."""
    step: int
    """The step whose body fact is looked at next, or -1 when there is no current match."""
    instance: int
    """Its rule instance in the pool that is being settled, or -1."""


class Terms(Struct):
    """The dictionary: concatenated texts, and a hash from text to id."""

    texts: Bytes
    offsets: Int64s
    count: int
    room: int
    text_capacity: int
    hashes: Int32s
    slots: Int32s
    mask: int


class Context(Struct):
    """The root of all data that kernels can access."""

    relations: Array[Relation]
    relation_count: int
    sections: Array[Section]
    indexes: Array[Index]
    plans: Array[Plan]
    steps: Array[Step]
    codes: Int32s
    triggers: Int32s
    processed: Int64s
    """Per relation: the rows that have been processed in the current stratum."""
    frames: Array[Frame]
    ring: Int32s
    ring_keys: Int64s
    ring_relations: Int32s
    hashes: Int64s
    """The hashes of the next `RING` heads, where keys are exact."""
    filtered_rows: int
    """The least numbers of rows of a block, and of plans that one column filters, for which blocks are filtered (see
    `block_filters`).
    """
    filtered_plans: int
    filter_slots: Int32s
    """A hash table of the distinct values of the column by which a block is filtered: their numbers."""
    filter_values: Int32s
    filter_count: int
    filter_numbers: Bytes
    """Per row of the block: the number of its value."""
    filter_matches: Bytes
    """Per value: whether the first step of the current plan can match."""
    copies: int
    """The number of heads in `ring_keys` and `hashes` that a plan that copies columns has collected."""
    copied: Int32s
    """The rows that they come from."""
    ring_stride: int
    ring_next: int
    ring_count: int
    hidden: int
    """Flags of rows that joins do not see."""
    checks_flags: int
    """1: joins check flags in relations without dead rows, too."""
    old: int
    """1: joins see the materialisation before this update: `materialised` rows of each relation, including GONE ones."""
    materialised: Int64s
    """Per relation: the number of rows before this update."""
    grown: Int32s
    """The relations with rows beyond `materialised`, each once, if `has_listed_grown`."""
    grown_count: int
    has_listed_grown: int
    """1: the relations that are not in `grown` have only rows that are materialised and processed."""
    total: int
    """All rows of all relations."""
    fresh: int
    """The number of relations that have got their first row, or are in use again."""
    blockers: Int32s
    """Plans that are triggered by a fact of a negated atom, by section."""
    removed: Int64s
    """Facts that are explicit or stated no longer."""
    removed_count: int
    claimed: Int64s
    """Facts that were there and have become explicit or stated."""
    claimed_count: int
    gone: Int64s
    """Facts that this update has deleted; some may have been inserted again."""
    gone_count: int
    has_reborn: int
    """1: this update has inserted facts that it had deleted: some rows are REBORN."""
    requests: Int32s
    """Function calls whose results are wanted: the function's number and the arguments, `request_stride` integers each."""
    request_count: int
    request_room: int
    request_stride: int
    marking: int
    """1: there are EXPIRING facts, and heads of their rule instances are marked."""
    marked: Int64s
    """Facts that are marked for the next update."""
    marked_count: int
    marked_room: int
    place: int
    """The position in a list at which an entry continues when it is called again."""
    level: int
    """The stratum that is being updated: lower strata are up to date."""
    phase: int
    """The phase of an update by `update_stratum`."""
    compact_from: int
    """Fewer dead rows than this are left where they are."""
    renew_from: int
    """The number of rows above which relations are copied in steps."""
    scans: int
    """1: joins may scan the rows in place of an index that is not built, if it has `patience`: the update changes few facts."""
    guarding: int
    """1: the index `wanted` tells whether plans can match at all. It is built before rows are scanned in place of others."""
    scanning: int
    """1: the plan that was looked at last has an index that is not built."""
    interrupted: int
    """1: a join has found less than there is, because the patience of the index `wanted` was exhausted."""
    crowded: int
    """1: some relation may have more dead rows than living ones, or is large and nearly full."""
    deletion_instances: int
    """The number of rule instances that made their heads candidates for deletion."""
    derivers: Int32s
    """Plans that are triggered by a head and find the rule's instances, by section; below 0: one that has to be made."""
    candidates: Int64s
    candidates_count: int
    candidates_done: int
    checked: Int64s
    checked_count: int
    checked_done: int
    proved: Int64s
    proved_count: int
    proved_done: int
    goals: Array[Goal]
    goal_room: int
    unsettled: int
    """The first in a list of rule instances of the pool, which are settled when there are no goals, or -1 (see `proving`)."""
    depth: int
    pending: int
    """The fact to be made the next goal, or -1."""
    pool: Int64s
    """Rule instances that wait: next in the same list (or -1), head, number of body facts, body facts."""
    pool_count: int
    pool_room: int
    backward_instances: int
    """Rule instances that backward chaining has found."""
    forward_instances: int
    """Rule instances that were looked at because a body fact was proved."""
    pool_of_tallies: Int64s
    """How often iterations derive facts, three numbers each: next entry of the fact (or -1), iteration, number of derivations."""
    tally_count: int
    tally_room: int
    tally_free: int
    """The first of the entries that are free again, or -1."""
    agenda: Int64s
    """Per iteration the first fact to look at in the pool of events, or -1."""
    agenda_room: int
    time: int
    """The iteration that is being looked at."""
    last_time: int
    """The last iteration that has something on its agenda."""
    events: Int64s
    """Facts to look at, two numbers each: next in the same list (or -1), fact."""
    event_count: int
    event_room: int
    adjusted: Int64s
    """Derivations that come, go or move, three numbers each: fact, the iteration before and after (or -1)."""
    adjusted_count: int
    adjusted_room: int
    touched: Int64s
    touched_count: int
    touched_room: int
    current: int
    passed: int
    """The number of successive relations without new rows."""
    following: int
    """1: few of many relations have new rows, and to look for them takes longer than to process them."""
    admitted: int
    """The highest lateness of relations whose new rows are processed now."""
    latest: int
    """The highest lateness of all relations."""
    turn_begin: int
    """The row with which the turn of the current relation began."""
    block: int
    block_rows: int
    """Rows that are processed together: BLOCK."""
    block_end: int
    """The end of the block that is being processed, so that a repetition processes the same rows; else 0."""
    block_instances: int
    """The rule instances of the last block."""
    wide: int
    """From this number of expected rule instances on, threads share the work on the new rows of a relation; 0: never."""
    shared_facts: int
    """From this number of facts on, threads, if there are several, share the work on candidates for deletion, or deleted facts."""
    is_large: int
    """1: this update had enough candidates for deletion, or deleted facts, for threads to share the work."""
    shared_to: int
    """The position in the list of candidates, or of deleted facts, up to which threads have shared the work."""
    lists: Array[HeadList]
    """The heads that threads have derived, one list for each thread."""
    own_list: int
    """The number of the list to which heads are added, plus 1; or 0: they are inserted."""
    claiming: int
    """1: listed heads may have claimed slots, and are not rows yet."""
    claim_room: int
    """How many heads threads may list at most. While they join, heads of relations with room for so many rows claim slots; 0: none
    do."""
    recent_values: Int64s
    """By the last bits of values: the group of pairs with which a value was derived last, and the value (see `pair_queue`)."""
    group: int
    """The number of the current group of pairs."""
    group_plan: int
    """The plan that derives it, or EMPTY: the next pair begins another group."""
    group_key: int
    """The part of the keys that is the same for all pairs of the group."""
    pair_relation: int
    pair_keys: Int64s
    """The keys of pairs of this relation that are to be looked up, and inserted if they are not present."""
    pair_count: int
    pair: Int32s
    """A pair that is inserted."""
    looped: int
    """How many heads inner loops over pairs have derived that were not present (see `pair_queue.insert_pairs`)."""
    pause: int
    instances: int
    wanted: int
    """The index to build, the relation that is full, or the section whose rules are to be planned."""
    type_id: int
    property_relations: Int32s
    class_relations: Int32s
    stop: int
    """1: joins are to find nothing more, and what they have found will not be used (set by any thread, at any time)."""
    valued: int
    """1: the two tables cover all terms."""
    value_kinds: Bytes
    value_keys: Int64s
    value_count: int
    """The number of terms that they cover."""
    term_access: int
    """Whether joins may read the texts of terms (1), or intern numbers, too (2): the caller holds the dictionary's mutex."""
    terms: Array[Terms]
    """The dictionary."""
    numbers: Int64s
    """Per term: its value if it is an integer, see `calculation`; 0 where it has not been read."""
    number_room: int
    number_text: Bytes
    """The text of a number is written here."""
    number_slots: Int32s
    """A hash table of the terms of numbers that joins have needed, by their values."""
    number_mask: int
    number_used: int
    number_limit: int
    programs: Int64s
    program_starts: Int64s
    """Per function: where its program begins, or -1 if it has none."""
    stack: Int64s
    """The operands of the program that is run."""
