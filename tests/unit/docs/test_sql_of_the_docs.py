"""Every SQL command that README and the documentation show can be typed as it stands."""

import re
import shlex
from pathlib import Path

import pytest

from evolake.cli import cli
from evolake.cli.ending import end

ROOT = Path(__file__).parents[3]
TYPED = re.compile(r"""evolake sql (?:"[^"\n]+"|'[^'\n]+'|--file [\w./-]+)(?: -p \S+)*""")
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
COMMANDS = [
    pytest.param(result[0], id=f"{page.relative_to(ROOT)}-{number}")
    for page in PAGES
    for number, result in enumerate(TYPED.finditer(page.read_text(encoding="utf-8")))
]


def test_the_pages_show_sql():
    assert len(COMMANDS) >= 10


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_of_the_documentation_binds_in_a_lake_without_a_cycle(
    command, tmp_path, monkeypatch, capsys
):
    monkeypatch.setenv("EVOLAKE_LAKE", str(tmp_path / "lake"))
    monkeypatch.chdir(ROOT)
    words = shlex.split(command)[1:]
    if "--file" in words:  # cookbook queries have parameters, and tests of their own
        assert (ROOT / "sql" / words[words.index("--file") + 1].removeprefix("sql/")).is_file(), command
        return
    assert end(cli, words) == 0, capsys.readouterr().err
