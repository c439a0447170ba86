"""MiniSat with each patch of the catalogue: it compiles, answers right, its proofs verify, and it searches
differently.

A patch is built again only if something that decides its verdict has changed (see `solver_patches`). The
patches of the other seeds are in test_edits_patches_elsewhere.py.
"""

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from solver_patch_builds import with_defaults
from solver_patches import FORMS, LIMITS, SAMPLE, Bench, assert_patch_differs, open_benches, seed_of

from evolake.lake.blobs import BlobStore
from evolake.solvers.edits import Edit, apply_edits, write_edits
from evolake.solvers.edits.anchors import source_files
from evolake.solvers.edits.apply import cross_edits
from evolake.solvers.execute import Program, run_solver
from evolake.solvers.proof.checking import check_proof
from evolake.solvers.repository.adapters import load_adapter
from evolake.solvers.repository.build import build_variant
from evolake.solvers.repository.variant import source_sha

pytestmark = pytest.mark.slow
BASE = "minisat22"
PATCHES = [patch for base, patch in FORMS if base == BASE]


@pytest.fixture(scope="module")
def bench(tmp_path_factory) -> Iterator[Bench]:
    with open_benches(tmp_path_factory.mktemp("patched")) as opened:
        yield opened(BASE)


@pytest.mark.parametrize("patch", PATCHES)
def test_a_patch_compiles_answers_right_with_proofs_and_changes_the_search(patch, requires, bench, tmp_path):
    requires("c++")
    assert_patch_differs(bench, patch, tmp_path)


def test_a_patch_that_answers_wrong_is_found_out(bench, requires, tmp_path):
    requires("c++")
    name, changed = SAMPLE[BASE][0], bench.patching.changed[SAMPLE[BASE][0]]
    [path] = [path for path in bench.patching.files if path.endswith("core/Solver.cc")]
    text = changed.get(path, bench.patching.files[path])
    assert text.count("conflicts++; conflictC++;") == 1
    wrong = changed | {
        path: text.replace(
            "conflicts++; conflictC++;", "conflicts++; conflictC++; if (conflicts > 20) return l_False;"
        )
    }
    patching = replace(bench.patching, changed={name: wrong})
    with pytest.raises(AssertionError, match="'sat', 'unsat'"):
        replace(bench, patching=patching, folder=tmp_path / "programs", searched={}, judged={}).verdict(
            name, tmp_path
        )


def test_a_crossover_of_patches_and_a_moved_option_builds_cleanly_and_solves(requires, bench, tmp_path):
    requires("c++")
    adapter, seed = load_adapter(BASE), seed_of(BASE)
    first = [
        with_defaults("reduce-glue-tiers"),
        with_defaults("restart-ema"),
        Edit("tunable", "var-decay", {"value": 0.85}),
    ]
    second = [
        with_defaults("restart-geometric"),
        with_defaults("phase-rephase"),
        Edit("tunable", "var-decay", {"value": 0.9}),
    ]
    crossed = cross_edits(source_files(seed), adapter, first, second)
    assert [edit.name for edit in crossed.edits] == [
        "reduce-glue-tiers",
        "restart-ema",
        "var-decay",
        "phase-rephase",
    ]
    assert [(item.what, item.reason) for item in crossed.dropped] == [
        ("tunable:var-decay", "same-edit-other-values"),
        ("patch:restart-geometric", "slot-taken"),
    ]
    ids = []
    for number, order in enumerate((crossed.edits, crossed.edits[::-1])):
        folder = tmp_path / str(number)
        shutil.copytree(seed, folder)
        assert all(outcome.applied for outcome in apply_edits(folder, adapter, order))
        (folder / "edits.json").write_text(write_edits(order))
        ids.append(source_sha(folder))
    assert ids[0] == ids[1] != source_sha(seed)
    blobs = BlobStore(tmp_path / "blobs")
    built = build_variant(tmp_path / "0", adapter, blobs)
    assert built.ok and built.program, built.reason
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / Path(adapter.program).name
    program.write_bytes(blobs.get(built.program))
    program.chmod(0o755)
    ready = Program(
        tmp_path / "bin",
        adapter.argv,
        adapter.proof_argv,
        adapter.proof,
        {},
        adapter.statistics,
        adapter.exit_codes,
    )
    run = run_solver(ready, bench.formulas["unsat"], LIMITS, scratch=tmp_path / "scratch", want_proof=True)
    assert run.status == "unsat" and run.proof is not None
    assert check_proof(bench.formulas["unsat"], run.proof).verdict == "verified"
