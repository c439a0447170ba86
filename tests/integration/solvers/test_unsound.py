"""Who reads the label reads nothing; who guesses is found out, falls for good, and takes nobody along. Real
builds, runs, proofs and duels."""

import json
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from solver_gates import RULES, SEEDS, GatesProject, open_project, unlinted
from solver_memorizer import plant_memory
from solver_mutants import LABEL_READER, LATE_GUESSER, SILENT_GUESSER, plant

from evolake.gates import Verdict
from evolake.gates.checkers import apply
from evolake.reading.formula import read_cnf_file, write_dimacs
from evolake.seeds import CycleSeeds
from evolake.solvers.evolution.closing import UNTOLD, CycleResults, close_cycle
from evolake.solvers.evolution.cycle_benchmark import benchmark
from evolake.solvers.evolution.population import Population, RankedCycle, empty_population
from evolake.solvers.evolution.solver_contest import champion_after, decide_champion, measure_holdout
from evolake.solvers.evolution.workspace import Workspace
from evolake.solvers.execute import SMOKE_LIMITS, Program, RunLimits, run_solver
from evolake.solvers.gates.judging import objections, stage_judge, unsound_in, without
from evolake.solvers.gates.runs import GateRunner, carry_evidence, carry_runs, smoke_runs
from evolake.solvers.measurement.benchmark import MeasuringPlan, plan_jobs, run_jobs
from evolake.solvers.repository.build import build_variant, open_program
from evolake.solvers.repository.variant import archive_variant, source_sha
from evolake.solvers.settings import SolversSettings
from evolake.solvers.suites import Instance, Suite, with_files
from evolake.solvers.suites.fresh import carried_suite
from evolake.solvers.suites.generators import planted_ksat
from evolake.solvers.tables import RACES, VARIANTS

SETTINGS = SolversSettings(
    seeds=["minisat22"],
    timeout_s=10,
    memory_mb=1024,
    train_instances=3,
    holdout_instances=1,
    holdout_repeats=1,
    smoke_instances=12,
    challengers=1,
    pairs=1,
    proof_mb=128,
)
LOOKED_AT = ("instance", "status", "answer", "conflicts", "decisions", "propagations")


@dataclass(frozen=True)
class Arena:
    """A workspace, and rows of VARIANTS by name."""

    project: GatesProject
    workspace: Workspace
    rows: Mapping[str, dict[str, Any]]

    def program(self, name: str) -> Program:
        return self.workspace.program(self.rows[name])

    def name(self, variant_id: str) -> str:
        return next(name for name, row in self.rows.items() if row["variant_id"] == variant_id)


@pytest.fixture(scope="module")
def arena(tmp_path_factory, requires) -> Arena:
    project = open_project(tmp_path_factory.mktemp("unsound"))
    folders = {"seed": project.seed("minisat22")}
    for mutant in (LABEL_READER, LATE_GUESSER, SILENT_GUESSER):
        folders[mutant.name] = project.copy(mutant.base, mutant.name)
        plant(mutant, folders[mutant.name])
    rows = {name: _row(name, folder, project) for name, folder in folders.items()}
    workspace = Workspace(
        project.context.blobs,
        project.root / "work",
        SEEDS,
        SETTINGS,
        0,
        {"minisat22": rows["seed"]},
        lambda name: pytest.fail(f"{name} is not needed"),
    )
    return Arena(project, workspace, rows)


def _row(name: str, folder: Path, project: GatesProject) -> dict[str, Any]:
    return dict.fromkeys(VARIANTS.columns) | {
        "variant_id": source_sha(folder),
        "state": "accepted",
        "cycle": "0000" if name == "seed" else "0001",
        "title": name,
        "base": "minisat22",
        "operator": "seed" if name == "seed" else "diff",
        "origin": "test",
        "hypothesis": name,
        "changed": "",
        "parents": [],
        "archive_sha": archive_variant(folder, project.context.blobs),
        "diff_sha": project.context.blobs.put(b""),
        "evidence": "{}",
        "repairs": 0,
        "objections": [],
    }


