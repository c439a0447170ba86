"""The prompts line for real: the bundled small model learns and is prompted through two cycles, by the
command that users type; one is killed."""

import html
import itertools
import subprocess
import sys
from dataclasses import dataclass

import polars as pl
import pytest
from designs_fixtures import ROOT, Project, open_project
from lake_damage import damage_of
from project_steps import materialize, run_here, undescribed
from prompts_sizes import most_of
from re_execution import killed_when, re_executed

from evolake.lake import Lake
from evolake.prompts.evolution.population import population_of
from evolake.prompts.model.problems import read_problems
from evolake.prompts.model.prompt import from_json
from evolake.prompts.settings import PromptsSettings
from evolake.prompts.tables import ARCHIVE
from evolake.report.figures import figures_in
from evolake.seeds import CycleSeeds
from evolake.settings import load

pytestmark = pytest.mark.e2e
ASSETS = (
    "problems",
    "iterations",
    "rollouts",
    "values",
    "ratings",
    "updates",
    "learnability",
    "edits",
    "children",
    "accepted",
    "duel_replies",
    "champion",
    "heldout",
    "survivors",
)
SMALL = {
    "EVOLAKE_PROMPTS__ITERATIONS_PER_CYCLE": "2",
    "EVOLAKE_PROMPTS__BATCH_PROBLEMS": "3",
    "EVOLAKE_PROMPTS__HELDOUT_PROBLEMS": "3",
    "EVOLAKE_PROMPTS__DUEL_PROBLEMS": "6",
    "EVOLAKE_PROMPTS__MAX_TOKENS": "12",
    "EVOLAKE_PROMPTS__CROSSOVER": "0.5",
}
CYCLES = ["0001", "0002"]


@dataclass(frozen=True)
class Trained:
    """A project after two cycles. killed: the notes of the second cycle when its run was killed, which was
    then executed again from failure."""

    project: Project
    killed: list[dict]


def killed_after_first_note(project: Project, cycle: str) -> tuple[str, list[dict]]:
    """Starts a run of the cycle and kills it and all that it started (SIGKILL) once the cycle's first
    iteration is noted; gives the run's id and the notes."""

    def noted() -> list[dict] | None:
        lake = Lake(project.lake)
        return (
            lake.read("prompts", "notes", cycle).to_dicts()
            if lake.record("prompts", "notes", cycle) is not None
            else None
        )

    return killed_when(project, "prompts", cycle, noted)


@pytest.fixture(scope="module")
def trained(tmp_path_factory) -> Trained:
    project = open_project(tmp_path_factory.mktemp("prompts"), **SMALL)
    run_here(project, "prompts", EVOLAKE_PROMPTS__ITERATIONS_PER_CYCLE="1")
    run_id, killed = killed_after_first_note(project, "0002")
    re_executed(project, "prompts", "0002", run_id)
    return Trained(project, killed)


@pytest.fixture(scope="module")
def project(trained) -> Project:
    return trained.project


def test_every_published_column_says_what_it_means(project):
    assert undescribed(project.lake, "prompts") == []


def test_the_problems_of_a_duel_follow_from_what_the_cycle_published_with_its_decision(project):
    lake = Lake(project.lake)
    revealed = dict(project.sql("SELECT cycle, root_seed FROM contest_seeds WHERE line = 'prompts'"))
    assert sorted(revealed) == CYCLES
    for cycle in CYCLES:
        asked = list(dict.fromkeys(lake.read("prompts", "duel_replies", cycle)["problem_id"]))
        problems = lake.read("prompts", "problems", cycle)
        train = problems.filter(pl.col("split") == "train")["problem_id"].to_list()
        drawn = CycleSeeds(revealed[cycle], "prompts", cycle).generator("duel").permutation(len(train))
        assert asked == [train[place] for place in drawn[: len(asked)].tolist()]


def test_the_lake_is_intact(project):
    assert damage_of(project.lake) == []


def test_every_asset_of_the_list_is_there_for_every_cycle(project):
    parts = project.sql(
        "SELECT asset, cycle FROM parts WHERE line = 'prompts' AND state = 'current' AND cycle IN "
        "('0001', '0002')"
    )
    assert {(asset, cycle) for asset in ASSETS for cycle in CYCLES} <= {tuple(part) for part in parts}


