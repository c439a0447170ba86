"""A variant's layout, identity and archive."""

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from solver_fixtures import ADAPTER, toy_adapter, toy_tree

from evolake.errors import InputError
from evolake.lake import BlobStore
from evolake.solvers.repository.variant import (
    apply_diff,
    archive_variant,
    check_layout,
    create_variant,
    diff_sources,
    read_card,
    source_sha,
    sources_of,
)


@pytest.fixture
def variant(tmp_path) -> Path:
    create_variant(toy_tree(tmp_path / "upstream"), toy_adapter(), tmp_path / "variant")
    return tmp_path / "variant"


def test_a_seed_is_laid_out_whole(variant):
    result = sorted(path.relative_to(variant).as_posix() for path in variant.rglob("*"))
    assert result == [
        "CHANGELOG.md",
        "HYPOTHESIS.md",
        "RESULTS.md",
        "bin",
        "bin/starexec_run_default",
        "build",
        "src",
        "src/LICENSE",
        "src/main.cc",
        "src/toy.h",
        "starexec_build",
        "variant.toml",
    ]
    assert check_layout(variant, toy_adapter()) == []
    assert read_card(variant) == {"base": "toy", "adapter": "toy"}


def _remove(name: str) -> Callable[[Path], None]:
    return lambda folder: (
        shutil.rmtree(folder / name) if (folder / name).is_dir() else (folder / name).unlink()
    )


def _write(name: str, text: str = "x\n") -> Callable[[Path], None]:
    def act(folder: Path) -> None:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)

    return act


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (_remove("RESULTS.md"), "RESULTS.md is missing"),
        (_remove("src"), "src is missing"),
        (_remove("src/LICENSE"), "the licence src/LICENSE is missing"),
        (_remove("variant.toml"), "variant.toml cannot be read"),
        (
            _write("variant.toml", 'base = "toy"\nadapter = "other"\n'),
            "variant.toml names the adapter other; it is toy",
        ),
        (_write("extra.sh"), "extra.sh has no place in a variant"),
        (_write("bin/toy"), "bin/toy is made by a build and has no place in a variant"),
        (_write("build/main.o"), "build/main.o is made by a build and has no place in a variant"),
        (_write("src/main.o"), "src/main.o is made by a build and has no place in a variant"),
        (
            _write("starexec_build", "#!/bin/sh\nexit 0\n"),
            "starexec_build is not as the adapter toy writes it",
        ),
        (
            _write("bin/starexec_run_default", "#!/bin/sh\n"),
            "bin/starexec_run_default is not as the adapter toy writes it",
        ),
        (lambda folder: (folder / "starexec_build").chmod(0o644), "starexec_build cannot be executed"),
        (lambda folder: (folder / "src/link.h").symlink_to("/etc/passwd"), "src/link.h is a link"),
    ],
)
def test_each_fault_of_the_layout_is_named(variant, spoil, said):
    spoil(variant)
    assert any(said in problem for problem in check_layout(variant, toy_adapter())), check_layout(
        variant, toy_adapter()
    )


def test_an_archive_holds_no_build_products_and_comes_back_whole(variant, tmp_path):
    blobs = BlobStore(tmp_path / "lake")
    sha = archive_variant(variant, blobs)
    (variant / "bin/toy").write_text("a program")
    (variant / "build/main.o").write_text("an object")
    assert archive_variant(variant, blobs) == sha
    blobs.get_tree(sha, tmp_path / "again")
    assert check_layout(tmp_path / "again", toy_adapter()) == []
    assert source_sha(tmp_path / "again") == source_sha(variant)


def test_the_diff_of_two_variants_makes_one_of_the_other(variant, tmp_path):
    changed = tmp_path / "changed"
    shutil.copytree(variant, changed)
    (changed / "src/toy.h").write_text("#define CONFLICTS 8")
    (changed / "src/more.h").write_text("#define MORE\n")
    diff = diff_sources(variant, changed)
    assert apply_diff(variant, diff, editable=("src/*.h",)).applied
    assert {name: path.read_bytes() for name, path in sources_of(variant).items()} == {
        name: path.read_bytes() for name, path in sources_of(changed).items()
    }
    assert diff_sources(variant, changed) == ""


def test_a_patch_that_does_not_fit_is_refused_before_anything_is_laid_out(tmp_path):
    (tmp_path / "patches").mkdir()
    (tmp_path / "patches/toy.diff").write_text(
        "--- a/src/toy.h\n+++ b/src/toy.h\n@@ -1 +1 @@\n-#define CONFLICTS 6\n+#define CONFLICTS 9\n"
    )
    adapter = toy_adapter(
        ADAPTER.replace('keep = ["LICENSE"]', 'keep = ["LICENSE"]\npatch = "toy.diff"'), tmp_path / "patches"
    )
    with pytest.raises(InputError, match="does not fit"):
        create_variant(toy_tree(tmp_path / "upstream"), adapter, tmp_path / "variant")
    assert not (tmp_path / "variant").exists()


def test_a_tree_without_the_solver_is_refused(tmp_path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="not what the adapter toy expects"):
        create_variant(tmp_path / "empty", toy_adapter(), tmp_path / "variant")


def test_the_scripts_build_and_run_the_solver(variant, tmp_path, requires):
    compiler = requires("c++")
    (tmp_path / "one.cnf").write_text("p cnf 1 1\n1 0\n")
    environment = {"PATH": "/usr/bin:/bin", "CXX": compiler}
    subprocess.run([str(variant / "starexec_build")], env=environment, check=True, cwd=tmp_path)
    command = [str(variant / "bin/starexec_run_default"), "one.cnf", str(tmp_path)]
    shown = subprocess.run(
        command, env=environment, check=True, cwd=tmp_path, capture_output=True, text=True
    ).stdout
    assert shown == "c conflicts: 7\ns UNKNOWN\n"
