"""What applies to a tree: by its anchors, its options, what it carries, and what stands in it already."""

from dataclasses import replace

import pytest

from evolake.solvers.edits import Edit, edited
from evolake.solvers.edits.draw import applicable, editable_tree

GEOMETRIC = Edit("patch", "restart-geometric", {"first": 80, "factor": 1e-05 + 1.5})
INNER_OUTER = Edit("patch", "restart-inner-outer", {"first": 50, "factor": 1.3})
AVERAGE = Edit("patch", "vsids-average", {"weight": 0.5})


def test_only_patches_whose_anchors_stand_in_the_tree_apply(small_solver, minisat):
    result = applicable(editable_tree(small_solver, minisat))
    for name in ("restart-geometric", "vsids-average", "restart-ema"):
        assert name in result.patches
    searched = {"restart-geometric", "restart-inner-outer", "restart-modes"}
    without = {
        path: text.replace("restart_first)", "restart_first + 0)") for path, text in small_solver.items()
    }
    assert set(result.patches) - set(applicable(editable_tree(without, minisat)).patches) == searched


def test_only_options_that_are_declared_and_decide_something_apply(small_solver, minisat):
    assert [item.name for item in applicable(editable_tree(small_solver, minisat)).options] == [
        "var-decay"
    ], "the others are read nowhere"
    reads = {"src/core/Reads.cc": "int read() { return opt_first + opt_grow + opt_mode + opt_luby; }\n"}
    tree = editable_tree(small_solver | reads, minisat)
    names = {item.name for item in applicable(tree).options}
    assert names == {"var-decay", "rfirst", "grow", "ccmin-mode", "luby"}
    assert {item.name for item in applicable(tree, [GEOMETRIC]).options} == names - {"luby", "rfirst"}


@pytest.mark.parametrize("edit", [GEOMETRIC, INNER_OUTER, AVERAGE], ids=lambda edit: edit.name)
def test_code_of_a_patch_that_stands_in_the_tree_shuts_its_slot_whatever_its_values(
    small_solver, minisat, edit
):
    before = editable_tree(small_solver, minisat).patches
    changed, _ = edited(small_solver, minisat, [edit])
    after = editable_tree(small_solver | changed, minisat).patches
    shut = (
        {"vsids-average"}
        if edit is AVERAGE
        else {
            name
            for name in before
            if name in ("restart-geometric", "restart-inner-outer", "restart-ema", "restart-modes")
        }
    )
    assert set(before) - set(after) == shut


def test_a_patch_may_take_the_place_of_one_of_its_slot_and_not_the_text_of_another(small_solver, minisat):
    tree = editable_tree(small_solver, minisat)
    assert {"restart-inner-outer", "vsids-average"} <= set(applicable(tree, [GEOMETRIC]).patches)
    meeting = replace(tree, patches={**tree.patches, "vsids-average": tree.patches["restart-inner-outer"]})
    assert "vsids-average" in applicable(meeting, [AVERAGE]).patches
    assert "vsids-average" not in applicable(meeting, [GEOMETRIC]).patches
