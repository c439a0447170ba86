"""Every object that is named by a string, to be imported when it is needed, is there; and listing the lines
imports none of them."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

from evolake.gate_spec import GateSpec
from evolake.lazy import FORM, Lazy
from evolake.lines import LineSpec, lines

ROOT = Path(__file__).resolve().parents[3]
FOLDERS = ("assets", "evolake", "pipelines", "resources", "tests/sixth_line")
PACKAGES = {"assets", "evolake", "golomb", "golomb_assets", "pipelines", "resources"}
SCIENCE = ["numpy", "polars", "pydantic", "dagster", "duckdb", "torch", "scipy", "matplotlib"]


def named() -> Iterator[tuple[str, str]]:
    """(file, name) of every string in the project that names an object of one of its modules, also where it
    is no `Lazy` (drivers of the jail)."""
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text())):
                value = node.value if isinstance(node, ast.Constant) else None
                if isinstance(value, str) and FORM.fullmatch(value) and value.partition(".")[0] in PACKAGES:
                    yield path.relative_to(ROOT).as_posix(), value


def of_spec(spec: LineSpec) -> Iterator[Lazy[object]]:
    for value in vars(spec).values():
        yield from (
            part
            for part in (value.values() if isinstance(value, dict) else [value])
            if isinstance(part, Lazy)
        )


def test_every_object_that_a_string_names_is_there(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "tests" / "sixth_line")
    names = list(named())
    assert len(names) > 100
    assert {file.partition("/")[0] for file, _ in names} == {"assets", "evolake", "tests"}
    assert [
        (file, name)
        for file, name in names
        if not hasattr(import_module(name.partition(":")[0]), name.partition(":")[2])
    ] == []


def test_every_gate_and_part_of_a_line_is_there(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "tests" / "sixth_line")
    specs = [*lines().values(), import_module("golomb.line").LINE]
    assert all(part.load() is not None for spec in specs for part in of_spec(spec))
    gates = [gate for spec in specs if spec.gates for gate in spec.gates.load()]
    assert len(gates) > 20 and all(isinstance(gate, GateSpec) for gate in gates)
    assert all(callable(gate.collector()) for gate in gates if gate.collect is not None)
    assert all(import_module(module) for spec in specs for module in spec.checkers)


@pytest.mark.parametrize(
    "name",
    [
        "",
        "evolake.lines",
        "evolake.lines:",
        ":lines",
        "evolake lines:lines",
        "evolake.lines:lines.x",
        ".lines:lines",
    ],
)
def test_a_name_of_another_form_is_refused_when_it_is_written(name):
    with pytest.raises(ValueError, match="package.module:object"):
        Lazy(name)


def test_listing_the_lines_and_their_commands_imports_no_science():
    code = (
        "import sys; from evolake.cli import cli; cli.list_commands(None); print([name for name in "
        f"{SCIENCE} if name in sys.modules])"
    )
    assert (
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
        == "[]\n"
    )
