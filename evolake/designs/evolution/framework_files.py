"""The files of a search by the paper's framework, as values or as what is wrong with them. Nothing of them is
run.

Its public code (github.com/yuanhangzhang98/LLM_meta_optimization, `database/schema.py`,
`workspace_config.py`) fixes where they are. Every folder carries the name of the workspace behind an
underscore, or none of them does:

    database/database.json             {"designs": [...]}: number, round, parents with weights, name, model,
                                       results
    solvers/solver_N.py                the file of design N
    objectives/metadata.json           description, round and workspace of each objective;
                                       objectives/objective_N.py its function
    meta_agent/state.json              {"current": ..., "history": [...]}: what the meta agent's reviews said
    llm_log/designer_analysis_N.json   what the designer made of its results, or designer_N.json with the same
                                       in it
    llm_log/planner_N.json             what the planner read from the designs so far
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evolake.errors import InputError
from evolake.reading import Unparsable, Unreadable, parse_json, read_text, reason

DATABASE = "database.json"
MAX_BYTES = 256 * 1024 * 1024
MAX_CODE_BYTES = 1024 * 1024
WANTED = (
    "database.json of the paper's framework: one JSON object with a list `designs`, in a folder database "
    "or database_WORKSPACE"
)
DO = (
    "give that file, or the folder in which database, solvers and objectives are; "
    "docs/framework-database.md says the format"
)


class Malformed(ValueError):
    """What is wrong with one row. It becomes the row's reason."""


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

    @property
    def database(self) -> Path:
        """Return the path of the framework's database."""
        return self.folder("database") / DATABASE


def find_files(given: Path) -> Files:
    """Return the files that belong to a path that a person gave: the database, or the folder above its
    folder. Raises InputError."""
    if given.is_dir():
        result = sorted(path for path in given.glob(f"database*/{DATABASE}") if path.is_file())
        if len(result) != 1:
            got = (
                ", ".join(str(path.relative_to(given)) for path in result) or f"no database*/{DATABASE} in it"
            )
            raise InputError(
                f"no one database of the paper's framework in {given}", wanted=WANTED, got=got, do=DO
            )
        given = result[0]
    if not given.is_file():
        raise InputError(f"no database at {given}", wanted=WANTED, got="no such file", do=DO)
    name, mark, workspace = given.resolve().parent.name.partition("_")
    if given.name != DATABASE or name != "database":
        got = f"{given.resolve().parent.name}/{given.name}"
        raise InputError(f"{given} is no database of the paper's framework", wanted=WANTED, got=got, do=DO)
    return Files(given.resolve().parents[1], mark + workspace)


def find_solvers(given: Path) -> Files:
    """Return the files below a folder that has no database: its one folder `solvers` or `solvers_WORKSPACE`
    with solver_N.py in it. Raises InputError.
    """
    result = (
        sorted({path.parent for path in given.glob("solvers*/solver_*.py") if path.is_file()})
        if given.is_dir()
        else []
    )
    if len(result) != 1:
        got = ", ".join(path.name for path in result) or (
            "no solvers*/solver_N.py in it" if given.is_dir() else "no such folder"
        )
        raise InputError(
            f"no one folder of solvers of the paper's framework in {given}",
            wanted="one folder solvers or solvers_WORKSPACE with solver_N.py in it",
            got=got,
            do="give the folder above it; of several workspaces, copy one to a separate folder",
        )
    name, mark, workspace = result[0].name.partition("_")
    if name != "solvers":
        raise InputError(
            f"{result[0]} is no folder of solvers",
            wanted="solvers or solvers_WORKSPACE",
            got=result[0].name,
            do="rename it",
        )
    return Files(result[0].resolve().parent, mark + workspace)


def read_object(path: Path) -> dict[str, Any]:
    """Return a file that holds one JSON object. Raises InputError."""
    try:
        result = read_record(path)
    except Malformed as error:
        raise InputError(f"{path} cannot be read", wanted="one JSON object", got=str(error), do=DO) from None
    return result


def read_record(path: Path) -> dict[str, Any]:
    """Return a file that holds one JSON object. Raises Malformed."""
    try:
        result = parse_json(_text(path, MAX_BYTES), name=path.name, characters=MAX_BYTES)
    except Unparsable as error:
        raise Malformed(f"no JSON: {error.got}") from None
    if not isinstance(result, dict):
        raise Malformed(f"no JSON object but {_kind(result)}")
    return result


def read_code(path: Path) -> str:
    """Return a Python file. Raises Malformed."""
    return _text(path, MAX_CODE_BYTES)


def whole(record: dict[str, Any], name: str, *, at_least: int = 0) -> int:
    """Return a whole number of a record. Raises Malformed."""
    result = record.get(name)
    if isinstance(result, float) and result.is_integer():
        result = int(result)
    if not isinstance(result, int) or isinstance(result, bool) or not at_least <= result < 2**63:
        raise Malformed(
            f"{name}: wanted a whole number from {at_least}, got {_kind(result)}{_in_brackets(result)}"
        )
    return result


def number(record: dict[str, Any], name: str, low: float, high: float) -> float:
    """Return a number of a record. Raises Malformed."""
    result = record.get(name)
    if not isinstance(result, int | float) or isinstance(result, bool) or not low <= result <= high:
        raise Malformed(
            f"{name}: wanted a number from {low:g} to {high:g}, got {_kind(result)}{_in_brackets(result)}"
        )
    return float(result)


def text(record: dict[str, Any], name: str, *, optional: bool = False) -> str:
    """Return a text of a record. Raises Malformed."""
    result = record.get(name)
    if result is None and optional:
        return ""
    if not isinstance(result, str):
        raise Malformed(f"{name}: wanted a text, got {_kind(result)}{_in_brackets(result)}")
    return result.encode(errors="replace").decode()


def _text(path: Path, limit: int) -> str:
    try:
        return read_text(path, limit)
    except FileNotFoundError:
        raise Malformed(f"there is no {path.name}") from None
    except (OSError, Unreadable) as error:
        raise Malformed(f"{path.name} cannot be read: {reason(error)}") from None


def _kind(result: Any) -> str:
    kinds = {
        dict: "an object",
        list: "a list",
        str: "a text",
        bool: "a truth value",
        int: "a number",
        float: "a number",
        type(None): "nothing",
    }
    return kinds[type(result)]


def _in_brackets(result: Any) -> str:
    return f" ({result!r})"[:60] if isinstance(result, int | float) else ""
