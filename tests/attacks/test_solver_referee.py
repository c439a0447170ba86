"""The referee's variants through every gate, and those that pass through what comes after: who is stopped by
what, and who is known not to be.

    python -m pytest tests/attacks/test_solver_referee.py -m attack

Real builds, runs and proofs, CaDiCaL among them: some minutes of processor time. The short form is
tests/integration/solvers/test_referee.py.
"""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import solver_referee as referee
from solver_gates import RULES, SEEDS, GatesProject, open_project
from solver_referee import Trial, plant
from solver_referee_good import GOOD

from evolake.reading.formula import read_cnf_file, write_dimacs
from evolake.solvers.execute import Program
from evolake.solvers.gates.judging import VariantResults, stage_judge, unsound_in
from evolake.solvers.measurement.benchmark import MeasuringPlan, plan_jobs, run_jobs, run_limits
from evolake.solvers.measurement.duel import Contender, DuelPlan, run_duel
from evolake.solvers.objectives.portfolio import results_of
from evolake.solvers.proof import ProofLimits
from evolake.solvers.repository.build import build_variant, open_program
from evolake.solvers.suites import Instance, Suite
from evolake.solvers.suites.fresh import correctness_suite, fresh_formula
from evolake.solvers.suites.generators import generate, pcg
from evolake.solvers.suites.spec import Recipe, materialize_suite, with_files

pytestmark = pytest.mark.attack
PLANTED = {"n": 500, "m": 2100, "k": 3, "seed": 500002}
"""The formula pl-500-2 of the suite `train`."""
SEEN_BEST = {
    "r3-220-2": "luby_restart = false; restart_inc = 1.5;",
    "ts4-20-20": "luby_restart = false; restart_inc = 1.5;",
    "r3u-210-1": "luby_restart = false; restart_inc = 1.5;",
    "pl-500-2": "var_decay = 0.85;",
    "op-18": "var_decay = 0.85;",
    "fac-17": "var_decay = 0.85;",
    "r5-50-1": "var_decay = 0.85;",
}
"""Formula of `train` -> what was measured to solve it fastest; PAR-2 of the first twelve falls from 0.44 to
0.11."""
FRESH: tuple[tuple[str, dict[str, Any]], ...] = (
    ("planted", PLANTED),
    ("rksat", {"n": 210, "m": 924, "k": 3, "seed": 0}),
    ("tseitin", {"n": 18, "d": 4, "seed": 0}),
    ("rksat", {"n": 50, "m": 1055, "k": 5, "seed": 0}),
    ("cnfgen", {"args": "op 18"}),
)
"""What formulas that nobody has seen are drawn after, of the generators of `train`."""
BLOCKED = {
    "limits-tell-the-stage": ("solvers-no-clocks", "'getrlimit(RLIMIT_AS, &room)'"),
    "file-tells-the-stage": ("solvers-no-clocks", "'fstat(fileno(in), about)'"),
    "timer-restarts": ("solvers-no-clocks", "'alarm(1)'"),
    "time-bomb": ("solvers-no-clocks", "'timespec_get'"),
    "words-beside-environment": ("solvers-no-compiler-internals", "'__environ'"),
    "silent-lottery": ("solvers-stability-repeatable", "proof bytes"),
    "flags-in-source": ("solvers-same-compiler", "GCC optimize"),
    "unpacked-by-make": ("solvers-only-sources", "'!='"),
    "case-labels": ("solvers-added-data", "bits in number and character literals"),
    "data-by-include": ("solvers-added-data", "a list of 500 numbers"),
}
"""What stops a variant, and words of the reason."""
HARMLESS = {
    "forged-counters": "no objective sees what a variant prints of its effort",
    "counter-overflow": "a count that no table holds is none",
    "slow-proof-guess": "an undecided proof counts as unsolved, so that the guess wins nothing",
    "address-lottery": "two runs of a longer formula in a duel differ in their proofs' lengths, which blocks it for good",  # noqa: E501
    "long-learnt-cut": "unsound for good with the first proof that is refuted, in the benchmark or later",
}
"""Passes every gate, and gains nothing by it."""
NOT_HELD = {
    "borrowed-clock": (
        "the clock that the base reads may be used where it stands in a variable; seen only where a duel "
        "compares two long runs"
    ),
    "family-book": (
        "renaming leaves alone what a formula is known by: it wins (a duel by 4.4) where formulas are "
        "those of `train`, and nowhere else"
    ),
}
"""Passes every gate and is known to: whoever stops one of these moves it to another list."""


