"""The mutation test of the gates: faults planted into the seeds that passed, class by class, and which gate
caught how many."""

from __future__ import annotations

import dagster as dg
import polars as pl

from assets.checks import suite_check
from assets.families.line import judge, line, open_jail, rules
from assets.line import SEED_ROUND
from assets.shown import shown
from assets.store import LineStore
from evolake.families.settings import FamiliesSettings
from evolake.families.tables import KILL_RATES, PLANTED
from resources.compute import ComputeResource
from resources.lake import LakeResource


@line.seed_asset(deps=[rules, "seeds"], schema=KILL_RATES, kinds={"python", "bubblewrap"})
def fault_kill_rates(
    context: dg.AssetExecutionContext, lake: LakeResource, compute: ComputeResource
) -> pl.DataFrame:
    """Kill rates by class of faults and gate, under the rules in force. The reviewers are the operators,
    whatever the backend."""
    from evolake.agents import Agents
    from evolake.agents.roles import OperatorsBackend
    from evolake.families.dataset.datasets import load_families
    from evolake.families.evolution.shipped_seeds import FILE, ShippedGates, read_entries
    from evolake.families.faults.injection import (
        ALL_FAULTS,
        SHIPPED_EACH,
        kill_rates,
        plant_faults,
        short_caps,
    )
    from evolake.families.gates.specs import GATE_NAMES
    from evolake.families.model.similarity import Fingerprint
    from evolake.families.tables_faults import figure_of, kill_rate_rows, planted_rows

    store = LineStore(line, context, lake, compute)
    settings, sound = (
        store.settings,
        store.lake.read(line.name, "seeds", None).filter(pl.col("state") == "accepted").to_dicts(),
    )
    fingerprints = {row["family_id"]: Fingerprint.from_json(row["fingerprint"]) for row in sound}
    limits = short_caps(settings.of(FamiliesSettings))
    with (
        Agents(OperatorsBackend(SEED_ROUND), line=line.name, cycle=SEED_ROUND) as agents,
        open_jail(store) as pool,
    ):
        ruleset, path = store.rules(), settings.seeds / FILE
        gates = ShippedGates(
            read_entries(path),
            path,
            judge(store, pool, agents, ruleset, limits),
            ruleset,
            limits,
            settings.seed,
            SEED_ROUND,
            store.run_id,
            expected=len(ALL_FAULTS) * min(limits.planted_faults, SHIPPED_EACH),
            purpose="faults",
        )
        planted = plant_faults(
            load_families(store.lake, sound),
            fingerprints,
            lambda family, known: gates.judge(family, known)[0],
            each=limits.planted_faults,
            cycle=SEED_ROUND,
            root_seed=settings.seed,
            faults=ALL_FAULTS,
            progress=lambda number, name: store.progress("class of faults", number, len(ALL_FAULTS), name),
        )
    store.log(f"evidence: {gates.describe()}")
    store.extra(PLANTED, planted_rows(planted))
    frame = KILL_RATES.frame(kill_rate_rows(kill_rates(planted)))
    meant = [row for row in planted if row.outcome != "does not apply" and row.expected in GATE_NAMES]
    store.tell(
        {
            "evidence": gates.describe(),
            "planted": len(meant),
            "caught": sum(row.outcome == "caught" for row in meant),
            "classes": len({row.fault for row in meant}),
            "seen_by_no_gate": ", ".join(sorted({row.fault for row in planted if row.outcome == "survived"}))
            or "none",
            "figure": shown(figure_of(frame), "Planted faults by the gate that caught them"),
        }
    )
    return frame


faults_are_caught = suite_check(
    fault_kill_rates,
    "every_class_is_caught",
    "Whatever a gate is meant to catch is caught, in every family that it was planted into.",
    None,
    lambda gxe: [gxe.ExpectColumnValuesToBeBetween(column="missed", min_value=0, max_value=0)],
    f"SELECT fault, expected, name, planted_id FROM {line.name}.{PLANTED.name} WHERE outcome = 'survived' "
    "AND expected <> 'none' ORDER BY ALL",
    prepare=lambda frame, lake, cycle: frame.with_columns(
        missed=(pl.col("planted") - pl.col("caught")).clip(0)
    ).filter(pl.col("expected") != "none"),
)
