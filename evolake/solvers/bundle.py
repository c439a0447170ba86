"""A solver's repository in a bundle: its sources with the scripts that build and run them, and its runs on
named formulas. Proofs are not carried: every UNSAT answer that is run again writes one, and an external
checker verifies it. With a gain come the duel that it rests on, and the sources of the solver that it was
measured against."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, Field

from evolake.bundles.model import Carried, Judging, LineBundle, Said, require_allowed
from evolake.bundles.ruling import all_pass, gates_again
from evolake.errors import InputError, MachineryError
from evolake.lake.secret import revealed_root
from evolake.report.artifacts import Artifact
from evolake.report.show import find_artifact
from evolake.report.status import sealed_cycles
from evolake.seeds import CycleSeeds
from evolake.settings import Settings
from evolake.solvers.bundle_duel import LIMITS, OTHER, stated, unpacked
from evolake.solvers.gates.specs import GATE_NAMES, GATES
from evolake.solvers.measurement.benchmark import run_limits, stage_limits
from evolake.solvers.measuring_again import COLUMNS as OF_DUEL
from evolake.solvers.measuring_again import Duel
from evolake.solvers.rules.outcomes import NO_PROOF, fault_of
from evolake.solvers.settings import SolversSettings

if TYPE_CHECKING:
    from evolake.lake import Catalogue, Lake
    from evolake.solvers.gates.verifying import Verified
    from evolake.solvers.suites import Instance

LINE = "solvers"
SOURCES = "solver.tar.zst"
COLUMNS = ("suite", "instance", "formula_sha", "status", "cpu_s", "conflicts", "timeout_s", "memory_mb")
ANSWERS = ("sat", "unsat")
SLACK = 10.0
"""How many times slower this machine may be before a run that ends in no answer counts against the bundle."""


class Run(BaseModel):
    """One run on one formula. status: sat, unsat, or how it ended without an answer that counts."""

    model_config = ConfigDict(extra="forbid", strict=True)
    suite: str = Field(max_length=200)
    instance: str = Field(max_length=200)
    formula_sha: str
    status: str
    cpu_s: float = Field(ge=0)
    conflicts: int | None
    timeout_s: float = Field(gt=0, le=7200)
    memory_mb: int = Field(gt=0, le=65_536)


class VariantClaims(BaseModel):
    """What is said of a solver. base: the seed that it descends from. duel: by which it became champion; None
    for one of the seeds. root_seed: by which it was decided."""

    model_config = ConfigDict(extra="forbid")
    base: str = Field(max_length=200)
    settings: dict[str, Any]
    runs: list[Run] = Field(max_length=100_000)
    root_seed: int = 0
    duel: Duel | None = None


def carry(lake: Lake, catalogue: Catalogue, artifact: Artifact, settings: Settings) -> Carried:
    """Return its archive, its runs of the benchmark, and the duel by which it became champion, with the
    other's archive."""
    runs = {
        (row["suite"], row["instance"], row["timeout_s"], row["cycle"], row["repeat"]): {
            name: row[name] for name in COLUMNS
        }
        for cycle in lake.cycles(LINE, "benchmark_runs")
        for row in lake.read(LINE, "benchmark_runs", cycle).to_dicts()
        if row["variant_id"] == artifact.artifact_id and not row["shuffle"]
    }
    claims = {
        "base": artifact.row["base"],
        "settings": settings.of(SolversSettings).model_dump(mode="json"),
        "runs": [runs[key] for key in sorted(runs, key=str)],
    }
    duel, members = _won(lake, catalogue, artifact.artifact_id)
    if duel:
        claims["root_seed"] = revealed_root(catalogue, CycleSeeds(settings.seed, LINE, duel["cycle"]))
    return Carried(claims | {"duel": duel}, {SOURCES: lake.blobs.get(_archive(artifact)), **members})


def _archive(artifact: Artifact) -> str:
    return artifact.row.get("archive_sha") or artifact.content_sha


