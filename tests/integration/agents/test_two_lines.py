"""Two lines on one lake: each pays out of its own budget and owns its entries."""

import json
from pathlib import Path
from typing import Any

import pytest
from agent_backend_fixtures import AddRequest, add_role, sum_asked
from loopback_model import KEY, LoopbackModel, serve

from evolake.agents import Agents
from evolake.agents.calls import Usage
from evolake.errors import BudgetExhausted
from resources.agents import AgentsResource
from resources.lake import LakeResource

ADDS = serve(lambda asked: sum_asked(asked.messages))
TOKENS = 120
"""Of one call, as the server says."""
REQUESTS = [AddRequest(a=number, b=0) for number in range(4)]


@pytest.fixture(autouse=True)
def by_a_model(monkeypatch) -> None:
    for name, value in {
        "NO_PROXY": "127.0.0.1",
        "EVOLAKE_BACKEND": "model",
        "EVOLAKE_MODEL_API_KEY": KEY,
    }.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("EVOLAKE_MODELS", '{"default": "gpt-test"}')
    monkeypatch.setenv("EVOLAKE_BUDGET__TOKENS_PER_CYCLE", "400")


def opened(lake: Path, base_url: str, line: str, monkeypatch: pytest.MonkeyPatch) -> Agents:
    """Agents as the assets of a line open them."""
    monkeypatch.setenv("EVOLAKE_MODEL_BASE_URL", base_url)
    return AgentsResource().open(LakeResource(root=str(lake)), "0001", f"run-of-{line}", line=line)


def spent(agents: Agents) -> Usage:
    """By the cycle's account."""
    return agents.backend.budget.spent()[0]  # type: ignore[attr-defined]


def entries(lake: Path) -> list[dict[str, Any]]:
    return [json.loads(path.read_text())["entry"] for path in sorted((lake / "tape").glob("??/*.json"))]


def test_each_line_pays_out_of_its_own_budget_and_owns_its_entries(tmp_path, monkeypatch):
    roles = {line: add_role(tmp_path, f"{line}_adder") for line in ("designs", "solvers")}
    with LoopbackModel(ADDS) as server:
        with opened(tmp_path, server.base_url, "solvers", monkeypatch) as agents:
            agents.call_many(roles["solvers"], REQUESTS[:2], seeds=[0, 0])
            with pytest.raises(BudgetExhausted, match="240 of 400 tokens spent"):
                agents.call(roles["solvers"], REQUESTS[2], seed=0)
            assert (agents.line, spent(agents)) == ("solvers", Usage(2, 2 * TOKENS, 0.0))
        with opened(tmp_path, server.base_url, "designs", monkeypatch) as agents:
            assert spent(agents) == Usage()
            agents.call(roles["designs"], REQUESTS[2], seed=0)
            assert (agents.line, spent(agents)) == ("designs", Usage(1, TOKENS, 0.0))
    assert sorted((entry["line"], entry["role"]) for entry in entries(tmp_path)) == [
        ("designs", "designs_adder"),
        ("solvers", "solvers_adder"),
        ("solvers", "solvers_adder"),
    ]
    accounts = {
        path.name: path.read_text().count('"key"') for path in (tmp_path / "tape" / "accounts").iterdir()
    }
    assert accounts == {
        "cycle-designs-0001.jsonl": 1,
        "cycle-solvers-0001.jsonl": 2,
        "run-run-of-designs.jsonl": 1,
        "run-run-of-solvers.jsonl": 2,
    }
