"""The backend `model` through two cycles of the solvers line: real diffs over HTTP on loopback, good ones and
faulty ones, mended or not."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from designs_fixtures import Project
from loopback_model import Asked, LoopbackModel
from project_steps import by_a_model, materialize, run_here, share_tape, usd_of
from solver_seed_builds import seed_folder
from solvers_fixtures import SEED, open_project, share_proofs
from solvers_scripted_model import OBJECTIVES, PAR2, PLANNED, RULE, SESSIONS, WRITTEN, ScriptedSolvers, played

from evolake.lake import BlobStore
from evolake.objectives.source import objective_id

pytestmark = pytest.mark.e2e


@dataclass(frozen=True)
class Modelled:
    """A project after two cycles by the model backend, the second with sessions for coder and analyst, what
    its server was asked, and who replied. It is gone."""

    project: Project
    scripted: ScriptedSolvers
    asked: list[Asked]


@pytest.fixture(scope="module")
def modelled(tmp_path_factory) -> Iterator[Modelled]:
    folder = tmp_path_factory.mktemp("modelled")
    settings = {
        "EVOLAKE_SOLVERS__VARIANTS_PER_CYCLE": "4",
        "EVOLAKE_SOLVERS__REPAIR_ATTEMPTS": "1",
        "EVOLAKE_SOLVERS__TRAIN_INSTANCES": "3",
        "EVOLAKE_SOLVERS__TRAIN_SUITE": "planted-train",
        "EVOLAKE_SOLVERS__DUEL_SUITE": "planted-duel",
        "EVOLAKE_SOLVERS__DUEL_INSTANCES": "28",
        "EVOLAKE_SOLVERS__HOLDOUT_INSTANCES": "1",
        "EVOLAKE_SOLVERS__OBJECTIVES_PER_CYCLE": str(len(OBJECTIVES)),
    }
    project = open_project(folder, **by_a_model("", **settings))
    scripted = ScriptedSolvers(seed_folder(SEED))
    with LoopbackModel(scripted) as server:
        project.environment["EVOLAKE_MODEL_BASE_URL"] = server.base_url
        run_here(project, "solvers")
        project.environment.update(EVOLAKE_SOLVERS__CODER="session", EVOLAKE_SOLVERS__ANALYST="session")
        run_here(project, "solvers")
    yield Modelled(project, scripted, server.requests)


def made(project: Project, cycle: str) -> dict[str, list]:
    """plan's name -> what became of its variant: gate that blocked it, rule, repairs, objections."""
    rows = project.sql(f"""
        SELECT v.title, b.gate, b.rule_id, v.repairs, v.objections FROM solvers.variants AS v
        LEFT JOIN (SELECT * FROM verdicts WHERE outcome <> 'pass') AS b ON b.artifact_id = v.variant_id
          WHERE v.cycle = '{cycle}'""")
    return {row[0]: row[1:] for row in rows}


def test_two_cycles_are_sealed_and_every_role_was_asked(modelled):
    assert modelled.project.sql("SELECT cycle, state FROM seals WHERE line = 'solvers' ORDER BY cycle") == [
        [f"000{n}", "sealed"] for n in (1, 2, 3)
    ]
    # whether a coder is asked to revise depends on what its variant gains in its trial, a matter of processor
    # time
    assert {row[0] for row in modelled.project.sql("SELECT DISTINCT role FROM agent_calls")} - {
        "solvers_coder_revise"
    } == {
        "solvers_planner",
        "solvers_coder_lookup",
        "solvers_coder",
        "solvers_coder_repair",
        "solvers_coder_session",
        "solvers_analyst",
        "solvers_analyst_session",
        "solvers_rule_writer",
        "solvers_objective_writer",
    }
    assert modelled.project.sql("SELECT DISTINCT origin FROM solvers.variants") == [["model"]]
    asked = {
        "plans": 2,
        "regions": 4,
        "changelog": 4,
        "repair": 3,
        "turn": 13,
        "findings": 1,
        "check": 1,
        "source": len(OBJECTIVES),
    }
    assert {kind: count for kind, count in modelled.scripted.says.items() if kind != "revise"} == asked


