"""All seven arms through Dagster: the partitions follow the setting, and the checks and findings hold for the opt-in arms."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from evolake.lake import Lake
from evolake.repair.names import ARMS, KNOWN_ARMS

pytestmark = pytest.mark.e2e
SIZES = {"PROBLEMS": "6", "SEEDS": "1", "PERTURBED": "1", "TRANSFER": "1"}
STUDY = """
import dagster as dg
from pipelines.definitions import defs, studies

[study] = [built.study for built in studies if built.study.name == "repair"]
print(*study.cells)
with dg.DagsterInstance.ephemeral() as instance:
    for job, cell in [("repair_setup", None), *(("repair_study", cell) for cell in study.cells), ("repair_findings", None)]:
        done = defs.resolve_job_def(job).execute_in_process(instance=instance, partition_key=cell, raise_on_error=False)
        assert done.success, (job, cell, [one.check_name for one in done.get_asset_check_evaluations() if not one.passed])
"""


def test_seven_arms_are_cells_that_pass_their_checks_and_are_found_over(tmp_path: Path):
    kept = {name: value for name, value in os.environ.items() if not name.startswith("EVOLAKE_")}
    environment = kept | {f"EVOLAKE_REPAIR__{name}": value for name, value in SIZES.items()} | {
        "EVOLAKE_REPAIR__ARMS": json.dumps(KNOWN_ARMS), "EVOLAKE_LAKE": str(tmp_path / "lake"), "EVOLAKE_WORKERS": "1",
    }
    done = subprocess.run([sys.executable, "-c", STUDY], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.split() == [f"{arm}-0" for arm in KNOWN_ARMS]
    lake = Lake(tmp_path / "lake")
    assert lake.read("repair", "study")["arms"].to_list() == [list(KNOWN_ARMS)]
    main = lake.read("repair", "summary").filter((pl.col("suite") == "lia") & (pl.col("variation") == "none"))
    assert main["arm"].to_list() == list(KNOWN_ARMS) and set(main["runs"]) == {6}
    assert lake.read("repair", "comparisons").height == 2 * 15
    assert lake.read("repair", "figures").height == 6
    assert lake.read("repair", "robustness")["arm"].n_unique() == 7 > len(ARMS)
