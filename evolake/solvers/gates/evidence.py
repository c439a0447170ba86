"""What the rules of each gate judge, as JSON, and how it is stored; and what a seed takes on the formulas
that variants of it are compared on, measured once for its sources, these formulas and limits, and then kept.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from evolake.gates import Ruleset
from evolake.gates.stored import StoredEvidence, in_rows
from evolake.lake import Lake, disk
from evolake.lake.blobs import BlobStore
from evolake.lake.schemas import INCOMING
from evolake.reading import DATA_BYTES, Unparsable, Unreadable, parse_json, read_text
from evolake.solvers.execute import RunLimits
from evolake.solvers.gates.runs import (
    GateContext,
    GateRunner,
    carry_evidence,
    carry_runs,
    filled_runs,
    filling_program,
    is_carried,
    stability_runs,
)
from evolake.solvers.measurement.measuring import Rows
from evolake.solvers.repository.adapters import Adapter
from evolake.solvers.repository.build import BuildResult, build_variant, open_program
from evolake.solvers.repository.variant import source_sha
from evolake.solvers.rules.learned import with_learned
from evolake.solvers.rules.outcomes import GROWING
from evolake.solvers.suites.fresh import CARRIED

ESSENCE = (
    "instance",
    "family",
    "expected",
    "shuffle",
    "repeat",
    "status",
    "answer",
    "certificate",
    "proof_status",
    "problems",
    "conflicts",
    "decisions",
    "propagations",
    "memory_mb",
    "timeout_s",
)


def build_evidence(build: BuildResult) -> dict[str, Any]:
    """Return what the rules of the build gate judge."""
    values = asdict(build)
    return {
        "build": {
            name: values[name] for name in ("ok", "kind", "program", "log_sha", "warnings", "reason", "cpu_s")
        }
    }


def runs_evidence(
    rows: Sequence[Mapping[str, Any]], base_rows: Sequence[Mapping[str, Any]] = ()
) -> dict[str, Any]:
    """Return what the rules of gates 2 to 4 judge: of each row what says how it ended, and memory in whole MB
    over a growing formula.

    Times stay out, so that two runs that end alike are one piece of evidence.
    """
    return {"runs": [_essence(row) for row in rows], "base_runs": [_essence(row) for row in base_rows]}


def gate_evidence(gate: str, rows: Sequence[Mapping[str, Any]], context: GateContext) -> dict[str, Any]:
    """Return what the rules of one of gates 2 to 4 judge: `runs_evidence`; at the stability gate next to that
    of the base, and with `carry_evidence` of the rows that are for it."""
    if gate != "stability":
        return runs_evidence(rows)
    others = runs_evidence([row for row in rows if not is_carried(row)], context.base_stability())
    return others | {
        CARRIED: carry_evidence([row for row in rows if is_carried(row)]),
        "base_carried": context.base_carried(),
    }


def _essence(row: Mapping[str, Any]) -> dict[str, Any]:
    kept = {name: row.get(name) for name in ESSENCE}
    if "answer" not in row:  # a row of DUELS
        kept["answer"] = {"sat": "SAT", "unsat": "UNSAT"}.get(row["status"])
    # a killed run's proof is cut anywhere
    kept["proof_bytes"] = row.get("proof_bytes") if kept["answer"] else None
    return kept | ({"peak_mb": math.ceil(row["peak_mb"])} if kept["family"] == GROWING else {})


def store_evidence(evidence: Mapping[str, Any], blobs: BlobStore) -> str:
    """Return the sha of the evidence as a blob of JSON; equal evidence has one sha."""
    return blobs.put(json.dumps(evidence, sort_keys=True, default=str).encode())


def load_evidence(sha: str, blobs: BlobStore) -> dict[str, Any]:
    """Return evidence as it was stored."""
    return json.loads(blobs.get(sha))


def rules_in_force(lake: Lake, cycle: str | None, ruleset: Ruleset) -> Ruleset:
    """Return the rules of a cycle: those of the files, and those that the line learned in earlier cycles."""
    table = f"{INCOMING}rule_proposals"
    learned = (
        lake.read("solvers", table, cycle).to_dicts()
        if cycle and lake.record("solvers", table, cycle)
        else []
    )
    return with_learned(ruleset, learned) if learned else ruleset


STORED = StoredEvidence(
    find=in_rows(
        ("seeds", "variants", "immigrant_variants"), "variant_id", lambda blob, _gate: blob, "solvers"
    ),
    rules=rules_in_force,
    seconds=" UNION ALL ".join(
        f"SELECT '{asset}' AS asset, cycle, variant_id AS artifact_id, cpu_s FROM solvers.{table}"
        for asset, table in (
            ("variants", "gate_runs"),
            ("benchmark_runs", "benchmark_runs"),
            ("champion", "champion_trials"),
            ("holdout_runs", "holdout_runs"),
        )
    ),
)
"""Where the evidence of variants is stored, which rules judged them, and what each took."""


SEED_CARRIED, SEED_STEADY = "seed-carried", "seed-stability"
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

    return _kept(context.cache / SEED_CARRIED, key, made)


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

    return _kept(context.cache / SEED_STEADY, key, made)


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
