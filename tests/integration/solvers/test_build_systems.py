"""A user's solver, an archive by path, is built by CMake, a configure script or make from a few lines of
TOML, and its level is held."""

import shutil
import tarfile
from pathlib import Path

import pytest

from evolake.errors import InputError, MachineryError
from evolake.gates import load_rules
from evolake.gates.checkers import apply
from evolake.jail.toolbox import PATH
from evolake.lake import BlobStore
from evolake.solvers.gates.collecting import program_evidence
from evolake.solvers.repository.adapters import Adapter, read_adapter
from evolake.solvers.repository.build import build_variant
from evolake.solvers.repository.seeding import lay_out_seed, seed_named
from evolake.solvers.repository.variant import create_variant

TOML = """
name = "mine"
licences = ["src/LICENSE"]
editable = ["src/*.cc", "src/*.h"]
build_files = ["src/CMakeLists.txt", "src/Makefile"]
[build]
system = "{system}"
product = "build/solver"
program = "bin/solver"
{more}
[run]
argv = ["solver", "{{cnf}}"]
"""
MAIN = '#include "answer.h"\n#include <cstdio>\nint main() {\n    std::puts(ANSWER);\n    return 0;\n}\n'
MAKEFILE = "solver: main.cc answer.h\n\t$(CXX) -O2 -s -o solver main.cc\n"
CONFIGURE = (
    '#!/bin/sh\n[ "$1" = --quiet ] || exit 3\necho "solver: main.cc; \\$(CXX) -O2 -s -o solver main.cc" > '
    "makefile\n"
)
CMAKE = """cmake_minimum_required(VERSION 3.13)
project(mine CXX)
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -s")
add_executable(solver main.cc)
"""
TREES = {
    "make": ({"Makefile": MAKEFILE}, ""),
    "configure": ({"configure": CONFIGURE}, 'options = ["--quiet"]'),
    "cmake": ({"CMakeLists.txt": CMAKE}, 'target = "solver"'),
}


def archive_of(tmp_path: Path, system: str) -> Path:
    files = {
        "main.cc": MAIN,
        "answer.h": '#define ANSWER "s UNKNOWN"\n',
        "LICENSE": "MIT\n",
        **TREES[system][0],
    }
    folder = tmp_path / f"{system}-1.0"
    folder.mkdir()
    for name, text in files.items():
        (folder / name).write_text(text)
        (folder / name).chmod(0o755 if name == "configure" else 0o644)
    with tarfile.open(tmp_path / "mine.tar.gz", "w:gz") as archive:
        archive.add(folder, folder.name)
    return tmp_path / "mine.tar.gz"


def adapter_of(system: str) -> Adapter:
    return read_adapter(TOML.format(system=system, more=TREES[system][1]), Path("/nonexistent"))


def laid_out(tmp_path: Path, system: str, blobs: BlobStore) -> Path:
    """The archive as a seed that solvers.toml names by path, fetched and laid out."""
    archive = archive_of(tmp_path, system)
    listed = tmp_path / "solvers.toml"
    listed.write_text(f'[[seeds]]\nname = "mine"\nadapter = "mine"\nlicence = "MIT"\npath = "{archive}"\n')
    (tmp_path / "adapters").mkdir()
    (tmp_path / "adapters/mine.toml").write_text(TOML.format(system=system, more=TREES[system][1]))
    return lay_out_seed(seed_named("mine", listed), blobs, tmp_path / "cache", adapters=tmp_path / "adapters")


@pytest.mark.parametrize("system", TREES)
def test_an_archive_by_path_is_built_by_a_few_lines_of_toml(tmp_path, requires, system):
    requires("c++")
    blobs = BlobStore(tmp_path / "lake")
    folder = laid_out(tmp_path, system, blobs)
    if system == "cmake" and shutil.which("cmake", path=PATH) is None:
        with pytest.raises(MachineryError, match="apt-get install cmake"):
            build_variant(folder, adapter_of(system), blobs)
        return
    built = build_variant(folder, adapter_of(system), blobs)
    assert built.ok, blobs.get(built.log_sha).decode()
    assert built.program is not None and b"s UNKNOWN" in blobs.get(built.program)
    assert any("-O2" in line for line in built.flags)
    assert build_variant(folder, adapter_of(system), blobs, again=True).flags == built.flags


def test_another_level_in_a_build_file_must_be_stated(tmp_path, requires):
    requires("c++")
    blobs, adapter = BlobStore(tmp_path / "lake"), adapter_of("make")
    base = laid_out(tmp_path, "make", blobs)
    rule = next(
        rule
        for rule in load_rules(Path(__file__).parents[3] / "data_lake/seeds/rules", "solvers").rules
        if rule.id == "solvers-same-flags"
    )

    def said(flags: str, note: str) -> str:
        child = tmp_path / f"child{flags}{len(note)}"
        create_variant(tmp_path / "make-1.0", adapter, child)
        (child / "src/Makefile").write_text(MAKEFILE.replace("-O2", flags))
        (child / "CHANGELOG.md").write_text(f"# t\n\n{note}\n")
        evidence = program_evidence(build_variant(child, adapter, blobs), base, adapter, blobs, child)
        assert evidence["build_files"] == ["src/Makefile"]
        result = apply(rule.check, evidence, rule.parameters)
        return result.reason if result else ""

    assert "compiled with -O1 where its base is with -O2" in said("-O1", "No word.")
    assert said("-O1", "Build flags: -O1") == ""
    assert "it runs" in said("-Ofast", "Build flags: -O3")


@pytest.mark.parametrize(
    ("old", "new", "field"),
    [
        ('system = "make"', 'system = "ninja"', "build.system"),
        ('product = "build/solver"', 'product = "../x"', "build.product"),
        ('program = "bin/solver"', 'program = "bin/solver"\ncommands = [["x"]]', "build.commands"),
        ('system = "make"', "", "build.product goes with"),
        ('program = "bin/solver"', 'program = "bin/solver"\ntarget = "-f x"', "build.target"),
        ('program = "bin/solver"', 'program = "bin/solver"\noptions = "x"', "build.options"),
    ],
)
def test_a_wrong_field_of_a_build_system_is_named(old, new, field):
    text = TOML.format(system="make", more="")
    assert old in text
    with pytest.raises(InputError, match=field):
        read_adapter(text.replace(old, new, 1), Path("/nonexistent"))
