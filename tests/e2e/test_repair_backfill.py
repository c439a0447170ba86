"""One "Materialize all" over the whole study, as the Dagster UI sends it: setup, then the cells one after the
other, then the findings."""

from collections.abc import Iterator
from itertools import pairwise

import pytest
from toy_location.site import LAUNCH_BACKFILL, RealSite

from evolake.repair.names import DEFAULT_ARMS
from evolake.repair.tables import cell_of

pytestmark = [pytest.mark.e2e, pytest.mark.slow]
SETUP, CELLS = ("problems", "study"), ("results",)
FINDINGS = ("summary", "comparisons", "convergence", "effort", "frontier", "robustness", "figures")
SIZES = {"PROBLEMS": "6", "SEEDS": "1", "PERTURBED": "1", "TRANSFER": "1"}


@pytest.fixture
def site(tmp_path) -> Iterator[RealSite]:
    site = RealSite(
        tmp_path,
        {"EVOLAKE_WORKERS": "1", **{f"EVOLAKE_REPAIR__{name}": value for name, value in SIZES.items()}},
    )
    site.prepare()
    try:
        site.start()
        yield site
    finally:
        site.stop()


def test_everything_at_once_runs_in_waves_and_cells_never_side_by_side(site):
    assets = [{"path": ["repair", asset]} for asset in (*SETUP, *CELLS, *FINDINGS)]
    answer = site.ask(
        LAUNCH_BACKFILL,
        params={"assetSelection": assets, "allPartitions": True, "tags": [], "fromFailure": False},
    )
    runs = site.finished(answer["launchPartitionBackfill"]["backfillId"], seconds=900)
    assert {run.status for run in runs} == {"SUCCESS"}
    assert runs[0].cycle == runs[-1].cycle == ""
    assert sorted(run.cycle for run in runs[1:-1]) == sorted(cell_of(arm, 0) for arm in DEFAULT_ARMS)
    by_start = sorted(runs, key=lambda run: run.started)
    assert all(before.ended <= after.started for before, after in pairwise(by_start))
    assert by_start[0] == runs[0] and by_start[-1] == runs[-1]
    summary = site.lake.read("repair", "summary")
    assert set(summary["arm"]) == set(DEFAULT_ARMS)
    assert site.lake.read("repair", "figures").height == 6
