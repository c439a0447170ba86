"""What the line needs of the machine."""

from __future__ import annotations

import shutil

from evolake.jail.toolbox import PATH
from evolake.lines import Requirement
from evolake.solvers.repository.build import COMPILERS


def requirements() -> list[Requirement]:
    """Return a C++ compiler: without one no solver is built. CMake, which only repositories that build by it
    ask for."""
    result = next((path for name in COMPILERS if (path := shutil.which(name))), None)
    cmake = (
        shutil.which("cmake", path=PATH)
        or "none: repositories that are built by it need one (optional; apt-get install cmake)"
    )
    return [
        Requirement(
            "C++ compiler",
            result is not None,
            result or "not found",
            "the solvers line",
            "apt-get install g++",
        ),
        Requirement("CMake", True, cmake, "", ""),
    ]
