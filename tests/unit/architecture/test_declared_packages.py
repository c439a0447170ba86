"""Whatever the code imports is declared in pyproject.toml and pinned in constraints.txt."""

import ast
import re
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

ROOT = Path(__file__).parents[3]
OWN = ("evolake", "assets", "resources", "pipelines")
OF_A_TASK = {"base", "exact"}
"""Packages in a folder that a user gives; a program in the jail imports them (`families import-task`). And a
module that evaluators of open problems import, next to them."""


def plain(requirement: str) -> str:
    """The name that a requirement begins with, as indexes spell it."""
    return re.split(r"[^\w.-]", requirement, maxsplit=1)[0].lower().replace("_", "-")


def declared() -> set[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = [item for extra in project["optional-dependencies"].values() for item in extra]
    return {plain(extra) for extra in (*project["dependencies"], *extras)} - {"evolake"}


def imported(path: Path) -> set[str]:
    """Top-level names of other packages that the file imports, anywhere in it."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {name.name.split(".")[0] for name in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module.split(".")[0])
    return names - sys.stdlib_module_names - {*OWN} - OF_A_TASK


def test_every_import_is_of_a_declared_package():
    known, providers = declared(), packages_distributions()
    result = {name for package in OWN for path in (ROOT / package).rglob("*.py") for name in imported(path)}
    assert {"dagster", "polars", "duckdb"} <= result
    assert (
        sorted(name for name in result if not known & {plain(item) for item in providers.get(name, [name])})
        == []
    )


def test_every_declared_package_is_pinned():
    pinned = {
        plain(line)
        for line in (ROOT / "constraints.txt").read_text().splitlines()
        if not line.startswith("#")
    }
    assert sorted(declared() - pinned) == []


def test_nothing_uses_what_make_takes_out_of_packages():
    trimmed = next(
        line for line in (ROOT / "Makefile").read_text().splitlines() if line.startswith("TRIM :=")
    )
    assert all(
        f" {place} " in trimmed
        for place in (
            "torch/test",
            "torch/include",
            "pyarrow/include",
            "pyarrow/*flight*",
            "zstandard/_cffi*",
        )
    )
    needs_it = re.compile(
        r"torch\.compile\(|cpp_extension|_inductor|pyarrow(\.| import )flight|^\s*(from|import) \w+\.tests\b",
        re.MULTILINE,
    )
    files = [
        path
        for package in OWN
        for path in (ROOT / package).rglob("*.py")
        if path.name != "put_off_compiler.py"
    ]  # it names what it keeps out
    assert [str(path) for path in files if needs_it.search(path.read_text())] == []
    assert needs_it.search("import torch\nstep = torch.compile(step)") and needs_it.search(
        "from pyarrow import flight"
    )
