"""evolake: evolutionary search with verifiable results.

The science of the project as an importable library. Nothing here imports the orchestrator: the Dagster wiring
lives in the sibling packages `pipelines`, `assets` and `resources`, which import this one and never the other
way round.
"""

import os
from importlib import import_module
from typing import Any

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
"""Before torch is loaded: its idle threads sleep. Spinning ones starve each other where other work shares the
cores, a hundredfold on two."""

__version__ = "0.2.0.dev0"
LATER = {"evolve": "evolake.programs.library", "Line": "pipelines.component"}
"""What scripts, notebooks and the YAML of Dagster's components name -> its module, which is imported when it
is asked for."""


def __getattr__(name: str) -> Any:
    if name in LATER:
        if not LATER[name].startswith(__name__):
            import_module("evolake.project").enter()
        return getattr(import_module(LATER[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*globals(), *LATER]
