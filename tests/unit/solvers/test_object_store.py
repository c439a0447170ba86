"""Objects of a seed that serve its variants: what is given is what the compiler would give, and only a seed's
build gives anything."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from solver_fixtures import ADAPTER, HEADER, MAIN, toy_adapter

from evolake.lake import BlobStore
from evolake.solvers.repository.adapters import Adapter
from evolake.solvers.repository.build import BuildResult, build_variant
from evolake.solvers.repository.compiled_before import Compiled
from evolake.solvers.repository.object_store import MANIFEST, Kept, ObjectStore
from evolake.solvers.repository.variant import create_variant

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
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, requires: Callable[[str], str]) -> Path:
    """This user's folder of caches, empty."""
    requires("c++")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def seed(tmp_path: Path, adapter: Adapter) -> Path:
    return laid_out(tmp_path, adapter)


@pytest.fixture(scope="module")
def stored(
    tmp_path_factory: pytest.TempPathFactory, requires: Callable[[str], str]
) -> tuple[BuildResult, Path]:
    """A build of the seed with nothing kept before it, and the folder of caches that it left; made once."""
    requires("c++")
    root, adapter = tmp_path_factory.mktemp("stored"), toy_adapter(BUILT_BY_MAKE)
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setenv("XDG_CACHE_HOME", str(root / "cache"))
        return built(laid_out(root, adapter), adapter, seed=True), root / "cache"


@pytest.fixture
def first(cache: Path, stored: tuple[BuildResult, Path]) -> BuildResult:
    """That build; this user's caches are a copy of what it left."""
    shutil.copytree(stored[1], cache)
    return stored[0]


def laid_out(root: Path, adapter: Adapter) -> Path:
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
def test_a_build_with_objects_of_its_seed_is_the_build_without(
    first: BuildResult, seed: Path, adapter: Adapter, changed: dict[str, str], reused: int
):
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


def test_no_variant_puts_anything_into_the_store(cache: Path, seed: Path, adapter: Adapter):
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


def test_a_build_cannot_write_to_what_it_is_shown_and_sees_no_store(
    cache: Path, seed: Path, adapter: Adapter, tmp_path: Path
):
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
def test_a_damaged_store_changes_nothing_and_is_made_anew(
    cache: Path, first: BuildResult, seed: Path, adapter: Adapter, name: str
):
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


def test_two_builds_of_one_seed_at_once_compile_it_once(
    cache: Path, seed: Path, adapter: Adapter, tmp_path: Path
):
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


def test_another_header_of_the_system_is_seen(tmp_path: Path):
    header = tmp_path / "stdio.h"
    header.write_text("old")
    store = ObjectStore(tmp_path / "objects", "a", 1)
    store.keep(kept(10, {str(header): "0" * 64}))
    assert store.read() is None
