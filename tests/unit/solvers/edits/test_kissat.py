"""Edits of Kissat on a miniature of our own: the statements that its patches look for, between lines of no
meaning."""

from types import SimpleNamespace

import numpy as np
import pytest

from evolake.solvers.edits import PATCHES, Edit, catalogue, edited
from evolake.solvers.edits.anchors import read_tunables
from evolake.solvers.edits.draw import applicable, editable_tree, new_patch

OPTIONS = """\
#define OPTIONS \\
  OPTION (bump, 1, 0, 1, "not to be moved") \\
  OPTION (decay, 50, 1, 200, "decay of scores") \\
  DBGOPT (check, 2, 0, 2, "a check") \\
  OPTION (defraglim, 75, 50, 100, "packing") \\
  OPTION (flushproof, 0, 0, 1, "a proof's lines") \\
  OPTION (reluctantint, 1 << 10, 2, 1 << 15, "a shift") \\
  OPTION (seed, 0, 0, INT_MAX, "a seed") \\
  OPTION (sweepcomplete, 0, 0, 1, "without a limit") \\
  OPTION (target, TARGET_DEFAULT, 0, 2, "a name") \\
  OPTION (bumpreasonslimit, 10, 1, INT_MAX, "reasons") \\
  OPTION (unknown, UNKNOWN_DEFAULT, 0, 2, "a name that nothing defines") \\
  OPTION (vivifyeffort, 1e2, 0, 1e3, "read by a macro") \\
  OPTION (unread, 1, 0, 1, "read nowhere")
#define TARGET_SAT 2
#define TARGET_DEFAULT 1
#ifdef SAT
#undef TARGET_DEFAULT
#define TARGET_DEFAULT TARGET_SAT
#endif
"""
FILES = {
    "options.h": OPTIONS,
    "kimits.h": "#define EFFORT(NAME) (GET_OPTION (NAME##effort) * 1e-3)\n",
    "restart.c": """\
void limit (void) { if (restarts) delta += kissat_logn (restarts) - 1; }
bool due (void) {
  const double fast = AVERAGE (fast_glue);
  const double margin = (100.0 + GET_OPTION (restartmargin)) / 100.0;
}
""",
    "mode.c": """\
void next (void) {
  if (odd) limits->mode.ticks = statistics->search_ticks + delta_ticks;
  else { const uint64_t scaled = interval * kissat_nlogpown (count, 4); }
}
""",
    "decide.c": """\
int phase (void) {
  if (! GET_OPTION (target)) return 0;
  else if (solver->stable || GET_OPTION (target) > 1) return 1;
  switch ((solver->statistics.switched >> 1) & 7) { case 1: return 1; }
}
""",
    "rephase.c": """\
#include <string.h>
void again (void) {
  const uint64_t select = (count - 1) % (uint64_t) size_rephase_schedule;
  UPDATE_CONFLICT_LIMIT (rephase, rephased, NLOG3N, false);
}
""",
    "reduce.c": """\
void collect (void) {
  if (glue <= tier1 && used) continue;
  if (glue <= tier2 && used >= MAX_USED - 1) continue;
  const uint64_t negative_size = ~c->size;
  const uint64_t negative_glue = ~c->glue;
  red.rank = negative_size | (negative_glue << 32);
  UPDATE_CONFLICT_LIMIT (reduce, reductions, SQRT, false);
}
""",
    "bump.c": "void bump (void) { const double decay = GET_OPTION (decay) * 1e-3; }\n",
    "analyze.c": "void reasons (void) { const size_t limit = GET_OPTION (bumpreasonslimit) * saved; }\n",
    "learn.c": "void level (void) { if (!delta) { res = jump; } else if (delta > limit) { res = back; } }\n",
    "probe.c": (
        '#include "vivify.h"\nvoid probe (void) { UPDATE_CONFLICT_LIMIT (probe, probings, NLOGN, true); }\n'
    ),
    "vivify.c": "void vivify (void) { EFFORT (vivify); double sum = irr_budget + tier1_budget + tier2_budget; }\n",  # noqa: E501
}
KISSAT = SimpleNamespace(name="kissat", tunables="kissat-options", editable=("src/src/*.c", "src/src/*.h"))
NAMES = [spec.name for spec in catalogue(KISSAT)]


