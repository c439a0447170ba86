"""A compliance rule of the solvers line is edited: what becomes stale, and what judging again changes. No solver is built or run again."""

from __future__ import annotations

import json
import shutil

import pytest
from designs_fixtures import ROOT, House
from house_steps import contents, edit_rule, flips, materialize
from house_steps import stale as stale_parts
from solvers_fixtures import open_house

from evolake.lake import Lake

pytestmark = pytest.mark.e2e
CYCLES = ["0001", "0002"]
GATES = ("compliance", "binaries", "smoke", "correctness")
REST = (
    "plan", "variants", "benchmark_runs", "metrics", "objectives", "objective_scores", "consensus_ranking", "champion", "holdout_runs",
    "post_mortem", "rule_proposals", "survivors",
)
DOCUMENTS = "solvers-documents"


@pytest.fixture(scope="module")
def house(tmp_path_factory) -> House:
    """Two cycles, on a copy of the seeds whose rules may be edited."""
    folder = tmp_path_factory.mktemp("ruled")
    shutil.copytree(ROOT / "data_lake" / "seeds", folder / "seeds")
    house = open_house(
        folder, EVOLAKE_SEEDS=str(folder / "seeds"), EVOLAKE_SOLVERS__TRAIN_INSTANCES="3", EVOLAKE_SOLVERS__HOLDOUT_INSTANCES="1",
        EVOLAKE_SOLVERS__PAIRS="1",
    )
    house.run("run", "--cycles", "2", "--lines", "solvers")
    return house


def stale(house: House) -> set[tuple[str, str]]:
    return stale_parts(house, "solvers", (*GATES, *REST), CYCLES)


def changelogs(house: House, cycle: str) -> dict[str, int]:
    """variant -> characters of its changelog beside white space."""
    found, lake = {}, Lake(house.lake)
    for row in lake.read("solvers", "variants", cycle).to_dicts():
        folder = house.folder / "unpacked" / row["variant_id"]
        lake.blobs.get_tree(row["archive_sha"], folder)
        found[row["variant_id"]] = len("".join((folder / "CHANGELOG.md").read_text().split()))
    return found


def test_a_rule_that_is_only_versioned_changes_verdicts_and_nothing_that_rests_on_them(house: House):
    assert stale(house) == set()
    before = contents(house, "solvers")
    edit_rule(house, "solvers", "documents", "version: 1", "version: 2")
    assert {pair for pair in stale(house) if pair[0] in GATES} == {(gate, cycle) for gate in GATES for cycle in CYCLES}
    assert not {"plan", "variants"} & {asset for asset, _ in stale(house)}
    for cycle in CYCLES:
        materialize(house, "solvers", cycle, *GATES)
    assert stale(house) == set()
    changed = {pair for pair, sha in contents(house, "solvers").items() if before[pair] != sha}
    assert changed == {(f"{gate}__verdicts", cycle) for gate in GATES for cycle in CYCLES}
    judged = house.sql("SELECT DISTINCT cycle, rule_version FROM verdicts WHERE rule_id = 'solvers-documents' ORDER BY ALL")
    assert judged == [["0000", "1"], ["0001", "2"], ["0002", "2"]]
    assert flips(house, DOCUMENTS, 1, 2) == []


def test_a_stricter_rule_blocks_what_it_touches_and_the_flips_can_be_asked_for(house: House):
    sizes = changelogs(house, "0001")
    short = {variant for variant, size in sizes.items() if size < max(sizes.values())}
    assert 0 < len(short) < len(sizes)
    edit_rule(house, "solvers", "documents", "version: 2", "version: 3")
    edit_rule(house, "solvers", "documents", '"CHANGELOG.md": 20', f'"CHANGELOG.md": {max(sizes.values())}')
    assert {(gate, "0001") for gate in GATES} <= stale(house)
    materialize(house, "solvers", "0001", *GATES)
    assert flips(house, DOCUMENTS, 2, 3) == [[variant, "pass", "block", flips(house, DOCUMENTS, 2, 3)[0][3]] for variant in sorted(short)]
    blocked = house.sql("SELECT variant_id, rule_id FROM solvers.compliance WHERE cycle = '0001' AND NOT passed ORDER BY ALL")
    assert blocked == [[variant, DOCUMENTS] for variant in sorted(short)]
    built = {row[0] for row in house.sql("SELECT variant_id FROM solvers.binaries WHERE cycle = '0001'")}
    assert built == set(sizes) - short
    now = stale(house)
    assert {("benchmark_runs", "0001"), *((gate, "0002") for gate in GATES)} <= now
    assert not {(gate, "0001") for gate in GATES} & now


def test_what_was_blocked_teaches_the_operators_a_rule_that_spares_what_was_accepted(house: House):
    """The analyst and the rule writer of the backend `operators`, on a cycle whose verdicts have changed."""
    blocked = {row[0] for row in house.sql("SELECT variant_id FROM solvers.compliance WHERE cycle = '0001' AND NOT passed")}
    edits = {row[0]: json.loads(row[1]) for row in house.sql("SELECT variant_id, edits FROM solvers.variants")}
    materialize(house, "solvers", "0001", "post_mortem", "rule_proposals")
    findings = house.sql("SELECT title, lesson, evidence FROM solvers.post_mortem WHERE cycle = '0001' AND lesson = 'forbidden'")
    assert {name for row in findings for name in row[2]} == {variant[:12] for variant in blocked}
    assert all("was blocked at compliance" in row[0] for row in findings)
    rows = house.sql("""
        SELECT "check", parameters, evidence, blocked_failed, blocked_accepted, state FROM solvers.rule_proposals
        WHERE cycle = '0001' AND lesson = 'forbidden'""")
    assert len(rows) == len(findings)
    for check, parameters, evidence, blocked_failed, blocked_accepted, state in rows:
        forbidden = json.loads(parameters)["edit"]
        carriers = {variant for variant, made in edits.items() if forbidden in {edit["name"] for edit in made}}
        assert check == "solvers.forbidden_edit"
        assert set(json.loads(evidence)) == carriers & blocked == set(json.loads(blocked_failed))
        assert (state, json.loads(blocked_accepted)) == ("active", [])
