"""Regular expressions: XPath's, by RE2. The examples are those of XPath and XQuery Functions and Operators 3.1, section 5.6."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kg_reasoner import Reasoner
from kg_reasoner.errors import UnsupportedError
from kg_reasoner.expressions.functions.regex import LONGEST, matches, problem, replaced
from kg_reasoner.expressions.functions.regex_errors import PatternError
from kg_reasoner.expressions.functions.regex_translation import translate
from tests.helpers.effort import examples

POEM = (
    "Kaum hat dies der Hahn gesehen,\nFängt er auch schon an zu krähen:\nKikeriki! Kikikerikih!!\nTak, tak, tak! - da kommen sie."
)
"""From the poem of the specification."""

MATCHES = [
    ("abracadabra", "bra", "", True),
    ("abracadabra", "^a.*a$", "", True),
    ("abracadabra", "^bra", "", False),
    (POEM, "Kaum.*krähen", "", False),
    (POEM, "Kaum.*krähen", "s", True),
    (POEM, "^Kaum.*gesehen,$", "m", True),
    (POEM, "^Kaum.*gesehen,$", "", False),
    (POEM, "kiki", "i", True),
    ("a\n", "a$", "", False),
    ("a\n", "^$", "m", False),
    ("a\n\nb", "^$", "m", True),
    ("a\rb", "a.b", "", False),
    ("helloworld", "hello world", "x", True),
    ("helloworld", "hello[ ]world", "x", False),
    ("hello world", r"hello\ sworld", "x", True),
    ("hello world", "hello world", "x", False),
    ("a.b", "A.B", "qi", True),
    ("A", "[A-Z-[IO]]", "i", True),
    ("i", "^[A-Z-[IO]]$", "i", False),
    ("\u212a", "[A-Z]", "i", True),
    ("q", "[^Q]", "i", False),
    ("a", r"\p{Lu}", "i", False),
    ("e", "[a-z-[aeiou]]", "", False),
    ("x", "[a-z-[aeiou]]", "", True),
    ("b", "[a-z-[a-y-[b]]]", "", True),
    ("7", "[^a-z-[0-9]]", "", False),
    ("é", r"\p{IsBasicLatin}", "", False),
    ("é", r"\p{IsLatin-1Supplement}", "", True),
    ("é", r"\P{IsBasicLatin}", "", True),
    ("γ", r"\p{IsGreek}", "", True),
    ("٣", r"^\d$", "", True),
    ("_:", r"^\i\i$", "", True),
    ("-", r"\i", "", False),
    ("-.7", r"^\c+$", "", True),
    (" ", r"[\I-[\S]]", "", True),
    ("€", r"^\w$", "", True),
    ("\u0378", r"\w", "", False),
    ("\u0378", r"\p{Cn}", "", True),
    ("a-b", r"^[\w-]+$", "", True),
    ("a^b", "a[b^]b", "", True),
    ("", "", "", True),
    ("ab", "a||b", "", True),
]


@pytest.mark.parametrize(("text", "pattern", "flags", "expected"), MATCHES)
def test_matches(text: str, pattern: str, flags: str, expected: bool) -> None:
    assert matches(text, pattern, flags) is expected


REPLACED = [
    ("abracadabra", "bra", "*", "a*cada*"),
    ("abracadabra", "a.*a", "*", "*"),
    ("abracadabra", "a.*?a", "*", "*c*bra"),
    ("abracadabra", "a", "", "brcdbr"),
    ("abracadabra", "a(.)", "a$1$1", "abbraccaddabbra"),
    ("AAAA", "A+", "b", "b"),
    ("AAAA", "A+?", "b", "bbbb"),
    ("darted", "^(.*?)d(.*)$", "$1c$2", "carted"),
    ("abcd", "(ab)|(a)", "[1=$1][2=$2]", "[1=ab][2=]cd"),
    ("éàé", "à", "\\$\\\\", "é$\\é"),
]


@pytest.mark.parametrize(("text", "pattern", "replacement", "expected"), REPLACED)
def test_replaced(text: str, pattern: str, replacement: str, expected: str) -> None:
    assert replaced(text, pattern, replacement) == expected


WRONG = [
    ("[", r"unmatched \[", 1),
    ("a[]", "needs a character", 3),
    ("(a", r"unmatched \(", 1),
    ("a)", r"unmatched \)", 2),
    ("*a", "nothing before", 1),
    ("a|+", "nothing before", 3),
    ("a++", "nothing before", 3),
    ("a{2,1}", "is greater than", 2),
    ("a{,2}", "is written", 3),
    ("a{1001}", "at most 1000", 2),
    ("a{" + "9" * 10000 + "}", "at most 1000", 2),
    ("[z-a]", "backwards", 2),
    (r"[a-\d]", "a range ends with a character", 2),
    ("[a-z-[b]c]", "ends the class", 9),
    ("ab[c[d]]", r"the character \[ itself", 5),
    (r"a\b", "no such escape", 2),
    (r"\x41", "write the character itself", 1),
    (r"(a)\1", "back-references", 4),
    ("a(?=b)", "no groups of this kind", 2),
    ("(?P<x>b)", "no groups of this kind", 1),
    (r"\p{IsNowhere}", "unknown block", 1),
    (r"\p{Xx}", "unknown category", 1),
    ("a\\", "the pattern ends with", 2),
    ("(" * 101 + ")" * 101, "more than 100 deep", 101),
    ("[a-" * 101 + "]" * 101, "more than 100 deep", None),
    (r"\w" * 20_000, "classes of the pattern are too large", None),
    ("a" * 70_000, "more than 65,536 characters", None),
]


@pytest.mark.parametrize(("pattern", "message", "place"), WRONG, ids=[row[0][:20] for row in WRONG])
def test_wrong_patterns(pattern: str, message: str, place: int | None) -> None:
    with pytest.raises(PatternError, match=message) as caught:
        translate(pattern)
    assert caught.value.code == "FORX0002"
    assert place is None or caught.value.place == place - 1
    assert len(str(caught.value)) < 300


def test_other_errors() -> None:
    with pytest.raises(PatternError, match="FORX0001"):
        matches("a", "a", "g")
    with pytest.raises(PatternError, match="FORX0003"):
        replaced("abracadabra", ".*?", "$1")
    for replacement in ("$", "a$b", "\\", "\\n"):
        with pytest.raises(PatternError, match="FORX0004"):
            replaced("a", "a", replacement)
    with pytest.raises(PatternError, match="too much memory"):
        matches("a", "(a{1000}){1000}")


def test_what_is_written_in_a_rule_is_refused() -> None:
    with pytest.raises(UnsupportedError, match=r"REGEX cannot be evaluated: .* at character 1 of"):
        Reasoner().add_program('p(?x) :- q(?x), FILTER(REGEX(?x, "(?=a)")) .')
    assert problem("REGEX", [None, None, "z"]) is not None
    assert problem("REPLACE", [None, "a", "$"]) is not None
    assert problem("REPLACE", [None, "a*", None]) is not None
    assert problem("REPLACE", [None, "a", None, None]) is None


# --- agreement with Python's expressions where the dialects agree -------------------------------------------------------------

_ATOMS = st.sampled_from(["a", "b", "é", ".", "[ab]", "[^a]", r"\.", "^", "$", "[a-c]"])


def _larger(parts: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.tuples(parts, parts).map("".join),
        st.tuples(parts, parts).map(lambda pair: f"(?:{pair[0]}|{pair[1]})"),
        st.tuples(parts, st.sampled_from(["*", "+", "?", "{2}", "{1,2}", "*?", "+?"])).map(lambda pair: f"(?:{pair[0]}){pair[1]}"),
    )


_PATTERNS = st.recursive(_ATOMS, _larger, max_leaves=6)


@settings(max_examples=examples(300))
@given(_PATTERNS, st.text("abcé.", max_size=8))
def test_as_python_does(pattern: str, text: str) -> None:
    expected = re.search(pattern, text)
    assert matches(text, pattern) == (expected is not None)
    if re.search(pattern, "") is None:
        assert replaced(text, f"({pattern})", "<$1>") == re.sub(f"({pattern})", r"<\1>", text)


# --- nothing takes for ever --------------------------------------------------------------------------------------------------

SLOW = """
from kg_reasoner.expressions.functions.regex import matches, replaced
text = "a" * 100_000
print([matches(text + "!", pattern) for pattern in ("^(a+)+$", "^(a|aa)+$", "(.*)*b", "(a?){500}a{500}b", "^(([a-z])+.)+[A-Z]$")])
print(replaced("a" * 1_000_000, "a.*b|a", "x"), replaced("a" * 4_000_000, "a", "$0$0"), replaced("a" * 1000, "a", "b" * 10_000))
"""


@pytest.mark.long
def test_slow_patterns_end() -> None:
    done = subprocess.run([sys.executable, "-c", SLOW], capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout.splitlines() == [str([False] * 5), "None None None"]


def test_a_long_result_is_an_error() -> None:
    assert replaced("a" * 100, "a", "b" * (LONGEST // 100)) is not None
    assert replaced("a" * 100, "a", "b" * (LONGEST // 100 + 1)) is None
