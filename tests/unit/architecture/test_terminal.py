"""Whatever is printed goes through one place, which makes visible what a terminal would obey."""

import io
import json
import logging
import re
import sys
from pathlib import Path

import dagster as dg
import polars as pl
import pytest
from commands import evolake
from hypothesis import given
from hypothesis import strategies as st

from assets.shown import markdown, note
from evolake.cli import cli
from evolake.errors import InputError
from evolake.terminal import (
    CALLED,
    as_called,
    note_call,
    say,
    say_data,
    say_error,
    say_json,
    say_text,
    visible_console,
)
from evolake.visible import in_a_cell, visible, visible_json
from pipelines.runlog import _Visible  # pyright: ignore[reportPrivateUsage]

ROOT = Path(__file__).parents[3]
HOSTILE = "x\x1b]52;c;Y3Vy\x07\x1b[2J\x9b31m\u202egpj\u200b\u2066\u2028\U000e0041\x00\x7f"
OBEYED = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\U000e0000-\U000e0fff]"
)
PRINTING = re.compile(
    r"\bclick\.(echo|secho|style|progressbar|echo_via_pager)\b|(?<![\w.])print\(|\bConsole\(|sys\.std(out|"
    r"err)\.(write|buffer)|error\.show\(|MetadataValue\.md\(|\.log\.(info|warning|error|debug|log)\(|"
    r"import rich\b"
)
APART = {
    "evolake/terminal.py": "the one place",
    "assets/shown.py": "the one place for Dagster",
    "evolake/jail/": "speaks to its own process",
    "evolake/solvers/proof/worker.py": "speaks to its own process",
    "evolake/prompts/python_tool_inside.py": "runs in the jail",
    "evolake/prompts/tools.py": "text for a model",
    "evolake/agents/fences.py": "an example in a docstring",
    "evolake/families/dataset/templates/": "a program that an export takes along, for a process of its own",
    "evolake/families/roles/templates/": "a program for the jail",
    "evolake/programs/report/templates/": "a program that a certificate takes along",
    "evolake/prompts/report/templates/": "a script that a champion takes along",
    "evolake/solvers/repository/fetch_index.py": "a program for another Python",
    "pipelines/side_by_side.py": "speaks to its own process, in JSON",
    "evolake/designs/engines/cdcl_worker.py": "a program for a process of its own",
    "evolake/solvers/suites/ask_solver.py": "a program for a process of its own",
}
"""Where something is printed that reaches no terminal, and why."""


def test_nothing_prints_but_the_one_place():
    found = [
        f"{name}: {match[0]}"
        for package in ("evolake", "assets", "pipelines", "resources")
        for path in sorted((ROOT / package).rglob("*.py"))
        if not (name := path.relative_to(ROOT).as_posix()).startswith(tuple(APART))
        for match in PRINTING.finditer(re.sub(r"(?m)^\s*#.*$", "", path.read_text(encoding="utf-8")))
    ]
    assert found == []


@pytest.mark.parametrize(
    "text",
    [
        "click.echo(x)",
        "    print(x)",
        "Console(stderr=True)",
        "sys.stdout.write(x)",
        "context.log.info(x)",
        "dg.MetadataValue.md(x)",
    ],
)
def test_the_search_finds_each_way_to_print(text):
    assert PRINTING.search(text)


@given(st.text(alphabet=st.characters(), max_size=50))
def test_no_hidden_character_is_left_and_what_is_visible_is_as_it_was(text):
    assert not OBEYED.search(visible(text)) and "\n" not in in_a_cell(text)
    assert visible(visible(text)) == visible(text)
    assert json.loads(visible_json(json.dumps(text, ensure_ascii=False))) == text
    assert not OBEYED.search(visible_json(json.dumps(text, ensure_ascii=False)))


def test_letters_of_all_languages_stay():
    for text in ("naïve café", "数学", "ελληνικά", "עברית", "हिन्दी", "π ≤ τ ± 1", "a\tb\nc"):
        assert visible(text) == text


def test_every_way_to_print_makes_visible(capsys):
    say(f"a{HOSTILE}\nx.py: accepted", 7)
    say_text(f"b{HOSTILE}\nc", err=True)
    say_json({"d": HOSTILE}, ensure_ascii=False)
    say_error(InputError(HOSTILE, got="one\nerror: two", do="e"))
    console = visible_console(file=sys.stdout, width=200, highlight=False)
    console.print(HOSTILE, markup=False)
    printed, said = capsys.readouterr()
    assert not OBEYED.search(printed) and not OBEYED.search(said)
    assert printed.splitlines()[0].endswith("\\nx.py: accepted") and "\\x1b]52;c" in printed
    assert json.loads(printed.splitlines()[2]) == {"d": HOSTILE}
    assert [line for line in said.splitlines() if line.startswith("error: ")] == [said.splitlines()[2]]


def test_a_format_for_programs_is_exact_in_a_pipe_and_visible_on_a_terminal(capsys, monkeypatch):
    say_data("a\x1b\n")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    say_data("a\x1b\n")
    assert capsys.readouterr().out == "a\x1b\na\\x1b\n"


