"""What was paid for is kept, replays at no cost, and the budget holds; against a real server on loopback."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import agent_backend_fixtures
import pytest
from agent_backend_fixtures import AddReply, AddRequest, add_role, sum_asked, values
from loopback_model import KEY, Action, Asked, LoopbackModel, say, serve, status

from evolake.agents import AgentFailure, Agents, open_agents
from evolake.agents.calls import Usage
from evolake.errors import AgentUnavailable, BudgetExhausted, CorruptPart, InputError
from evolake.settings import BudgetSettings, PriceSettings, Settings

REQUEST = AddRequest(a=2, b=3)
REQUESTS = [AddRequest(a=number, b=0) for number in range(8)]
ADDS = serve(lambda asked: sum_asked(asked.messages))
COSTS = (100 + 20 * 10) / 1e6


def open_for(
    base_url: str, folder: Path, *, cycle: str = "0001", run_id: str = "run-1", **changes: Any
) -> Agents:
    values: dict[str, Any] = {
        "backend": "model",
        "model_base_url": base_url,
        "model_api_key": KEY,
        "models": {"default": "gpt-test"},
        "model_max_retries": 0,
        "prices": {"gpt-test": PriceSettings(input=1.0, output=10.0)},
        "budget": BudgetSettings(tokens_per_run=1_000_000),
    }
    return open_agents(Settings(**(values | changes)), folder, cycle, run_id, line="designs")


def entries(folder: Path) -> list[Path]:
    return sorted((folder / "tape").glob("??/*.json"))


def test_a_recorded_call_replays_at_no_cost_in_another_cycle_and_run(tmp_path: Path) -> None:
    role = add_role(tmp_path)
    with LoopbackModel(ADDS) as server:
        with open_for(server.base_url, tmp_path) as agents:
            first = values(agents.call_many(role, REQUESTS, seeds=range(8)))
            paid, spent = agents.rows(), agents.spent
        with open_for(server.base_url, tmp_path, cycle="0002", run_id="run-2") as agents:
            assert values(agents.call_many(role, REQUESTS, seeds=[9] * 8)) == first
            replayed, nothing = agents.rows(), agents.spent
        assert len(server.requests) == 8
    assert (spent, nothing) == (Usage(8, 960, pytest.approx(8 * COSTS)), Usage())
    same = paid[0].keys() - {"call_id", "cycle", "usd", "latency_s", "status"}
    assert [{name: row[name] for name in same} for row in paid] == [
        {name: row[name] for name in same} for row in replayed
    ]
    assert {(row["status"], row["usd"], row["latency_s"]) for row in replayed} == {("replayed", 0.0, 0.0)}


def test_failed_attempts_replay_as_the_same_failures(tmp_path: Path) -> None:
    script = [say({"total": 5}, finish="length"), say({"sum": 1}), say("")]
    with LoopbackModel(script) as server, open_for(server.base_url, tmp_path) as agents:
        first = agents.call(add_role(tmp_path), REQUEST, seed=0).value
        words = [row["status"] for row in agents.rows()]
    with open_for("http://127.0.0.1:9", tmp_path, replay_only=True) as agents:
        again = agents.call(add_role(tmp_path), REQUEST, seed=0).value
        replayed = [row["status"] for row in agents.rows()]
    assert first == again == AgentFailure("adder", "empty", "the message has no text (finish reason stop)", 3)
    assert (words, replayed) == (
        ["truncated", "invalid", "empty"],
        ["replayed+truncated", "replayed+invalid", "replayed+empty"],
    )


def test_replay_only_needs_no_key_and_names_what_is_missing(tmp_path: Path) -> None:
    with LoopbackModel(ADDS) as server, open_for(server.base_url, tmp_path) as agents:
        agents.call(add_role(tmp_path), REQUEST, seed=0)
    offline = {"replay_only": True, "model_base_url": None, "model_api_key": None, "budget": BudgetSettings()}
    with open_for("", tmp_path, **offline) as agents:
        assert agents.call(add_role(tmp_path), REQUEST, seed=0).value == AddReply(total=5)
        with pytest.raises(
            InputError, match=r"role adder\s+wanted: entry of the call cache [0-9a-f]{64}"
        ) as caught:
            agents.call(add_role(tmp_path), AddRequest(a=9, b=9), seed=0)
    assert caught.value.exit_code == 2


def test_the_same_question_asked_at_once_is_paid_for_once(tmp_path: Path) -> None:
    role = add_role(tmp_path)
    with (
        LoopbackModel(ADDS) as server,
        open_for(server.base_url, tmp_path) as item,
        open_for(server.base_url, tmp_path, run_id="run-2") as two,
    ):
        with ThreadPoolExecutor(8) as pool:
            results = list(
                pool.map(
                    lambda number: (item, two)[number % 2].call(role, REQUEST, seed=number).value, range(8)
                )
            )
        assert results == [AddReply(total=5)] * 8
        assert len(server.requests) == 1
        assert sorted(row["status"] for row in item.rows() + two.rows()) == ["ok"] + ["replayed"] * 7


CALL_AND_DIE = """
import os, signal, sys
from pathlib import Path
from agent_backend_fixtures import AddRequest, add_role
from evolake.agents import open_agents
from evolake.agents.call_cache import CallCache
from evolake.settings import Settings

