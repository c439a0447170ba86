"""What the contract pages say is typed as it stands there, and what `new` writes is accepted."""

import re

import pytest
from click.testing import CliRunner

from evolake.cli import cli
from evolake.designs.commands import EXAMPLE
from evolake.errors import InputError
from evolake.families.commands.authoring import FILES
from evolake.new_files import write_new
from evolake.project import BROUGHT as PROJECT_ROOT

PAGES = sorted((PROJECT_ROOT / "docs" / "contracts").glob("*.md"))


def ran(*arguments: str):
    # standalone, click throws a command's own exit code away
    return CliRunner().invoke(cli, arguments, catch_exceptions=False, standalone_mode=False)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_commands_of_a_page_work_one_after_the_other(page, tmp_path, monkeypatch):
    monkeypatch.setenv("EVOLAKE_LAKE", str(tmp_path / "lake"))
    monkeypatch.chdir(tmp_path)
    commands = re.findall(r"^    evolake (.+)$", page.read_text(), re.MULTILINE)
    assert commands
    for command in commands:
        done = ran(*command.split())
        assert (done.exit_code, done.return_value or 0) == (0, 0), (command, done.output)


def test_the_example_of_a_family_on_its_page_is_what_new_writes_and_what_it_lacks_is_said(
    tmp_path, monkeypatch
):
    monkeypatch.syspath_prepend(str(PROJECT_ROOT / "docs" / "generate"))
    monkeypatch.setenv("EVOLAKE_LAKE", str(tmp_path / "lake"))
    from family_page import ADDED, FIRST, PAGE, page

    text = PAGE.read_text()
    assert text == page(text), "python docs/generate/family_page.py"
    shown = dict(re.findall(r"^`([\w/]+\.\w+)`\n\n```\w+\n(.*?)^```$", text, re.MULTILINE | re.DOTALL))
    assert shown == FILES and [*FIRST, *(name for names, _ in ADDED for name in names)] == list(shown)
    folder, said = tmp_path / "radio-houses", re.findall(r"`(blocked at the gate '.*?)`", text)
    written = list(FIRST)
    for (names, _), why in zip(ADDED, said, strict=False):
        write_new({folder / name: shown[name] for name in written})
        done = ran("families", "check", str(folder))
        assert (done.return_value, f"radio-houses: {why}" in done.output) == (1, True), done.output
        written = list(names)
    assert len(said) == len(ADDED) - 1


@pytest.mark.parametrize(("what", "name"), [(("families", "new"), "folder"), (("designs", "new"), "file.py")])
def test_new_overwrites_nothing(tmp_path, what, name):
    place = tmp_path / name
    assert ran(*what, str(place)).exit_code == 0
    written = {path: path.read_bytes() for path in [place, *place.rglob("*")] if path.is_file()}
    assert len(written) == (len(FILES) if name == "folder" else 1)
    with pytest.raises(InputError, match="is there already"):
        ran(*what, str(place))
    assert {path: path.read_bytes() for path in written} == written


def test_a_new_family_is_called_as_its_folder(tmp_path):
    from evolake.families.model.family_files import read_family

    assert ran("families", "new", str(tmp_path / "Ferry tickets")).exit_code == 0
    assert read_family(tmp_path / "Ferry tickets").name == "ferry-tickets"


def test_the_example_design_is_no_copy_of_a_seed():
    assert EXAMPLE not in {
        path.read_text() for path in (PROJECT_ROOT / "data_lake" / "seeds" / "designs").glob("*.py")
    }