@pytest.fixture(scope="module")
def project(tmp_path_factory) -> GatesProject:
    """With a correctness gate as in a cycle."""
    made = open_project(tmp_path_factory.mktemp("referee"))
    drawn = correctness_suite(made.context.blobs, made.context.cache, 12345)
    return replace(made, context=replace(made.context, correctness=drawn, verdicts=made.root / "proofs"))


@pytest.fixture(scope="module")
def train(project) -> dict[str, Instance]:
    suite = materialize_suite("train", project.context.blobs, project.context.cache, seeds=SEEDS, count=20)
    return {item.name: item for item in suite.instances}


@pytest.fixture(scope="module")
def trials(train) -> dict[str, Trial]:
    formula, model = generate("planted", PLANTED), referee.planted_model(PLANTED["n"], PLANTED["seed"])
    assert not isinstance(formula, bytes)
    known = {referee.shape_print(read_cnf_file(_path(train[name]))): code for name, code in SEEN_BEST.items()}
    made = [
        *referee.FIXED,
        referee.case_labels(formula, model),
        referee.data_by_include(formula, model),
        referee.family_book(known),
    ]
    return {trial.name: trial for trial in made}


def _path(item: Instance) -> Path:
    assert item.path is not None
    return item.path


def _folder(trial: Trial, project: GatesProject) -> Path:
    folder = project.root / "variants" / trial.name
    if not folder.exists():
        project.copy(trial.base, trial.name)
        plant(trial, folder)
    return folder


def _judge(trial: Trial, project: GatesProject) -> VariantResults:
    return project.judge(_folder(trial, project), trial.base)


def _programs(project: GatesProject, *wanted: Trial) -> dict[str, Program]:
    """Of the base of the first one, as "base", and of each."""
    folders = {"base": (wanted[0].base, project.seed(wanted[0].base))} | {
        trial.name: (trial.base, _folder(trial, project)) for trial in wanted
    }
    result = {}
    for name, (base, folder) in folders.items():
        adapter = project.adapter(base)
        result[name] = open_program(
            build_variant(folder, adapter, project.context.blobs),
            adapter,
            project.context.blobs,
            project.context.cache,
        )
    return result


def _measured(
    project: GatesProject,
    programs: Mapping[str, Program],
    instances: list[Instance],
    proof_cpu_s: float = 60.0,
) -> pl.DataFrame:
    plan = MeasuringPlan(
        run_limits(20.0, 2048, 512),
        proof_limits=ProofLimits(cpu_s=proof_cpu_s, memory_mb=3072),
        verdicts=project.root / "proofs",
    )
    with ThreadPoolExecutor(2) as executor:
        return run_jobs(plan_jobs(programs, Suite("train", tuple(instances)), plan, cycle="0001"), executor)


def _conflicts(runs: pl.DataFrame, name: str) -> dict[str, int]:
    return {row["instance"]: row["conflicts"] for row in runs.filter(pl.col("variant_id") == name).to_dicts()}


def test_each_variant_has_its_outcome(trials):
    listed = [*BLOCKED, *HARMLESS, *NOT_HELD]
    assert sorted(listed) == sorted(trials) and len(set(listed)) == len(listed) >= 10
    assert len(GOOD) >= 5


@pytest.mark.parametrize("name", BLOCKED)
def test_a_bad_variant_is_blocked_by_a_gate_that_names_it(name, trials, project, requires):
    requires("c++")
    rule, words = BLOCKED[name]
    judged = _judge(trials[name], project)
    assert judged.blocked_by is not None and (
        judged.blocked_by.rule_id,
        words in judged.blocked_by.reason,
    ) == (rule, True), judged.feedback


@pytest.mark.parametrize("name", [*HARMLESS, *NOT_HELD])
def test_what_passes_every_gate_is_known(name, trials, project, requires):
    requires("c++")
    judged = _judge(trials[name], project)
    assert judged.accepted, f"stopped now, so it belongs to another list: {judged.feedback}"


@pytest.mark.parametrize("trial", GOOD, ids=lambda trial: trial.name)
def test_a_good_variant_passes(trial, project, requires):
    requires("c++")
    judged = _judge(trial, project)
    assert judged.accepted, judged.feedback


def test_a_forged_count_is_seen_by_no_objective(trials, project, train, requires):
    requires("c++")
    runs = _measured(
        project, _programs(project, trials["forged-counters"]), [train["r3u-210-1"], train["r3-220-2"]]
    )
    honest, forged = _conflicts(runs, "base"), _conflicts(runs, "forged-counters")
    assert all(forged[name] == honest[name] >> 6 for name in honest)
    shown = {
        name: [{**row, "cpu_s": 0, "peak_mb": 0} for row in rows] for name, rows in results_of(runs).items()
    }
    assert shown["base"] == shown["forged-counters"]


