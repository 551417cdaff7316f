"""The build; everything that can be said without code is in pyproject.toml.

With ``KG_REASONER_RELEASE=1``, a wheel contains the kernels compiled for common processors, and the rule sets parsed, so that those
who install it compile nothing. This takes the libraries that compile and parse (``setup_requires``), and some ten seconds. Without
it, a build needs neither, and the first use of the package compiles the kernels.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

IS_RELEASE = os.environ.get("KG_REASONER_RELEASE") == "1"

COMPILE = """
from pathlib import Path
from kg_reasoner import rulesets
from kg_reasoner.language.saved_programs import write_program
from kg_reasoner.storage.kernels import kernel_groups
from kg_reasoner.storage.kernels.machine_code import loader
loader.write_images(kernel_groups.GROUPS, Path(loader.__file__).with_name("compiled"))
for name in rulesets.names():
    found = rulesets.load(name)
    write_program(found.path, found.program)
"""


class FreshBuild(build_py):
    """Builds the package anew: setuptools would pack what an earlier build has left in ``build/``, deleted modules, too."""

    def run(self) -> None:
        """Remove what was left, build, and compile for a release."""
        package = Path(self.build_lib) / "kg_reasoner"
        if not self.editable_mode:
            shutil.rmtree(package, ignore_errors=True)
        super().run()
        if IS_RELEASE and not self.editable_mode:
            # With an isolated build, pip names the libraries of the build in PYTHONPATH.
            path = filter(None, [str(package.parent.resolve()), os.environ.get("PYTHONPATH")])
            environment = os.environ | {"PYTHONPATH": os.pathsep.join(path), "PYTHONDONTWRITEBYTECODE": "1"}
            subprocess.run([sys.executable, "-c", COMPILE], env=environment, cwd=package.parent, check=True)


setup(cmdclass={"build_py": FreshBuild}, setup_requires=["lark>=1.2", "llvmlite>=0.44", "numpy>=1.26"] if IS_RELEASE else [])
