"""What a seed takes on the formulas that variants of it are compared on, measured once for its sources, these formulas and limits, and then kept."""

from __future__ import annotations

import hashlib
import json
import os
import threading
from dataclasses import asdict
from pathlib import Path

from evolake.lake import disk
from evolake.reading import DATA_BYTES, Unparsable, Unreadable, parse_json, read_text
from evolake.solvers.gates.bench import GateContext
from evolake.solvers.gates.carry import carry_evidence, carry_runs
from evolake.solvers.gates.runs import GateRunner
from evolake.solvers.measurement.measuring import Rows
from evolake.solvers.repository.adapters import Adapter
from evolake.solvers.repository.build import build_variant, open_program
from evolake.solvers.repository.variant import source_sha

FOLDER = "seed-carried"


def seed_carried(base: Path, adapter: Adapter, bench: GateContext, *, cycle: str) -> Rows:
    """Return `carry_evidence` of the seed at `base` on the formulas of the bench; [] if it does not build or there are none.

    Raises:
        MachineryError: the jail or the compiler failed.
    """
    if bench.carried is None:
        return []
    variant = source_sha(base)
    key = hashlib.sha256(json.dumps([variant, bench.carried.sha, asdict(bench.correctness_limits)], default=str).encode()).hexdigest()
    path = bench.cache / FOLDER / f"{key}.json"
    try:
        kept = parse_json(read_text(path, DATA_BYTES), name=path.name)
        if isinstance(kept, list):
            return kept
    except (OSError, Unreadable, Unparsable):
        pass  # not measured yet, or cut off by a full disk: measured now
    built = build_variant(base, adapter, bench.blobs, seed=True)
    if not built.ok:
        return []
    program = open_program(built, adapter, bench.blobs, bench.cache)
    runner = GateRunner(variant, program, cycle, bench.correctness_limits, bench.proof_limits, bench.verdicts, bench.executor)
    made = carry_evidence(carry_runs(runner, bench.carried))
    path.parent.mkdir(parents=True, exist_ok=True)
    disk.write_atomic(path, json.dumps(made).encode(), tag=f"{os.getpid()}-{threading.get_ident()}")
    return made