def test_every_diff_is_applied_mended_or_dies_as_a_row(modelled):
    result = made(modelled.project, "0001")
    assert {name: row[:3] for name, row in result.items()} == {
        "good": [None, None, 0],
        "does-not-apply": [None, None, 1],
        "does-not-compile": ["build", "solvers-build", 1],
        "reads-a-clock": ["compliance", "solvers-no-clocks", 1],
    }
    details = {name: row[3] for name, row in result.items()}
    assert details["good"] == []
    assert details["does-not-apply"][0].startswith("The diff does not apply:")
    assert "luckyRestart" in details["does-not-compile"][0]
    assert "clock" in details["reads-a-clock"][0]
    assert all(len(objections) == row[2] for name, row in result.items() for objections in [details[name]])


def test_the_coder_is_shown_what_was_wrong_with_its_diff(modelled):
    repairs = [
        text
        for asked in modelled.asked
        if "# Why it could not be used" in (text := asked.messages[-1]["content"])
    ]
    shown = {played(text): text.partition("# Why it could not be used")[2] for text in repairs}
    assert set(shown) == {"does-not-apply", "does-not-compile", "reads-a-clock"}
    assert "does not apply" in shown["does-not-apply"]
    assert re.search(r"luckyRestart\W+was not declared", shown["does-not-compile"])
    assert "cpuTime" in shown["reads-a-clock"]


def test_what_was_written_is_what_was_built_on_the_seed(modelled):
    blobs = BlobStore(modelled.project.lake)
    rows = modelled.project.sql("SELECT title, diff_sha, parents, edits FROM solvers.variants")
    assert len(rows) == sum(len(names) for names in PLANNED.values())
    for title, diff_sha, parents, edits in rows:
        assert blobs.get(diff_sha).decode() == modelled.scripted.diff(WRITTEN[title][-1])
        assert (parents, edits) == ([modelled.scripted.parent], None)


def test_a_rule_learnt_from_a_broken_build_blocks_the_next_one_before_it_is_built(modelled):
    project, name = modelled.project, f"solvers-learned-{RULE}"
    broken = project.sql("SELECT variant_id FROM solvers.variants WHERE title = 'does-not-compile'")[0][0]
    rows = project.sql(
        "SELECT cycle, rule_id, version, state, blocked_failed, blocked_accepted FROM solvers.rule_proposals"
    )
    assert rows == [["0001", name, 1, "active", json.dumps([broken]), "[]"]]
    assert {title: row[:3] for title, row in made(project, "0002").items()} == {
        "later": [None, None, 0],
        "learnt-nothing": ["compliance", name, 0],
    }
    stopped = project.sql("SELECT variant_id FROM solvers.variants WHERE title = 'learnt-nothing'")[0][0]
    assert project.sql(f"SELECT count(*) FROM solvers.binaries WHERE variant_id = '{stopped}'") == [[0]]
    assert project.sql("SELECT count(*) FROM solvers.binaries WHERE cycle = '0002' AND passed") == [[1]]
    assert any(name in asked.messages[-1]["content"] for asked in modelled.asked)


def test_an_expert_explores_breaks_the_build_mends_it_tests_and_passes_every_gate(modelled):
    project = modelled.project
    [made_by] = project.sql("SELECT variant_id, cycle, origin FROM solvers.variants WHERE title = 'later'")
    assert made_by[1:] == ["0002", "model"]
    assert (
        project.sql(
            f"SELECT DISTINCT state FROM artifacts WHERE artifact_id = '{made_by[0]}' AND state IN "
            "('accepted', 'champion')"
        )
        != []
    )
    turns = project.sql(
        f"SELECT tools, outcome, record_sha FROM session_turns WHERE artifact_id = '{made_by[0]}' ORDER "
        "BY turn"
    )
    assert [row[0] for row in turns] == [[name for name, _ in calls] for calls in SESSIONS["later"]]
    assert [row[1] for row in turns] == [None] * 7 + ["finished"]
    blobs = BlobStore(project.lake)
    parts = [[done["result"] for done in json.loads(blobs.get(row[2]))["calls"]] for row in turns]
    assert parts[3][0].startswith("It was not built: compile error") and "walk_seed" in parts[3][0]
    assert parts[5][0].startswith("It was built") and len(parts[5][1].splitlines()) == 7
    assert [line.split()[0] for line in parts[6][0].splitlines()] == ["yours", "parent", "cost"]
    calls = project.sql(
        "SELECT count(*), min(sampling) FROM agent_calls JOIN session_turns USING (call_id) WHERE "
        "session_turns.role = 'solvers_coder_session'"
    )
    assert calls == [[10, '{"max_output_tokens":8192}']]


