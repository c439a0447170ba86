"""Replays by tape are byte-identical: sessions and calls by several threads on a busy host, twice, give the
same rows and files."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from agent_backend_fixtures import AddRequest, add_role, sum_asked
from busy_host import busy_host
from loopback_model import Action, Asked, LoopbackModel, call, say
from session_project import BUILD, EDIT, FINISH, LIST, READ, Ask, Project

from evolake.agents import AgentFailure, Agents
from evolake.agents import session_tools as tools
from evolake.canonical_json import canonical_json
from evolake.jail import Pool, open_pool
from evolake.settings import SessionSettings

THREADS, SLOW_S = 4, 1000.0
LIMITS = SessionSettings(wall_s=600)
SESSIONS: dict[str, list[Action]] = {
    "Read it.": [call(LIST, READ), call(("read_file", {"path": "src/util.h"})), call(FINISH)],
    "Return 0.": [call(("grep", {"pattern": "return [0-9]"})), call(EDIT), call(FINISH)],
    "Give up.": [call(("grep", {"pattern": "helper"}), EDIT), call(("withdraw", {"reason": "No gain."}))],
    "Build it.": [call(BUILD), call(EDIT), call(FINISH)],
}
"""Goal -> what the model does. The build takes longer than a session may, by the clock of the recording."""
REQUESTS = [AddRequest(a=number, b=1, note="bad" if number == 5 else "") for number in range(8)]


@pytest.fixture(scope="module")
def pool() -> Iterator[Pool]:
    with open_pool(workers=2, preload=()) as pool:
        yield pool


@dataclass(frozen=True)
class Outcome:
    """What a run of all sessions and calls came to. rows: of calls and turns, as text. files: of each
    session's workspace."""

    values: list[Any]
    rows: str
    files: dict[str, str]
    statuses: list[str]


def answer(asked: Asked) -> Action:
    if "tools" not in asked.body:
        added = sum_asked(asked.messages)
        return say({"sum": 0} if added["total"] == 6 and len(asked.messages) == 2 else added)
    turns = sum(message["role"] == "assistant" for message in asked.messages)
    return SESSIONS[asked.messages[1]["content"]][turns]


def run_all(project: Project, agents: Agents) -> Outcome:
    """All sessions at once, by threads, and the calls after them."""
    apart = [agents.apart() for _ in SESSIONS]
    benches = [project.context() for _ in SESSIONS]

    def hold(place: int, goal: str) -> Any:
        return apart[place].session(project.role, Ask(goal=goal), benches[place], seed=0).value

    with ThreadPoolExecutor(THREADS) as threads:
        values = list(threads.map(hold, range(len(SESSIONS)), SESSIONS))
    for own in apart:
        agents.take_in(own)
    values += [
        reply.value
        for reply in agents.call_many(add_role(project.folder), REQUESTS, seeds=[0] * len(REQUESTS))
    ]
    rows = [*agents.rows(), *agents.turns()]
    files = {
        goal: canonical_json(context.workspace.files) for goal, context in zip(SESSIONS, benches, strict=True)
    }
    return Outcome(
        values, "\n".join(canonical_json(row) for row in rows), files, [row["status"] for row in rows]
    )


def tape_files(folder: Path) -> dict[str, bytes]:
    found = [*(folder / "lake/tape").glob("??/*.json"), *(folder / "lake/tape/sessions").glob("??/*.json")]
    return {str(path.relative_to(folder)): path.read_bytes() for path in found}


def recorded(project: Project, monkeypatch: pytest.MonkeyPatch) -> Outcome:
    """The run that pays, by a clock on which every command takes SLOW_S."""
    with monkeypatch.context() as slow, LoopbackModel(answer) as server:
        clock: Callable[[], float] = partial(next, count(0.0, SLOW_S))
        slow.setattr(tools, "monotonic", clock)
        with project.agents(server.base_url, session=LIMITS, model_threads=THREADS) as agents:
            return run_all(project, agents)


def replayed(project: Project, run_id: str) -> Outcome:
    with (
        busy_host(3),
        project.agents(
            None, run_id=run_id, replay_only=True, session=LIMITS, model_threads=THREADS
        ) as agents,
    ):
        result = run_all(project, agents)
        assert agents.spent.calls == 0
        return result


def test_replays_by_threads_on_a_busy_host_give_the_same_bytes(tmp_path, pool, monkeypatch):
    project = Project(tmp_path, pool)
    paid = recorded(project, monkeypatch)
    kept, built = tape_files(tmp_path), len(project.built)
    first, second = replayed(project, "run-2"), replayed(project, "run-3")
    assert first == second
    assert (first.values, first.files) == (paid.values, paid.files)
    assert tape_files(tmp_path) == kept and len(project.built) == built == 1
    assert set(first.statuses) == {"replayed", "replayed+invalid"} and "ok" in paid.statuses
    ended = [value.status for value in first.values if isinstance(value, AgentFailure)]
    assert ended == ["withdrawn", "out_of_time"], (
        "the bound of time is that of the recording, however long a replay takes"
    )
