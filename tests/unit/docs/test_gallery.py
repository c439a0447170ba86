"""The gallery shows what its data say; each construction has the score that is claimed, by the evaluator of
its problem; what is said of the evolved question holds."""

import importlib
import json
import re
import sys
from itertools import combinations, pairwise
from pathlib import Path

import pytest

from evolake.programs.problems import problem_files

ROOT = Path(__file__).parents[3]
DATA = json.loads((ROOT / "docs" / "generate" / "gallery.json").read_text())
CIRCLES = ROOT / "examples" / "programs" / "circle_packing"


@pytest.fixture
def gallery(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "docs" / "generate"))
    return importlib.import_module("gallery_page")


def test_the_page_and_its_pictures_are_those_of_the_data(gallery):
    again = "python docs/generate/gallery_page.py"
    assert gallery.PAGE.read_text() == gallery.page(), again
    drawn = {path.stem: path.read_text() for path in gallery.PICTURES.iterdir()}
    assert drawn == gallery.pictures(), again
    assert len(gallery.entries()) >= 10


def test_figures_of_longer_runs_are_those_of_their_pages(gallery):
    pages = (ROOT / "README.md").read_text() + (ROOT / "docs/programs.md").read_text()
    for name in ("matrix_kernel", "curve"):
        for _, *values in gallery.entries()[name]["bars"]:
            assert [value for value in values if f"{value:.3f}".rstrip("0") not in pages] == []


@pytest.mark.parametrize("name", DATA)
def test_a_construction_has_the_score_that_is_claimed(name, tmp_path, monkeypatch):
    files = {path.name: path.read_text() for path in CIRCLES.glob("*.py")}
    for file, text in (files if name == CIRCLES.name else problem_files(name)).items():
        (tmp_path / file).write_text(text)
        monkeypatch.delitem(sys.modules, Path(file).stem, raising=False)
    monkeypatch.syspath_prepend(str(tmp_path))
    evaluator = importlib.import_module("evaluator")
    results = [{"status": "ok", "output": DATA[name]["rows"], "cpu_s": 0.0, "peak_mb": 1.0, "reason": ""}]
    scores = evaluator.score(evaluator.cases(0), results)
    for file in tmp_path.glob("*.py"):
        sys.modules.pop(file.stem, None)
    assert DATA[name]["score"] in scores.values()


def test_the_label_of_the_question_is_an_answer(gallery):
    item = gallery.entries()["question"]
    row = [int(number) for number in re.findall(r"\d+", item["text"].partition(". Some")[0])]
    label = json.loads(re.findall(r"`(\[.*?\])`", item["said"])[0])
    right = [
        [row[place] for place in picked]
        for count in range(1, 6)
        for picked in combinations(range(len(row)), count)
        if sum(row[place] for place in picked) == 58 and all(b - a > 1 for a, b in pairwise(picked))
    ]
    assert label in right
