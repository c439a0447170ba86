"""Read an upstream tree that is to get an adapter: its name, licences and sources, what in it would keep it
from running in the sandbox, and the ways in which it may be built, the likeliest first: its own configure
script, CMake, make. Which of them works is tried, not known.
"""

from __future__ import annotations

import hashlib
import re
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from evolake.errors import InputError
from evolake.jail.toolbox import PATH
from evolake.reading import DATA_BYTES, Unreadable, read_bytes, reason
from evolake.solvers.repository.seeding import unpack_archive
from evolake.solvers.repository.unified_diff import diff_files, read_text
from evolake.solvers.repository.variant import PRODUCTS, is_laid_out

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


CONFIGURE = ("configure", "configure.sh")
MAKEFILES = ("GNUmakefile", "makefile", "Makefile")
MAKE_PLACES = (".", "simp", "core", "src", "sources")
FOREIGN = {
    "Cargo.toml": "it is written in Rust, and builds in the sandbox have no cargo, so that it cannot be built",  # noqa: E501
    "meson.build": "it is built by Meson, which builds in the sandbox do not have",
    "WORKSPACE": "it is built by Bazel, which builds in the sandbox do not have",
    "go.mod": "it is written in Go, and builds in the sandbox have no Go compiler",
    "pom.xml": "it is written in Java, and builds in the sandbox have no Java",
}
"""File in the top folder -> why it says that the tree cannot be built."""
_PROOF_OPTION = re.compile(r"(?m)(?:^|[\s|])(--(?:enable-)?(?:trace|tracing|proofs?|drat|drup))(?![\w=-])")
_OPTION = re.compile(r"(?im)^[ \t]*option[ \t]*\(\s*(\w+)\s+(?:\"[^\"]*\"\s*)?(ON|OFF)?\s*\)")
_MINIMUM = re.compile(r"(?i)cmake_minimum_required\s*\(\s*VERSION\s+(\d+)\.(\d+)")
_OFF = re.compile(r"SHARED|PYTHON|TESTS?$|TESTING|THREADS|EXAMPLES|DOCS?$")
_ON = re.compile(r"NO_?(ZLIB|MPI|M4RI|BREAKID|BOOST|PYTHON|TESTS?|THREADS)")
LENIENT = "-O3 -DNDEBUG -std=gnu++11 -fpermissive -w"
"""Flags for C++ that was written for older compilers, where it does not compile as it is."""


@dataclass(frozen=True)
class Recipe:
    """A way to build. table: of the adapter's [build], without product and program. about: in words."""

    about: str
    table: dict[str, Any]
    environment: dict[str, str] = field(default_factory=dict)

    def lenient(self) -> Recipe:
        """Return the same with flags for old C++."""
        return replace(
            self,
            about=f"{self.about}, with flags for old C++",
            environment={"CXXFLAGS": LENIENT, "CFLAGS": LENIENT} | self.environment,
        )


@dataclass(frozen=True)
class Ways:
    """recipes: what may be tried. reasons: what is there and is not tried, a sentence each."""

    recipes: tuple[Recipe, ...]
    reasons: tuple[str, ...]


def ways_of(tree: Upstream) -> Ways:
    """Return the ways in which the tree may be built. Its files are read, and none is run."""
    recipes, reasons = [], []
    for name in CONFIGURE:
        if (path := tree.folder / name).is_file() and not path.is_symlink():
            text = read_text(path)[0]
            if "Generated by GNU Autoconf" in text:
                reasons.append(
                    f"{name} is made by Autoconf and needs awk, which builds in the sandbox do not have"
                )
            else:
                recipes.append(_configured(name, text))
    if (path := tree.folder / "CMakeLists.txt").is_file():
        if shutil.which("cmake", path=PATH) is None:
            reasons.append("CMakeLists.txt needs cmake, which is not installed: apt-get install cmake")
        else:
            recipes.append(_by_cmake(tree.folder, read_text(path)[0]))
    recipes += _by_make(tree.folder)
    if not recipes:
        reasons += [about for name, about in FOREIGN.items() if (tree.folder / name).is_file()]
    if not recipes and not reasons:
        wanted = "configure, CMakeLists.txt or a makefile"
        reasons.append(
            f"there is no {wanted} in its top folder "
            f"({', '.join(sorted(path.name for path in tree.folder.iterdir())[:8]) or 'empty'})"
        )
    return Ways(tuple(recipes), tuple(reasons))


def _configured(name: str, text: str) -> Recipe:
    """Return a script of the solver's own. An option that turns traces or proofs on is given, since some are
    built without."""
    options = (
        list(dict.fromkeys(_PROOF_OPTION.findall(text)))[:1]
        if not re.search(r"--no-(?:proofs?|tracing)", text)
        else []
    )
    about = f"./{name}{' ' + options[0] if options else ''}, then make"
    if name == "configure":
        return Recipe(about, {"system": "configure"} | ({"options": options} if options else {}))
    script = f'cd build && exec ./{name} "$@"'
    return Recipe(
        about,
        {
            "commands": [
                ["cp", "-R", "src/.", "build"],
                ["sh", "-c", script, name, *options],
                ["make", "-j2", "-C", "build"],
            ]
        },
    )


def _by_cmake(folder: Path, text: str) -> Recipe:
    options = ["-DBUILD_SHARED_LIBS=OFF"]
    for name, _ in _OPTION.findall(text):
        if _ON.search(name):
            options.append(f"-D{name}=ON")
        elif _OFF.search(name) and name != "BUILD_SHARED_LIBS":
            options.append(f"-D{name}=OFF")
    files = [folder / "CMakeLists.txt", *folder.glob("*/CMakeLists.txt")]
    if any((int(a), int(b)) < (3, 5) for path in files for a, b in _MINIMUM.findall(read_text(path)[0])):
        options.append("-DCMAKE_POLICY_VERSION_MINIMUM=3.5")
    return Recipe("CMake", {"system": "cmake", "options": options}, {"LDFLAGS": "-s"})


def _by_make(folder: Path) -> Iterator[Recipe]:
    for place in MAKE_PLACES:
        name = next((name for name in MAKEFILES if (folder / place / name).is_file()), None)
        if name is None:
            continue
        text = read_text(folder / place / name)[0]
        words = [] if place == "." else ["-C", place]
        root = ["MROOT=.."] if "MROOT" in text else []
        about = f"make{' -C ' + place if words else ''}"
        # Makefiles of the MiniSat family build a release by the target r, and several other programs by
        # default.
        if root or re.search(r"(?m)^\.PHONY\s*:.*\br\b|^r\s*:", text):
            yield Recipe(f"{about} r", {"system": "make", "options": [*words, *root, "r"]})
        else:
            yield Recipe(about, {"system": "make"} | ({"options": words} if words else {}))