write, folder = CallCache.write, Path(sys.argv[1])
CallCache.write = lambda tape, entry: (write(tape, entry), os.kill(os.getpid(), signal.SIGKILL))
open_agents(Settings(), folder, "0001", "run-1", line="designs").call(add_role(folder), AddRequest(a=2, b=3), seed=0)
"""  # noqa: E501


def test_a_kill_after_the_reply_loses_neither_the_reply_nor_the_bill(tmp_path: Path) -> None:
    with LoopbackModel(ADDS) as server:
        environment = os.environ | {
            "PYTHONPATH": str(Path(agent_backend_fixtures.__file__).parent),
            "EVOLAKE_BACKEND": "model",
            "EVOLAKE_MODEL_BASE_URL": server.base_url,
            "EVOLAKE_MODEL_API_KEY": KEY,
            "EVOLAKE_MODELS__DEFAULT": "gpt-test",
            "EVOLAKE_BUDGET__USD_PER_CYCLE": "1",
            "EVOLAKE_PRICES": '{"gpt-test": {"input": 1, "output": 10}}',
        }
        killed = subprocess.run(
            [sys.executable, "-c", CALL_AND_DIE, str(tmp_path)], env=environment, check=False
        )
        assert killed.returncode == -signal.SIGKILL
        with open_for(server.base_url, tmp_path, run_id="run-2") as agents:
            assert agents.call(add_role(tmp_path), REQUEST, seed=0).value == AddReply(total=5)
            assert agents.backend.budget.spent() == (Usage(1, 120, pytest.approx(COSTS)), Usage())  # type: ignore[attr-defined]
        assert len(server.requests) == 1


def test_a_damaged_entry_is_named_and_not_silently_paid_again(tmp_path: Path) -> None:
    with LoopbackModel(ADDS) as server, open_for(server.base_url, tmp_path) as agents:
        agents.call(add_role(tmp_path), REQUEST, seed=0)
        (path,) = entries(tmp_path)
        path.write_text(path.read_text().replace('"total', '"totals'))
        with pytest.raises(CorruptPart, match="is damaged: its own hash does not match"):
            agents.call(add_role(tmp_path), REQUEST, seed=0)
        assert len(server.requests) == 1


@pytest.mark.parametrize(
    "limits",
    [
        {"tokens_per_cycle": 1000},
        {"tokens_per_run": 1000},
        {"usd_per_cycle": 0.00245},
        {"usd_per_run": 0.00245},
    ],
)
def test_the_budget_refuses_what_would_pass_it_and_keeps_what_was_paid(
    tmp_path: Path, limits: dict[str, Any]
) -> None:
    role = add_role(tmp_path)
    with LoopbackModel(ADDS) as server:
        with open_for(server.base_url, tmp_path, budget=BudgetSettings(**limits), model_threads=1) as agents:
            with pytest.raises(BudgetExhausted, match=next(iter(limits)).replace("_", " ")) as caught:
                agents.call_many(role, REQUESTS, seeds=range(8))
            done = len(agents.rows())
            assert 0 < done < 8
            assert (len(server.requests), len(entries(tmp_path)), agents.spent.calls) == (done, done, done)
            with pytest.raises(BudgetExhausted):
                agents.call(role, AddRequest(a=50, b=0), seed=0)
            assert agents.call(role, REQUESTS[0], seed=0).value == AddReply(total=0)
        assert "replays at no cost" in str(caught.value)
        with open_for(server.base_url, tmp_path, run_id="run-2") as agents:
            assert values(agents.call_many(role, REQUESTS, seeds=range(8))) == [
                AddReply(total=number) for number in range(8)
            ]
            assert agents.spent.calls == 8 - done


def test_a_cycles_budget_counts_other_runs_and_a_runs_budget_other_cycles(tmp_path: Path) -> None:
    role, big = add_role(tmp_path), {"prompt_tokens": 900, "completion_tokens": 50}
    with LoopbackModel([say({"total": 0}, usage=big)]) as server:
        with open_for(server.base_url, tmp_path) as agents:
            agents.call(role, REQUESTS[0], seed=0)
        for limit, cycle, run_id in (
            ("tokens_per_cycle", "0001", "run-2"),
            ("tokens_per_run", "0002", "run-1"),
        ):
            agents = open_for(
                server.base_url, tmp_path, cycle=cycle, run_id=run_id, budget=BudgetSettings(**{limit: 1000})
            )
            with agents, pytest.raises(BudgetExhausted, match="950 of 1000"):
                agents.call(role, REQUESTS[1], seed=0)
        both = BudgetSettings(tokens_per_cycle=1000, tokens_per_run=1000)
        with open_for(server.base_url, tmp_path, cycle="0002", run_id="run-2", budget=both) as agents:
            agents.call(role, REQUESTS[1], seed=0)
        assert len(server.requests) == 2


def test_a_reply_that_overshoots_is_kept_and_counted(tmp_path: Path) -> None:
    large = {"prompt_tokens": 100, "completion_tokens": 5000}
    limit = BudgetSettings(tokens_per_cycle=1000)
    with (
        LoopbackModel([say({"total": 0}, usage=large)]) as server,
        open_for(server.base_url, tmp_path, budget=limit) as agents,
    ):
        assert agents.call(add_role(tmp_path), REQUESTS[0], seed=0).value == AddReply(total=0)
        assert agents.spent.tokens == 5100
        with pytest.raises(BudgetExhausted, match="5100 of 1000 tokens spent"):
            agents.call(add_role(tmp_path), REQUESTS[1], seed=0)


def test_calls_side_by_side_never_pass_the_budget_together(tmp_path: Path) -> None:
    """Eight threads, room for a few calls: those that fit are made, the others wait for them and are then
    refused."""
    role, limit = add_role(tmp_path), 1500
    with (
        LoopbackModel(ADDS) as server,
        open_for(server.base_url, tmp_path, budget=BudgetSettings(tokens_per_cycle=limit)) as agents,
    ):
        agents.call(role, AddRequest(a=99, b=0), seed=0)

        def ask(number: int) -> str:
            try:
                return type(agents.call(role, AddRequest(a=number, b=1), seed=0).value).__name__
            except BudgetExhausted:
                return "BudgetExhausted"

        with ThreadPoolExecutor(8) as pool:
            outcomes = list(pool.map(ask, range(24)))
        made = outcomes.count("AddReply")
        assert made > 0 and outcomes.count("BudgetExhausted") == 24 - made
        assert agents.spent == Usage(made + 1, 120 * (made + 1), pytest.approx(COSTS * (made + 1)))
        assert agents.spent.tokens <= limit


def test_when_the_endpoint_dies_the_calls_in_flight_are_kept(tmp_path: Path) -> None:
    role, together = add_role(tmp_path), threading.Barrier(2)

    def answer(asked: Asked) -> Action:
        total = sum_asked(asked.messages)["total"]
        if total in (1, 2):
            together.wait(10)
        return status(401) if total == 1 else say({"total": total})

    with LoopbackModel(answer) as server, open_for(server.base_url, tmp_path, model_threads=2) as agents:
        with pytest.raises(AgentUnavailable, match="HTTP 401"):
            agents.call_many(role, REQUESTS, seeds=range(8))
        kept = len(entries(tmp_path))
        assert 2 <= kept < 8
        assert kept == agents.spent.calls == len(agents.rows())
