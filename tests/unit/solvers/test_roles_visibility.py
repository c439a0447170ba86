"""What roles may see: PAR-2 only from its cycle on, results of the suite holdout never."""

import json
from pathlib import Path
from types import SimpleNamespace

import pytest
from solver_runs import run_row

from evolake.agents import Agents
from evolake.agents.prompts import build_messages
from evolake.agents.roles import Job, OperatorsBackend
from evolake.errors import InputError
from evolake.gates import load_rules
from evolake.jail import open_pool
from evolake.seeds import CycleSeeds
from evolake.solvers.edits import Edit
from evolake.solvers.evolution.objective_evolution import evolve_objectives
from evolake.solvers.evolution.planning import (
    Base,
    KnownVariant,
    SearchRecord,
    parent_pool,
    plan_variants,
    standings,
)
from evolake.solvers.evolution.planning_facts import family_results
from evolake.solvers.evolution.population import empty_population
from evolake.solvers.evolution.post_mortem import Evaluated, attempt_of, post_mortem
from evolake.solvers.roles.review_models import ObjectiveReply
from evolake.solvers.roles.shown import ShownRules, rule_texts, rules_to_show
from evolake.solvers.rules.learned import StoredVariant, decide
from evolake.solvers.settings import SolversSettings
from evolake.solvers.suites.folders import suite_title
from evolake.solvers.tables import RUNS

PAR2 = 987.654321
SEEDS = Path(__file__).parents[3] / "data_lake" / "seeds"
SETTINGS = SolversSettings(par2_hidden_until=33, variants_per_cycle=3)
IDS = [f"{number}" * 64 for number in (1, 2, 3)]


class Listening(OperatorsBackend):
    """The operators, with every request kept."""

    def __init__(self) -> None:
        super().__init__("0001")
        self.jobs: list[Job] = []

    def ask(self, job, record):
        self.jobs.append(job)
        return super().ask(job, record)

    def texts(self) -> list[str]:
        """Every request as its model would see it, and as the operators do."""
        return [
            build_messages(job.role, job.request)[1]["content"] + job.request.model_dump_json()
            for job in self.jobs
        ]


def metrics(variant_id: str, suite: str = "train", solved: float = 12.0) -> dict:
    return {
        "variant_id": variant_id,
        "suite": suite,
        "instances": 20,
        "solved": solved,
        "solved_sat": 6.0,
        "solved_unsat": 6.0,
        "par2": PAR2,
        "par2_sat": PAR2,
        "par2_unsat": PAR2,
        "vbs_match": 3,
        "wrong": 0,
        "memory_mean_mb": 40.0,
        "solved_within_6": 4.0,
    }


def ranking(variant_id: str, rank: int) -> dict:
    return {
        "variant_id": variant_id,
        "rank": rank,
        "consensus": 0.2,
        "ucb": 0.5,
        "visits": 1.0,
        "solved": 12.0,
        "par2": PAR2,
        "wrong": 0,
    }


def known(tmp_path: Path) -> list[KnownVariant]:
    return [KnownVariant(name, "minisat22", "seed", "seed", tmp_path, ()) for name in IDS]


def plan(
    tmp_path: Path,
    small_solver_folder: Path,
    cycle: str,
    backend: Listening,
    rows: list[dict],
    settings: SolversSettings = SETTINGS,
):
    adapter = SimpleNamespace(name="minisat22", tunables="minisat-options", editable=("src/**/*",))
    pool = parent_pool(
        known(tmp_path),
        {"minisat22": Base("minisat22", small_solver_folder, adapter)},
        ranking=[ranking(name, number) for number, name in enumerate(IDS, start=1)],
        metrics=rows,
        settings=settings,
        cycle=cycle,
    )
    with Agents(backend, line="solvers", cycle=cycle) as agents:
        return plan_variants(
            agents,
            pool,
            SearchRecord(),
            ShownRules(),
            settings=settings,
            seeds=CycleSeeds(1, "solvers", cycle),
        )


@pytest.fixture
def small_solver_folder(tmp_path) -> Path:
    folder = tmp_path / "base"
    (folder / "src/core").mkdir(parents=True)
    declared = 'static DoubleOption d (g, "var-decay", "t", 0.95, DoubleRange(0, false, 1, false));\n'
    (folder / "src/core/Solver.cc").write_text(declared + "double decay() { return d; }\n")
    (folder / "RESULTS.md").write_text(f"PAR-2 {PAR2}")
    return folder


@pytest.mark.parametrize(
    ("cycle", "shown"), [("0001", False), ("0032", False), ("0033", True), ("0034", True)]
)
def test_par2_is_hidden_from_the_planner_before_its_cycle(tmp_path, small_solver_folder, cycle, shown):
    backend = Listening()
    planned = plan(tmp_path, small_solver_folder, cycle, backend, [metrics(name) for name in IDS])
    assert len(planned.rows) == 3
    (text,) = backend.texts()
    assert (str(PAR2) in text) is shown
    assert "solved" in text


