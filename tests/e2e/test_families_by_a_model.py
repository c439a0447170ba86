"""The backend `model` through two cycles of the families line: whole families over HTTP on loopback, sound,
mended, hostile and none at all; the second cycle's in sessions."""

import json
import shutil
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from designs_fixtures import ROOT, Project, open_project
from families_scripted_model import GUIDANCE, SEEDS, ScriptedFamilies
from loopback_model import LoopbackModel
from project_steps import assert_no_key, assert_replays, by_a_model, run_here, usd_of, with_seeds

from evolake.lake import BlobStore

pytestmark = pytest.mark.e2e


@dataclass(frozen=True)
class Modelled:
    """A project after two cycles by the model backend, and who answered. The server is gone. other: a project
    whose lake holds the same seeds."""

    project: Project
    scripted: ScriptedFamilies
    other: Project


@pytest.fixture(scope="module")
def modelled(tmp_path_factory) -> Iterator[Modelled]:
    folder = tmp_path_factory.mktemp("modelled")
    shutil.copytree(ROOT / "data_lake" / "seeds" / "rules", folder / "seeds" / "rules")
    for name in SEEDS:
        shutil.copytree(
            ROOT / "data_lake" / "seeds" / "families" / name, folder / "seeds" / "families" / name
        )
    scripted = ScriptedFamilies()
    with LoopbackModel(scripted) as server:
        project = open_project(
            folder,
            EVOLAKE_SEEDS=str(folder / "seeds"),
            EVOLAKE_FAMILIES__FAMILIES_PER_CYCLE="3",
            EVOLAKE_FAMILIES__INSTANCES_PER_FAMILY="9",
            EVOLAKE_FAMILIES__WORLD_SHARE="0",
            EVOLAKE_FAMILIES__DRIFT_SAMPLES="1",
            NO_PROXY="127.0.0.1",
            **by_a_model(
                server.base_url, EVOLAKE_MODELS='{"default": "played", "families_solver": "played"}'
            ),
        )
        other = with_seeds(project, "families")
        run_here(project, "families")
        project.run("guide", GUIDANCE, "--line", "families")
        project.environment["EVOLAKE_FAMILIES__EVOLUTION_AGENT"] = "session"
        run_here(project, "families")
    yield Modelled(project, scripted, other)


def candidates(project: Project, cycle: str) -> list[list]:
    """attempt, version, state, gate and rule of every version."""
    return project.sql(
        f"SELECT attempt, round, state, gate, rule_id FROM families.candidates WHERE cycle = '{cycle}' "
        "ORDER BY attempt, round"
    )


def test_two_cycles_are_sealed_and_every_role_was_asked(modelled):
    assert modelled.project.sql("SELECT cycle, state FROM seals WHERE line = 'families' ORDER BY cycle") == [
        [f"000{n}", "sealed"] for n in (1, 2, 3)
    ]
    assert set(modelled.scripted.prompts) == {
        "evolve",
        "quality",
        "validator",
        "curate",
        "blind",
        "solver",
        "session",
    }
    assert modelled.project.sql("SELECT DISTINCT origin FROM families.candidates") == [["model"]]


def test_what_is_wrong_is_mended_and_what_is_hostile_is_a_row_and_the_cycle_goes_on(modelled):
    assert candidates(modelled.project, "0001") == [
        [0, 0, "accepted", None, None],
        [1, 0, "blocked", "consensus", "families-primary-agrees"],
        [1, 1, "accepted", None, None],
        [2, 0, "blocked", "execution", "families-instances"],
        [2, 1, "blocked", "execution", "families-instances"],
    ]
    reasons = modelled.project.sql(
        "SELECT v.reason FROM verdicts AS v JOIN families.candidates AS c ON c.family_id = v.artifact_id "
        "AND c.cycle = v.cycle WHERE c.attempt = 2 AND v.outcome = 'block' AND v.cycle = '0001' ORDER BY "
        "c.round"
    )
    assert ["forbidden" in row[0] for row in reasons] == [True, True], reasons


