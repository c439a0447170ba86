"""Anchors, and edits applied to texts: typed outcomes, no order, no guess."""

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evolake.solvers.edits import PATCHES, Edit, apply_edits, edited, read_edits, write_edits
from evolake.solvers.edits.anchors import Span, Tunable, read_tunables
from evolake.solvers.edits.apply import cross_edits, cross_files
from evolake.solvers.edits.draw import mutated, new_patch, new_tunable

GEOMETRIC = Edit("patch", "restart-geometric", {"first": 80, "factor": 1.5})
MODES = Edit("patch", "restart-modes", {"length": 500, "growth": 1.5, "stretch": 8})
BURST = Edit("patch", "decision-random-burst", {"every": 20, "depth": 3})
DECAY = Edit("tunable", "var-decay", {"value": 0.85})


def only(files, adapter, *edits: Edit):
    changed, outcomes = edited(files, adapter, edits)
    return changed, [outcome.status for outcome in outcomes]


def test_a_tunable_moves_the_declared_default_and_nothing_else(small_solver, minisat):
    changed, status = only(small_solver, minisat, DECAY)
    assert status == ["applied"]
    before = small_solver["src/core/Solver.cc"]
    assert changed == {"src/core/Solver.cc": before.replace("0.95,", "0.85,")}


def test_a_patch_fills_in_its_values(small_solver, minisat):
    changed, status = only(small_solver, minisat, GEOMETRIC)
    assert status == ["applied"]
    assert "search((int) fmin(1e9, 80 * pow(1.5, curr_restarts)))" in changed["src/core/Solver.cc"]


@pytest.mark.parametrize(
    ("edit", "status"),
    [
        (Edit("patch", "no-such-patch", {}), "unknown-edit"),
        (Edit("tunable", "rnd-seed", {"value": 3}), "unknown-edit"),
        (Edit("patch", "chrono-relative", {"share": 0.5, "depth": 5}), "not-for-this-base"),
        (Edit("patch", "reduce-fraction", {"fraction": 0.5, "active": 0.1}), "anchor-missing"),
        (Edit("patch", "restart-geometric", {"first": 80}), "out-of-range"),
        (Edit("patch", "restart-geometric", {"first": 80, "factor": 99.0}), "out-of-range"),
        (Edit("patch", "restart-geometric", {"first": 80.5, "factor": 1.5}), "out-of-range"),
        (Edit("tunable", "var-decay", {"value": 1.0}), "out-of-range"),
        (Edit("tunable", "var-decay", {"value": float("nan")}), "out-of-range"),
        (Edit("tunable", "rfirst", {"value": True}), "out-of-range"),
        (Edit("tunable", "rfirst", {"value": 80.5}), "out-of-range"),
        (Edit("tunable", "var-decay", {"value": 0.95}), "no-change"),
        (Edit("tunable", "var-decay", {"other": 0.5}), "out-of-range"),
    ],
)
def test_what_cannot_be_applied_is_a_typed_outcome_and_leaves_no_trace(small_solver, minisat, edit, status):
    changed, result = only(small_solver, minisat, edit)
    assert (changed, result) == ({}, [status])


def test_an_anchor_that_stands_twice_is_not_edited(small_solver, minisat):
    again = "bool other() { return drand(random_seed) < random_var_freq; }\n"
    twice = small_solver | {"src/core/Solver.cc": small_solver["src/core/Solver.cc"] + again}
    assert only(twice, minisat, BURST) == ({}, ["anchor-ambiguous"])


def test_edits_are_written_to_the_files_of_a_folder(tmp_path, small_solver, minisat):
    for path, text in small_solver.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(text.encode("latin-1"))
    (tmp_path / "src/core/Solver.cc").write_bytes(
        (small_solver["src/core/Solver.cc"] + "// na\xefve\n").encode("latin-1")
    )
    (outcome,) = apply_edits(tmp_path, minisat, [DECAY])
    assert (outcome.applied, outcome.files) == (True, ("src/core/Solver.cc",))
    assert (tmp_path / "src/core/Solver.cc").read_bytes().endswith(b"// na\xefve\n")
    assert b"0.85," in (tmp_path / "src/core/Solver.cc").read_bytes()


def test_edits_survive_json_and_equal_sets_give_equal_bytes():
    text = write_edits([MODES, DECAY, GEOMETRIC])
    assert text == write_edits([GEOMETRIC, MODES, DECAY])
    assert {edit.key for edit in read_edits(text)} == {
        "patch:restart-modes",
        "tunable:var-decay",
        "patch:restart-geometric",
    }
    assert write_edits(read_edits(text)) == text


@pytest.mark.parametrize("spec", PATCHES.values(), ids=list(PATCHES))
def test_every_parameter_is_used_in_every_form_and_its_default_fits(spec):
    for parameter in spec.parameters.values():
        assert parameter.problem(int(parameter.default) if parameter.whole else parameter.default) is None
    for family, rewrites in spec.forms.items():
        text = "".join(rewrite.text for rewrite in rewrites)
        assert all(f"@{name}@" in text for name in spec.parameters)
        drawn = new_patch(spec, np.random.default_rng(1))
        assert "@" not in "".join(rewrite.text for rewrite in spec.rewrites(family, drawn.parameters))