@pytest.mark.parametrize(
    ("chosen", "title"),
    [
        ("holdout", "holdout"),
        ("quick-holdout", "quick-holdout"),
        ("hard-holdout", "hard-holdout"),
        ("/formulas/of-2024", "competition:of-2024"),
    ],
)
def test_a_row_of_the_holdout_suite_stops_every_way_into_a_request(
    tmp_path, small_solver_folder, chosen, title
):
    settings = SolversSettings.model_validate(SETTINGS.model_dump() | {"holdout_suite": chosen})
    row, backend = metrics(IDS[0], title), Listening()
    with pytest.raises(InputError, match=title):
        plan(tmp_path, small_solver_folder, "0040", backend, [row], settings)
    with pytest.raises(InputError, match=title):
        standings(
            known(tmp_path), ranking=[], metrics=[metrics(IDS[1]), row], settings=settings, cycle="0040"
        )
    child = evaluated(IDS[0], [], measured=row)
    with Agents(backend, line="solvers", cycle="0040") as agents, pytest.raises(InputError, match=title):
        post_mortem(agents, [child], settings=settings, cycle="0040", root_seed=1)
    with pytest.raises(InputError, match=title):
        attempt_of(child, 3, settings)
    with pytest.raises(InputError, match=title):
        family_results(
            RUNS.frame([run_row(IDS[0], "f", "sat", 1.0, suite=title)]), [], settings=settings, cycle="0040"
        )
    runs = RUNS.frame([run_row(IDS[0], "f", "sat", 1.0), run_row(IDS[0], "f", "sat", 1.0, suite=title)])
    with (
        Agents(backend, line="solvers", cycle="0040") as agents,
        open_pool(workers=1, preload=("numpy",)) as pool,
    ):
        population = empty_population()
        population = population.add(
            objectives=evolve_objectives(
                agents, population, runs, pool, settings=settings, cycle="0001", root_seed=1
            ).rows
        )
        with pytest.raises(InputError, match=title):
            evolve_objectives(agents, population, runs, pool, settings=settings, cycle="0040", root_seed=1)
    assert backend.jobs == []


def test_the_title_that_runs_on_the_holdout_bear_is_one_that_the_guard_knows(tmp_path):
    folder = tmp_path / "of-2024"
    folder.mkdir()
    (folder / "one.cnf").write_text("p cnf 1 1\n1 0\n")
    for chosen in ("holdout", "quick-holdout", "hard-holdout", str(folder)):
        assert suite_title(chosen, SEEDS) in SolversSettings(holdout_suite=chosen).held_out


@pytest.mark.parametrize("name", ["train_suite", "duel_suite", "correctness_suite"])
def test_a_suite_that_bears_the_name_of_the_holdout_is_refused(name):
    for first, other in (("hard-holdout", "hard-holdout"), ("/a/formulas", "/b/formulas")):
        with pytest.raises(ValueError, match=f"holdout_suite bears the name of {name}.*rename the folder"):
            SolversSettings.model_validate({name: first, "holdout_suite": other})


def test_the_suite_that_every_variant_runs_at_its_gates_is_no_holdout():
    with pytest.raises(
        ValueError,
        match="holdout_suite is 'smoke', which every variant runs at its gates: name another suite",
    ):
        SolversSettings(holdout_suite="smoke")


@pytest.mark.parametrize("name", ["train_suite", "duel_suite", "correctness_suite"])
@pytest.mark.parametrize(
    ("folder", "other"),
    [("f/a", "f/a/b"), ("f/a/b", "f/a"), ("link", "f/a/b"), ("f/../f/a/b", "link"), ("f/a", "again")],
)
def test_a_holdout_folder_that_shares_files_with_another_suite_is_refused(tmp_path, name, folder, other):
    (tmp_path / "f/a/b").mkdir(parents=True)
    (tmp_path / "f/c").mkdir()
    (tmp_path / "link").symlink_to("f/a")
    (tmp_path / "again").symlink_to("f/a")
    with pytest.raises(ValueError, match=f"shares files with {name}.*move one of the two folders"):
        SolversSettings.model_validate({name: f"{tmp_path}/{folder}", "holdout_suite": f"{tmp_path}/{other}"})
    apart = {name: f"{tmp_path}/{folder}", "holdout_suite": f"{tmp_path}/f/c"}
    assert SolversSettings.model_validate(apart).holdout_suite == apart["holdout_suite"]


def evaluated(
    variant_id: str,
    edits: list[Edit],
    *,
    gate: str = "",
    measured: dict | None = None,
    rank: int = 2,
    parent_rank: int = 1,
) -> Evaluated:
    return Evaluated(
        variant_id=variant_id,
        base="minisat22",
        hypothesis="h",
        diff="d",
        edits=tuple(edits),
        parent_edits=(),
        blocked_gate=gate,
        blocked_rule="solvers-answers" if gate else "",
        reason="wrong answer" if gate else "",
        measured=measured,
        rank=rank,
        parent_rank=parent_rank,
        parent_measured=metrics("p", solved=14.0) if measured else None,
    )


