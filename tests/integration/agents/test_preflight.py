"""A run by models begins with a look at the endpoint: what would fail minutes later is told before anything
is made."""

import json
import socket
from typing import Any

import pytest
from loopback_model import KEY, LoopbackModel, raw, say, status

from evolake.agents.preflight import check_endpoint
from evolake.errors import InputError
from evolake.settings import BudgetSettings, Settings
from pipelines import evolve

WORKS = [say({"total": 42})]


def settings_for(base_url: str, **changes: Any) -> Settings:
    given: dict[str, Any] = {
        "backend": "model",
        "model_base_url": base_url,
        "model_api_key": KEY,
        "models": {"default": "m", "coder": "n"},
        "model_max_retries": 0,
        "budget": BudgetSettings(tokens_per_run=1000),
    }
    return Settings(**(given | changes))


def nobody() -> str:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{free.getsockname()[1]}/v1"


@pytest.mark.parametrize(("listed", "asked"), [(("m", "n", "o"), []), (("m",), ["n"]), ((), ["m", "n"])])
def test_a_model_that_is_listed_is_not_asked_and_any_other_once(listed, asked):
    with LoopbackModel(WORKS, models=listed) as server:
        check_endpoint(settings_for(server.base_url))
        assert [request.model for request in server.requests] == asked


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ([status(404, message="no such model")], "no such model"),
        ([status(401, message="bad key")], "bad key"),
        ([raw(b"<p>", "text/html")], "not JSON"),
    ],
)
def test_what_the_endpoint_says_against_a_model_is_told(script, said):
    with LoopbackModel(script, models=()) as server, pytest.raises(InputError, match=said) as summary:
        check_endpoint(settings_for(server.base_url))
    assert (
        summary.value.exit_code == 2
        and KEY not in str(summary.value)
        and "evolake doctor --call" in str(summary.value)
    )


def test_a_run_ends_before_any_work(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("DAGSTER_HOME", str(tmp_path))
    for name, value in {
        "LAKE": str(tmp_path / "lake"),
        "BACKEND": "model",
        "MODEL_BASE_URL": nobody(),
        "MODEL_API_KEY": KEY,
        "MODELS": json.dumps({"default": "m"}),
        "BUDGET__TOKENS_PER_RUN": "9",
        "MODEL_MAX_RETRIES": "0",
    }.items():
        monkeypatch.setenv(f"EVOLAKE_{name}", value)
    assert evolve.entry(["--lines", "designs", "--definitions", "nowhere"]) == 2
    assert (
        "cannot be asked, so nothing was begun" in (summary := capsys.readouterr().err)
        and "connection failed" in summary
    )
    assert not (tmp_path / "lake").exists()