def test_validators_come_from_calls_that_saw_no_program_and_rows_say_so(modelled):
    authors = (
        "SELECT DISTINCT c.cycle, a.voter, a.author, a.independent FROM families.validator_authors AS a "
        "JOIN families.candidates AS c USING (family_id) WHERE c.state = 'accepted' ORDER BY ALL"
    )
    assert modelled.project.sql(authors) == [
        [cycle, *row]
        for cycle, agent in (("0001", "families_evolution_agent"), ("0002", "families_evolution_session"))
        for row in (
            ["built1", "families_validator_author", True],
            ["built2", "families_validator_author", True],
            ["primary", agent, None],
        )
    ]
    saw = modelled.project.sql("SELECT DISTINCT saw FROM families.validator_authors WHERE voter <> 'primary'")
    assert {cell for row in saw for cell in row[0]} == {"statement", "instances"}


def test_a_session_runs_its_generator_mends_it_sees_the_votes_and_passes_every_gate(modelled):
    project = modelled.project
    [[made]] = project.sql("SELECT family_id FROM families.candidates WHERE cycle = '0002'")
    turns = project.sql(
        f"SELECT tools, outcome, record_sha FROM session_turns WHERE artifact_id = '{made}' ORDER BY turn"
    )
    assert [row[1] for row in turns] == [None] * 6 + ["finished"]
    parts = [
        [done["result"] for done in json.loads(BlobStore(project.lake).get(row[2]))["calls"]] for row in turns
    ]
    assert "the generator gave none" in parts[2][0] and parts[4][0].startswith("Instance 1:\n")
    assert parts[5][0].splitlines()[1:] == [
        f"Instance {number}: 2 of 2 others agree with your validator" for number in (1, 2)
    ]
    outcomes = project.sql(
        "SELECT role, outcome, count(DISTINCT session_id) FROM session_turns WHERE outcome IS NOT NULL "
        "GROUP BY ALL"
    )
    assert outcomes == [["families_evolution_session", "finished", 3]]
    assert project.sql("SELECT cycle, came, passed, blocked FROM funnel('families') WHERE gate = 'made'") == [
        ["0002", 3, 1, 2]
    ]


def test_missing_validators_are_written_and_a_reply_that_is_no_family_or_one_that_is_there_is_no_candidate(
    modelled,
):
    assert candidates(modelled.project, "0002") == [[1, 0, "accepted", None, None]]
    unmade = modelled.project.sql(
        "SELECT number, reason FROM families.unmade WHERE cycle = '0002' ORDER BY number"
    )
    assert [row[0] for row in unmade] == [0, 2]
    assert unmade[0][1].endswith("is there already")
    assert unmade[1][1] == "nothing comes to mind"
    parents = modelled.project.sql("SELECT len(parents) FROM families.candidates WHERE cycle = '0002'")
    assert parents[0][0] > 1  # it named none, and was shown several


def test_guidance_and_lessons_are_shown_from_the_next_cycle_on(modelled):
    lessons = [
        row[0] for row in modelled.project.sql("SELECT item FROM families.experience WHERE cycle = '0001'")
    ]
    assert lessons
    first = [text for text in modelled.scripted.prompts["evolve"] if GUIDANCE not in text]
    second = sorted({text for text in modelled.scripted.prompts["session"] if GUIDANCE in text})
    assert (len(first), len(second)) == (6, 3)  # one of the first cycle's drafts was measured and corrected
    assert not [text for text in modelled.scripted.prompts["session"] if GUIDANCE not in text]
    assert all(lesson in text for lesson in lessons for text in second)
    assert not [lesson for lesson in lessons for text in first if lesson in text]


def test_blind_reviewers_see_the_text_and_nothing_else(modelled):
    first = [text for text in modelled.scripted.prompts["blind"] if "  output: " not in text]
    assert first
    assert not [text for text in first if "def solution" in text or "def input" in text]
    ids = {
        row[0]
        for row in modelled.project.sql(
            "SELECT family_id FROM families.candidates UNION SELECT family_id FROM families.seeds"
        )
    }
    said = "\n".join(text for texts in modelled.scripted.prompts.values() for text in texts)
    assert not [name for name in ids if name in said]


