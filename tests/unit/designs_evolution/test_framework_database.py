"""Reading a database of the paper's framework: what can be used, what cannot and why, and what is no such
database."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from framework_database import ANALYSIS, BASE, EXAMPLE, REACH, SOLVERS, STATE, SUMMARY, write_database

from evolake.designs.evolution.framework_files import find_files, find_solvers
from evolake.designs.evolution.framework_rows import read_framework
from evolake.errors import InputError
from evolake.objectives.source import objective_id


def test_designs_are_rows_with_their_parents_or_with_what_is_wrong(tmp_path: Path) -> None:
    result = read_framework(find_files(write_database(tmp_path)))
    assert {row["row"]: (row["original_id"], row["state"], row["reason"]) for row in result.designs} == {
        0: (0, "read", None),
        1: (1, "read", None),
        2: (2, "read", None),
        3: (3, "read", None),
        4: (4, "malformed", "there is no solver_4.py"),
        5: (5, "malformed", "reference_weights: wanted a sum of 1, got 0.6"),
        6: (None, "malformed", "the entry is no object"),
        7: (1, "malformed", "design_id 1 is there twice"),
        8: (7, "read", None),
        9: (8, "read", None),
    }
    assert result.designs[1] == {
        "row": 1,
        "original_id": 1,
        "state": "read",
        "reason": None,
        "title": "Weights alone",
        "round": 3,
        "parents": "[[0, 1.0]]",
        "model": "some-model",
        "made_at": "2026-01-01T00:00:00Z",
        "tuned": False,
        "key_insight": ANALYSIS["key_insight"],
        "success_level": "moderate",
    }
    assert [row["original_id"] for row in result.designs if row.get("tuned")] == [2]
    assert result.sources == {
        0: SOLVERS[0],
        1: EXAMPLE,
        2: SOLVERS[2],
        3: SOLVERS[3],
        8: SOLVERS[7],
        9: SOLVERS[8],
    }


def test_results_are_rows_that_say_whose_they_are(tmp_path: Path) -> None:
    result = read_framework(find_files(write_database(tmp_path))).results
    assert [
        (row["original_id"], row["number"], row.get("N"), row.get("median_step"), row["reason"])
        for row in result
    ] == [
        (0, 0, 10, 20, None),
        (0, 1, 14, 44, None),
        (1, 0, 10, 31, None),
        (1, 1, None, None, "median_step: wanted a whole number from 0, got a text"),
        (1, 2, None, None, "the experiment is no object"),
        (2, 0, None, None, "unsolved_fraction: wanted a number from 0 to 1, got a number (1.5)"),
    ]


def test_objectives_come_with_code_round_and_the_last_factor_of_the_reviews(tmp_path: Path) -> None:
    result = {
        row["original_id"]: row for row in read_framework(find_files(write_database(tmp_path))).objectives
    }
    assert {key: (row["state"], row["reason"]) for key, row in result.items()} == {
        0: ("read", None),
        1: ("read", None),
        2: ("read", None),
        4: ("malformed", "there is no objective_4.py"),
    }
    assert result[1] == {
        "original_id": 1,
        "state": "read",
        "reason": None,
        "description": "Reach",
        "code": REACH,
        "round": 1,
        "workspace": "workspace_22",
        "objective_id": objective_id(REACH),
        "reported_multiplier": 2.5,
    }
    assert (result[0]["code"], result[0]["reported_multiplier"], result[2]["reported_multiplier"]) == (
        BASE,
        0.0,
        None,
    )


def test_retrospectives_are_texts_by_kind_and_number(tmp_path: Path) -> None:
    result = read_framework(find_files(write_database(tmp_path))).texts
    assert [(row["kind"], row["number"], row["title"], row["state"]) for row in result] == [
        ("meta_review", 0, "review, exploring", "read"),
        ("meta_review", 1, "review, refining", "read"),
        ("planner", 3, "planner, systematic_search", "read"),
        ("analysis", 1, "Weights alone", "read"),
        ("analysis", 2, None, "malformed"),
    ]
    assert (
        result[1]["text"] == f"{STATE['current']['research_assessment']}\nNext objectives: Look at the tail."
    )
    assert result[2]["text"] == "key insights: Gates by memory help.\nfailure patterns: Parameters pile up."
    assert result[4]["reason"] == "success_level: wanted one of poor, moderate, good, excellent"


@pytest.mark.parametrize(
    ("said", "row"),
    [
        (
            {"key_insights": ["half \ud800"]},
            (
                "read",
                "planner, systematic_search",
                "key insights: half ?\nfailure patterns: Parameters pile up.",
            ),
        ),
        (
            {"current_phase": "\udfff"},
            (
                "read",
                "planner, ?",
                "key insights: Gates by memory help.\nfailure patterns: Parameters pile up.",
            ),
        ),
        ({"current_phase": 7}, ("malformed", None, None)),
        ({"key_insights": [7]}, ("malformed", None, None)),
    ],
)
def test_what_a_planner_wrote_can_be_stored_or_its_row_is_malformed(
    tmp_path: Path, said: dict, row: tuple
) -> None:
    write_database(tmp_path)
    (tmp_path / "llm_log" / "planner_3.json").write_text(
        json.dumps({"round_id": 3, "summary": SUMMARY | said})
    )
    result = next(text for text in read_framework(find_files(tmp_path)).texts if text["kind"] == "planner")
    assert (result["state"], result["title"], result["text"]) == row and (result["reason"] is None) == (
        row[0] == "read"
    )


def test_a_database_is_known_by_what_it_says_and_not_by_where_it_lies(tmp_path: Path) -> None:
    here, there = (
        read_framework(find_files(write_database(tmp_path / name, suffix)))
        for name, suffix in (("a", ""), ("b", "_22"))
    )
    changed = write_database(tmp_path / "c")
    changed.write_text(changed.read_text().replace('"median_step": 20', '"median_step": 21'))
    assert here.bundle_id() != read_framework(find_files(changed)).bundle_id()
    own = find_files(tmp_path / "b")
    assert (own.source, own.database) == ("b_22", tmp_path / "b" / "database_22" / "database.json")
    assert here.bundle_id() == there.bundle_id()


@pytest.mark.parametrize(
    ("name", "content", "complaint"),
    [
        ("database/database.json", "{", "no JSON"),
        ("database/database.json", "[" * 100_000, "no JSON"),
        ("database/database.json", "[]", "a list"),
        ("database/database.json", '{"solvers": []}', "no list `designs`"),
        ("database/database.json", '{"designs": []}', "none"),
        ("objectives/metadata.json", "7", "a number"),
        ("meta_agent/state.json", '{"current": 7, "history": []}', "something else"),
        ("meta_agent/state.json", '{"history": 5}', "something else"),
        ("meta_agent/state.json", '{"history": {"a": {}}}', "something else"),
        ("meta_agent/state.json", "\0", "no JSON"),
    ],
)
def test_a_file_that_has_to_be_right_is_an_error_that_names_it(
    tmp_path: Path, name: str, content: str, complaint: str
) -> None:
    write_database(tmp_path)
    (tmp_path / name).write_text(content)
    with pytest.raises(InputError) as error:
        read_framework(find_files(tmp_path))
    assert (
        str(tmp_path / name) in error.value.what
        and complaint in str(error.value.got)
        and error.value.wanted
        and error.value.do
    )


def test_what_is_no_database_of_the_framework_is_refused(tmp_path: Path) -> None:
    write_database(tmp_path, "_22")
    write_database(tmp_path, "_23")
    for given, got in (
        (tmp_path, "database_22/database.json, database_23/database.json"),
        (tmp_path / "none", "no such file"),
        (tmp_path / "solvers_22" / "solver_1.py", "solvers_22/solver_1.py"),
    ):
        with pytest.raises(InputError) as error:
            find_files(given)
        assert (error.value.got, bool(error.value.wanted), bool(error.value.do)) == (got, True, True)


def test_numbers_that_are_none_make_rows_malformed_and_nothing_else(tmp_path: Path) -> None:
    database = write_database(tmp_path)
    entries = json.loads(database.read_text())["designs"][:2]
    for value in ("NaN", "Infinity", "1e400", "-1", "true", '"1"', "[]", "10000000000000000000000"):
        text = json.dumps({"designs": entries}).replace('"median_step": 31', f'"median_step": {value}')
        database.write_text(text)
        rows = read_framework(find_files(tmp_path)).results
        assert [row["state"] for row in rows] == ["read", "read", "malformed", "malformed", "malformed"]


def test_solvers_and_objectives_are_read_without_a_database(tmp_path: Path) -> None:
    write_database(tmp_path)
    (tmp_path / "database" / "database.json").unlink()
    with pytest.raises(InputError, match="no one database"):
        find_files(tmp_path)
    result = read_framework(find_solvers(tmp_path), files_only=True)
    assert [(row["original_id"], row["state"], row["title"], row["parents"]) for row in result.designs] == [
        (number, "read", f"solver {number}", "[]") for number in sorted(SOLVERS)
    ]
    assert (
        list(result.sources.values()) == [SOLVERS[number] for number in sorted(SOLVERS)]
        and result.results == []
    )
    assert {row["original_id"] for row in result.objectives} == {0, 1, 2, 4}


def test_one_folder_of_solvers_is_asked_for(tmp_path: Path) -> None:
    for name in ("solvers_1", "solvers_2"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "solver_0.py").write_text("")
    with pytest.raises(InputError, match="no one folder of solvers") as caught:
        find_solvers(tmp_path)
    assert "solvers_1, solvers_2" in caught.value.got
    with pytest.raises(InputError, match="no one folder of solvers"):
        find_solvers(tmp_path / "nowhere")
