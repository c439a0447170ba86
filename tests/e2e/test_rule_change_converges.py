"""An edited rule, followed to its end: what the UI shows as stale is what `evolake rules preview` lists; made
again, nothing is left."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from datetime import datetime
from pathlib import Path

import dagster as dg
import pytest
from designs_fixtures import ROOT, Project, open_project
from project_steps import (
    contents,
    edit_rule,
    flips,
    flips_told,
    inside,
    kill_when,
    materialize,
    previewed,
    rules_here,
    run_here,
    stale,
)

from assets.story import RULES_APPLIED
from evolake.lake import Lake
from evolake.programs.commands.group import FILES
from evolake.report.status import sealed_cycles

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
def project(tmp_path_factory) -> Project:
    """A small program project after one cycle, with rules that may be edited."""
    folder = tmp_path_factory.mktemp("converges")
    shutil.copytree(ROOT / "data_lake" / "seeds" / "rules", folder / "seeds" / "rules")
    (folder / "fit").mkdir()
    for file, text in FILES.items():
        (folder / "fit" / file).write_text(text)
    made = open_project(
        folder,
        **SMALL,
        EVOLAKE_SEEDS=str(folder / "seeds"),
        EVOLAKE_PROGRAMS__PROJECTS=str(folder / "fit"),
        EVOLAKE_PROGRAMS__BASELINE_SHARE="0",  # what a dumb search finds in so many seconds differs
    )
    run_here(made, LINE)
    return made


def stale_now(project: Project, *cycles: str) -> set[tuple[str, str]]:
    return stale(project, LINE, ASSETS, cycles)


def test_what_the_ui_marks_is_what_the_preview_lists_and_made_again_nothing_is_stale(project):
    assert stale_now(project, "0001") == set()
    edit_rule(project, LINE, "readable", "version: 1", "version: 2")
    assert stale_now(project, "0001") == {("accepted", "0001")}
    said = json.loads(project.run("rules", "preview", "--line", LINE, "--json").stdout)["lines"][LINE]
    assert said == previewed(project, LINE)
    [again] = said["make_again"]
    assert (again["cycle"], again["assets"], again["whole"]) == ("0001", ["accepted"], False)
    materialize(project, LINE, "0001", "accepted")
    assert stale_now(project, "0001") == set()


def test_a_table_whose_check_judged_what_it_held_before_is_made_again(project):
    """As a kill leaves it that comes between a table and its check."""
    lake = Lake(project.lake)
    whole = lake.read(LINE, "accepted", "0001")
    lake.publish(LINE, "accepted", whole.head(whole.height - 1), cycle="0001", run_id="cut-off")
    [again] = previewed(project, LINE)["make_again"]
    assert (again["cycle"], again["assets"][0]) == ("0001", "accepted")
    rules_here(project, "rules_apply", LINE)
    assert lake.read(LINE, "accepted", "0001").height == whole.height
    assert previewed(project, LINE)["make_again"] == []


def test_an_edit_that_flips_verdicts_made_again_by_the_commands_of_the_preview_leaves_nothing_stale_also_after_a_further_cycle(  # noqa: E501
    project,
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
    run_here(project, LINE)
    assert stale_now(project, "0001", "0002") == set()
    after = previewed(project, LINE)
    assert (after["make_again"], after["rules"], after["commands"]) == ([], {}, [])


def written_at(lake: Lake, asset: str, cycle: str) -> datetime:
    record = lake.record(LINE, asset, cycle)
    assert record is not None
    return record.created_at


def test_an_edit_is_applied_by_one_command_also_after_kills_and_is_taken_back_by_it(project):
    """Two cycles; the first one's longest program is blocked now, so that the second follows anew."""
    done, lake = ["0001", "0002"], Lake(project.lake)
    assert sealed_cycles(lake, LINE) == done
    rules = project.folder / "seeds" / "rules" / LINE / "readable.md"
    before, kept, limit = contents(project, LINE), rules.read_text(), max(_sizes(project, "0001")) - 1
    rules.write_text(re.sub(r'"most_characters": \d+', f'"most_characters": {limit}', kept))
    edit_rule(project, LINE, "readable", "version: 3", "version: 4")
    for asset, cycle in (("accepted", "0001"), ("opened", "0002")):  # between two writes of a cycle
        old = written_at(lake, asset, cycle)
        kill_when(
            project,
            lambda: written_at(lake, asset, cycle) != old or None,  # noqa: B023
            *("rules", "apply", "--line", LINE, "--yes"),
        )
    [row] = json.loads(project.run("status", "--json").stdout)["lines"]
    assert "half applied: cycle 0001 of 2" in row["rules"]
    assert half_applied_in_the_ui(project) == {"0001"}, "the page of the cycle that was sealed again"
    project.run("rules", "apply", "--line", LINE, "--yes")
    changed = contents(project, LINE)
    assert changed["survivors", "0001"] != before["survivors", "0001"]
    for _ in range(2):
        assert sealed_cycles(lake, LINE) == done and stale_now(project, *done) == set()
        after = previewed(project, LINE)
        assert (after["make_again"], after["rules"], after["commands"]) == ([], {}, [])
        [row] = json.loads(project.run("status", "--json").stdout)["lines"]
        assert (row["rules"], half_applied_in_the_ui(project)) == ("", set())
        rules.write_text(kept)
        rules_here(project, "rules_apply", LINE)
    again = contents(project, LINE)
    different = {key for key in before if again[key] != before[key]}
    counted = {"baseline_notes", "contest_notes"}
    assert {asset for asset, _ in different} <= counted, "which count how often something was noted"


def half_applied_in_the_ui(project: Project) -> set[str | None]:
    """Cycles whose page says in Dagster's UI that rules are half applied."""
    with inside(project), dg.DagsterInstance.get() as instance:
        key = dg.AssetKey([LINE, "story"])
        records = instance.fetch_materializations(key, limit=1000).records
        pages = {made.partition: made for item in reversed(records) if (made := item.asset_materialization)}
    return {cycle for cycle, made in pages.items() if RULES_APPLIED in made.metadata}


def _sizes(project: Project, cycle: str = "%") -> set[int]:
    """Characters of each candidate that passed, of one cycle or of all."""
    lake = Lake(project.lake)
    rows = project.sql(
        "SELECT files_sha FROM programs.candidates JOIN programs.accepted USING (program_id) WHERE passed "
        f"AND accepted.cycle LIKE '{cycle}'"
    )
    return {sum(map(len, json.loads(lake.blobs.get(sha)).values())) for (sha,) in rows}
