"""What the line needs of the machine."""

from __future__ import annotations

import shutil

from evolake.lines import Requirement
from evolake.solvers.repository.build import COMPILERS


def requirements() -> list[Requirement]:
    """A C++ compiler: without one no solver is built."""
    found = next((path for name in COMPILERS if (path := shutil.which(name))), None)
    return [Requirement("C++ compiler", found is not None, found or "not found", "the solvers line", "apt-get install g++")]
