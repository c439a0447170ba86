"""Anchors, and edits applied to texts: typed outcomes, no order, no guess."""

from __future__ import annotations

import numpy as np
import pytest

from evolake.solvers.edits import PATCHES, Edit, apply_edits, edited, read_edits, write_edits
from evolake.solvers.edits.anchors import find
from evolake.solvers.edits.draw import mutated, new_patch

GEOMETRIC = Edit("patch", "restart-geometric", {"first": 80, "factor": 1.5})
MODES = Edit("patch", "restart-modes", {"length": 500, "growth": 1.5, "stretch": 8})
BURST = Edit("patch", "decision-random-burst", {"every": 20, "depth": 3})
DECAY = Edit("tunable", "var-decay", {"value": 0.85})


def only(files, adapter, *edits: Edit):
    changed, outcomes = edited(files, adapter, edits)
    return changed, [outcome.status for outcome in outcomes]


@pytest.mark.parametrize(
    ("text", "said"),
    [("", "anchor-missing: a.cc has no go();"), ("go(); go();", "anchor-ambiguous: a.cc has 2 times go();")],
)
def test_no_match_and_two_matches_are_said(text: str, said: str) -> None:
    assert find({"a.cc": text}, "a.cc", "go();") == said
    assert find({}, "a.cc", "go();") == "anchor-missing: no single file a.cc"


def test_a_tunable_moves_the_declared_default_and_nothing_else(small_solver, minisat) -> None:
    changed, status = only(small_solver, minisat, DECAY)
    assert status == ["applied"]
    before = small_solver["src/core/Solver.cc"]
    assert changed == {"src/core/Solver.cc": before.replace("0.95,", "0.85,")}


def test_a_patch_fills_in_its_values(small_solver, minisat) -> None:
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
        (Edit("tunable", "var-decay", {"value": 0.95}), "no-change"),
        (Edit("tunable", "var-decay", {"other": 0.5}), "out-of-range"),
    ],
)
def test_what_cannot_be_applied_is_a_typed_outcome_and_leaves_no_trace(
    small_solver, minisat, edit: Edit, status: str
) -> None:
    changed, result = only(small_solver, minisat, edit)
    assert (changed, result) == ({}, [status])


def test_an_anchor_that_stands_twice_is_not_edited(small_solver, minisat) -> None:
    again = "bool other() { return drand(random_seed) < random_var_freq; }\n"
    twice = small_solver | {"src/core/Solver.cc": small_solver["src/core/Solver.cc"] + again}
    assert only(twice, minisat, BURST) == ({}, ["anchor-ambiguous"])


def test_edits_are_written_to_the_files_of_a_folder(tmp_path, small_solver, minisat) -> None:
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


def test_edits_survive_json_and_equal_sets_give_equal_bytes() -> None:
    text = write_edits([MODES, DECAY, GEOMETRIC])
    assert text == write_edits([GEOMETRIC, MODES, DECAY])
    assert {edit.key for edit in read_edits(text)} == {
        "patch:restart-modes",
        "tunable:var-decay",
        "patch:restart-geometric",
    }
    assert write_edits(read_edits(text)) == text


@pytest.mark.parametrize("spec", PATCHES.values(), ids=list(PATCHES))
def test_every_parameter_is_used_in_every_form_and_its_default_fits(spec) -> None:
    for parameter in spec.parameters.values():
        assert parameter.problem(int(parameter.default) if parameter.whole else parameter.default) is None
    for family, rewrites in spec.forms.items():
        text = "".join(rewrite.text for rewrite in rewrites)
        assert all(f"@{name}@" in text for name in spec.parameters)
        drawn = new_patch(spec, np.random.default_rng(1))
        assert "@" not in "".join(rewrite.text for rewrite in spec.rewrites(family, drawn.parameters))


@pytest.mark.parametrize("spec", PATCHES.values(), ids=list(PATCHES))
def test_drawn_and_mutated_patches_stay_in_range_and_a_mutation_moves_one_value(spec) -> None:
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
