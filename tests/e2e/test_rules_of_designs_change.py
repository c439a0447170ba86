"""A rule is edited: which partitions become stale, and what materializing them again changes."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from designs_house import ROOT, House, open_house

pytestmark = pytest.mark.e2e
CYCLES = ["0001", "0002"]
CYCLE_ASSETS = (
    "directions", "candidates", "experiments", "objectives", "objective_scores", "consensus_ranking", "promoted_experiments", "final_scores",
    "final_ranking", "tuning", "meta_review", "survivors",
)
RULED = {"candidates", "objectives"}
"""The assets of a cycle that judge by rules."""


@pytest.fixture(scope="module")
def house(tmp_path_factory) -> House:
    """Two cycles, on a copy of the seeds whose rules may be edited."""
    folder = tmp_path_factory.mktemp("ruled")
    shutil.copytree(ROOT / "data_lake" / "seeds", folder / "seeds")
    house = open_house(folder, EVOLAKE_SEEDS=str(folder / "seeds"))
    house.run("run", "--cycles", "2", "--lines", "designs")
    return house


OBSERVE = """
import dagster as dg
from dagster._core.definitions.observe import observe
from assets.designs.line import rules
with dg.DagsterInstance.get() as instance:
    assert observe([rules], instance=instance).success
"""


def installed(house: House, program: str, *arguments: str) -> None:
    command = [str(Path(sys.executable).with_name(program)), *arguments]
    done = subprocess.run(command, env=house.environment, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-4000:]


def stale(house: House) -> set[tuple[str, str]]:
    """(asset, cycle) of every partition that the UI shows as stale, after the rules have been observed."""
    installed(house, Path(sys.executable).name, "-c", OBSERVE)
    status = '... on AssetNode {{ staleStatus(partition: "{cycle}") }}'
    node = '{asset}_{cycle}: assetNodeOrError(assetKey: {{path: ["designs", "{asset}"]}}) {{' + status + "}}"
    nodes = [node.format(asset=asset, cycle=cycle) for asset in CYCLE_ASSETS for cycle in CYCLES]
    answer = house.folder / "answer.json"
    installed(house, "dagster-graphql", "-m", "pipelines.definitions", "-t", "{" + "\n".join(nodes) + "}", "-o", str(answer))
    found = json.loads(answer.read_text())["data"]
    return {tuple(name.rsplit("_", 1)) for name, node in found.items() if node["staleStatus"] == "STALE"}


def materialize(house: House, asset: str, cycle: str) -> None:
    """One asset of one cycle, as the UI's button does."""
    wanted = ["--select", f"key:designs/{asset}", "--partition", cycle, "-m", "pipelines.definitions"]
    installed(house, "dagster", "asset", "materialize", *wanted)


def edit(house: House, old: str, new: str) -> None:
    """Change the trace rule."""
    path = house.folder / "seeds" / "rules" / "designs" / "trace.md"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def contents(house: House) -> dict[tuple[str, str], str]:
    rows = house.sql("SELECT asset, cycle, content_sha FROM parts WHERE line = 'designs' AND state = 'current' AND cycle IS NOT NULL")
    return {(asset, cycle): sha for asset, cycle, sha in rows}


def test_a_rule_that_is_only_versioned_touches_verdicts_and_nothing_downstream(house: House):
    assert stale(house) == set()
    before = contents(house)
    edit(house, "version: 1", "version: 2")
    assert {(asset, cycle) for asset, cycle in stale(house) if asset in RULED} == {(asset, cycle) for asset in RULED for cycle in CYCLES}
    for cycle in CYCLES:
        for asset in sorted(RULED):
            materialize(house, asset, cycle)
    assert stale(house) == set()
    changed = {asset for (asset, cycle), sha in contents(house).items() if before[asset, cycle] != sha}
    assert changed == {"candidates__verdicts", "objectives__verdicts"}
    versions = house.sql("SELECT DISTINCT rule_version FROM designs.candidates__verdicts WHERE rule_id = 'designs-trace'")
    assert versions == [["2"]]
    flips = json.loads(house.run(
        "sql", "--file", "sql/cookbook/verdict_flips.sql", "-p", "rule_id=designs-trace", "-p", "before=1", "-p", "after=2", "--format", "json",
    ).stdout)
    assert flips["rows"] == []


def test_a_stricter_rule_blocks_what_it_touches_and_the_flips_can_be_asked_for(house: House):
    accepted = house.sql("SELECT count(*) FROM designs.candidates WHERE cycle = '0001' AND state = 'accepted'")[0][0]
    assert accepted > 0
    edit(house, "version: 2", "version: 3")
    edit(house, '"max_nodes": 5000', '"max_nodes": 3')
    assert ("candidates", "0001") in stale(house)
    materialize(house, "candidates", "0001")
    assert house.sql("SELECT count(*) FROM designs.candidates WHERE cycle = '0001' AND state = 'accepted'") == [[0]]
    flips = json.loads(house.run(
        "sql", "--file", "sql/cookbook/verdict_flips.sql", "-p", "rule_id=designs-trace", "-p", "before=2", "-p", "after=3", "--format", "json",
    ).stdout)
    assert len(flips["rows"]) == accepted
    assert ("experiments", "0001") in stale(house)
    assert ("candidates", "0001") not in stale(house)
