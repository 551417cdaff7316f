"""Integers in rules: the values of terms, the terms of values, and the programs of expressions, all of it within joins.

A *program* is an expression in postfix order. Its instructions are two numbers each: what to do, and an operand. It decides on
xsd:integers of at most `DIGITS` digits; of anything else (decimals, strings, larger results ...) it says UNKNOWN, and the result is
looked up and requested as that of other functions is.

Terms are read when they are first needed, and new numbers become terms here, while the caller holds the dictionary's mutex: see
`Context.term_access`.
"""

from kg_reasoner.storage.kernels.ascii_bytes import LESS_THAN, MINUS, QUOTE, UNDERSCORE, ZERO
from kg_reasoner.storage.kernels.decorators import entry, kernel, rare_kernel
from kg_reasoner.storage.kernels.interning import intern, same_bytes
from kg_reasoner.storage.kernels.layout import EMPTY, FULL, Context, Frame, Step, Terms
from kg_reasoner.storage.kernels.memory.structs import Bytes, Int32s
from kg_reasoner.storage.kernels.primitives import mix

# what `Context.numbers` says of a term
UNREAD = 0
OTHER_LITERAL = 1
"""A literal that is not read here."""
NO_NUMBER = 2
"""An IRI or a blank node: a type error in arithmetic and orders."""
NUMBER = 3
"""The lowest bits of an integer; the others are its value."""

# how much of the dictionary may be used
MAY_READ = 1
MAY_INTERN = 2

DIGITS = 18
LIMIT = 10**DIGITS
"""Numbers are between -LIMIT and LIMIT, without both."""

# results that are no number
ERROR = 1 << 61
"""SPARQL's type error."""
UNKNOWN = ERROR + 1

# what instructions do
VARIABLE = 0
"""Push the number of an argument."""
COMPARED_VARIABLE = 1
"""The same where it is compared with = or !=, which is not a type error for an IRI."""
TERM = 2
"""Push the id of an argument."""
CONSTANT = 3
"""Push the operand."""
NEGATE = 4
ABSOLUTE = 5
NOT = 6
IF = 7
AND = 8
OR = 9
ADD = 10
SUBTRACT = 11
MULTIPLY = 12
REMAINDER = 13
QUOTIENT = 14
SAME = 15
DIFFERENT = 16
BELOW = 17
AT_MOST = 18

STACK = 64
"""The most operands that wait for their operation."""

HEADER = 2
"""A program begins with the number of its instructions, and with 1 if it is a filter."""

INTEGER_END = b'"^^<http://www.w3.org/2001/XMLSchema#integer>'
"""The end of the text of an integer."""
BEFORE = 24
"""The bytes for the beginning of the text of a number, before that."""
AFTER = len(INTEGER_END)

NEEDS_VALUES = -1
"""In the place of a function in a request: terms have to be compared that `value_kinds` and `value_keys` do not cover."""
NEEDS_ROOM = -2
"""Likewise: there is no room for another number."""


@rare_kernel
def read_integer(terms: Terms, names: Bytes, term: int) -> int:
    """Return what `Context.numbers` says of a term."""
    texts = terms.texts
    start = terms.offsets[term]
    place = terms.offsets[term + 1] - AFTER
    first = texts[start]
    if first != QUOTE:
        return NO_NUMBER if first == LESS_THAN or first == UNDERSCORE else OTHER_LITERAL
    start = start + 1
    if place <= start or place > start + DIGITS + 1 or not same_bytes(texts, place, names, BEFORE, AFTER):
        return OTHER_LITERAL
    negative = texts[start] == MINUS
    if negative:
        start = start + 1
    if start == place or place > start + DIGITS:
        return OTHER_LITERAL
    value = 0
    while start < place:
        digit = texts[start] - ZERO
        if digit < 0 or digit > 9:
            return OTHER_LITERAL
        value = 10 * value + digit
        start = start + 1
    return ((0 - value if negative else value) << 2) | NUMBER


@kernel
def number_of(context: Context, term: int) -> int:
    """Return what is known of the value of a term."""
    if term >= context.number_room:
        return UNREAD
    found = context.numbers[term]
    if found == UNREAD and context.term_access:
        found = read_integer(context.terms[0], context.number_text, term)
        context.numbers[term] = found
    return found


@rare_kernel
def intern_number(context: Context, value: int, slot: int) -> int:
    """Return the id of the canonical term of an integer that has no slot yet, and give it the slot; FULL without room."""
    terms = context.terms[0]
    text = context.number_text
    if context.number_used >= context.number_limit or terms.count >= context.number_room or terms.count >= terms.room:
        return FULL
    if terms.offsets[terms.count] + BEFORE + AFTER > terms.text_capacity:
        return FULL
    place = BEFORE
    rest = 0 - value if value < 0 else value
    while place == BEFORE or rest > 0:
        place = place - 1
        text[place] = ZERO + rest % 10
        rest = rest // 10
    if value < 0:
        place = place - 1
        text[place] = MINUS
    place = place - 1
    text[place] = QUOTE
    term = intern(terms, text, 0, text, place, BEFORE + AFTER)
    context.numbers[term] = (value << 2) | NUMBER
    context.number_slots[slot] = term
    context.number_used = context.number_used + 1
    return term


@kernel
def term_of(context: Context, value: int) -> int:
    """Return the id of an integer: EMPTY if it is not known and may not be interned, FULL without room."""
    slot = mix(value) & context.number_mask
    while True:
        term = context.number_slots[slot]
        if term == EMPTY:
            return intern_number(context, value, slot) if context.term_access == MAY_INTERN else EMPTY
        if context.numbers[term] >> 2 == value:
            return term
        slot = (slot + 1) & context.number_mask


