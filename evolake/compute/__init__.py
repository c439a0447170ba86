"""Do heavy work on processes of this machine, or the workers of a Dask cluster, behind one
`concurrent.futures.Executor`.

    EVOLAKE_COMPUTE=local                  a pool of processes (the default)
    EVOLAKE_COMPUTE=dask                   a Dask cluster of processes on this machine, for as long as the run
    EVOLAKE_COMPUTE=dask:tcp://HOST:PORT   the workers of that scheduler

What a task needs is declared with its function (`needs`). A worker takes no task before it has proved itself
(`proof`). Results come in the order in which they were asked for.
"""

from __future__ import annotations

from evolake.compute.needs import needs, timed, trusted
from evolake.compute.opening import are_ours, check_compute, is_local, open_executor
from evolake.compute.remote_jail import Jails, open_jails

__all__ = [
    "Jails",
    "are_ours",
    "check_compute",
    "is_local",
    "needs",
    "open_executor",
    "open_jails",
    "timed",
    "trusted",
]
