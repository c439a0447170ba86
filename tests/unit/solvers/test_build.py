"""Clean builds in the jail: what they give, what they remember, and each way to fail as a value."""

import shutil
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from package_index import Index, serving
from solver_fixtures import ADAPTER, HEADER, MAIN, toy_adapter, toy_tree

from evolake.errors import MachineryError
from evolake.lake import BlobStore
from evolake.solvers.execute import RunLimits, run_solver
from evolake.solvers.repository import build as building
from evolake.solvers.repository.adapters import Adapter
from evolake.solvers.repository.build import BuildLimits, BuildResult, build_variant, open_program
from evolake.solvers.repository.compiled_before import Compiled
from evolake.solvers.repository.object_store import MANIFEST, Kept, ObjectStore
from evolake.solvers.repository.variant import create_variant, source_sha


@pytest.fixture
def blobs(tmp_path, requires) -> BlobStore:
    requires("c++")
    return BlobStore(tmp_path / "lake")


def laid_out(tmp_path: Path, adapter: Adapter) -> Path:
    create_variant(toy_tree(tmp_path / "upstream"), adapter, tmp_path / "variant")
    return tmp_path / "variant"


def commanded(command: str) -> Adapter:
    """The toy's adapter with another build command."""
    return toy_adapter(ADAPTER.replace("$CXX $CXXFLAGS -o bin/toy src/main.cc", command))


def test_a_built_program_runs(tmp_path, blobs):
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


def test_two_builds_of_the_same_sources_give_the_same_bytes(tmp_path, blobs):
    adapter = toy_adapter()
    folder = laid_out(tmp_path, adapter)
    first = build_variant(folder, adapter, blobs)
    assert build_variant(folder, adapter, blobs, again=True).program == first.program


def test_an_unchanged_variant_is_not_built_twice_and_a_changed_one_is(tmp_path, blobs):
    adapter = toy_adapter()
    folder = laid_out(tmp_path, adapter)
    first = build_variant(folder, adapter, blobs)
    (folder / "RESULTS.md").write_text("# Results\n\nNone.\n")
    again = build_variant(folder, adapter, blobs)
    assert again.cached and (again.program, again.cpu_s) == (first.program, first.cpu_s)
    (folder / "src/toy.h").write_text("#define CONFLICTS 8\n")
    changed = build_variant(folder, adapter, blobs)
    assert not changed.cached and changed.program != first.program


def test_a_remembered_build_whose_program_is_gone_is_built_again(tmp_path, blobs):
    adapter = toy_adapter()
    folder = laid_out(tmp_path, adapter)
    first = build_variant(folder, adapter, blobs)
    assert first.program is not None
    blobs.path(first.program).unlink()
    again = build_variant(folder, adapter, blobs)
    assert (again.cached, again.program) == (False, first.program) and blobs.has(first.program)


def test_a_compile_error_names_the_place_in_the_variant(tmp_path, blobs):
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


def test_what_a_failing_build_says_does_not_depend_on_which_job_fails_first(tmp_path, blobs):
    before = '[["sh", "-c", "$CXX $CXXFLAGS -o bin/toy src/main.cc"]]'
    adapter = toy_adapter(ADAPTER.replace(before, '[["make", "-j2", "-f", "src/two.h"]]'))
    folder = laid_out(tmp_path, adapter)
    (folder / "src/two.h").write_text(TWO_FAIL)
    result = build_variant(folder, adapter, blobs)
    assert (result.kind, result.reason) == ("compile-error", "compile error: first.cc: error: one")
    assert b"second.cc" not in blobs.get(result.log_sha)


def test_warnings_are_counted_and_kept(tmp_path, blobs):
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
def test_each_way_to_fail_is_told(tmp_path, blobs, command, limits, kind, said):
    adapter = commanded(command)
    result = build_variant(laid_out(tmp_path, adapter), adapter, blobs, limits)
    assert (result.ok, result.kind, result.program) == (False, kind, None), result
    assert said in result.reason


def test_a_build_sees_no_network_and_no_file_of_the_host(tmp_path, blobs):
    (tmp_path / "secret").write_text("secret")
    with serving(Index("x", "y", b"")) as index:
        program = "int socket(int, int, int); int main(void) { return socket(2, 1, 0) < 0; }"
        network = f"echo '{program}' > build/n.c; $CXX -x c -o build/n build/n.c; build/n || echo no network"
        adapter = commanded(f"cat {tmp_path}/secret; {network}; cp src/toy.h bin/toy")
        result = build_variant(laid_out(tmp_path, adapter), adapter, blobs)
    assert result.ok and index.asked == []
    log = blobs.get(result.log_sha)
    assert b"secret: No such file" in log and b"no network" in log


