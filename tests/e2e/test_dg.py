"""The command `dg`: in the clone, and in a project of somebody else that gets a line by the component
`evolake.Line`."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest
import yaml
from designs_fixtures import ROOT

pytestmark = [pytest.mark.e2e, pytest.mark.slow]
DG = str(Path(sys.executable).with_name("dg"))
PYPROJECT = """
[project]
name = "mine"
version = "0.1"

[tool.dg]
directory_type = "project"

[tool.dg.project]
root_module = "mine"
"""
DEFINITIONS = """
from pathlib import Path
import dagster as dg

@dg.definitions
def defs():
    return dg.load_from_defs_folder(path_within_project=Path(__file__).parent)
"""
OWN = """
import dagster as dg

@dg.asset(deps=[dg.AssetKey(["families", "survivors"])])
def my_own_table() -> None: ...
"""


def environment(home: Path, **more: str) -> dict[str, str]:
    home.mkdir(parents=True, exist_ok=True)
    (home / "dagster.yaml").write_text("telemetry: {enabled: false}\n")
    kept = {name: value for name, value in os.environ.items() if not name.startswith("EVOLAKE_")}
    own = {"DAGSTER_HOME": str(home), "DAGSTER_DG_CLI_TELEMETRY": "0", "VIRTUAL_ENV": sys.prefix}
    return kept | own | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"} | more


def dg(folder: Path, variables: dict[str, str], *words: str, fails: bool = False) -> str:
    done = subprocess.run(
        [DG, *words], cwd=folder, env=variables, capture_output=True, text=True, check=False, timeout=600
    )
    assert (done.returncode != 0) is fails, done.stdout[-2000:] + done.stderr[-4000:]
    return done.stdout if not fails else done.stdout + done.stderr


def keys(listed: str) -> set[str]:
    return {item["asset_key"] for item in json.loads(listed[listed.index("{") :])["assets"]}


def test_dg_works_in_the_clone(tmp_path):
    variables = environment(tmp_path / "home", EVOLAKE_LAKE=str(tmp_path / "lake"), EVOLAKE_PROFILE="demo")
    found = keys(dg(ROOT, variables, "list", "defs", "--json"))
    assert {"families/survivors", "designs/candidates", "utility/summary"} <= found
    dg(ROOT, variables, "check", "defs")
    assert "evolake.Line" in dg(ROOT, variables, "list", "components", "--json")


@pytest.fixture
def mine(tmp_path) -> Path:
    """A project as `create-dagster` lays it out, with an asset that needs a line."""
    package = tmp_path / "mine" / "src" / "mine"
    (package / "defs").mkdir(parents=True)
    (tmp_path / "mine" / "pyproject.toml").write_text(PYPROJECT)
    (package / "__init__.py").write_text("")
    (package / "definitions.py").write_text(DEFINITIONS)
    (package / "defs" / "__init__.py").write_text("")
    (package / "defs" / "own.py").write_text(OWN)
    return tmp_path / "mine"


def test_a_project_gets_a_line_by_ten_lines_of_yaml_and_runs_a_cycle(mine, tmp_path):
    variables = environment(tmp_path / "home", PYTHONPATH=str(mine / "src"))
    dg(mine, variables, "scaffold", "defs", "evolake.Line", "evolution", "--line", "families")
    place = mine / "src" / "mine" / "defs" / "evolution" / "defs.yaml"
    assert len(place.read_text().splitlines()) <= 10
    component = yaml.safe_load(place.read_text())
    component["attributes"]["settings"] |= {"families.families_per_cycle": 2, "workers": 2}
    place.write_text(yaml.safe_dump(component))
    found = keys(dg(mine, variables, "list", "defs", "--json"))
    assert {"my_own_table", "families/survivors"} <= found and "designs/candidates" not in found
    dg(mine, variables, "check", "defs")
    dg(mine, variables, "launch", "--job", "families_seeds")
    dg(mine, variables, "launch", "--job", "register_cycles")
    dg(mine, variables, "launch", "--assets", "group:families", "--partition", "0001")
    lake = mine / "data_lake"
    assert (lake / "seals").is_dir() and (lake / "tables" / "families" / "survivors" / "cycle=0001").is_dir()
    second = mine / "src" / "mine" / "defs" / "second"
    second.mkdir()
    (second / "defs.yaml").write_text(place.read_text().replace("families", "designs", 1))
    refused = dg(mine, variables, "list", "defs", fails=True)
    assert "a project has one component evolake.Line" in refused


def test_dg_dev_serves_the_definitions_of_the_clone(tmp_path):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    variables = environment(tmp_path / "home", EVOLAKE_LAKE=str(tmp_path / "lake"), EVOLAKE_PROFILE="demo")
    process = subprocess.Popen(
        [DG, "dev", "--port", str(port), "--host", "127.0.0.1"],
        cwd=ROOT,
        env=variables,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    query = json.dumps({"query": "{ assetNodes { groupName } }"}).encode()
    asked = urllib.request.Request(
        f"http://127.0.0.1:{port}/graphql", query, {"Content-Type": "application/json"}
    )
    groups: set[str] = set()
    try:
        for _ in range(300):
            try:
                with urllib.request.urlopen(asked, timeout=10) as answer:
                    groups = {node["groupName"] for node in json.load(answer)["data"]["assetNodes"]}
            except OSError:
                time.sleep(1)
            if groups:
                break
    finally:
        os.killpg(process.pid, signal.SIGINT)
        try:
            process.wait(60)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    assert {"families", "designs", "solvers"} <= groups