def test_a_killed_cycle_goes_on_after_the_iteration_that_it_had_noted(trained):
    assert [row["number"] for row in trained.killed] == [1]
    now = Lake(trained.project.lake).read("prompts", "iterations", "0002").to_dicts()
    assert [row["number"] for row in now] == [1, 2]
    assert now[0] == trained.killed[0]


def test_the_weights_of_a_cycle_are_those_that_the_next_one_learns_on(project):
    lake = Lake(project.lake)
    ends = [lake.read("prompts", "iterations", cycle)["checkpoint_sha"].to_list() for cycle in CYCLES]
    entering = population_of({name: lake.read("prompts", f"incoming_{name}", "0002") for name in ARCHIVE})
    assert entering.value("checkpoint") == ends[0][-1]
    assert entering.iteration == 1
    steps = project.sql("SELECT iteration, step, updated FROM prompts.updates ORDER BY iteration")
    assert [row[0] for row in steps] == [1, 2, 3]
    assert any(row[2] for row in steps)
    shas = [sha for cycle in ends for sha in cycle]
    assert [before != after for before, after in itertools.pairwise(shas)] == [row[2] for row in steps[1:]]


def test_rollouts_are_what_the_sizes_ask_for_and_every_reply_came_from_the_model(project):
    counts = project.sql(
        "SELECT iteration, count(*), count(DISTINCT problem_id) FROM prompts.rollouts GROUP BY ALL ORDER "
        "BY ALL"
    )
    assert counts == [[number, 3 * 2 * 4, 3] for number in range(1, 4)]
    assert project.sql("SELECT DISTINCT policy FROM prompts.updates") == [["SmolLM2-135M-Instruct"]]
    assert project.sql("SELECT count(DISTINCT reply) > 20, max(tokens) <= 12 FROM prompts.rollouts") == [
        [True, True]
    ]


def test_no_cycle_samples_more_than_its_settings_allow(project):
    """The bound of docs/costs.md; held-out problems are asked under more than one prompt, in the first cycle
    under the base model too."""
    sizes = (
        load("demo")
        .of(PromptsSettings)
        .model_copy(
            update={
                name.removeprefix("EVOLAKE_PROMPTS__").lower(): int(value)
                for name, value in SMALL.items()
                if "CROSSOVER" not in name
            }
        )
    )
    for cycle, iterations in (("0001", 1), ("0002", 2)):
        most, first = most_of(sizes.model_copy(update={"iterations_per_cycle": iterations})), cycle == "0001"
        learnt, duels, held = (
            project.sql(
                f"SELECT count(*), coalesce(sum(tokens), 0) FROM prompts.{table} WHERE cycle = '{cycle}'"
            )[0]
            for table in ("rollouts", "duel_replies", "heldout")
        )
        assert learnt[0] == most.learnt and duels[0] in (0, most.duels)
        assert most.base * (1 + first) <= held[0] <= most.heldout + most.base * first
        assert learnt[1] + duels[1] + held[1] <= most.sampled(first=first)


def test_nothing_held_out_was_trained_rated_or_chosen_on(project):
    held = {row[0] for row in project.sql("SELECT problem_id FROM prompts.heldout")}
    used = {
        row[0]
        for row in project.sql(
            "SELECT problem_id FROM prompts.rollouts UNION SELECT problem_id FROM prompts.duel_replies"
        )
    }
    assert len(held) == 3
    assert not held & used
    shipped = {
        problem.problem_id
        for problem in read_problems(ROOT / "data_lake" / "seeds" / "prompts" / "problems.jsonl")
    }
    assert held | used <= shipped


