"""From the setting to an executor."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from concurrent.futures import Executor
from typing import TYPE_CHECKING

from evolake.compute.local import LocalExecutor
from evolake.errors import InputError
from evolake.project import install
from evolake.scratch import Scratch
from evolake.settings import Settings

if TYPE_CHECKING:
    from distributed import Client

    from evolake.compute.proof import Demand

LOCAL = "local"
PASSED_ON = {"EVOLAKE_PROOF_TOOLS"}
"""Variables that are no settings and that tasks read."""
UNRUNNABLE = "10 minutes"
"""After so long without a worker that may take it, a task of a cluster of our own fails."""


def open_executor(
    settings: Settings, workers: int = 0, initializer: Callable[[], None] | None = None
) -> Executor:
    """Return the executor that `settings.compute` names. Shut it down.

    Args:
        workers: processes of this machine, where they are ours; 0: the settings' number. initializer: what
            each process of a local pool begins with.

    Raises:
        InputError: the extra `cluster` is not installed, or no scheduler answers. ComputeUnavailable: see
            `cluster.admit`.
    """
    count = workers or settings.workers
    if is_local(settings):
        return LocalExecutor(count, initializer)
    require_dask()
    from evolake.compute.cluster import admit, connect

    demand = demand_of(settings)
    address = address_of(settings.compute)
    client, close = (connect(address), lambda: None) if address else local_cluster(count)
    try:
        return admit(client, demand, close)
    except BaseException:
        client.close()
        close()
        raise


def check_compute(settings: Settings) -> None:
    """Raise as `open_executor` where the workers that the settings name cannot be used. Opens none of this
    machine."""
    if not is_local(settings):
        require_dask()
    if not are_ours(settings):
        open_executor(settings).shutdown()


def is_local(settings: Settings) -> bool:
    """Return whether there is no cluster at all."""
    return settings.compute == LOCAL


def are_ours(settings: Settings) -> bool:
    """Return whether the workers are processes that evolake starts on this machine."""
    return not address_of(settings.compute)


def address_of(compute: str) -> str:
    """Return HOST:PORT with its protocol; "" where the cluster is of this machine."""
    return compute.partition(":")[2]


def demand_of(settings: Settings) -> Demand:
    """Return what workers of these settings must show. Marks the lake."""
    from evolake.compute.proof import Demand, identity, mark_lake

    root = settings.require_lake().absolute()
    values = {
        "LAKE": root,
        "SEEDS": settings.seeds.absolute(),
        "JAIL": settings.jail,
        "PROFILE": settings.profile,
    }
    passed_on = {name: os.environ[name] for name in PASSED_ON & os.environ.keys()}
    environment = {f"EVOLAKE_{name}": str(value) for name, value in values.items()} | passed_on
    return Demand(identity(), str(root), mark_lake(root), environment)


def require_dask() -> None:
    """Raise InputError where Dask is not installed."""
    from importlib.util import find_spec

    if find_spec("distributed") is None:
        raise InputError(
            "EVOLAKE_COMPUTE names a Dask cluster, and Dask is not installed", do=install("cluster")
        )


def local_cluster(count: int) -> tuple[Client, Callable[[], None]]:
    """Return a client of `count` worker processes of one thread on this machine, which end with this one, and
    what ends them."""
    from dask import config
    from distributed import LocalCluster

    folder = Scratch("dask", ignore_cleanup_errors=True)
    with config.set({"distributed.scheduler.no-workers-timeout": UNRUNNABLE}):
        cluster = LocalCluster(
            n_workers=count,
            threads_per_worker=1,
            processes=True,
            memory_limit=0,
            silence_logs=logging.ERROR,
            local_directory=folder.name,
            dashboard_address=None,  # pyright: ignore[reportArgumentType]  (which means none)
        )

    def close() -> None:
        cluster.close()
        folder.cleanup()

    return cluster.get_client(), close
