"""Which calls the tape answers, and which are asked anew: bad replies, other endpoints;
against a real server on loopback."""

from pathlib import Path
from typing import Any

import pytest
from agent_backend_fixtures import AddRequest, add_role
from loopback_model import KEY

from evolake.agents import Agents, open_agents
from evolake.errors import AgentUnavailable
from evolake.settings import BudgetSettings, Settings

REQUEST = AddRequest(a=2, b=3)


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


def test_an_error_of_the_endpoint_shows_its_address_without_credentials(tmp_path):
    with pytest.raises(AgentUnavailable, match=r"at http://127\.0\.0\.1:9/v1 cannot be used") as caught:
        ask("http://user:hidden-word@127.0.0.1:9/v1?token=hidden-word", tmp_path)
    assert "hidden-word" not in str(caught.value)