def test_who_reads_the_label_finds_none(arena):
    suite, train = arena.project.context.smoke, arena.workspace.suite("train")
    rows = {}
    for name in ("seed", LABEL_READER.name):
        program = arena.program(name)
        plan, runner = (
            MeasuringPlan(arena.workspace.limits.run, proof_share=0.0),
            GateRunner(name, program, "0001", SMOKE_LIMITS),
        )
        with ThreadPoolExecutor(2) as executor:
            rows[name] = [
                *smoke_runs(runner, Suite("smoke", suite.instances[-9:]), cache=arena.project.root / "cache"),
                *run_jobs(plan_jobs({name: program}, train, plan, cycle="0001"), executor).to_dicts(),
            ]
    assert _seen(rows[LABEL_READER.name]) == _seen(rows["seed"]), (
        "it searches as its base does, whatever is expected"
    )
    assert {row["expected"] for row in rows["seed"]} == {"SAT", "UNSAT"}
    there = train.instances[0].path
    assert there is not None
    run = run_solver(
        arena.program(LABEL_READER.name), there, RunLimits(), scratch=arena.project.root / "scratch"
    )
    assert run.counters["conflicts"] != next(
        row["conflicts"] for row in rows["seed"] if row["instance"] == train.instances[0].name
    ), "it can differ"


def _seen(rows: Sequence[Mapping[str, Any]]) -> list[list[Any]]:
    return [[row[name] for name in LOOKED_AT] for row in rows]


@pytest.mark.parametrize("mutant", [LATE_GUESSER, SILENT_GUESSER], ids=lambda mutant: mutant.name)
def test_a_guesser_passes_the_gates_counts_for_nothing_and_is_unsound_for_good(mutant, arena):
    row, workspace = arena.rows[mutant.name], arena.workspace
    if mutant is LATE_GUESSER:
        judged = arena.project.quick.judge(workspace.folder(row["archive_sha"]), "minisat22", unlinted())
        assert judged.accepted, judged.feedback
    population = empty_population().add(variants=[arena.rows["seed"]])
    with ThreadPoolExecutor(2) as executor:
        runs = benchmark(workspace, population, [row], executor, cycle="0001")
    guessed = runs.filter((pl.col("variant_id") == row["variant_id"]) & (pl.col("answer") == "UNSAT"))
    assert guessed.height == 3, "it says UNSAT of all three"
    assert not guessed["solved"].any()
    assert set(guessed["proof_status"]) <= {"refuted", "missing", "unchecked"}
    verdicts = stage_judge("benchmark", RULES, workspace.blobs, cycle="0001", run_id="test")(runs.to_dicts())
    assert unsound_in(verdicts) == {row["variant_id"]}
    [said] = [verdict for verdict in verdicts if verdict.outcome == "block"]
    assert (said.gate, said.rule_id) == ("benchmark", "solvers-benchmark-sound")
    assert said.evidence_sha is not None and workspace.blobs.has(said.evidence_sha)
    closed = _close(arena, population, [row], runs, verdicts, [])
    assert {arena.name(item["variant_id"]): item["state"] for item in closed.rows()} == {
        "seed": "champion",
        mutant.name: "blocked",
    }
    assert closed.row(row["variant_id"])["rule_id"] == "solvers-benchmark-sound"
    assert set(closed.runs["variant_id"]) == {arena.rows["seed"]["variant_id"]} and closed.ranking.height == 1


def test_who_is_found_unsound_in_a_race_fights_no_duel(arena):
    guesser, seed, reader = (arena.rows[name] for name in (LATE_GUESSER.name, "seed", LABEL_READER.name))
    settings = arena.workspace.settings.model_copy(
        update={"race_entrants": 4, "race_formulas": 3, "challengers": 1}
    )
    workspace = replace(arena.workspace, settings=settings)
    population = (
        empty_population().add(variants=[seed, guesser, reader]).with_states({seed["variant_id"]: "champion"})
    )
    ranking = [_ranked(row, place) for place, row in enumerate((guesser, reader, seed), 1)]
    judge = stage_judge("duel", RULES, workspace.blobs, cycle="0008", run_id="test")
    said: list[str] = []
    with ThreadPoolExecutor(2) as executor:
        selection = decide_champion(
            workspace,
            RankedCycle(population, [], ranking),
            executor,
            seeds=CycleSeeds(0, "solvers", "0008"),
            judge=judge,
            say=said.append,
        )
    assert len(said) == 1 and " formulas " in said[0], "which gain the duels can show, before them"
    races = RACES.frame(selection.races)
    assert set(races["variant_id"]) == {guesser["variant_id"], reader["variant_id"]}
    assert set(races.filter("survives")["variant_id"]) <= {reader["variant_id"]}, (
        "it is as fast as the champion, so that noise decides"
    )
    assert set(races.filter(pl.col("stopped").is_not_null())["variant_id"]) >= {guesser["variant_id"]}
    assert guesser["variant_id"] in unsound_in(selection.verdicts)
    assert guesser["variant_id"] not in {row["challenger_id"] for row in selection.decisions}
    assert selection.champion_id != guesser["variant_id"]
    raced = {name for names in races["instances"].to_list() for name in names}
    assert raced.isdisjoint(row["instance"] for row in selection.trials)


