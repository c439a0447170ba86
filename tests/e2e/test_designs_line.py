"""The designs line for real: cycles through Dagster by the command that users type, then everything that can
be asked of the lake, and a rule that changes."""

import json
import re
import shutil

import pytest
import walked
from busy_host import busy_host
from designs_fixtures import ROOT, Project, open_project
from framework_files import write_files
from lake_damage import damage_of
from project_steps import edit_rule, flips, flips_told, materialize, parts_of, previewed, undescribed
from project_steps import stale as stale_parts
from re_execution import copy_of, killed_at, re_executed

from evolake.designs.evolution.experiments import instance_seed
from evolake.designs.genome.open_genetic import OPERATORS
from evolake.lake import Lake
from evolake.report.figures import figures_in
from evolake.seeds import CycleSeeds

pytestmark = pytest.mark.e2e
CYCLES = ["0001", "0002"]
ASSETS = (
    "directions",
    "candidates",
    "experiments",
    "objectives",
    "objective_scores",
    "consensus_ranking",
    "promoted_experiments",
    "final_scores",
    "final_ranking",
    "tuning",
    "meta_review",
    "survivors",
)
"""The assets of a cycle that judge by rules."""


@pytest.fixture(scope="module")
def evolved(tmp_path_factory) -> Project:
    """A project after two cycles, on a copy of the seeds whose rules may be edited."""
    folder = tmp_path_factory.mktemp("evolved")
    shutil.copytree(ROOT / "data_lake" / "seeds", folder / "seeds")
    project = open_project(
        folder,
        EVOLAKE_SEEDS=str(folder / "seeds"),
        EVOLAKE_WORKERS="2",
        EVOLAKE_DESIGNS__OBJECTIVES_PER_CYCLE="4",
    )
    watching = walked.watched(folder / "walk")
    done = project.run("run", "--cycles", "2", "--lines", "designs", **watching)
    assert "designs: cycle 2 of 2 in " in done.stdout
    (folder / "said").write_text(done.stdout)
    return project


def test_a_cycle_walks_the_way_of_a_candidate_that_the_page_describes(evolved):
    assert len(walked.stops()) == 10
    assert walked.not_reached(evolved.folder / "walk") == []


def test_every_published_column_says_what_it_means(evolved):
    assert undescribed(evolved.lake, "designs") == []


def test_the_lake_is_intact(evolved):
    assert damage_of(evolved.lake) == []


def test_every_asset_of_the_list_is_there_for_every_cycle(evolved):
    for name in ASSETS:
        assert parts_of(evolved, "designs", name) == CYCLES, name


def test_a_finished_cycle_says_how_fast_it_searched(evolved):
    said = (evolved.folder / "said").read_text()
    words = r"(\d+) candidates in (\d+) s, (\d+) an hour; (\d+)% of the time of 2 workers was simulation"
    parts = [[int(number) for number in result] for result in re.findall(words, said)]
    proposed = [
        count
        for _, count in evolved.sql(
            "SELECT cycle, count(*) FROM (SELECT cycle FROM designs.candidates UNION ALL "
            "SELECT cycle FROM designs.raced WHERE state IN ('raced', 'blocked')) "
            "GROUP BY cycle ORDER BY cycle"
        )
    ]
    assert [candidates for candidates, *_ in parts] == proposed
    for candidates, wall_s, an_hour, share in parts:
        assert 3600 * candidates / (wall_s + 1) - 1 <= an_hour <= 3600 * candidates / max(wall_s - 1, 0.5)
        assert 0 <= share <= 100
    simulated = evolved.sql(
        "SELECT sum(cpu_s) FROM (SELECT cpu_s FROM designs.experiments UNION ALL SELECT cpu_s FROM "
        "designs.promoted_experiments)"
    )
    most = sum((wall_s + 1) * 2 * (share + 1) / 100 for _, wall_s, _, share in parts)
    assert 0 < simulated[0][0] <= most, "all that was simulated counts"


