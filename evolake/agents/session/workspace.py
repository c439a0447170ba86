"""The files that a session works on: text in memory, held to what may be changed. No file of the host is
opened by a name that an agent gave.

What comes back from the jail is checked here once more: only plain paths that the caller lets be edited, and
sizes within bounds.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from evolake.errors import InputError
from evolake.jail.protocol import plain_name

LONGEST_FILE = 2_000_000
LARGEST = 64_000_000
"""Characters of one file, and of all."""
LONGEST_NAME = 200


class Outside(Exception):
    """A change that the workspace does not take; the text says why."""


@dataclass
class Workspace:
    """files: path -> text, all that the agent sees; bytes that are no UTF-8 are lone surrogates. editable:
    whether a path may be written."""

    files: dict[str, str]
    editable: Callable[[str], bool]
    original: Mapping[str, str] = field(init=False)

    def __post_init__(self) -> None:
        self.original = dict(self.files)

    @classmethod
    def of_folder(cls, folder: Path, names: Iterable[str], editable: Callable[[str], bool]) -> Workspace:
        """Return the named files of a folder, paths relative to it."""
        return cls(
            {name: (folder / name).read_bytes().decode("utf-8", "surrogateescape") for name in sorted(names)},
            editable,
        )

    @property
    def sha(self) -> str:
        """sha256 (hex) of all paths and texts."""
        digest = hashlib.sha256()
        for name, text in sorted(self.files.items()):
            data = _bytes(text)
            digest.update(f"{len(name)} {name} {len(data)}\n".encode("utf-8", "surrogateescape"))
            digest.update(data)
        return digest.hexdigest()

    @property
    def changed(self) -> dict[str, str | None]:
        """Return path -> what it holds now where that is not what it held; None for one that is gone."""
        names = sorted(set(self.files) | set(self.original))
        return {
            name: self.files.get(name) for name in names if self.files.get(name) != self.original.get(name)
        }

    def take(self, changes: Mapping[str, str | None]) -> None:
        """Make the changes, all or none. Raises Outside where one may not be made."""
        for path, text in changes.items():
            self._check(path, text)
        after = {name: text for name, text in (self.files | dict(changes)).items() if text is not None}
        if sum(map(len, after.values())) > LARGEST:
            raise Outside(f"the workspace would hold more than {LARGEST} characters")
        if clash := next(
            (
                name
                for name in changes
                if name in after and any(other.startswith(f"{name}/") for other in after)
            ),
            None,
        ):
            raise Outside(f"{clash} is a folder")
        if clash := next(
            (
                name
                for name in after
                if name not in self.files and any(part in after for part in _above(name))
            ),
            None,
        ):
            raise Outside(f"a folder of {clash} is a file")
        self.files = after

    def may_edit(self, path: str) -> bool:
        """Return whether a path is plain and may be written."""
        try:
            short = (
                all(len(part.encode()) <= LONGEST_NAME for part in path.split("/"))
                and len(path) <= 4 * LONGEST_NAME
            )
            return short and plain_name(path) == path and path.isprintable() and self.editable(path)
        except (InputError, UnicodeEncodeError):
            return False

    def lay_out(self, parent: Path | None, folder: Path) -> None:
        """Write a copy of `parent` at `folder`, which must not exist, with the changes made in it; without a
        parent, all files.

        Raises:
            InputError: a link is where a file would be written.
        """
        if parent is None:
            folder.mkdir()
        else:
            shutil.copytree(parent, folder, symlinks=True)
        for name, text in (self.files if parent is None else self.changed).items():
            path = folder / plain_name(name)
            if path.is_symlink() or any(folder.joinpath(part).is_symlink() for part in _above(name)):
                raise InputError(
                    f"{name} cannot be written: a link is in its place", do="take a tree without links"
                )
            if text is None:
                path.unlink(missing_ok=True)
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(_bytes(text))

    def _check(self, path: str, text: str | None) -> None:
        if not self.may_edit(path):
            raise Outside(f"{path!r} may not be changed: it is outside of what may be edited")
        if text is not None and len(text) > LONGEST_FILE:
            raise Outside(f"{path} would have more than {LONGEST_FILE} characters")


def well_formed(text: str) -> str:
    """Return the text as UTF-8 can hold it; what is none is a question mark."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _above(name: str) -> list[str]:
    """Return the folders that a path is in."""
    return [str(parent) for parent in Path(name).parents][:-1]


def _bytes(text: str) -> bytes:
    """Return the file of a text; what an agent wrote may hold surrogates that no byte stands for."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace")