def test_a_champion_that_is_found_unsound_in_a_later_duel_falls_and_the_next_one_reigns(arena):
    guesser, seed, reader, workspace = (
        arena.rows[LATE_GUESSER.name],
        arena.rows["seed"],
        arena.rows[LABEL_READER.name],
        arena.workspace,
    )
    population = (
        empty_population()
        .add(variants=[seed, guesser, reader])
        .with_states({guesser["variant_id"]: "champion"})
    )
    ranking = [_ranked(row, place) for place, row in enumerate((guesser, reader, seed), 1)]
    judge = stage_judge("duel", RULES, workspace.blobs, cycle="0007", run_id="test")
    with ThreadPoolExecutor(2) as executor:
        selection = decide_champion(
            workspace,
            RankedCycle(population, [], ranking),
            executor,
            seeds=CycleSeeds(0, "solvers", "0007"),
            judge=judge,
        )
    assert unsound_in(selection.verdicts) == {guesser["variant_id"]}
    assert selection.champion_id != guesser["variant_id"] and selection.changed
    assert guesser["variant_id"] not in {row["champion_id"] for row in selection.decisions if row["wins"]}
    closed = _close(
        arena, population, [], shop_runs(), selection.verdicts, selection.decisions, ranking, cycle="0007"
    )
    states = {arena.name(item["variant_id"]): item["state"] for item in closed.rows()}
    assert (
        states[LATE_GUESSER.name] == "blocked"
        and arena.name(selection.champion_id) == closed.rows("champion")[0]["title"]
    )
    assert guesser["variant_id"] not in closed.live_ids() and guesser["variant_id"] not in set(
        closed.ranking["variant_id"]
    )
    assert closed.row(guesser["variant_id"])["gate"] == "duel"


def test_a_champion_that_is_refuted_on_the_holdout_falls_and_no_role_reads_by_what(arena):
    guesser, seed, workspace = arena.rows[LATE_GUESSER.name], arena.rows["seed"], arena.workspace
    population = (
        empty_population().add(variants=[seed, guesser]).with_states({guesser["variant_id"]: "champion"})
    )
    ranking = [_ranked(row, place) for place, row in enumerate((guesser, seed), 1)]
    judge = stage_judge("holdout", RULES, workspace.blobs, cycle="0003", run_id="test")
    with ThreadPoolExecutor(2) as executor:
        runs, verdicts = measure_holdout(
            workspace, RankedCycle(population, [], ranking), [], executor, cycle="0003", judge=judge
        )
    assert unsound_in(verdicts) == {guesser["variant_id"]}
    assert {arena.name(name) for name in runs["variant_id"]} == {"seed", LATE_GUESSER.name}
    closed = _close(arena, population, [], shop_runs(), verdicts, [], ranking, cycle="0003")
    assert closed.rows("champion")[0]["title"] == "seed"
    assert closed.row(guesser["variant_id"])["reason"] == UNTOLD


def test_a_seed_that_is_found_unsound_stays_a_base(arena):
    seed, other = arena.rows["seed"], arena.rows[LABEL_READER.name]
    population = empty_population().add(variants=[seed, other]).with_states({other["variant_id"]: "champion"})
    objection = {
        "artifact_id": seed["variant_id"],
        "gate_no": 5,
        "gate": "benchmark",
        "rule_id": "r",
        "outcome": "block",
        "reason": "x",
    }
    closed = _close(arena, population, [], shop_runs(), [objection], [], [_ranked(other, 1)])
    assert (
        [row["variant_id"] for row in closed.seeds()]
        == [seed["variant_id"]]
        == [closed.seed_of("minisat22")["variant_id"]]
    )
    assert closed.live_ids() == [other["variant_id"]]
    assert closed.row(seed["variant_id"])["state"] == "blocked"


def test_who_reigns_when_the_winner_is_unsound():
    population = empty_population().add(
        variants=[
            dict.fromkeys(VARIANTS.columns) | {"variant_id": "old", "state": "champion", "operator": "seed"}
        ]
    )
    decisions = [
        {"champion_id": "old", "challenger_id": name, "wins": wins, "ratio": ratio}
        for name, wins, ratio in (("best", True, 2.0), ("good", True, 1.5), ("poor", False, 0.9))
    ]
    ranked = RankedCycle(population, [], [])
    after = [
        champion_after(ranked, decisions, unsound)
        for unsound in ((), {"best"}, {"best", "good"}, {"best", "good", "poor"})
    ]
    assert after == ["best", "good", "old", "old"]


def shop_runs() -> pl.DataFrame:
    from evolake.solvers.tables import RUNS

    return RUNS.empty()


