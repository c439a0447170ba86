"""What a process computes with. Two processes that differ in this may give different results for one task."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

from evolake import __version__
from evolake.lines import lines


def identity() -> dict[str, str]:
    """Return versions and a hash of the code, by name."""
    return {
        "evolake": __version__,
        "code": code_sha(),
        "python": platform.python_version(),
        "numpy": metadata.version("numpy"),
    }


def differences(wanted: Mapping[str, str], got: Mapping[str, str]) -> list[str]:
    """Return what is not the same, in words."""
    return [
        f"{name} {_short(got.get(name, 'unknown'))} instead of {_short(value)}"
        for name, value in wanted.items()
        if got.get(name) != value
    ]


@cache
def code_sha() -> str:
    """Return 64 hex digits over the Python files of evolake and of the packages of all lines that are
    installed. Read once per process."""
    digest = hashlib.sha256()
    parts = [part for spec in lines().values() for part in (spec.settings, spec.artifacts) if part]
    for package in sorted({"evolake", *(part.module.partition(".")[0] for part in parts)}):
        for name, path in sorted(_files(package)):
            digest.update(f"{name}\0{hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    return digest.hexdigest()


def _files(package: str) -> Iterator[tuple[str, Path]]:
    spec = find_spec(package)
    for root in (spec.submodule_search_locations or []) if spec else []:
        for path in Path(root).rglob("*.py"):
            name = path.relative_to(root).as_posix()
            if not name.startswith("_project/"):  # what a wheel brings along is not imported by workers
                yield f"{package}/{name}", path


def _short(value: str) -> str:
    return value[:12] if len(value) == 64 else value
