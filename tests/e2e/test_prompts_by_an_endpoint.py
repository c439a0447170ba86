"""Evolution without training: the policy is an endpoint. Its champion is then the system prompt of another
line's role, and lineage says so.

The server is a script that answers rightly when it reads two principles or more, and every other time when it
reads one: so evolution has something to find, and what it finds is known.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

import pytest
from designs_fixtures import ROOT, Project, open_project
from designs_scripted_model import PlayedModel
from loopback_model import KEY, Action, Asked, LoopbackModel, say
from project_steps import inside, materialize, within_forecast

from evolake.prompts.model.problems import read_problems

pytestmark = pytest.mark.e2e
PROBLEMS = {
    problem.text: problem
    for problem in read_problems(ROOT / "data_lake" / "seeds" / "prompts" / "problems.jsonl", "last")
}
READER = "designs_planner_directions"


class ScriptedModel:
    """Answers problems as said above, and the roles of the designs line as `PlayedModel` does."""

    def __init__(self) -> None:
        self.designs, self.seen, self.asked = PlayedModel(), Counter[str](), 0

    def __call__(self, asked: Asked) -> Action:
        problem = PROBLEMS.get(asked.messages[-1]["content"])
        if problem is None:
            return self.designs(asked)
        self.asked += 1
        system = asked.messages[0]["content"] if asked.messages[0]["role"] == "system" else ""
        principles = len(re.findall(r"^\[p\d+\]", system, re.MULTILINE))
        self.seen[system + problem.text] += 1
        right = principles > 1 or self.seen[system + problem.text] % 2 == 0
        return say(
            f"The answer is {json.loads(problem.answer)}"
            if right
            else "I would say that nobody can know this"
        )


@dataclass(frozen=True)
class Evolved:
    project: Project
    scripted: ScriptedModel
    asked: list[Asked]


@pytest.fixture(scope="module")
def evolved(tmp_path_factory) -> Iterator[Evolved]:
    scripted = ScriptedModel()
    with LoopbackModel(scripted) as server:
        project = open_project(
            tmp_path_factory.mktemp("endpoint"),
            EVOLAKE_MODEL_BASE_URL=server.base_url,
            EVOLAKE_MODEL_API_KEY=KEY,
            EVOLAKE_MODELS='{"default": "played"}',
            EVOLAKE_BUDGET__TOKENS_PER_RUN="1000000",
            EVOLAKE_PROMPTS__POLICY="endpoint",
            EVOLAKE_PROMPTS__ARM="evolution",
            EVOLAKE_PROMPTS__ITERATIONS_PER_CYCLE="3",
        )
        with inside(project), within_forecast("prompts"):
            project.run("run", "--cycles", "1", "--lines", "prompts,designs")
        steered = {"EVOLAKE_BACKEND": "model", "EVOLAKE_SYSTEM_PROMPTS": json.dumps({READER: "champion"})}
        materialize(
            replace(project, environment=project.environment | steered), "designs", "0002", "directions"
        )
    yield Evolved(project, scripted, server.requests)


def champion(project: Project) -> tuple[str, str]:
    """(id, text) of the champion after the first cycle."""
    return tuple(
        project.sql(
            "SELECT prompt_id, text FROM prompts.survivors WHERE cycle = '0001' AND state = 'champion'"
        )[0]
    )


def test_evolution_finds_the_prompt_that_the_server_answers_rightly_under(evolved):
    decisions = evolved.project.sql(
        "SELECT champion_id, challenger_id, wins, champion_share, challenger_share, low > 0 FROM "
        "prompts.champion"
    )
    roots = evolved.project.sql("SELECT prompt_id FROM prompts.seeds")
    assert [row[2:] for row in decisions] == [[True, decisions[0][3], 1.0, True]]
    assert decisions[0][0] == roots[0][0]
    assert decisions[0][1] == champion(evolved.project)[0]
    assert evolved.project.sql(
        "SELECT count(*) FILTER (mu > 25) FROM prompts.survivors WHERE state = 'champion'"
    ) == [[1]]


def test_no_weights_were_updated_and_every_rollout_was_a_call(evolved):
    assert evolved.project.sql("SELECT DISTINCT updated, checkpoint_sha FROM prompts.updates") == [
        [False, None]
    ]
    paid = "count(*) FILTER (status NOT LIKE 'replayed%')"
    calls = evolved.project.sql(
        f"SELECT backend, model, {paid}, count(*) FROM agent_calls WHERE role = 'prompts_policy' GROUP BY ALL"
    )
    assert [row[:3] for row in calls] == [["model", "played", evolved.scripted.asked]]
    assert evolved.project.sql("SELECT DISTINCT backend FROM prompts.edits") == [["operators"]]
    rollouts = evolved.project.sql("SELECT count(*) FROM prompts.rollouts")[0][0]
    replies = sum(
        evolved.project.sql(f"SELECT count(*) FROM prompts.{table}")[0][0]
        for table in ("duel_replies", "heldout")
    )
    assert rollouts == 3 * 2 * 4 * 4
    assert calls[0][3] == rollouts + replies


def test_the_champion_is_what_another_lines_role_reads_in_a_later_cycle(evolved):
    prompt_id, text = champion(evolved.project)
    assert len(re.findall(r"^\[p\d+\]", text, re.MULTILINE)) > 1
    read = [
        asked
        for asked in evolved.asked
        if asked.messages[-1]["content"] not in PROBLEMS and text in asked.messages[0]["content"]
    ]
    assert read
    assert all(asked.messages[0]["role"] == "system" for asked in read)
    rows = evolved.project.sql(
        "SELECT DISTINCT role, cycle, prompt_id FROM agent_calls WHERE role LIKE 'designs%' AND backend = "
        "'model'"
    )
    assert {tuple(row) for row in rows if row[2]} == {(READER, "0002", prompt_id)}
    assert READER in {row[0] for row in rows}, "of so few designs no lookup is asked for"


def test_lineage_shows_where_the_role_has_its_prompt_from(evolved):
    prompt_id, _ = champion(evolved.project)
    rows = evolved.project.cookbook("system_prompts_in_use", line="designs")
    assert [row[:3] for row in rows] == [[prompt_id, "champion", READER]]
    roots = evolved.project.sql("SELECT prompt_id FROM prompts.seeds")
    assert roots[0][0] in json.dumps(evolved.project.cookbook("champion_ancestors", line="prompts"))
