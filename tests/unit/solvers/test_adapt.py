"""`evolake solvers adapt`: from an archive that nobody prepared to an adapter, or to a sentence that says
what to do."""

import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner
from small_dpll import BUILDS, MAIN, small_archive, small_tree

from evolake.errors import InputError
from evolake.jail.toolbox import PATH
from evolake.solvers.adapting import Adapted, propose, read_listing
from evolake.solvers.adapting_trees import patch_of, read_upstream, ways_of
from evolake.solvers.commands import solvers
from evolake.solvers.repository.adapters import load_adapter
from evolake.solvers.repository.variant import create_variant


@pytest.fixture
def project(tmp_path, monkeypatch, requires) -> Path:
    """A lake, and an empty folder to work in."""
    requires("c++")
    monkeypatch.setenv("EVOLAKE_LAKE", str(tmp_path / "lake"))
    monkeypatch.setenv("EVOLAKE_PROFILE", "demo")
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path / "here"


def proposed(project: Path, build: str, main: str = MAIN) -> Adapted:
    return propose(small_archive(project, build, main))[1]


@pytest.mark.parametrize("build", [build for build in BUILDS if build != "make"])
def test_each_kind_of_build_is_found_and_its_answers_and_proofs_are_checked(project, build):
    if build == "CMake" and shutil.which("cmake", path=PATH) is None:
        result = proposed(project, build)
        assert (result.verdict, result.reasons) == (
            "failed",
            ("CMakeLists.txt needs cmake, which is not installed: apt-get install cmake",),
        )
        return
    result = proposed(project, build)
    assert (result.name, result.verdict, result.reasons) == ("mini", "accepted", ())
    assert build in result.build
    adapter = load_adapter("mini.toml")
    assert (adapter.argv, adapter.proof_argv, adapter.proof) == (
        ("mini", "{cnf}"),
        ("mini", "--proof={proof}", "{cnf}"),
        "drat-text",
    )
    assert (adapter.licences, adapter.editable, set(adapter.statistics)) == (
        ("src/LICENSE",),
        ("src/*.cc",),
        {"conflicts"},
    )


def test_the_next_command_works_as_it_is_printed(project):
    command = proposed(project, "make").next_command
    assert command is not None
    words = command.split()
    assert words[:3] == ["evolake", "solvers", "layout"]
    made = CliRunner().invoke(solvers, words[2:])
    assert made.exit_code == 0, made.output
    assert "next: evolake solvers verify mini-repository --suite smoke --adapter mini.toml" in made.output
    assert (project / "mini-repository" / "src" / "main.cc").read_text() == MAIN


@pytest.mark.long
def test_a_program_that_the_gates_block_is_told_with_the_gate_and_what_it_wrote(project):
    limit = '    if (variables > 60) { fprintf(stderr, "mini: licence for 60 variables\\n"); return 9; }\n'
    refusing = MAIN.replace("    bool found", f"{limit}    bool found")
    typed = ["adapt", str(small_archive(project, "make", refusing)), "--json"]
    made = CliRunner().invoke(solvers, typed, standalone_mode=False)
    result = json.loads(made.stdout)
    assert (made.return_value, result["verdict"]) == (1, "blocked")
    [reason] = result["reasons"]
    assert (
        "the gate smoke blocks it" in reason
        and "exit code 9" in reason
        and "mini: licence for 60 variables" in reason
    )
    assert "crash" not in reason and result["next"].startswith("evolake solvers layout")


def test_a_program_that_refuses_to_run_shows_its_exit_code_and_what_it_wrote(project):
    refusing = MAIN.replace(
        "    bool found", '    fprintf(stderr, "mini: no licence\\n"); return 9;\n    bool found'
    )
    [reason] = proposed(project, "make", refusing).reasons
    assert (
        "ended with exit code 9" in reason
        and "it wrote: mini: no licence" in reason
        and "crash" not in reason
    )


def test_a_program_that_crashes_is_said_to_crash(project):
    [reason] = proposed(
        project, "make", MAIN.replace("    bool found", "    abort();\n    bool found")
    ).reasons
    assert "crashed by signal 6" in reason


def test_answers_without_the_lines_of_the_competitions_are_named(project):
    result = proposed(
        project, "make", MAIN.replace('"s UNSAT', '"UNSAT').replace('"s SATISFIABLE\\nv ', '"SATISFIABLE\\n')
    )
    assert (
        result.verdict == "blocked"
        and "no line 's SATISFIABLE'" in result.reasons[0]
        and "layout.patch" in result.reasons[0]
    )
    assert load_adapter("mini.toml").proof == "none"


