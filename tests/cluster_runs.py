"""One command on this machine alone and once more by a cluster of two hosts, a worker of which is killed on
the way."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import psutil
from compute_cluster import Cluster
from designs_fixtures import ROOT, Project
from two_hosts import Host


@contextmanager
def on_hosts(hosts: tuple[Host, Host], folder: Path) -> Iterator[Cluster]:
    """A scheduler on the first host and a worker on each, with what they write in `folder`."""
    cluster = Cluster(folder)
    try:
        cluster.start_scheduler(hosts[0].address, hosts[0].before)
        for host in hosts:
            cluster.start_worker(host.before, host=host.address)
        yield cluster
    finally:
        cluster.stop()


def worker_below(nanny: int) -> int | None:
    """The worker process that a nanny watches."""
    return next(
        (
            child.pid
            for child in psutil.Process(nanny).children()
            if "spawn_main" in " ".join(child.cmdline())
        ),
        None,
    )


def run_on(cluster: Cluster, host: Host, project: Project, command: Sequence[str], sign: str) -> None:
    """`evolake` with `command`, from `host`, by the workers of `cluster`; the second host's worker is killed
    at the first line that has `sign`.

    Raises AssertionError where the command fails, or no worker was killed.
    """
    killed = None
    parts = []
    with subprocess.Popen(
        [*host.before, str(Path(sys.executable).with_name("evolake")), *command],
        env=project.environment | {"EVOLAKE_COMPUTE": f"dask:{cluster.address}"},
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as run:
        assert run.stdout
        for line in run.stdout:
            parts.append(line)
            if killed is None and sign in line and (killed := worker_below(cluster.processes[2].pid)):
                os.kill(killed, signal.SIGKILL)
    assert run.returncode == 0, "".join(parts)[-4000:]
    assert killed is not None, "".join(parts)[-4000:]
