"""One generation written by a (played) model: what it is told, and what becomes of each of its replies."""

from __future__ import annotations

from pathlib import Path

from loopback_model import KEY, LoopbackModel
from programs_fixtures import OWN, imports, rules
from programs_scripted_model import PLAN, ScriptedPrograms
from pydantic import SecretStr

from evolake.agents import open_agents
from evolake.lake import BlobStore
from evolake.programs.evolution.added_seeds import admit
from evolake.programs.evolution.generations import run_generation
from evolake.programs.evolution.outcome import Context
from evolake.programs.evolution.population import Islands
from evolake.programs.evolution.search_memory import GenerationEntry, SearchMemory, recorded_by
from evolake.programs.sandbox.evaluating import Evaluator
from evolake.settings import BudgetSettings, Settings

SIZES = {"islands": 1, "candidates_per_generation": len(PLAN), "candidates_per_call": 1, "revisions": 0}


def generation(base_url: str, lake: Path) -> tuple[GenerationEntry, dict]:
    """(what one generation of four made, the initial program's row)."""
    settings = Settings(
        backend="model",
        model_base_url=base_url,
        model_api_key=SecretStr(KEY),
        models={"default": "loopback"},
        model_repairs=0,
        model_max_retries=0,
        budget=BudgetSettings(tokens_per_run=10_000_000),
        workers=1,
    )
    project, blobs, own = imports(), BlobStore(lake), OWN.model_copy(update=SIZES)
    start, _ = admit(project, own, rules(), blobs, cycle="0001", run_id="r", root_seed=0, mode=None)
    islands = Islands(project, own, {start["program_id"]: start})
    with (
        open_agents(settings, lake, "0001", "run", line="programs") as agents,
        Evaluator(project, own) as evaluator,
    ):
        context = Context(
            evaluator, own, agents, blobs, rules(), "0001", "run", 0, 1, ("prefer plain lines",)
        )
        entry = run_generation(
            context,
            islands,
            1,
            next_number=1,
            seen={start["program_id"]},
            artifacts={start["program_id"]: {"hint": "the sum is too small"}},
            memory=SearchMemory([start], recorded=recorded_by(agents, project.name)),
        )
    return entry, start


def test_each_reply_of_a_model_becomes_a_program_a_block_or_a_reason(tmp_path):
    scripted = ScriptedPrograms()
    with LoopbackModel(scripted) as server:
        entry, start = generation(server.base_url, tmp_path)
        asked = len(server.requests)
        again, _ = generation(server.base_url, tmp_path)
        assert len(server.requests) == asked  # the tape answers
    accepted = [row for row in entry.programs if row["state"] == "accepted"]
    assert [row["operator"] for row in entry.programs] == ["model"] * 3 and {
        row["origin"] for row in entry.programs
    } == {"model"}
    assert (
        len(accepted) == 1
        and accepted[0]["score"] > start["score"]
        and accepted[0]["parents"] == [start["program_id"]]
    )
    reasons = sorted(row["reason"] for row in entry.programs if row["state"] == "blocked")
    assert [reason.partition(":")[0] for reason in reasons] == [
        "form",
        "reach",
    ] and "imports evaluator" in reasons[1]
    assert entry.unanswered == [
        "unusable: edit 1: `search` is 0 times in initial_program.py, wanted once, and nothing there is "
        "like it"
    ]
    assert {call["role"] for call in entry.calls} == {"programs_writer"} and len(entry.calls) == len(PLAN)
    assert [row["program_id"] for row in again.programs] == [row["program_id"] for row in entry.programs]
    prompt = scripted.prompts[0]
    for summary in ("scale = 2.0", "the sum is too small", "prefer plain lines"):
        assert summary in prompt
    assert "TARGET" not in prompt and "31.4159" not in prompt  # the evaluator is never shown
