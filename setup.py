"""The build; everything that can be said without code is in pyproject.toml."""

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py


class FreshBuild(build_py):
    """Builds the package anew: setuptools would pack what an earlier build has left in ``build/``, deleted modules, too."""

    def run(self) -> None:
        """Remove what was left, and build."""
        if not self.editable_mode:
            shutil.rmtree(Path(self.build_lib) / "kg_reasoner", ignore_errors=True)
        super().run()


setup(cmdclass={"build_py": FreshBuild})
