"""What a cycle by a model will cost: from the settings without history, from the lake with it, and which
limit stops it."""

import json
import shutil
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from designs_fixtures import ROOT

from evolake.agents.calls import AgentCall
from evolake.agents.forecast import LineForecast, forecast_sentence, forecasts
from evolake.cli.run import run
from evolake.families.evolution.shipped_seeds import SEEDS as FAMILIES
from evolake.lake import AGENT_CALLS, Lake, side_table
from evolake.lake.added_seeds import SeedItem, seeds_of
from evolake.lake.schemas import ENTERED, INCOMING, STATE
from evolake.prompts.settings import PromptsSettings
from evolake.prompts.tables import PROMPTS
from evolake.settings import BudgetSettings, PriceSettings, Settings, load

SEEDS = ROOT / "data_lake" / "seeds"
DEMO = {
    "EVOLAKE_PROFILE": "demo",
    "EVOLAKE_BACKEND": "model",
    "EVOLAKE_MODELS": '{"default": "m"}',
    "EVOLAKE_PRICES": '{"m": {"input": 1, "output": 10}}',
}


@pytest.fixture
def settings(tmp_path, monkeypatch) -> Settings:
    for name, value in DEMO.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("EVOLAKE_LAKE", str(tmp_path))
    return load()


def of_line(settings: Settings, lake: Path, name: str = "prompts") -> LineForecast:
    (result,) = forecasts(settings, lake, [name])
    return result


def finish(
    lake: Path, cycle: str, calls: dict[str, int], *, tokens: tuple[int, int] = (1000, 100), cached: int = 0
) -> None:
    """A finished cycle of the prompts line with these calls of roles, and the seal of the next one."""
    rows: list[dict[str, Any]] = [
        asdict(
            AgentCall(
                f"{cycle}-{role}-{number}",
                None,
                cycle,
                role,
                "model",
                "m",
                "p",
                "r",
                tokens[0],
                cached,
                tokens[1],
                0.0,
                1.0,
                0,
                "ok",
            )
        )
        for role, count in calls.items()
        for number in range(count)
    ]
    store = Lake(lake)
    store.publish("prompts", "iterations", PROMPTS.frame([]), cycle=cycle, run_id="r", schema=PROMPTS)
    store.publish(
        "prompts",
        side_table("iterations", AGENT_CALLS),
        AGENT_CALLS.frame(rows),
        cycle=cycle,
        run_id="r",
        schema=AGENT_CALLS,
    )
    before = None
    for name in (cycle, f"{int(cycle) + 1:04}"):
        if store.seals.read("prompts", name) is None:
            store.seals.seal("prompts", name, f"version {name}", before, "r")
        before = f"version {name}"


def test_without_history_the_settings_and_the_prompts_say_it(settings, tmp_path):
    result = of_line(settings, tmp_path)
    own = settings.of(PromptsSettings)
    by_role = {row.role: row for row in result.rows}
    assert result.cycle == "0001" and result.cycles == ()
    assert by_role["prompts_critic"].calls_most == own.batch_problems * (1 + settings.model_repairs)
    assert all(
        0 < row.calls_likely <= row.calls_most and 0 < row.tokens_likely < row.tokens_most
        for row in result.rows
    )
    critic = by_role["prompts_critic"]
    assert critic.tokens_most >= critic.calls_most * settings.model_max_output_tokens
    assert (
        result.total.usd_likely is not None
        and result.total.usd_most is not None
        and 0 < result.total.usd_likely < result.total.usd_most
    )


def test_finished_cycles_say_what_is_probable(settings, tmp_path):
    finish(
        tmp_path,
        "0001",
        {"prompts_critic": 3, "prompts_editor": 4, "prompts_consolidator": 1},
        tokens=(1000, 100),
    )
    result = of_line(settings, tmp_path)
    by_role = {row.role: row for row in result.rows}
    assert result.cycles == ("0001",) and result.cycle == "0002"
    assert (by_role["prompts_critic"].calls_likely, by_role["prompts_editor"].calls_likely) == (3, 4)
    assert by_role["prompts_critic"].tokens_likely == 3 * 1100
    assert by_role["prompts_critic"].usd_likely == pytest.approx(3 * (1000 * 1 + 100 * 10) / 1e6)


def test_what_a_cache_served_in_earlier_cycles_is_cheaper_in_the_forecast(settings, tmp_path):
    finish(tmp_path, "0001", {"prompts_critic": 3}, cached=600)
    price = settings.prices["m"].model_copy(update={"cached": 0.1})
    result = of_line(settings.model_copy(update={"prices": {"m": price}}), tmp_path)
    critic = next(row for row in result.rows if row.role == "prompts_critic")
    assert critic.cached_likely == result.total.cached_likely == 1800
    assert critic.usd_likely == pytest.approx(3 * (400 * 1 + 600 * 0.1 + 100 * 10) / 1e6)
    assert "tokens (1,800 of them cached), " in forecast_sentence([result])


