"""SPARQL's functions and operators, row by row, and next to what pyoxigraph and rdflib say to the same rows.

A row is ``expression => result``, in the syntax of rules; ``error`` is SPARQL's type error. The two other implementations must give
a result of the same datatype and value; where one of them does not, the row says which, and why ours is kept.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from decimal import Decimal
from functools import cache
from typing import NamedTuple

import pyoxigraph
import pytest
import rdflib
from hypothesis import given
from hypothesis import strategies as st

from kg_reasoner import Reasoner
from kg_reasoner.errors import ValueTooLargeError
from kg_reasoner.expressions.compile import CASTS, NAMES, compile_expression
from kg_reasoner.expressions.functions import REFUSED, conversions, floats, integers, structure_functions
from kg_reasoner.expressions.functions.kinds import effective_boolean
from kg_reasoner.expressions.functions.numbers import DIGITS, Single, literal_of, number_of
from kg_reasoner.loaders.convert import from_oxigraph, from_rdflib
from kg_reasoner.program import Call, Expression
from kg_reasoner.terms import IRI, RDF, XSD, BlankNode, Literal, Term, literal
from tests.expressions.expression_texts import agree, expression
from tests.helpers.effort import thinned

TABLES = {
    "arithmetic": r"""
        1 + 2 => 3
        2 - 5 => -3
        "2"^^xsd:byte * "3"^^xsd:unsignedInt => 6       # rdflib: a decimal
        7 / 2 => 3.5
        6 / 2 => "3"^^xsd:decimal
        2 / 3 => 0.666666666666666666               # rdflib: rounds to 28 digits; 18 places, cut, are oxigraph's as well
        -2 / 3 => -0.666666666666666666             # rdflib: as above
        1 / 0 => error
        1.0 / 0.0 => error
        1.5 + 1.5 => "3"^^xsd:decimal
        1.10 * 3 => 3.3
        0.1 + 0.2 => 0.3
        1 + 0.5 => 1.5
        0.1e0 + 0.2e0 => 3.0000000000000004E-1
        1e1 * 1 => 1.0E1                            # rdflib: a decimal
        1e0 / 0 => "INF"^^xsd:double                # rdflib: an error; XPath's op:numeric-divide says INF
        -1e0 / 0 => "-INF"^^xsd:double              # rdflib: as above
        0e0 / 0 => "NaN"^^xsd:double                # rdflib: as above
        1e308 * 10 => "INF"^^xsd:double             # rdflib: a decimal
        "1"^^xsd:float + 1.5 => "2.5E0"^^xsd:float
        "1"^^xsd:float / 3 => "3.3333334E-1"^^xsd:float                 # rdflib: a decimal
        "0.1"^^xsd:float + 0.1e0 => 2.0000000149011612E-1               # rdflib: takes floats for doubles
        "16777216"^^xsd:float + 1 => "1.6777216E7"^^xsd:float           # rdflib: as above
        "0"^^xsd:float + 16777217.0000000000000001 => "1.6777218E7"^^xsd:float  # oxigraph, rdflib: round twice
        12345678901234567890123456789 + 1 => 12345678901234567890123456790      # oxigraph: 64 bits are too few
        0.12345678901234567890123 * 2 => 0.24691357802469135780246              # oxigraph: 18 places are too few
        -(5) => -5
        -("5"^^xsd:byte) => -5
        -(1.50) => -1.5
        -("1"^^xsd:float) => "-1.0E0"^^xsd:float    # rdflib: a double
        1 + "1" => error
        1 + true => error
        1 + <urn:a> => error
        1 + "300"^^xsd:byte => error                # oxigraph: knows no bounds of derived types; rdflib: neither
        1 + "x"^^xsd:integer => error
        1 + 2 * 3 - 4 / 2 => "5"^^xsd:decimal
    """,
    "whole numbers": r"""
        ABS(-5) => 5
        ABS("-5"^^xsd:byte) => 5
        ABS(-1.5) => 1.5
        ABS("-INF"^^xsd:double) => "INF"^^xsd:double    # rdflib: an error
        ABS("a") => error
        ROUND(2.4) => "2"^^xsd:decimal
        ROUND(2.5) => "3"^^xsd:decimal
        ROUND(-2.5) => "-2"^^xsd:decimal
        ROUND(-2.6) => "-3"^^xsd:decimal
        ROUND(2.5e0) => 3.0E0
        ROUND(-2.5e0) => -2.0E0
        ROUND(-0.3e0) => -0.0E0
        ROUND(0.49999999999999994) => "0"^^xsd:decimal
        ROUND(0.49999999999999994e0) => 0.0E0
        ROUND(9007199254740993e0) => 9.007199254740992E15
        ROUND("NaN"^^xsd:double) => "NaN"^^xsd:double   # rdflib: an error
        ROUND(7) => 7
        CEIL(1.2) => "2"^^xsd:decimal
        CEIL(-1.2) => "-1"^^xsd:decimal
        CEIL(-0.5e0) => -0.0E0
        FLOOR(1.8) => "1"^^xsd:decimal
        FLOOR(-1.2) => "-2"^^xsd:decimal
        FLOOR("1.5"^^xsd:float) => "1.0E0"^^xsd:float
    """,
    "comparison": r"""
        1 = 1.0 => true
        1 != 2 => true
        1 < 1.5 => true
        2 >= 2e0 => true
        0.1 = 0.1e0 => false                        # oxigraph: compares them as doubles; here numbers compare exactly
        "NaN"^^xsd:double = "NaN"^^xsd:double => false
        "NaN"^^xsd:double < 1 => false                          # oxigraph: an error, unless both are NaN; rdflib: true
        !("NaN"^^xsd:double >= "NaN"^^xsd:float) => true        # oxigraph: as above; rdflib: as above
        1 != "NaN"^^xsd:double => true
        "a" < "b" => true
        "a" = "a"@en => false
        1 = "1" => false
        1 < "1" => error                                # rdflib: orders whatever it finds
        <urn:a> = <urn:a> => true
        <urn:a> = "urn:a" => false
        <urn:a> < <urn:b> => error
        false < true => true                        # oxigraph: an error; XPath has op:boolean-less-than
        "a"^^<urn:x> = "a"^^<urn:x> => true
        "a"^^<urn:x> = "b"^^<urn:x> => error
        "2020-01-01T00:00:00Z"^^xsd:dateTime < "2020-01-01T00:00:00-01:00"^^xsd:dateTime => true
        "2020-01-01T12:00:00+05:30"^^xsd:dateTime = "2020-01-01T06:30:00Z"^^xsd:dateTime => true
    """,
    "terms": r"""
        isIRI(<urn:a>) => true
        isURI("urn:a") => false
        isBLANK(<urn:a>) => false
        isLITERAL("a"@en) => true
        isLITERAL(<urn:a>) => false
        isNUMERIC(1) => true
        isNUMERIC("1"^^xsd:unsignedByte) => true
        isNUMERIC("1") => false
        isNUMERIC("x"^^xsd:integer) => false            # rdflib: looks at the datatype only
        isNUMERIC("300"^^xsd:byte) => false             # oxigraph: knows no bounds of derived types; rdflib: as above
        sameTerm(1, 1) => true
        sameTerm(1, 1.0) => false
        sameTerm(1, "01"^^xsd:integer) => false         # oxigraph: does not keep lexical forms
        STR(<urn:a>) => "urn:a"
        STR("a"@en) => "a"
        STR(5) => "5"
        STR("01"^^xsd:integer) => "01"                  # oxigraph: does not keep lexical forms
        LANG("a"@en-GB) => "en-gb"                      # rdflib: keeps upper case; terms here do not
        LANG("a") => ""
        LANG(<urn:a>) => error
        DATATYPE(1) => xsd:integer
        DATATYPE("a") => xsd:string
        DATATYPE("a"@en) => rdf:langString
        DATATYPE(<urn:a>) => error
        IRI("urn:a") => <urn:a>
        URI(<urn:a>) => <urn:a>
        IRI("a") => error                               # rdflib: resolves it against nothing
        IRI("http://a b") => error                      # rdflib: does not look at the characters
        IRI("http://a/%zz") => error                    # rdflib: as above
        IRI("http://a/%41") => <http://a/%41>
        IRI("http://[") => error                        # rdflib: as above
        IRI("http://[::1]/") => <http://[::1]/>
        IRI("http://a:b/") => error                     # rdflib: as above
        IRI("urn:a#b#c") => error                       # rdflib: as above
        IRI("urn:é") => <urn:é>
        IRI("urn:a"@en) => error                        # rdflib: takes any literal
        IRI(1) => error                                 # rdflib: as above
        STRDT("5", xsd:integer) => 5
        STRDT("5"@en, xsd:integer) => error             # rdflib: takes any literal
        STRDT("5", "xsd:integer") => error              # rdflib: takes any datatype
        STRDT("5", rdf:langString) => error             # oxigraph: makes a language string without language; rdflib: too
        STRLANG("a", "en-GB") => "a"@en-gb
        STRLANG("a", "") => error                       # rdflib: a string
        STRLANG("a", "e n") => error
        STRLANG("a", "zh-Hant-TW") => "a"@zh-hant-tw
        STRLANG("a", "de-1996") => "a"@de-1996
        STRLANG("a", "x-own") => "a"@x-own
        STRLANG("a", "b") => error                      # rdflib: looks at the characters only
        STRLANG("a", "en-a") => error                   # rdflib: as above
        STRLANG("a", "en-us-us") => error               # rdflib: as above
        STRLANG(5, "en") => error                       # rdflib: takes any literal
    """,
    "strings": r"""
        STRLEN("chat") => 4
        STRLEN("\U0001F600"@en) => 1
        STRLEN(5) => error
        SUBSTR("foobar", 4) => "bar"
        SUBSTR("foobar"@en, 4, 1) => "b"@en
        SUBSTR("foobar", 0, 3) => "fo"                  # rdflib: counts from the end
        SUBSTR("foobar", -1, 3) => "f"                  # rdflib: as above
        SUBSTR("foobar", 2, -1) => ""
        SUBSTR("foobar", 9) => ""
        SUBSTR("foobar", 2.0) => error
        SUBSTR(123, 2) => error
        UCASE("straße"@de) => "STRASSE"@de
        LCASE("ΑΣ") => "ας"
        UCASE(<urn:a>) => error
        STRSTARTS("foobar", "foo") => true
        STRSTARTS("foobar"@en, "foo") => true
        STRSTARTS("foobar"@en, "foo"@en) => true
        STRSTARTS("foobar"@en, "foo"@fr) => error
        STRSTARTS("foobar", "foo"@en) => error
        STRENDS("foobar", "bar") => true
        STRENDS("foobar", "foo") => false
        CONTAINS("foobar", "ob") => true
        CONTAINS("foobar", "") => true
        CONTAINS(12, "1") => error
        STRBEFORE("abc", "b") => "a"
        STRBEFORE("abc"@en, "bc") => "a"@en
        STRBEFORE("abc"@en, "z") => ""
        STRBEFORE("abc"@en, "") => ""@en
        STRBEFORE("abc", "b"@en) => error
        STRAFTER("abcb", "b") => "cb"
        STRAFTER("abc"@en, "") => "abc"@en
        STRAFTER("abc"@en, "z"@en) => ""
        STRAFTER("abc"@en, "b"@fr) => error
        CONCAT("a", "b", "c") => "abc"
        CONCAT("a"@en, "b"@en) => "ab"@en
        CONCAT("a"@en, "b"@fr) => "ab"
        CONCAT("a"@en, "b") => "ab"
        CONCAT("a", 1) => error
        CONCAT() => ""                                  # rdflib: an error
        LANGMATCHES("en-GB", "en") => true
        LANGMATCHES("EN-gb", "en-GB") => true
        LANGMATCHES("en", "en-GB") => false
        LANGMATCHES("eng", "en") => false
        LANGMATCHES("fr", "*") => true
        LANGMATCHES("", "*") => false
        ENCODE_FOR_URI("a b/é~'!*()") => "a%20b%2F%C3%A9~%27%21%2A%28%29"
        ENCODE_FOR_URI("Los Angeles"@en) => "Los%20Angeles"
        ENCODE_FOR_URI(5) => error
        MD5("abc") => "900150983cd24fb0d6963f7d28e17f72"
        SHA1("abc") => "a9993e364706816aba3e25717850c26c9cd0d89d"
        SHA256("abc") => "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        STRLEN(SHA384("é")) => 96
        STRLEN(SHA512("")) => 128
        MD5("abc"@en) => error                          # rdflib: takes any literal
    """,
    "patterns": r"""
        REGEX("abc", "b") => true
        REGEX("abc"@en, "^B", "i") => false
        REGEX("abc", "^A", "i") => true
        REGEX("abc", "c$") => true
        REGEX("abc\n", "c$") => false                   # rdflib: Python's $ stands before a last line break, too
        REGEX("a\nb", "a$") => false
        REGEX("a\nb", "a$", "m") => true
        REGEX("a\nb", "^b", "m") => true
        REGEX("a\nb", "a.b") => false
        REGEX("a\nb", "a.b", "s") => true
        REGEX("abc", " a b\tc", "x") => true            # rdflib: does not know the flag
        REGEX("a c", "a[ ]c", "x") => true              # oxigraph: leaves out the blank in the class, too; rdflib: as above
        REGEX("a.c", "a.c", "q") => true
        REGEX("abc", "a.c", "q") => false               # rdflib: does not know the flag
        REGEX("a$", "[$]$") => true
        REGEX("a$", "\\$$") => true
        REGEX("abc", "[^a-c]") => false
        REGEX("]", "[]a]") => error                     # oxigraph: takes it for the character itself; rdflib: too
        REGEX("abc", "(") => error
        REGEX("abc", "a", "z") => error                 # rdflib: ignores unknown flags
        REGEX("b", "[a-z-[b]]") => false                # oxigraph: reads a class in a class; rdflib: reads something else
        REGEX("abc", "a{99999999999}") => error
        REGEX(12, "1") => error
        REGEX("abc", 1) => error                        # rdflib: takes any literal
        REPLACE("abcb", "b", "Z") => "aZcZ"
        REPLACE("abab", "B", "Z", "i") => "aZaZ"        # rdflib: not case-insensitive
        REPLACE("abab"@en, "b.", "Z") => "aZb"@en
        REPLACE("darted", "^(.*?)d(.*)$", "$1c$2") => "carted" # oxigraph: reads a group named 1c
        REPLACE("abc", "b", "[$0]") => "a[b]c"          # rdflib: takes it for the character 0
        REPLACE("abc", "(b)", "$12") => "ab2c"          # oxigraph: reads group 12; rdflib: too
        REPLACE("abc", "(b)|(c)", "[$2]") => "a[][c]"
        REPLACE("abc", "(b)", "$2") => "ac"             # rdflib: an exception
        REPLACE("abc", "b", "\\$1\\\\") => "a$1\\c"     # oxigraph: knows no escapes; rdflib: others
        REPLACE("abc", "b", "\\n") => error             # oxigraph: as above; rdflib: as above
        REPLACE("abc", "b", "$") => error               # oxigraph: as above; rdflib: as above
        REPLACE("a.c", ".", "$1", "q") => "a$1c"        # oxigraph: reads a group; rdflib: does not know the flag
        REPLACE("abc", "b*", "Z") => error              # oxigraph: goes on; rdflib: too; XPath has err:FORX0003
        REPLACE("abc", "(", "Z") => error
        REPLACE(12, "1", "Z") => error
    """,
    "dates": r"""
        YEAR("2011-01-10T14:45:13.815-05:00"^^xsd:dateTime) => 2011
        MONTH("2011-01-10T14:45:13.815-05:00"^^xsd:dateTime) => 1
        DAY("2011-01-10T14:45:13.815-05:00"^^xsd:dateTime) => 10
        HOURS("2011-01-10T14:45:13.815-05:00"^^xsd:dateTime) => 14
        MINUTES("2011-01-10T14:45:13.815-05:00"^^xsd:dateTime) => 45
        SECONDS("2011-01-10T14:45:13.815-05:00"^^xsd:dateTime) => 13.815
        SECONDS("2011-01-10T14:45:13Z"^^xsd:dateTime) => "13"^^xsd:decimal
        TIMEZONE("2011-01-10T14:45:13.815-05:30"^^xsd:dateTime) => "-PT5H30M"^^xsd:dayTimeDuration      # rdflib: loses the minutes
        TIMEZONE("2011-01-10T14:45:13.815Z"^^xsd:dateTime) => "PT0S"^^xsd:dayTimeDuration               # rdflib: P0D, the same
        TIMEZONE("2011-01-10T14:45:13.815"^^xsd:dateTime) => error
        TZ("2011-01-10T14:45:13.815-05:00"^^xsd:dateTime) => "-05:00"           # rdflib: UTC-05:00
        TZ("2011-01-10T14:45:13.815Z"^^xsd:dateTime) => "Z"
        TZ("2011-01-10T14:45:13.815"^^xsd:dateTime) => ""
        YEAR("2020-12-31T24:00:00"^^xsd:dateTime) => 2021                       # rdflib: an exception
        DAY("2020-02-28T24:00:00"^^xsd:dateTime) => 29                          # rdflib: as above
        MONTH("2021-02-28T24:00:00"^^xsd:dateTime) => 3                         # rdflib: as above
        YEAR("-0044-03-15T00:00:00"^^xsd:dateTime) => -44                       # rdflib: an exception
        YEAR("2020-02-29"^^xsd:date) => 2020
        DAY("2020-02-29+01:00"^^xsd:date) => 29                                 # rdflib: an error
        TZ("2020-02-29+01:00"^^xsd:date) => "+01:00"                            # rdflib: an error
        HOURS("2020-02-29"^^xsd:date) => error
        YEAR("2021-02-29"^^xsd:date) => error
        YEAR("2020") => error
    """,
    "casts": r"""
        xsd:integer("5") => 5
        xsd:integer(" 12\n") => 12                      # oxigraph: leaves white space; XPath 17.1.1 strips it
        xsd:integer("1.5") => error
        xsd:integer(-1.9) => -1                         # rdflib: an error
        xsd:integer(1.9e0) => 1                         # rdflib: an error
        xsd:integer("INF"^^xsd:double) => error
        xsd:integer(true) => 1                          # rdflib: an error
        xsd:integer("7"^^xsd:byte) => 7
        xsd:integer("a"@en) => error
        xsd:integer(<urn:a>) => error
        xsd:decimal("1.50") => 1.5
        xsd:decimal("1e1") => error
        xsd:decimal(3) => "3"^^xsd:decimal
        xsd:decimal(0.1e0) => 0.1
        xsd:decimal("0.1"^^xsd:float) => 0.1            # oxigraph: more digits; the shortest are those that were meant
        xsd:decimal(1e30) => "1000000000000000000000000000000"^^xsd:decimal     # oxigraph: too large for it; rdflib: an error
        xsd:decimal("NaN"^^xsd:double) => error         # rdflib: NaN is no decimal
        xsd:decimal(false) => "0"^^xsd:decimal          # rdflib: an error
        xsd:double("1e1") => 1.0E1
        xsd:double("-INF") => "-INF"^^xsd:double        # rdflib: an invalid form
        xsd:double("abc") => error
        xsd:double(1.5) => 1.5E0
        xsd:double(true) => 1.0E0                       # rdflib: an error
        xsd:double("0.1"^^xsd:float) => 1.0000000149011612E-1                   # rdflib: takes floats for doubles
        xsd:float(16777217) => "1.6777216E7"^^xsd:float                         # rdflib: as above
        xsd:float(16777217.0000000000000001) => "1.6777218E7"^^xsd:float        # oxigraph, rdflib: round twice
        xsd:float("1e39") => "INF"^^xsd:float                                   # rdflib: as above
        xsd:boolean("true") => true
        xsd:boolean("1") => true
        xsd:boolean("yes") => error
        xsd:boolean(0e0) => false                       # rdflib: an error
        xsd:boolean("NaN"^^xsd:double) => false         # rdflib: an error
        xsd:boolean(2) => true                          # rdflib: an error
        xsd:boolean("x"^^xsd:integer) => error
        xsd:string(<urn:a>) => "urn:a"
        xsd:string(5) => "5"
        xsd:string("05"^^xsd:integer) => "5"            # rdflib: keeps the form; XPath has the canonical one
        xsd:string(3.0) => "3"                          # rdflib: as above
        xsd:string(1e1) => "10"                         # rdflib: as above
        xsd:string(1.5e-3) => "0.0015"                  # rdflib: as above
        xsd:string(1e10) => "1.0E10"                    # oxigraph: digits only; rdflib: too
        xsd:string(-0e0) => "-0"                        # rdflib: as above
        xsd:string("1"^^xsd:boolean) => "true"          # rdflib: keeps the form
        xsd:string("2020-01-01T00:00:00.50+00:00"^^xsd:dateTime) => "2020-01-01T00:00:00.5Z"    # rdflib: keeps the form
        xsd:string("a"@en) => "a"                       # rdflib: keeps it; the table of 17.5 has no such row
        xsd:string("a"^^<urn:x>) => "a"                 # the table of 17.5 has no such row
        xsd:string("12:00:00"^^xsd:time) => "12:00:00"
        xsd:string("PT36H"^^xsd:duration) => "P1DT12H"  # rdflib: keeps the form; XPath has the canonical one
        xsd:string("YQ=="^^xsd:base64Binary) => "YQ=="
        xsd:string("x"^^xsd:integer) => "x"
        xsd:string("x"^^xsd:boolean) => "x"
        xsd:string("x"^^xsd:date) => "x"
        xsd:string("256"^^xsd:byte) => "256"
        xsd:dateTime("2020-01-01T24:00:00") => "2020-01-02T00:00:00"^^xsd:dateTime              # rdflib: an error
        xsd:dateTime("2020-01-01Z"^^xsd:date) => "2020-01-01T00:00:00Z"^^xsd:dateTime           # rdflib: an error
        xsd:dateTime("2020-01-01") => error             # rdflib: takes dates
        xsd:dateTime("-0044-03-15T00:00:00") => "-0044-03-15T00:00:00"^^xsd:dateTime            # rdflib: an error
        xsd:dateTime(5) => error
        xsd:date("2020-01-01") => "2020-01-01"^^xsd:date                        # rdflib: has no such cast
        xsd:date("2020-01-01T23:00:00Z"^^xsd:dateTime) => "2020-01-01Z"^^xsd:date               # rdflib: as above
        xsd:date(5) => error
        xsd:duration("P1Y2M3DT4H") => "P1Y2M3DT4H"^^xsd:duration # rdflib: an error
        xsd:duration("PT24H"^^xsd:dayTimeDuration) => "P1D"^^xsd:duration # rdflib: an error
        xsd:duration("1 day") => error
        xsd:dayTimeDuration("P1Y2M3DT4H"^^xsd:duration) => "P3DT4H"^^xsd:dayTimeDuration # oxigraph: an error; rdflib: an error
        xsd:dayTimeDuration("P1M"^^xsd:yearMonthDuration) => "PT0S"^^xsd:dayTimeDuration # oxigraph: an error; rdflib: an error
        xsd:dayTimeDuration(" PT36H ") => "P1DT12H"^^xsd:dayTimeDuration # oxigraph: an error; rdflib: an error
        xsd:dayTimeDuration("P1M") => error
        xsd:dayTimeDuration(5) => error
        xsd:yearMonthDuration("P1Y2M3DT4H"^^xsd:duration) => "P1Y2M"^^xsd:yearMonthDuration # oxigraph: an error; rdflib: an error
        xsd:yearMonthDuration("P3D"^^xsd:dayTimeDuration) => "P0M"^^xsd:yearMonthDuration # oxigraph: an error; rdflib: an error
        xsd:time("2024-01-01T12:00:00.50+01:00"^^xsd:dateTime) => "12:00:00.5+01:00"^^xsd:time # rdflib: an error
        xsd:time("24:00:00Z") => "00:00:00Z"^^xsd:time # rdflib: an error
        xsd:time("2024-01-01"^^xsd:date) => error
        xsd:date("12:00:00"^^xsd:time) => error
        xsd:dateTime("12:00:00"^^xsd:time) => error
        xsd:string("12:00:00.500"^^xsd:time) => "12:00:00.5" # rdflib: 12:00:00.500
        xsd:string("P0Y"^^xsd:yearMonthDuration) => "P0M" # rdflib: P0Y
        xsd:string("-P1Y14MT90M0.50S"^^xsd:duration) => "-P2Y2MT1H30M0.5S" # rdflib: -P1Y14MT90M0.50S
        xsd:string("P1X"^^xsd:duration) => "P1X"
    """,
}


class Row(NamedTuple):
    text: str
    result: str
    remark: str


def rows() -> Iterator[Row]:
    for table in TABLES.values():
        for line in filter(None, map(str.strip, table.splitlines())):
            call, _, rest = line.partition(" => ")
            result, _, remark = rest.partition(" # ")
            yield Row(call, result.strip(), remark)


def ours(text: str) -> Term | None:
    return compile_expression(expression(text), [])(())


def select(text: str) -> str:
    prefixes = f"PREFIX xsd: <{XSD}> PREFIX rdf: <{RDF}> "
    return f"{prefixes}SELECT ({text} AS ?result) {{}}"


@cache
def empty_store() -> pyoxigraph.Store:
    return pyoxigraph.Store()


def of_oxigraph(text: str) -> Term | None:
    (solution,) = empty_store().query(select(text))  # type: ignore[misc]
    found = solution["result"]
    return None if found is None else from_oxigraph(found)


def of_rdflib(text: str) -> Term | None:
    logging.getLogger("rdflib").setLevel(logging.CRITICAL)
    try:
        (solution,) = rdflib.Graph().query(select(text))
        found = solution[0]  # type: ignore[index]
        return None if found is None else from_rdflib(found)
    except Exception:  # rdflib raises whatever comes: here it is an error like others
        return None


def names_in(part: Expression) -> set[str]:
    """The functions that an expression calls."""
    return {part.name}.union(*map(names_in, part.arguments)) if isinstance(part, Call) else set()


def test_every_name_of_the_language_is_known() -> None:
    called = {name for row in rows() for name in names_in(expression(row.text))}
    assert set(CASTS) <= called
    forms = {"BOUND", "COALESCE", "IF"}  # in test_expressions.py
    ours_alone = {"SAMEVALUE", "SKOLEM", "VALUE"}  # below
    ours_alone |= {
        *integers.FUNCTIONS,
        *structure_functions.FUNCTIONS,
        *floats.FUNCTIONS,
        *conversions.FUNCTIONS,
        "MATCHES",
    }  # in test_structures.py
    assert set(NAMES) - set(REFUSED) - forms - ours_alone <= called


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ('sameValue(1, "01"^^xsd:byte)', "true"),
        ('sameValue(1.5, "1.50"^^xsd:decimal)', "true"),
        ("sameValue(1.5, 1.5e0)", "false"),
        ('sameValue("a", "a"^^xsd:token)', "true"),
        ('sameValue("a"@en, "a"@EN)', "true"),
        ('sameValue("a"@en, "a")', "false"),
        ('sameValue("x"^^xsd:integer, 1)', "error"),
        ('sameValue("x"^^<urn:t>, "y"^^<urn:t>)', "error"),
        ('sameValue("x"^^<urn:t>, "x"^^<urn:t>)', "true"),
        ("sameValue(<urn:a>, 1)", "error"),
        ("sameValue(<urn:a>, <urn:b>)", "error"),
        ('sameTerm(VALUE(1), VALUE("1.0"^^xsd:decimal))', "true"),
        ('sameTerm(VALUE("-0.0"^^xsd:decimal), VALUE(0))', "true"),
        (f'sameTerm(VALUE({"9" * 5000}), VALUE("0{"9" * 5000}.0"^^xsd:decimal))', "true"),
        (f"sameTerm(VALUE({'9' * 5000}), VALUE({'9' * 4999}8))", "false"),
        ('sameTerm(VALUE("1e400"^^xsd:double), VALUE("INF"^^xsd:double))', "true"),
        ("sameTerm(VALUE(1), VALUE(1e0))", "false"),
        ('sameTerm(VALUE(1), VALUE("1"))', "false"),
        ('sameTerm(VALUE("a"@en), VALUE("a"@fr))', "false"),
        ('sameTerm(VALUE("x"^^<urn:t>), "x"^^<urn:t>)', "true"),
        ("sameTerm(VALUE(<urn:a>), <urn:a>)", "true"),
    ],
)
def test_values_of_the_datatype_map(text: str, result: str) -> None:
    """What SPARQL has no functions for."""
    found = ours(text)
    assert (str(found.lexical) if isinstance(found, Literal) else "error") == result


@pytest.mark.parametrize(
    ("argument", "result"),
    [
        (Literal("2020-02-29Z"), "2020-02-29Z"),
        (Literal("2020-01-01T24:00:00-05:00", XSD.dateTime.value), "2020-01-02-05:00"),
        (Literal("2020-01-01-00:00", XSD.date.value), "2020-01-01Z"),
        (Literal("-0044-03-15T01:02:03", XSD.dateTime.value), "-0044-03-15"),
        (Literal("2020-02-30"), None),
        (Literal("2020-01-01T00:00:00"), None),
        (literal(5), None),
        (XSD.date, None),
    ],
)
def test_casts_to_dates(argument: Term, result: str | None) -> None:
    expected = None if result is None else Literal(result, XSD.date.value)
    assert compile_expression(Call(f"<{XSD.date.value}>", (argument,)), [])(()) == expected


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("true", True),
        ("false", False),
        ('"1"^^xsd:boolean', True),
        ('"yes"^^xsd:boolean', False),
        ("0", False),
        ("-1", True),
        ("0.0", False),
        ("1e-5", True),
        ('"NaN"^^xsd:double', False),
        ('"x"^^xsd:integer', False),
        ('""', False),
        ('"false"', True),
        ('"a"@en', True),
        ('""@en', False),
        ("xsd:integer", None),
        ('"2020-01-01"^^xsd:date', None),
        ('"a"^^<urn:x>', None),
    ],
)
def test_effective_boolean_values(text: str, result: bool | None) -> None:
    term = expression(text)
    assert isinstance(term, IRI | Literal)
    assert effective_boolean(term) is result


def digits(count: int) -> Literal:
    return Literal("9" * count, XSD.integer.value)


@pytest.mark.parametrize(
    ("name", "a", "b", "result"),
    [
        ("+", digits(DIGITS), literal(1), None),
        ("+", digits(DIGITS), literal(-1), literal(10**DIGITS - 2)),
        ("*", digits(DIGITS // 2), digits(DIGITS // 2), literal((10 ** (DIGITS // 2) - 1) ** 2)),
        ("*", digits(DIGITS // 2 + 1), digits(DIGITS // 2 + 1), None),
        ("*", digits(DIGITS), literal(Decimal("1.5")), None),
        ("*", literal(Decimal(10) ** -600), literal(Decimal(10) ** -600), None),
        ("/", digits(DIGITS), literal(Decimal("0.1")), None),
        ("/", digits(DIGITS), literal(1.0), literal(float("inf"))),
        ("/", literal(1), digits(DIGITS), Literal("0", XSD.decimal.value)),
    ],
    ids=[f"case {number}" for number in range(1, 10)],
)
def test_numbers_have_a_limit(name: str, a: Term, b: Term, result: Term | None) -> None:
    if result is None:
        with pytest.raises(ValueTooLargeError, match=f"more than {DIGITS} digits"):
            compile_expression(Call(name, (a, b)), [])
    else:
        assert compile_expression(Call(name, (a, b)), [])(()) == result


@pytest.mark.parametrize(("name", "a", "b"), [("+", digits(5000), literal(1)), ("-", digits(DIGITS + 1), digits(DIGITS + 1))])
def test_literals_beyond_the_limit_are_not_numbers(name: str, a: Term, b: Term) -> None:
    assert compile_expression(Call(name, (a, b)), [])(()) is None


NUMBERS = st.one_of(
    st.integers(),
    st.decimals(allow_nan=False, allow_infinity=False, places=5),
    st.floats(),
    st.floats(width=32).map(Single),
)


@pytest.mark.parametrize(
    ("cast", "argument", "result"),
    [
        ("integer", digits(DIGITS), digits(DIGITS)),
        ("integer", literal(Decimal("9" * 900 + ".5")), digits(900)),
        ("integer", literal(Decimal("-0.5")), literal(0)),
        ("decimal", digits(DIGITS), Literal("9" * DIGITS, XSD.decimal.value)),
        ("double", digits(DIGITS), Literal("INF", XSD.double.value)),
        ("float", literal(Decimal("-" + "9" * 900)), Literal("-INF", XSD.float.value)),
        ("decimal", Literal("5e-324", XSD.double.value), Literal(f"0.{'0' * 323}5", XSD.decimal.value)),
        ("boolean", digits(DIGITS), literal(True)),
    ],
    ids=[f"case {number}" for number in range(1, 9)],
)
def test_casts_of_large_numbers(cast: str, argument: Term, result: Term) -> None:
    assert compile_expression(Call(f"<{XSD[cast].value}>", (argument,)), [])(()) == result


@given(NUMBERS)
def test_reading_a_number_that_was_written_gives_it_back(number: int | Decimal | float) -> None:
    again = number_of(literal_of(number))
    assert type(again) is type(number)
    assert again == number or (again != again and number != number)
    assert literal_of(number) == literal_of(again)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_canonical_doubles(number: float) -> None:
    mantissa, _, exponent = literal_of(number).lexical.partition("E")
    whole, _, fraction = mantissa.lstrip("-").partition(".")
    assert len(whole) == 1 and (whole != "0" or number == 0)
    assert fraction == "0" or not fraction.endswith("0")
    assert str(int(exponent)) == exponent


@given(st.decimals(allow_nan=False, allow_infinity=False, places=6, min_value=-(10**9), max_value=10**9))
def test_rounding_is_exact(number: Decimal) -> None:
    results = {}
    for name in ("ROUND", "CEIL", "FLOOR"):
        result = compile_expression(Call(name, (literal(number),)), [])(())
        assert isinstance(result, Literal)
        results[name] = Decimal(result.lexical)
    assert number - 1 < results["FLOOR"] <= number <= results["CEIL"] < number + 1
    assert abs(results["ROUND"] - number) <= Decimal("0.5")
    if abs(results["ROUND"] - number) == Decimal("0.5"):
        assert results["ROUND"] > number


def expect_result(row: Row) -> None:
    """The result is that of the row, and the others have the same where no remark names them."""
    expected = None if row.result == "error" else expression(row.result)
    assert ours(row.text) == expected
    if "oxigraph" not in row.remark:
        assert agree(of_oxigraph(row.text), expected), f"oxigraph: {of_oxigraph(row.text)}"
    if "rdflib" not in row.remark:
        assert agree(of_rdflib(row.text), expected), f"rdflib: {of_rdflib(row.text)}"


@pytest.mark.parametrize("row", thinned(rows(), 3), ids=lambda row: row.text)
@pytest.mark.sample(2)
def test_a_function_has_the_result_in_the_table(row: Row) -> None:
    expect_result(row)


def test_skolem_names_a_pair_of_terms() -> None:
    reasoner = Reasoner("named(?x, ?y, ?z) :- pair(?x, ?y), BIND(SKOLEM(?x, ?y) AS ?z) .")
    terms = (literal(1), literal(2), IRI("http://example.org/a"), BlankNode("b"))
    reasoner.add_facts("pair", [(first, second) for first in terms for second in terms])
    names = {(first, second): name for first, second, name in reasoner.facts("named")}
    assert len(set(names.values())) == len(names) == 16
    assert all(isinstance(name, BlankNode) for name in names.values())
    assert ours("SKOLEM(1, 2)") == names[terms[0], terms[1]]
