"""What finished cycles say to the editors of the next one, and what `evolake prompts show` says of a child's
idea."""

import json
from typing import Any

import pytest
from click.testing import CliRunner

from evolake.lake import Lake
from evolake.prompts.commands import prompts
from evolake.prompts.edit_memory import SearchMemory, memory_of
from evolake.prompts.evolution.population import Birth, Population, found_population
from evolake.prompts.model.prompt import prompt_of
from evolake.prompts.tables import ARCHIVE, DECISIONS, EDITS, GATED

ROOT, CHILD = prompt_of(["Solve it."]), prompt_of(["Solve it.", "Commit."])


def evolved() -> Population:
    return found_population({"plain": ROOT}, "0000").with_child(
        CHILD, {ROOT.prompt_id: 1.0}, (26.0, 2.0), Birth("mutation", "0001", 1, "model", "add: Commit.")
    )


def publish(lake: Lake, asset: str, schema: Any, cycle: str, rows: list[dict[str, Any]]) -> None:
    lake.publish("prompts", asset, schema.frame(rows), cycle=cycle, run_id="r", schema=schema)


@pytest.fixture
def lake(tmp_path) -> Lake:
    """A finished first cycle, and the population that enters the second."""
    result = Lake(tmp_path)
    publish(
        result,
        "edits",
        EDITS,
        "0001",
        [
            {
                "cycle": "0001",
                "kind": "modify",
                "step": "local",
                "targets": ["p7"],
                "text": "Count.",
                "applied": False,
                "operator": "mutation",
                "reason": "there is no principle p7",
                "prompt_id": ROOT.prompt_id,
            }
        ],
    )
    publish(
        result,
        "champion",
        DECISIONS,
        "0001",
        [
            {
                "cycle": "0001",
                "champion_id": ROOT.prompt_id,
                "challenger_id": CHILD.prompt_id,
                "wins": False,
                "difference": 0.0,
                "low": -0.2,
                "high": 0.2,
                "reason": "+0.000 correct a reply",
            }
        ],
    )
    publish(
        result,
        "accepted",
        GATED,
        "0001",
        [
            {
                "prompt_id": CHILD.prompt_id,
                "cycle": "0001",
                "passed": False,
                "gate": "leak",
                "reason": "it copies a problem",
            }
        ],
    )
    for name, frame in evolved().frames().items():
        result.publish("prompts", f"incoming_{name}", frame, cycle="0002", run_id="r", schema=ARCHIVE[name])
    result.seals.seal("prompts", "0001", "one", None, "r")
    result.seals.seal("prompts", "0002", "two", "one", "r")
    return result


def test_the_next_cycle_knows_duels_refused_edits_and_objections(lake):
    memory = memory_of(lake, "0002")
    assert [row["reason"] for row in memory.edits] == ["there is no principle p7"]
    assert memory.objections == {CHILD.prompt_id: "leak: it copies a problem"} and len(memory.decisions) == 1
    assert "lost" in memory.standing(CHILD.prompt_id) and "kept the title" in memory.standing(ROOT.prompt_id)
    assert memory_of(lake, "0001") == SearchMemory(edits=[], decisions=[], objections={})


def test_show_says_the_idea(lake, monkeypatch):
    monkeypatch.setenv("EVOLAKE_LAKE", str(lake.root))
    done = CliRunner().invoke(prompts, ["show", CHILD.prompt_id[:12]], standalone_mode=False)
    assert done.exception is None and "idea: add: Commit." in done.output
    assert (
        '"idea": "add: Commit."'
        in CliRunner().invoke(prompts, ["show", CHILD.prompt_id[:12], "--json"], standalone_mode=False).output
    )


def test_show_says_how_much_better_than_the_first_root_it_is(lake, monkeypatch):
    monkeypatch.setenv("EVOLAKE_LAKE", str(lake.root))
    shown = ["show", CHILD.prompt_id[:12]]
    assert "skill" not in CliRunner().invoke(prompts, shown, standalone_mode=False).output, "no match was yet"
    met = evolved().with_match({ROOT.prompt_id: (0.3, 50), CHILD.prompt_id: (0.7, 50)})
    monkeypatch.setattr("evolake.prompts.commands._population", lambda _: met)
    assert "skill: an estimated +0.3" in CliRunner().invoke(prompts, shown, standalone_mode=False).output
    gain = json.loads(CliRunner().invoke(prompts, [*shown, "--json"], standalone_mode=False).output)[
        "skill_over_root"
    ]
    assert gain[1] < gain[0] < gain[2]
