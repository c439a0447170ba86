"""What docs/architecture.md counts under "Adding things": one file with what is added, its test, and no list elsewhere."""

from __future__ import annotations

import ast
import string
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from evolake.lines import folder_of, modules_of
from evolake.objectives.family import Family, families_in
from evolake.objectives.portfolio import BASELINE_FAMILY, OBJECTIVE_FAMILIES, make
from evolake.objectives.source import FAMILY_FOLDER, HELPERS
from evolake.solvers.objectives import portfolio as solvers

ROOT = Path(__file__).resolve().parents[3]
PORTFOLIOS = {"designs": (FAMILY_FOLDER, HELPERS, OBJECTIVE_FAMILIES), "solvers": (solvers.FOLDER, solvers.HELPERS, solvers.FAMILIES)}


def package_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, files: Mapping[str, str]) -> str:
    """A package of these files, importable."""
    (tmp_path / name).mkdir()
    for file, text in {"__init__.py": "", **files}.items():
        (tmp_path / name / file).write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    for module in [one for one in sys.modules if one.partition(".")[0] == name]:
        monkeypatch.delitem(sys.modules, module)
    return name


def strings_of(path: Path) -> set[str]:
    """Every string that stands in a module, whole."""
    found = [node.value for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Constant)]
    return {value for value in found if isinstance(value, str)}


@pytest.mark.parametrize("line", PORTFOLIOS)
def test_every_file_of_the_folder_is_a_family_of_objectives_and_nothing_lists_them(line: str):
    folder, helpers, families = PORTFOLIOS[line]
    assert set(families) == set(modules_of(folder)) - {helpers, BASELINE_FAMILY}
    elsewhere = {text for path in folder_of(folder).parent.glob("*.py") for text in strings_of(path)}
    assert set(families) & elsewhere <= {"par2"}  # the first objective of the solvers' portfolio
    for name, family in families.items():
        fields = {field for _, field, _, _ in string.Formatter().parse(family.description) if field}
        drawn = {**family.choices, **family.ranges}
        assert fields <= set(drawn) and drawn, name
        assert make(name, {constant: values[0] for constant, values in drawn.items()}, "", folder=folder, helpers=helpers).family == name


def test_an_objective_is_one_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    text = '''"""Cost of the first."""

from evolake.objectives.family import Family

FAMILY = Family("the first", "the first, times {FACTOR}", ranges={"FACTOR": (1.0, 2.0)})

FACTOR = 1.5


def objective(results):
    """Scaled."""
    return FACTOR * results[0]["cost"] if results else 1e9
'''
    folder = package_of(tmp_path, monkeypatch, "some_objectives", {"first.py": text, "levels.py": ""})
    assert families_in(folder) == {"first": Family("the first", "the first, times {FACTOR}", ranges={"FACTOR": (1.0, 2.0)}, name="first")}
    source = make("first", {"FACTOR": 1.25}, "", folder=folder).source
    assert "FAMILY" not in source and "import" not in source
    namespace: dict = {}
    exec(source, namespace)
    assert namespace["objective"]([{"cost": 2.0}]) == 2.5
