"""From a seed to a judged row of VARIANTS: fetched, laid out by its adapter, taken through every gate against
itself as base."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

from evolake.gates import Ruleset, Verdict
from evolake.solvers.evolution.workspace import Workspace
from evolake.solvers.gates.judging import judge_variant
from evolake.solvers.proof.tools import SOURCES as SECOND_CHECKERS
from evolake.solvers.proof.tools import build_tools, find_program
from evolake.solvers.repository.variant import archive_variant
from evolake.solvers.seeds.fetch import fetch_seed
from evolake.solvers.seeds.seeding import lay_out_seed
from evolake.solvers.seeds.seeds_file import Seed

CHECKERS_COME_WITH = "cadical195"


@dataclass(frozen=True)
class JudgedSeed:
    """A row of VARIANTS, the verdicts on it, and a row of provenance."""

    row: dict[str, Any]
    verdicts: tuple[Verdict, ...]
    provenance: dict[str, Any]


def build_second_checkers(workspace: Workspace) -> list[str]:
    """Return names of the independent proof checkers that cadical's release carries, built once; champions
    are checked by two checkers where two exist.

    Raises:
        InputError: no seed `cadical195`, or no C compiler. MachineryError: its sources cannot be reached, or
            a checker does not compile.
    """
    missing = [name for name in SECOND_CHECKERS if find_program(name) is None]
    if missing:
        build_tools(workspace.trees(CHECKERS_COME_WITH))
    return list(SECOND_CHECKERS)


def judge_seed(workspace: Workspace, seed: Seed, ruleset: Ruleset, *, cycle: str, run_id: str) -> JudgedSeed:
    """Return a seed after its gates.

    Raises:
        InputError: its sources are not the pinned ones, or its adapter does not fit them.
        MachineryError: its sources cannot be reached, or the jail, a checker or the compiler failed.
    """
    now, name = datetime.now(UTC), seed.name
    fetched = fetch_seed(seed, workspace.blobs, now=now)
    folder = lay_out_seed(
        seed, workspace.blobs, workspace.cache, adapters=workspace.seeds / "solvers" / "adapters", now=now
    )
    adapter = workspace.adapter(seed.adapter)
    judged = judge_variant(
        folder,
        adapter=adapter,
        base=folder,
        ruleset=ruleset,
        context=workspace.context(name, cycle),
        cycle=cycle,
        run_id=run_id,
    )
    blocked = judged.blocked_by
    row = {
        "variant_id": judged.variant_id,
        "state": "accepted" if judged.accepted else "blocked",
        "cycle": cycle,
        "title": name,
        "base": name,
        "operator": "seed",
        "origin": "seed",
        "plan_id": None,
        "hypothesis": f"{name} {seed.version}, as it is published.",
        "changed": "",
        "parents": [],
        "edits": "[]",
        "archive_sha": archive_variant(folder, workspace.blobs),
        "diff_sha": workspace.blobs.put(b""),
        "evidence": json.dumps(judged.evidence_shas, sort_keys=True),
        "gate": blocked.gate if blocked else None,
        "rule_id": blocked.rule_id if blocked else None,
        "reason": blocked.reason if blocked else None,
        "repairs": 0,
        "objections": [],
        "dropped": None,
    }
    return JudgedSeed(row, judged.verdicts, asdict(fetched))
