"""Crossover: unions, with a row for everything that was left out."""

from __future__ import annotations

from pathlib import Path

from evolake.solvers.edits import Edit
from evolake.solvers.edits.apply import cross_edits, cross_files

GEOMETRIC = Edit("patch", "restart-geometric", {"first": 80, "factor": 1.5})
INNER_OUTER = Edit("patch", "restart-inner-outer", {"first": 80, "factor": 1.5})
BURST = Edit("patch", "decision-random-burst", {"every": 20, "depth": 3})
ABSENT = Edit("patch", "reduce-fraction", {"fraction": 0.5, "active": 0.1})
DECAY, OTHER_DECAY = (
    Edit("tunable", "var-decay", {"value": 0.85}),
    Edit("tunable", "var-decay", {"value": 0.9}),
)


def test_what_does_not_conflict_is_joined(small_solver, minisat) -> None:
    result = cross_edits(small_solver, minisat, [GEOMETRIC], [BURST, DECAY])
    assert (result.edits, result.dropped) == ((GEOMETRIC, BURST, DECAY), ())


def test_an_edit_that_both_have_is_one_edit(small_solver, minisat) -> None:
    result = cross_edits(small_solver, minisat, [DECAY, BURST], [BURST, DECAY])
    assert (result.edits, result.dropped) == ((DECAY, BURST), ())


def test_conflicts_are_dropped_from_the_second_parent_each_with_a_row(small_solver, minisat) -> None:
    result = cross_edits(small_solver, minisat, [GEOMETRIC, DECAY], [INNER_OUTER, OTHER_DECAY, BURST])
    assert result.edits == (GEOMETRIC, DECAY, BURST)
    assert [item.row() for item in result.dropped] == [
        {
            "what": "tunable:var-decay",
            "parent": 2,
            "reason": "same-edit-other-values",
            "detail": "var-decay = 0.9 against var-decay = 0.85",
        },
        {
            "what": "patch:restart-inner-outer",
            "parent": 2,
            "reason": "slot-taken",
            "detail": "restart is already decided by restart-geometric",
        },
    ]


def test_an_edit_that_does_not_apply_to_this_base_is_dropped_from_either_parent(
    small_solver, minisat
) -> None:
    result = cross_edits(small_solver, minisat, [ABSENT], [DECAY])
    assert result.edits == (DECAY,)
    assert [(item.what, item.parent, item.reason) for item in result.dropped] == [
        ("patch:reduce-fraction", 1, "does-not-apply")
    ]


def folder(place: Path, **files: str | None) -> Path:
    for name, text in files.items():
        if text is not None:
            path = place / "src" / f"{name}.cc"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
    return place


def test_files_changed_by_one_parent_are_taken_and_those_of_both_stay_the_firsts(tmp_path: Path) -> None:
    base = folder(tmp_path / "base", mine="0", theirs="0", both="0", same="0", gone="0", untouched="0")
    first = folder(tmp_path / "first", mine="1", theirs="0", both="1", same="3", gone="0", untouched="0")
    second = folder(
        tmp_path / "second", mine="0", theirs="2", both="2", same="3", gone=None, untouched="0", fresh="2"
    )
    (second / "RESULTS.md").write_text("secret")
    dropped = cross_files(base, first, second, tmp_path / "child", ["src/*.cc"])
    made = {path.stem: path.read_text() for path in (tmp_path / "child" / "src").iterdir()}
    assert made == {"mine": "1", "theirs": "2", "both": "1", "same": "3", "untouched": "0", "fresh": "2"}
    assert [(item.what, item.parent, item.reason) for item in dropped] == [
        ("src/both.cc", 2, "file-changed-by-both")
    ]
    assert not (tmp_path / "child" / "RESULTS.md").exists()
