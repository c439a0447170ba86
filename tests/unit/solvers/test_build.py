"""Clean builds in the jail: what they give, what they remember, and each way to fail as a value."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from package_index import Index, serving
from solver_fixtures import ADAPTER, toy_adapter, toy_tree

from evolake.errors import MachineryError
from evolake.lake import BlobStore
from evolake.solvers.execute import RunLimits, run_solver
from evolake.solvers.repository import build as building
from evolake.solvers.repository.adapters import Adapter
from evolake.solvers.repository.build import BuildLimits, build_variant, open_program
from evolake.solvers.repository.variant import create_variant, source_sha


@pytest.fixture
def blobs(tmp_path: Path, requires: Callable[[str], str]) -> BlobStore:
    requires("c++")
    return BlobStore(tmp_path / "lake")


def laid_out(tmp_path: Path, adapter: Adapter) -> Path:
    create_variant(toy_tree(tmp_path / "upstream"), adapter, tmp_path / "variant")
    return tmp_path / "variant"


def commanded(command: str) -> Adapter:
    """The toy's adapter with another build command."""
    return toy_adapter(ADAPTER.replace("$CXX $CXXFLAGS -o bin/toy src/main.cc", command))


def test_a_built_program_runs(tmp_path: Path, blobs: BlobStore):
    adapter = toy_adapter()
    folder = laid_out(tmp_path, adapter)
    before = source_sha(folder)
    result = build_variant(folder, adapter, blobs)
    assert (result.ok, result.kind, result.reason, result.warnings, result.cached) == (
        True,
        "built",
        "",
        0,
        False,
    )
    assert result.cpu_s > 0
    assert (
        source_sha(folder) == before
        and list((folder / "build").iterdir()) == []
        and not (folder / "bin/toy").exists()
    )
    program = open_program(result, adapter, blobs, tmp_path / "cache")
    assert (program.argv, program.proof, program.folder.name) == (
        ("toy", "{cnf}"),
        "drat-text",
        result.program,
    )
    (tmp_path / "one.cnf").write_text("p cnf 1 1\n1 0\n")
    run = run_solver(program, tmp_path / "one.cnf", RunLimits(), scratch=tmp_path)
    assert (run.status, run.counters) == ("unknown", run.counters | {"conflicts": 7.0})


def test_two_builds_of_the_same_sources_give_the_same_bytes(tmp_path: Path, blobs: BlobStore):
    adapter = toy_adapter()
    folder = laid_out(tmp_path, adapter)
    first = build_variant(folder, adapter, blobs)
    assert build_variant(folder, adapter, blobs, again=True).program == first.program


def test_an_unchanged_variant_is_not_built_twice_and_a_changed_one_is(tmp_path: Path, blobs: BlobStore):
    adapter = toy_adapter()
    folder = laid_out(tmp_path, adapter)
    first = build_variant(folder, adapter, blobs)
    (folder / "RESULTS.md").write_text("# Results\n\nNone.\n")
    again = build_variant(folder, adapter, blobs)
    assert again.cached and (again.program, again.cpu_s) == (first.program, first.cpu_s)
    (folder / "src/toy.h").write_text("#define CONFLICTS 8\n")
    changed = build_variant(folder, adapter, blobs)
    assert not changed.cached and changed.program != first.program


def test_a_remembered_build_whose_program_is_gone_is_built_again(tmp_path: Path, blobs: BlobStore):
    adapter = toy_adapter()
    folder = laid_out(tmp_path, adapter)
    first = build_variant(folder, adapter, blobs)
    assert first.program is not None
    blobs.path(first.program).unlink()
    again = build_variant(folder, adapter, blobs)
    assert (again.cached, again.program) == (False, first.program) and blobs.has(first.program)


def test_a_compile_error_names_the_place_in_the_variant(tmp_path: Path, blobs: BlobStore):
    adapter = toy_adapter()
    folder = laid_out(tmp_path, adapter)
    (folder / "src/toy.h").write_text("#define CONFLICTS nothing\n")
    result = build_variant(folder, adapter, blobs)
    assert (result.ok, result.kind, result.program) == (False, "compile-error", None)
    assert result.reason.startswith("compile error: src/toy.h:1:19: error: ") and "nothing" in result.reason
    assert b"src/toy.h:1:19: error" in blobs.get(result.log_sha)
    with pytest.raises(ValueError, match="no program"):
        open_program(result, adapter, blobs, tmp_path / "cache")


TWO_FAIL = """all: first second
first:
\t@sleep 0.5; echo 'first.cc: error: one'; exit 1
second:
\t@echo 'second.cc: error: two'; exit 1
"""


def test_what_a_failing_build_says_does_not_depend_on_which_job_fails_first(tmp_path: Path, blobs: BlobStore):
    before = '[["sh", "-c", "$CXX $CXXFLAGS -o bin/toy src/main.cc"]]'
    adapter = toy_adapter(ADAPTER.replace(before, '[["make", "-j2", "-f", "src/two.h"]]'))
    folder = laid_out(tmp_path, adapter)
    (folder / "src/two.h").write_text(TWO_FAIL)
    result = build_variant(folder, adapter, blobs)
    assert (result.kind, result.reason) == ("compile-error", "compile error: first.cc: error: one")
    assert b"second.cc" not in blobs.get(result.log_sha)


