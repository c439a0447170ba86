"""Guidance: stored with its lineage, seen from the next cycle on, withdrawn but never deleted; and the
command that does it."""

import json
import os
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path

import polars as pl
import pytest
from commands import evolake

from evolake.agents import Guidance, all_guidance, read_guidance, store_guidance, withdraw_guidance
from evolake.errors import InputError
from evolake.lake import Lake

START = datetime(2026, 1, 1, tzinfo=UTC)


class Clock:
    """A minute later at every look."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> datetime:
        self.now += timedelta(minutes=1)
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def seal(root: Path, cycle: str, line: str = "designs") -> None:
    lake = Lake(root)
    lake.publish(line, "population", pl.DataFrame({"id": [cycle]}), cycle=cycle, run_id="r")
    lake.seals.seal(line, cycle, f"v{cycle}", None if cycle == "0001" else "v", "r", {"population": "sha"})


def begin(root: Path, cycle: str, line: str = "designs") -> None:
    Lake(root).publish(line, "directions", pl.DataFrame({"id": [cycle]}), cycle=cycle, run_id="r")


def seen(root: Path, line: str, cycle: str) -> list[str]:
    return [note.text for note in read_guidance(root, line, cycle)]


def test_a_note_is_stored_whole_and_read_back(tmp_path, clock):
    note = store_guidance(tmp_path, "  try larger N\n", "designs", clock=clock)
    assert note == Guidance(
        note.id, "try larger N", START + timedelta(minutes=1), "designs", {"designs": "0001"}, {}
    )
    assert all_guidance(tmp_path) == [note]


def test_a_note_is_seen_from_the_next_cycle_on_and_never_in_an_older_one(tmp_path, clock):
    seal(tmp_path, "0001")
    store_guidance(tmp_path, "before the first", clock=clock)
    begin(tmp_path, "0001")
    store_guidance(tmp_path, "while the first runs", clock=clock)
    seal(tmp_path, "0002")
    store_guidance(tmp_path, "between", "designs", clock=clock)
    begin(tmp_path, "0002")
    store_guidance(tmp_path, "while the second runs", "designs", clock=clock)
    assert seen(tmp_path, "designs", "0001") == ["before the first"]
    assert seen(tmp_path, "designs", "0002") == ["before the first", "while the first runs", "between"]
    assert seen(tmp_path, "designs", "0003") == [
        "before the first",
        "while the first runs",
        "between",
        "while the second runs",
    ]


def test_a_note_for_all_lines_starts_in_each_where_that_line_stands(tmp_path, clock):
    seal(tmp_path, "0001")
    begin(tmp_path, "0001")
    seal(tmp_path, "0001", "solvers")
    note = store_guidance(tmp_path, "be bold", clock=clock)
    assert note.since == {"*": "0001", "designs": "0002", "solvers": "0001"}
    assert [seen(tmp_path, line, "0001") for line in ("designs", "solvers", "prompts")] == [
        [],
        ["be bold"],
        ["be bold"],
    ]


def test_a_withdrawn_note_was_still_seen_by_the_cycles_it_reached(tmp_path, clock):
    seal(tmp_path, "0001")
    note = store_guidance(tmp_path, "be bold", clock=clock)
    begin(tmp_path, "0001")
    gone = withdraw_guidance(tmp_path, note.id[:6], clock=clock)
    assert gone.withdrawn == {"*": "0001", "designs": "0002"}
    assert withdraw_guidance(tmp_path, note.id, clock=clock) == gone
    assert (
        seen(tmp_path, "designs", "0001"),
        seen(tmp_path, "designs", "0002"),
        seen(tmp_path, "solvers", "0001"),
    ) == (["be bold"], [], [])
    assert Lake(tmp_path).read("guidance", "notes").height == 4


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [("  ", None, "needs a text"), ("x" * 4001, None, "4001 characters"), ("x", "desings", "no line named")],
)
def test_what_cannot_be_guidance_is_refused(tmp_path, text, line, says):
    with pytest.raises(InputError, match=says):
        store_guidance(tmp_path, text, line)
    assert all_guidance(tmp_path) == []


def guide(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return evolake("guide", *arguments, environment=os.environ | {"EVOLAKE_LAKE": str(root)})


def test_the_command_stores_lists_and_withdraws(tmp_path):
    assert guide(tmp_path, "--list").stdout == 'No guidance yet. Give some with: evolake guide "..."\n'
    stored = json.loads(guide(tmp_path, "try larger N", "--line", "designs", "--json").stdout)
    (note,) = stored.pop("guidance")
    assert stored == {"verdict": "stored", "reasons": []}
    assert (note["text"], note["line"], note["since"], note["withdrawn"]) == (
        "try larger N",
        "designs",
        {"designs": "0001"},
        {},
    )
    shown = f"{note['id']}  designs, from cycle 0001 on"
    assert guide(tmp_path, "--list").stdout == f"{shown}: try larger N\n"
    assert (
        guide(tmp_path, "--withdraw", note["id"]).stdout
        == f"{shown}, withdrawn from cycle 0001 on: try larger N\n"
    )
    assert seen(tmp_path, "designs", "0001") == []


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("",),
        ("text", "--list"),
        ("--list", "--line", "designs"),
        ("--withdraw", "nothing"),
        ("x", "--line", "none"),
    ],
)
def test_wrong_use_exits_with_two_and_a_sentence(tmp_path, arguments):
    done = guide(tmp_path, *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: ")


def test_the_command_says_what_operators_ignore_of_a_note(tmp_path):
    heeded = guide(tmp_path, "try larger N", "--line", "designs").stdout.splitlines()
    assert heeded[0].endswith("designs, from cycle 0001 on: try larger N")
    assert (
        heeded[1] == "read by designs: designs_meta_reviewer, designs_objective_writer, "
        "designs_planner_directions, designs_planner_lookup"
    )
    assert heeded[2].startswith("the backend `operators` takes from a note only words that name") and heeded[
        2
    ].endswith("a model reads all of it")
