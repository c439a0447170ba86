"""What is taken from Dagster's private modules is in one module, and a version of Dagster that moves it is
refused in a sentence."""

from __future__ import annotations

import ast
import importlib
import sys
from pathlib import Path
from types import ModuleType

import dagster as dg
import pytest

import resources.dagster_internals as internals
from evolake.errors import MachineryError

ROOT = Path(__file__).resolve().parents[3]
OWN = ROOT / "resources" / "dagster_internals.py"


def private(tree: ast.AST) -> list[str]:
    """The private modules of Dagster that are imported, or named in a string."""
    names: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            names.append(node.module or "")
        elif isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            names.append(node.value)
    return [name for name in names if name.startswith(("dagster._", "dagster_shared._"))]


def test_one_module_takes_from_dagsters_private_modules():
    files = [
        path for folder in ("assets", "resources", "pipelines") for path in (ROOT / folder).rglob("*.py")
    ]
    taking = {path for path in files if private(ast.parse(path.read_text()))}
    assert taking == {OWN}


@pytest.mark.parametrize("module", sorted(set(private(ast.parse(OWN.read_text())))))
def test_dagster_of_this_version_has_each(module):
    try:
        importlib.import_module(module)
    except ImportError as error:
        pytest.fail(
            f"Dagster {dg.__version__} has moved {module} ({error}): change "
            "resources/dagster_internals.py, and what uses it"
        )


def test_every_name_is_there():
    missing = [name for name in internals.__all__ if not hasattr(internals, name)]
    assert not missing, f"Dagster {dg.__version__} lacks {missing}: change resources/dagster_internals.py"


def test_a_dagster_that_moved_one_is_refused_with_what_to_do(monkeypatch):
    monkeypatch.setitem(sys.modules, "dagster._core.instance.ref", ModuleType("dagster._core.instance.ref"))
    monkeypatch.delitem(sys.modules, "resources.dagster_internals")
    with pytest.raises(MachineryError) as caught:
        importlib.import_module("resources.dagster_internals")
    for word in (dg.__version__, "InstanceRef", "constraints.txt"):
        assert word in str(caught.value)
