"""Who brought each line of a program, lines that come back after the lineage had deleted them, and the
questions of the line's cookbook."""

from __future__ import annotations

import json

import commands
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evolake.lake import Catalogue, Lake
from evolake.lines import folder_of
from evolake.programs import tables
from evolake.programs.evolution.population import texts_bytes
from evolake.programs.report.tracing import blame_rows, counts, lines_of, trace_of

A, B, C = "a = 1\nb = 2\n", "a = 1\nb = 3\n", "a = 1\nb = 2  \nc = 4\n"


def row(name: str, number: int, *parents: str, operator: str = "number", **more) -> dict:
    return {
        "program_id": name,
        "number": number,
        "parents": list(parents),
        "operator": operator,
        "state": "accepted",
    } | more


def traced(rows: list[dict], texts: dict[str, str], champion: str):
    return trace_of("toy", rows, champion, lambda item: {"p.py": texts[item["program_id"]]})


def test_a_line_that_an_ancestor_deleted_is_brought_back_and_a_new_one_is_not():
    rows = [row("a", 0, operator="initial"), row("b", 1, "a"), row("c", 2, "b"), row("d", 3, "a")]
    result = traced(rows, {"a": A, "b": B, "c": C, "d": C}, "c")
    assert [(edit.program_id, edit.added, edit.deleted, edit.brought_back) for edit in result.edits] == [
        ("b", 1, 1, ()),
        ("c", 2, 1, ("b = 2",)),
        ("d", 1, 0, ()),
    ]
    assert counts(result.champion) == {
        "children": 2,
        "added": 3,
        "deleted": 2,
        "brought_back": 1,
        "share": 1 / 3,
    }
    assert result.to_json()["most_often"] == [{"line": "b = 2", "times": 1}]
    assert lines_of(result)[0] == "toy: 25.0% of 4 added lines had been deleted before (3 children)"


def test_of_a_crossover_what_either_parent_has_is_not_added():
    rows = [row("a", 0), row("b", 1, "a"), row("x", 2, "b", "a", operator="crossover")]
    result = traced(rows, {"a": A, "b": B, "x": A}, "x")
    assert [(edit.added, edit.brought_back) for edit in result.edits] == [(1, ()), (0, ())]
    assert counts([])["share"] is None


@given(st.lists(st.sets(st.integers(0, 5), min_size=1), min_size=2, max_size=8))
def test_on_a_chain_exactly_what_was_there_before_and_is_not_now_comes_back(steps):
    texts = {
        str(place): "".join(f"line {item}\n" for item in sorted(held)) for place, held in enumerate(steps)
    }
    rows = [row(str(place), place, *([str(place - 1)] if place else [])) for place in range(len(steps))]
    result = traced(rows, texts, str(len(steps) - 1))
    for place, edit in enumerate(result.edits, 1):
        before = set().union(*steps[:place])
        assert {int(line.split()[1]) for line in edit.brought_back} == (
            steps[place] - steps[place - 1]
        ) & before


def blamed(rows: list[dict], texts: dict[str, str], program: str, **more) -> list[dict]:
    known = {
        item["program_id"]: {"project": "toy", "cycle": "0001", "score": None, "origin": "x", "idea": None}
        | item
        for item in rows
    }
    return blame_rows(
        known[program],
        known,
        lambda item: {"p.py": texts[item["program_id"]]},
        higher_is_better=more.get("higher_is_better", True),
    )


def test_each_line_is_that_of_the_program_that_brought_it_with_what_this_gained():
    rows = [
        row("a", 0, operator="initial", score=1.0),
        row("b", 1, "a", score=0.5),
        row("x", 2, "a", score=None),
        row("c", 3, "b", "x", operator="crossover", score=4.0),
    ]
    texts = {"a": "a = 1\r\nb = 2\r\n", "b": "a = 1\nb = 3\n", "x": "a = 1\nb = 2\nc = 9\n"}
    texts["c"] = "a = 1  \nb = 3\n    d = 0\nc = 9\n"
    found = blamed(rows, texts, "c", higher_is_better=False)
    assert [(one["line"], one["origin_id"], one["operator"], one["gain"]) for one in found] == [
        (1, "a", "initial", None),
        (2, "b", "number", 0.5),
        (3, "c", "crossover", -3.5),
        (4, "x", "number", None),
    ]
    assert [one["text"] for one in found] == ["a = 1", "b = 3", "    d = 0", "c = 9"]


