"""A line of a package of its own (tests/sixth_line), installed beside evolake: all that lists lines has it,
no file of evolake names it."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from commands import evolake_apart
from toy_location.site import ROOT, RealSite

from evolake.bundles.container import Bundle, as_json, pack, unpack

pytestmark = pytest.mark.e2e
CYCLES = ["0001", "0002"]
GROUP = ("candidates", "form", "distances", "survivors")
COLUMNS = """query ($key: AssetKeyInput!) { assetNodeOrError(assetKey: $key) { ... on AssetNode { metadataEntries {
    ... on TableSchemaMetadataEntry { schema { columns { name description } } } } } } }"""  # noqa: E501
GROUPS = "{ assetNodes { groupName assetKey { path } } }"


@pytest.fixture(scope="module")
def packages(tmp_path_factory) -> Path:
    """A folder that the package was installed into, as pip does it."""
    folder = tmp_path_factory.mktemp("sixth")
    shutil.copytree(ROOT / "tests" / "sixth_line", folder / "source")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation"]
    command = [*pip, "--target", str(folder / "installed"), str(folder / "source")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder / "installed"


@pytest.fixture(scope="module")
def site(tmp_path_factory, packages) -> Iterator[RealSite]:
    """Two cycles by the daemon, launched as the UI does it."""
    site = RealSite(tmp_path_factory.mktemp("site"), {"PYTHONPATH": str(packages), "EVOLAKE_PROFILE": "demo"})
    site.prepare()
    try:
        site.start()
        assert site.launch_job("golomb_seeds", {}).status == "SUCCESS"
        assert (
            site.launch_job(
                "register_cycles", {"ops": {"add_cycle_keys": {"config": {"how_many": 2}}}}
            ).status
            == "SUCCESS"
        )
        runs = site.finished(site.backfill("golomb", CYCLES, GROUP), seconds=300)
        assert [(run.cycle, run.status) for run in runs] == [(cycle, "SUCCESS") for cycle in CYCLES]
        yield site
    finally:
        site.stop()


def evolake(environment: dict[str, str], *words: str, code: int = 0) -> str:
    """What a command prints; it must end with `code`."""
    command = [str(Path(sys.executable).with_name("evolake")), *words]
    done = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


def asked(environment: dict[str, str], *commands: Sequence[str]) -> list[str]:
    """What each of several commands prints; each must end with 0. One process answers them all."""
    answers = evolake_apart(environment, *commands, cwd=ROOT)
    assert [(done.args, done.returncode) for done in answers] == [(list(words), 0) for words in commands], [
        done.stderr for done in answers
    ]
    return [done.stdout + done.stderr for done in answers]


def test_without_the_package_nothing_knows_the_line():
    assert "golomb" not in evolake(dict(os.environ), "--help")
    files = [
        path
        for folder in ("evolake", "assets", "resources", "pipelines")
        for path in (ROOT / folder).rglob("*.py")
    ]
    assert len(files) > 400
    assert [path for path in (*files, ROOT / "pyproject.toml") if "golomb" in path.read_text().lower()] == []


def test_the_command_line_the_settings_and_the_doctor_have_it(packages):
    environment = {**os.environ, "PYTHONPATH": str(packages)}
    assert "golomb" in evolake(environment, "--help")
    assert "a Golomb ruler" in evolake(environment, "golomb", "0", "1", "4", "6")
    assert "the distance 1 is measured twice" in evolake(environment, "golomb", "0", "1", "2", code=1)
    assert "marks are whole numbers" in evolake(environment, "golomb", "zero", code=2)
    checks = json.loads(evolake(environment, "doctor", "--json"))["checks"]
    assert [check["ok"] for check in checks if check["name"] == "whole numbers of 64 bits"] == [True]
    program = (
        "from evolake.settings import load; from golomb.settings import GolombSettings; "
        "print(load('demo').of(GolombSettings))"
    )
    changed = environment | {"EVOLAKE_GOLOMB__MARKS": "7"}
    read = subprocess.run(
        [sys.executable, "-c", program], env=changed, cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert read.stdout.split() == ["marks=7", "rulers_per_cycle=12"]
    assert "EVOLAKE_GOLOMB__MARKS" in evolake(environment | {"EVOLAKE_GOLOMB__MARKS": "2"}, "status", code=2)


def test_two_cycles_stand_on_each_other_and_every_gate_has_spoken(site):
    assert [site.lake.seals.read("golomb", cycle).state for cycle in (*CYCLES, "0003")] == ["sealed"] * 3
    question = (
        "SELECT gate, count(*) AS asked, count(*) FILTER (outcome = 'block') AS blocked FROM verdicts "
        "GROUP BY gate ORDER BY gate"
    )
    smallest = "SELECT min(length) FROM golomb.survivors"
    stopped = "SELECT count(DISTINCT artifact_id || cycle) FROM artifacts WHERE state = 'blocked'"
    asks = (question, smallest, stopped)
    counted, least, blocked = (
        json.loads(said)["rows"]
        for said in asked(site.environment, *(("sql", "--json", text) for text in asks))
    )
    rows = {row[0]: row[1:] for row in counted}
    assert set(rows) == {"form", "distances"}
    assert rows["form"][0] > rows["distances"][0] == rows["form"][0] - rows["form"][1]
    assert rows["distances"][1] > 0
    assert blocked[0][0] == rows["form"][1] + rows["distances"][1]
    assert 17 <= least[0][0] <= 31  # the optimal ruler of six marks, and the seed


def test_sql_and_the_ui_say_what_its_columns_mean(site):
    tables = evolake(
        site.environment, "sql", "--format", "csv", "SELECT DISTINCT asset FROM parts WHERE line = 'golomb'"
    ).split()[1:]
    assert {"candidates", "form", "incoming_rulers", "opened"} <= set(tables)
    schemas = asked(site.environment, *(("sql", "--schema", f"golomb.{table}", "--json") for table in tables))
    columns = {table: json.loads(said)["rows"] for table, said in zip(tables, schemas, strict=True)}
    for table, rows in columns.items():
        assert [row for row in rows if not row[3]] == [], table
    details = {row[0]: row[3] for row in columns["survivors"]}
    (entry,) = [
        entry
        for entry in site.ask(COLUMNS, key={"path": ["golomb", "survivors"]})["assetNodeOrError"][
            "metadataEntries"
        ]
        if entry
    ]
    assert {column["name"]: column["description"] for column in entry["schema"]["columns"]} == details
    assert details["length"] == "Distance of the last mark from the first; shorter is better."


def test_the_report_the_status_and_the_guidance_have_it(site, tmp_path):
    page = tmp_path / "report.html"
    evolake(
        site.environment,
        "report",
        "--lines",
        "golomb",
        "--out",
        str(page),
        "--figures",
        str(tmp_path / "figures"),
    )
    assert "Golomb rulers" in page.read_text() and "data:image/png;base64" in page.read_text()
    assert [path.name for path in (tmp_path / "figures").iterdir()] == ["the_shortest_ruler.png"]
    status, table, _ = asked(
        site.environment,
        ("status",),
        ("status", "--table"),
        ("guide", "--line", "golomb", "Try shorter ones."),
    )
    assert "golomb: 2 cycles done" in status
    assert re.search(r"^golomb +none yet +- +not measured +- +\d+$", table, re.MULTILINE)
    assert "designs, families, golomb, programs" in evolake(
        site.environment, "guide", "--line", "rulers", "No.", code=2
    )


def test_its_best_is_taken_out_and_checked_without_the_lake(site, tmp_path):
    question = "SELECT ruler_id, length FROM golomb.survivors ORDER BY length, ruler_id"
    best = json.loads(evolake(site.environment, "sql", "--json", question))["rows"][0]
    file, forged = tmp_path / "ruler.tar", tmp_path / "forged.tar"
    evolake(site.environment, "bundle", "export", best[0], "-o", str(file))
    elsewhere = {name: value for name, value in site.environment.items() if name != "DAGSTER_HOME"} | {
        "EVOLAKE_LAKE": str(tmp_path / "none")
    }
    summary = evolake(elsewhere, "bundle", "verify", str(file))
    assert "both pass it" in summary and f"it is {best[1]}, and it claims {best[1]}" in summary
    whole = unpack(file.read_bytes())
    assert isinstance(whole, Bundle)
    forged.write_bytes(pack(whole.facts, {**whole.members, "claims.json": as_json({"length": best[1] - 1})}))
    assert f"it is {best[1]}, and it claims {best[1] - 1}" in evolake(
        elsewhere, "bundle", "verify", str(forged), code=1
    )


def test_the_ui_shows_its_groups(site):
    nodes = [
        (node["groupName"], node["assetKey"]["path"][1])
        for node in site.ask(GROUPS)["assetNodes"]
        if node["assetKey"]["path"][0] == "golomb"
    ]
    assert sorted(nodes) == sorted(
        [("golomb", name) for name in (*GROUP, "incoming", "story")] + [("golomb_seeds", "seeds")]
    )