@pytest.mark.parametrize(
    ("tokens", "reached", "words"),
    [
        (10, "probably", "probably stops it"),
        (200_000, "at most", "far more than is probable"),
        (10**9, "never", "is not reached"),
    ],
)
def test_the_limit_that_stops_a_cycle_first_is_named(settings, tmp_path, tokens, reached, words):
    limited = settings.model_copy(
        update={"budget": BudgetSettings(tokens_per_cycle=tokens, usd_per_run=10**6)}
    )
    result = of_line(limited, tmp_path)
    assert (result.limits[0].setting, result.limits[0].reached) == (
        "EVOLAKE_BUDGET__TOKENS_PER_CYCLE",
        reached,
    )
    assert words in result.stops and words in forecast_sentence([result])


def test_without_a_price_no_sum_in_usd_is_made_up(settings, tmp_path):
    priced = {"other": PriceSettings(input=1, output=1)}
    result = of_line(settings.model_copy(update={"prices": priced}), tmp_path)
    assert result.total.usd_most is None and "usd unknown" in forecast_sentence([result])


def test_operators_call_no_model_but_a_policy_behind_an_endpoint_does(settings, tmp_path, monkeypatch):
    monkeypatch.setenv("EVOLAKE_BACKEND", "operators")
    assert of_line(load(), tmp_path).rows == () and forecast_sentence([of_line(load(), tmp_path)]) == ""
    monkeypatch.setenv("EVOLAKE_PROMPTS__POLICY", "endpoint")
    assert [row.role for row in of_line(load(), tmp_path).rows] == ["prompts_policy"]


@pytest.fixture
def family(settings, tmp_path, monkeypatch) -> Path:
    """The one seed family there is."""
    monkeypatch.setenv("EVOLAKE_SEEDS", str(tmp_path / "seeds"))
    shutil.copytree(SEEDS / "rules", tmp_path / "seeds" / "rules")
    return shutil.copytree(SEEDS / "families" / "bus-legs", tmp_path / "seeds" / "families" / "bus-legs")


def reviews(lake: Path) -> int:
    """How often the quality of a family is reviewed at most: without repairs of replies."""
    rows = of_line(load(), lake, "families").rows
    most = next(row for row in rows if row.role == "families_quality_reviewer").calls_most
    return most // (1 + load().model_repairs)


def begin(lake: Path, *seeds: SeedItem) -> None:
    """Seal the first population of the families line, with these seeds."""
    entered = {item.sha: {"state": "accepted"} for item in seeds}
    state = STATE.frame([{"name": ENTERED, "value": json.dumps(entered)}])
    Lake(lake).publish("families", f"{INCOMING}state", state, cycle="0001", run_id="r", schema=STATE)
    Lake(lake).seals.seal("families", "0001", "version", None, "r")


@pytest.mark.parametrize("fault", ["reviewed by a model", "without its validators"])
def test_a_seed_family_that_the_model_has_to_review_is_counted_until_the_line_has_begun(
    family, tmp_path, monkeypatch, fault
):
    proposed = reviews(tmp_path)
    if fault == "reviewed by a model":
        monkeypatch.setenv("EVOLAKE_FAMILIES__SEED_REVIEW", "model")
    else:
        shutil.rmtree(family / "validators")
    assert reviews(tmp_path) == proposed + 1
    begin(tmp_path, *seeds_of(FAMILIES, load()))
    assert reviews(tmp_path) == proposed


def test_a_family_that_was_added_later_is_counted(family, tmp_path):
    proposed = reviews(tmp_path)
    begin(tmp_path)
    assert reviews(tmp_path) == proposed + 1


def test_the_study_of_repair_is_forecast_by_name(settings, tmp_path):
    whole = of_line(settings, tmp_path, "repair")
    rows = {row.role: row for row in whole.rows}
    assert whole.cycle == ""
    problems = 40 + 3 * 10 + 5
    named = 4  # the solver's core, and three that are shown in its words what is none
    assert rows["repair_core"].calls_most == named * problems * 4 * 4
    assert rows["repair_plain"].calls_most == problems * (1 + 4 * 4)


def test_the_dry_run_prints_a_table_and_starts_nothing(settings, tmp_path, monkeypatch):
    def started(*_: object, **__: object) -> None:
        raise AssertionError("something was started")

    monkeypatch.setattr("subprocess.Popen", started)
    done = CliRunner().invoke(run, ["--dry-run", "prompts", "designs"], standalone_mode=False)
    assert done.exception is None and done.return_value == 0, done.output
    assert (
        "prompts_editor" in done.output
        and "designs_designer" in done.output
        and "no budget is set" in done.output
    )
    told = CliRunner().invoke(run, ["--dry-run", "--json", "--lines", "prompts"], standalone_mode=False)
    value = json.loads(told.output)
    assert value["lines"][0]["total"]["calls_most"] == sum(
        row["calls_most"] for row in value["lines"][0]["roles"]
    )
    monkeypatch.setenv("EVOLAKE_BACKEND", "operators")
    assert (
        "No model is called"
        in CliRunner().invoke(run, ["--dry-run", "prompts"], standalone_mode=False).output
    )
