"""Where the evidence of variants is found again, which rules judged them, and what each took."""

from __future__ import annotations

import evolake.solvers.rules  # noqa: F401  (registers the checkers)
from evolake.gates import Ruleset
from evolake.gates.stored import StoredEvidence, in_rows
from evolake.lake import Lake
from evolake.lake.schemas import INCOMING
from evolake.solvers.rules.learned import with_learned

LINE, LEARNED = "solvers", "rule_proposals"


def in_force(lake: Lake, cycle: str | None, ruleset: Ruleset) -> Ruleset:
    """With what the line learned in earlier cycles."""
    table = f"{INCOMING}{LEARNED}"
    return with_learned(ruleset, lake.read(LINE, table, cycle).to_dicts()) if cycle and lake.record(LINE, table, cycle) else ruleset


STORED = StoredEvidence(
    find=in_rows(("seeds", "variants", "immigrant_variants"), "variant_id", lambda blob, _gate: blob, LINE), rules=in_force,
    seconds=" UNION ALL ".join(
        f"SELECT '{asset}' AS asset, cycle, variant_id AS artifact_id, cpu_s FROM solvers.{table}"
        for asset, table in (
            ("variants", "gate_runs"), ("benchmark_runs", "benchmark_runs"), ("champion", "champion_trials"), ("holdout_runs", "holdout_runs"),
        )
    ),
)