@pytest.mark.parametrize("spec", PATCHES.values(), ids=list(PATCHES))
def test_drawn_and_mutated_patches_stay_in_range_and_a_mutation_moves_one_value(spec):
    for seed in range(40):
        random = np.random.default_rng(seed)
        drawn = new_patch(spec, random)
        moved = mutated(drawn, {}, PATCHES, random)
        assert moved is not None
        for edit in (drawn, moved):
            assert all(
                spec.parameters[name].problem(value) is None for name, value in edit.parameters.items()
            )
        assert sum(drawn.parameters[name] != moved.parameters[name] for name in spec.parameters) == 1


# Crossover: unions, with a row for everything that was left out.


INNER_OUTER = Edit("patch", "restart-inner-outer", {"first": 80, "factor": 1.5})
ABSENT = Edit("patch", "reduce-fraction", {"fraction": 0.5, "active": 0.1})
FIRST_DECAY, OTHER_DECAY = (
    Edit("tunable", "var-decay", {"value": 0.85}),
    Edit("tunable", "var-decay", {"value": 0.9}),
)


def test_conflicts_are_dropped_from_the_second_parent_each_with_a_row(small_solver, minisat):
    result = cross_edits(small_solver, minisat, [GEOMETRIC, FIRST_DECAY], [INNER_OUTER, OTHER_DECAY, BURST])
    assert result.edits == (GEOMETRIC, FIRST_DECAY, BURST)
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


def test_an_edit_that_both_have_is_one_edit(small_solver, minisat):
    result = cross_edits(small_solver, minisat, [FIRST_DECAY, BURST], [BURST, FIRST_DECAY])
    assert (result.edits, result.dropped) == ((FIRST_DECAY, BURST), ())


def test_an_edit_that_does_not_apply_to_this_base_is_dropped_from_either_parent(small_solver, minisat):
    result = cross_edits(small_solver, minisat, [ABSENT], [FIRST_DECAY])
    assert result.edits == (FIRST_DECAY,)
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


def test_files_changed_by_one_parent_are_taken_and_those_of_both_stay_the_firsts(tmp_path):
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


# Options read from sources, and the moves of their defaults.


NOWHERE = Span("", 0, 0)


def test_declared_options_are_read_with_kind_default_range_and_place(small_solver):
    result = {item.name: item for item in read_tunables(small_solver, "minisat-options")}
    assert {name: (item.kind, item.default) for name, item in result.items()} == {
        "ccmin-mode": ("int", 2),
        "grow": ("int", 0),
        "luby": ("bool", True),
        "rfirst": ("int", 100),
        "var-decay": ("float", 0.95),
    }
    assert (result["rfirst"].low, result["rfirst"].high, result["rfirst"].text) == (
        1,
        2**31 - 1,
        "The first interval",
    )
    decay = result["var-decay"]
    assert 0 < decay.low < 1e-8 and 1 - 1e-8 < decay.high < 1
    assert small_solver["src/core/Solver.cc"][decay.span.start : decay.span.end] == "0.95"


def test_seeds_options_out_of_their_own_range_and_defaults_that_are_no_literal_are_left_out(small_solver):
    assert not {"rnd-seed", "broken", "named"} & {
        item.name for item in read_tunables(small_solver, "minisat-options")
    }


def test_options_of_cadical_are_read_without_those_that_check_proofs(small_options):
    result = [
        (item.name, item.default, item.low, item.high)
        for item in read_tunables(small_options, "cadical-options")
    ]
    assert result == [("chrono", 1, 0, 2), ("elimaxeff", 2_000_000_000, 0, 2e9)]


RANGES = st.sampled_from(
    [
        ("float", 0.95, 1e-9, 1 - 1e-9),
        ("float", 0.8, 1e-9, 1 - 1e-9),
        ("float", 0.0, 0.0, 1.0),
        ("float", 2.0, 1 + 1e-9, math.inf),
        ("float", 0.2, 1e-9, math.inf),
        ("int", 100, 1, 2**31 - 1),
        ("int", 0, -(2**31), 2**31 - 1),
        ("int", 2, 0, 2),
        ("int", -1, -1, 2**31 - 1),
        ("int", 1, 0, 1),
        ("int", 5, 2, 2**31 - 1),
        ("int", 2_000_000_000, 0, 2_000_000_000),
        ("bool", True, 0, 1),
    ]
)


@given(RANGES, st.integers(0, 2**32 - 1))
def test_a_move_stays_within_the_range_and_is_a_move(range_, seed):
    kind, default, low, high = range_
    tunable = Tunable("option", kind, default, low, high, "", NOWHERE)
    edit = new_tunable(tunable, np.random.default_rng(seed))
    assert tunable.problem(edit.parameters["value"]) is None
    assert edit.parameters["value"] != default
    assert edit == new_tunable(tunable, np.random.default_rng(seed))
