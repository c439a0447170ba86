"""A second build of a variant whose local variables are filled where its source leaves them as they are, for the runs with filled memory.

What a program allocates is filled by the C library (`runs.FILLS`); local variables only the compiler can fill. Objects of the seed's own sources are
kept for these builds as for others, so that a variant compiles what it changes twice, and nothing else.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from evolake.solvers.gates.bench import GateContext
from evolake.solvers.process.execute import Program
from evolake.solvers.repository.adapters import Adapter
from evolake.solvers.repository.build import build_by, open_program

FLAG = "-ftrivial-auto-var-init=pattern"
"""gcc (from 12) and clang: local variables without a value begin with bytes other than zero, which changes no defined behaviour."""
VARIABLES = ("CFLAGS", "CXXFLAGS")


def filling_adapter(adapter: Adapter) -> Adapter | None:
    """Return the adapter that builds with FLAG; None if it sets no compiler flags to add it to."""
    flags = {name: f"{value} {FLAG}" for name, value in adapter.environment.items() if name in VARIABLES}
    return replace(adapter, environment={**adapter.environment, **flags}) if flags else None


def filling_program(folder: Path, adapter: Adapter, bench: GateContext, *, seed: bool) -> Program | None:
    """Return the filling build of the repository at `folder`; None if the bench asks for none, or it cannot be made.

    seed: it is a seed as it was laid out.
    """
    filling = filling_adapter(adapter)
    if not bench.filling_build or filling is None:
        return None
    made = build_by(bench.executor, folder, filling, bench.blobs, seed=seed)
    return open_program(made, filling, bench.blobs, bench.cache) if made.ok else None
