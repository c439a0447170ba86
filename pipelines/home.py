"""DAGSTER_HOME: where Dagster keeps runs, events and partitions of a lake. By convention the project's
`.dagster`, made from deploy/sqlite/dagster.yaml; see `evolake.project.home` and `evolake.lake.homes`."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from evolake.errors import InputError
from evolake.lake import Lake
from evolake.lake.homes import claim
from evolake.project import BROUGHT

TEMPLATE = BROUGHT / "deploy" / "sqlite" / "dagster.yaml"


def ensure_home(path: Path, template: Path = TEMPLATE) -> Path:
    """Make `path` a DAGSTER_HOME: the folder, and a dagster.yaml if there is none. One that is there is never
    touched.

    Raises:
        InputError: `path` is relative (Dagster refuses that late and less clearly) or is a file.
    """
    if not path.is_absolute():
        raise InputError(
            "DAGSTER_HOME must be an absolute path",
            got=str(path),
            do=f"export DAGSTER_HOME={path.absolute()}",
        )
    if path.exists() and not path.is_dir():
        raise InputError("DAGSTER_HOME is not a folder", got=str(path), do="point it to a folder")
    path.mkdir(parents=True, exist_ok=True)
    if not (path / "dagster.yaml").exists():
        part = path / f".dagster.yaml-{os.getpid()}"
        shutil.copyfile(template, part)
        part.replace(path / "dagster.yaml")
    return path


def home_from_environment(lake: Lake) -> Path:
    """Return the home that the lake has under the DAGSTER_HOME that is set, made ready; DAGSTER_HOME names it
    from now on.

    Raises:
        InputError: it is not set. LakeError: the lake's id cannot be read or written.
    """
    value = os.environ.get("DAGSTER_HOME")
    if not value:
        raise InputError(
            "DAGSTER_HOME is not set",
            wanted="the folder where Dagster keeps its runs",
            do="use `evolake run`, which sets it, or: export DAGSTER_HOME=/path/of/the/project/.dagster",
        )
    home = ensure_home(Path(value))
    own = ensure_home(claim(home, lake.id), home / "dagster.yaml")
    os.environ["DAGSTER_HOME"] = str(own)
    return own
