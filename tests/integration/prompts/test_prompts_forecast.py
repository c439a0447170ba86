"""The forecast of the prompts line beside two cycles that a played model edited."""

import pytest
from loopback_model import LoopbackModel
from prompts_fixtures import Adder, iterate, model_agents
from prompts_scripted_model import Editor

from evolake.agents.forecast import LineForecast, forecasts
from evolake.lake import AGENT_CALLS, Lake, side_table
from evolake.prompts.evolution.population import found_population
from evolake.prompts.model.prompt import prompt_of
from evolake.prompts.settings import PromptsSettings
from evolake.prompts.tables import JOURNAL
from evolake.settings import Settings, load

Counts = dict[str, int]


@pytest.fixture
def settings(tmp_path, monkeypatch) -> Settings:
    monkeypatch.setenv("EVOLAKE_LAKE", str(tmp_path))
    monkeypatch.setenv("EVOLAKE_MODELS", '{"default": "m"}')
    return load("demo").model_copy(update={"backend": "model"})


def played(base_url: str, lake: Lake, settings: Settings, cycle: str, seed: int) -> Counts:
    """Run one iteration of the demo's sizes, as a finished cycle of the lake: how often each role was
    called."""
    numbers = iter(range(1000))
    with model_agents(base_url, lake.root / cycle) as agents:
        agents.cycle = agents.backend.cycle = cycle  # type: ignore[attr-defined]
        iterate(
            found_population(
                {"a": prompt_of(["Add."]), "b": prompt_of(["Be exact.", f"Way {next(numbers)}."])}, "0000"
            ),
            Adder(skill=lambda prompt: 0.5),
            agents=agents,
            arm="evolution",
            settings=settings.of(PromptsSettings),
            root_seed=seed,
            cycle=cycle,
        )
        rows = agents.rows()
    lake.publish("prompts", "iterations", JOURNAL.frame([]), cycle=cycle, run_id="r", schema=JOURNAL)
    lake.publish(
        "prompts",
        side_table("iterations", AGENT_CALLS),
        AGENT_CALLS.frame(rows),
        cycle=cycle,
        run_id="r",
        schema=AGENT_CALLS,
    )
    return {role: sum(row["role"] == role for row in rows) for role in {row["role"] for row in rows}}


def forecast(settings: Settings, lake: Lake) -> LineForecast:
    (result,) = forecasts(settings, lake.root, ["prompts"])
    return result


def test_a_cycle_stays_below_the_most_and_near_what_the_cycle_before_says(settings, tmp_path):
    lake = Lake(tmp_path)
    lake.seals.seal("prompts", "0001", "one", None, "r")
    editor = Editor(
        local=lambda user: {"edits": [{"kind": "add", "text": f"Commit to a result, {len(user)}."}]}
    )
    with LoopbackModel(editor) as server:
        before = forecast(settings, lake)
        first = played(server.base_url, lake, settings, "0001", 1)
        lake.seals.seal("prompts", "0002", "two", "one", "r")
        after = forecast(settings, lake)
        second = played(server.base_url, lake, settings, "0002", 2)
    for said, called in ((before, first), (after, second)):
        most = {row.role: row.calls_most for row in said.rows}
        assert all(count <= most.get(role, 0) for role, count in called.items()), (called, most)
    assert after.cycles == ("0001",)
    assert sum(second.values()) / 2 <= after.total.calls_likely <= 2 * sum(second.values())
