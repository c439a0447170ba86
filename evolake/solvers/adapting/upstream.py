"""Read an upstream tree: its name, licences, sources, how it may be built, and what in it would keep it from
running in the sandbox."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from evolake.errors import InputError
from evolake.reading import DATA_BYTES, Unreadable, read_bytes, reason
from evolake.solvers.repository.unified_diff import diff_files
from evolake.solvers.repository.unified_diff_paths import read_text
from evolake.solvers.repository.variant import PRODUCTS, is_laid_out
from evolake.solvers.seeds.fetch_unpack import unpack_archive

SUFFIXES = (".c", ".cc", ".cpp", ".cxx", ".C", ".h", ".hh", ".hpp", ".hxx")
LICENCE = re.compile(r"(?i)(licen[cs]e|copying|copyright)([-._].*)?")
SIDE = re.compile(r"(?i)tests?|docs?|examples?|python|scripts|tools|dist|ci|fuzz(ing)?|benchmarks?")
"""Folders whose sources are no part of a solver: an edit does not touch them."""
MOST_GLOBS = 16
LONGEST_SOURCE = 4 << 20


@dataclass(frozen=True)
class Obstacle:
    """Code that is known to fail in the sandbox, and what is in its place. A match is one line."""

    pattern: re.Pattern[str]
    replacement: str
    about: str


OBSTACLES = (
    Obstacle(
        re.compile(r"access \(dirname, W_OK\)(?! &&)"),
        "access (dirname, W_OK) && access (path, W_OK)",
        "it asks for a proof's folder to be writable; in the sandbox only the proof itself is",
    ),
    Obstacle(
        re.compile(r'"%%RUPD32 %u %u"'),
        '"c RUPD32 %u %u"',
        "its proofs begin with a line of RUP that is no step of DRAT; it becomes a comment",
    ),
)
"""The first is of Kissat and of CaDiCaL before 2.0, the second of PicoSAT."""


@dataclass(frozen=True)
class Upstream:
    """An upstream tree.

    name: of the project, small letters and digits. licences: files in its top folder. links: of the tree,
    relative. editable: globs below src/. counts: suffix -> number of source files.
    """

    folder: Path
    name: str
    licences: tuple[str, ...]
    links: tuple[str, ...]
    products: tuple[str, ...]
    editable: tuple[str, ...]
    counts: Mapping[str, int] = field(default_factory=dict)

    @property
    def plain_c(self) -> bool:
        """Return whether it has C sources, to which flags of C++ mean nothing."""
        return bool(self.counts.get(".c"))


def open_upstream(path: Path, cache: Path) -> Path:
    """Return the folder of an upstream tree: `path`, or where the archive at `path` is unpacked below
    `cache`.

    Raises:
        InputError: there is nothing there, it is no archive, or it is laid out already.
    """
    if path.is_dir():
        folder = path
    elif path.is_file():
        try:
            data = read_bytes(path, DATA_BYTES)
        except (OSError, Unreadable) as error:
            raise InputError(
                f"{path} cannot be read",
                wanted="an archive of a solver's sources",
                got=reason(error),
                do="check the file",
            ) from None
        folder = cache / "upstream" / hashlib.sha256(data).hexdigest()
        if not folder.is_dir():
            unpack_archive(data, folder)
        entries = list(folder.iterdir())
        folder = entries[0] if len(entries) == 1 and entries[0].is_dir() else folder
    else:
        raise InputError(
            f"there is no file or folder {path}",
            wanted="a solver's upstream tree, as an archive or a folder",
            do="check the path",
        )
    if is_laid_out(folder):
        raise InputError(
            f"{path} is laid out already",
            wanted="an upstream tree",
            got="a variant.toml in it",
            do="use it as it is",
        )
    return folder


def read_upstream(folder: Path) -> Upstream:
    """Return what is in the tree at `folder`. Nothing of it is run."""
    counts: Counter[str] = Counter()
    places: dict[str, set[str]] = {}
    links, products = [], []
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder)
        if ".git" in name.parts:
            continue
        if path.is_symlink():
            links.append(name.as_posix())
        elif path.is_file() and any(path.match(pattern.removeprefix("**/")) for pattern in PRODUCTS):
            products.append(name.as_posix())
        elif path.is_file() and path.suffix in SUFFIXES:
            counts[path.suffix] += 1
            if not any(SIDE.fullmatch(part) for part in name.parts[:-1]):
                places.setdefault(path.suffix, set()).add(name.parent.as_posix())
    licences = sorted(
        path.name
        for path in folder.iterdir()
        if path.is_file() and not path.is_symlink() and LICENCE.fullmatch(path.name)
    )
    return Upstream(
        folder, _name_of(folder), tuple(licences), tuple(links), tuple(products), _globs(places), dict(counts)
    )


def patch_of(tree: Upstream, work: Path) -> tuple[str, list[str]]:
    """Return a diff, relative to a variant, that takes the known obstacles out of the tree's sources, and
    why, a line for each; "" if there are none.

    work: folder for the changed files.
    """
    old, new, reasons = {}, {}, []
    for path in sorted(tree.folder.rglob("*")):
        if (
            path.suffix not in SUFFIXES
            or path.is_symlink()
            or not path.is_file()
            or path.stat().st_size > LONGEST_SOURCE
        ):
            continue
        before, encoding = read_text(path)
        after, name = before, path.relative_to(tree.folder).as_posix()
        for obstacle in OBSTACLES:
            after, found = obstacle.pattern.subn(obstacle.replacement, after)
            reasons += [f"{name}: {obstacle.about}"] * bool(found)
        if after != before:
            (work / name).parent.mkdir(parents=True, exist_ok=True)
            (work / name).write_bytes(after.encode(encoding))
            old[f"src/{name}"], new[f"src/{name}"] = path, work / name
    return diff_files(old, new), reasons


def _name_of(folder: Path) -> str:
    """Return the project's name without its version."""
    stem = re.split(r"[-_.](?=\d|rel\b|v\d|master\b|main\b|src\b|sc\d)", folder.resolve().name.lower())[0]
    name = re.sub(r"[^a-z0-9]+", "", stem).lstrip("0123456789")
    return name or "solver"


def _globs(places: Mapping[str, Sequence[str] | set[str]]) -> tuple[str, ...]:
    globs = [
        f"src/{'' if place == '.' else place + '/'}*{suffix}"
        for suffix in SUFFIXES
        for place in sorted(places.get(suffix, ()))
    ]
    if len(globs) <= MOST_GLOBS:
        return tuple(globs)
    tops = sorted({(place.split("/")[0], suffix) for suffix in places for place in places[suffix]})
    return tuple(f"src/*{suffix}" if top == "." else f"src/{top}/**/*{suffix}" for top, suffix in tops)
