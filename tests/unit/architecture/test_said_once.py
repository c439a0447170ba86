"""No module says the same statement twice at its top level, as a merge of two copies would leave it."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

import pytest

from evolake.parsing import parse_python

ROOT = Path(__file__).parents[3]
PACKAGES = ("evolake", "assets", "pipelines", "resources", "benchmarks", "tests")


def twice(source: str) -> list[str]:
    """Return the statements at the top level, imports and strings left out, that are there again."""
    lines = source.splitlines()
    kinds = (ast.Assign, ast.AnnAssign, ast.FunctionDef, ast.ClassDef)
    said = Counter(
        "\n".join(lines[node.lineno - 1 : node.end_lineno])
        for node in parse_python(source).body
        if isinstance(node, kinds)
    )
    return [text for text, count in said.items() if count > 1]


@pytest.mark.parametrize("package", PACKAGES)
def test_no_module_says_a_statement_twice(package):
    found = {path: twice(path.read_text()) for path in (ROOT / package).rglob("*.py")}
    assert {path: texts for path, texts in found.items() if texts} == {}


def test_a_statement_said_twice_is_found():
    assert twice("A = 1\nB = 2\nA = 1\n") == ["A = 1"] and twice("A = 1\nA = 2\n") == []
