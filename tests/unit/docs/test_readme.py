"""Every row of the table of docs/tasks.md is run by a test: a new row names one here, and a test that is
removed is missed here.

README keeps to its outline: it is short, and its commands, pictures and pages exist.
"""

import ast
import json
import re
import shlex
from pathlib import Path

import click
import pytest

from evolake.cli import cli

ROOT = Path(__file__).parents[3]
TESTED = json.loads(Path(__file__).with_name("readme_rows.json").read_text())
"""What a reader wants -> the test that does it. One that is parametrized or has more beside it stands for its
file."""
ALSO = {
    "judge a task family of your own": ("docs/contracts/family.md",),
    "breed on formulas of your own, or see how a champion carries over to them": (
        "tests/unit/solvers/suites/test_folders.py",
    ),
    "evolve a solver of your own": ("tests/unit/spine/test_seeds_command.py",),
    "run the repair study": ("tests/integration/repair/test_repair_report.py",),
    "write a design": ("docs/contracts/design.md",),
    "bring in solvers and objectives of the paper's framework": ("docs/contracts/design.md",),
    "write a rule": ("docs/contracts/rule.md",),
}
"""Where else commands of a row are run: a further test, or a page whose commands `tests/unit/contracts`
runs."""


def rows() -> dict[str, str]:
    """Of the table of docs/tasks.md: first cell, without what stands in parentheses -> the whole line."""
    text = (ROOT / "docs" / "tasks.md").read_text()
    table = text[text.index("| you want to |") :].split("\n\n", 1)[0]
    return {line.split("|")[1].partition(" (")[0].strip(): line for line in table.splitlines()[2:]}


def test_every_row_has_its_test_and_every_test_its_row():
    assert sorted(rows()) == sorted(TESTED)


@pytest.mark.parametrize("row", TESTED)
def test_the_test_of_a_row_is_there_and_types_its_commands(row):
    place, _, name = TESTED[row].partition("::")
    source = (ROOT / "tests" / place).read_text()
    assert name in {node.name for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef)}
    typed = source + "".join((ROOT / where).read_text() for where in ALSO.get(row, ()))
    commands = re.findall(r"`evolake ([a-z]+(?: [a-z]+\b)?)", rows()[row])
    assert [
        command
        for command in commands
        if not all(re.search(rf"\b{word}\b", typed) for word in command.split())
    ] == []


README = (ROOT / "README.md").read_text()


def test_readme_is_short_and_its_text_wraps():
    lines = README.splitlines()
    assert len(lines) <= 180
    in_code, long_lines = False, []
    for line in lines:
        in_code ^= line.startswith("```")
        if not in_code and not line.startswith(("|", "    ")) and len(line) > 100:
            long_lines.append(line)
    assert long_lines == []


def test_readme_shows_at_most_twenty_tasks():
    table = README[README.index("| | task | command |") :].split("\n\n", 1)[0]
    assert 10 <= len(table.splitlines()) - 2 <= 20


def typed() -> list[list[str]]:
    """The words of every `evolake` command that README shows in a line of code."""
    shown = re.findall(r"`evolake ([^`]+)`", README) + re.findall(
        r"^    evolake (.+?)(?:  +#.*)?$", README, re.MULTILINE
    )
    return [shlex.split(command) for command in shown]


@pytest.mark.parametrize("words", typed(), ids=" ".join)
def test_a_command_of_readme_exists_with_its_options(words):
    command, rest = cli, list(words)
    while isinstance(command, click.Group):
        with click.Context(command) as context:
            found = command.get_command(context, rest[0])
        assert found is not None, f"there is no command {rest[0]!r}"
        command = found
        rest = rest[1:]
    known = {
        option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)
    }
    assert [word for word in rest if word.startswith("-") and word.partition("=")[0] not in known] == []


def test_the_pictures_and_pages_of_readme_are_there():
    links = re.findall(r"\]\((?!http)([^)#]+)", README)
    assert len(links) > 15
    assert [link for link in links if not (ROOT / link).exists()] == []
