"""``python -m kg_reasoner`` is the command ``kg-reasoner``."""

from __future__ import annotations

from kg_reasoner.cli import main

if __name__ == "__main__":
    main(prog_name="kg-reasoner")
