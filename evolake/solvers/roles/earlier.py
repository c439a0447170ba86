"""How the planner and the coder were asked by the first 0.2.0.dev0, so that call caches of then still answer:
the prompt files of `asked_before/`, and requests without what has been added since; of the planner also how
it was asked before families had the share of checked proofs.

Of a plan with two code bases, or of a build file, no such cache can know; the question is then one that was
never asked, and finds nothing.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from evolake.agents.roles import Earlier
from evolake.solvers.roles.models import STANDING_BEFORE, Attempt, Standing

PROMPTS = Path(__file__).with_name("asked_before")


def _standing(line: Standing) -> dict[str, Any]:
    return line.model_copy(update={"best_of_all": line.vbs_match}).model_dump(
        mode="json", include=set(STANDING_BEFORE)
    )


def _of_planner(request: Any) -> dict[str, Any]:
    kept = _kept(
        request, "goal", "cycle", "plans_wanted", "findings", "rules", "guidance", "cycles_without_gain"
    )
    history: list[Attempt] = request.history
    return kept | {
        "standings": [_standing(line) for line in request.standings],
        "history": [item.model_dump(mode="json") for item in history],
    }


def _unshared(request: Any) -> dict[str, Any]:
    kept = _kept(
        request,
        "goal",
        "cycle",
        "plans_wanted",
        "standings",
        "history",
        "findings",
        "rules",
        "guidance",
        "cycles_without_gain",
        "knowledge",
        "tried",
        "families",
        "sources",
        "code",
    )
    return kept | {
        "families": [
            {name: value for name, value in family.items() if name in UNSHARED} for family in kept["families"]
        ]
    }


def _of_coder(request: Any) -> dict[str, Any]:
    kept = _kept(
        request, "goal", "hypothesis", "instructions", "base", "parent_diff", "second_parent_diff", "rules"
    )
    return kept | {"parent": _standing(request.parent), "excerpts": _excerpts(request)}


def _of_repair(request: Any) -> dict[str, Any]:
    return _kept(request, "goal", "hypothesis", "instructions", "diff", "error", "rules") | {
        "excerpts": _excerpts(request)
    }


def _of_session(request: Any) -> dict[str, Any]:
    kept = _kept(
        request,
        "goal",
        "hypothesis",
        "instructions",
        "base",
        "parent_diff",
        "second_parent_diff",
        "rules",
        "editable",
    )
    return kept | {"parent": _standing(request.parent)}


def _kept(request: BaseModel, *names: str) -> dict[str, Any]:
    return request.model_dump(mode="json", include=set(names))


def _excerpts(request: Any) -> list[dict[str, Any]]:
    return [item.model_dump(mode="json") for item in request.cut]


UNSHARED = ("family", "instances", "solved", "seconds")
"""What was sent of a family before the share of checked proofs."""
PLANNER_UNSHARED = Earlier(PROMPTS / "planner_unshared.md", _unshared)
PLANNER_BEFORE = Earlier(
    PROMPTS / "planner.md", _of_planner, json.loads((PROMPTS / "planner_reply.json").read_text())
)
LOOKUP_BEFORE = Earlier(PROMPTS / "coder_lookup.md", lambda request: request.model_dump(mode="json"))
CODER_BEFORE = Earlier(PROMPTS / "coder.md", _of_coder)
CODER_REPAIR_BEFORE = Earlier(PROMPTS / "coder_repair.md", _of_repair)
CODER_SESSION_BEFORE = Earlier(PROMPTS / "coder_session.md", _of_session)