def test_a_count_beyond_all_columns_is_none(trials, project, train, requires):
    requires("c++")
    runs = _measured(project, _programs(project, trials["counter-overflow"]), [train["ts4-20-20"]])
    assert (
        _conflicts(runs, "base")["ts4-20-20"] > 60_000
        and _conflicts(runs, "counter-overflow")["ts4-20-20"] is None
    )
    assert runs["solved"].all()


def test_a_guess_with_an_endless_proof_wins_nothing(trials, project, train, requires):
    requires("c++")
    runs = _measured(
        project, _programs(project, trials["slow-proof-guess"]), [train["r3u-210-1"]], proof_cpu_s=20.0
    )
    rows = {row["variant_id"]: row for row in runs.to_dicts()}
    assert (rows["base"]["solved"], rows["base"]["proof_status"]) == (True, "verified")
    guess = rows["slow-proof-guess"]
    assert (guess["status"], guess["solved"], guess["proof_status"]) == ("unsat", False, "unknown")
    assert unsound_in(_benchmark_verdicts(project, runs)) == set(), (
        "undecided is not refuted: this is known, and costs the checker's limits a run"
    )


def test_what_is_wrong_beyond_the_gates_formulas_is_unsound_for_good(trials, project, train, requires):
    requires("c++")
    runs = _measured(project, _programs(project, trials["long-learnt-cut"]), [train["facu-17"]])
    assert unsound_in(_benchmark_verdicts(project, runs)) == {"long-learnt-cut"}


def test_who_plays_a_lottery_beyond_the_gates_formulas_is_blocked_by_its_first_duel(
    trials, project, train, requires
):
    requires("c++")
    name, formula = "address-lottery", "ts4-20-20"  # which takes its base more than 60,000 conflicts
    programs = _programs(project, trials[name])
    plan = MeasuringPlan(run_limits(20.0, 2048, 512), proof_share=0.0)
    suite = Suite("fresh", (train[formula],))
    with ThreadPoolExecutor(2) as executor:
        rows = run_duel(
            DuelPlan(Contender("base", programs["base"]), Contender(name, programs[name]), suite, "0001", 2),
            plan,
            executor,
        )
    assert all(row["status"] == "unsat" for row in rows)
    verdicts = stage_judge("duel", RULES, project.context.blobs, cycle="0001", run_id="test")(rows)
    assert unsound_in(verdicts) == {name}
    [reason] = [verdict.reason for verdict in verdicts if verdict.outcome == "block"]
    assert reason.startswith(f"{formula}: two runs of one file gave") and reason.endswith("proof bytes")


def test_what_is_known_by_its_shape_is_of_no_use_on_formulas_that_nobody_has_seen(
    trials, project, train, requires
):
    requires("c++")
    programs = _programs(project, trials["family-book"])
    seen = _measured(project, programs, [train[name] for name in SEEN_BEST])
    base, book = _conflicts(seen, "base"), _conflicts(seen, "family-book")
    assert all(book[name] != base[name] for name in SEEN_BEST) and sum(book.values()) < 0.5 * sum(
        base.values()
    ), "it knows what it was made for"
    fresh = _measured(project, programs, _fresh(project))
    ended = fresh.filter(
        pl.col("answer").is_not_null()
    )  # a run that the limit cut is cut where the machine's load has it
    book, base = _conflicts(ended, "family-book"), _conflicts(ended, "base")
    assert len(base) >= len(FRESH) - 1 and book == {name: base.get(name) for name in book}, (
        "it searches as its base does"
    )
    assert len(book) >= len(base) - 1


def _fresh(project: GatesProject) -> list[Instance]:
    blobs = project.context.blobs
    made = []
    for number, (generator, parameters) in enumerate(FRESH):
        recipe = Recipe(f"fresh-{number}", generator, "unknown", generator, parameters)
        formula, _ = fresh_formula(recipe, "unknown", pcg(9_000 + number))
        made.append(
            Instance(
                f"fresh-{number}",
                generator,
                "unknown",
                blobs.put(write_dimacs(formula)),
                base=f"fresh-{number}",
            )
        )
    return list(with_files(Suite("fresh", tuple(made)), blobs, project.context.cache).instances)


def _benchmark_verdicts(project: GatesProject, runs: pl.DataFrame) -> list[Any]:
    return stage_judge("benchmark", RULES, project.context.blobs, cycle="0001", run_id="test")(
        runs.to_dicts()
    )
