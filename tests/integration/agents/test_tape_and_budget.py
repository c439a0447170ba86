"""What was paid for is kept, replays at no cost, and the budget holds; against a real server on loopback."""

import json
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


def test_a_recorded_call_replays_at_no_cost_in_another_cycle_and_run(tmp_path):
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


def test_failed_attempts_replay_as_the_same_failures(tmp_path):
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


def test_replay_only_needs_no_key_and_names_what_is_missing(tmp_path):
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


def test_the_same_question_asked_at_once_is_paid_for_once(tmp_path):
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


def test_a_kill_after_the_reply_loses_neither_the_reply_nor_the_bill(tmp_path):
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


def test_a_damaged_entry_is_named_and_not_silently_paid_again(tmp_path):
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
def test_the_budget_refuses_what_would_pass_it_and_keeps_what_was_paid(tmp_path, limits):
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


def test_a_cycles_budget_counts_other_runs_and_a_runs_budget_other_cycles(tmp_path):
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


def test_a_reply_that_overshoots_is_kept_and_counted(tmp_path):
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


def test_calls_side_by_side_never_pass_the_budget_together(tmp_path):
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


def test_when_the_endpoint_dies_the_calls_in_flight_are_kept(tmp_path):
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


# Which calls the tape answers, and which are asked anew: bad replies, other endpoints; against a real
# server on loopback.


NONSENSE, GOOD = say("The weather is fine."), say({"total": 5})
FIVE = AddReply(total=5)


def agents_at(
    base_url: str,
    folder: Path,
    cycle: str = "0001",
    run_id: str = "run-1",
    *,
    redraw: bool = True,
    **changes: Any,
) -> Agents:
    values: dict[str, Any] = {
        "backend": "model",
        "model_base_url": base_url,
        "model_api_key": KEY,
        "models": {"default": "gpt-test"},
        "model_max_retries": 0,
        "model_repairs": 1,
        "budget": BudgetSettings(tokens_per_run=1_000_000),
    }
    return open_agents(Settings(**(values | changes)), folder, cycle, run_id, line="designs", redraw=redraw)


def ask(
    base_url: str, folder: Path, cycle: str = "0001", run_id: str = "run-1", **changes: Any
) -> tuple[Any, list[str]]:
    """The result of one call, and the status of each of its attempts."""
    with agents_at(base_url, folder, cycle, run_id, **changes) as agents:
        result = agents.call(add_role(folder), REQUEST, seed=0).value
        return result, [row["status"] for row in agents.rows()]


def stored(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(path.read_text())["entry"] for path in sorted((folder / "tape").glob("??/*.json"))]


def test_a_call_that_failed_is_asked_anew_by_the_next_run_and_its_replies_stay_for_the_record(tmp_path):
    with LoopbackModel([NONSENSE] * 4 + [GOOD]) as server:
        failed, words = ask(server.base_url, tmp_path)
        assert (type(failed), words) == (AgentFailure, ["invalid", "invalid"])
        assert ask(server.base_url, tmp_path, "0002", "run-2") == (failed, ["invalid", "invalid"])
        assert ask(server.base_url, tmp_path, "0003", "run-3") == (FIVE, ["ok"])
        assert ask(server.base_url, tmp_path, "0004", "run-4") == (FIVE, ["replayed"])
        assert len(server.requests) == 5
    assert sorted((entry["cycle"], entry["key"][-2:]) for entry in stored(tmp_path)) == [
        ("0001", "-0"),
        ("0001", "-0"),
        ("0002", "-1"),
        ("0002", "-1"),
        ("0003", "-2"),
    ]
    paid = {
        path.name: path.read_text().count('"key"')
        for path in (tmp_path / "tape" / "accounts").glob("cycle-*")
    }
    assert paid == {
        "cycle-designs-0001.jsonl": 2,
        "cycle-designs-0002.jsonl": 2,
        "cycle-designs-0003.jsonl": 1,
    }


