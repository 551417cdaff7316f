"""Hooks of MkDocs: the package as mkdocstrings finds it, texts from elsewhere in the repository, and notebooks as pages.

The folders `loaders`, `rulesets` and `spark_backend` are installed inside the package, but lie beside it in the repository; a copy
has them where they are installed. A notebook is shown as it was saved, outputs included: building the site runs nothing
(`tests/project/test_notebooks.py` does).
"""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[1]
VIEW = ROOT / "build" / "docs-view" / "kg_reasoner"

INCLUDED = re.compile(r"^<!-- include -->\[(.+)\]\(.+\)$", re.MULTILINE)
FILE = re.compile(r"^<!-- file: (.+) -->\n```(\w+)$", re.MULTILINE)
OUTPUT = re.compile(r"^<!-- output -->\n```(\w+)$", re.MULTILINE)


def on_startup(**_: Any) -> None:
    """Make the folder that `paths` of mkdocstrings names, which looks for it before it asks for anything else."""
    VIEW.mkdir(parents=True, exist_ok=True)


def on_config(config: Any) -> Any:
    """Fill the folder, each time that the site is built."""
    shutil.rmtree(VIEW)
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "kg_reasoner", VIEW, ignore=ignored)
    for name in ("loaders", "rulesets", "spark_backend"):
        shutil.copytree(ROOT / name, VIEW / name, ignore=ignored)
    return config


def on_files(files: Files, config: Any) -> Files:
    """Add a page for each notebook."""
    for file in list(files):
        if file.src_uri.endswith(".ipynb") and file.abs_src_path is not None:
            notebook = json.loads(Path(file.abs_src_path).read_text(encoding="utf-8"))
            page = f"{as_markdown(notebook)}\n[Download the notebook]({file.name}.ipynb)\n"
            files.append(File.generated(config, file.src_uri.replace(".ipynb", ".md"), content=page))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Put texts of the repository in place of links to them, and give blocks titles from the comments above them.

    What the comments mean, `tests/helpers/code_blocks.py` tells.
    """
    markdown = INCLUDED.sub(lambda found: (ROOT / found[1]).read_text(encoding="utf-8").replace("](docs/", "]("), markdown)
    markdown = FILE.sub(r'```\2 title="\1"', markdown)
    return OUTPUT.sub(r'```\1 title="Output"', markdown)


def as_markdown(notebook: dict[str, Any]) -> str:
    """A notebook as Markdown: code cells as blocks, and what they print as blocks after them."""
    parts: list[str] = []
    for cell in notebook["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] != "code":
            parts.append(source)
            continue
        parts.append(f"```python\n{source}\n```")
        parts += [f"<!-- output -->\n```text\n{text.rstrip()}\n```" for text in map(text_of, cell["outputs"]) if text.strip()]
    return "\n\n".join(parts) + "\n"


def text_of(output: dict[str, Any]) -> str:
    """The text of an output of a cell: what is printed, or the value of the last expression."""
    lines = output["text"] if output["output_type"] == "stream" else output["data"]["text/plain"]
    return "".join(lines)
