"""The rows of a session's turns (`session_turns`), and the text of each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from evolake.agents.calls import AgentCall
from evolake.agents.roles import Job
from evolake.agents.session.tools import Result
from evolake.agents.wire import Turn
from evolake.canonical_json import canonical_json, text_sha

Note = Callable[[dict[str, Any]], None]


def turn_row(
    job: Job[Any, Any],
    call: AgentCall,
    said: Turn | str,
    *,
    session: str,
    turn: int,
    results: Sequence[Result],
    fault: str,
    tree: str,
) -> dict[str, Any]:
    """Return a row of SESSION_TURNS with `text`, what was said and done, in the place of its blob. said: the
    turn, or a reply that is none, as it came.
    """
    thought, calls = (said.thought, said.calls) if isinstance(said, Turn) else (said, [])
    done = [
        {"tool": asked.tool, "arguments": asked.arguments, "result": result.text, "fault": result.fault}
        for asked, result in zip(calls, results, strict=False)
    ]
    return {
        "session_id": text_sha(session),
        "turn": turn,
        "cycle": call.cycle,
        "artifact_id": job.artifact_id,
        "role": job.role.name,
        "model": call.model,
        "call_id": call.call_id,
        "status": call.status,
        "tools": [result.tool for result in results],
        "faults": [result.fault for result in results],
        "fault": fault or None,
        "outcome": None,
        "reason": None,
        "tree_sha": tree,
        "tools_s": round(sum(result.wall_s for result in results), 3),
        "text": canonical_json(
            {"thought": thought, "calls": done, "not_run": max(0, len(calls) - len(results))}
        ),
    }