@pytest.mark.parametrize(("cycle", "shown"), [("0032", False), ("0033", True)])
def test_par2_is_hidden_from_analyst_and_rule_writer_before_its_cycle(cycle, shown):
    backend = Listening()
    items = [
        evaluated(IDS[0], [Edit("tunable", "var-decay", {"value": 0.99})], measured=metrics(IDS[0])),
        evaluated(IDS[1], [Edit("tunable", "rfirst", {"value": 7})], gate="smoke"),
    ]
    with Agents(backend, line="solvers", cycle=cycle) as agents:
        result = post_mortem(agents, items, settings=SETTINGS, cycle=cycle, root_seed=1)
    assert {job.role.name for job in backend.jobs} == {"solvers_analyst", "solvers_rule_writer"}
    assert any("987.7" in text for text in backend.texts()) is shown
    assert not any(str(PAR2) in text for text in backend.texts())
    assert {item.subject for item in result.findings} == {"tunable:var-decay", "tunable:rfirst"}


def test_a_finding_of_the_operators_becomes_an_active_rule_on_stored_evidence():
    items = [
        evaluated(IDS[0], [Edit("tunable", "rfirst", {"value": 7})], gate="smoke"),
        evaluated(IDS[1], [Edit("tunable", "rfirst", {"value": 300})], measured=metrics(IDS[1], solved=15.0)),
    ]
    with Agents(Listening(), line="solvers", cycle="0003") as agents:
        result = post_mortem(agents, items, settings=SETTINGS, cycle="0003", root_seed=1)
    stored = [
        StoredVariant(
            item.variant_id,
            "0003",
            "blocked" if item.blocked_gate else "accepted",
            item.blocked_gate,
            item.blocked_rule,
            {"base": "minisat22", "edits": [edit.to_json() for edit in item.edits or ()], "parent_edits": []},
        )
        for item in items
    ]
    rows = decide(result.proposals, stored, [], cycle="0003")
    active = [row for row in rows if row["state"] == "active"]
    assert [
        (row["check"], json.loads(row["blocked_failed"]), json.loads(row["blocked_accepted"]))
        for row in active
    ] == [("solvers.forbidden_edit", [IDS[0]], [])]


def test_rules_of_the_holdout_are_told_to_no_role():
    ruleset = load_rules(SEEDS / "rules", "solvers")
    summary = rule_texts(ruleset)
    assert (
        len(summary) == len([rule for rule in ruleset.rules if rule.gate != "holdout"]) < len(ruleset.rules)
    )
    assert "holdout" not in " ".join([*summary, *(rule.id for rule in rules_to_show(ruleset))])


PAR2_OF_RUNS = "7.654321"


def told_of_objectives(cycle: str, rows: list[dict]) -> list[str]:
    """What the objective writer is asked in a cycle with these runs, twice; its first reply raises with a
    figure."""
    leak = (
        "def objective(results):\n    raise ValueError(str(sum(row['cpu_s'] for row in results) / "
        "len(results)))\n"
    )
    backend = Writing(leak)
    runs = RUNS.frame(rows)
    with (
        Agents(backend, line="solvers", cycle=cycle) as agents,
        open_pool(workers=1, preload=("numpy",)) as pool,
    ):
        first = evolve_objectives(
            agents, empty_population(), runs, pool, settings=SETTINGS, cycle="0001", root_seed=1
        )
        settings = SETTINGS.model_copy(update={"objectives_per_cycle": 2})
        population = empty_population().add(objectives=first.rows)
        result = evolve_objectives(
            agents, population, runs, pool, settings=settings, cycle=cycle, root_seed=1
        )
    assert next(PAR2_OF_RUNS in (row["reason"] or "") for row in result.rows if row["state"] == "blocked")
    assert {job.role.name for job in backend.jobs} == {"solvers_objective_writer"}
    return backend.texts()


class Writing(Listening):
    """The first answer is this objective."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.source = source

    def ask(self, job, record):
        summary = super().ask(job, record)
        return ObjectiveReply(description="leaky", source=self.source) if len(self.jobs) == 1 else summary


@pytest.mark.parametrize("cycle", ["0002", "0040"])
def test_the_objective_writer_sees_no_time_no_formula_and_no_figure_that_an_objective_saw(cycle):
    rows = [
        run_row(name, f"secretname-{number}", "sat", float(PAR2_OF_RUNS))
        for name in IDS
        for number in range(4)
    ]
    texts = told_of_objectives(cycle, rows)
    assert len(texts) == 2
    assert all(
        "secretname" in text and "secretname-" not in text for text in texts
    )  # a family's name is shown, no formula's
    assert not [
        text for text in texts if "7.65" in text or "holdout" in text or any(name in text for name in IDS)
    ]
    assert "no finite number for a variant (error)" in texts[1]