def test_commands_are_printed_as_the_user_typed_the_first_one(capsys, monkeypatch, tmp_path):
    program = tmp_path / "an environment" / "evolake"
    program.parent.mkdir()
    program.touch(mode=0o755)
    monkeypatch.setenv(CALLED, "")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", str(program.parent))
    note_call(str(program))
    note_call("pytest")
    assert as_called("evolake status") == "evolake status"
    monkeypatch.setenv("PATH", "/usr/bin")
    note_call("an environment/evolake")
    say("evolake needs this; next: `evolake sql --list`", "see docs/evolake run")
    say_error(InputError("no", do="EVOLAKE_SEED=1 evolake run; python benchmarks/x.py; pip install mcp"))
    said = capsys.readouterr()
    assert (
        said.out == "evolake needs this; next: `'an environment/'evolake sql --list`\nsee docs/evolake run\n"
    )
    assert said.err == (
        "error: no\n  next: EVOLAKE_SEED=1 'an environment/'evolake run; 'an environment/'python "
        "benchmarks/x.py; 'an environment/'pip install mcp\n"
    )
    commands = [f"evolake {name}" for name in cli.list_commands(None)]  # type: ignore[arg-type]
    assert [as_called(text) for text in commands] == [f"'an environment/'{text}" for text in commands]


def test_a_console_keeps_its_own_colours():
    file = io.StringIO()
    visible_console(file=file, force_terminal=True, width=80, color_system="standard").print(
        "[red]a[/red]\x1b[2J"
    )
    assert "\x1b[31ma" in file.getvalue() and "\x1b[2J" not in file.getvalue()


def test_dagsters_log_and_pages_show_what_is_hidden():
    lines: list[str] = []
    context = type("Context", (), {"log": type("Log", (), {"info": staticmethod(lines.append)})})
    note(context, f"{HOSTILE}\nforged")
    assert len(lines) == 1 and not OBEYED.search(lines[0]) and "\n" not in lines[0]
    text = markdown(f"| {HOSTILE} |\n")
    assert isinstance(text, dg.MarkdownMetadataValue) and text.md_str and not OBEYED.search(text.md_str)
    record = logging.LogRecord("x", logging.INFO, "", 0, HOSTILE, None, None)
    assert not OBEYED.search(_Visible("%(message)s").format(record))


def test_hostile_ids_cells_files_and_arguments_reach_no_terminal(tmp_path):
    pl.DataFrame(
        {"objective_id": ["o" + HOSTILE] * 2, "design_id": [HOSTILE, "b\nplace  design"], "score": [1.0, 2.0]}
    ).write_parquet(tmp_path / "s.parquet")
    (tmp_path / "c.json").write_text(json.dumps({"o" + HOSTILE: 0}))
    (tmp_path / "lake/seeds/designs").mkdir(parents=True)
    (tmp_path / "lake/seeds/designs/a\x1b[2J\u202e.py").write_text("x = 1\n")
    (tmp_path / "p.json").write_text(json.dumps({"id": HOSTILE}))
    rank = ("consensus", "rank", "s.parquet", "--created", "c.json", "--round", "1")
    sql = f"SELECT '{HOSTILE.replace(chr(0), '')}' AS \"a\x1b[1m\""
    for words in (
        rank,
        (*rank, "--json"),
        ("sql", sql),
        ("sql", sql, "--json"),
        ("sql", f"SELEC {HOSTILE}"),
        ("seeds", "list", "--line", "designs"),
        ("seeds", "list", "--json"),
        ("show", HOSTILE),
        ("show", HOSTILE, "--json"),
        ("status", HOSTILE),
        (HOSTILE,),
        ("champion", HOSTILE),
        ("repair", "certify", "p.json", "p.json"),
        ("sql", "--file", f"no{HOSTILE}".replace("\0", "")),
        ("bundle", "verify", "c.json"),
        ("designs", "check", f"no{HOSTILE}".replace("\0", "")),
        ("programs", "check", f"no{HOSTILE}".replace("\0", "")),
        ("watch", "--lines", HOSTILE, "--once"),
        ("agents", "tape", "list", "--line", HOSTILE),
        ("guide", "--line", HOSTILE, "x"),
        ("rules", "checkers", "--line", HOSTILE),
    ):
        done = evolake(
            *words,
            cwd=tmp_path,
            environment={
                "EVOLAKE_LAKE": str(tmp_path / "lake"),
                "HOME": str(tmp_path),
                "PATH": "/usr/bin:/bin",
            },
        )
        assert not OBEYED.search(done.stdout + done.stderr), words
        assert "this is a bug" not in done.stderr, (words, done.stderr)


def test_a_design_that_raises_control_characters_is_blocked_in_one_line(tmp_path):
    (tmp_path / "d.py").write_text(
        f"raise ValueError({HOSTILE + chr(10) + 'd.py: accepted, 31 operators'!r})\n"
    )
    for words in ((), ("--json",)):
        done = evolake("designs", "check", "d.py", *words, cwd=tmp_path)
        assert done.returncode == 1
        assert not OBEYED.search(done.stdout + done.stderr)
        assert len(done.stdout.splitlines()) == 1
