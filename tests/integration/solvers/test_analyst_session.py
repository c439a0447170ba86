"""The post-mortem analyst as a session: a real server and a real jail, over incidents that lie in its
workspace whole."""

import json
from functools import partial
from pathlib import Path

import pytest
from loopback_model import KEY, Action, Asked, LoopbackModel, call, say
from pydantic import SecretStr

from evolake.agents import AgentFailure, open_agents
from evolake.errors import InputError
from evolake.jail import open_pool
from evolake.settings import BudgetSettings, load
from evolake.solvers.evolution.post_mortem import Evaluated, PostMortem, SessionAnalyst, post_mortem
from evolake.solvers.settings import SolversSettings

ID, PAR2 = "1" * 64, 987.654321
SOURCES = {
    "small": {"src/Solver.cc": "int lucky() { return 1; }\n"},
    "other": {"src/main.cc": "int main() { return 0; }\n"},
}
DIFF = "--- a/src/Solver.cc\n+++ b/src/Solver.cc\n" + "+// filler\n" * 3000 + "+  luckyRestart();\n"
RULE = {
    "name": "no-lucky",
    "lesson": "forbidden",
    "check": "",
    "parameters": {},
    "rationale": "It does not exist.",
    "evidence": [ID[:12]],
}
FINDING = {
    "title": "luckyRestart does not exist",
    "lesson": "forbidden",
    "subject": "luckyRestart",
    "explanation": "No such function.",
    "evidence": [ID[:12]],
}
FINISH = ("finish", {"assessment": "One broke.", "findings": [FINDING]})
TOLD, CHANGE = f"incidents/{ID[:12]}/told.md", f"incidents/{ID[:12]}/change.diff"
EXPERT = [
    call(("list_files", {}), ("read_file", {"path": TOLD})),
    call(("grep", {"pattern": "luckyRestart"})),
    call(("grep", {"pattern": "lucky", "path": "sources"})),
    call(("write_file", {"path": "notes.md", "text": "It is called and not there."})),
    call(FINISH),
]


def measured(solved: float) -> dict:
    return {"variant_id": ID, "suite": "train", "solved": solved, "par2": PAR2}


def held(folder: Path, script: list[Action], **more: object) -> tuple[PostMortem, list, list[Asked]]:
    item = Evaluated(
        ID,
        "small",
        "Luck helps.",
        DIFF,
        (),
        (),
        **({"blocked_gate": "build", "reason": "not declared"} | more),
    )

    def answer(asked: Asked) -> Action:
        return (
            script[sum(message["role"] == "assistant" for message in asked.messages)]
            if "tools" in asked.body
            else say(RULE)
        )

    with LoopbackModel(answer) as server:
        settings = load("demo", lake=folder).model_copy(
            update={
                "backend": "model",
                "model_base_url": server.base_url,
                "model_api_key": SecretStr(KEY),
                "models": {"default": "m"},
                "budget": BudgetSettings(tokens_per_run=10**7),
            }
        )
        with open_agents(settings, folder, "0001", "run", line="solvers") as agents:
            analyst = SessionAnalyst(partial(open_pool, workers=1, preload=()), lambda: SOURCES)
            result = post_mortem(
                agents, [item], settings=SolversSettings(), cycle="0001", root_seed=0, session=analyst
            )
            return result, agents.turns(), server.requests


def test_a_session_has_no_par2_before_its_cycle_and_never_a_row_of_the_holdout_suite(tmp_path):
    numbers = {
        "blocked_gate": "",
        "reason": "",
        "measured": measured(3),
        "parent_measured": measured(9),
        "rank": 2,
        "parent_rank": 1,
    }
    _, turns, asked = held(tmp_path, EXPERT, **numbers)
    said = json.dumps([item.messages for item in asked])
    assert (
        "solved 3 instances, its parent 9" in said
        and "987" not in said
        and "holdout" not in said
        and len(turns) == 5
    )
    with pytest.raises(InputError, match="holdout"):
        held(tmp_path, EXPERT, **(numbers | {"measured": measured(3) | {"suite": "holdout"}}))


def test_a_session_that_changes_its_evidence_ends_typed(tmp_path):
    result, *_ = held(
        tmp_path, [call(("write_file", {"path": TOLD, "text": str(number)})) for number in range(3)]
    )
    assert [isinstance(failure, AgentFailure) and failure.status for failure in result.failures] == [
        "outside"
    ]
