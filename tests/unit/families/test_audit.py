"""The audit's sheet goes out and comes back; grades are counted as the paper counts them."""

import csv
import io
from pathlib import Path

import pytest
from families_fixtures import seed_family

from evolake.errors import InputError
from evolake.families.dataset.human_audit import (
    GRADE_COLUMNS,
    audit_row,
    audit_summary,
    choose,
    guarded,
    read_grades,
    sheet,
)

CLINIC = seed_family("clinic-queue")
INSTANCE = {"difficulty": 5, "text": "How many?\nSay it.", "answer": "-4", "votes": 3, "voters": 3}


def graded(folder: Path, *lines: dict[str, str]) -> Path:
    text = io.StringIO()
    writer = csv.DictWriter(text, GRADE_COLUMNS, restval="")
    writer.writeheader()
    writer.writerows(lines)
    path = folder / "sheet.csv"
    path.write_text(text.getvalue())
    return path


def grades(family_id: str, letters: str, auditor: str = "Ada", **more: str) -> dict[str, str]:
    names = ("validator_consistency", "answer_correctness", "question_clarity", "generator_quality")
    return {"family_id": family_id, "auditor": auditor, **dict(zip(names, letters, strict=True)), **more}


def test_the_sample_is_drawn_without_replacement_and_does_not_depend_on_order():
    ids = [f"f{number}" for number in range(50)]
    chosen = choose(ids, 10, 0)
    assert len(set(chosen)) == 10
    assert choose(ids[::-1], 10, 0) == chosen != choose(ids, 10, 1)
    assert sorted(choose(ids, 99, 0)) == sorted(ids)


def test_the_sheet_shows_the_whole_family_and_empty_grades():
    row = next(csv.DictReader(io.StringIO(sheet([audit_row(CLINIC, INSTANCE, "seed")]))))
    assert row["generator"] == CLINIC.generator
    assert "# ticking\n" in row["validators"]
    assert (row["question"], row["answer"], row["votes"], row["question_clarity"]) == (
        "How many?\nSay it.",
        "-4",
        "3 of 3",
        "",
    )


@pytest.mark.parametrize(
    ("cell", "shown"),
    [("=SUM(A1)", "'=SUM(A1)"), ("-4", "-4"), ("-x", "'-x"), ("@a", "'@a"), ("plain", "plain"), ("", "")],
)
def test_no_cell_is_a_formula(cell, shown):
    assert guarded(cell) == shown


def test_grades_come_back_and_ungraded_lines_are_left_out(tmp_path):
    path = graded(
        tmp_path, grades("a", "AABA", notes=" fine "), grades("b", "    "), grades("a", "ddcd", auditor="")
    )
    result = read_grades(path, ["a", "b"])
    assert [(row["family_id"], row["auditor"], row["question_clarity"], row["notes"]) for row in result] == [
        ("a", "Ada", "B", "fine"),
        ("a", "unnamed", "C", ""),
    ]


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([grades("a", "AAAE")], "row 2: grades"),
        ([grades("a", "AA A")], "question_clarity=empty"),
        ([grades("x", "AAAA")], "no family 'x'"),
        ([grades("a", "AAAA"), grades("a", "BBBB")], "Ada graded a twice"),
        ([grades("a", "    ")], "holds no grade"),
    ],
)
def test_a_sheet_that_cannot_be_counted_is_refused_with_its_row(tmp_path, lines, message):
    with pytest.raises(InputError, match=message):
        read_grades(graded(tmp_path, *lines), ["a"])


def test_usable_means_a_or_b_in_all_four():
    result = audit_summary(
        [grades("a", "AAAA"), grades("b", "AABA"), grades("c", "AAAC"), grades("d", "DAAA")]
    )
    assert (result["graded"], result["usable"], result["fully_correct"]) == (4, 2, 1)
    assert result["dimensions"]["validator_consistency"] == {"A": 3, "B": 0, "C": 0, "D": 1, "pass": 0.75}
    assert 0 < result["usable_low"] < 0.5 < result["usable_high"] < 1
