"""Who is champion, since when and with which gain: `status`, `champion`, the report and the ancestry say the
same."""

import json
import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from solver_lake import ID, make_lake

from evolake.cli import cli
from evolake.designs.tables import RANKING
from evolake.errors import InputError
from evolake.lake import ARTIFACTS, CHAMPIONS, Catalogue, Lake, side_table
from evolake.project import BROUGHT
from evolake.report.champion import champion_of
from evolake.report.lines import read_sections
from evolake.report.pages import plain

GAIN = "2.00 times lower cost than alpha"
SPREAD = "95% interval 1.90 to 2.10, noise floor 1.01"


@pytest.fixture(scope="module")
def root(tmp_path_factory) -> Path:
    """Two cycles of solvers; `fast` wins the title in the second."""
    root = tmp_path_factory.mktemp("lake")
    make_lake(root)
    return root


def evolake(root: Path, *words: str) -> Result:
    return CliRunner().invoke(cli, words, env={"EVOLAKE_LAKE": str(root)})


def published(
    lake: Lake,
    table: object,
    rows: list[dict],
    cycle: str | None,
    line: str = "other",
    asset: str = "survivors",
) -> None:
    lake.publish(line, side_table(asset, table), table.frame(rows), cycle=cycle, run_id="r", schema=table)  # type: ignore[attr-defined]


def crowned_lake(root: Path, *ids: str, seeded: str | None = None) -> Lake:
    """A line `other` whose cycles ended with these champions, all of them finished."""
    lake = Lake(root)
    for number, name in enumerate(ids, start=1):
        cycle = f"{number:04d}"
        row = {
            "artifact_id": name,
            "line": "other",
            "kind": "thing",
            "cycle": cycle,
            "state": "champion",
            "content_sha": "c",
            "title": name,
        }
        published(lake, ARTIFACTS, [row], cycle)
        published(
            lake,
            CHAMPIONS,
            [{"line": "other", "cycle": cycle, "artifact_id": name, "score": number / 10}],
            cycle,
        )
    if seeded:
        published(
            lake,
            CHAMPIONS,
            [{"line": "other", "cycle": "0000", "artifact_id": seeded, "score": None}],
            None,
            asset="seeds",
        )
    for number in range(1, len(ids) + 2):
        lake.seals.seal("other", f"{number:04d}", f"v{number}", f"v{number - 1}" if number > 1 else None, "r")
    return lake


def holder(lake: Lake, cycle: str | None = None) -> tuple[str, str, str] | None:
    """(who, as of, since)."""
    with Catalogue(lake) as catalogue:
        result = champion_of(lake, catalogue, "other", cycle)
    return result and (result.artifact_id, result.cycle, result.since)


def test_all_places_say_who_since_when_with_which_gain(root):
    [status] = json.loads(evolake(root, "status", "--json").stdout)["lines"]
    summary = json.loads(evolake(root, "champion", "solvers", "--json").stdout)
    page = plain(read_sections(root, ["solvers"])[0].headline)
    assert (status["champion_id"], status["champion_since"], status["gain"]) == (
        summary["artifact_id"],
        summary["since"],
        summary["gain"],
    )
    assert (summary["artifact_id"], summary["since"], summary["cycle"]) == (ID["fast"], "0002", "0002")
    assert (
        summary["gain"]["estimate"],
        summary["gain"]["low"],
        summary["gain"]["high"],
        summary["gain"]["noise_floor"],
    ) == (2.0, 1.9, 2.1, 1.01)
    assert status["champion"] == f"<b>fast</b> ({ID['fast'][:12]}) since cycle 0002"
    assert (
        f"The new champion is <b>fast</b> ({ID['fast'][:12]}), descends from alpha: {GAIN} "
        f"({ID['alpha'][:12]}) ({SPREAD})" in page
    )
    for words in (("status",), ("champion", "solvers")):
        said = evolake(root, *words).stdout
        assert f"{GAIN} ({SPREAD}), PAR-2 1.15 s against 2.3 s on 8 formulas, 2 pairs each" in said
        assert "since cycle 0002" in said


def test_the_champion_is_the_last_of_its_own_ancestry_everywhere(root):
    wanted = [("0000", ID["alpha"]), ("0001", ID["tuned"]), ("0002", ID["fast"])]
    summary = json.loads(evolake(root, "champion", "solvers", "--json").stdout)
    asked = json.loads(
        evolake(
            root, "sql", "--file", "cookbook/champion_ancestors.sql", "-p", "line=solvers", "--json"
        ).stdout
    )["rows"]
    assert [(row[0], row[1]) for row in asked] == wanted
    assert summary["ancestors"] == len(wanted) - 1
    section = read_sections(root, ["solvers"])[0].body.partition("Ancestry of the champion")[2]
    assert re.findall(r'<td>(\d{4})</td><td><code title="(\w{64})"', section) == wanted


def test_a_report_of_an_earlier_cycle_has_the_champion_of_its_time(root):
    body = read_sections(root, ["solvers"], "0001")[0].body
    assert "The champion, since cycle 0001, is <b>alpha</b>" in body
    assert f'<code title="{ID["alpha"]}"' in body.partition("Ancestry of the champion")[2]


@pytest.mark.parametrize(
    ("ids", "wanted"),
    [
        ("a", ("a", "0001", "0001")),
        ("aab", ("b", "0003", "0003")),
        ("abbb", ("b", "0004", "0002")),
        ("abaa", ("a", "0004", "0003")),
    ],
)
def test_a_champion_reigns_since_the_first_cycle_without_a_break(tmp_path, ids, wanted):
    lake = crowned_lake(tmp_path, *ids)
    assert holder(lake) == wanted
    assert holder(lake, "0001") == (ids[0], "0001", "0001")


def test_a_cycle_that_is_not_finished_crowns_nobody(tmp_path):
    lake = crowned_lake(tmp_path, "a", "b")
    lake.seals.reopen("other", "0003", "again")
    assert holder(lake) == ("a", "0001", "0001")
    assert json.loads(evolake(tmp_path, "status", "--json").stdout)["lines"][0]["champion_id"] == "a"


@pytest.mark.parametrize(
    ("line", "what", "do"),
    [
        ("families", "families has no champion", "evolake families gallery"),
        ("repair", "repair has no champion", "evolake repair report"),
        ("nothing", "no line 'nothing'", "evolake status"),
    ],
)
def test_a_line_without_a_champion_says_what_to_look_at_instead(root, line, what, do):
    error = evolake(root, "champion", line).exception
    assert isinstance(error, InputError)
    assert what in error.what and do in (error.do or "")


def test_the_example_of_the_tasks_shows_the_newest_cycle_and_no_other(tmp_path):
    lake = Lake(tmp_path)
    for cycle in ("0001", "0002"):
        rows = [{"design_id": f"{cycle}-{rank}", "cycle": cycle, "rank": rank} for rank in range(1, 8)]
        lake.publish("designs", "final_ranking", RANKING.frame(rows), cycle=cycle, run_id="r", schema=RANKING)
    [example] = re.findall(
        r"`evolake (sql \"SELECT \* FROM designs\.final_ranking [^`]*)`",
        (BROUGHT / "docs" / "tasks.md").read_text(),
    )
    done = evolake(tmp_path, *shlex.split(example), "--json")
    result = json.loads(done.stdout)
    assert [row[result["columns"].index("design_id")] for row in result["rows"]] == [
        f"0002-{rank}" for rank in range(1, 6)
    ]
