"""The files of a search by the paper's framework: what can be used, and what cannot with the reason. Nothing
of them is run here.

Its public code (github.com/yuanhangzhang98/LLM_meta_optimization) fixes where they are. Folders carry the
name of a workspace behind an underscore, or none of them does:

    solvers/solver_N.py                        the file of design N
    objectives/objective_N.py                  the function of objective N
    objectives/metadata.json                   a description of each objective, by its number
    domain_knowledge/objective_baseline.py     objective 0, where `objectives` lacks it
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evolake.errors import InputError
from evolake.objectives.source import objective_id
from evolake.reading import Unparsable, Unreadable, parse_json, read_text, reason

MAX_BYTES = 1024 * 1024
BASELINE_OBJECTIVE = Path("domain_knowledge/objective_baseline.py")

Row = dict[str, Any]


@dataclass(frozen=True)
class Files:
    """Where they are. suffix: of the workspace, `_22` or empty."""

    root: Path
    suffix: str

    @property
    def source(self) -> str:
        """What rows name it by."""
        return (self.root.resolve().name or "root") + self.suffix

    def folder(self, name: str) -> Path:
        """Return one of its folders."""
        return self.root / f"{name}{self.suffix}"


@dataclass(frozen=True)
class Framework:
    """Rows without what the import adds (bundle, source, cycle). sources: number of a design -> text of its
    file."""

    designs: list[Row]
    sources: dict[int, str]
    objectives: list[Row]

    def bundle_id(self) -> str:
        """Return sha256 over everything that was read, wherever it was."""
        held = [self.designs, sorted(self.sources.items()), self.objectives]
        return hashlib.sha256(json.dumps(held, sort_keys=True).encode()).hexdigest()


def find_files(given: Path) -> Files:
    """Return the files below a folder: its one folder `solvers` or `solvers_WORKSPACE` with solver_N.py in
    it. Raises InputError."""
    found = (
        sorted({path.parent for path in given.glob("solvers*/solver_*.py") if path.is_file()})
        if given.is_dir()
        else []
    )
    if len(found) != 1:
        got = ", ".join(path.name for path in found) or (
            "no solvers*/solver_N.py in it" if given.is_dir() else "no such folder"
        )
        raise InputError(
            f"no one folder of solvers of the paper's framework in {given}",
            wanted="one folder solvers or solvers_WORKSPACE with solver_N.py in it",
            got=got,
            do="give the folder above it; of several workspaces, copy one to a separate folder",
        )
    name, mark, workspace = found[0].name.partition("_")
    if name != "solvers":
        raise InputError(
            f"{found[0]} is no folder of solvers",
            wanted="solvers or solvers_WORKSPACE",
            got=found[0].name,
            do="rename it",
        )
    return Files(found[0].resolve().parent, mark + workspace)


def read_framework(files: Files) -> Framework:
    """Return everything that the files say. Raises InputError if metadata.json is no JSON object."""
    designs: list[Row] = []
    sources: dict[int, str] = {}
    for number, path in _numbered(files.folder("solvers"), "solver").items():
        text, fault = _code(path)
        designs.append({"original_id": number, **_state(fault)})
        if not fault:
            sources[number] = text
    return Framework(designs, sources, _objectives(files))


def _objectives(files: Files) -> list[Row]:
    paths = _numbered(files.folder("objectives"), "objective")
    baseline = files.root / BASELINE_OBJECTIVE
    if baseline.is_file():
        paths = {0: baseline} | paths
    described = _metadata(files.folder("objectives") / "metadata.json")
    rows = []
    for number, path in sorted(paths.items()):
        code, fault = _code(path)
        entry = described.get(str(number))
        text = entry.get("description") if isinstance(entry, dict) else None
        if not isinstance(text, str) or not text.strip():
            text = f"objective {number} of another search"
        row: Row = {"original_id": number, "description": text.encode(errors="replace").decode()}
        row |= {} if fault else {"code": code, "objective_id": objective_id(code)}
        rows.append(row | _state(fault))
    return rows


def _numbered(folder: Path, name: str) -> dict[int, Path]:
    """Return number -> path of the files `name`_N.py, by number."""
    result = {
        int(match.group(1)): path
        for path in sorted(folder.glob(f"{name}_*.py"))
        if (match := re.fullmatch(rf"{name}_([0-9]{{1,9}})", path.stem))
    }
    return dict(sorted(result.items()))


def _metadata(path: Path) -> dict[str, Any]:
    if not path.exists():
        return {}
    try:
        held = parse_json(read_text(path, MAX_BYTES), name=path.name, characters=MAX_BYTES)
        got = f"a {type(held).__name__}"
    except Unparsable as error:
        held, got = None, f"no JSON: {error.got}"
    except (OSError, Unreadable) as error:
        held, got = None, reason(error)
    if not isinstance(held, dict):
        raise InputError(
            f"{path} cannot be read",
            wanted='one JSON object: {"1": {"description": ...}, ...}',
            got=got,
            do="repair or remove it",
        )
    return held


def _code(path: Path) -> tuple[str, str]:
    """Return (text of a Python file, "") or ("", why it cannot be used)."""
    try:
        text = read_text(path, MAX_BYTES)
    except (OSError, Unreadable) as error:
        return "", f"{path.name} cannot be read: {reason(error)}"
    return (text, "") if text.strip() else ("", f"{path.name} is empty")


def _state(fault: str) -> Row:
    return {"state": "malformed" if fault else "read", "reason": fault or None}
