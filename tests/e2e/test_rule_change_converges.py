"""An edited rule, followed to its end: what the UI shows as stale is what `evolake rules preview` lists; made
again, nothing is left."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from designs_fixtures import ROOT, Project, open_project
from project_steps import edit_rule, flips, flips_told, materialize, previewed, stale

from evolake.lake import Lake
from evolake.programs.commands.group import FILES

pytestmark = [pytest.mark.e2e, pytest.mark.long]
SMALL = {
    "EVOLAKE_PROGRAMS__GENERATIONS_PER_CYCLE": "1",
    "EVOLAKE_PROGRAMS__CANDIDATES_PER_GENERATION": "3",
    "EVOLAKE_PROGRAMS__HELDOUT_REPEATS": "2",
    "EVOLAKE_PROGRAMS__ISLANDS": "1",
}
LINE, RULE = "programs", "programs-readable"
ASSETS = ("projects", "generations", "candidates", "accepted", "champion", "survivors")


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A small program project after one cycle, with rules that may be edited."""
    folder = tmp_path_factory.mktemp("converges")
    shutil.copytree(ROOT / "data_lake" / "seeds" / "rules", folder / "seeds" / "rules")
    (folder / "fit").mkdir()
    for file, text in FILES.items():
        (folder / "fit" / file).write_text(text)
    made = open_project(
        folder, **SMALL, EVOLAKE_SEEDS=str(folder / "seeds"), EVOLAKE_PROGRAMS__PROJECTS=str(folder / "fit")
    )
    made.run("run", "--cycles", "1", "--lines", LINE)
    return made


def stale_now(project: Project, *cycles: str) -> set[tuple[str, str]]:
    return stale(project, LINE, ASSETS, cycles)


def test_what_the_ui_marks_is_what_the_preview_lists_and_made_again_nothing_is_stale(project: Project):
    assert stale_now(project, "0001") == set()
    edit_rule(project, LINE, "readable", "version: 1", "version: 2")
    assert stale_now(project, "0001") == {("accepted", "0001")}
    [again] = previewed(project, LINE)["make_again"]
    assert (again["cycle"], again["assets"], again["whole"]) == ("0001", ["accepted"], False)
    materialize(project, LINE, "0001", "accepted")
    assert stale_now(project, "0001") == set()


def test_an_edit_that_flips_verdicts_made_again_by_the_commands_of_the_preview_leaves_nothing_stale_also_after_a_further_cycle(  # noqa: E501
    project: Project,
):
    sizes = _sizes(project)
    edit_rule(project, LINE, "readable", '"most_characters": 100000', f'"most_characters": {max(sizes) - 1}')
    edit_rule(project, LINE, "readable", "version: 2", "version: 3")
    before = previewed(project, LINE)
    told = flips_told(before, RULE, "0001")
    assert told, "the longest program is blocked now"
    path = os.pathsep.join([str(Path(sys.executable).parent), project.environment.get("PATH", os.defpath)])
    for command in before["commands"]:
        done = subprocess.run(
            command,
            shell=True,
            cwd=ROOT,
            env=project.environment | {"PATH": path},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    assert {row[0] for row in flips(project, RULE, 2, 3)} == told
    assert stale_now(project, "0001") == set()
    project.run("run", "--cycles", "1", "--lines", LINE)
    assert stale_now(project, "0001", "0002") == set()
    after = previewed(project, LINE)
    assert (after["make_again"], after["rules"], after["commands"]) == ([], {}, [])


def _sizes(project: Project) -> set[int]:
    """Characters of each candidate that passed."""
    lake = Lake(project.lake)
    rows = project.sql("SELECT files_sha FROM programs.candidates WHERE state <> 'blocked'")
    return {sum(map(len, json.loads(lake.blobs.get(sha)).values())) for (sha,) in rows}
