"""What an endpoint takes and does not give, says of its own counts, and says it is: charged, not believed,
and seen."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from agent_backend_fixtures import AddReply, AddRequest, add_role
from loopback_model import DRIP, KEY, RESET, Action, LoopbackModel, Script, completion, raw, say, status

from evolake.agents import AgentFailure, Agents, open_agents
from evolake.errors import AgentUnavailable, BudgetExhausted
from evolake.settings import BudgetSettings, PriceSettings, Settings

REQUEST = AddRequest(a=2, b=3)
PRICE = PriceSettings(input=1.0, output=10.0)
LIMIT = 500


def agents_for(server: LoopbackModel, folder: Path, **changes: Any) -> Agents:
    values: dict[str, Any] = {
        "backend": "model",
        "model_base_url": server.base_url,
        "model_api_key": KEY,
        "models": {"default": "gpt-test"},
        "prices": {"gpt-test": PRICE},
        "budget": BudgetSettings(tokens_per_run=100_000),
        "model_timeout_s": 0.2,
        "model_max_output_tokens": LIMIT,
    }
    return open_agents(
        Settings(**(values | changes)), folder, "0001", "run-1", line="designs", wait=lambda _: 0.0
    )


def called(
    script: Script, folder: Path, *, after: Agents | None = None, **changes: Any
) -> tuple[Any, list[dict[str, Any]], Agents, int]:
    """(result or error, rows, the agents, number of requests). after: agents whose endpoint is asked
    again."""
    port = int(after.backend.address.rpartition(":")[2].partition("/")[0]) if after else 0  # type: ignore[attr-defined]
    with LoopbackModel(script, port) as server, agents_for(server, folder, **changes) as agents:
        try:
            result: Any = agents.call(add_role(folder), REQUEST, seed=0).value
        except (AgentUnavailable, BudgetExhausted) as error:
            result = error
        return result, agents.rows(), agents, len(server.requests)


BROKEN = Action(headers={"Content-Encoding": "gzip"}, body=b"not gzip at all" * 9)


@pytest.mark.parametrize("trouble", [RESET, DRIP, BROKEN], ids=["reset", "drip", "broken body"])
def test_a_try_that_went_out_for_nothing_is_a_row_and_is_charged_by_estimate(tmp_path, trouble):
    result, rows, agents, asked = called([trouble, trouble, say({"total": 5})], tmp_path)
    assert (result, [row["status"] for row in rows], asked) == (
        AddReply(total=5),
        ["lost+no_usage", "lost+no_usage", "ok"],
        3,
    )
    lost, final = rows[0], rows[-1]
    assert (lost["input_tokens"], lost["output_tokens"], lost["usd"], lost["response_sha"]) == (
        None,
        None,
        None,
        None,
    )
    assert len({row["call_id"] for row in rows}) == 3
    assert agents.spent.calls == 3
    most = agents.spent.tokens - final["input_tokens"] - final["output_tokens"]
    assert most >= 2 * LIMIT and agents.spent.usd >= (final["usd"] or 0) + 2 * LIMIT * PRICE.output / 1e6
    lines = (tmp_path / "tape" / "accounts" / "run-run-1.jsonl").read_text().split()
    assert sum(line.count("/lost/") for line in lines) == 2


def test_what_was_lost_before_the_endpoint_died_is_charged(tmp_path):
    result, rows, agents, asked = called([RESET], tmp_path, model_max_retries=2)
    assert isinstance(result, AgentUnavailable) and asked == 3
    assert [row["status"] for row in rows] == ["lost+no_usage"] * 3 and agents.spent.tokens >= 3 * LIMIT


def test_no_further_try_is_made_past_the_budget(tmp_path):
    result, rows, _, asked = called(
        [RESET], tmp_path, budget=BudgetSettings(tokens_per_run=2 * LIMIT), model_max_retries=5
    )
    assert isinstance(result, BudgetExhausted) and asked == len(rows) < 3


def test_an_endpoint_that_was_never_reached_and_one_that_says_no_cost_nothing(tmp_path):
    result, rows, agents, _ = called(
        [say({})], tmp_path, model_base_url="http://127.0.0.1:9/v1", model_max_retries=1
    )
    assert isinstance(result, AgentUnavailable) and rows == [] and agents.spent.calls == 0
    result, rows, agents, _ = called([status(500), status(429), say({"total": 5})], tmp_path)
    assert (
        result == AddReply(total=5) and [row["status"] for row in rows] == ["ok"] and agents.spent.calls == 1
    )


@pytest.mark.parametrize(
    "usage",
    [
        {"prompt_tokens": 0, "completion_tokens": 0},
        {"prompt_tokens": 100, "completion_tokens": 0},
        {"prompt_tokens": 0, "completion_tokens": 20},
        {"prompt_tokens": 2**52, "completion_tokens": 20},
        {"prompt_tokens": 100, "completion_tokens": 2**52},
    ],
    ids=str,
)
def test_counts_that_cannot_be_true_are_not_believed_and_replay_so(tmp_path, usage):
    script = [say({"total": 5}, usage=usage)]
    result, rows, agents, _ = called(script, tmp_path)
    assert (result, [row["status"] for row in rows]) == (AddReply(total=5), ["ok+odd_usage"])
    assert (rows[0]["input_tokens"], rows[0]["output_tokens"], rows[0]["usd"]) == (None, None, None)
    assert 10 < agents.spent.tokens < 10_000 and agents.spent.usd > 0
    again, rows, agents, asked = called(script, tmp_path, after=agents)
    assert (again, [row["status"] for row in rows], asked, agents.spent.tokens) == (
        AddReply(total=5),
        ["replayed+odd_usage"],
        0,
        0,
    )


@pytest.mark.parametrize(
    "usage",
    [{"prompt_tokens": -5, "completion_tokens": 20}, {"prompt_tokens": 1e9, "completion_tokens": "x"}, [], 7],
    ids=str,
)
def test_counts_that_are_none_are_charged_by_estimate(tmp_path, usage):
    result, rows, agents, _ = called([say({"total": 5}, usage=usage)], tmp_path)
    assert (result, [row["status"] for row in rows]) == (
        AddReply(total=5),
        ["ok+no_usage"],
    ) and agents.spent.tokens > 10


def by(model: str) -> Action:
    return raw(json.dumps(completion({"total": 5}) | {"model": model}).encode())


def test_another_model_is_seen_on_the_row_of_the_call_and_of_its_replay(tmp_path):
    result, rows, agents, _ = called([by("cheap model")], tmp_path)
    assert (result, rows[0]["model"], rows[0]["status"]) == (
        AddReply(total=5),
        "gpt-test",
        "ok+answered_by:cheap_model",
    )
    _, rows, _, asked = called([by("cheap model")], tmp_path, after=agents)
    assert (rows[0]["status"], asked) == ("replayed+answered_by:cheap_model", 0)


def test_a_snapshot_of_the_model_is_the_model(tmp_path):
    result, rows, _, _ = called([by("gpt-test-2025-04-14")], tmp_path, model_strict=True)
    assert (result, rows[0]["status"]) == (AddReply(total=5), "ok")


def test_by_setting_another_model_is_an_error_that_is_charged_and_kept_off_the_tape(tmp_path):
    result, _, _, asked = called([by("cheap")], tmp_path, model_strict=True)
    assert (
        isinstance(result, AgentUnavailable)
        and (result.wanted, result.got, asked) == ("gpt-test", "cheap", 1)
        and result.do
    )
    assert "120" in (tmp_path / "tape" / "accounts" / "run-run-1.jsonl").read_text()
    result, rows, _, asked = called([by("gpt-test")], tmp_path, model_strict=True)
    assert (result, rows[0]["status"], asked) == (
        AddReply(total=5),
        "ok",
        1,
    )  # the endpoint was mended: it is asked again


def test_by_setting_a_taped_reply_of_another_model_is_an_error_until_it_is_allowed(tmp_path):
    _, _, agents, _ = called([by("cheap")], tmp_path)
    result, _, _, asked = called([by("cheap")], tmp_path, after=agents, model_strict=True)
    assert isinstance(result, AgentUnavailable) and asked == 0
    result, _, _, _ = called([by("cheap")], tmp_path, after=agents)
    assert result == AddReply(total=5)


def test_a_crowd_of_objects_in_a_reply_is_a_failed_attempt(tmp_path):
    crowd = "[" + "{}," * 1_000_000 + "{}]"
    envelope = raw(b'{"choices": ' + crowd.encode() + b"}")
    room = BudgetSettings(tokens_per_run=10**7)
    result, rows, _, _ = called(
        [say(crowd), envelope, say({"total": 5})], tmp_path, model_timeout_s=20.0, budget=room
    )
    assert result == AddReply(total=5)
    assert [row["status"].partition("+")[0] for row in rows] == ["invalid", "too_large", "ok"]


def test_a_compressed_reply_is_read_and_a_bomb_is_cut_off_at_the_cap(tmp_path):
    good = json.dumps(completion({"total": 5}) | {"model": "gpt-test"}).encode()
    bomb = gzip.compress(b" " * 200_000_000)
    packed = [Action(headers={"Content-Encoding": "gzip"}, body=body) for body in (bomb, gzip.compress(good))]
    result, rows, _, _ = called(packed, tmp_path, model_timeout_s=20.0)
    assert result == AddReply(total=5)
    assert [row["status"].partition("+")[0] for row in rows] == ["too_large", "ok"]


def test_deep_json_is_a_failed_attempt_everywhere(tmp_path):
    deep = [raw(b'{"choices":' * 40_000), say("[" * 100_000), say('{"total":' * 50_000)]
    result, rows, _, _ = called(deep, tmp_path, model_timeout_s=20.0)
    assert isinstance(result, AgentFailure) and len(rows) == 3