def test_under_replay_only_each_cycle_meets_again_what_it_met(tmp_path):
    with LoopbackModel([NONSENSE] * 2 + [GOOD]) as server:
        lived = [ask(server.base_url, tmp_path, cycle, f"run-{cycle}") for cycle in ("0001", "0002", "0003")]
    for base_url in (server.base_url, "http://elsewhere.example", None):
        again = [
            ask(base_url, tmp_path, cycle, "later", replay_only=True) for cycle in ("0001", "0002", "0003")
        ]  # type: ignore[arg-type]
        assert [result for result, _ in again] == [result for result, _ in lived]
        assert [words for _, words in again] == [
            ["replayed+invalid", "replayed+invalid"],
            ["replayed"],
            ["replayed"],
        ]


def test_one_run_gives_one_answer_also_where_it_is_none(tmp_path):
    with LoopbackModel([NONSENSE] * 2 + [GOOD]) as server:
        failed, _ = ask(server.base_url, tmp_path)
        assert ask(server.base_url, tmp_path) == (failed, ["replayed+invalid", "replayed+invalid"])
        assert len(server.requests) == 2


def test_a_reply_that_was_mended_answers_with_the_conversation_it_ended(tmp_path):
    with LoopbackModel([NONSENSE, GOOD]) as server:
        assert ask(server.base_url, tmp_path) == (FIVE, ["invalid", "ok"])
        assert ask(server.base_url, tmp_path, "0002", "run-2") == (FIVE, ["replayed+invalid", "replayed"])
        assert len(server.requests) == 2


def test_a_conversation_that_was_cut_off_goes_on(tmp_path):
    with LoopbackModel([NONSENSE, GOOD]) as server:
        ask(server.base_url, tmp_path, model_repairs=0)
        assert ask(server.base_url, tmp_path, run_id="run-2") == (FIVE, ["replayed+invalid", "ok"])


@pytest.mark.parametrize(
    "bad",
    [say({"total": 5}, finish="length"), say(None, refusal="I will not."), say("")],
    ids=["cut", "refused", "empty"],
)
def test_whatever_gives_no_reply_is_asked_anew(tmp_path, bad):
    with LoopbackModel([bad, GOOD]) as server:
        failed, _ = ask(server.base_url, tmp_path, model_repairs=0)
        assert isinstance(failed, AgentFailure)
        assert ask(server.base_url, tmp_path, run_id="run-2", model_repairs=0) == (FIVE, ["ok"])


def test_in_a_study_a_failure_is_a_result_and_stays_one(tmp_path):
    with LoopbackModel([NONSENSE] * 2 + [GOOD]) as server:
        failed, _ = ask(server.base_url, tmp_path)
        assert ask(server.base_url, tmp_path, run_id="run-2", redraw=False) == (
            failed,
            ["replayed+invalid", "replayed+invalid"],
        )


def test_the_reply_of_one_endpoint_never_answers_for_another(tmp_path):
    with LoopbackModel([GOOD]) as item, LoopbackModel([say({"total": 6})]) as other:
        assert ask(item.base_url, tmp_path) == (FIVE, ["ok"])
        assert ask(other.base_url, tmp_path, run_id="run-2") == (AddReply(total=6), ["ok"])
        with_credentials = (
            item.base_url.replace("http://", "HTTP://user:hidden-word@") + "/?token=hidden-word"
        )
        assert ask(with_credentials, tmp_path, run_id="run-3") == (FIVE, ["replayed"])
        assert {entry["endpoint"] for entry in stored(tmp_path)} == {item.base_url, other.base_url}
        assert len(item.requests) == len(other.requests) == 1
    written = b"".join(path.read_bytes() for path in (tmp_path / "tape").rglob("*") if path.is_file())
    assert b"hidden-word" not in written and KEY.encode() not in written


@pytest.mark.parametrize(
    "wrong", ["localhost:8000/v1", "ftp://a/b", "http://", "http://[::1", "http://a:port/"]
)
def test_what_is_no_web_address_is_refused_before_any_work(tmp_path, wrong):
    with pytest.raises(InputError, match="EVOLAKE_MODEL_BASE_URL is no web address"):
        ask(wrong, tmp_path)
