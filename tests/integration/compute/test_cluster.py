"""Compute on a real Dask cluster: who may work, what is asked of whom, and what a death costs."""

import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import BrokenExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from compute_cluster import Cluster, running
from compute_tasks import answer, die, die_once, place

from evolake.cli import cli
from evolake.cli.ending import end
from evolake.compute import open_executor, open_jails
from evolake.compute.cluster import ClusterExecutor, admit, ask, connect
from evolake.compute.local import ComputeUnavailable, WorkersLost
from evolake.compute.opening import demand_of
from evolake.errors import InputError
from evolake.jail import Call
from evolake.jail.canary import ATTEMPTS
from evolake.jail.protocol import GENERIC_DRIVER
from evolake.settings import Settings, load

pytest.importorskip("distributed")
SOURCE = "def twice(x):\n    return 2 * x\n"


@pytest.fixture(scope="module")
def lake(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("lake")


@pytest.fixture(scope="module")
def cluster(tmp_path_factory) -> Iterator[Cluster]:
    with running(tmp_path_factory.mktemp("dask")) as started:
        yield started


@pytest.fixture(scope="module")
def settings(cluster, lake) -> Settings:
    return load("demo", lake=lake, compute=f"dask:{cluster.address}")


@pytest.fixture
def executor(settings) -> Iterator[ClusterExecutor]:
    opened = open_executor(settings)
    assert isinstance(opened, ClusterExecutor)
    yield opened
    opened.shutdown()


def test_tasks_run_elsewhere_under_the_settings_of_the_run_and_come_back_in_order(executor, lake):
    result = list(executor.map(place, range(8)))
    assert [number for number, _, _ in result] == list(range(8))
    assert os.getpid() not in {pid for _, pid, _ in result}
    assert {summary for _, _, summary in result} == {str(lake)}
    assert executor.slots == 2


def test_candidates_run_in_the_jails_of_workers_with_the_outcomes_of_this_host(executor, settings):
    calls = [Call(GENERIC_DRIVER, SOURCE, {"function": "twice", "args": [number]}) for number in range(4)]
    calls.append(
        Call(
            GENERIC_DRIVER, "def twice(x):\n    raise ValueError('no')\n", {"function": "twice", "args": [1]}
        )
    )
    with open_jails(executor, 1, (), settings.jail) as far, open_jails(None, 1, (), settings.jail) as near:
        parts = [
            [(item.status, item.value, item.reason, item.jail) for item in pool.map(calls)]
            for pool in (far, near)
        ]
    assert type(far) is not type(near)
    assert parts[0] == parts[1]
    assert [value for _, value, _, _ in parts[0]] == [0, 2, 4, 6, None]


def test_what_a_task_raises_is_raised_here(executor):
    with pytest.raises(InputError, match="no profile named 'nix'"):
        executor.submit(load, "nix").result()


def test_a_task_whose_worker_is_killed_is_done_once_by_another(executor, tmp_path):
    flag = tmp_path / "died"
    assert executor.submit(die_once, str(flag)).result(120) == "done"
    assert flag.read_text() == "done\n"


def test_a_task_that_kills_every_worker_is_a_failure_of_the_machinery(executor):
    with pytest.raises(WorkersLost, match="no worker that lived") as caught:
        executor.submit(die).result(240)
    assert isinstance(caught.value, BrokenExecutor)
    assert executor.submit(answer).result(120) == 42


def test_a_worker_without_a_jail_gets_no_candidate_and_says_why(cluster, settings, tmp_path):
    broken = tmp_path / "bwrap"
    broken.write_text('#!/bin/sh\n[ "$1" = --version ] && exec echo bubblewrap 0.11.0\nexit 1\n')
    broken.chmod(0o755)
    alone = Cluster(tmp_path)
    try:
        alone.start_scheduler()
        alone.start_worker(nanny=False, environment={"PATH": f"{tmp_path}:{os.environ['PATH']}"})
        with connect(alone.address) as client:
            proof = next(iter(ask(client, demand_of(settings)).values()))
            assert proof.problems == () and proof.no_jail
            with pytest.raises(ComputeUnavailable, match="no worker has a jail"):
                admit(client, demand_of(settings))
            only = ClusterExecutor(client, demand_of(settings), {})
            assert only.submit(answer).result(60) == 42
            asked = only.submit(place, 1)
            assert only.submit(answer).result(60) == 42
            assert not asked.done()
    finally:
        alone.stop()


def test_another_version_or_another_lake_is_an_error_before_any_work(settings, cluster):
    demand = demand_of(settings)
    with connect(cluster.address) as client:
        for other, what in (
            (replace(demand, wanted=dict(demand.wanted) | {"numpy": "1.0"}), "numpy .* instead of 1.0"),
            (
                replace(demand, wanted=dict(demand.wanted) | {"code": "0" * 64}),
                "code .* instead of 000000000000",
            ),
            (replace(demand, lake="/nowhere"), "the lake is not seen: /nowhere: No such file"),
            (replace(demand, mark="x"), "is another lake here"),
        ):
            with pytest.raises(ComputeUnavailable, match=what):
                admit(client, other)


def test_doctor_lists_the_workers(cluster, lake, monkeypatch, capsys):
    monkeypatch.setenv("EVOLAKE_COMPUTE", f"dask:{cluster.address}")
    monkeypatch.setenv("EVOLAKE_LAKE", str(lake))
    end(cli, ["doctor"])
    summary = capsys.readouterr().out
    assert f"compute: {cluster.address}: 2 of 2 workers can take all work" in summary
    assert summary.count(f"1 threads, 1 cores; the lake is seen; jail: {len(ATTEMPTS)} attempts refused") == 2


def test_a_cluster_of_this_machine_ends_with_the_process_that_opened_it(lake):
    script = (
        "from pathlib import Path; import sys\nfrom evolake.settings import load\nfrom evolake.compute "
        "import open_executor, trusted\nimport os\n"
        "if __name__ == '__main__':\n    executor = open_executor(load(lake=Path(sys.argv[1]), "
        "compute='dask'), 1)\n"
        "    print(executor.submit(os.getpid).result())\n    executor.shutdown()\n"
    )
    summary = subprocess.run(
        [sys.executable, "-c", script, str(lake)], capture_output=True, text=True, check=True
    )
    assert not Path("/proc", summary.stdout.strip()).exists()
