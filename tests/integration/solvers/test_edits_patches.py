"""MiniSat with each patch of the catalogue: it compiles, answers right, its proofs verify, and it searches
differently.

A patch is built again only if something that decides its verdict has changed (see `solver_patches`). The
patches of the other seeds are in test_edits_patches_elsewhere.py.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import pytest
import solver_patches
from solver_patch_builds import with_defaults
from solver_patches import FORMS, LIMITS, SAMPLE, Bench, Verdict, assert_patch_differs, open_benches, seed_of

from evolake.lake.blobs import BlobStore
from evolake.solvers.edits import Edit, apply_edits, write_edits
from evolake.solvers.edits.anchors import source_files
from evolake.solvers.edits.crossover import cross_edits
from evolake.solvers.process.execute import Program, run_solver
from evolake.solvers.proof.checking import check_proof
from evolake.solvers.repository.adapters import load_adapter
from evolake.solvers.repository.build import build_variant
from evolake.solvers.repository.variant import source_sha

pytestmark = pytest.mark.slow
BASE = "minisat22"
PATCHES = [patch for base, patch in FORMS if base == BASE]


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    with open_benches(tmp_path_factory.mktemp("patched")) as opened:
        yield opened(BASE)


@pytest.mark.parametrize("patch", PATCHES)
def test_a_patch_compiles_answers_right_with_proofs_and_changes_the_search(
    patch: str, requires: Callable[[str], str], bench: Bench, tmp_path: Path
) -> None:
    requires("c++")
    assert_patch_differs(bench, patch, tmp_path)


def keys(bench: Bench) -> dict[str, str]:
    return {patch: bench.key(patch) for patch in PATCHES}


def test_a_key_changes_with_all_that_decides_a_verdict_and_with_nothing_else(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, other, *_ = PATCHES
    before, patching, adapter = keys(bench), bench.patching, bench.adapter
    assert len(set(before.values())) == len(PATCHES)
    path, text = next(iter(patching.changed[first].items()))
    patched = replace(patching, changed=patching.changed | {first: {path: text + "\n"}})
    assert {
        patch for patch, key in keys(replace(bench, patching=patched)).items() if key != before[patch]
    } == {first}
    everything = {
        "a source of the seed": replace(
            bench, patching=replace(patching, files=patching.files | {path: patching.files[path] + "\n"})
        ),
        "the flags": replace(
            bench, patching=replace(patching, rule=lambda *given: patching.rule(*given).replace("-O1", "-O2"))
        ),
        "how it is run": replace(
            bench, adapter=replace(adapter, exit_codes=dict.fromkeys(adapter.exit_codes, 99))
        ),
    }
    for what, changed in everything.items():
        assert not set(keys(changed).values()) & set(before.values()), what
    assert bench.key(other, "another compiler") != before[other]
    monkeypatch.setattr(solver_patches, "judges", lambda: "other code")
    assert not set(keys(bench).values()) & set(before.values()), "the code that judges"


def test_a_verdict_is_taken_with_its_key_alone_and_what_is_not_known_is_built(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, other, last = [patch for patch in PATCHES if patch not in SAMPLE[BASE]][:3]
    entry = {"conflicts": {"sat.cnf": 2.0}, "before": {"sat.cnf": 1.0}}
    bench = replace(bench, rebuild=False)
    monkeypatch.setattr(solver_patches, "KEPT", tmp_path / "kept.json")
    assert set(bench.wanted()) == {*PATCHES}
    known = {
        first: entry | {"key": bench.key(first)},
        other: entry | {"key": bench.key(last)},
        last: entry | {"key": "0"},
    }
    (tmp_path / "kept.json").write_text(json.dumps({BASE: known}))
    assert [bench.known(patch) for patch in (first, other, last)] == [
        Verdict({"sat.cnf": 2.0}, {"sat.cnf": 1.0}),
        None,
        None,
    ]
    assert set(bench.wanted()) == {*PATCHES} - {first}
    assert set(replace(bench, rebuild=True).wanted()) == {*PATCHES}


def test_what_was_judged_is_kept_and_known_in_the_next_run(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(solver_patches, "KEPT", tmp_path / "kept.json")
    first, other, *_ = [patch for patch in PATCHES if patch not in SAMPLE[BASE]]
    old: Mapping[str, object] = {"key": "0", "conflicts": {}, "before": {}}
    (tmp_path / "kept.json").write_text(
        json.dumps({"cadical195": {"one": old}, BASE: {first: old, other: old, "a patch that is gone": old}})
    )
    verdict = Verdict({"sat.cnf": 2.0}, {"sat.cnf": 1.0})
    solver_patches.keep(replace(bench, judged={first: verdict}))
    result = solver_patches.kept()
    assert bench.known(first) == verdict
    assert (result["cadical195"], result[BASE].keys(), result[BASE][other]) == (
        {"one": old},
        {first, other},
        old,
    )
    assert sorted(path.name for path in tmp_path.iterdir()) == ["kept.json"]


def test_a_patch_that_answers_wrong_is_found_out(
    bench: Bench, requires: Callable[[str], str], tmp_path: Path
) -> None:
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


def test_a_crossover_of_patches_and_a_moved_option_builds_cleanly_and_solves(
    requires: Callable[[str], str], bench: Bench, tmp_path: Path
) -> None:
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
