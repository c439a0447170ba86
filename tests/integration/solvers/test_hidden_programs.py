"""Programs inside a program, switches of the compiler, calls that sources hide: real variants of the seeds,
and one real build of what hides best."""

import base64
import io
import tarfile
from dataclasses import replace
from pathlib import Path

import pytest
from solver_gates import RULES, GatesProject, open_project

from evolake.gates import Ruleset
from evolake.gates.checkers import apply
from evolake.solvers.gates.collecting import program_evidence
from evolake.solvers.repository.build import build_variant

FLAGS = "-march=native -flto"
HIDDEN = r"""
static int hidden_open(const char*, const char*) __attribute__((weakref("popen")));
__attribute__((section(".hidden"), used)) static int elsewhere(int x) { return x * 3 + 1; }
void* hidden_handle(const char* name) { return elsewhere(1) > 3 ? (void*) &hidden_open : (void*) name; }
"""
"""`popen` is not called by name anywhere, and one function lies in a section of its own."""


@pytest.fixture(scope="module")
def project(tmp_path_factory) -> GatesProject:
    return open_project(tmp_path_factory.mktemp("hidden"))


def without(*rules: str) -> Ruleset:
    return replace(RULES, rules=tuple(rule for rule in RULES.rules if rule.id not in rules))


def documented(folder: Path) -> Path:
    for name in ("HYPOTHESIS.md", "CHANGELOG.md"):
        (folder / name).write_text("# A variant\n\nOne change of the sources, told in a sentence.\n")
    return folder


def objection(project: GatesProject, folder: Path, base: str, rules: Ruleset = RULES) -> tuple[str, str]:
    verdict = project.judge(folder, base, rules, stop_at="compliance").blocked_by
    assert verdict is not None
    return verdict.rule_id, verdict.reason


def add(path: Path, text: str) -> None:
    path.write_text(path.read_text(encoding="latin-1") + text, encoding="latin-1")


def packed(folder: Path) -> str:
    """A source tree as a shell would unpack it."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        archive.add(folder, ".")
    return base64.b64encode(buffer.getvalue()).decode()


def test_another_solver_in_a_string_is_refused_by_more_than_one_rule(project):
    """MiniSat inside Glucose: its sources as base64 in a source file, unpacked by the makefile and linked in
    place of the variant's own."""
    folder = documented(project.copy("glucose421", "embedded"))
    payload = packed(project.seed("minisat22") / "src")
    lines = "\n".join(f'"{payload[place : place + 60]}"' for place in range(0, len(payload), 60))
    add(folder / "src" / "core" / "Solver.cc", f"\nstatic const char* const other =\n{lines};\n")
    unpacked = (
        "UNPACKED := $(shell sed -n '/^\"/p' ../core/Solver.cc | tr -d '\";' | base64 -d | tar xz -C "
        "../other)\n"
    )
    add(folder / "src" / "simp" / "Makefile", unpacked)
    rule, reason = objection(project, folder, "glucose421")
    assert rule == "solvers-added-data" and "string literal" in reason
    rule, reason = objection(project, folder, "glucose421", without("solvers-added-data"))
    assert rule == "solvers-build-files" and "$(shell" in reason and "src/simp/Makefile" in reason
    plain = folder / "src" / "simp" / "Makefile"
    plain.write_bytes((project.seed("glucose421") / "src" / "simp" / "Makefile").read_bytes())
    assert objection(project, folder, "glucose421")[0] == "solvers-added-data"


def test_a_payload_beside_the_sources_is_refused(project):
    folder = documented(project.copy("glucose421", "beside"))
    (folder / "src" / "core" / "other.txt").write_text(packed(project.seed("minisat22") / "src"))
    assert objection(project, folder, "glucose421") == (
        "solvers-only-sources",
        "changes files that are no sources in C or C++: src/core/other.txt",
    )


@pytest.mark.parametrize(
    ("path", "text", "rule"),
    [
        ("src/mtl/config.mk", f"COPTIMIZE = -O3 {FLAGS}\n", "solvers-only-sources"),
        ("src/simp/Makefile", f"CFLAGS += {FLAGS}\n", "solvers-build-files"),
        ("src/core/Solver.cc", '\n#pragma GCC optimize ("Ofast,unroll-loops")\n', "solvers-same-compiler"),
        ("src/core/Solver.h", '\n#pragma GCC target("avx2,bmi2")\n', "solvers-same-compiler"),
        (
            "src/core/Solver.cc",
            '\n__attribute__((optimize("Ofast"))) int faster(int x) { return x; }\n',
            "solvers-same-compiler",
        ),
        ("src/core/Solver.cc", '\n_Pragma("GCC optimize (\\"Ofast\\")")\n', "solvers-same-compiler"),
    ],
)
def test_a_gain_by_switches_of_the_compiler_is_refused(path, text, rule, project):
    folder = documented(project.copy("minisat22", f"flags-{abs(hash((path, text)))}"))
    add(folder / path, text)
    assert objection(project, folder, "minisat22")[0] == rule


def test_what_sources_hide_stands_in_the_built_program(project, requires):
    """The net behind the rules on sources: one program that takes a name by another, holds data and has a
    section of its own is really built."""
    requires("c++")
    folder = documented(project.copy("minisat22", "weakref"))
    table = ",".join(str(word * 2654435761 % 2**32) for word in range(16_000))
    add(
        folder / "src" / "core" / "Solver.cc",
        f"{HIDDEN}\nextern const unsigned hidden_table[] = {{{table}}};\n",
    )
    assert objection(project, folder, "minisat22")[0] == "solvers-added-data"
    adapter = project.adapter("minisat22")
    built = build_variant(folder, adapter, project.context.blobs)
    assert built.ok, built.reason
    evidence = program_evidence(built, project.seed("minisat22"), adapter, project.context.blobs)
    rules = {rule.id: rule for rule in RULES.of_gate("build")}
    asks, size = (rules[f"solvers-program-{name}"] for name in ("asks", "size"))
    result = apply(asks.check, evidence, asks.parameters)
    assert result is not None and "takes from the system what its base does not: popen" in result.reason
    result = apply(
        asks.check, evidence, asks.parameters | {"allowed": [*asks.parameters["allowed"], "popen"]}
    )
    assert result is not None and "sections of its own: .hidden" in result.reason
    result = apply(size.check, evidence, size.parameters)
    assert result is not None and "bytes of data more than its base" in result.reason
    flags = rules["solvers-same-flags"]
    assert evidence["flags"] and apply(flags.check, evidence, flags.parameters) is None
    result = apply(
        flags.check, evidence | {"flags": [*evidence["flags"], "g++ -march=native -flto"]}, flags.parameters
    )
    assert result is not None and "runs 'g++ -march=native -flto'" in result.reason
    seed = evidence | {"program": evidence["base_program"]}
    assert (
        apply(asks.check, seed, asks.parameters) is None and apply(size.check, seed, size.parameters) is None
    )