@pytest.fixture
def small_kissat() -> dict[str, str]:
    return {f"src/src/{name}": text for name, text in FILES.items()}


def test_its_options_are_read_with_shifts_and_names_and_without_seeds_proofs_checks_and_lifted_limits(
    small_kissat,
):
    result = {
        item.name: (item.kind, item.default, item.low, item.high)
        for item in read_tunables(small_kissat, "kissat-options")
    }
    assert result == {
        "bumpreasonslimit": ("int", 10, 1, 2**31 - 1),
        "decay": ("int", 50, 1, 200),
        "reluctantint": ("int", 1024, 2, 32768),
        "target": ("int", 1, 0, 2),
        "unread": ("int", 1, 0, 1),
        "vivifyeffort": ("int", 100, 0, 1000),
    }


def test_a_default_that_is_a_name_or_a_shift_is_moved_where_the_option_is_declared(small_kissat):
    moves = [Edit("tunable", "target", {"value": 2}), Edit("tunable", "reluctantint", {"value": 64})]
    changed, outcomes = edited(small_kissat, KISSAT, moves)
    assert [outcome.status for outcome in outcomes] == ["applied", "applied"]
    text = OPTIONS.replace("(target, TARGET_DEFAULT,", "(target, 2,").replace(
        "(reluctantint, 1 << 10,", "(reluctantint, 64,"
    )
    assert changed == {"src/src/options.h": text}


def test_an_option_applies_where_a_macro_pastes_its_name_together_and_not_where_nothing_reads_it(
    small_kissat,
):
    result = {item.name for item in applicable(editable_tree(small_kissat, KISSAT)).options}
    assert result == {"bumpreasonslimit", "decay", "target", "vivifyeffort"}
    alone = small_kissat | {"src/src/kimits.h": ""}
    assert "vivifyeffort" not in {item.name for item in applicable(editable_tree(alone, KISSAT)).options}
    carried = [Edit("patch", "kissat-bump-reasons", {"stable": 20, "focused": 4})]
    assert "bumpreasonslimit" not in {
        item.name for item in applicable(editable_tree(small_kissat, KISSAT), carried).options
    }


@pytest.mark.parametrize("name", NAMES)
def test_a_patch_changes_the_files_that_it_names_in_whole_and_shuts_its_slot(name, small_kissat):
    spec, before = PATCHES[name], editable_tree(small_kissat, KISSAT).patches
    assert name in before
    edit = new_patch(spec, np.random.default_rng(1))
    changed, (outcome,) = edited(small_kissat, KISSAT, [edit])
    assert outcome.applied
    assert set(changed) == {f"src/src/{file}" for file in spec.files("kissat")}
    assert not any("@" in text for text in changed.values())
    after = editable_tree(small_kissat | changed, KISSAT).patches
    assert set(before) - set(after) == {other for other in NAMES if PATCHES[other].slot == spec.slot}


def test_an_adapter_has_the_patches_of_its_name_without_version_and_own():
    for name, count in (("kissat4", 18), ("kissat-own", 18), ("cadical195-own", 11), ("other", 0)):
        assert len(catalogue(SimpleNamespace(name=name))) == count


@pytest.mark.parametrize("name", NAMES)
def test_a_patch_without_its_anchor_says_so_and_does_not_apply(name, small_kissat):
    for rewrite in PATCHES[name].forms["kissat"]:
        bare = small_kissat | {f"src/src/{rewrite.path}": "int nothing;\n"}
        changed, (outcome,) = edited(bare, KISSAT, [new_patch(PATCHES[name], np.random.default_rng(1))])
        assert (changed, outcome.status) == ({}, "anchor-missing")
        assert rewrite.path in outcome.detail
        assert name not in editable_tree(bare, KISSAT).patches