def test_drift_of_new_families_against_their_parents_is_measured(modelled):
    rows = modelled.project.sql(
        "SELECT cycle, k, pairs, evolved, parent, delta FROM families.drift_summary ORDER BY cycle"
    )
    assert [row[:4] for row in rows] == [["0001", 1, 2, 0.0], ["0002", 1, 1, 0.0]]
    assert rows[0][4:] == [1.0, -1.0]  # its parents are seeds, which the scripted solves
    assert rows[1][5] == -rows[1][4]


def test_every_paid_reply_is_a_row_with_its_price(modelled):
    rows = modelled.project.sql(
        "SELECT backend, model, round(usd, 9), input_tokens, output_tokens, status FROM agent_calls WHERE "
        "backend = 'model'"
    )
    assert {(row[0], row[1], row[5]) for row in rows} == {
        ("model", "played", "ok"),
        ("model", "played", "replayed"),
    }
    paid = [row for row in rows if row[5] == "ok"]
    assert [row[2] for row in paid] == [usd_of(row[3], row[4]) for row in paid]
    assert len(paid) == sum(map(len, modelled.scripted.prompts.values()))
    assert {row[2] for row in rows if row[5] == "replayed"} == {
        0.0
    }  # authors of a mended family with the same statement
    each = modelled.project.sql(
        "SELECT usd_each FROM families.resources WHERE outcome = 'all' ORDER BY cycle"
    )
    assert [row[0] > 0 for row in each] == [True, True]


def test_no_key_is_stored_anywhere(modelled):
    assert_no_key(modelled.project)


def test_a_cycle_replays_from_the_tape_with_the_server_gone(modelled):
    """Another lake that has nothing but the seeds and the tape."""
    assert_replays(modelled.project, modelled.other, "families", "resources")


def test_seeds_are_reviewed_by_operators_and_rows_say_so(modelled):
    rows = modelled.project.sql("SELECT DISTINCT evidence, reviewed_by FROM families.seed_evidence")
    assert rows == [["made", "operators"]]  # these rule and seed folders come without evidence
    assert modelled.project.sql(
        "SELECT count(*) FROM agent_calls WHERE cycle = '0000' AND backend = 'model'"
    ) == [[0]]


def test_every_attempt_has_its_idea_and_outcome_and_what_was_measured_has_its_cost(modelled):
    rows = modelled.project.sql(
        "SELECT cycle, number, outcome, idea, reason IS NULL FROM families.ideas ORDER BY cycle, number"
    )
    assert [row[:3] for row in rows] == [
        ["0001", 0, "accepted"],
        ["0001", 1, "accepted"],
        ["0001", 2, "blocked"],
        ["0002", 0, "unmade"],
        ["0002", 1, "accepted"],
        ["0002", 2, "unmade"],
    ]
    assert [row[3] for row in rows[:3]] == ["Idea of Switch.", "Idea of Pipe.", "Idea of Guard."]
    measured = modelled.project.sql(
        "SELECT cycle, number, outcome, len(faults) > 0, calls > 0 FROM families.measured_drafts ORDER BY "
        "number"
    )
    assert [row[:4] for row in measured] == [
        ["0001", 0, "no fault", False],
        ["0001", 1, "no fault", False],
        ["0001", 2, "corrected", True],
    ]
    assert all(row[4] for row in measured)
    made = modelled.project.sql("SELECT family_id FROM families.ideas WHERE cycle = '0001' AND number = 0")[
        0
    ][0]
    assert "Idea of Switch." in modelled.project.run("show", made).stdout


def test_the_second_cycle_knows_what_the_first_one_tried(modelled):
    second = [text for text in modelled.scripted.prompts["session"] if GUIDANCE in text]
    assert all(
        "Idea of Guard." in text and "blocked" in text and "Idea of Switch." in text for text in second
    )
