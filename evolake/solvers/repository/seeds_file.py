"""`data_lake/seeds/solvers.toml`: which solvers evolution starts from, and where their sources are.

Users add their own seeds to it:

    [[seeds]]
    name = "mine"            adapter = "minisat22"       licence = "MIT"       version = "1"
    path = "/srv/my-solver"                       # a folder or an archive of this machine; or
    url = "https://...", sha256 = "..."             # an archive; or
    git = "https://...", commit = "..."             # a full commit id; or
    archive = "NAME", member = "...", sha256        # a file of an archive of the package index,
                                                    [archives.NAME]
    root = "sub/folder"                             # where the solver is in it; by default its one top
                                                    folder, else all of it

or put a folder into `data_lake/seeds/solvers/own/`: `seed.toml` with adapter, licence and version, and the
upstream sources in `source/`. Such a seed takes part without being named in the settings.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evolake.errors import InputError
from evolake.reading import Unparsable, Unreadable, parse_toml, read_text, reason

_NAME = re.compile(r"[a-z][a-z0-9-]*")
_SHA = re.compile(r"[0-9a-f]{64}")
_SEED = {
    "name",
    "version",
    "adapter",
    "licence",
    "path",
    "url",
    "sha256",
    "git",
    "commit",
    "archive",
    "member",
    "root",
}
CARD, SOURCES = "seed.toml", "source"
"""Of a user's own seed: its entry, and the folder of its sources."""
_ARCHIVE = {"project", "version", "file", "sha256", "path"}


@dataclass(frozen=True)
class Container:
    """A source distribution of the package index that holds archives of solvers. path: a copy on this
    machine, asked before the index."""

    project: str
    version: str
    file: str
    sha256: str
    path: Path | None = None


@dataclass(frozen=True)
class Seed:
    """One solver to start from. Of container (with member), path, git (with commit) and url (with sha256),
    exactly one is set."""

    name: str
    version: str
    adapter: str
    licence: str
    container: Container | None = None
    member: str = ""
    path: Path | None = None
    git: str = ""
    commit: str = ""
    url: str = ""
    sha256: str = ""
    root: str | None = None


def load_seeds(path: Path | None = None) -> dict[str, Seed]:
    """Return the seeds by name, in the file's order, then the user's own; by default of `solvers.toml` in the
    folder of the setting `seeds`.

    Raises:
        InputError: the file is not there or a seed in it cannot be used.
    """
    if path is None:
        from evolake.settings import load

        path = load().seeds / "solvers.toml"
    try:
        data = parse_toml(read_text(path), name=str(path))
        _check_tables(data)
        containers = {name: _container(name, values) for name, values in data.get("archives", {}).items()}
        seeds = [_seed(values, containers, path.parent) for values in data.get("seeds", [])]
    except OSError as error:
        do = "check the setting `seeds`"
        raise InputError(
            f"{path} cannot be read", wanted="the seeds of the solvers line", got=error.strerror, do=do
        ) from None
    except Unreadable as error:
        raise InputError(
            f"{path} cannot be read", wanted="TOML in UTF-8", got=reason(error), do=f"fix {path}"
        ) from None
    except Unparsable as error:
        raise InputError(f"{path} cannot be used", wanted="TOML", got=error.got, do=f"fix {path}") from None
    except InputError as error:
        raise InputError(
            f"{path} cannot be used: {error.what}", wanted=error.wanted, got=error.got, do=f"fix {path}"
        ) from None
    seeds += own_seeds(path.parent)
    names = [seed.name for seed in seeds]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise InputError(
            f"{path} has two seeds named {twice[0]!r}", wanted="one of each name", do=f"fix {path}"
        )
    return dict(zip(names, seeds, strict=True))


def _check_tables(data: dict[str, Any]) -> None:
    archives, seeds = data.get("archives", {}), data.get("seeds", [])
    if not isinstance(archives, dict) or not all(isinstance(values, dict) for values in archives.values()):
        raise InputError("archives are no tables", wanted="[archives.NAME] tables", got=repr(archives)[:80])
    if not isinstance(seeds, list) or not all(isinstance(values, dict) for values in seeds):
        raise InputError("seeds are no tables", wanted="[[seeds]] tables", got=repr(seeds)[:80])
    texts = [
        (name, field, value)
        for name, values in archives.items()
        for field, value in values.items()
        if field in _ARCHIVE
    ]
    texts += [
        ("seeds", field, value)
        for values in seeds
        for field, value in values.items()
        if field in _SEED - {"name", "version"}
    ]
    if wrong := next(
        ((name, field, value) for name, field, value in texts if not isinstance(value, str)), None
    ):
        raise InputError(f"{wrong[0]}.{wrong[1]} is no text", wanted="a text", got=repr(wrong[2])[:80])


