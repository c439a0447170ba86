"""`evolake init`: create a project, for who has evolake from a package index and no repository of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

from evolake.commands import OrdinaryPath
from evolake.errors import InputError
from evolake.new_files import remove, undone
from evolake.project import BROUGHT, MARKER
from evolake.terminal import say, say_text

STAGE = ".evolake-init"
"""Folder inside the new project in which it is made, before anything takes its name. One that is found was
left by a call that was cut off."""
LEFT_ALONE = {".git", ".venv"}
WANTED = "a folder that is empty (.git and .venv apart), or a name that is free"
NEXT = """Next:
  cd {folder}
  evolake doctor
  evolake run --cycles 3 --profile demo
  dagster dev"""


ENVIRONMENT = """\
DAGSTER_HOME='{home}'
# Dagster gives up a call to the code server after 60 s, which a host whose cores are taken by cycles may need.
DAGSTER_GRPC_TIMEOUT_SECONDS=300
"""  # noqa: E501
"""What `dagster dev` reads in the project."""


@click.command(short_help="Create a project folder for Dagster and evolake.")
@click.argument("folder", metavar="DIR", type=OrdinaryPath())
def init(folder: Path) -> int:
    """Create a project in DIR, which is created if it is missing: workspace.yaml for Dagster, data_lake with
    the seeds."""
    folder = folder.absolute()
    try:
        made = lay_out(folder)
    except OSError as error:
        what = f"no project can be laid out in {folder}"
        raise InputError(
            what, wanted="a folder you can write to", got=str(error), do="name another, or fix its rights"
        ) from error
    say(
        f"{folder} is a project of evolake now."
        if made
        else f"{folder} is a project of evolake already; nothing was changed."
    )
    say_text(NEXT.format(folder=folder))
    return 0


def lay_out(folder: Path) -> bool:
    """Make `folder` a project; return False if it is one. After a failure nothing is left behind.

    After a kill it can be called again: the marker comes last.

    Raises:
        InputError: there is something else. OSError: it cannot be written.
    """
    if (folder / MARKER).is_file():
        return False
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder} is a file", wanted=WANTED, do="name another")
    stage, content = folder / STAGE, dict(files(folder))
    names = {place.parts[0] for place in content}
    result = {path.name for path in folder.iterdir()} - LEFT_ALONE if folder.exists() else set[str]()
    if result - {STAGE, *names} or (result and STAGE not in result):
        raise InputError(
            f"{folder} is not empty", wanted=WANTED, got=", ".join(sorted(result)[:5]), do="name another"
        )
    for name in (STAGE, *names):  # what a run that was killed left
        remove(folder / name)
    with undone(folder, stage, *(folder / name for name in names)):
        for place, data in content.items():
            (stage / place).parent.mkdir(parents=True, exist_ok=True)
            (stage / place).write_bytes(data)
        for name in sorted(names, key=lambda name: name == MARKER):
            (stage / name).rename(folder / name)
        stage.rmdir()
    return True


def files(folder: Path) -> Iterator[tuple[Path, bytes]]:
    """Yield (place in the project, content) of every file of a new project at `folder`."""
    for path in sorted((BROUGHT / "deploy" / "project").iterdir()):
        if path.is_file():
            yield Path(".gitignore" if path.name == "gitignore" else path.name), path.read_bytes()
    quoted = str(folder / ".dagster").replace("\\", "\\\\").replace("'", "\\'")
    yield Path(".env"), (ENVIRONMENT.format(home=quoted)).encode()
    yield Path(".dagster", "dagster.yaml"), (BROUGHT / "deploy" / "sqlite" / "dagster.yaml").read_bytes()
    lake = BROUGHT / "data_lake"
    for path in [lake / "README.md", *sorted((lake / "seeds").rglob("*"))]:
        if path.is_file() and "__pycache__" not in path.parts:
            yield path.relative_to(BROUGHT), path.read_bytes()
