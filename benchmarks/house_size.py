"""Print how large the project is, next to a commit before it (`--against COMMIT`).

The unit is characters without indentation and line ends, since lines depend on a formatter. Text in data
files (TOML, Markdown, SQL, templates) counts half if it has come since that commit. Files and folders are
information.
"""

from __future__ import annotations

import argparse
import io
import subprocess
import tarfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from bench import SHORT

ROOT = Path(__file__).parents[1]
PACKAGES = ("evolake", "assets", "pipelines", "resources")
PARTS = {"four packages": PACKAGES, "tests": ("tests",), "benchmarks": ("benchmarks",)}
DATA = {".toml", ".md", ".sql", ".txt", ".j2", ".css", ".json"}
BEFORE = "2474d774"
"""The last commit before the project was made smaller."""


def stored_files(commit: str) -> Iterator[tuple[PurePosixPath, bytes]]:
    """Yield path and bytes of every file of a commit."""
    names = sorted({folder for folders in PARTS.values() for folder in folders})
    packed = subprocess.run(
        ["git", "archive", commit, *names], cwd=ROOT, stdout=subprocess.PIPE, check=True
    ).stdout
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        for member in archive:
            if member.isfile() and (file := archive.extractfile(member)):
                yield PurePosixPath(member.name), file.read()


def characters(data: bytes) -> int:
    """Return the characters of a text, without indentation, space at line ends and line ends."""
    return sum(len(line.strip()) for line in data.decode("utf-8", "replace").split("\n"))


def sizes(commit: str) -> dict[str, tuple[int, int, int, int]]:
    """Return part -> characters of Python, Python files, folders with any, characters of data files."""
    found = dict.fromkeys(PARTS, (0, 0, 0, 0))
    folders: dict[str, set[PurePosixPath]] = {part: set() for part in PARTS}
    for path, data in stored_files(commit):
        part = next(part for part, names in PARTS.items() if path.parts[0] in names)
        python, files, _, text = found[part]
        if path.suffix == ".py":
            folders[part].add(path.parent)
            found[part] = (python + characters(data), files + 1, len(folders[part]), text)
        elif path.suffix in DATA:
            found[part] = (python, files, len(folders[part]), text + characters(data))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--against", default=BEFORE, help="the commit to compare with")
    options = parser.parse_args()
    now = sizes("HEAD")
    before = now if SHORT else sizes(options.against)
    print(f"{'':14}{'HEAD':>12}{options.against:>12}   files, folders   data files")
    for part in PARTS:
        python, files, folders, text = now[part]
        old_python, old_files, old_folders, old_text = before[part]
        counted = python + max(0, text - old_text) // 2
        print(
            f"{part:14}{counted:12,}{old_python:12,}   {files:,}, {folders:,} "
            f"(were {old_files:,}, {old_folders:,})   {text:,} (were {old_text:,})"
        )


if __name__ == "__main__":
    main()
