"""The backend `model` through whole cycles of Dagster, against a real HTTP server on loopback that also
misbehaves."""

import json
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from designs_fixtures import Project, open_project
from designs_scripted_model import PlayedModel
from loopback_model import LoopbackModel
from project_steps import assert_no_key, assert_replays, by_a_model, run_here, usd_of

from evolake.lake import BlobStore

pytestmark = pytest.mark.e2e
WITHOUT_A_REPLY = 2  # one was told to come back later, one came without its usage


@dataclass(frozen=True)
class Modelled:
    """A project after two cycles by the model backend, the second with sessions for a designer, and what its
    server answered. The server is gone."""

    project: Project
    played: PlayedModel


@pytest.fixture(scope="module")
def modelled(tmp_path_factory) -> Iterator[Modelled]:
    played = PlayedModel()
    with LoopbackModel(played) as server:
        project = open_project(tmp_path_factory.mktemp("modelled"), **by_a_model(server.base_url))
        run_here(project, "designs")
        project.environment["EVOLAKE_DESIGNS__DESIGNER"] = "session"
        run_here(project, "designs")
    yield Modelled(project, played)


def test_two_cycles_are_sealed_and_every_role_was_asked(modelled):
    assert modelled.project.sql("SELECT cycle, state FROM seals WHERE line = 'designs' ORDER BY cycle") == [
        [f"000{n}", "sealed"] for n in (1, 2, 3)
    ]
    roles = {row[0] for row in modelled.project.sql("SELECT DISTINCT role FROM agent_calls")}
    assert roles >= {
        "designs_planner_directions",
        "designs_designer",
        "designs_designer_repair",
        "designs_designer_analysis",
        "designs_objective_writer",
    }
    assert modelled.project.sql("SELECT count(*) > 0 FROM designs.trials") == [
        [True]
    ]  # all are tried; the one-term plays leave nothing to revise
    assert {row[0] for row in modelled.project.sql("SELECT DISTINCT origin FROM designs.candidates")} == {
        "model"
    }


def test_every_paid_reply_is_a_row_with_its_price(modelled):
    rows = modelled.project.sql(
        "SELECT backend, model, round(usd, 9), input_tokens, output_tokens FROM agent_calls WHERE "
        "input_tokens IS NOT NULL"
    )
    assert len(rows) == sum(modelled.played.says.values()) - WITHOUT_A_REPLY
    assert {tuple(row[:2]) for row in rows} == {("model", "played")}
    assert [row[2] for row in rows] == [usd_of(row[3], row[4]) for row in rows]


def test_a_file_that_is_no_design_is_mended_or_dies_as_a_row(modelled):
    assert modelled.played.says["mending solver_code"] >= 1
    states = {row[0] for row in modelled.project.sql("SELECT DISTINCT state FROM designs.candidates")}
    assert "accepted" in states
    summary = modelled.project.sql(
        "SELECT cycle, came, passed, blocked FROM funnel('designs') WHERE gate = 'made' ORDER BY cycle"
    )
    assert summary == modelled.project.sql("""
        WITH vain AS (SELECT cycle, count(*) AS rows FROM designs.unmade GROUP BY cycle),
        designs AS (SELECT cycle, design_id FROM designs.candidates UNION SELECT cycle, design_id
          FROM designs.tuned_designs),
        made AS (SELECT cycle, count(*) AS rows FROM designs GROUP BY cycle)
        SELECT cycle, coalesce(made.rows, 0) + vain.rows, coalesce(made.rows, 0), vain.rows
        FROM vain LEFT JOIN made USING (cycle) ORDER BY cycle""")
    assert modelled.project.sql(
        "SELECT count(*) FROM designs.final_ranking AS r JOIN verdicts AS v ON v.artifact_id = r.design_id "
        "WHERE v.outcome = 'block'"
    ) == [[0]]


def test_a_session_has_its_file_traced_mends_it_tries_it_and_passes_every_gate(modelled):
    project = modelled.project
    sessions = project.sql(
        "SELECT session_id, any_value(artifact_id), count(*), max(outcome) FROM session_turns GROUP BY "
        "session_id"
    )
    assert {(row[2], row[3]) for row in sessions} == {(5, "finished")}
    made = {
        row[0]: row[1]
        for row in project.sql("SELECT design_id, state FROM designs.candidates WHERE cycle = '0002'")
    }
    assert "accepted" in {made.get(row[1]) for row in sessions}
    turns = project.sql(
        f"SELECT tools, record_sha FROM session_turns WHERE session_id = '{sessions[0][0]}' ORDER BY turn"
    )
    parts = [
        [done["result"] for done in json.loads(BlobStore(project.lake).get(row[1]))["calls"]] for row in turns
    ]
    assert parts[1][1].startswith("It is no design yet: ") and parts[2][1].startswith("It is a design of ")
    assert (
        [line.split(":")[0] for line in parts[3][0].splitlines()] == ["N=10 ratio"]
        and ". Yours " in parts[3][0]
        and "; start " in parts[3][0]
    )


def test_no_key_is_stored_anywhere(modelled):
    assert_no_key(modelled.project)


def test_a_cycle_replays_from_the_tape_with_the_server_gone(modelled, tmp_path):
    """Another lake that has nothing but the tape."""
    other = open_project(tmp_path, **modelled.project.settings)
    assert_replays(
        modelled.project, other, "designs", "survivors__evaluations", EVOLAKE_DESIGNS__DESIGNER="one-shot"
    )


def test_replay_only_without_the_tape_stops_with_a_sentence(modelled, tmp_path):
    other = open_project(tmp_path, **modelled.project.settings)
    done = run_here(other, "designs", check=False, EVOLAKE_REPLAY_ONLY="true")
    assert done.returncode in (2, 3)
    assert "replay only: the call cache has no reply" in done.stderr + done.stdout