def test_a_block_of_numbers_is_one_range_and_ends_where_another_program_changed_it():
    numbers = [f"    [{item}.5, -1e-05, 3]," for item in range(6)]
    texts = {
        "a": "def f():\n    return g()\n",
        "p": "\n".join(["def f():", "    return [", *numbers, "    ]"]),
    }
    texts["q"] = texts["p"].replace("[2.5,", "[7.5,")
    rows = [row("a", 0, operator="initial"), row("p", 1, "a", operator="polish"), row("q", 2, "p")]
    assert [(one["line"], one["last_line"], one["origin_id"]) for one in blamed(rows, texts, "p")] == [
        (1, 1, "a"),
        (2, 2, "p"),
        (3, 8, "p"),
        (9, 9, "p"),
    ]
    assert [(one["line"], one["last_line"], one["origin_id"]) for one in blamed(rows, texts, "q")][2:5] == [
        (3, 4, "p"),
        (5, 5, "q"),
        (6, 8, "p"),
    ]


@given(st.lists(st.sets(st.integers(0, 6)), min_size=1, max_size=8))
def test_on_a_chain_a_line_is_blamed_on_the_program_since_which_it_is_there(steps):
    texts = {
        str(place): "".join(f"line {item}\n" for item in sorted(held)) for place, held in enumerate(steps)
    }
    rows = [row(str(place), place, *([str(place - 1)] if place else [])) for place in range(len(steps))]
    last = str(len(steps) - 1)
    found = blamed(rows, texts, last)
    assert "".join(f"{one['text']}\n" for one in found) == texts[last]
    for one in found:
        item, since = int(one["text"].split()[1]), int(last)
        while since and item in steps[since - 1]:
            since -= 1
        assert one["origin_id"] == str(since)


@pytest.fixture
def lake(tmp_path, monkeypatch) -> Lake:
    """A lake with two programs of a project, the second of them champion."""
    monkeypatch.setenv("EVOLAKE_LAKE", str(tmp_path))
    lake = Lake(tmp_path)
    rows = [
        row("a" * 64, 0, operator="initial", score=1.0, cycle="0000", origin="toy"),
        row("b" * 64, 1, "a" * 64, score=0.75, cycle="0001", origin="operators", state="champion"),
    ]
    for item, text in zip(rows, (A, B), strict=True):
        item |= {"project": "toy", "files_sha": lake.blobs.put(texts_bytes({"p.py": text}))}
    projects = [{"project": "toy", "cycle": "0001", "higher_is_better": False}]
    for asset, schema, some, cycle in (
        ("incoming_programs", tables.PROGRAMS, rows, "0002"),
        ("incoming_derivations", tables.ARCHIVE["derivations"], [], "0002"),
        ("incoming_state", tables.ARCHIVE["state"], [], "0002"),
        ("projects", tables.PROJECTS, projects, "0001"),
    ):
        lake.publish("programs", asset, schema.frame(some), cycle=cycle, run_id="r", schema=schema)
    return lake


def test_the_command_names_who_brought_each_line(lake):
    for typed in ("toy", "b" * 8):
        done = commands.evolake("programs", "blame", typed)
        assert (done.returncode, done.stdout.splitlines()) == (
            0,
            [
                "p.py",
                "line  program       cycle  operator   gain  text",
                f"   1  {'a' * 12}  0000   initial          a = 1",
                f"   2  {'b' * 12}  0001   number    +0.25  b = 3",
            ],
        )
    summary = json.loads(commands.evolake("programs", "blame", "toy", "--json").stdout)
    assert (summary["verdict"], [one["origin_id"][0] for one in summary["lines"]]) == ("found", ["a", "b"])
    for typed in ("b" * 7, "c" * 8, "", "none"):
        refused = commands.evolake("programs", "blame", typed)
        assert refused.returncode == 2 and f"no program {typed!r} is in the lake" in refused.stderr


