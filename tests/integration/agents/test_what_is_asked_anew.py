"""Which calls the tape answers, and which are asked anew: bad replies, other endpoints;
against a real server on loopback."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from agent_backend_fixtures import AddReply, AddRequest, add_role
from loopback_model import KEY, LoopbackModel, say

from evolake.agents import AgentFailure, Agents, open_agents
from evolake.agents.address import address
from evolake.errors import AgentUnavailable, InputError
from evolake.settings import BudgetSettings, Settings

REQUEST = AddRequest(a=2, b=3)
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


def entries(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(path.read_text())["entry"] for path in sorted((folder / "tape").glob("??/*.json"))]


def test_a_call_that_failed_is_asked_anew_by_the_next_run_and_its_replies_stay_for_the_record(
    tmp_path: Path,
) -> None:
    with LoopbackModel([NONSENSE] * 4 + [GOOD]) as server:
        failed, words = ask(server.base_url, tmp_path)
        assert (type(failed), words) == (AgentFailure, ["invalid", "invalid"])
        assert ask(server.base_url, tmp_path, "0002", "run-2") == (failed, ["invalid", "invalid"])
        assert ask(server.base_url, tmp_path, "0003", "run-3") == (FIVE, ["ok"])
        assert ask(server.base_url, tmp_path, "0004", "run-4") == (FIVE, ["replayed"])
        assert len(server.requests) == 5
    assert sorted((entry["cycle"], entry["key"][-2:]) for entry in entries(tmp_path)) == [
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


def test_under_replay_only_each_cycle_meets_again_what_it_met(tmp_path: Path) -> None:
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


def test_one_run_gives_one_answer_also_where_it_is_none(tmp_path: Path) -> None:
    with LoopbackModel([NONSENSE] * 2 + [GOOD]) as server:
        failed, _ = ask(server.base_url, tmp_path)
        assert ask(server.base_url, tmp_path) == (failed, ["replayed+invalid", "replayed+invalid"])
        assert len(server.requests) == 2


def test_a_reply_that_was_mended_answers_with_the_conversation_it_ended(tmp_path: Path) -> None:
    with LoopbackModel([NONSENSE, GOOD]) as server:
        assert ask(server.base_url, tmp_path) == (FIVE, ["invalid", "ok"])
        assert ask(server.base_url, tmp_path, "0002", "run-2") == (FIVE, ["replayed+invalid", "replayed"])
        assert len(server.requests) == 2


def test_a_conversation_that_was_cut_off_goes_on(tmp_path: Path) -> None:
    with LoopbackModel([NONSENSE, GOOD]) as server:
        ask(server.base_url, tmp_path, model_repairs=0)
        assert ask(server.base_url, tmp_path, run_id="run-2") == (FIVE, ["replayed+invalid", "ok"])


@pytest.mark.parametrize(
    "bad",
    [say({"total": 5}, finish="length"), say(None, refusal="I will not."), say("")],
    ids=["cut", "refused", "empty"],
)
def test_whatever_gives_no_reply_is_asked_anew(tmp_path: Path, bad: Any) -> None:
    with LoopbackModel([bad, GOOD]) as server:
        failed, _ = ask(server.base_url, tmp_path, model_repairs=0)
        assert isinstance(failed, AgentFailure)
        assert ask(server.base_url, tmp_path, run_id="run-2", model_repairs=0) == (FIVE, ["ok"])


def test_in_a_study_a_failure_is_a_result_and_stays_one(tmp_path: Path) -> None:
    with LoopbackModel([NONSENSE] * 2 + [GOOD]) as server:
        failed, _ = ask(server.base_url, tmp_path)
        assert ask(server.base_url, tmp_path, run_id="run-2", redraw=False) == (
            failed,
            ["replayed+invalid", "replayed+invalid"],
        )


def test_the_reply_of_one_endpoint_never_answers_for_another(tmp_path: Path) -> None:
    with LoopbackModel([GOOD]) as item, LoopbackModel([say({"total": 6})]) as other:
        assert ask(item.base_url, tmp_path) == (FIVE, ["ok"])
        assert ask(other.base_url, tmp_path, run_id="run-2") == (AddReply(total=6), ["ok"])
        with_credentials = (
            item.base_url.replace("http://", "HTTP://user:hidden-word@") + "/?token=hidden-word"
        )
        assert ask(with_credentials, tmp_path, run_id="run-3") == (FIVE, ["replayed"])
        assert {entry["endpoint"] for entry in entries(tmp_path)} == {item.base_url, other.base_url}
        assert len(item.requests) == len(other.requests) == 1
    written = b"".join(path.read_bytes() for path in (tmp_path / "tape").rglob("*") if path.is_file())
    assert b"hidden-word" not in written and KEY.encode() not in written


def test_an_error_of_the_endpoint_shows_its_address_without_credentials(tmp_path: Path) -> None:
    with pytest.raises(AgentUnavailable, match=r"at http://127\.0\.0\.1:9/v1 cannot be used") as caught:
        ask("http://user:hidden-word@127.0.0.1:9/v1?token=hidden-word", tmp_path)
    assert "hidden-word" not in str(caught.value)


@pytest.mark.parametrize(
    "wrong", ["localhost:8000/v1", "ftp://a/b", "http://", "http://[::1", "http://a:port/"]
)
def test_what_is_no_web_address_is_refused_before_any_work(tmp_path: Path, wrong: str) -> None:
    with pytest.raises(InputError, match="EVOLAKE_MODEL_BASE_URL is no web address"):
        ask(wrong, tmp_path)


@pytest.mark.parametrize(
    ("url", "other"),
    [
        ("https://a.example/v1", "HTTPS://A.Example:443/v1/"),
        ("http://a.example", "http://a.example:80/?k=v#f"),
        ("http://[::1]:8/v1", "http://u@[::1]:8/v1"),
    ],
)
def test_one_place_has_one_address(url: str, other: str) -> None:
    assert address(other) == url == address(url)