def _won(lake: Lake, catalogue: Catalogue, solver: str) -> tuple[dict[str, Any] | None, dict[str, bytes]]:
    """Return (the newest duel that it won, the archive of the one that lost it)."""
    for cycle in reversed(sealed_cycles(lake, LINE)):
        won = [
            row
            for row in lake.read(LINE, "champion", cycle).to_dicts()
            if row["wins"] and row["challenger_id"] == solver
        ]
        if won:
            rows = lake.read(LINE, "champion_trials", cycle).to_dicts()
            own = [
                row
                for row in rows
                if (row["champion_id"], row["challenger_id"]) == (won[0]["champion_id"], solver)
            ]
            trials = [{name: row[name] for name in OF_DUEL} for row in own]
            trials.sort(key=lambda row: (row["instance"], row["pair"], row["part"]))
            other = find_artifact(catalogue, won[0]["champion_id"])
            return {"cycle": cycle, "trials": trials}, {OTHER: lake.blobs.get(_archive(other))}
    return None, {}


def check(judging: Judging) -> Iterator[Said]:
    """Yield identity, every gate from layout to stability, and a sample of its runs with their models and
    proofs."""
    from evolake.solvers.repository.variant import read_card, source_sha

    claims = VariantClaims.model_validate(judging.bundle.read("claims.json"))
    _require_bearable(claims, judging.settings.of(SolversSettings))
    folder = unpacked(judging, SOURCES)
    made = source_sha(folder)
    yield Said(
        "identity",
        "holds" if made == judging.artifact_id else "fails",
        f"the sources have the id {made[:12]}",
    )
    if read_card(folder)["base"] != claims.base:
        yield Said(
            "identity",
            "fails",
            f"its card says that it descends from {read_card(folder)['base']}, and it claims {claims.base}",
        )
        return
    settings = judging.settings.model_copy(update={"lake": judging.cache or judging.settings.require_lake()})
    judging.progress("gates: sources are built and run on formulas with known answers")
    verified = _verified(folder, settings, judging)
    judged = verified.judged
    runs = ", ".join(f"{len(rows)} of {gate}" for gate, rows in judged.runs.items())
    yield from gates_again(
        judging, GATES, judged, f"{all_pass(GATES)}; runs: {runs}; models evaluated, proofs verified as drawn"
    )
    if judged.blocked_by is not None:
        return
    yield from run_again(judging, claims, verified, settings)
    yield from stated(judging, claims.duel, claims.settings, claims.root_seed, verified, settings)


def _require_bearable(claims: VariantClaims, here: SolversSettings) -> None:
    """Raise MachineryError if a run or the check of a proof would take more than this machine's settings
    allow any."""
    asked: dict[str, float] = dict.fromkeys(LIMITS, 0)
    if claims.duel is not None:
        asked |= SolversSettings.model_validate(claims.settings).model_dump(include=set(LIMITS))
    timed = [*claims.runs, *(claims.duel.trials if claims.duel else [])]
    asked["timeout_s"] = max((run.timeout_s for run in timed), default=0)
    asked["memory_mb"] = max(asked["memory_mb"], *(run.memory_mb for run in claims.runs), 0)
    require_allowed(LINE, asked, here.model_dump(include=set(LIMITS)))


def _verified(folder: Path, settings: Settings, judging: Judging) -> Verified:
    from evolake.solvers.gates.verifying import judge_folder

    try:
        return judge_folder(
            folder,
            settings=settings,
            ruleset=judging.asked,
            instances=settings.of(SolversSettings).smoke_instances,
        )
    except InputError as error:  # of the seed, the adapter or a suite that is installed here or is not
        raise MachineryError(
            f"its gates cannot be asked here: {error.what}", wanted=error.wanted, got=error.got, do=error.do
        ) from None