def test_no_compiler_is_a_failure_of_the_machinery(tmp_path, monkeypatch):
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


def test_the_flags_of_a_build_are_what_the_kernel_saw(tmp_path, blobs):
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


# Objects of a seed that serve its variants: what is given is what the compiler would give, and only a
# seed's build gives anything.


ONE_COMMAND = '[["sh", "-c", "$CXX $CXXFLAGS -o bin/toy src/main.cc"]]'
MAKE = '[["cp", "-R", "src/.", "build"], ["make", "-j2", "-C", "build"], ["cp", "build/toy", "bin/toy"]]'
BUILT_BY_MAKE = 'build_files = ["src/Makefile"]\n' + ADAPTER.replace(ONE_COMMAND, MAKE)
MAKEFILE = (
    "toy: main.o other.o\n\t$(CXX) -s -o $@ $^\n%.o: %.cc\n\t$(CXX) -Wall -O1 -DNAME='\"a  toy\"' -c -o "
    "$@ $<\n"
)
SLOW = "#include <iostream>\n"  # many ticks of the clock that compiling is timed by
OTHER_MAIN = SLOW + MAIN.replace("return 1", "return 3")
OTHER = SLOW + "static int unused;\nint other(int x) { return x + 1; }\n"


@pytest.fixture
def adapter() -> Adapter:
    return toy_adapter(BUILT_BY_MAKE)


@pytest.fixture
def cache(tmp_path, monkeypatch, requires) -> Path:
    """This user's folder of caches, empty."""
    requires("c++")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def seed(tmp_path, adapter) -> Path:
    return laid_out_seed(tmp_path, adapter)


@pytest.fixture(scope="module")
def stored(tmp_path_factory, requires) -> tuple[BuildResult, Path]:
    """A build of the seed with nothing kept before it, and the folder of caches that it left; made once."""
    requires("c++")
    root, adapter = tmp_path_factory.mktemp("stored"), toy_adapter(BUILT_BY_MAKE)
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setenv("XDG_CACHE_HOME", str(root / "cache"))
        return built(laid_out_seed(root, adapter), adapter, seed=True), root / "cache"


@pytest.fixture
def first(cache, stored) -> BuildResult:
    """That build; this user's caches are a copy of what it left."""
    shutil.copytree(stored[1], cache)
    return stored[0]


def laid_out_seed(root: Path, adapter: Adapter) -> Path:
    """The seed's repository below `root`."""
    upstream = {
        "code/main.cc": SLOW + MAIN,
        "code/toy.h": HEADER,
        "code/other.cc": OTHER,
        "code/Makefile": MAKEFILE,
        "LICENSE": "MIT\n",
    }
    for name, text in upstream.items():
        (root / "upstream" / name).parent.mkdir(parents=True, exist_ok=True)
        (root / "upstream" / name).write_text(text)
    create_variant(root / "upstream", adapter, root / "seed")
    return root / "seed"


def variant(seed: Path, **changed: str) -> Path:
    """A copy of the seed with these files of src/ in place of its own, `_` for the dot."""
    folder = seed.with_name("-".join(["variant", *changed]))
    shutil.copytree(seed, folder, dirs_exist_ok=True)
    for name, text in changed.items():
        (folder / "src" / name.replace("_", ".")).write_text(text)
    return folder


def built(folder: Path, adapter: Adapter, *, seed: bool = False, again: bool = False) -> BuildResult:
    """Built in a lake that has nothing."""
    lake = folder.with_name(f"lake-of-{len(list(folder.parent.iterdir()))}")
    return build_variant(folder, adapter, BlobStore(lake), seed=seed, again=again)


def essence(result: BuildResult) -> BuildResult:
    """All of a result but what may differ from one build to the next: times, order of messages, and how it
    came about."""
    return replace(result, cpu_s=0, wall_s=0, log_sha="", reused=0, reused_s=0, cached=False)


def contents(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.suffix != ".lock"
    }


