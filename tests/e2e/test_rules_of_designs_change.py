"""A rule is edited: which partitions become stale, and what materializing them again changes."""

from __future__ import annotations

import shutil

import pytest
from designs_fixtures import ROOT, House, open_house
from house_steps import contents, edit_rule, flips, materialize
from house_steps import stale as stale_parts

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


def stale(house: House) -> set[tuple[str, str]]:
    return stale_parts(house, "designs", CYCLE_ASSETS, CYCLES)


def test_a_rule_that_is_only_versioned_touches_verdicts_and_nothing_downstream(house: House):
    assert stale(house) == set()
    before = contents(house, "designs")
    edit_rule(house, "designs", "trace", "version: 1", "version: 2")
    assert {(asset, cycle) for asset, cycle in stale(house) if asset in RULED} == {(asset, cycle) for asset in RULED for cycle in CYCLES}
    for cycle in CYCLES:
        for asset in sorted(RULED):
            materialize(house, "designs", cycle, asset)
    assert stale(house) == set()
    changed = {asset for (asset, cycle), sha in contents(house, "designs").items() if before[asset, cycle] != sha}
    assert changed == {"candidates__verdicts", "objectives__verdicts"}
    versions = house.sql("SELECT DISTINCT rule_version FROM designs.candidates__verdicts WHERE rule_id = 'designs-trace'")
    assert versions == [["2"]]
    assert flips(house, "designs-trace", 1, 2) == []


def test_a_stricter_rule_blocks_what_it_touches_and_the_flips_can_be_asked_for(house: House):
    accepted = house.sql("SELECT count(*) FROM designs.candidates WHERE cycle = '0001' AND state = 'accepted'")[0][0]
    assert accepted > 0
    edit_rule(house, "designs", "trace", "version: 2", "version: 3")
    edit_rule(house, "designs", "trace", '"max_nodes": 5000', '"max_nodes": 3')
    assert ("candidates", "0001") in stale(house)
    materialize(house, "designs", "0001", "candidates")
    assert house.sql("SELECT count(*) FROM designs.candidates WHERE cycle = '0001' AND state = 'accepted'") == [[0]]
    assert len(flips(house, "designs-trace", 2, 3)) == accepted
    assert ("experiments", "0001") in stale(house)
    assert ("candidates", "0001") not in stale(house)
