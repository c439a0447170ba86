"""Champions of the prompts line as system prompts of roles: which text is read, what the rows say, and what
is refused before any work."""

from pathlib import Path

import pytest
from agent_backend_fixtures import AddReply, AddRequest, add_role
from loopback_model import KEY, LoopbackModel, say, serve
from pydantic import SecretStr

from evolake.agents import Agents, open_agents
from evolake.agents.system_prompts import SystemPromptText, headed, resolve
from evolake.errors import CorruptPart, InputError
from evolake.lake import Lake
from evolake.prompts.evolution.population import Population, found_population
from evolake.prompts.model.prompt import SystemPrompt, prompt_of
from evolake.prompts.tables import PROMPTS
from evolake.settings import BudgetSettings, Settings

FIRST, SECOND, EMPTY = prompt_of(["Be exact."]), prompt_of(["Be exact.", "Be brief."]), prompt_of([])


def seal(lake: Lake, cycle: str, population: Population, *, state: str = "sealed") -> None:
    """The population as the one that enters a cycle."""
    record = lake.publish(
        "prompts", "incoming_prompts", population.prompts, cycle=cycle, run_id="run", schema=PROMPTS
    )
    before = lake.seals.read("prompts", f"{int(cycle) - 1:04d}") if cycle != "0001" else None
    lake.seals.seal(
        "prompts",
        cycle,
        f"version {cycle}",
        before.version if before else None,
        "run",
        {"incoming_prompts": record.content_sha},
    )
    if state == "reopened":
        lake.seals.reopen("prompts", cycle, "run", line="designs")


@pytest.fixture
def lake(tmp_path) -> Lake:
    """Cycle 1 is entered without a champion, 2 with the first prompt as champion, 3 with the second."""
    lake = Lake(tmp_path)
    population = found_population({"first": FIRST, "second": SECOND, "empty": EMPTY}, "0001")
    seal(lake, "0001", population)
    seal(lake, "0002", population.with_champion(FIRST.prompt_id, 10))
    seal(lake, "0003", population.with_champion(SECOND.prompt_id, 10))
    return lake


def agents_of(
    server: LoopbackModel, folder: Path, named: dict[str, str], cycle: str = "0003", **more
) -> Agents:
    settings = Settings(
        **{
            "backend": "model",
            "model_base_url": server.base_url,
            "model_api_key": SecretStr(KEY),
            "models": {"default": "m"},
            "budget": BudgetSettings(tokens_per_run=1_000_000),
            "system_prompts": named,
            "model_repairs": 1,
        }
        | more
    )
    return open_agents(settings, folder, cycle, "run", line="designs")


def text_of(prompt: SystemPrompt) -> SystemPromptText:
    return SystemPromptText(prompt.prompt_id, prompt.text())


@pytest.mark.parametrize(("cycle", "champion"), [("0002", FIRST), ("0003", SECOND), ("0017", SECOND)])
def test_the_champion_is_the_one_that_was_sealed_when_the_cycle_began(lake, cycle, champion):
    assert resolve(lake, {"adder": "champion"}, cycle) == {"adder": text_of(champion)}


def test_a_population_that_is_reopened_or_stands_on_one_does_not_count(lake):
    lake.seals.reopen("prompts", "0003", "run")
    assert resolve(lake, {"adder": "champion"}, "0009") == {"adder": text_of(FIRST)}
    lake.seals.reopen("prompts", "0002", "run")
    with pytest.raises(InputError, match="no champion for cycle 0009"):
        resolve(lake, {"adder": "champion"}, "0009")


def test_an_id_or_its_beginning_names_a_prompt_whatever_the_cycle(lake):
    named = {"adder": SECOND.prompt_id, "default": FIRST.prompt_id[:8]}
    assert (
        resolve(lake, named, "0001")
        == resolve(lake, named, "one_shot-1")
        == {"adder": text_of(SECOND), "default": text_of(FIRST)}
    )