def _ranked(row: Mapping[str, Any], place: int) -> dict[str, Any]:
    return {
        "variant_id": row["variant_id"],
        "cycle": "0001",
        "rank": place,
        "consensus": place / 10,
        "visits": 1.0,
        "ucb": 0.0,
        "solved": 1.0,
        "par2": 1.0,
        "wrong": 0,
    }


def _close(
    arena: Arena,
    population: Population,
    variants: Sequence[Mapping[str, Any]],
    runs: pl.DataFrame,
    verdicts: Sequence[Verdict | Mapping[str, Any]],
    decisions: Sequence[Mapping[str, Any]],
    ranking: Sequence[Mapping[str, Any]] | None = None,
    *,
    cycle: str = "0001",
) -> Population:
    """The population after a cycle in which only this happened."""
    from evolake.solvers.measurement.metrics import compute_metrics

    said = [verdict.row() if isinstance(verdict, Verdict) else verdict for verdict in verdicts]
    sound = without(runs, objections(said))
    measured = compute_metrics(sound).to_dicts() if sound.height else []
    ranked = ranking or [_ranked(arena.rows["seed"], 1)]
    added: dict[str, list[Any]] = {
        name: []
        for name in ("objectives", "rule_proposals", "attempts", "derivations", "findings", "holdout")
    }
    results = CycleResults(runs, measured, decisions, json.loads(json.dumps(said)))
    return close_cycle(
        arena.workspace, RankedCycle(population, variants, ranked), results, added, cycle=cycle
    )


# A variant that knows its training formulas by heart is blocked, and gains nothing in a duel. Real builds
# and runs.


SECRET = bytes(range(32))
LIMITS = RunLimits(cpu_s=10, wall_s=120, memory_mb=1024)


@pytest.fixture(scope="module")
def project(tmp_path_factory) -> GatesProject:
    return open_project(tmp_path_factory.mktemp("memorizer"))


def training(project: GatesProject, count: int = 10) -> Suite:
    """Satisfiable formulas of some tenths of a second each."""
    blobs = project.context.blobs
    formulas = {f"train-{seed}": planted_ksat(54, 1134, 5, seed) for seed in range(count)}
    items = tuple(
        Instance(name, "planted-5", "SAT", blobs.put(write_dimacs(formula)), base=name)
        for name, formula in formulas.items()
    )
    return with_files(Suite("train", items), blobs, project.context.cache)


def built(project: GatesProject, folder: Path) -> Program:
    adapter = project.adapter("minisat22")
    result = build_variant(folder, adapter, project.context.blobs)
    assert result.ok, result.reason
    return open_program(result, adapter, project.context.blobs, project.context.cache)


def test_a_table_of_models_does_not_carry_over(project, tmp_path, requires):
    """Ten models are few numbers, and every answer is right: no rule on sources and no other gate objects."""
    requires("c++")
    suite = training(project)
    seed = built(project, project.seed("minisat22"))
    known = []
    for item in suite.instances:
        assert item.path is not None
        run = run_solver(seed, item.path, LIMITS, scratch=tmp_path)
        assert run.model is not None
        known.append((read_cnf_file(item.path), run.model))
    carried = carried_suite(
        suite, project.context.blobs, project.context.cache, secret=SECRET, root_seed=0, count=10, copies=2
    )
    project = replace(
        project,
        context=replace(
            project.context, carried=carried, smoke=project.context.smoke.first(12), correctness_limits=LIMITS
        ),
    )
    folder = project.copy("minisat22", "memorizer")
    assert set(plant_memory(folder, known)) == {"src/core/Solver.h", "src/core/Solver.cc"}
    for name in ("HYPOTHESIS.md", "CHANGELOG.md"):
        (folder / name).write_text(
            "# Better phases\n\nThe first phase of each variable is chosen with care.\n"
        )
    judged = project.judge(folder, "minisat22")
    assert judged.blocked_by is not None and judged.blocked_by.rule_id == "solvers-stability-carried-over", (
        judged.feedback
    )
    assert "its gain does not carry over" in judged.blocked_by.reason
    mine = carry_evidence([row for row in judged.runs["stability"] if row["suite"] == "carried"])
    theirs = carry_evidence(carry_runs(GateRunner("seed", seed, "0001", LIMITS), carried))
    gain = sum(row["original"] for row in theirs) / sum(row["original"] for row in mine)
    assert gain > 4, "it gains nothing by heart, so that blocking it shows nothing"
    rule = next(rule for rule in RULES.rules if rule.id == "solvers-stability-carried-over")
    assert apply(rule.check, {"carried": theirs, "base_carried": []}, rule.parameters) is None
