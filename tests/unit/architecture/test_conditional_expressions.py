"""No conditional expression has another as its condition or as one of its two values: statements, a small
function or a dictionary read better.

Left out are programs whose bytes are identities: templates, families of objectives, and the seeds in
data_lake/.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from evolake.parsing import parse_python

ROOT = Path(__file__).parents[3]
FOLDERS = ("evolake", "assets", "pipelines", "resources", "benchmarks", "docs", "tests")

IDENTITIES = re.compile(r"/templates/|/objectives/families/")


def nested(source: str) -> list[int]:
    """Return the lines of conditional expressions in which another is a direct part."""
    found = [node for node in ast.walk(parse_python(source)) if isinstance(node, ast.IfExp)]
    return sorted(
        node.lineno
        for node in found
        if any(isinstance(part, ast.IfExp) for part in (node.test, node.body, node.orelse))
    )


def sources() -> Iterator[Path]:
    for folder in FOLDERS:
        yield from (
            path
            for path in sorted((ROOT / folder).rglob("*.py"))
            if not IDENTITIES.search(path.relative_to(ROOT).as_posix())
        )


def test_no_conditional_expression_is_nested():
    files = list(sources())
    assert len(files) > 1500
    assert [
        f"{path.relative_to(ROOT)}:{line}"
        for path in files
        for line in nested(path.read_text(encoding="utf-8"))
    ] == []


@pytest.mark.parametrize(
    "source",
    ["x = a if b else c if d else e", "x = (a if b else c) if d else e", "x = a if (b if c else d) else e"],
)
def test_a_nested_one_is_found(source):
    assert nested(source) == [1]


def test_two_side_by_side_are_none():
    assert nested("x = (a if b else c) + (d if e else f)\ny = f(a if b else c) if d else g") == []
