"""The places that docs/architecture.md names are there: a file, and in it the function, class or constant."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
TEXT = (ROOT / "docs" / "architecture.md").read_text()
PLACES = sorted(set(re.findall(r"`([\w./]+\.py):([\w.]+)`", TEXT)))
FILES = sorted(
    set(re.findall(r"`((?:evolake|assets|pipelines|resources|data_lake|tests)/[\w./]*)`", TEXT))
    - {"evolake/_project"}
)
CHAMPIONS = ("designs", "programs", "prompts", "solvers")
"""Lines that have a champion."""


def section(title: str) -> str:
    return TEXT.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def defined(tree: ast.AST, names: list[str]) -> bool:
    """Whether a module, or a class in it, defines a name, and what it defines the next one."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name == names[0]:
            return len(names) == 1 or defined(node, names[1:])
        if isinstance(node, ast.Assign):
            targets = node.targets
        elif isinstance(node, ast.AnnAssign):
            targets = [node.target]
        else:
            targets = []
        if len(names) == 1 and any(
            isinstance(name, ast.Name) and name.id == names[0]
            for target in targets
            for name in ast.walk(target)
        ):
            return True
    return False


@pytest.mark.parametrize(("path", "name"), PLACES)
def test_a_place_is_there(path, name):
    assert defined(ast.parse((ROOT / path).read_text()), name.split("."))


@pytest.mark.parametrize("path", FILES)
def test_a_file_or_folder_is_there(path):
    assert (ROOT / path).exists()


def test_the_way_of_a_candidate_has_ten_stops_and_is_short():
    way = section("First: one candidate's way")
    stops = re.split(r"\n(?=\d+\. )", way)[1:]
    assert [stop.partition(".")[0] for stop in stops] == [str(number) for number in range(1, 11)]
    assert all(re.search(r"`[\w./]+\.py:\w", stop) for stop in stops) and way.count("\n") < 60


def test_each_question_is_answered_in_at_most_two_files():
    rows = [
        line.split("|")[1:3]
        for line in section("Where is it?").splitlines()
        if line.startswith("| ") and "---" not in line
    ][1:]
    assert len(rows) == 18
    for question, places in rows:
        named = re.findall(r"`(?:[\w<>]+/[\w<>./]*(?::[\w.]+)?|CONTRIBUTING.md)`", places)
        assert 1 <= len(named) <= 2, question


@pytest.mark.parametrize("line", CHAMPIONS)
def test_who_becomes_champion_stands_under_one_name(line):
    assert defined(
        ast.parse((ROOT / "evolake" / line / "evolution" / f"{line[:-1]}_contest.py").read_text()),
        ["decide_champion"],
    )
