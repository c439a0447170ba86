"""Cycles computed by two hosts over a shared folder, one worker killed on the way: the lake of a run on one
machine, to the content hash."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from cluster_runs import on_hosts, run_on
from compute_cluster import Cluster
from designs_fixtures import ROOT, Project, open_project
from two_hosts import Host, two_hosts

pytestmark = pytest.mark.e2e
LINES = {"families": ("clinic-queue", "remainder-subsets")}
SIZES = {
    "EVOLAKE_FAMILIES__FAMILIES_PER_CYCLE": "1",
    "EVOLAKE_FAMILIES__INSTANCES_PER_FAMILY": "9",
    "EVOLAKE_FAMILIES__PLANTED_FAULTS": "1",
    "EVOLAKE_WORKERS": "2",
}
TIMED = {"resources", "funnel"}
"""Tables whose content is what a cycle took."""


def project_at(folder: Path, **settings: str) -> Project:
    """A project with a few seeds of each line."""
    seeds = ROOT / "data_lake" / "seeds"
    (folder / "seeds" / "families").mkdir(parents=True)
    for name in ("rules", "designs", "evidence"):
        (folder / "seeds" / name).symlink_to(seeds / name)
    for name in LINES["families"]:
        (folder / "seeds" / "families" / name).symlink_to(seeds / "families" / name)
    return open_project(folder, EVOLAKE_SEEDS=str(folder / "seeds"), **SIZES, **settings)


@pytest.fixture(scope="module")
def hosts() -> Iterator[tuple[Host, Host]]:
    with two_hosts() as both:
        yield both


@pytest.fixture(scope="module")
def cluster(hosts, tmp_path_factory) -> Iterator[Cluster]:
    with on_hosts(hosts, tmp_path_factory.mktemp("dask")) as started:
        yield started


def contents(project: Project) -> dict[tuple[str, str, str | None], str]:
    """(line, asset, cycle) -> content hash of every part in force whose content is no time."""
    rows = project.sql("SELECT line, asset, cycle, content_sha FROM parts WHERE state = 'current'")
    return {
        (line, asset, cycle): sha
        for line, asset, cycle, sha in rows
        if asset not in TIMED and not asset.endswith("__checks")
    }


def test_two_hosts_and_a_killed_worker_give_the_contents_of_one_machine(hosts, cluster, tmp_path_factory):
    alone, shared = (project_at(tmp_path_factory.mktemp(name)) for name in ("alone", "shared"))
    command = ["run", "--cycles", "1", "--lines", ",".join(LINES), "--at-once", "1"]
    alone.run(*command)
    run_on(cluster, hosts[0], shared, [*command, "-v"], "0001")
    assert contents(shared) == contents(alone)
    assert {line for line, _, _ in contents(alone)} == set(LINES)