def test_what_the_expert_wrote_is_an_improvement_that_takes_the_title(modelled):
    project = modelled.project
    [[expert]] = project.sql("SELECT variant_id FROM solvers.variants WHERE title = 'later'")
    runs = (
        "SELECT variant_id, sum(conflicts), count(*) FILTER (solved), count(*) FROM "
        "solvers.benchmark_runs GROUP BY variant_id"
    )
    met = {row[0]: row[1:] for row in project.sql(runs)}
    assert met[expert] == [0, 3, 3], (
        "local search leaves the search nothing to learn, on every formula that it was bred on"
    )
    assert met[modelled.scripted.parent][0] > 20_000 and all(
        row[0] > 1_000 for name, row in met.items() if name != expert
    )
    [duel] = project.sql(
        "SELECT wins, ratio_low > 1, solved_challenger, instances FROM solvers.champion WHERE "
        f"challenger_id = '{expert}'"
    )
    assert duel == [True, True, 28.0, 28], "nor on formulas that nobody has seen"
    assert project.sql("SELECT artifact_id FROM champions WHERE line = 'solvers' AND cycle = '0002'") == [
        [expert]
    ]


def test_the_analyst_reads_its_cycle_in_a_session(modelled):
    turns = modelled.project.sql(
        "SELECT tools, outcome, record_sha FROM session_turns WHERE role = 'solvers_analyst_session' "
        "ORDER BY turn"
    )
    assert [(row[0], row[1]) for row in turns] == [
        (["list_files", "read_file"], None),
        (["grep"], None),
        (["finish"], "finished"),
    ]
    parts = [
        [done["result"] for done in json.loads(BlobStore(modelled.project.lake).get(row[2]))["calls"]]
        for row in turns
    ]
    assert "told.md" in parts[0][0] and "compliance" in parts[0][1]
    assert "luckyRestart" in parts[1][0]


def test_objectives_vote_from_the_cycle_that_wrote_them_or_are_blocked_as_rows(modelled):
    project = modelled.project
    new = (
        "SELECT description, source, state, reason, objective_id FROM solvers.objectives WHERE "
        "created_round = 2 AND origin = 'model'"
    )
    rows = {row[0]: row[1:] for row in project.sql(new)}
    assert {name: row[0] for name, row in rows.items()} == OBJECTIVES
    assert {name: row[1] for name, row in rows.items()} == {
        "backwards": "accepted",
        "raises": "blocked",
        "par2-again": "blocked",
    }
    assert rows["raises"][2].startswith("no finite number for a variant (error): ValueError: PAR-2 is ")
    assert rows["par2-again"][2] == f"it is word for word one that votes or has voted: {objective_id(PAR2)}"
    votes = {
        cycle: {
            row[0]
            for row in project.sql(
                f"SELECT DISTINCT objective_id FROM solvers.objective_scores WHERE cycle = '{cycle}'"
            )
        }
        for cycle in ("0001", "0002")
    }
    assert votes["0002"] == votes["0001"] | {rows["backwards"][3]}
    reviewed = project.sql("SELECT cycle, objective_id FROM solvers.objective_reviews")
    assert {(cycle, name) for cycle, name in reviewed} == {("0002", name) for name in votes["0001"]}


def test_what_an_objective_says_in_the_jail_reaches_no_role(modelled):
    asked = [
        text
        for item in modelled.asked
        if "# Objectives that were blocked" in (text := item.messages[-1]["content"])
    ]
    assert len(asked) == len(OBJECTIVES)
    assert "raises: no finite number for a variant (error)\n" in asked[-1]
    assert not [text for text in asked if "PAR-2 is" in text]


