"""The operators backend: deterministic, free, and its mistakes are ours."""

from pathlib import Path

import numpy as np
import pytest
from agent_backend_fixtures import AddReply, AddRequest, AgentBackendKit
from pydantic import BaseModel

from evolake.agents import Agents, Role, open_agents
from evolake.errors import MachineryError
from evolake.settings import Settings


class TestOperatorsBackend(AgentBackendKit):
    def open(self, folder: Path) -> Agents:
        return open_agents(Settings(), folder, "0001", "run-1", line="designs")


class Drawn(BaseModel):
    """Numbers that a generator drew."""

    numbers: list[int]


def _draw(request: AddRequest, rng: np.random.Generator) -> Drawn:
    return Drawn(numbers=rng.integers(0, 2**40, 3).tolist())


def _agents(folder: Path) -> Agents:
    return open_agents(Settings(), folder, "0001", "run-1", line="designs")


def test_rows_say_that_no_model_was_asked(tmp_path):
    agents = _agents(tmp_path)
    agents.call(Role("drawer", AddRequest, Drawn, _draw), AddRequest(a=0, b=0), seed=7)
    (row,) = agents.rows()
    hashes = {name: row.pop(name) for name in ("call_id", "prompt_sha", "response_sha")}
    assert all(len(value) == 64 for value in hashes.values())
    assert row == {
        "artifact_id": None,
        "cycle": "0001",
        "role": "drawer",
        "backend": "operators",
        "model": "operators",
        "input_tokens": 0,
        "cached_tokens": 0,
        "output_tokens": 0,
        "usd": 0.0,
        "latency_s": 0.0,
        "attempt": 0,
        "status": "ok",
        "prompt_id": None,
        "sampling": None,
        "reason": None,
    }
    assert not (tmp_path / "tape").exists()


def test_an_exception_in_the_operators_propagates(tmp_path):
    def broken(request: AddRequest, rng: np.random.Generator) -> AddReply:
        raise ZeroDivisionError("our mistake")

    with pytest.raises(ZeroDivisionError, match="our mistake"):
        _agents(tmp_path).call(Role("broken", AddRequest, AddReply, broken), AddRequest(a=0, b=0), seed=0)


def test_operators_that_give_another_reply_are_a_machinery_error(tmp_path):
    with pytest.raises(MachineryError, match="wrong thing") as caught:
        _agents(tmp_path).call(Role("mixed", AddRequest, AddReply, _draw), AddRequest(a=0, b=0), seed=0)  # type: ignore[arg-type]
    assert (caught.value.wanted, caught.value.got) == ("AddReply", "Drawn")