def test_each_cycle_reads_what_the_one_before_handed_on(evolved):
    handed = evolved.sql("SELECT count(*) FROM designs.survivors WHERE cycle = '0001'")[0][0]
    ranked = evolved.sql("SELECT count(*) FROM designs.final_ranking WHERE cycle = '0002'")[0][0]
    new = evolved.sql("SELECT count(*) FROM designs.candidates WHERE cycle = '0002' AND state = 'accepted'")[
        0
    ][0]
    assert ranked == handed + new


def test_whatever_is_ranked_passed_every_gate(evolved):
    rows = evolved.sql("""
        SELECT r.design_id, count(DISTINCT v.gate) FILTER (v.outcome = 'pass') AS passes, count(*)
          FILTER (v.outcome = 'block') AS blocks
        FROM (SELECT DISTINCT design_id FROM designs.final_ranking) AS r JOIN verdicts AS v
          ON v.artifact_id = r.design_id GROUP BY ALL""")
    assert len(rows) > 4
    assert {(row[1], row[2]) for row in rows} == {(4, 0)}


def test_no_formula_that_decides_follows_from_the_root_seed_and_the_cycle(evolved):
    """A table of answers can be written for those that do."""
    known = {instance_seed(0, row["N"]) for row in _measured(evolved)} | {
        CycleSeeds(0, "designs", cycle).seed("champion", number) for cycle in CYCLES for number in range(100)
    }
    duels = evolved.sql("SELECT cycle, seed FROM designs.champion_trials")
    used = {row["seed"] for row in _measured(evolved)} | {seed for _, seed in duels}
    assert duels and used and not used & known
    revealed = dict(evolved.sql("SELECT cycle, root_seed FROM contest_seeds WHERE line = 'designs'"))
    assert sorted(revealed) == CYCLES and len(set(revealed.values())) == 2
    for cycle, seed in duels:
        assert seed in {
            CycleSeeds(revealed[cycle], "designs", cycle).seed("champion", number) for number in range(100)
        }


def _measured(project: Project) -> list[dict]:
    lake = Lake(project.lake)
    return [
        row
        for asset in ("experiments", "promoted_experiments")
        for cycle in CYCLES
        for row in lake.read("designs", asset, cycle).to_dicts()
    ]


def test_candidates_have_a_genome_and_the_operator_that_made_them(evolved):
    rows = evolved.sql("SELECT operator, genome IS NOT NULL FROM designs.candidates")
    assert {operator for operator, _ in rows} <= {*OPERATORS, "repeat", "race"}
    assert all(genome for _, genome in rows)


def test_objectives_are_varied_and_crossed_and_vote_where_they_pass_their_gate(evolved):
    rows = evolved.sql("""SELECT o.objective_id, o.state, o.operator, o.genome IS NOT NULL, o.parents,
      w.weight FROM designs.objectives AS o
        LEFT JOIN (SELECT * FROM designs.final_ranking_weights WHERE cycle = '0002') AS w
          USING (objective_id) WHERE o.cycle = '0002'""")
    assert len(rows) >= 4 and all(genome for *_, genome, _, _ in rows)
    assert {operator for _, state, operator, *_ in rows if state == "accepted"} & {
        "point",
        "subtree",
        "hoist",
        "constants",
        "insert",
        "crossover",
    }
    assert (
        {name for name, state, *_, weight in rows if state == "accepted"}
        == {name for name, *_, weight in rows if weight is not None}
        != set()
    )
    edges = {
        (child, parent): weight
        for child, parent, weight in evolved.sql("SELECT child_id, parent_id, weight FROM derivations")
    }
    for child, _, _, _, parents, _ in rows:
        assert json.loads(parents or "{}") == {
            parent: weight for (of, parent), weight in edges.items() if of == child
        }
    started = {
        name for (name,) in evolved.sql("SELECT objective_id FROM designs.objectives WHERE cycle = '0001'")
    }
    assert {parent for child, *_ in rows for (of, parent) in edges if of == child} & started
    verdicts = evolved.sql("SELECT DISTINCT rule_id FROM verdicts WHERE gate = 'objective'")
    assert len(verdicts) == 5


