"""Programs as JSON, so that a rule set need not be parsed and checked again by every process: reading takes a tenth of the time.

A part of a program is a list of its class's name and its fields, a tuple a list that begins with the empty string.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, Final

from kg_reasoner import cache, program, terms
from kg_reasoner.digests import digest_of_files, python_sources
from kg_reasoner.errors import Span
from kg_reasoner.program import Program

__all__ = ["dumps", "dumps_origins", "loads", "saved_program", "saved_rule_file", "with_origins", "write_program"]

_PARTS: Final = {
    part.__name__: part
    for part in (
        *(program.Aggregate, program.AggregateBinding, program.Atom, program.Bind, program.Call, program.Column),
        *(program.Declaration, program.Filter, program.Index, program.Negation, program.Origin, program.Program, program.Rule),
        program.Variable,
        *(program.FunctionDefinition, program.ReductionDefinition, program.TypeDefinition, program.Variant),
        *(terms.BlankNode, terms.IRI, terms.Literal, Span),
    )
}
_FIELDS: Final = {part: tuple(field.name for field in fields(part)) for part in _PARTS.values()}


def saved_program(path: Path, parse: Callable[[Path], Program], source: str | None = None, purpose: str = "ruleset") -> Program:
    """Return the program of a file as this version has parsed it before, or parse it and save it in the cache.

    A wheel contains the programs of its rule sets beside their files.

    Args:
        path: The file.
        parse: Returns its program, after checking it: saved programs are valid.
        source: The name of the file in the places of the program; by default, its path.
        purpose: What the program is for: a file with the same content that has another purpose is parsed by itself.

    Returns:
        The program.
    """
    key, source = _key(path), str(path) if source is None else source
    name = f"{purpose}-{key}.json"
    known = _fitting(_shipped(path, key), source) or _fitting(cache.read(name), source)
    if known is not None:
        return known
    found = parse(path)
    with suppress(OSError, TypeError, ValueError):  # a part that cannot be saved: the program is parsed each time
        saved = dumps(found, source)
        if _key(path) == key:  # otherwise the file has changed meanwhile, and this may be its new program
            cache.write(name, saved)
    return found


def saved_rule_file(name: str) -> Program:
    """Return the program of a user's rule file, parsed by an earlier process if neither the file nor the parser has changed.

    A file that imports others is parsed each time: its program depends on theirs.

    Raises:
        LoadError, RuleSyntaxError: As `kg_reasoner.language.parser.parse_file`.
    """
    from kg_reasoner.language.parser import parse_file

    try:
        imports = b"import" in Path(name).read_bytes()
    except OSError:
        imports = True  # the parser reports the error
    return parse_file(name) if imports else saved_program(Path(name), lambda _: parse_file(name), name, "rules")


def _fitting(saved: bytes | None, source: str) -> Program | None:
    """Return the program in some content, if it is one that this version wrote."""
    try:
        return None if saved is None else loads(saved, source)
    except (ValueError, LookupError, TypeError):
        return None


def write_program(path: Path, parsed: Program) -> None:
    """Write what a wheel contains beside the file of a rule set."""
    path.with_suffix(".json").write_bytes(_key(path).encode() + b"\n" + dumps(parsed, str(path)))


def dumps(parsed: Program, source: str) -> bytes:
    """Return a program as JSON that does not name its source.

    >>> dumps(Program(translate="dlp"), "rules.dl")
    b'["Program",[""],[""],[""],"dlp",[""],[""],[""],[""]]'
    """
    return json.dumps(_plain(parsed, source), separators=(",", ":")).encode()


def loads(text: bytes, source: str) -> Program:
    """Return the program of some JSON.

    Raises:
        ValueError, LookupError, TypeError: The JSON is not of a program.
    """
    found = _part(json.loads(text), source)
    if not isinstance(found, Program):
        raise TypeError(f"this is a {type(found).__name__}, not a program")
    return found


def dumps_origins(parsed: Program) -> bytes:
    """Return the origins of a program's rules as JSON, which the text of the program does not contain."""
    return json.dumps(_plain(tuple(rule.origin for rule in parsed.rules), None), separators=(",", ":")).encode()


def with_origins(parsed: Program, text: bytes) -> Program:
    """Return a program, read from text, with the origins of its rules from some JSON.

    >>> from kg_reasoner.language.parser import parse
    >>> packaged = Program((program.Rule(program.Atom("p", ()), (), program.Origin("first", is_packaged=True)),))
    >>> with_origins(parse("p() ."), dumps_origins(packaged)).rules[0].origin.is_packaged
    True

    Raises:
        ValueError, LookupError, TypeError: The JSON is not of the origins of these rules.
    """
    origins = _part(json.loads(text), None)
    if not all(isinstance(origin, program.Origin) for origin in origins):
        raise TypeError("this is not a list of the origins of these rules")
    rules = zip(parsed.rules, origins, strict=True)
    return replace(parsed, rules=tuple(replace(rule, origin=origin) for rule, origin in rules))


def _plain(part: Any, source: str | None) -> Any:
    """Return a part of a program as data for JSON; with a source, that of all of its parts, which is left out."""
    if isinstance(part, Span) and source is not None:
        if part.source != source:
            raise ValueError(f"a program of {source} has a part of {part.source}")
        part = replace(part, source="")
    names = _FIELDS.get(type(part))
    if names is not None:
        values = (getattr(part, name) for name in names)
        return [type(part).__name__, *(_plain(value, source) for value in values)]
    if isinstance(part, tuple):
        return ["", *(_plain(member, source) for member in part)]
    if part is None or isinstance(part, str | int):
        return part
    raise TypeError(f"a {type(part).__name__} cannot be part of a program")


def _part(plain: Any, source: str | None) -> Any:
    name, *members = plain
    values = [_part(member, source) if type(member) is list else member for member in members]
    if name == "Span" and source is not None:
        values[0] = source
    return _PARTS[name](*values) if name else tuple(values)


def _shipped(path: Path, key: str) -> bytes | None:
    """Return the saved programs of the wheel, if they are of this version."""
    try:
        found, _, saved = path.with_suffix(".json").read_bytes().partition(b"\n")
    except OSError:
        return None
    return saved if found.decode(errors="replace") == key else None


def _key(path: Path) -> str:
    """Return a name for all on which the program and its validity depend: the file, the parser, and the checks of programs."""
    here = Path(__file__).parent
    sources = (*python_sources(here), *python_sources(here.with_name("expressions")))
    return digest_of_files([path, *sources, here / "grammar.lark", program.__file__, terms.__file__])
