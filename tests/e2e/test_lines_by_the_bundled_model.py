"""A real model that understands little: the small bundled one, behind the server of a well-kept library on
loopback, drives a cycle of two lines and a cell of the repair study. Prompts of the other lines are too
long for it.

It may fail at every gate, and mostly does. What is asked here: nothing crashes, every call is a row whose
tokens are the server's and whose price is theirs, attempts that came to nothing are counted, and cycles are
sealed all the same.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from bundled_model_server import Server, serving
from designs_fixtures import Project, open_project
from project_steps import USD_A_MILLION_TOKENS, by_a_model, run_here, usd_of

from evolake.programs.commands.group import FILES
from pipelines.home import ensure_home

pytestmark = [pytest.mark.e2e, pytest.mark.slow]
SMALL = {
    "EVOLAKE_REPAIR__CANDIDATES": "1",
    "EVOLAKE_REPAIR__ROUNDS": "1",
    "EVOLAKE_MODEL_MAX_OUTPUT_TOKENS": "8",
    "EVOLAKE_MODEL_REPAIRS": "0",
    "EVOLAKE_MODEL_TIMEOUT_S": "600",
}
LINES = {
    "programs": {
        "EVOLAKE_PROGRAMS__GENERATIONS_PER_CYCLE": "1",
        "EVOLAKE_PROGRAMS__CANDIDATES_PER_GENERATION": "1",
        "EVOLAKE_PROGRAMS__ISLANDS": "1",
        "EVOLAKE_PROGRAMS__WRITER": "one-shot",
    },
    "prompts": {
        "EVOLAKE_PROMPTS__POLICY": "endpoint",
        "EVOLAKE_PROMPTS__ARM": "evolution",
        "EVOLAKE_PROMPTS__BATCH_PROBLEMS": "1",
        "EVOLAKE_PROMPTS__MAX_TOKENS": "8",
        "EVOLAKE_PROMPTS__ROLLOUTS": "2",
        "EVOLAKE_PROMPTS__HELDOUT_PROBLEMS": "1",
        "EVOLAKE_PROMPTS__DUEL_PROBLEMS": "1",
    },
}


@dataclass(frozen=True)
class Modelled:
    """A project after one cycle of every line and a cell of the repair study, what the commands said, and the
    server, which still listens."""

    project: Project
    said: dict[str, str]
    server: Server


@pytest.fixture(scope="module")
def modelled(tmp_path_factory) -> Iterator[Modelled]:
    folder = tmp_path_factory.mktemp("bundled")
    project = folder / "projects" / "fit"
    project.mkdir(parents=True)
    for file, text in FILES.items():
        (project / file).write_text(text)
    with serving(folder) as server:
        project = open_project(
            folder,
            **by_a_model(
                server.base_url,
                **SMALL,
                EVOLAKE_MODELS=json.dumps({"default": server.model}),
                EVOLAKE_PROGRAMS__PROJECTS=str(project),
                EVOLAKE_PRICES=json.dumps({server.model: USD_A_MILLION_TOKENS}),
            ),
        )
        ensure_home(folder / "home")
        for settings in LINES.values():
            project.environment.update(settings)
        said = {line: run_here(project, line).stdout for line in LINES}
        said["repair"] = project.run(
            "repair",
            "run",
            "--problems",
            "1",
            "--seeds",
            "1",
            "--perturbed",
            "0",
            "--transfer",
            "0",
            "--arms",
            "multi_generic_feedback",
        ).stdout
        yield Modelled(project, said, server)


ATTEMPTED = ("programs",)
"""Lines that asked for proposals."""


def test_every_cycle_is_sealed_though_no_attempt_came_to_anything(modelled):
    assert modelled.project.sql("SELECT line, cycle, state FROM seals ORDER BY line, cycle") == [
        [line, cycle, "sealed"] for line in sorted(LINES) for cycle in ("0001", "0002")
    ]
    assert "1 cells run" in modelled.said["repair"]
    for line in ATTEMPTED:
        assert "every proposal of cycle 0001 failed" in modelled.said[line]
        made = f"SELECT came, passed, blocked FROM funnel('{line}') WHERE cycle = '0001' AND gate = 'made'"
        assert modelled.project.sql(made) == [[1, 0, 1]], line


def test_every_answer_is_a_row_with_the_servers_tokens_and_their_price(modelled):
    rows = modelled.project.sql(
        "SELECT line, model, status, input_tokens, output_tokens, usd FROM calls WHERE backend = 'model'"
    )
    asked_before_work = len(LINES)  # by each `evolake run`, for its server does not list the model
    assert len(rows) == modelled.server.answered() - asked_before_work
    assert {row[0] for row in rows} == {*LINES, "repair"} and {row[1] for row in rows} == {
        modelled.server.model
    }
    assert all(row[3] > 0 and row[4] > 0 for row in rows)
    assert [round(row[5], 9) for row in rows] == [usd_of(row[3], row[4]) for row in rows]


def test_replies_of_a_policy_are_rollouts(modelled):
    assert modelled.project.sql("SELECT count(*), count(reply) FROM prompts.rollouts") == [[4, 4]]
