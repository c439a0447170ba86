"""What hides from readers and from a syntax tree: other spellings, orders to the compiler, data in sources,
files that are no sources."""

import base64
import hashlib
import json
import time
from pathlib import Path

import pytest
from solver_code import BASE, in_search, reasons_of

from evolake.solvers.rules import additions
from evolake.solvers.rules.syntax import units
from evolake.solvers.rules.tokens import plain_text, read_tokens

ROWS = json.loads(Path(__file__).with_name("spelling_rows.json").read_text())
"""Test -> its rows."""

TOP = "static Solver* solver;"


def at_top(code: str) -> str:
    return BASE.replace(TOP, f"{TOP}\n{code}")


@pytest.mark.parametrize(("code", "rule", "words"), ROWS["hidden_code_is_named"])
def test_hidden_code_is_named(code, rule, words):
    assert words in reasons_of(at_top(code))[rule]


@pytest.mark.parametrize(
    "code",
    [
        "if (__builtin_expect(conflicts > 5, 0)) restart();",
        "// it's fine %: here; why??! (really??)",
        "vec<::Lit> kept;",
        "if (a<b && c>d) x = y%z;",
        'printf("%d<: %s:>\\n", n, s);',
        "int mask = 0xffffff; double decay = 0.999;",
        "auto worse = [&](int a, int b) { return a < b; };",
        'puts(R"(c tiers of clauses\nc   by their glue, up to 6)");',
        "if (fits) [[likely]] keep();",
        "[[maybe_unused]] int level = 0;",
        "switch (kind) { case 'a': break; [[fallthrough]]; default: break; }",
    ],
)
def test_plain_code_passes(code):
    assert reasons_of(in_search(code)) == {}


def test_what_the_base_has_is_its_own():
    base = at_top('#pragma GCC optimize ("O3")\n%:define X 1\n__attribute__((constructor)) void early() {}')
    assert reasons_of(base.replace("0.95", "0.85"), base) == {}


def test_lines_stay_where_they_are_and_splices_go():
    source = b"int a = 1; // comment \\\n goes on\nfo\\  \nrk();\n??=define B \\\r\n 2\nint z;\n"
    assert plain_text(source) == b"int a = 1; // comment  goes on\n\nfork();\n\n#define B  2\n\nint z;\n"
    assert [unit.line for unit in units(b"int a \\\n= 1;\nint f() { return 1; }\n")] == [1, 3]
    assert [(token.text, token.line) for token in read_tokens(b"/* a\n b */ x\n")[0]] == [("x", 2)]


def digits(count: int) -> str:
    return hashlib.shake_256(b"model").hexdigest(count)


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (f'const char* program = "{base64.b64encode(bytes(range(256))).decode()}";', "a string of"),
        (
            "const char* program = " + "\n".join(f'"{digits(30)}"' for _ in range(3)) + ";",
            "a string of 180 characters without a space",
        ),
        ('const char* program = "' + "some words " * 60 + '";', "a string literal of 660 characters"),
        (
            "\n".join(f'const char* p{i} = "{"some words " * 50}";' for i in range(12)),
            "bytes of string literals",
        ),
        ('const char* model = "' + "\\x41 \\101 " * 20 + '";', "40 bytes written as numbers"),
        (
            "void model(int* m) {"
            + "".join(f"m[{i}] = 0x{digits(200)[i : i + 15]};" for i in range(40))
            + "}",
            "bits in number and character literals",
        ),
        (
            "void model(char* m) {" + "".join(f"m[{i % 3}] = 'a';" for i in range(300)) + "}",
            "bits in number and character literals",
        ),
        (f"#define TEXT(x) #x\nconst char* model = TEXT({digits(50)}z);", "characters"),
        ("void model() {" + "t();f();" * 9000 + "}", "tokens of code"),
    ],
    ids=["base64", "split", "long", "many", "escapes", "numbers", "characters", "identifiers", "calls"],
)
def test_data_is_counted_however_it_is_written(code, words):
    assert words in reasons_of(at_top(code))["added-data"]


def test_a_table_is_a_table_in_whatever_file_its_numbers_stand():
    table = at_top('static const char start[] = {\n#include "core/Start.h"\n};')
    for row in (
        ", ".join("01"[i % 3 == 0] for i in range(65)),
        ",\n".join(f"{{-{i}}}" for i in range(65)),
        ",".join("'a'" for _ in range(65)),
    ):
        assert (
            "a list of 65 numbers" in reasons_of(table, more={"src/core/Start.h": row.encode()})["added-data"]
        )
    assert reasons_of(table, more={"src/core/Start.h": b", ".join(b"1" for _ in range(64))}) == {}


@pytest.mark.parametrize(("path", "text", "words"), ROWS["only_sources_change"])
def test_only_sources_change(path, text, words):
    assert words in reasons_of(BASE, more={path: f"{text}\n".encode()})["only-sources"]


def test_new_sources_are_free():
    more = {
        "src/core/Rephase.cc": b"int rephase_after(int n) { return n / 2; }\n",
        "src/core/Rephase.h": b"int rephase_after(int);\n",
    }
    assert reasons_of(BASE, more=more) == {}


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (b"".join(b"class C%d {" % i for i in range(20_000)) + b"};" * 20_000, "nests 20000 brackets"),
        (b"int a = " + b"1 == " * 20_000 + b"1;", "nests more than 1000 levels"),
        (b"void f() {" + b"if (a) b; else " * 5000 + b"c; }", "nests"),
        (b"int a = b" + b".c()" * 20_000 + b";", "nests more than 1000 levels"),
        (b"int a;\n" * 60_000, "bytes"),
    ],
)
def test_what_would_take_long_to_read_is_not_read(source, words):
    before = time.process_time()
    assert words in reasons_of(BASE, more={"src/core/Deep.cc": source})["readable"]
    assert time.process_time() - before < 10


def test_many_files_are_bounded_together():
    source = additions({f"src/a{i}.cc": b"int a;\n" * 30_000 for i in range(12)}, {})
    assert len(source.unread) == 3 and "of all changed ones" in source.unread[0]