def test_derivation_weights_of_every_child_sum_to_one(evolved):
    sums = [row[0] for row in evolved.sql("SELECT sum(weight) FROM derivations GROUP BY child_id, cycle")]
    assert sums
    assert all(abs(total - 1) < 1e-9 for total in sums)


def test_operators_calls_are_rows_and_never_pose_as_a_model(evolved):
    assert evolved.sql("SELECT DISTINCT backend, model, usd FROM agent_calls") == [
        ["operators", "operators", 0.0]
    ]
    roles = {row[0] for row in evolved.sql("SELECT DISTINCT role FROM agent_calls")}
    assert {
        "designs_planner_lookup",
        "designs_planner_directions",
        "designs_designer",
        "designs_objective_writer",
        "designs_meta_reviewer",
    } <= roles


def test_every_design_has_an_ancestry_that_reaches_a_seed(evolved):
    champion = json.loads(evolved.run("champion", "designs", "--json").stdout)
    assert champion["verdict"] == "champion"
    printed = evolved.cookbook("champion_ancestors", line="designs")
    assert len(printed) == champion["ancestors"] + 1
    assert printed[-1][1] == champion["artifact_id"]
    for (child,) in evolved.sql(
        "SELECT design_id FROM designs.candidates WHERE cycle = '0002' AND state = 'accepted'"
    ):
        titles = {row[0] for row in evolved.sql(f"SELECT title FROM ancestors('{child}')")}
        assert "baseline" in titles, child


def test_every_cookbook_question_answers_on_a_real_lake(evolved):
    run_id = evolved.sql("SELECT run_id FROM artifacts LIMIT 1")[0][0]
    parameters = {
        "line": "designs",
        "run_id": run_id,
        "gate_no": "2",
        "rule_id": "designs-trace",
        "before": "1",
        "after": "1",
        "since": "2026-01-01",
    }
    for path in sorted((ROOT / "sql" / "cookbook").glob("*.sql")):
        evolved.cookbook(path.stem, **parameters)


def test_status_and_report_say_where_things_stand(evolved, tmp_path):
    status = json.loads(evolved.run("status", "--json").stdout)
    assert [
        (row["line"], row["sealed_cycles"], row["next_cycle"], row["broken"]) for row in status["lines"]
    ] == [("designs", 2, "0003", None)]
    evolved.run(
        "report", "--cycle", "2", "--out", str(tmp_path / "r.html"), "--figures", str(tmp_path / "figures")
    )
    page = (tmp_path / "r.html").read_text()
    assert "Cycle 0002 of the designs line" in page
    assert ("The consensus has the champion first." in page) != ("First by consensus: " in page)
    drawn = {path.stem for path in (tmp_path / "figures").glob("*.png")}
    leads = "baseline (" in status["lines"][0]["champion"]  # which has no figure against itself
    assert len(drawn) == len(figures_in("evolake.designs.report.figures")) - leads
    assert ("champion_against_baseline" in drawn) != leads
    assert page.count("data:image/png;base64,") == len(drawn) >= 6


@pytest.fixture(scope="module")
def other(tmp_path_factory) -> Project:
    """A project after one cycle, by one worker in place of two, on a busy host in place of an idle one."""
    project = open_project(tmp_path_factory.mktemp("other"))
    with busy_host(1):
        project.run("run", "--cycles", "1", "--lines", "designs")
    return project


def test_the_same_seed_gives_the_same_content_in_another_lake_on_a_busy_host(evolved, other):
    hashes = """SELECT asset, cycle, content_sha FROM parts WHERE line = 'designs' AND cycle = '0001'
      AND state = 'current'
        AND asset NOT LIKE '%__checks'
        AND asset <> 'survivors__evaluations' ORDER BY asset"""  # cpu seconds are a measurement; they differ
    assert other.sql(hashes) == evolved.sql(hashes)
    assert other.sql("SELECT version FROM seals WHERE cycle = '0002'") == evolved.sql(
        "SELECT version FROM seals WHERE cycle = '0002'"
    )


