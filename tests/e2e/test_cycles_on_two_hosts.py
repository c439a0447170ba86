"""Cycles computed by two hosts over a shared folder, one worker killed on the way: the lake of a run on one machine, to the content hash.

Every line that gives work to workers; the prompts line gives none. What a cycle of solvers measures is time, so there what gates said is compared.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from compute_cluster import Cluster
from designs_fixtures import ROOT, House, open_house
from solver_seed_builds import bring_seed
from solvers_fixtures import SEED, share_secret
from solvers_fixtures import SMALL as SOLVERS
from two_hosts import Host, two_hosts

from evolake.lake import Lake

pytestmark = pytest.mark.e2e
FAMILIES = ("clinic-queue", "remainder-subsets")
SIZES = {
    "EVOLAKE_FAMILIES__FAMILIES_PER_CYCLE": "2", "EVOLAKE_FAMILIES__INSTANCES_PER_FAMILY": "9", "EVOLAKE_FAMILIES__PLANTED_FAULTS": "1",
    "EVOLAKE_WORKERS": "2", "EVOLAKE_DESIGNS__BATCH": "8", "EVOLAKE_DESIGNS__DESIGNS_PER_CYCLE": "3",
    "EVOLAKE_DESIGNS__LOW": '{"max_n": 28, "max_steps": 400, "wall_s": 60}', "EVOLAKE_DESIGNS__TUNING_TRIALS": "2",
    "EVOLAKE_DESIGNS__MEDIUM": '{"max_n": 40, "max_steps": 800, "wall_s": 60}',
    "EVOLAKE_DESIGNS__HIGH": '{"max_n": 40, "max_steps": 1600, "wall_s": 60}',
    "EVOLAKE_REPAIR__PROBLEMS": "4", "EVOLAKE_REPAIR__PERTURBED": "1", "EVOLAKE_REPAIR__TRANSFER": "1", "EVOLAKE_REPAIR__SEEDS": "1",
}
CYCLE = ("run", "--cycles", "1", "--at-once", "1", "--lines")
RUN = {"repair": ("repair", "run")} | {line: (*CYCLE, line) for line in ("families", "designs", "solvers")}
TIMED = {"resources", "funnel"}
"""Tables whose content is what a cycle took."""
OF_TIME = {"cpu_s", "wall_s", "peak_mb", "evidence", "evidence_sha", "log_sha", "host", "run_id", "fetched_at"}
"""Columns of the solvers line that hold times, or blobs with times in them."""
GATED = ("plan", "variants", "compliance", "binaries", "compliance__verdicts", "binaries__verdicts", "smoke__verdicts", "correctness__verdicts")


def house_at(folder: Path, **settings: str) -> House:
    """A house with a few seeds of each line."""
    seeds = ROOT / "data_lake" / "seeds"
    (folder / "seeds" / "families").mkdir(parents=True)
    for path in seeds.iterdir():
        if path.name != "families":
            (folder / "seeds" / path.name).symlink_to(path)
    for name in FAMILIES:
        (folder / "seeds" / "families" / name).symlink_to(seeds / "families" / name)
    return open_house(folder, EVOLAKE_SEEDS=str(folder / "seeds"), **SIZES, **settings)


@pytest.fixture(scope="module")
def hosts() -> Iterator[tuple[Host, Host]]:
    with two_hosts() as both:
        yield both


@pytest.fixture(scope="module")
def cluster(hosts: tuple[Host, Host], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A scheduler on the first host and a worker on each."""
    started = Cluster(tmp_path_factory.mktemp("dask"))
    try:
        started.start_scheduler(hosts[0].address, hosts[0].before)
        for host in hosts:
            started.start_worker(host.before, host=host.address)
        yield started
    finally:
        started.stop()


def contents(house: House) -> dict[tuple[str, str, str | None], str]:
    """(line, asset, cycle) -> content hash of every part in force whose content is no time."""
    rows = house.sql("SELECT line, asset, cycle, content_sha FROM parts WHERE state = 'current'")
    return {(line, asset, cycle): sha for line, asset, cycle, sha in rows if asset not in TIMED}


def worker_below(nanny: int) -> int | None:
    """The worker process that a nanny watches."""
    return next((child.pid for child in psutil.Process(nanny).children() if "spawn_main" in " ".join(child.cmdline())), None)


def on_both(
    line: str, hosts: tuple[Host, Host], cluster: Cluster, tmp_path_factory: pytest.TempPathFactory, kill_at: str = "", **settings: str
) -> tuple[House, House]:
    """The line's cycle on this machine alone and by both hosts. kill_at: what the run says when a worker is killed."""
    alone, shared = (house_at(tmp_path_factory.mktemp(f"{line}-{name}"), **settings) for name in ("alone", "shared"))
    if line == "solvers":
        for house in (alone, shared):
            bring_seed(SEED, house.lake)
    alone.run(*RUN[line])
    if line == "solvers":
        share_secret(alone, shared)
    command = [*hosts[0].before, str(Path(sys.executable).with_name("evolake")), *RUN[line], *(["-v"] if kill_at else [])]
    settings = {"EVOLAKE_COMPUTE": f"dask:{cluster.address}"}
    killed = None
    with subprocess.Popen(
        command, env=shared.environment | settings, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    ) as run:
        assert run.stdout
        told = []
        for word in run.stdout:
            told.append(word)
            if kill_at and killed is None and kill_at in word and (killed := worker_below(cluster.processes[2].pid)):
                os.kill(killed, signal.SIGKILL)
    assert run.returncode == 0, "".join(told)[-4000:]
    assert not kill_at or killed is not None
    return alone, shared


def test_two_hosts_and_a_killed_worker_give_the_contents_of_one_machine(
    hosts: tuple[Host, Host], cluster: Cluster, tmp_path_factory: pytest.TempPathFactory
) -> None:
    alone, shared = on_both("families", hosts, cluster, tmp_path_factory, kill_at="0001")
    assert contents(shared) == contents(alone)
    assert {line for line, _, _ in contents(alone)} == {"families"}


@pytest.mark.parametrize("line", ["designs", "repair"])
def test_two_hosts_give_the_contents_of_one_machine(
    line: str, hosts: tuple[Host, Host], cluster: Cluster, tmp_path_factory: pytest.TempPathFactory
) -> None:
    alone, shared = on_both(line, hosts, cluster, tmp_path_factory)
    assert contents(shared) == contents(alone)
    assert {name for name, _, _ in contents(alone)} == {line}


@pytest.mark.attack
def test_two_hosts_make_the_same_solvers_and_judge_them_alike(
    hosts: tuple[Host, Host], cluster: Cluster, tmp_path_factory: pytest.TempPathFactory, requires
) -> None:
    requires("c++")
    alone, shared = on_both("solvers", hosts, cluster, tmp_path_factory, **SOLVERS)

    def gated(house: House) -> dict[str, list[dict]]:
        frames = {name: Lake(house.lake).read("solvers", name, "0001") for name in GATED}
        return {name: frame.drop(OF_TIME & set(frame.columns)).to_dicts() for name, frame in frames.items()}

    assert gated(shared) == gated(alone)
    assert gated(alone)["binaries"] and gated(alone)["variants"]
