"""A gate's asset does its gate: evidence that is stored is reused, and what is missing is made, for real, in
the jail."""

import json
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import dagster as dg
import pytest
from designs_fixtures import pin_secret
from families_fixtures import judged, seed_family

import assets.families.judge as judging
from assets.families.line import line, rules
from assets.families.propose import candidates
from assets.line import register_keys
from evolake.families.evolution.records import candidate_row
from evolake.families.gates.specs import GATES
from evolake.families.sandbox.running import PRELOAD
from evolake.families.tables import CANDIDATES
from evolake.gates import gates_of_assets
from evolake.jail import open_pool
from evolake.lake import VERDICTS, Lake, side_table
from evolake.lake.secret import lake_secret, secret_seed
from evolake.settings import Settings
from resources.compute import ComputeResource
from resources.lake import LakeIOManager, LakeResource
from resources.run_settings import RunSettings

CYCLE = "0001"
Materialize = Callable[..., dict[str, str]]


@pytest.fixture(scope="module")
def row_of(tmp_path_factory) -> Iterator[Callable[[Lake], dict[str, Any]]]:
    """(lake) -> the row of CANDIDATES of a family that passes every gate, with its evidence in the lake."""
    pinned = tmp_path_factory.mktemp("pinned")
    pin_secret(pinned)
    root_seed = secret_seed(lake_secret(pinned), Settings().seed, line.name, "gates")
    with open_pool(workers=1, preload=PRELOAD) as pool:
        results = judged(seed_family("clinic-queue"), pool, root_seed=root_seed)
    assert results.accepted
    yield lambda lake: candidate_row(results, lake.blobs, cycle=CYCLE, origin="operators")


@pytest.fixture
def gates(tmp_path, monkeypatch) -> Iterator[tuple[Lake, Materialize]]:
    """(lake, materialize): gives what each asset says of its evidence."""
    pin_secret(tmp_path)
    monkeypatch.setenv("EVOLAKE_LAKE", str(tmp_path))
    monkeypatch.setenv("EVOLAKE_WORKERS", "1")
    monkeypatch.setattr(judging, "archive", lambda store: SimpleNamespace(known=list))
    lake = LakeResource()
    with dg.DagsterInstance.ephemeral() as instance:
        register_keys(instance, "families", [CYCLE])

        def materialize(*names: str) -> dict[str, str]:
            chosen = [judging.gates[name] for name in names or judging.gates]
            done = dg.materialize(
                [line.incoming, rules, candidates, *judging.gates.values()],
                selection=[item.key for item in chosen],
                partition_key=CYCLE,
                instance=instance,
                resources={
                    "lake": lake,
                    "io_manager": LakeIOManager(lake=lake, settings=RunSettings()),
                    "compute": ComputeResource(),
                },
            )
            result = {
                item.key.path[-1]: done.asset_materializations_for_node(item.op.name)[0] for item in chosen
            }
            return {name: str(made.metadata["evidence"].value) for name, made in result.items()}

        yield lake.open(), materialize


def publish(lake: Lake, row: dict[str, Any], *lost: str) -> None:
    """The candidate, without its references to the evidence of the gates `lost`."""
    kept = {gate: sha for gate, sha in json.loads(row["evidence"]).items() if gate not in lost}
    frame = CANDIDATES.frame([row | {"evidence": json.dumps(kept)}])
    lake.publish("families", "candidates", frame, cycle=CYCLE, run_id="r", schema=CANDIDATES)


def contents(lake: Lake) -> dict[str, str]:
    names = [name for asset in judging.gates for name in (asset, side_table(asset, VERDICTS))]
    return {name: lake.record("families", name, CYCLE).content_sha for name in names}


def test_evidence_that_is_stored_is_reused_and_lost_evidence_is_made_again_with_the_same_content(
    gates, row_of
):
    lake, materialize = gates
    row = row_of(lake)
    publish(lake, row)
    counts = {asset: len(of) for asset, of in gates_of_assets(GATES).items()}
    assert materialize() == {asset: f"{count} reused, 0 made" for asset, count in counts.items()}
    before = contents(lake)
    publish(lake, row, "consensus", "blind")
    assert materialize("consensus_labels", "blind_reviews") == {
        "consensus_labels": "0 reused, 1 made",
        "blind_reviews": "2 reused, 0 made",
    }
    publish(lake, row, "blind")
    lake.publish(
        "families",
        "further_consensus_labels",
        judging.FURTHER.empty(),
        cycle=CYCLE,
        run_id="r",
        schema=judging.FURTHER,
    )
    assert materialize("blind_reviews") == {"blind_reviews": "1 reused, 1 made"}
    assert contents(lake) == before


def test_a_candidate_without_any_evidence_goes_through_all_gates(gates, row_of):
    lake, materialize = gates
    publish(lake, row_of(lake), *(gate.name for gate in GATES))
    said = materialize()
    (first, at_first), *later = [(asset, len(of)) for asset, of in gates_of_assets(GATES).items()]
    assert said == {
        first: f"{at_first - 1} reused, 1 made",
        **{asset: f"{count} reused, 0 made" for asset, count in later},
    }
    assert (
        lake.read("families", "blind_reviews", CYCLE)["passed"].all()
        and lake.read("families", "blind_reviews", CYCLE).height == 5
    )
