"""Templates of programs: what is filled in, and that what they make is the same to the byte, since ids of
families hang on it."""

import ast
import sys
from pathlib import Path

import pytest

import evolake
from evolake.families.evolution.shipped_seeds import code_version
from evolake.program_templates import MARKER, PLACE, fill_template, load_template

ROOT = Path(evolake.__file__).parent
WHOLE_FILES = [ROOT / name for name in ("designs", "programs/problems", "programs/report", "prompts/report")]
"""Designs as they are written out, with no place to be filled in."""
TEMPLATES = sorted(
    path
    for path in ROOT.glob("**/templates/**/*.py")
    if not any(path.is_relative_to(folder / "templates") for folder in WHOLE_FILES)
)


@pytest.fixture
def templates(tmp_path, monkeypatch) -> Path:
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(sys.modules, "filling", None)
    monkeypatch.delitem(sys.modules, "filling")
    (tmp_path / "filling").mkdir()
    load_template.cache_clear()
    return tmp_path / "filling"


def test_places_are_filled_in(templates):
    (templates / "one.py").write_text(
        f'"""Head."""\n__gives__ = __body__ = None\n{MARKER}def f(x):\n    __body__\n    return '
        '__gives__, "slot__gives__", __name__\n',
        encoding="utf-8",
    )
    assert fill_template("filling.one", body="    x += 1\n    x *= 2\n", gives="x", name="'a'") == (
        "def f(x):\n    x += 1\n    x *= 2\n    return x, \"slotx\", 'a'\n"
    )
    assert fill_template("filling.one", body="", gives=7, name="__gives__").splitlines() == [
        "def f(x):",
        '    return 7, "slot7", __gives__',
    ]
    with pytest.raises(KeyError, match="body"):
        fill_template("filling.one", gives="x", name="y")


@pytest.mark.parametrize(
    "path", TEMPLATES, ids=[path.relative_to(ROOT).with_suffix("").as_posix() for path in TEMPLATES]
)
def test_a_head_declares_the_places_of_its_program(path):
    head, marker, text = path.read_text(encoding="utf-8").partition(MARKER)
    names = {
        node.id
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Name) and PLACE.fullmatch(node.id)
    }
    names |= {
        node.name
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef) and PLACE.fullmatch(node.name)
    }
    declared = {
        node.id
        for node in ast.walk(ast.parse(head))
        if isinstance(node, ast.Name) and PLACE.fullmatch(node.id)
    }
    assert marker and ast.get_docstring(ast.parse(head)) and declared == names


def test_a_changed_template_is_another_version_of_the_code(templates):
    source = 'from filling import x\n\n\ndef made():\n    return fill_template("filling.three", x=x)\n'
    (templates / "__init__.py").write_text("x = 1\n", encoding="utf-8")
    (templates / "making.py").write_text(source, encoding="utf-8")
    versions = []
    for body in ("return 1", "return 2"):
        (templates / "three.py").write_text(f'"""Head."""\n{MARKER}def f():\n    {body}\n', encoding="utf-8")
        versions.append(code_version(["filling.making"], package="filling"))
    assert versions[0] != versions[1]
