"""Where a command works: the project that is named, or the nearest one, or the repository; and how a project
is made."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner, Result

from evolake import project, settings
from evolake.cli import cli, init
from evolake.errors import InputError
from evolake.jail import bubblewrap


@pytest.fixture(autouse=True)
def nothing_named(monkeypatch, tmp_path) -> None:
    for name in ("EVOLAKE_PROJECT", "EVOLAKE_LAKE", "EVOLAKE_SEEDS", "DAGSTER_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)


def lay_out(*words: str) -> Result:
    return CliRunner().invoke(cli, ["init", *words])


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_project_has_what_dagster_and_evolution_start_from(tmp_path):
    assert lay_out("new").exit_code == 0
    new = tmp_path / "new"
    assert {path.name for path in new.iterdir()} == {
        ".dagster",
        ".env",
        ".gitignore",
        "README.md",
        "data_lake",
        "definitions.py",
        "evolake.toml",
        "workspace.yaml",
    }
    seeds = {
        name: data
        for name, data in contents(project.BROUGHT / "data_lake" / "seeds").items()
        if "__pycache__" not in name
    }
    assert contents(new / "data_lake" / "seeds") == seeds
    [place] = yaml.safe_load((new / "workspace.yaml").read_text())["load_from"]
    assert (new / place["python_file"]["relative_path"]).is_file()
    home, comment, timeout = (new / ".env").read_text().splitlines()
    assert (home, comment[0], timeout) == (
        f"DAGSTER_HOME='{new}/.dagster'",
        "#",
        "DAGSTER_GRPC_TIMEOUT_SECONDS=300",
    )
    assert (new / ".dagster" / "dagster.yaml").read_bytes() == (
        project.BROUGHT / "deploy" / "sqlite" / "dagster.yaml"
    ).read_bytes()


def test_a_project_that_is_there_is_left_as_it_is(tmp_path):
    lay_out("new")
    (tmp_path / "new" / "README.md").write_text("mine")
    before = contents(tmp_path / "new")
    again = lay_out("new")
    assert (again.exit_code, "already; nothing was changed" in again.output, contents(tmp_path / "new")) == (
        0,
        True,
        before,
    )


@pytest.mark.parametrize("holds", ["notes.txt", "README.md"])
def test_a_folder_that_holds_something_else_is_refused_and_untouched(tmp_path, holds):
    (tmp_path / holds).write_text("mine")
    refused = lay_out(".")
    assert isinstance(refused.exception, InputError) and holds in str(refused.exception)
    assert contents(tmp_path) == {holds: b"mine"}


def test_a_file_and_what_cannot_be_written_are_refused(tmp_path):
    (tmp_path / "file").write_text("")
    for name in ("file", "file/below"):
        assert isinstance(lay_out(name).exception, InputError), name


def test_a_folder_with_a_repository_and_an_environment_of_its_own_becomes_a_project(tmp_path):
    for name in (".git", ".venv"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "kept").write_text("mine")
    assert lay_out(".").exit_code == 0
    assert [(tmp_path / name / "kept").read_text() for name in (".git", ".venv")] == ["mine", "mine"]
    assert project.find() == tmp_path


@pytest.mark.parametrize("cut_off_at", [1, 4, 8])
def test_cut_off_anywhere_it_is_no_project_and_the_next_call_makes_it_one(tmp_path, monkeypatch, cut_off_at):
    calls, rename = [], Path.rename

    def cut_off(self: Path, target: Path) -> Path:
        calls.append(self)
        if len(calls) == cut_off_at:
            raise KeyboardInterrupt
        return rename(self, target)

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(Path, "rename", cut_off)
        init.lay_out(tmp_path / "new")
    assert not (tmp_path / "new" / project.MARKER).exists()
    assert init.lay_out(tmp_path / "new")
    init.lay_out(tmp_path / "whole")
    made, whole = contents(tmp_path / "new"), contents(tmp_path / "whole")
    assert made.pop(".env") != whole.pop(".env")
    assert made == whole


def test_the_nearest_project_is_used_and_a_named_one_before_it(tmp_path, monkeypatch):
    assert project.find() == project.BROUGHT
    for name in ("outer", "outer/inner", "other"):
        lay_out(name)
    monkeypatch.chdir(tmp_path / "outer" / "inner" / "data_lake")
    inner = tmp_path / "outer" / "inner"
    lake = settings.load().require_lake()
    assert (project.root(), project.home(lake), lake) == (inner, inner / ".dagster", inner / "data_lake")
    monkeypatch.setenv("EVOLAKE_PROJECT", str(tmp_path / "other"))
    assert settings.load().seeds == tmp_path / "other" / "data_lake" / "seeds"
    monkeypatch.setenv("EVOLAKE_PROJECT", str(tmp_path))
    with pytest.raises(InputError, match="EVOLAKE_PROJECT names no project"):
        settings.load()


def test_installed_and_outside_of_a_project_only_what_needs_a_lake_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(project, "INSTALLED", True)
    loaded = settings.load("demo")
    assert (loaded.jail, loaded.seeds) == ("bubblewrap", project.BROUGHT / "data_lake" / "seeds")
    for look in (loaded.require_lake, loaded.model_copy(update={"seed": 5}).require_lake, project.root):
        with pytest.raises(InputError, match="evolake init DIR"):
            look()
    monkeypatch.setenv("EVOLAKE_LAKE", str(tmp_path / "lake"))
    assert settings.load("demo").require_lake() == tmp_path / "lake"
    assert project.home(tmp_path / "lake") == tmp_path / "lake" / "dagster_home"


def test_a_package_of_another_owner_with_such_a_name_is_an_error(tmp_path):
    (tmp_path / "assets.py").write_text("")
    program = "import sys; sys.path.insert(0, '.')\nfrom evolake import project\n"
    ends = {
        "ours is found first": program
        + "project.enter(project.Path('p')); import assets, os; print(assets.__file__, "
        "os.environ['EVOLAKE_PROJECT'])",
        "theirs is loaded": program + "import assets; project.enter()",
    }
    done = {
        name: subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=False)
        for name, text in ends.items()
    }
    assert done["ours is found first"].stdout.split() == [
        str(project.BROUGHT / "assets" / "__init__.py"),
        "p",
    ], done["ours is found first"].stderr
    assert "another package is named 'assets'" in done["theirs is loaded"].stderr


def test_what_an_installed_package_brings_along_is_hidden_wherever_the_jail_shows_it(tmp_path):
    package = tmp_path / "venv" / "site-packages" / "evolake"
    assert bubblewrap.hidden([str(tmp_path)], package) == []
    (package / project.PRIVATE.name).mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "venv")
    shown = ["/usr", str(package), str(tmp_path / "venv"), str(tmp_path / "link")]
    assert bubblewrap.hidden(shown, package) == [
        str(package / "_project"),
        str(tmp_path / "link" / "site-packages" / "evolake" / "_project"),
    ]