def test_children_descend_from_prompts_that_were_there_by_edits_that_were_applied(project):
    rows = project.sql("SELECT prompt_id, operator, parents, principles FROM prompts.children")
    born = {row[0] for row in rows}
    summary = project.sql(
        "SELECT cycle, came, passed, blocked FROM funnel('prompts') WHERE gate = 'made' ORDER BY cycle"
    )
    counted = "(SELECT cycle, count(*) AS rows FROM prompts.{} GROUP BY cycle) AS {}"
    assert summary == project.sql(f"""
        SELECT cycle, coalesce(born.rows, 0) + vain.rows, coalesce(born.rows, 0), vain.rows
        FROM {counted.format("unmade", "vain")} LEFT JOIN {counted.format("children", "born")} USING (cycle)
          ORDER BY cycle""")
    roots = {row[0] for row in project.sql("SELECT prompt_id FROM prompts.seeds")}
    assert born
    for prompt_id, operator, parents, principles in rows:
        assert from_json(principles).prompt_id == prompt_id
        assert set(parents) <= born | roots
        applied = project.sql(
            f"SELECT count(*) FROM prompts.edits WHERE child_id = '{prompt_id}' AND operator = "
            f"'{operator}' AND applied"
        )
        assert applied[0][0] > 0
    weights = project.sql(
        "SELECT sum(weight) FROM derivations WHERE child_id IN (SELECT prompt_id FROM prompts.children) "
        "GROUP BY child_id"
    )
    assert all(abs(row[0] - 1) < 1e-9 for row in weights)


def test_whatever_was_accepted_has_a_pass_of_every_gate(project):
    passed = project.sql("SELECT prompt_id FROM prompts.accepted WHERE passed")
    gates = project.sql(
        "SELECT artifact_id, count(DISTINCT gate), bool_and(outcome = 'pass') FROM verdicts GROUP BY ALL"
    )
    result = {row[0]: row[1:] for row in gates}
    assert passed and all(result[row[0]] == [2, True] for row in passed)


def test_the_operators_edited_and_say_so(project):
    assert project.sql("SELECT DISTINCT backend, operator FROM prompts.edits") == [["operators", "mutation"]]
    assert project.sql("SELECT DISTINCT origin FROM prompts.children") == [["operators"]]


def test_a_champion_reigns_and_is_shown_with_its_principles(project):
    champions = project.sql("SELECT cycle, artifact_id FROM champions WHERE line = 'prompts' ORDER BY cycle")
    assert [row[0] for row in champions] == ["0000", "0001", "0002"]
    shown = project.run("champion", "prompts").stdout
    assert champions[-1][1][:12] in shown


def test_a_champion_taken_home_gives_its_held_out_replies_again(project, tmp_path):
    project.run("champion", "prompts", "--out", str(tmp_path / "mine"))
    done = subprocess.run(
        [sys.executable, "mine/run.py", "--check"], cwd=tmp_path, capture_output=True, text=True
    )
    [[right]] = project.sql(
        "SELECT count(*) FILTER (correct) FROM prompts.heldout WHERE cycle = '0002' AND prompt_id = (SELECT "
        "artifact_id FROM champions WHERE line = 'prompts' AND cycle = '0002')"
    )
    assert (done.returncode, done.stdout) == (
        0,
        f"3 of 3 replies are as stored, {right} of these are right\n",
    ), done.stderr


def test_a_partial_run_of_a_judged_cycle_changes_nothing(project):
    before = project.sql(
        "SELECT asset, content_sha FROM parts WHERE line = 'prompts' AND cycle = '0002' AND state = "
        "'current' ORDER BY ALL"
    )
    materialize(project, "prompts", "0002", "accepted", "champion")
    assert (
        project.sql(
            "SELECT asset, content_sha FROM parts WHERE line = 'prompts' AND cycle = '0002' AND state = "
            "'current' ORDER BY ALL"
        )
        == before
    )


def test_the_report_shows_what_the_champion_says_and_what_it_is_worth(project, tmp_path):
    page = tmp_path / "report.html"
    project.run("report", "--out", str(page), "--figures", str(tmp_path / "figures"), "--lines", "prompts")
    text = html.unescape(page.read_text())
    principles = from_json(
        project.sql("SELECT principles FROM prompts.survivors WHERE cycle = '0002' AND state = 'champion'")[
            0
        ][0]
    ).principles
    assert all(principle.text in text for principle in principles)
    duels = project.sql("SELECT count(*) FROM prompts.champion")[0][0]
    assert ("95% interval" in text) == (duels > 0), (
        "only a duel has an interval, and where the champion leads by all matches there is none"
    )
    assert "policy SmolLM2-135M-Instruct" in text
    figures = {
        figure.title.lower().replace(" ", "_") for figure in figures_in("evolake.prompts.report.figures")
    }
    assert {path.stem for path in (tmp_path / "figures").glob("*.png")} == figures
    assert text.count("data:image/png;base64,") == len(figures) >= 3
