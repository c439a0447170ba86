"""Two lines on one lake: each pays out of its own budget and owns its entries; what the solvers were wrongly booked for before is put right."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from agent_backend_fixtures import AddReply, AddRequest, add_role, sum_asked, values
from loopback_model import KEY, LoopbackModel, serve
from old_tape import as_of_0_1_0

from evolake.agents import Agents, open_agents
from evolake.agents.calls import Usage
from evolake.agents.tape import Tape
from evolake.errors import BudgetExhausted
from evolake.report.health import examine
from evolake.settings import BudgetSettings, Settings
from resources.agents import AgentsResource
from resources.lake import LakeResource

ADDS = serve(lambda asked: sum_asked(asked.messages))
TOKENS = 120
"""Of one call, as the server says."""
REQUESTS = [AddRequest(a=number, b=0) for number in range(4)]


@pytest.fixture(autouse=True)
def by_a_model(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"NO_PROXY": "127.0.0.1", "EVOLAKE_BACKEND": "model", "EVOLAKE_MODEL_API_KEY": KEY}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("EVOLAKE_MODELS", '{"default": "gpt-test"}')
    monkeypatch.setenv("EVOLAKE_BUDGET__TOKENS_PER_CYCLE", "500")


def opened(lake: Path, base_url: str, line: str, monkeypatch: pytest.MonkeyPatch) -> Agents:
    """Agents as the assets of a line open them."""
    monkeypatch.setenv("EVOLAKE_MODEL_BASE_URL", base_url)
    return AgentsResource().open(LakeResource(root=str(lake)), "0001", f"run-of-{line}", line=line)


def spent(agents: Agents) -> Usage:
    """By the cycle's account."""
    return agents.backend.budget.spent()[0]  # type: ignore[attr-defined]


def entries(lake: Path) -> list[dict[str, Any]]:
    return [json.loads(path.read_text())["entry"] for path in sorted((lake / "tape").glob("??/*.json"))]


def test_each_line_pays_out_of_its_own_budget_and_owns_its_entries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    roles = {line: add_role(tmp_path, f"{line}_adder") for line in ("designs", "solvers")}
    with LoopbackModel(ADDS) as server:
        with opened(tmp_path, server.base_url, "solvers", monkeypatch) as agents:
            agents.call_many(roles["solvers"], REQUESTS[:2], seeds=[0, 0])
            with pytest.raises(BudgetExhausted, match="240 of 500 tokens spent"):
                agents.call(roles["solvers"], REQUESTS[2], seed=0)
            assert (agents.line, spent(agents)) == ("solvers", Usage(2, 2 * TOKENS, 0.0))
        with opened(tmp_path, server.base_url, "designs", monkeypatch) as agents:
            assert spent(agents) == Usage()
            agents.call(roles["designs"], REQUESTS[2], seed=0)
            assert (agents.line, spent(agents)) == ("designs", Usage(1, TOKENS, 0.0))
    assert sorted((entry["line"], entry["role"]) for entry in entries(tmp_path)) == [
        ("designs", "designs_adder"), ("solvers", "solvers_adder"), ("solvers", "solvers_adder"),
    ]
    accounts = {path.name: path.read_text().count('"key"') for path in (tmp_path / "tape" / "accounts").iterdir()}
    assert accounts == {"cycle-designs-0001.jsonl": 1, "cycle-solvers-0001.jsonl": 2, "run-run-of-designs.jsonl": 1, "run-run-of-solvers.jsonl": 2}


def test_agents_are_not_opened_without_a_line(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="line"):
        open_agents(Settings(), tmp_path, "0001", "run")  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="line"):
        AgentsResource().open(LakeResource(root=str(tmp_path)), "0001", "run")  # type: ignore[call-arg]


@pytest.fixture
def before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A lake as 0.1.0 left it: a paid call of the designs and two of the solvers, all filed under the designs; then a try that was lost."""
    with LoopbackModel(ADDS) as server, opened(tmp_path, server.base_url, "designs", monkeypatch) as agents:
        agents.call(add_role(tmp_path, "designs_adder"), REQUESTS[0], seed=0)
        agents.backend.budget.limits = BudgetSettings(tokens_per_cycle=10_000)  # type: ignore[attr-defined]
        agents.call_many(add_role(tmp_path, "solvers_adder"), REQUESTS[:2], seeds=[0, 0])
        agents.backend.budget.charge("0" * 64 + "/lost/1", Usage(1, 7, 0.0))  # type: ignore[attr-defined]
    as_of_0_1_0(tmp_path)
    assert {(entry["line"], entry["role"]) for entry in entries(tmp_path)} == {("designs", "designs_adder"), ("designs", "solvers_adder")}
    assert [path.name for path in (tmp_path / "tape" / "accounts").glob("cycle-*")] == ["cycle-designs-0001.jsonl"]
    return tmp_path


def test_what_the_solvers_paid_under_the_designs_name_replays_and_counts_for_the_solvers(before: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    role, written = add_role(before, "solvers_adder"), entries(before)
    with LoopbackModel(ADDS) as server:
        with opened(before, server.base_url, "solvers", monkeypatch) as agents:
            assert spent(agents) == Usage(2, 2 * TOKENS, 0.0)
            assert values(agents.call_many(role, REQUESTS[:2], seeds=[0, 0])) == [AddReply(total=0), AddReply(total=1)]
            assert ({row["status"] for row in agents.rows()}, spent(agents)) == ({"replayed"}, Usage(2, 2 * TOKENS, 0.0))
            with pytest.raises(BudgetExhausted, match="240 of 500 tokens spent"):
                agents.call(role, REQUESTS[2], seed=0)
        assert server.requests == []
        with opened(before, server.base_url, "designs", monkeypatch) as agents:
            assert spent(agents) == Usage(2, TOKENS + 7, 0.0)
            assert agents.call(add_role(before, "designs_adder"), REQUESTS[3], seed=0).value == AddReply(total=3)
            assert spent(agents) == Usage(3, 2 * TOKENS + 7, 0.0)
    assert [entry for entry in entries(before) if entry in written] == written


def test_an_entry_of_the_solvers_that_no_account_has_is_booked_to_the_solvers(before: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A crash came between entry and account, before the line was told apart."""
    account = before / "tape" / "accounts" / "cycle-designs-0001.jsonl"
    account.unlink()
    with opened(before, "http://127.0.0.1:9", "solvers", monkeypatch) as agents:
        assert spent(agents) == Usage()
        agents.call(add_role(before, "solvers_adder"), REQUESTS[0], seed=0)
        assert spent(agents) == Usage(1, TOKENS, 0.0)
    assert not account.exists()


def test_a_damaged_entry_leaves_its_spend_where_it_was_booked_and_is_told_by_the_audit(before: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tape = Tape(before / "tape")
    item = next(entry for entry in entries(before) if entry["role"] == "solvers_adder")
    tape.path(item["key"]).write_text("{}")
    with opened(before, "http://127.0.0.1:9", "designs", monkeypatch) as agents:
        assert spent(agents) == Usage(3, 2 * TOKENS + 7, 0.0)
    with opened(before, "http://127.0.0.1:9", "solvers", monkeypatch) as agents:
        assert spent(agents) == Usage(1, TOKENS, 0.0)
    assert [finding.what for finding in examine(before).findings if item["key"][:12] in finding.what] != []
