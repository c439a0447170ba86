"""A design in a bundle: its file and values, every run that it had, seed by seed, and the contest with the
baseline that its gain rests on.

Steps and work are counted, so a run here gives the very numbers.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, Field

from evolake.bundles.exporting import EVALUATIONS
from evolake.bundles.measuring import consensus_score
from evolake.bundles.model import Carried, Judging, LineBundle, Said, require_allowed
from evolake.bundles.ruling import all_pass, gates_again
from evolake.designs.evolution.gate_specs import GATES
from evolake.designs.measuring_again import (
    BASELINE,
    COLUMNS,
    LIMIT_S,
    OWN,
    Contest,
    Rerun,
    reached,
    run_again,
    unfounded,
)
from evolake.designs.settings import DesignsSettings
from evolake.designs.work.rows import kind_of
from evolake.lake.secret import revealed_root
from evolake.reading import whole_number
from evolake.report.artifacts import Artifact
from evolake.report.show import find_artifact
from evolake.report.status import sealed_cycles
from evolake.seeds import CycleSeeds

if TYPE_CHECKING:
    from evolake.designs.evolution.judging import DesignResults
    from evolake.designs.model.contract import TracedDesign
    from evolake.lake import Catalogue, Lake
    from evolake.settings import Settings

LINE = "designs"
DESIGN, OTHER = "design.py", "baseline.py"
RUN_COLUMNS = ("N", "batch", "seed", "max_steps", "median_step", "unsolved_fraction")
TABLES = (("champion_trials", "duel"), ("experiments", "search"), ("promoted_experiments", "search"))


class Run(BaseModel):
    """One run of one batch. part: duel (seeds that no design had met) or search."""

    model_config = ConfigDict(extra="forbid", strict=True)
    part: str
    ratio: float = Field(gt=0, le=20)
    N: int = Field(ge=3, le=20_000)
    batch: int = Field(gt=0, le=2_000)
    seed: int
    max_steps: int = Field(gt=0, le=100_000_000)
    median_step: int
    unsolved_fraction: float


class DesignClaims(BaseModel):
    """What is said of a design. hyper: values that replace those of its file. contest: what its gain rests
    on; None if none is stated."""

    model_config = ConfigDict(extra="forbid")
    settings: dict[str, Any]
    root_seed: int
    hyper: dict[str, int | float]
    runs: list[Run] = Field(max_length=100_000)
    contest: Contest | None = None


def carry(lake: Lake, catalogue: Catalogue, artifact: Artifact, settings: Settings) -> Carried:
    """Return its file, its values, its runs that ended by themselves, and the contest with the baseline in
    the newest finished cycle."""
    own = settings.of(DesignsSettings)
    runs: list[dict[str, Any]] = []
    for table, part in TABLES:
        for cycle in lake.cycles(LINE, table):
            runs += carried_runs(
                lake.read(LINE, table, cycle).to_dicts(), artifact.artifact_id, part, own.ratio
            )
    details = {json.dumps(row, sort_keys=True): row for row in runs}
    claims = {
        "settings": own.model_dump(),
        "root_seed": settings.seed,
        "hyper": json.loads(artifact.row.get("hyper") or "{}"),
        "runs": [
            details[key]
            for key in sorted(
                details, key=lambda key: (details[key]["part"], details[key]["N"], details[key]["seed"], key)
            )
        ],
    }
    contest, members = _contest(lake, catalogue, artifact.artifact_id, own, settings.seed)
    return Carried(
        claims | {"contest": contest}, {DESIGN: lake.blobs.get(artifact.row["source_sha"]), **members}
    )


def carried_runs(
    rows: Sequence[Mapping[str, Any]], design_id: str, part: str, ratio: float
) -> list[dict[str, Any]]:
    """Return the runs of a design that a bundle carries: those that ended by themselves, on planted formulas,
    which follow from their seed alone."""
    return [
        {"part": part, "ratio": row.get("ratio") or ratio, **{name: row[name] for name in RUN_COLUMNS}}
        for row in rows
        if row["design_id"] == design_id
        and not row["timed_out"]
        and not row["failure"]
        and kind_of(row) == "planted"
    ]


def _contest(
    lake: Lake, catalogue: Catalogue, design: str, own: DesignsSettings, seed: int
) -> tuple[dict[str, Any] | None, dict[str, bytes]]:
    """Return (the contest with the baseline that the gain in the newest finished cycle rests on, the
    baseline's file)."""
    done = sealed_cycles(lake, LINE)
    decided = [
        row
        for row in (lake.read(LINE, "champion_decisions", done[-1]).to_dicts() if done else [])
        if row["comparison"] == "baseline" and row["challenger_id"] == design
    ]
    if not decided:
        return None, {}
    decision = decided[0]
    trials = [
        row for row in lake.read(LINE, "champion_trials", done[-1]).to_dicts() if row["N"] == decision["N"]
    ]
    trials.sort(key=lambda row: row["pair"])
    if decision["ratio"] is None:
        # a busy machine left the contest undecided
        return None, {}
    sides = [
        [{name: row[name] for name in COLUMNS} for row in trials if row["design_id"] == side]
        for side in (design, decision["incumbent_id"])
    ]
    pairs = min(len(side) for side in sides)
    sides = [side[:pairs] for side in sides]
    other = find_artifact(catalogue, decision["incumbent_id"])
    hyper = json.loads(other.row.get("hyper") or "{}")
    contest = {
        "cycle": done[-1],
        "root": revealed_root(catalogue, CycleSeeds(seed, LINE, done[-1])),
        "profile": decision["profile"],
        "ratio": own.ratio,
        "hyper": hyper,
        "own": sides[0],
        "baseline": sides[1],
    }
    return contest, {OTHER: lake.blobs.get(other.row["source_sha"])}


def check(judging: Judging) -> Iterator[Said]:
    """Yield every gate, its identity, a sample of its runs, and what is stated of it as a champion."""
    from evolake.designs.tracing.trace import PRELOAD
    from evolake.jail import open_pool

    claims = DesignClaims.model_validate(judging.bundle.read("claims.json"))
    sizes = DesignsSettings.model_validate(claims.settings)
    _require_bearable(claims, sizes, judging.settings.of(DesignsSettings))
    judging.progress("gates")
    with open_pool(1, PRELOAD, judging.settings.jail) as pool:
        done = _judge(judging, claims, sizes, pool, judging.bundle.members[DESIGN], claims.hyper)
        same = done.design_id == judging.artifact_id
        yield from gates_again(
            judging,
            GATES,
            done,
            f"{all_pass(GATES)}; that no other design of its lake computes the same is not known here",
            Said(
                "identity",
                "holds" if same else "fails",
                f"graph and values have the id {done.design_id[:12]}",
            ),
        )
        if done.blocked_by is not None or done.traced is None:
            return
        rerun = Rerun(sizes, judging.progress)
        yield from _runs(judging, claims, rerun, done.traced)
        yield from _stated(judging, claims, sizes, pool, rerun, done.traced)


def _require_bearable(claims: DesignClaims, sizes: DesignsSettings, here: DesignsSettings) -> None:
    """Raise MachineryError if a gate or a run would take more than this machine's settings allow any."""
    contest = claims.contest
    trials = [*contest.own, *contest.baseline] if contest else []
    runs = [*claims.runs, *trials]
    asked = {
        "batch": max(sizes.batch, *(run.batch for run in runs), 1),
        "high__max_n": max(sizes.n_start, sizes.high.max_n, *(run.N for run in runs)),
        "high__max_steps": max((run.max_work for run in trials), default=0),
        "ratio": max(sizes.ratio, *(run.ratio for run in claims.runs), contest.ratio if contest else 0),
    }
    most = {"high__max_n": here.high.max_n, "high__max_steps": here.high.max_steps}
    require_allowed(LINE, asked, {"batch": here.batch, "ratio": here.ratio, **most})


def _judge(
    judging: Judging,
    claims: DesignClaims,
    sizes: DesignsSettings,
    pool: Any,
    source: bytes,
    hyper: Mapping[str, Any],
) -> DesignResults:
    from evolake.designs.evolution.judging import DesignGates

    return DesignGates(pool, judging.asked, sizes, "bundle", "bundle", claims.root_seed)(
        source.decode("utf-8"), hyper, {}
    )


def _runs(judging: Judging, claims: DesignClaims, rerun: Rerun, traced: TracedDesign) -> Iterator[Said]:
    """Yield runs that are drawn of those on held-out seeds and of those of the search."""
    if missing := _dropped(judging, claims):
        yield Said("runs on seeds that no design had met", "fails", missing)
        return
    for part, name in (("duel", "runs on seeds that no design had met"), ("search", "runs of the search")):
        runs = [run for run in claims.runs if run.part == part]
        if not runs:
            yield Said(name, "unmeasured", "the bundle has none")
            continue
        chosen = judging.drawn(runs)
        cut = 0
        for run in chosen:
            said = _again(run, rerun, traced)
            cut += said is None
            if said:
                yield Said(name, "fails", said)
                return
        late = f"; {cut} more did not end within {LIMIT_S:g} processor seconds and say nothing" if cut else ""
        same = "gives" if len(chosen) - cut == 1 else "give"
        sentence = (
            f"{len(chosen)} of {len(runs)}, of which {len(chosen) - cut} {same} the same median step and "
            f"share of unsolved instances{late}"
        )
        yield Said(name, "holds", sentence, (len(chosen), len(runs)))


def _dropped(judging: Judging, claims: DesignClaims) -> str:
    """Return which run of the rows that it brings from its lake is not among its runs; "" if each of those
    that were solved is."""
    there = {(run.N, run.seed) for run in claims.runs}
    for row in judging.bundle.read(EVALUATIONS):
        n = whole_number(str(row["suite"]).rpartition("-N")[2])
        if row["status"] == "solved" and n is not None and (n, row["seed"]) not in there:
            return f"its rows of the lake have a run at N={n} under seed {row['seed']}, and its runs do not"
    return ""


def _again(run: Run, rerun: Rerun, traced: TracedDesign) -> str | None:
    """Return what is wrong with a run; "" for nothing, None if it did not end in time."""
    result = rerun.run(traced, run.N, run.max_steps, run.seed, batch=run.batch, ratio=run.ratio)
    if result["timed_out"]:
        return None
    where = f"at N={run.N} under seed {run.seed}"
    if result["failure"]:
        return f"{where} it breaks: {result['failure']}"
    if (result["median_step"], result["unsolved_fraction"]) == (run.median_step, run.unsolved_fraction):
        return ""
    claimed, measured = (
        f"median step {item['median_step']}, {item['unsolved_fraction']:.1%} unsolved"
        for item in (run.model_dump(), result)
    )
    return f"{where} it claims {claimed}, and measured is {measured}"


def _stated(
    judging: Judging,
    claims: DesignClaims,
    sizes: DesignsSettings,
    pool: Any,
    rerun: Rerun,
    traced: TracedDesign,
) -> Iterator[Said]:
    """Yield the stated properties of a champion: its gain over the baseline. Its score is the consensus of a
    population that is not here."""
    held, contest = judging.bundle.facts["champion"], claims.contest
    if held is None:
        return
    yield from consensus_score(held["score"])
    if held["gain"] is None:
        return
    if refused := unfounded(held, contest, judging.artifact_id, held["gain"]["against_id"], sizes):
        yield Said("gain over the baseline", "fails", refused, gain=True)
        return
    assert contest is not None
    judging.progress("baseline")
    other = _judge(judging, claims, sizes, pool, judging.bundle.members[OTHER], contest.hyper)
    if other.traced is None or other.design_id != held["gain"]["against_id"]:
        yield Said(
            "baseline",
            "fails",
            f"{OTHER} has the id {other.design_id[:12]}, and the gain is stated over "
            f"{held['gain']['against_id'][:12]}",
        )
        return
    chosen = judging.drawn(list(range(len(contest.own))))
    for side, design, rows in ((OWN, traced, contest.own), (BASELINE, other.traced, contest.baseline)):
        yield from run_again(rerun, contest, side, design, [rows[place] for place in chosen], len(rows))
    said = (
        f"{held['gain']['text']}: it follows from {len(contest.own)} pairs of runs in the bundle, at "
        f"{contest.ratio:g} clauses per variable"
    )
    yield Said("gain over the baseline", "recomputed", said)
    yield from reached(
        rerun,
        contest,
        traced,
        other.traced,
        _installed(judging, claims, sizes, pool, other),
        held["gain"],
        judging.sample,
    )


def _installed(
    judging: Judging, claims: DesignClaims, sizes: DesignsSettings, pool: Any, other: DesignResults
) -> TracedDesign | None:
    """Return the baseline of this machine, if the one of the bundle is another design."""
    file = judging.settings.seeds / "designs" / "baseline.py"
    if not file.is_file():
        return None
    here = _judge(judging, claims, sizes, pool, file.read_bytes(), {})
    return None if here.design_id == other.design_id else here.traced


BUNDLE = LineBundle(("design",), (DESIGN, OTHER), tuple(gate.name for gate in GATES), carry, check)
