"""What a seed takes on the formulas that variants of it are compared on, measured once for its sources, these
formulas and limits, and then kept."""

from __future__ import annotations

import hashlib
import json
import os
import threading
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from evolake.lake import disk
from evolake.reading import DATA_BYTES, Unparsable, Unreadable, parse_json, read_text
from evolake.solvers.gates.carry import carry_evidence, carry_runs
from evolake.solvers.gates.context import GateContext
from evolake.solvers.gates.evidence import runs_evidence
from evolake.solvers.gates.filling import filling_program
from evolake.solvers.gates.runs import GateRunner, filled_runs, stability_runs
from evolake.solvers.measurement.measuring import Rows
from evolake.solvers.process.execute import RunLimits
from evolake.solvers.repository.adapters import Adapter
from evolake.solvers.repository.build import build_variant, open_program
from evolake.solvers.repository.variant import source_sha

CARRIED, STEADY = "seed-carried", "seed-stability"
"""Folders of the cache."""


def seed_carried(base: Path, adapter: Adapter, context: GateContext, *, cycle: str) -> Rows:
    """Return `carry_evidence` of the seed at `base` on the formulas of the context; [] if it does not build
    or there are none.

    Raises:
        MachineryError: the jail or the compiler failed.
    """
    carried = context.carried
    if carried is None:
        return []
    key = [source_sha(base), carried.sha, asdict(context.correctness_limits)]

    def made() -> Rows | None:
        runner = _runner(base, adapter, context, cycle, context.correctness_limits)
        return carry_evidence(carry_runs(runner, carried)) if runner else None

    return _kept(context.cache / CARRIED, key, made)


def seed_stability(base: Path, adapter: Adapter, context: GateContext, *, cycle: str) -> Rows:
    """Return what the rules judge of the seed's own runs at the stability gate, those with filled memory
    among them; [] if it does not build.

    Raises:
        MachineryError: the jail or the compiler failed.
    """
    key = [source_sha(base), context.stability.sha, asdict(context.stability_limits), context.filling_build]

    def made() -> Rows | None:
        runner = _runner(base, adapter, context, cycle, context.stability_limits)
        if runner is None:
            return None
        filling = filling_program(base, adapter, context, seed=True)[0] or runner.program
        rows = stability_runs(runner, context.stability) + filled_runs(
            replace(runner, program=filling), context.stability
        )
        return runs_evidence(rows)["runs"]

    return _kept(context.cache / STEADY, key, made)


def _runner(
    base: Path, adapter: Adapter, context: GateContext, cycle: str, limits: RunLimits
) -> GateRunner | None:
    built = build_variant(base, adapter, context.blobs, seed=True)
    if not built.ok:
        return None
    program = open_program(built, adapter, context.blobs, context.cache)
    return GateRunner(
        source_sha(base), program, cycle, limits, context.proof_limits, context.verdicts, context.executor
    )


def _kept(folder: Path, key: Sequence[Any], make: Callable[[], Rows | None]) -> Rows:
    """Return what is kept under the key, or else what `make` gives, which is kept; [] and nothing kept if it
    gives None."""
    path = folder / f"{hashlib.sha256(json.dumps(key, default=str).encode()).hexdigest()}.json"
    try:
        kept = parse_json(read_text(path, DATA_BYTES), name=path.name)
        if isinstance(kept, list):
            return kept
    except (OSError, Unreadable, Unparsable):
        pass  # not measured yet, or cut off by a full disk: measured now
    made = make()
    if made is None:
        return []
    path.parent.mkdir(parents=True, exist_ok=True)
    disk.write_atomic(path, json.dumps(made).encode(), tag=f"{os.getpid()}-{threading.get_ident()}")
    return made