def test_files_of_the_paper_s_framework_enter_the_next_cycle(other):
    folder = write_files(other.folder / "search")
    assert json.loads(other.run("designs", "import", str(folder), "--json").stdout)["enters_cycle"] == "0002"
    materialize(other, "designs", "0002", "directions", "candidates", "experiments", "objectives")
    arrived = dict(other.sql("SELECT original_id, state FROM designs.import_arrivals"))
    assert arrived == {0: "present", 1: "accepted", 2: "accepted", 3: "blocked", 7: "blocked", 8: "accepted"}
    known = other.sql("""SELECT DISTINCT a.state, a.title, i.origin, i.imported_from FROM artifacts AS a
        JOIN designs.imported_designs AS i ON i.design_id = a.artifact_id WHERE a.state = 'accepted'
          ORDER BY a.title""")
    assert known == [
        ["accepted", title, "import", "search"] for title in ("solver 1", "solver 2", "solver 8")
    ]
    imported = "SELECT design_id FROM designs.imported_designs WHERE state = 'accepted'"
    measured = (
        "SELECT count(DISTINCT design_id) FROM designs.experiments WHERE cycle = '0002' AND design_id IN "
        f"({imported})"
    )
    judged = (
        "SELECT count(DISTINCT artifact_id) FROM verdicts WHERE cycle = '0002' AND artifact_id IN "
        f"({imported})"
    )
    assert (other.sql(measured), other.sql(judged)) == ([[3]], [[3]])
    voting = other.sql(
        "SELECT description, state, imported_from FROM designs.objectives WHERE origin = 'import' ORDER "
        "BY description"
    )
    assert voting == [
        ["Reach", "accepted", "search"],
        ["Sum of steps", "accepted", "search"],
        ["objective 2 of another search", "blocked", "search"],
    ]


def stale(evolved: Project) -> set[tuple[str, str]]:
    return stale_parts(evolved, "designs", ASSETS, CYCLES)


def test_a_run_that_was_killed_is_executed_again_from_failure(evolved, tmp_path):
    copy = copy_of(evolved, "designs", tmp_path, "0003")
    re_executed(copy, "designs", "0003", killed_at(copy, "designs", "0003", "promoted_experiments"))
    assert damage_of(copy.lake) == []
    assert all(parts_of(copy, "designs", name)[-1] == "0003" for name in ASSETS)


def test_a_stricter_rule_blocks_what_it_touches_and_the_flips_can_be_asked_for(evolved):
    """From here on tests change the lake."""
    ids = "SELECT design_id FROM designs.candidates WHERE cycle = '0001'"
    accepted = {row[0] for row in evolved.sql(f"{ids} AND state = 'accepted'")}
    assert accepted
    edit_rule(evolved, "designs", "trace", "version: 1", "version: 2")
    edit_rule(evolved, "designs", "trace", '"max_nodes": 5000', '"max_nodes": 3')
    assert ("candidates", "0001") in stale(evolved)
    summary = previewed(evolved, "designs")
    materialize(evolved, "designs", "0001", "candidates")
    assert evolved.sql(f"{ids} AND state = 'accepted'") == []
    judged = {row[0] for row in evolved.sql(ids)}
    flipped = {row[0] for row in flips(evolved, "designs-trace", 1, 2)}
    # what is proposed depends on what was blocked before, so not every design of before is proposed again
    assert flipped and flipped == accepted & judged
    assert flipped == flips_told(summary, "designs-trace", "0001") & judged
    assert [(item["title"], item["is_seed"]) for item in summary["champions_that_would_fall"]] == [
        ("baseline", True)
    ]
    now = stale(evolved)
    assert ("experiments", "0001") in now
    assert ("candidates", "0001") not in now