def test_warnings_are_counted_and_kept(tmp_path: Path, blobs: BlobStore):
    adapter = toy_adapter()
    folder = laid_out(tmp_path, adapter)
    (folder / "src/toy.h").write_text("#define CONFLICTS 7\nstatic int unused;\n")
    result = build_variant(folder, adapter, blobs)
    assert (result.ok, result.warnings) == (True, 1)
    assert b"warning: " in blobs.get(result.log_sha)


@pytest.mark.parametrize(
    ("command", "limits", "kind", "said"),
    [
        ("true", BuildLimits(), "no-program", "left no file bin/toy"),
        ("ln -s /etc/passwd bin/toy", BuildLimits(), "no-program", "bin/toy"),
        ("while :; do :; done", BuildLimits(cpu_s=1), "timeout", "too long"),
        ("sleep 60", BuildLimits(wall_s=1), "timeout", "too long"),
        (
            "dd if=/dev/zero of=bin/toy bs=65536 count=100",
            BuildLimits(file_mb=1),
            "too-large",
            "writes too much",
        ),
        (
            "for i in 1 2 3 4 5 6 7; do dd if=/dev/zero of=build/$i bs=65536 count=16; done",
            BuildLimits(file_mb=1),
            "too-large",
            "writes too much",
        ),
        ("while :; do echo noise; done", BuildLimits(log_bytes=10_000), "too-large", "writes too much"),
        ("sh -c 'while :; do :; done'; exit 1", BuildLimits(cpu_s=1), "timeout", "too long"),
        ("sh -c 'kill -9 $$'; false", BuildLimits(), "killed", "was killed"),
        ("nosuchcompiler", BuildLimits(), "compile-error", "nosuchcompiler: not found"),
        ("exit 3", BuildLimits(), "compile-error", "no message"),
        (
            "for i in 1 2 3 4 5 6; do (x=xxxxxxxx; for j in $(seq 22); do x=$x$x; done; sleep 9) & done; "
            "wait",
            BuildLimits(total_mb=100),
            "memory",
            "too much memory: it used more than 100 MiB in all",
        ),
        (
            "echo 'sh: 1: Cannot fork' >&2; exit 2",
            BuildLimits(processes=8),
            "killed",
            "more than 8 processes",
        ),
        ("for i in $(seq 40); do sleep 9 & done; wait", BuildLimits(processes=8), "killed", "processes"),
    ],
)
def test_each_way_to_fail_is_told(
    tmp_path: Path, blobs: BlobStore, command: str, limits: BuildLimits, kind: str, said: str
):
    adapter = commanded(command)
    result = build_variant(laid_out(tmp_path, adapter), adapter, blobs, limits)
    assert (result.ok, result.kind, result.program) == (False, kind, None), result
    assert said in result.reason


def test_a_build_sees_no_network_and_no_file_of_the_host(tmp_path: Path, blobs: BlobStore):
    (tmp_path / "secret").write_text("secret")
    with serving(Index("x", "y", b"")) as index:
        program = "int socket(int, int, int); int main(void) { return socket(2, 1, 0) < 0; }"
        network = f"echo '{program}' > build/n.c; $CXX -x c -o build/n build/n.c; build/n || echo no network"
        adapter = commanded(f"cat {tmp_path}/secret; {network}; cp src/toy.h bin/toy")
        result = build_variant(laid_out(tmp_path, adapter), adapter, blobs)
    assert result.ok and index.asked == []
    log = blobs.get(result.log_sha)
    assert b"secret: No such file" in log and b"no network" in log


def test_no_compiler_is_a_failure_of_the_machinery(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    adapter = toy_adapter()
    folder = laid_out(tmp_path, adapter)
    building.compiler.cache_clear()
    monkeypatch.setenv("PATH", str(tmp_path))
    assert shutil.which("g++") is None
    try:
        with pytest.raises(MachineryError, match="evolake doctor"):
            build_variant(folder, adapter, BlobStore(tmp_path / "lake"))
    finally:
        building.compiler.cache_clear()


def test_the_flags_of_a_build_are_what_the_kernel_saw(tmp_path: Path, blobs: BlobStore):
    """Whoever calls a compiler, and by whichever name: a Makefile's words, a compiler proper without its
    driver, a file of flags."""
    plain = toy_adapter()
    folder = laid_out(tmp_path, plain)
    usual = build_variant(folder, plain, blobs)
    assert any(line.startswith("g++ ") or line.startswith("clang++ ") for line in usual.flags)
    assert (
        build_variant(folder, plain, blobs).flags
        == usual.flags
        == build_variant(folder, plain, blobs, again=True).flags
    )
    (folder / "src/toy.h").write_text("#define CONFLICTS 8\n")
    assert build_variant(folder, plain, blobs).flags == usual.flags
    proper = "$($CXX -print-prog-name=cc1plus)"
    for words in (
        "$CXX $CXXFLAGS -march=native -o bin/toy src/main.cc",
        "cp $(command -v $CXX) build/echo; build/echo -O3 -o bin/toy src/main.cc",
        f"$CXX $CXXFLAGS -o bin/toy src/main.cc; {proper} -O3 src/main.cc -o build/x.s; true",
        "echo -O3 > build/f; $CXX $CXXFLAGS @build/f -o bin/toy src/main.cc",
    ):
        adapter = commanded(words)
        other = build_variant(folder, adapter, blobs)
        assert other.flags != usual.flags or "build/echo" in other.executed, words
    assert (
        "/bin/sh" in {path.replace("/usr/bin", "/bin") for path in usual.executed}
        or "./starexec_build" in usual.executed
    )
