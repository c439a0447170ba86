"""OpenLineage: its package wraps Dagster's event log, as docs/operations.md says, and sends what was made."""

import json
import re
import subprocess
import sys

import yaml
from designs_fixtures import ROOT

RUN = """
import sys, pathlib, dagster as dg, polars as pl
from assets.line import Line, register_keys
from resources.by_name import resources_by_name

line = Line("toyshop", "Toys.")

@line.asset()
def toys() -> pl.DataFrame:
    return pl.DataFrame({"toy": ["ball"]})

@dg.asset_check(asset=toys)
def there():
    return dg.AssetCheckResult(passed=True)

jobs = [dg.define_asset_job("cycle", dg.AssetSelection.assets(toys))]
defs = dg.Definitions(assets=[toys], asset_checks=[there], resources=resources_by_name(), jobs=jobs)
with dg.DagsterInstance.from_config(sys.argv[1]) as instance:
    register_keys(instance, "toyshop", ["0001"])
    assert defs.resolve_job_def("cycle").execute_in_process(instance=instance, partition_key="0001").success
"""


def test_a_cycle_is_sent_to_a_file(tmp_path):
    home, sent = tmp_path / "home", tmp_path / "events.jsonl"
    home.mkdir()
    page = (ROOT / "docs" / "operations.md").read_text()
    [text] = [found for found in re.findall(r"```yaml\n(.+?)```", page, re.DOTALL) if "openlineage" in found]
    (home / "dagster.yaml").write_text(
        yaml.safe_dump(yaml.safe_load(text.replace("/srv/evolake/dagster", str(home))))
    )
    (tmp_path / "openlineage.yml").write_text(
        f"transport: {{type: file, log_file_path: {sent}, append: true}}\n"
    )
    environment = {
        "PATH": "/usr/bin:/bin",
        "HOME": str(tmp_path),
        "PYTHONPATH": str(ROOT),
        "DAGSTER_HOME": str(home),
        "EVOLAKE_LAKE": str(tmp_path / "lake"),
        "OPENLINEAGE_CONFIG": str(tmp_path / "openlineage.yml"),
    }
    done = subprocess.run(
        [sys.executable, "-c", RUN, str(home)],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    events = [json.loads(line) for line in sent.read_text().splitlines()]
    assert "toyshop/toys" in {item["name"] for event in events for item in event.get("outputs", ())}
    assert "COMPLETE" in {event["eventType"] for event in events}
    assert '"assertion"' in sent.read_text(), "the check is sent too"
