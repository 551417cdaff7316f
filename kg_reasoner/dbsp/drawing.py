"""Circuits as text and as drawings in the DOT language of Graphviz."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kg_reasoner.dbsp.wiring import Stream, Wiring


def text(wiring: Wiring, indent: str = "") -> str:
    """Return one line for each stream: its number, operator, arity, and input streams. Nested circuits are indented."""
    return "".join(_lines(wiring, indent))


def _lines(wiring: Wiring, indent: str) -> Iterator[str]:
    for stream in wiring.streams:
        sources = ", ".join(str(source.number) for source in _sources(stream))
        fed = f" <- {sources}" if sources else ""
        inside = stream.inside
        if inside is None:
            yield f"{indent}{stream.number} {stream.operator.name} ({stream.arity}){fed}\n"
        else:
            yield f"{indent}{stream.number} {stream.operator.name}{fed}:\n"
            yield text(inside, f"{indent}    ")


def dot(wiring: Wiring, outputs: Mapping[str, Stream]) -> str:
    """Return a graph: nodes for operators, arrows for streams, boxes for nested circuits, dashed arrows for feedback."""
    lines = ["digraph circuit {", "rankdir=LR;", "node [shape=box, style=rounded];", *_nodes(wiring), *_arrows(wiring)]
    for place, (name, stream) in enumerate(outputs.items()):
        lines += [f"out{place} [label={_quoted(f'output {name}')}, shape=plain];", f"{stream.number} -> out{place};"]
    return "\n".join([*lines, "}"]) + "\n"


def _nodes(wiring: Wiring) -> Iterator[str]:
    for stream in wiring.streams:
        inside = stream.inside
        if inside is None:
            yield f"{stream.number} [label={_quoted(stream.operator.name)}];"
        else:
            yield f"subgraph cluster_{stream.number} {{ label={_quoted(stream.operator.name)};"
            yield from _nodes(inside)
            yield "}"


def _arrows(wiring: Wiring) -> Iterator[str]:
    for stream in wiring.streams:
        inside = stream.inside
        if inside is not None:
            for source, inner in zip(stream.sources, inside.introduced, strict=True):
                yield f"{source.number} -> {inner.number};"
            yield from _arrows(inside)
            continue
        for source in _sources(stream):
            yield f"{source.number} -> {stream.number}{' [style=dashed]' if source.number > stream.number else ''};"


def _sources(stream: Stream) -> Iterator[Stream]:
    """Yield the inputs of a stream; for the result of a nested circuit, the inner stream."""
    for source in stream.sources:
        inside = source.inside
        if inside is None:
            yield source
        else:
            yield from (inner for inner, result in inside.eliminated if result is stream)


def _quoted(name: str) -> str:
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
