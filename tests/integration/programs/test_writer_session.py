"""The writer as a session: a real server, a real jail, real gates and evaluations."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from loopback_model import KEY, Action, LoopbackModel, call
from programs_fixtures import OWN, PROGRAM, cheater, imports, rules
from pydantic import SecretStr

from evolake.agents import open_agents
from evolake.errors import InputError
from evolake.jail import open_pool
from evolake.lake import BlobStore
from evolake.programs.evolution.added_seeds import admit
from evolake.programs.evolution.generations import run_generation
from evolake.programs.evolution.outcome import Context
from evolake.programs.evolution.population import Islands
from evolake.programs.evolution.search_memory import (
    GenerationEntry,
    SearchMemory,
    entry_bytes,
    read_entry,
    recorded_by,
)
from evolake.programs.evolution.writer_session import SessionWriter, check_writer
from evolake.programs.sandbox.evaluating import Evaluator
from evolake.settings import BudgetSettings, Settings

FILE = "initial_program.py"
CHEAT = cheater("import evaluator\ndef answer(x):\n    return evaluator.TARGET / 5\n")
EXPERT = [
    call(
        ("list_files", {}),
        ("read_file", {"path": FILE}),
        ("read_file", {"path": "evaluator.py"}),
        ("grep", {"pattern": "TARGET"}),
    ),
    call(("write_file", {"path": FILE, "text": CHEAT}), ("check", {}), ("evaluate", {})),
    call(
        ("write_file", {"path": FILE, "text": PROGRAM}),
        ("edit_file", {"path": FILE, "search": "scale = 2.0", "replace": "scale = 2.5"}),
    ),
    call(("check", {}), ("evaluate", {})),
    call(("finish", {"idea": "A steeper line scores better."})),
]


def generation(lake: Path, script: list[Action], port: int = 0) -> tuple[GenerationEntry, dict, list, int]:
    """(what one generation of one child made, the initial program's row, what was asked, the port)."""
    project, blobs, own = (
        imports(),
        BlobStore(lake),
        OWN.model_copy(update={"islands": 1, "candidates_per_generation": 1, "writer": "session"}),
    )
    with LoopbackModel(script, port) as server:
        settings = Settings(
            backend="model",
            model_base_url=server.base_url,
            model_api_key=SecretStr(KEY),
            models={"default": "m"},
            budget=BudgetSettings(tokens_per_run=10**7),
        )
        start, _ = admit(project, own, rules(), blobs, cycle="0001", run_id="r", root_seed=0, mode=None)
        islands = Islands(project, own, {start["program_id"]: start})
        with (
            open_agents(settings, lake, "0001", "run", line="programs") as agents,
            Evaluator(project, own) as evaluator,
            open_pool(1, ()) as pool,
        ):
            context = Context(
                evaluator,
                own,
                agents,
                blobs,
                rules(),
                "0001",
                "run",
                0,
                1,
                (),
                SessionWriter(agents, pool.call),
            )
            memory = SearchMemory([start], recorded=recorded_by(agents, project.name))
            entry = run_generation(
                context, islands, 1, next_number=1, seen={start["program_id"]}, artifacts={}, memory=memory
            )
        return entry, start, server.requests, server.port


def test_a_session_reads_is_refused_a_cheat_evaluates_and_leaves_a_better_program_and_replays_for_nothing(
    tmp_path,
):
    entry, start, asked, port = generation(tmp_path, EXPERT)
    [row] = entry.programs
    assert (row["state"], row["operator"], row["origin"], row["parents"]) == (
        "accepted",
        "model",
        "model",
        [start["program_id"]],
    )
    assert row["score"] > start["score"]
    parts = [[done["result"] for done in json.loads(turn["text"])["calls"]] for turn in entry.turns]
    assert FILE in parts[0][0] and "evaluator.py" not in parts[0][0] and "scale = 2.0" in parts[0][1]
    assert "31.4159" not in json.dumps(parts) + json.dumps(
        [item.messages for item in asked]
    )  # the evaluator is never shown
    assert parts[1][1].startswith("reach blocks it: ") and parts[1][2].startswith("reach blocks it: ")
    assert parts[3][0] == "No gate objects before the evaluation."
    assert parts[3][1].startswith(f"score {row['score']:.9g} (better than the parent by ")
    assert {turn["artifact_id"] for turn in entry.turns} == {row["program_id"]}
    assert len(entry.turns) == len(entry.calls) == len(EXPERT) and entry.turns[-1]["outcome"] == "finished"
    assert read_entry(entry_bytes(entry)) == entry
    again, _, none, _ = generation(tmp_path, [], port)
    assert (none, [turn["tree_sha"] for turn in again.turns]) == (
        [],
        [turn["tree_sha"] for turn in entry.turns],
    )
    assert [item | {"cpu_s": 0} for item in again.programs] == [
        item | {"cpu_s": 0} for item in entry.programs
    ]
    asked_for = [item for item in entry.measured if item["purpose"] == "session"]
    assert [(item["program_id"], item["side"], item["status"]) for item in asked_for] == [
        (row["program_id"], "1/0/1", "ok")
    ]
    assert [
        item for item in again.measured if item["purpose"] == "session"
    ] == asked_for  # as it was measured then
    assert row["idea"] == "A steeper line scores better." and row["cpu_s"] > 0


USELESS = (
    "unusable: 3 turns in a row were of no use, the last: The session is not finished, because its files "
    "are no reply: "
)


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ([call(("write_file", {"path": "evaluator.py", "text": ""}))], "outside: "),
        (
            [call(("delete_file", {"path": FILE})), call(("finish", {"idea": "Nothing is left."}))],
            f"{USELESS}{FILE} was deleted",
        ),
    ],
)
def test_a_session_of_no_use_is_a_reason_and_no_program(tmp_path, script, reason):
    entry, *_ = generation(tmp_path, script)
    assert entry.programs == []
    [why] = entry.unanswered
    assert why.replace("looped", "outside").startswith(reason)


def test_a_session_needs_a_model():
    with pytest.raises(InputError, match="needs a model"):
        check_writer(OWN.model_copy(update={"writer": "session"}), "operators")