@kernel
def product(one: int, other: int) -> int:
    """Return a product, or UNKNOWN if it is too large."""
    left = 0 - one if one < 0 else one
    right = 0 - other if other < 0 else other
    if (left | right) >> 29 > 0 and left > 0 and right > (LIMIT - 1) // left:
        return UNKNOWN
    return one * other


@kernel
def divided(operation: int, one: int, other: int) -> int:
    """Return the quotient towards zero, or the remainder of that."""
    if other == 0:
        return ERROR
    left = 0 - one if one < 0 else one
    right = 0 - other if other < 0 else other
    if operation == REMAINDER:
        return 0 - left % right if one < 0 else left % right
    return left // right if (one < 0) == (other < 0) else 0 - left // right


@kernel
def combined(operation: int, one: int, other: int) -> int:
    """Return the result of an operation on two numbers."""
    if operation == ADD:
        return one + other
    if operation == SUBTRACT:
        return one - other
    if operation == BELOW:
        return 1 if one < other else 0
    if operation == AT_MOST:
        return 1 if one <= other else 0
    if operation == SAME:
        return 1 if one == other else 0
    if operation == DIFFERENT:
        return 1 if one != other else 0
    if operation == MULTIPLY:
        return product(one, other)
    return divided(operation, one, other)


@kernel
def logical(operation: int, one: int, other: int) -> int:
    """Return a conjunction or disjunction, see section 17.2 of SPARQL: errors count unless the other side decides."""
    decisive = 1 if operation == OR else 0
    if one == decisive or other == decisive:
        return decisive
    if one == ERROR or other == ERROR:
        return ERROR
    return 1 - decisive


@kernel
def operand_of(context: Context, operation: int, term: int) -> int:
    """Return the number of an argument, or its id, an error, or UNKNOWN."""
    if operation == TERM:
        return term
    found = number_of(context, term)
    if found & NUMBER == NUMBER:
        return found >> 2
    return ERROR if found == NO_NUMBER and operation == VARIABLE else UNKNOWN


@kernel
def calculate(context: Context, bindings: Int32s, codes: Int32s, program: int) -> int:
    """Return the result of a program for the arguments denoted by codes: a number, 0 or 1 of a filter, ERROR, or UNKNOWN."""
    programs = context.programs
    stack = context.stack
    place = program + HEADER
    end = place + 2 * programs[program]
    depth = 0
    top = 0
    while place < end:
        operation = programs[place]
        operand = programs[place + 1]
        place = place + 2
        if operation <= CONSTANT:
            stack[depth] = top
            depth = depth + 1
            top = operand
            if operation != CONSTANT:
                code = codes[operand]
                top = operand_of(context, operation, code if code >= 0 else bindings[-1 - code])
                if top == UNKNOWN:
                    return UNKNOWN
        elif operation == IF:
            depth = depth - 2
            truth = stack[depth]
            top = truth if truth == ERROR else (stack[depth + 1] if truth else top)
        elif operation < IF:
            if top != ERROR:
                top = 1 - top if operation == NOT else (0 - top if operation == NEGATE or top < 0 else top)
        else:
            depth = depth - 1
            other = stack[depth]
            if operation <= OR:
                top = logical(operation, other, top)
            elif top == ERROR or other == ERROR:
                top = ERROR
            else:
                top = combined(operation, other, top)
                if top != ERROR and (top >= LIMIT or top <= 0 - LIMIT):
                    return UNKNOWN
    return top


@rare_kernel
def request_of(context: Context, request: int) -> int:
    """Request something other than the result of a function, once."""
    count = context.request_count
    stride = context.request_stride
    if count < context.request_room and (count == 0 or context.requests[(count - 1) * stride] != request):
        context.requests[count * stride] = request
        context.request_count = count + 1
    return 0


@kernel
def apply_program(context: Context, frame: Frame, step: Step, program: int) -> int:
    """Apply a function, or filter, by its program: 1, or 0 as `joins.call` does; UNKNOWN if the program does not decide."""
    codes = context.codes + step.key
    bindings = frame.bindings
    result = calculate(context, bindings, codes, program)
    if result == UNKNOWN:
        return UNKNOWN
    if result == ERROR:
        return 0
    if context.programs[program + 1]:
        return 1 if result != 0 else 0
    expected = EMPTY
    if step.value_slot < 0:
        code = codes[step.width]
        expected = code if code >= 0 else bindings[-1 - code]
        known = number_of(context, expected)
        if known == UNREAD:
            return UNKNOWN
        if known != (result << 2) | NUMBER:
            return 0
    term = term_of(context, result)
    if term == EMPTY:
        return UNKNOWN
    if term == FULL:
        return request_of(context, NEEDS_ROOM)
    if step.value_slot < 0:
        return 1 if term == expected else 0
    bindings[step.value_slot] = term
    return 1


@entry
def read_numbers(context: Context, first: int, end: int) -> int:
    """Read the values of terms in the order of their ids, ten times as fast as one by one. Return 0."""
    terms = context.terms[0]
    for term in range(first, end):
        if context.numbers[term] == UNREAD:
            context.numbers[term] = read_integer(terms, context.number_text, term)
    return 0


@entry
def rehash_numbers(context: Context, slots: Int32s, mask: int) -> int:
    """Enter the terms of numbers in a larger hash table, which is empty. Return 0."""
    for place in range(context.number_mask + 1):
        term = context.number_slots[place]
        if term != EMPTY:
            slot = mix(context.numbers[term] >> 2) & mask
            while slots[slot] != EMPTY:
                slot = (slot + 1) & mask
            slots[slot] = term
    return 0
