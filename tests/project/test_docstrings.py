"""The docstrings of everything that the API reference shows: arguments, results and errors."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from textwrap import dedent
from types import FunctionType, ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = ROOT / "docs" / "reference" / "api"
SHOWN = {
    name: "inherited_members: true" in options
    for page in sorted(PAGES.glob("*.md"))
    for name, options in re.findall(r"^::: ([\w.]+)\n((?:    .*\n)*)", page.read_text("utf-8"), re.MULTILINE)
}
"""What is shown, and whether with inherited members."""


def has_long_summary(text: str) -> bool:
    """Whether a docstring begins with more than one line, where PEP 257 wants a summary and an empty line."""
    return "\n" in text.strip().split("\n\n")[0]


def complaints(source: str) -> list[str]:
    """What the docstring of a function lacks, from its source.

    Args:
        source: The function's definition.

    Returns:
        The names of missing sections, and of arguments that are not described.
    """
    function = ast.parse(dedent(source)).body[0]
    assert isinstance(function, ast.FunctionDef)
    decorators = {ast.unparse(decorator) for decorator in function.decorator_list}
    text = ast.get_docstring(function)
    if text is None:
        return ["docstring"]
    found = ["summary of several lines"] * has_long_summary(text)
    arguments = function.args
    named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    named += [argument for argument in (arguments.vararg, arguments.kwarg) if argument is not None]
    found += [
        f"Args: {argument.arg}"
        for argument in named
        if argument.arg not in ("self", "cls", "_") and not re.search(rf"^    \*{{0,2}}{argument.arg}\b", text, re.MULTILINE)
    ]
    returns = function.returns is not None and ast.unparse(function.returns) not in ("None", "NoReturn")
    if returns and not decorators & {"property", "cached_property"} and not re.search("^(Returns|Yields):", text, re.MULTILINE):
        found.append("Returns")
    if any(isinstance(node, ast.Raise) and node.exc is not None for node in ast.walk(function)) and "\nRaises:" not in text:
        found.append("Raises")
    return found


def class_complaints(node: ast.ClassDef) -> list[str]:
    """What is wrong with the arguments in the docstring of a class, if it describes arguments.

    Args:
        node: The class's definition.

    Returns:
        The names of arguments that are not described, and of those that do not exist.
    """
    section = re.search(r"^Args:\n((?:    .*\n?)+)", ast.get_docstring(node) or "", re.MULTILINE)
    made = next((part for part in node.body if isinstance(part, ast.FunctionDef) and part.name == "__init__"), None)
    if section is None or made is None:
        return []
    described = set(re.findall(r"^    (\w+):", section[1], re.MULTILINE))
    arguments = {argument.arg for argument in (*made.args.posonlyargs, *made.args.args, *made.args.kwonlyargs)} - {"self"}
    return [f"{node.name}: {name}" for name in sorted(described ^ arguments)]


def resolved(name: str) -> object:
    """The module, class or function with an absolute name."""
    parts = name.split(".")
    for length in range(len(parts), 0, -1):
        try:
            found: object = import_module(".".join(parts[:length]))
        except ModuleNotFoundError:
            continue
        for part in parts[length:]:
            found = getattr(found, part)
        return found
    raise LookupError(name)


def functions_of(thing: object, name: str, inherited: bool = False) -> Iterator[tuple[str, FunctionType]]:
    """The functions, with their names, that the reference shows for a module, a class or a function."""
    if isinstance(thing, ModuleType):
        for key, value in vars(thing).items():
            if not key.startswith("_") and getattr(value, "__module__", None) == thing.__name__:
                yield from functions_of(value, f"{name}.{key}")
    elif inspect.isclass(thing):
        classes = reversed(inspect.getmro(thing)) if inherited else (thing,)
        members = [vars(each) for each in classes if each.__module__.startswith("kg_reasoner")]
        for key, value in {key: value for some in members for key, value in some.items()}.items():
            if not key.startswith("_"):
                yield from functions_of(value, f"{name}.{key}")
    else:
        function = thing.fget if isinstance(thing, property) else getattr(thing, "func", thing)
        function = inspect.unwrap(getattr(function, "__func__", function))
        if inspect.isfunction(function) and function.__name__ != "<lambda>":
            yield name, function


@pytest.mark.parametrize("folder", ["kg_reasoner", "loaders", "spark_backend"])
def test_docstrings_of_classes_describe_the_arguments_that_there_are(folder: str) -> None:
    nodes = (node for path in sorted((ROOT / folder).rglob("*.py")) for node in ast.walk(ast.parse(path.read_text("utf-8"))))
    assert [message for node in nodes if isinstance(node, ast.ClassDef) for message in class_complaints(node)] == []


@pytest.mark.parametrize("name", SHOWN)
def test_docstrings_of_classes_have_summaries_of_one_line(name: str) -> None:
    shown = resolved(name)
    members = [getattr(shown, key) for key in getattr(shown, "__all__", ())] if isinstance(shown, ModuleType) else [shown]
    assert [each.__name__ for each in members if inspect.isclass(each) and has_long_summary(inspect.getdoc(each) or "")] == []


@pytest.mark.parametrize("name", SHOWN)
def test_docstrings_have_arguments_results_and_errors(name: str) -> None:
    functions = functions_of(resolved(name), name, SHOWN[name])
    wrong = {shown: found for shown, function in functions if (found := complaints(inspect.getsource(function)))}
    assert wrong == {}


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("def f(a): ...", ["docstring"]),
        ("def f():\n    '''Do\n    it.'''", ["summary of several lines"]),
        ("def f(a):\n    '''Do.'''", ["Args: a"]),
        ("def f(a):\n    '''Do.\n\n    Args:\n        a: It.\n    '''", []),
        ("def f() -> int:\n    '''Give.'''", ["Returns"]),
        ("@property\ndef f() -> int:\n    '''Number.'''", []),
        ("def f() -> None:\n    '''Fail.'''\n    raise ValueError", ["Raises"]),
    ],
)
def test_what_is_missing_is_noticed(source: str, expected: list[str]) -> None:
    assert complaints(source) == expected