@pytest.mark.parametrize(
    ("name", "cycle", "what"),
    [
        ("champion", "0001", "no champion for cycle 0001"),
        ("champion", "one_shot-1", "cannot serve 'one_shot-1'"),
        ("0" * 64, "0003", "no system prompt"),
        (FIRST.prompt_id[:7], "0003", "no system prompt"),
        ("", "0003", "no system prompt"),
    ],
)
def test_what_names_no_prompt_is_refused(lake, name, cycle, what):
    with pytest.raises(InputError, match=what):
        resolve(lake, {"adder": name}, cycle)


def test_a_lake_without_the_prompts_line_is_told_apart(tmp_path):
    with pytest.raises(InputError, match="no champion") as caught:
        resolve(Lake(tmp_path), {"adder": "champion"}, "0001")
    assert "evolake run --lines prompts" in str(caught.value)


def test_a_population_other_than_the_sealed_one_is_no_source(lake):
    changed = found_population({"first": FIRST}, "0001").with_champion(FIRST.prompt_id, 10)
    lake.publish("prompts", "incoming_prompts", changed.prompts, cycle="0003", run_id="other", schema=PROMPTS)
    with pytest.raises(CorruptPart, match="not what was sealed"):
        resolve(lake, {"adder": "champion"}, "0003")


def test_a_text_stands_before_the_roles_own_instructions():
    messages = [{"role": "system", "content": "Add."}, {"role": "user", "content": "2 3"}]
    assert headed(messages, None) == headed(messages, text_of(EMPTY)) == messages
    assert headed(messages, SystemPromptText("x", "Be\x00 exact.")) == [
        {"role": "system", "content": "Be\ufffd exact.\n\nAdd."},
        messages[1],
    ]


def test_a_role_reads_its_prompt_and_its_rows_say_so(lake, tmp_path):
    role = add_role(tmp_path)
    with (
        LoopbackModel([say("no json"), say({"total": 5})]) as server,
        agents_of(server, tmp_path, {"adder": "champion"}) as agents,
    ):
        assert agents.call(role, AddRequest(a=2, b=3), seed=0).value == AddReply(total=5)
        assert [row["prompt_id"] for row in agents.rows()] == [SECOND.prompt_id] * 2
    assert all(asked.messages[0]["content"].startswith(SECOND.text() + "\n\n") for asked in server.requests)
    assert "JSON Schema" in server.requests[0].messages[0]["content"]


def test_another_prompt_is_another_call_and_the_same_one_replays(lake, tmp_path):
    role = add_role(tmp_path)
    with LoopbackModel(serve(lambda asked: {"total": 5})) as server:
        for cycle in ("0002", "0003", "0002", "0004"):
            with agents_of(server, tmp_path, {"adder": "champion"}, cycle) as agents:
                agents.call(role, AddRequest(a=2, b=3), seed=0)
    assert [asked.messages[0]["content"].split("\n\n")[0] for asked in server.requests] == [
        FIRST.text(),
        SECOND.text(),
    ]


def test_a_missing_champion_stops_before_any_work(tmp_path):
    with LoopbackModel([]) as server, pytest.raises(InputError, match="no champion"):
        agents_of(server, tmp_path, {"adder": "champion"})
    assert server.requests == []


def test_operators_read_no_prompts_and_name_none(tmp_path):
    with open_agents(
        Settings(system_prompts={"default": "champion"}), tmp_path, "0001", "run", line="designs"
    ) as agents:
        agents.call(add_role(tmp_path), AddRequest(a=2, b=3), seed=0)
        assert [row["prompt_id"] for row in agents.rows()] == [None]


def test_the_environment_names_prompts_by_role(monkeypatch):
    monkeypatch.setenv("EVOLAKE_SYSTEM_PROMPTS__SOLVERS_PLANNER", "champion")
    assert Settings().system_prompts == {"solvers_planner": "champion"}