def test_every_question_of_the_cookbook_is_answered(tmp_path):
    lake = Lake(tmp_path)

    def publish(asset: str, schema, rows: list[dict], cycle: str = "0001") -> None:
        lake.publish("programs", asset, schema.frame(rows), cycle=cycle, run_id="r", schema=schema)

    program = {
        "project": "toy",
        "cycle": "0001",
        "operator": "number",
        "parents": ["a"],
        "protected": True,
        "number": 1,
    }
    publish(
        "incoming_programs",
        tables.PROGRAMS,
        [program | {"program_id": "a", "score": 1.0, "operator": "initial", "parents": []}],
    )
    publish(
        "candidates",
        tables.PROGRAMS,
        [
            program | {"program_id": "b", "score": 2.0, "state": "accepted"},
            program | {"program_id": "c", "score": 0.5, "state": "retired"},
            program | {"program_id": "d", "state": "blocked"},
        ],
    )
    publish("projects", tables.PROJECTS, [{"project": "toy", "cycle": "0001", "higher_is_better": True}])
    publish(
        "accepted",
        tables.GATED,
        [
            {
                "program_id": name,
                "cycle": "0001",
                "project": "toy",
                "passed": name != "d",
                "gate": None if name != "d" else "run",
            }
            for name in "bcd"
        ],
    )
    spent = {"cycle": "0001", "project": "toy", "purpose": "search", "cpu_s": 1.5}
    publish("measured", tables.MEASURED, [spent | {"program_id": name, "seed": 1} for name in "bcd"])
    publish(
        "heldout",
        tables.MEASURED,
        [spent | {"program_id": "b", "seed": 2, "purpose": "heldout", "side": "challenger"}],
    )
    publish(
        "unmade",
        tables.FAILED_PROPOSALS,
        [
            {
                "number": 0,
                "cycle": "0001",
                "project": "toy",
                "generation": 1,
                "reason": "no",
                "operator": "number",
            }
        ],
    )
    decision = {
        "cycle": "0001",
        "project": "toy",
        "wins": True,
        "holder_id": "b" * 20,
        "holder_mean": 2.0,
        "initial_mean": 1.0,
        "noise": 0.5,
    }
    publish("champion", tables.DECISIONS, [decision | {"protected": False}])
    brought = {"project": "toy", "program_id": "b", "file": "p.py", "text": "x = 1", "operator": "number"}
    for cycle in ("0001", "0002"):
        lines = [brought | {"line": 1, "last_line": 3, "origin_id": "b", "made_in": cycle, "gain": 1.0}]
        publish("blame", tables.BLAME, lines, cycle)
    ran = {"project": "toy", "cycle": "0001", "cpu_s": 4.0}
    publish("generations", tables.JOURNAL, [ran | {"generation": 1}])
    climbed = ran | {"search": "hill", "evaluations": 5, "cpu_s": 2.0, "score": 1.5}
    publish("baseline", tables.BASELINE, [climbed])
    with Catalogue(lake) as catalogue:
        answers = {
            path.stem: catalogue.query(path.read_text()).rows
            for path in folder_of("evolake.programs.cookbook").glob("*.sql")
        }
    assert {name: [tuple(row) for row in rows] for name, rows in answers.items()} == {
        "program_blame": [("toy", "p.py", "1-3", "b", "0002", "number", 1.0, None, None, None, "x = 1")],
        "program_champions": [
            ("toy", "0001", "b" * 12, True, 2.0, None, None, 2.0, 1.0, 0.5, "score not protected")
        ],
        "program_operators": [("toy", "number", 3, 1, 2, 1)],
        "program_searches": [
            ("toy", "hill", "0001", 5, 2.0, 1.5, 5, 2.0),
            ("toy", "line", "0001", 3, 4.0, 2.0, 3, 4.0),
        ],
        "program_spend": [
            ("toy", "search", "passed", 2, 3.0),
            ("toy", "duel", "passed", 1, 1.5),
            ("toy", "search", "blocked by run", 1, 1.5),
        ],
    }