def test_proofs_in_a_format_that_no_checker_reads_are_named_and_no_gate_is_asked(project):
    frat = MAIN.replace('fprintf(proof, "0\\n")', 'fprintf(proof, "0 0\\n")').replace(
        "if (proof) { for", 'if (proof) { fprintf(proof, "a 1 "); for'
    )
    assert frat.count("a 1 ") == frat.count('"0 0') == 1
    result = proposed(project, "make", frat.replace("DRAT", "FRAT"))
    assert result.verdict == "blocked" and load_adapter("mini.toml").proof == "none"
    first, second = result.reasons
    assert (
        "no command line writes a proof that a checker verifies" in first
        and "`mini --proof={proof} {cnf}`: proof malformed" in first
    )
    assert "the gate correctness takes no UNSAT answer without a proof" in second


def test_a_build_that_fails_says_why_and_writes_no_adapter(project):
    result = proposed(project, "make", "#include <nosuch.h>\n" + MAIN)
    assert (result.verdict, result.next_command, list(project.glob("*.toml"))) == ("failed", None, [])
    assert (
        "nosuch.h: No such file" in result.reasons[0]
        and "install the package that holds nosuch.h" in result.reasons[0]
    )


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("Cargo.toml", "[package]\n", "written in Rust, and builds in the sandbox have no cargo"),
        ("configure", "#!/bin/sh\n# Generated by GNU Autoconf 2.71\n", "made by Autoconf and needs awk"),
        (
            "notes.txt",
            "",
            "there is no configure, CMakeLists.txt or a makefile in its top folder (notes.txt)",
        ),
    ],
)
def test_what_cannot_be_built_here_is_one_sentence(tmp_path, name, text, said):
    (tmp_path / name).write_text(text)
    ways = ways_of(read_upstream(tmp_path))
    assert ways.recipes == ()
    [reason] = ways.reasons
    assert said in reason


def test_a_tree_without_a_licence_is_not_adapted(project):
    tree = small_tree(project / "mini", "make")
    (tree / "LICENSE").unlink()
    _, result = propose(tree)
    assert result.verdict == "failed" and "there is no licence file" in result.reasons[0]


def test_nothing_is_overwritten(project):
    (project / "mini.toml").write_text("mine\n")
    with pytest.raises(InputError, match=r"mini\.toml is there already"):
        proposed(project, "make")
    assert (project / "mini.toml").read_text() == "mine\n"


def test_a_proof_s_folder_that_must_be_writable_is_patched(tmp_path):
    tree = small_tree(tmp_path / "mini", "make", MAIN + "// access (dirname, W_OK)\n")
    (tree / "other.cc").symlink_to("main.cc")
    patch, reasons = patch_of(read_upstream(tree), tmp_path / "work")
    assert "+// access (dirname, W_OK) && access (path, W_OK)" in patch and reasons[0].startswith(
        "main.cc: it asks for a proof's folder"
    )
    (tmp_path / "mini.diff").write_text(patch)
    text = (
        'name = "mini"\nlicences = ["src/LICENSE"]\neditable = ["src/*.cc"]\n[layout]\npatch = '
        '"mini.diff"\nexclude = ["other.cc"]\n'
    )
    (tmp_path / "mini.toml").write_text(
        text + '[build]\ncommands = [["make"]]\nprogram = "bin/mini"\n[run]\nargv = ["mini", "{cnf}"]\n'
    )
    create_variant(tree, load_adapter(str(tmp_path / "mini.toml")), tmp_path / "out")
    assert "&& access (path, W_OK)" in (tmp_path / "out/src/main.cc").read_text()


@pytest.mark.parametrize(
    ("data", "found"),
    [
        (b"1\n3 build/a\nabcdef", {"build/a": b"abc"}),
        (b"2\n1 build/a\n2 build/b/c\nxyz", {"build/a": b"x", "build/b/c": b"yz"}),
        (b"1\n9 build/a\nabc", {}),
        (b"1\n3 build/../../etc/passwd\nabc", {}),
        (b"1\n-3 build/a\nabc", {}),
        (b"", {}),
        (b"99999\n", {}),
    ],
)
def test_a_listing_is_read_to_where_it_is_whole(data, found):
    assert read_listing(data) == found