def test_no_role_sees_a_holdout_formula_or_a_par2(modelled):
    unseen = {
        cell
        for row in modelled.project.sql("SELECT instance, formula_sha FROM solvers.holdout_runs")
        for cell in row
    }
    said = "\n".join(message["content"] for asked in modelled.asked for message in asked.messages)
    assert len(unseen) == 2
    assert not [word for word in unseen if word in said]
    assert "holdout" not in said
    assert not re.findall(r"PAR-2 \d", said), "a ratio of PAR-2 is told, no value"


def test_the_second_cycle_knows_the_verdict_of_the_first_ones_contest(modelled):
    """Planner, analyst and objective writer of cycle 0002 read who fought whom, the ratio and the families;
    nobody reads a formula's name."""
    [duel] = modelled.project.sql(
        "SELECT challenger_id, ratio, verdict, cycle FROM solvers.champion WHERE cycle = '0001'"
    )
    said = f"Cycle 0001: {duel[0][:12]} ("
    heads, ratio = ("You plan how", "You examine one cycle", "You write objectives"), f"ratio {duel[1]:.3g} ("
    second = [
        [text["content"] for text in asked.messages]
        for asked in modelled.asked
        if "Cycle 0002" in asked.messages[1]["content"]
    ]
    assert {
        head
        for head in heads
        for system, user, *_ in second
        if system.startswith(head) and said in user and ratio in user
    } == set(heads)
    fought = {row[0] for row in modelled.project.sql("SELECT instance FROM solvers.champion_trials")}
    everything = "\n".join(message["content"] for asked in modelled.asked for message in asked.messages)
    assert fought and not [name for name in fought if name in everything]


def test_variants_go_by_short_ids_in_every_prompt(modelled):
    ids = {row[0] for row in modelled.project.sql("SELECT artifact_id FROM artifacts WHERE line = 'solvers'")}
    said = "\n".join(message["content"] for asked in modelled.asked for message in asked.messages)
    assert not [name for name in ids if name in said]
    assert [name for name in ids if name[:12] in said]


def test_every_paid_reply_is_a_row_with_its_price(modelled):
    rows = modelled.project.sql(
        "SELECT backend, model, round(usd, 9), input_tokens, output_tokens, status FROM agent_calls"
    )
    assert len(rows) == len(modelled.asked)
    assert {(row[0], row[1], row[5]) for row in rows} == {("model", "played", "ok")}
    entries = [
        json.loads(path.read_text())["entry"] for path in (modelled.project.lake / "tape").glob("??/*.json")
    ]
    assert {(entry["line"], entry["cycle"]) for entry in entries} == {
        ("solvers", "0001"),
        ("solvers", "0002"),
    }
    assert [row[2] for row in rows] == [usd_of(row[3], row[4]) for row in rows]
    late = {
        row[1]: (row[2], row[3])
        for row in modelled.project.cookbook("spent_on_late_blocks", line="solvers", gate_no="1")
    }
    assert set(late) == {"build"}
    assert late["build"][0] == 1
    assert late["build"][1] > 0


def test_variants_replay_from_the_tape_with_the_server_gone(modelled, tmp_path):
    """Another lake that has nothing but the tape, and the verdicts on proofs: the same variants,
    nothing paid."""
    other = open_project(
        tmp_path,
        **modelled.project.settings | {"EVOLAKE_REPLAY_ONLY": "true", "EVOLAKE_SOLVERS__CODER": "one-shot"},
    )
    share_proofs(modelled.project, share_tape(modelled.project, other))
    materialize(other, "solvers", None, "seeds")
    materialize(other, "solvers", "0001", "plan", "variants")
    made = (
        "SELECT variant_id, title, archive_sha, diff_sha, repairs, objections FROM solvers.variants WHERE "
        "cycle = '0001' ORDER BY 1"
    )
    assert other.sql(made) == modelled.project.sql(made)
    assert other.sql("SELECT DISTINCT usd FROM agent_calls") == [[0.0]]