@pytest.mark.parametrize(
    ("changed", "reused"),
    [
        ({}, 2),
        ({"main_cc": OTHER_MAIN}, 1),
        ({"toy_h": "#define CONFLICTS 8\n"}, 1),
        ({"other_cc": OTHER.replace("1", "2")}, 1),
        ({"Makefile": MAKEFILE.replace("-O1", "-O3")}, 0),
        ({"new_h": "\n"}, 0),
        ({"LICENSE": "another\n"}, 0),
    ],
)
def test_a_build_with_objects_of_its_seed_is_the_build_without(first, seed, adapter, changed, reused):
    """Program, flags, executed programs and warnings; no object where a file that is no source changed, or
    there is a file more."""
    assert (first.ok, first.reused, first.warnings) == (True, 0, 1)
    folder = variant(seed, **changed)
    fast, whole = built(folder, adapter), built(folder, adapter, again=True)
    assert (fast.reused, whole.reused) == (reused, 0)
    assert essence(fast) == essence(whole)
    assert fast.cpu_s > fast.reused_s and (fast.reused_s > 0) == (reused > 0), (
        "what compiling the objects took counts"
    )
    assert (fast.flags == first.flags) == ("Makefile" not in changed)


def test_no_variant_puts_anything_into_the_store(cache, seed, adapter):
    folder = variant(seed, main_cc=OTHER_MAIN)
    assert built(folder, adapter).ok and not cache.exists()
    assert built(seed, adapter, seed=True).ok
    before = contents(cache)
    assert built(folder, adapter).reused == 1
    assert contents(cache) == before


FORGING = (
    "ls -R /compiled && for place in bin/$CXX 1.o 2.o 1.sums tools/cat; do if echo forged > "
    "/compiled/$place; then echo WRITTEN; fi; if rm -f /compiled/$place; then echo REMOVED; fi; done; if "
    "mkdir /compiled/new; then echo MADE; fi; ls {cache} && echo SEEN; true"
)


def test_a_build_cannot_write_to_what_it_is_shown_and_sees_no_store(cache, seed, adapter, tmp_path):
    """The worst candidate: one whose own commands run in the jail of a build with objects."""
    command = (*adapter.build[:2], ("sh", "-c", FORGING.format(cache=cache)), *adapter.build[2:])
    adapter = replace(adapter, build=command)
    folder = seed.with_name("forging")
    create_variant(tmp_path / "upstream", adapter, folder)
    assert built(folder, adapter, seed=True).ok
    before = contents(cache)
    blobs = BlobStore(tmp_path / "lake-of-the-forger")
    result = build_variant(folder, adapter, blobs)
    log = blobs.get(result.log_sha).decode()
    assert result.reused == 2 and "1.sums" in log and "Read-only file system" in log
    assert not [word for word in ("WRITTEN", "REMOVED", "MADE", "SEEN") if f"{word}\n" in log]
    assert contents(cache) == before


def damaged(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


@pytest.mark.parametrize("name", [MANIFEST, "1.o", ""])
def test_a_damaged_store_changes_nothing_and_is_made_anew(cache, first, seed, adapter, name):
    [folder] = [path for path in (cache / "evolake" / "objects").iterdir() if path.is_dir()]
    if name:
        damaged(folder / name)
    else:
        shutil.rmtree(folder)
        folder.write_text("no folder")
    again = built(seed, adapter)
    assert (again.reused, essence(again)) == (0, essence(first))
    folder.unlink() if folder.is_file() else None
    assert built(seed, adapter, seed=True).reused == 0
    assert built(seed, adapter).reused == 2


def test_two_builds_of_one_seed_at_once_compile_it_once(cache, seed, adapter, tmp_path):
    with ThreadPoolExecutor(2) as threads:
        lakes = [BlobStore(tmp_path / f"lake-{number}") for number in range(2)]
        results = list(threads.map(lambda blobs: build_variant(seed, adapter, blobs, seed=True), lakes))
    assert sorted(result.reused for result in results) == [0, 2]
    assert essence(results[0]) == essence(results[1])


def kept(size: int, system: dict[str, str] | None = None) -> Kept:
    return Kept(
        "s",
        [
            Compiled(
                "/tmp/work",
                ("-c", "-o", "x.o"),
                "x.o",
                bytes(size),
                b"",
                {"/tmp/work/x.cc": "0" * 64},
                system or {},
                0.5,
            )
        ],
        [],
        [],
    )


def test_another_header_of_the_system_is_seen(tmp_path):
    header = tmp_path / "stdio.h"
    header.write_text("old")
    store = ObjectStore(tmp_path / "objects", "a", 1)
    store.keep(kept(10, {str(header): "0" * 64}))
    assert store.read() is None