def own_seeds(folder: Path) -> list[Seed]:
    """Return the user's own solvers in a folder of seeds, by name. Raises InputError if one cannot be
    used."""
    return [own_seed(card.parent) for card in sorted((folder / "solvers" / "own").glob(f"*/{CARD}"))]


def own_seed(folder: Path) -> Seed:
    """Return the seed in a folder of the user's own, called as the folder. Raises InputError."""
    try:
        values = parse_toml(read_text(folder / CARD), name=CARD)
    except (OSError, ValueError) as error:
        raise InputError(
            f"{folder / CARD} cannot be read",
            wanted="adapter, licence and version of the solver, as TOML",
            got=reason(error),
        ) from None
    if unknown := sorted(set(values) - {"adapter", "licence", "version", "root"}):
        raise InputError(
            f"{folder / CARD} has an unknown field {unknown[0]}", wanted="adapter, licence, version, root"
        )
    seed = _seed(
        values | {"name": folder.resolve().name, "path": SOURCES, "root": values.get("root", ".")}, {}, folder
    )
    if not (folder / SOURCES).is_dir():
        raise InputError(f"{folder} has no sources", wanted=f"the folder {folder / SOURCES}")
    return seed


def seed_names(named: Sequence[str], known: Mapping[str, Seed]) -> list[str]:
    """Return the seeds that take part: those that the settings name, then the user's own. Raises InputError
    where one is not there."""
    for name in named:
        if name not in known:
            do = "name one of these, or add it to solvers.toml"
            raise InputError(
                f"there is no seed {name!r}", wanted=f"one of {', '.join(known) or 'none'}", do=do
            )
    own = [
        name
        for name, seed in known.items()
        if seed.path is not None and seed.path.parent.parent.name == "own" and name not in named
    ]
    return [*named, *own]


def _container(name: str, values: dict[str, Any]) -> Container:
    if unknown := sorted(set(values) - _ARCHIVE):
        raise InputError(
            f"archives.{name} has an unknown field {unknown[0]}", wanted=", ".join(sorted(_ARCHIVE))
        )
    for field in ("project", "version", "file"):
        if not isinstance(values.get(field), str):
            raise InputError(f"archives.{name}.{field} is missing", wanted="a text")
    _check_sha(f"archives.{name}", values.get("sha256"))
    return Container(
        values["project"],
        values["version"],
        values["file"],
        values["sha256"],
        Path(values["path"]) if "path" in values else None,
    )


def _seed(values: dict[str, Any], containers: dict[str, Container], folder: Path) -> Seed:
    name = values.get("name", "")
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise InputError(
            "a seed has no name that can be used", wanted="lower-case letters, digits and -", got=repr(name)
        )
    if unknown := sorted(set(values) - _SEED):
        raise InputError(
            f"the seed {name} has an unknown field {unknown[0]}", wanted=", ".join(sorted(_SEED))
        )
    places = [field for field in ("archive", "path", "git", "url") if field in values]
    if len(places) != 1:
        raise InputError(
            f"the seed {name} has no one place",
            wanted="one of archive, path, git, url",
            got=", ".join(places) or "none",
        )
    for field in (
        "adapter",
        "licence",
        *{"archive": ("member", "sha256"), "git": ("commit",), "url": ("sha256",)}.get(places[0], ()),
    ):
        if not isinstance(values.get(field), str):
            raise InputError(f"the seed {name} has no {field}", wanted="a text")
    if "sha256" in values:
        _check_sha(f"the seed {name}", values["sha256"])
    if "archive" in values and values["archive"] not in containers:
        raise InputError(
            f"the seed {name} is in an unknown archive {values['archive']!r}",
            wanted=f"one of {', '.join(containers) or 'none'}",
        )
    if "commit" in values and not re.fullmatch(r"[0-9a-f]{40}|[0-9a-f]{64}", values["commit"]):
        raise InputError(
            f"the seed {name} has a commit that may move", wanted="a full commit id", got=values["commit"]
        )
    return Seed(
        name=name,
        version=str(values.get("version", "")),
        adapter=values["adapter"],
        licence=values["licence"],
        container=containers.get(values.get("archive", "")),
        member=values.get("member", ""),
        path=(folder / Path(values["path"]).expanduser()) if "path" in values else None,
        git=values.get("git", ""),
        commit=values.get("commit", ""),
        url=values.get("url", ""),
        sha256=values.get("sha256", ""),
        root=values.get("root"),
    )


def _check_sha(what: str, sha: Any) -> None:
    if not isinstance(sha, str) or not _SHA.fullmatch(sha):
        raise InputError(
            f"{what} has no sha256 that can be used", wanted="64 hexadecimal digits", got=repr(sha)
        )
