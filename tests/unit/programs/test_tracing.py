"""Lines that come back after the lineage had deleted them, and the questions of the line's cookbook."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from evolake.lake import Catalogue, Lake
from evolake.lines import folder_of
from evolake.programs import tables
from evolake.programs.report.tracing import counts, lines_of, trace_of

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
def test_on_a_chain_exactly_what_was_there_before_and_is_not_now_comes_back(steps: list[set[int]]):
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


def test_every_question_of_the_cookbook_is_answered(tmp_path: Path):
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
    with Catalogue(lake) as catalogue:
        answers = {
            path.stem: catalogue.query(path.read_text()).rows
            for path in folder_of("evolake.programs.cookbook").glob("*.sql")
        }
    assert {name: [tuple(row) for row in rows] for name, rows in answers.items()} == {
        "program_champions": [
            ("toy", "0001", "b" * 12, True, 2.0, None, None, 1.0, 0.5, "score not protected")
        ],
        "program_operators": [("toy", "number", 3, 1, 2, 1)],
        "program_spend": [
            ("toy", "search", "passed", 2, 3.0),
            ("toy", "duel", "passed", 1, 1.5),
            ("toy", "search", "blocked by run", 1, 1.5),
        ],
    }