def run_again(
    judging: Judging, claims: VariantClaims, verified: Verified, settings: Settings
) -> Iterator[Said]:
    """Yield runs that are drawn of those on formulas that are installed here: generators make the very
    formulas, by their sha256."""
    from evolake.lake import Lake
    from evolake.solvers.repository.adapters import load_adapter
    from evolake.solvers.repository.build import open_program
    from evolake.solvers.repository.variant import read_card

    if not claims.runs:
        yield Said("benchmark runs", "unmeasured", "the bundle has none")
        return
    blobs, cache = Lake(settings.require_lake()).blobs, settings.require_lake() / "cache" / "solvers"
    known = _formulas({run.suite for run in claims.runs}, settings)
    here = [run for run in claims.runs if (run.suite, run.formula_sha) in known]
    if not here:
        suites = ", ".join(sorted({run.suite for run in claims.runs}))
        yield Said(
            "benchmark runs",
            "unmeasured",
            f"{len(claims.runs)}: the formulas of {suites} are not installed here",
            (0, len(claims.runs)),
        )
        return
    adapter = load_adapter(read_card(verified.folder)["adapter"], settings.seeds / "solvers" / "adapters")
    assert verified.judged.build is not None
    program = open_program(verified.judged.build, adapter, blobs, cache)
    chosen = judging.drawn(here)
    times: list[tuple[float, float]] = []
    undecided = 0
    for number, run in enumerate(chosen, 1):
        judging.progress(f"run {number} of {len(chosen)}: {run.instance}")
        row = _measured(run, known[run.suite, run.formula_sha], program, judging.artifact_id, settings, cache)
        if said := _objection(run, row):
            yield Said("benchmark runs", "fails", said)
            return
        if row["status"] in ANSWERS and run.status in ANSWERS:
            times.append((run.cpu_s, row["cpu_s"]))
        undecided += row["status"] != run.status
    claimed, measured = sum(before for before, _ in times), sum(now for _, now in times)
    spent = f"; {measured:.2f} s of processor time for the {claimed:.2f} s that are claimed" if times else ""
    late = f"; {undecided} ended otherwise near the time limit, which says nothing" if undecided else ""
    text = (
        f"{len(chosen)} of {len(claims.runs)}: same answers, models evaluated, proofs verified{spent}{late}"
    )
    yield Said("benchmark runs", "holds", text, (len(chosen), len(claims.runs)))


def _formulas(suites: set[str], settings: Settings) -> Mapping[tuple[str, str], Instance]:
    """(suite, sha256 of the formula) -> the formula, of the suites that are installed."""
    from evolake.lake import Lake
    from evolake.solvers.repository.seeding import seed_trees
    from evolake.solvers.suites.folders import is_folder, named_suite

    blobs, cache = Lake(settings.require_lake()).blobs, settings.require_lake() / "cache" / "solvers"
    trees = seed_trees(blobs, cache, seeds=settings.seeds / "solvers.toml")
    result: dict[tuple[str, str], Instance] = {}
    for name in sorted(suites):
        try:
            if "/" in name or ":" in name or is_folder(name, settings.seeds):
                continue  # formulas of the user's own, which a name from a stranger must not lead to
            suite = named_suite(name, blobs, cache / "formulas", seeds=settings.seeds, trees=trees)
        except InputError:
            continue
        result |= {(name, item.sha): item for item in suite.instances if item.sha}
    return result


def _measured(
    run: Run, instance: Instance, program: Any, variant: str, settings: Settings, cache: Path
) -> Mapping[str, Any]:
    from evolake.solvers.measurement.measuring import Job, measure

    sizes = settings.of(SolversSettings)
    return measure(
        Job(
            variant_id=variant,
            program=program,
            instance=instance,
            suite=run.suite,
            cycle="bundle",
            limits=run_limits(run.timeout_s, run.memory_mb, sizes.proof_mb),
            repeat=0,
            proof_share=1.0,
            second_checker=False,
            proof_limits=stage_limits(sizes).proof,
            verdicts=cache / "proofs",
        )
    )


def _objection(run: Run, row: Mapping[str, Any]) -> str:
    """Return what a run here says against the claim; "" for nothing."""
    said = (
        f"{run.instance}: it claims {run.status} in {run.cpu_s:.3g} s, and measured is {row['status']} in "
        f"{row['cpu_s']:.3g} s"
    )
    if row["status"] == "wrong" or row["proof_status"] in NO_PROOF:
        return (
            f"{said}, which {fault_of(row['status'], row['proof_status'])}: "
            f"{row['problems'] or row['proof_status']}"
        )
    if run.status not in ANSWERS or row["status"] == run.status:
        return ""
    near = row["status"] in ("timeout", "memory") and SLACK * run.cpu_s >= run.timeout_s
    return "" if near else said


BUNDLE = LineBundle(("variant",), (SOURCES, OTHER), GATE_NAMES, carry, check)
