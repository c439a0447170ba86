"""A champion that is a construction is written with what checks it; what was altered since does not pass."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import commands
import pytest
from bundle_fixtures import improved_program_lake
from known_constructions import KNOWN
from programs_fixtures import apart

from evolake.errors import InputError
from evolake.programs.model.project import Project, project_of
from evolake.programs.problems import problem_files, problems
from evolake.programs.report.certificate import compared, draw_construction, exact

PROBLEM = "circles_26"


def project_named(name: str) -> Project:
    return project_of(name, {path: text.encode() for path, text in problem_files(name).items()})


def checked(folder: Path) -> tuple[int, str]:
    """Run the certificate's script without evolake and its libraries but numpy."""
    done = subprocess.run(
        [sys.executable, "-I", "check.py"], cwd=folder, capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout + done.stderr


@pytest.fixture(scope="module")
def lake(tmp_path_factory) -> Path:
    """One whose champion returns the published circles."""
    root = tmp_path_factory.mktemp("certified") / "lake"
    better = f"def build(case):\n    return {KNOWN[PROBLEM].output!r}\n"
    improved_program_lake(root, project_named(PROBLEM), better)
    return root


def certificate(lake: Path, project: str, out: Path) -> subprocess.CompletedProcess[str]:
    words = ("programs", "certificate", project, "--out", out, "--json")
    return commands.evolake(*words, environment={**os.environ, "EVOLAKE_LAKE": str(lake)})


def test_a_certificate_checks_by_itself_and_an_altered_one_does_not(lake, tmp_path):
    out = tmp_path / "certificate"
    done = certificate(lake, PROBLEM, out)
    assert done.returncode == 0, done.stdout + done.stderr
    summary = json.loads(done.stdout)
    assert summary["verdict"] == "certified" and summary["metric"] == "radii"
    assert summary["score"] == pytest.approx(2.63586, abs=1e-5)
    assert "behind the best known value, 2.63598 (Assumpcao et al." in summary["compared"]
    assert {"evaluator.py", "circles.py", "exact.py", "picture.png", "README.md"} <= set(summary["files"])
    assert (out / "picture.png").read_bytes().startswith(b"\x89PNG")
    assert summary["compared"] in (out / "README.md").read_text()
    code, text = checked(out)
    assert (code, repr(summary["score"]) in text) == (0, True)
    claim = json.loads((out / "construction.json").read_text())
    numbers = [[float(Fraction(text)) for text in row] for row in claim["object"]]
    assert numbers == KNOWN[PROBLEM].output

    radius = Fraction(claim["object"][3][2])
    for changed, said in (
        ("{}/{}".format(*(float(radius) + 1e-7).as_integer_ratio()), "radii 0.0"),
        ("{}/{}".format(*(float(radius) - 1e-9).as_integer_ratio()), "not the score that is claimed"),
        (str(radius + Fraction(1, 10**30)), "is no float"),
    ):
        altered = json.loads(json.dumps(claim))
        altered["object"][3][2] = changed
        (out / "construction.json").write_text(json.dumps(altered))
        code, text = checked(out)
        assert code == 1 and said in text
    again = certificate(lake, PROBLEM, out)
    assert again.returncode == 2 and "is not empty" in again.stderr


def test_what_is_no_construction_is_refused_in_words(tmp_path):
    project = apart()
    improved_program_lake(tmp_path / "lake", project, "def double(x):\n    y = 2 * x\n    return y + 1\n")
    done = certificate(tmp_path / "lake", project.name, tmp_path / "out")
    assert done.returncode == 2 and "returns no construction" in done.stderr
    assert not (tmp_path / "out").exists()
    done = certificate(tmp_path / "lake", "nothing", tmp_path / "out")
    assert done.returncode == 2 and "no program 'nothing' is in the lake" in done.stderr


def test_numbers_are_written_as_what_they_are():
    assert exact([0.1, 3, True, {"a": [-2.0]}]) == [
        "3602879701896397/36028797018963968",
        "3",
        True,
        {"a": ["-2/1"]},
    ]


@pytest.mark.parametrize(
    ("score", "said"),
    [
        (2.635983, "To the digits that it is given with, this is the best known value, 2.63598"),
        (2.6, "This is 0.03598, 1.365% behind the best known value"),
        (2.7, "This is 0.06402, 2.429% beyond the best known value"),
    ],
)
def test_the_distance_to_the_best_known_value_is_said(score, said):
    assert compared(project_named(PROBLEM), score).startswith(said)
    assert compared(apart(), 1.0) == "The project names no best known value."


@pytest.mark.parametrize("problem", {given["picture"]: name for name, given in problems().items()}.values())
def test_every_kind_of_construction_can_be_drawn(problem):
    given = problems()[problem]
    drawn = draw_construction(given["picture"], KNOWN[problem].output, given["title"])
    assert drawn.startswith(b"\x89PNG") and len(drawn) > 5000


def test_a_picture_of_rows_that_are_too_short_is_refused():
    with pytest.raises(InputError, match="cannot be drawn as circles"):
        draw_construction("circles", [[math.pi, 1.0]], "two numbers")
