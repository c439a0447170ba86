"""Run a whole study: benchmark, study record, cells. Killed at any point, it continues with the next run of
the same command.

Cells of this very study that the lake holds are left as they are. What a killed run had of an unfinished cell
is made again: by operators in a minute, by a model from the call cache at no cost. A model's endpoint is
asked before the first problem. Any HTTP answer counts, an error too: the first call finds out whether the
server takes the prompts. No answer is the user's input gone wrong, not a failure of the machinery.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import polars as pl

from evolake.agents import check_backend
from evolake.compute import open_executor
from evolake.errors import InputError
from evolake.lake import Lake
from evolake.lake.population import current_record, record_before, with_earlier
from evolake.repair.benchmark import benchmark_rows
from evolake.repair.cells import Study, collect, entries_of, is_finished, publish_cell, study_of, submit_cell
from evolake.repair.names import KNOWN_ARMS
from evolake.repair.settings import RepairSettings
from evolake.repair.tables import ATTEMPTS, LINE, PROBLEMS, RESULTS, STUDY, cell_of, parse_cell
from evolake.settings import Settings

PROBE_S = 10.0


def require_endpoint(settings: Settings) -> None:
    """Raise unless the settings' endpoint answers, or no new call will be made (operators, replay only).

    Raises:
        InputError: nothing answers there.
    """
    if settings.backend != "model" or settings.replay_only:
        return
    import httpx2

    address = (settings.model_base_url or "").rstrip("/") + "/models"
    try:
        with httpx2.Client(timeout=PROBE_S, follow_redirects=False) as client:
            client.get(address)
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        raise InputError(
            f"the model endpoint {settings.model_base_url} does not answer",
            wanted="an HTTP answer of any kind",
            got=f"{type(error).__name__}: {error}",
            do="start the server or fix EVOLAKE_MODEL_BASE_URL; or use --backend operators",
        ) from None


AHEAD = 2
PR_SET_PDEATHSIG = 1


@dataclass(frozen=True)
class Outcome:
    """What a run did: the study, the cells it ran and those that were there."""

    study: Study
    ran: tuple[str, ...]
    kept: tuple[str, ...]


@dataclass(frozen=True)
class Progress:
    """What to call: `plan(trials)` once, then `advance(trials)` as they are done, and `cell(name, solved,
    trials)` as each is published."""

    plan: Callable[[int], None]
    advance: Callable[[int], None]
    cell: Callable[[str, int, int], None]


def run_study(
    settings: Settings, arms: Sequence[str], seeds: Sequence[int], run_id: str, progress: Progress
) -> Outcome:
    """Run what is missing of the study that the settings describe.

    Raises:
        InputError: the model backend lacks something, or its endpoint does not answer. Nothing was started.
        PartitionBusy: another run of the study is under way.
        MachineryError: as for `run_trial` and `benchmark_rows`.
    """
    check_backend(settings)
    require_endpoint(settings)
    lake = Lake(settings.require_lake())
    with lake.line_lock(LINE, run_id=run_id), workers(settings) as executor:
        rows = benchmark_rows(settings.of(RepairSettings), settings.seed, executor=executor)
        study = study_of(settings, entries_of(rows))
        publish_study(lake, study, rows, arms, seeds, run_id)
        cells = [cell_of(arm, seed) for seed in seeds for arm in arms]
        kept = [cell for cell in cells if is_finished(lake, cell, study)]
        todo = [cell for cell in cells if cell not in kept]
        progress.plan(len(todo) * len(study.entries))
        waiting = {
            cell: submit_cell(study, cell, settings, lake.root, run_id, executor=executor)
            for cell in todo[:AHEAD]
        }
        for place, cell in enumerate(todo):
            result = collect(waiting.pop(cell), progress.advance)
            if later := todo[place + AHEAD : place + AHEAD + 1]:
                waiting[later[0]] = submit_cell(
                    study, later[0], settings, lake.root, run_id, executor=executor
                )
            publish_cell(lake, cell, result, run_id)
            progress.cell(cell, sum(row["solved"] for row in result.results), len(result.results))
    return Outcome(study, tuple(todo), tuple(kept))


def publish_study(
    lake: Lake, study: Study, problems: list[dict], arms: Sequence[str], seeds: Sequence[int], run_id: str
) -> None:
    """Publish the benchmark and the study's record. Arms and seeds that an earlier run of the same study had
    are kept in the record."""
    lake.publish(LINE, "problems", PROBLEMS.frame(problems), cycle=None, run_id=run_id, schema=PROBLEMS)
    arms, seeds = with_earlier(record_before(lake, LINE), study.sha, arms, seeds, KNOWN_ARMS)
    lake.publish(
        LINE, "study", STUDY.frame([study.row(arms, seeds)]), cycle=None, run_id=run_id, schema=STUDY
    )


@dataclass(frozen=True)
class Stored:
    """What the lake holds of its current study: the record's row, and frames of problems, results and
    attempts of that study alone."""

    study: dict[str, Any]
    problems: pl.DataFrame
    results: pl.DataFrame
    attempts: pl.DataFrame


def read_study(lake: Lake) -> Stored:
    """Return the current study. Cells of an earlier one are left out, and those of arms that its record does
    not name.

    Raises:
        InputError: no study was run in this lake.
    """
    study = current_record(lake, LINE, "evolake repair run")
    results, attempts = [RESULTS.empty()], [ATTEMPTS.empty()]
    for cell in lake.cycles(LINE, "results"):
        if parse_cell(cell)[0] not in study["arms"]:
            continue
        frame = lake.read(LINE, "results", cell)
        if frame["study_sha"].unique().to_list() == [study["study_sha"]]:
            results.append(frame)
            attempts.append(lake.read(LINE, "attempts", cell))
    return Stored(study, lake.read(LINE, "problems"), pl.concat(results), pl.concat(attempts))


@contextmanager
def workers(settings: Settings) -> Iterator[Executor]:
    """Yield the executor of the settings; processes of this machine die with this one. What was not started
    when the block is left by an exception is dropped."""
    executor = open_executor(settings, initializer=become_worker)
    try:
        yield executor
    finally:
        executor.shutdown(wait=True, cancel_futures=True)


def become_worker() -> None:
    """Leaves interrupts to the parent, and asks Linux to end this process when the parent ends, however it
    ends."""
    import ctypes
    import os
    import signal
    import sys

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform == "linux":
        parent = os.getppid()
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            os.kill(os.getpid(), signal.SIGKILL)
