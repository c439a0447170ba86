"""A second build of a variant whose local variables are filled where its source leaves them as they are, for
the runs with filled memory.

What a program allocates is filled by the C library (`runs.FILLS`); local variables only the compiler can
fill. Objects of the seed's own sources are kept for these builds as for others, so that a variant compiles
what it changes twice, and nothing else.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from evolake.solvers.gates.context import GateContext
from evolake.solvers.process.execute import Program
from evolake.solvers.repository.adapters import Adapter
from evolake.solvers.repository.build import build_by, open_program
from evolake.solvers.repository.variant import source_sha

FLAG = "-ftrivial-auto-var-init=pattern"
"""gcc (from 12) and clang: local variables without a value begin with bytes other than zero, which changes no
defined behaviour."""
VARIABLES = ("CFLAGS", "CXXFLAGS")


def filling_adapter(adapter: Adapter) -> Adapter | None:
    """Return the adapter that builds with FLAG; None if it sets no compiler flags to add it to."""
    flags = {name: f"{value} {FLAG}" for name, value in adapter.environment.items() if name in VARIABLES}
    return replace(adapter, environment={**adapter.environment, **flags}) if flags else None


def filling_program(
    folder: Path, adapter: Adapter, context: GateContext, *, seed: bool
) -> tuple[Program | None, str]:
    """Return the filling build of the repository at `folder`, and why there is none; (None, "") if none is
    asked for.

    seed: it is a seed as it was laid out. A build that ends well and did not compile with FLAG is none
    either: makefiles can drop it.
    """
    filling = filling_adapter(adapter)
    if not context.filling_build or filling is None:
        return None, ""
    made = build_by(context.executor, folder, filling, context.blobs, seed=seed)
    if not made.ok:
        return None, made.reason
    if not any(FLAG in line.split() for line in made.flags):
        return None, f"its build does not pass {FLAG} on"
    return open_program(made, filling, context.blobs, context.cache), ""


def filling_fault(
    folder: Path, base: Path, adapter: Adapter, context: GateContext
) -> tuple[Program | None, str]:
    """Return a variant's filling build, and why it has none although its seed has one: "" if it has one, or
    its seed has none (an old compiler)."""
    of_seed = source_sha(folder) == source_sha(base)
    program, reason = filling_program(folder, adapter, context, seed=of_seed)
    if of_seed or not reason or filling_program(base, adapter, context, seed=True)[0] is None:
        return program, ""
    return None, reason
