"""Dagster's real code server (`dagster api grpc`), whose runs are forked from a process that has imported
what they need.

Dagster spawns each run and imports everything in it anew: some three of the five cpu seconds of a run of the
toy lines. Here the method is `forkserver`: still a process of its own for each run, with the memory that a
fresh import leaves.

    python forking_server.py MODULE ARGUMENTS OF dagster api grpc ...
"""

from __future__ import annotations

import multiprocessing
import sys
from multiprocessing.context import BaseContext

from dagster._cli import main


def fork_what_is_spawned(*modules: str) -> None:
    """From now on `multiprocessing.get_context("spawn")` gives a fork server in this process (only here: its
    children spawn) that holds `modules`."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(list(modules))
    given = multiprocessing.get_context

    def get_context(method: str | None = None) -> BaseContext:
        return context if method == "spawn" else given(method)

    multiprocessing.get_context = get_context  # type: ignore[assignment]


if __name__ == "__main__":
    module, *arguments = sys.argv[1:]
    fork_what_is_spawned(
        module,
        "dagster._grpc.impl",
        "dagster._core.storage.sqlite_storage",
        "upath",
        "great_expectations",
        "evolake.gates",
        "evolake.report.story",
    )
    sys.argv = ["dagster", "api", "grpc", *arguments, "-m", module]
    main()
