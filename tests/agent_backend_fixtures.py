"""The conformance kit of agent backends: what whoever calls a role may rely on, whichever backend serves it.

A backend's tests subclass `AgentBackendKit` and give `open(tmp_path)`: agents whose backend answers the role
`ADD` truly. The role and its prompt are here too, for other tests of agents.
"""

import json
import pickle
import re
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pydantic import BaseModel, ConfigDict

from evolake.agents import AgentFailure, Agents, Reply, Role
from evolake.agents.prompts import build_messages
from evolake.lake.schemas import AGENT_CALLS

PROMPT = "You add numbers.\n<!-- user -->\nFirst: {{a}}\nSecond: {{b}}\nNote by the candidate:\n{{note}}\n"


class AddRequest(BaseModel):
    """Two numbers and a note that is candidate text."""

    a: int
    b: int
    note: str = ""


class AddReply(BaseModel):
    """Their sum."""

    model_config = ConfigDict(extra="forbid")
    total: int


def values(replies: Sequence[Reply[Any]]) -> list[Any]:
    """The values of replies."""
    return [reply.value for reply in replies]


def add_role(folder: Path, name: str = "adder") -> Role[AddRequest, AddReply]:
    """The role, with its prompt file in `folder`."""
    path = folder / f"{name}.md"
    path.write_text(PROMPT)
    return Role(name, AddRequest, AddReply, _add, prompt=path)


def _add(request: AddRequest, rng: np.random.Generator) -> AddReply:
    return AddReply(total=request.a + request.b)


def sum_asked(messages: list[dict[str, str]]) -> dict[str, Any]:
    """What a model that can add replies to the prompt of the role."""
    first, second = re.findall(r"^(?:First|Second): (-?\d+)$", messages[1]["content"], re.MULTILINE)
    return {"total": int(first) + int(second)}


def assert_served(role: Role[Any, Any], request: Any, goal: str) -> None:
    """The role has a prompt that fits the request and says the goal, and a classical answer that the seed
    decides."""
    system, user = (message["content"] for message in build_messages(role, request))
    assert goal in user and "JSON Schema" in system
    first, again = (role.operators(request, np.random.default_rng(4)) for _ in range(2))
    assert isinstance(first, role.reply)
    assert again == first


class AgentBackendKit:
    """Every backend passes all of these."""

    def open(self, folder: Path) -> AbstractContextManager[Agents]:
        """Agents on a lake in `folder`, for cycle 0001; called again it gives a second object on the same
        lake."""
        raise NotImplementedError

    @pytest.fixture
    def agents(self, tmp_path: Path) -> Iterator[Agents]:
        with self.open(tmp_path) as agents:
            yield agents

    @pytest.fixture
    def role(self, tmp_path: Path) -> Role[AddRequest, AddReply]:
        return add_role(tmp_path)

    def test_a_call_gives_the_roles_reply(self, agents: Agents, role: Role) -> None:
        assert agents.call(role, AddRequest(a=2, b=3), seed=1).value == AddReply(total=5)

    def test_results_and_rows_come_in_the_order_of_the_requests(self, agents: Agents, role: Role) -> None:
        requests = [AddRequest(a=number, b=1) for number in range(12)]
        assert values(agents.call_many(role, requests, seeds=range(12))) == [
            AddReply(total=number + 1) for number in range(12)
        ]
        again = [agents.call(role, request, seed=seed).value for seed, request in enumerate(requests)]
        assert again == [AddReply(total=number + 1) for number in range(12)]
        rows = agents.rows()
        assert [row["prompt_sha"] for row in rows[:12]] == [row["prompt_sha"] for row in rows[12:]]
        assert len({row["call_id"] for row in rows}) == 24

    def test_no_requests_give_no_results_and_no_rows(self, agents: Agents, role: Role) -> None:
        assert (values(agents.call_many(role, [], seeds=[])), agents.rows(), agents.spent.calls) == (
            [],
            [],
            0,
        )

    def test_rows_fit_the_shared_table(self, agents: Agents, role: Role) -> None:
        agents.call(role, AddRequest(a=2, b=3), seed=1, artifact_id="a" * 64, attempt=2)
        frame = AGENT_CALLS.frame(agents.rows())
        row = frame.row(0, named=True)
        assert frame.height == 1
        assert (row["artifact_id"], row["cycle"], row["role"], row["backend"]) == (
            "a" * 64,
            "0001",
            "adder",
            agents.backend.name,
        )
        assert (row["attempt"], row["status"]) == (20, "ok")

    def test_an_artifact_is_assigned_to_the_rows_of_its_call_only(self, agents: Agents, role: Role) -> None:
        first, second = agents.call_many(role, [AddRequest(a=1, b=1), AddRequest(a=2, b=2)], seeds=[0, 1])
        agents.assign(second.call_id, "design-2")
        assert [row["artifact_id"] for row in agents.rows()] == [None, "design-2"]
        with pytest.raises(KeyError, match="made no call 'another'"):
            agents.assign("another", "design-1")
        assert not isinstance(first.value, AgentFailure)

    def test_equal_replies_are_told_apart_by_their_calls(self, agents: Agents, role: Role) -> None:
        """Also from agents that were forked, sent to another process and merged: every call keeps its own
        rows."""
        request = AddRequest(a=1, b=1)
        first, second = agents.call_many(role, [request, request], seeds=[0, 0])
        other = agents.apart()
        third = other.call(role, request, seed=0)
        agents.take_in(pickle.loads(pickle.dumps(other)) if agents.backend.name == "operators" else other)
        assert len({first.call_id, second.call_id, third.call_id}) == 3
        for number, reply in enumerate((first, second, third)):
            assert reply.value == AddReply(total=2)
            agents.assign(reply.call_id, f"design-{number}")
        assert [row["artifact_id"] for row in agents.rows()] == ["design-0", "design-1", "design-2"]

    def test_the_same_calls_give_the_same_bytes_again(self, tmp_path: Path, role: Role) -> None:
        """The second time on the same lake; a third time changes nothing more, rows included."""
        seen = []
        for _ in range(3):
            with self.open(tmp_path) as agents:
                results = values(
                    agents.call_many(role, [AddRequest(a=number, b=0) for number in range(4)], seeds=range(4))
                )
                seen.append(
                    (json.dumps([result.model_dump() for result in results]), json.dumps(agents.rows()))
                )
        assert seen[0][0] == seen[1][0] == seen[2][0]
        assert seen[1] == seen[2]

    def test_calls_from_many_threads_are_all_answered_and_recorded(self, agents: Agents, role: Role) -> None:
        with ThreadPoolExecutor(8) as pool:
            results = list(
                pool.map(
                    lambda number: agents.call(role, AddRequest(a=number, b=0), seed=number).value, range(24)
                )
            )
        assert results == [AddReply(total=number) for number in range(24)]
        assert len(agents.rows()) == agents.spent.calls == 24

    def test_a_request_of_another_role_is_our_error(self, agents: Agents, role: Role) -> None:
        with pytest.raises(TypeError, match="AddRequest"):
            agents.call(role, AddReply(total=1), seed=0)

    def test_lists_of_other_lengths_are_our_error(self, agents: Agents, role: Role) -> None:
        with pytest.raises(ValueError, match="1 requests, 2 seeds"):
            agents.call_many(role, [AddRequest(a=1, b=1)], seeds=[1, 2])
