"""A design in a bundle: its file and values, and every run that it had, seed by seed. Steps are counted, so a run here gives the very numbers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, Field

from evolake.bundles.model import Carried, Judging, LineBundle, Said
from evolake.bundles.ruling import differ, under_installed
from evolake.designs.evolution.gate_specs import GATES
from evolake.designs.settings import DesignsSettings
from evolake.report.kinds import Artifact

if TYPE_CHECKING:
    from evolake.designs.model.contract import TracedDesign
    from evolake.lake import Catalogue, Lake
    from evolake.settings import Settings

LINE = "designs"
DESIGN = "design.py"
RUN_COLUMNS = ("N", "batch", "seed", "max_steps", "median_step", "unsolved_fraction")
TABLES = (("champion_trials", "duel"), ("experiments", "search"), ("promoted_experiments", "search"))
WALL_S = 600.0
"""How long a run may take here; it says nothing of the design where that is not enough."""


class Run(BaseModel):
    """One run of one batch. part: duel (seeds that no design had met) or search."""

    model_config = ConfigDict(extra="forbid", strict=True)
    part: str
    ratio: float = Field(gt=0, le=20)
    N: int = Field(ge=3, le=20_000)
    batch: int = Field(gt=0, le=2_000)
    seed: int
    max_steps: int = Field(gt=0, le=10_000_000)
    median_step: int
    unsolved_fraction: float


class Claims(BaseModel):
    """What is said of a design. hyper: values that replace those of its file."""

    model_config = ConfigDict(extra="forbid")
    settings: dict[str, Any]
    root_seed: int
    hyper: dict[str, int | float]
    runs: list[Run] = Field(max_length=100_000)


def carry(lake: Lake, catalogue: Catalogue, artifact: Artifact, settings: Settings) -> Carried:
    """Its file, its values, and its runs that ended by themselves."""
    own = settings.of(DesignsSettings)
    runs: list[dict[str, Any]] = []
    for table, part in TABLES:
        for cycle in lake.cycles(LINE, table):
            for row in lake.read(LINE, table, cycle).to_dicts():
                if row["design_id"] == artifact.artifact_id and not row["timed_out"] and not row["failure"]:
                    runs.append({"part": part, "ratio": row.get("ratio") or own.ratio, **{name: row[name] for name in RUN_COLUMNS}})
    details = {json.dumps(row, sort_keys=True): row for row in runs}
    claims = {
        "settings": own.model_dump(), "root_seed": settings.seed, "hyper": json.loads(artifact.row.get("hyper") or "{}"),
        "runs": [details[key] for key in sorted(details, key=lambda key: (details[key]["part"], details[key]["N"], details[key]["seed"], key))],
    }
    return Carried(claims, {DESIGN: lake.blobs.get(artifact.row["source_sha"])})


def check(judging: Judging) -> Iterator[Said]:
    """Every gate, its identity, and a sample of its runs."""
    from evolake.designs.evolution.gate_specs import GATES
    from evolake.designs.evolution.judging import run_gates
    from evolake.designs.tracing.trace import PRELOAD
    from evolake.jail import open_pool

    claims = Claims.model_validate(judging.bundle.read("claims.json"))
    sizes = DesignsSettings.model_validate(claims.settings)
    judging.progress("gates")
    with open_pool(1, PRELOAD, judging.settings.jail) as pool:
        done = run_gates(
            judging.bundle.members[DESIGN].decode("utf-8"), claims.hyper, pool=pool, known={}, ruleset=judging.asked, settings=sizes, cycle="bundle",
            run_id="bundle", root_seed=claims.root_seed,
        )
    if (objection := done.blocked_by) is not None:
        yield Said("gates", "fails", f"{objection.gate} blocks it: {objection.rule_id}: {objection.reason}")
        return
    names = ", ".join(gate.name for gate in GATES)
    yield Said("gates", "holds", f"all {len(GATES)} pass it ({names}); that no other design of its lake computes the same is not known here")
    same = done.design_id == judging.artifact_id
    yield Said("identity", "holds" if same else "fails", f"graph and values have the id {done.design_id[:12]}")
    if differ(judging.asked, judging.installed) and (said := under_installed(done.results, GATES, judging.installed, judging.artifact_id)):
        yield said
    if done.traced is not None:
        yield from _runs(judging, claims, sizes, done.traced)


def _runs(judging: Judging, claims: Claims, sizes: DesignsSettings, traced: TracedDesign) -> Iterator[Said]:
    """Runs that are drawn of those on held-out seeds and of those of the search."""
    text = json.dumps(traced.to_json())
    for part, name in (("duel", "runs on seeds that no design had met"), ("search", "runs of the search")):
        runs = [run for run in claims.runs if run.part == part]
        if not runs:
            yield Said(name, "note", "none")
            continue
        chosen = judging.drawn(runs)
        cut = 0
        for number, run in enumerate(chosen, 1):
            judging.progress(f"{part}: run {number} of {len(chosen)}, N={run.N}")
            said = _again(run, text, sizes)
            cut += said is None
            if said:
                yield Said(name, "fails", said)
                return
        late = f"; {cut} more did not end within {WALL_S:g} s and say nothing" if cut else ""
        same = "gives" if len(chosen) - cut == 1 else "give"
        sentence = f"{len(chosen)} of {len(runs)}, of which {len(chosen) - cut} {same} the same median step and share of unsolved instances{late}"
        yield Said(name, "holds", sentence, (len(chosen), len(runs)))


def _again(run: Run, traced: str, sizes: DesignsSettings) -> str | None:
    """What is wrong with a run, "" for nothing, None where it did not end in time."""
    from evolake.designs.evolution.experiments import simulate_level

    result = simulate_level(traced, run.N, run.max_steps, run.seed, WALL_S, sizes.model_copy(update={"batch": run.batch, "ratio": run.ratio}))
    if result.timed_out:
        return None
    where = f"at N={run.N} under seed {run.seed}"
    if result.failure:
        return f"{where} it breaks: {result.failure}"
    if (result.median_step, result.unsolved_fraction) == (run.median_step, run.unsolved_fraction):
        return ""
    claimed, measured = (f"median step {item.median_step}, {item.unsolved_fraction:.1%} unsolved" for item in (run, result))
    return f"{where} it claims {claimed}, and measured is {measured}"


BUNDLE = LineBundle(("design",), (DESIGN,), tuple(gate.name for gate in GATES), carry, check)
