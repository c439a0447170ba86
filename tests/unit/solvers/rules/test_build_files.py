"""Build files that a variant may change: each attack by one is refused, and another optimisation level must
be stated."""

import pytest
from solver_code import BASE, RULES

from evolake.gates.checkers import apply
from evolake.solvers.rules.additions import additions
from evolake.solvers.rules.programs import build_differs, declared_level

MAKEFILE = "src/simp/Makefile"


def objections(added: str, *, opened: bool = True) -> dict[str, str]:
    """Rule id -> reason, for a variant that adds one line to a makefile."""
    trees = [
        {"src/core/Solver.cc": BASE.encode(), MAKEFILE: text.encode()}
        for text in (f"all: x\n{added}\n", "all: x\n")
    ]
    evidence = {"source": additions(*trees).to_json(), **({"build_files": [MAKEFILE]} if opened else {})}
    rules = [
        rule
        for rule in RULES.of_gate("compliance")
        if rule.check in ("solvers.build_files", "solvers.only_sources")
    ]
    result = {rule.id: apply(rule.check, evidence, rule.parameters) for rule in rules}
    return {name: finding.reason for name, finding in result.items() if finding}


@pytest.mark.parametrize(
    ("attack", "named"),
    [
        ("CFLAGS += -Ofast", "-Ofast"),
        ("CFLAGS += -march=native", "-march"),
        ("CFLAGS += -O3 -ffast-math", "-ffast-math"),
        ("CFLAGS += -DBUILT=__DATE__", "-D"),
        ("STAMP = __DATE__", "__DATE__"),
        ("\tdate > stamp.h", "date"),
        ("NOW := $(shell date)", "$(shell"),
        ("\tld -r -b binary -o model.o model", "ld"),
        ("LIBS = -Wl,--defsym=answer=1", "-Wl"),
        ("\tobjcopy -I binary model model.o", "objcopy"),
        ("\tcurl -O https://example.org/solver.tar.gz", "curl"),
        ("\twget other", "wget"),
        ("FetchContent_Declare(other)", "FetchContent"),
        ("execute_process(COMMAND x)", "execute_process"),
        ("file(DOWNLOAD x y)", "file"),
        ("CXX = ./mine", "CXX"),
        ("X := -I../../../etc", "-I"),
        ("include ../other.mk", "include"),
        ("LDLIBS = -lkissat", "-l"),
    ],
)
def test_each_attack_by_a_build_file_is_refused_and_named(attack, named):
    result = objections(attack)
    assert list(result) == ["solvers-build-files"] and named in result["solvers-build-files"], result


@pytest.mark.parametrize(
    "harmless",
    [
        "MORE = ../core/Tiers.cc",
        "vpath_of_ours = core simp",
        "CFLAGS += -O2",
        "CXXFLAGS += -Wextra -std=c++17",
    ],
)
def test_sources_warnings_and_a_level_may_be_named_where_the_adapter_opens_the_file(harmless):
    assert objections(harmless) == {}
    assert "solvers-only-sources" in objections(harmless, opened=False)


THEIRS = [
    "g++ -I.. -D NDEBUG -O3 -Wall -c -o",
    "cc1plus -quiet -I .. -D NDEBUG -O3 -Wall -o",
    "ld --eh-frame-hdr -o",
    "/usr/bin/make",
]


@pytest.mark.parametrize(
    ("line", "declared", "said"),
    [
        ("g++ -I.. -Imore -D NDEBUG -O3 -Wextra -std=c++17 -c -o", "", ""),
        ("g++ -I.. -D NDEBUG -O2 -Wall -c -o", "-O2", ""),
        ("g++ -I.. -D NDEBUG -O2 -Wall -c -o", "", "compiled with -O2 where its base is with -O3"),
        ("g++ -I.. -D NDEBUG -O2 -Wall -c -o", "-O1", "compiled with -O2"),
        ("g++ -I.. -D NDEBUG -O3 -O1 -c -o", "", "compiled with -O1"),
        ("g++ -I.. -D NDEBUG -Ofast -c -o", "-O3", "it runs"),
        ("g++ -I.. -D NDEBUG -O3 -march=native -c -o", "", "it runs"),
        ("g++ -I.. -O3 -c -o", "", "it runs"),
        ("cc1plus -quiet -D NDEBUG -D ANSWER=1 -O3 -o", "", "it runs"),
        ("ld --eh-frame-hdr --defsym=a=1 -o", "", "it runs"),
        ("/usr/bin/curl", "", "it runs"),
        ("/tmp/build/generator", "", "it runs"),
    ],
)
def test_what_the_kernel_saw_of_a_build_is_held_to_the_base(line, declared, said):
    result = build_differs([*THEIRS, line], THEIRS, declared)
    assert said in result and bool(said) == bool(result)


def test_a_level_is_stated_by_a_line_of_its_own(tmp_path):
    notes = tmp_path / "CHANGELOG.md"
    for text, level in (
        ("# t\n\nBuild flags: -O2\n", "-O2"),
        ("We say Build flags: -O2 here.\n", ""),
        ("Build flags: -Ofast\n", ""),
        ("x", ""),
    ):
        notes.write_text(text)
        assert declared_level(notes) == level
    assert declared_level(tmp_path / "none") == ""
