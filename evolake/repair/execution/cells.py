"""One cell of a study: all problems, one arm, one seed. Rows go to the lake together, results last, so a cell
is there whole or is run again.

Operators are spread over an executor by chunks of problems; a model is asked from this process, a few
problems side by side, because its budget and its endpoint are shared by threads. A cell that was killed while
a model served it finds what it paid for in the call cache.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from threading import local
from typing import Any

from evolake.agents import Agents, open_agents
from evolake.compute.needs import trusted
from evolake.errors import InputError
from evolake.lake import AGENT_CALLS, Lake, side_table
from evolake.repair.arms.trial import Trial, call_number, run_trial
from evolake.repair.certification.certify import Certifier
from evolake.repair.execution.study import BenchmarkProblem, Study
from evolake.repair.model.problems import Problem
from evolake.repair.tables import ATTEMPTS, LINE, RESULTS, cell_of, parse_cell
from evolake.settings import Settings

CHUNK = 25

Progress = Callable[[int], None]


@dataclass(frozen=True)
class CellRows:
    """The rows of a cell or of a part of one, in the order of the problems."""

    results: list[dict[str, Any]]
    attempts: list[dict[str, Any]]
    calls: list[dict[str, Any]]


@dataclass(frozen=True)
class Chunk:
    """Some problems of one cell: what a worker process is given."""

    study: Study
    entries: tuple[BenchmarkProblem, ...]
    arm: str
    seed: int
    settings: Settings
    lake_root: Path
    run_id: str


def run_cell(
    study: Study,
    cell: str,
    settings: Settings,
    lake_root: Path,
    run_id: str,
    *,
    executor: Executor | None = None,
    on_progress: Progress | None = None,
) -> CellRows:
    """Run all problems of a study for one arm and seed.

    Args:
        settings: say which backend serves; its sizes are not read, those of the study are.
        executor: takes chunks of a cell that operators serve; None: they run here. A model is always asked
            from here.
        on_progress: is shown how many problems were finished since it was last called.

    Raises:
        InputError: the backend lacks something, or `cell` is none.
        EvolakeError: the agents or the solver cannot continue.
    """
    return collect(submit_cell(study, cell, settings, lake_root, run_id, executor=executor), on_progress)


def submit_cell(
    study: Study,
    cell: str,
    settings: Settings,
    lake_root: Path,
    run_id: str,
    *,
    executor: Executor | None = None,
) -> list[Callable[[], CellRows]]:
    """Do as `run_cell`, in parts: with an executor all are submitted now; call them in order to get their
    rows."""
    if settings.backend != study.backend:
        raise InputError(
            "the study is served by another backend",
            wanted=study.backend,
            got=settings.backend,
            do="pass the study's own settings",
        )
    arm, seed = parse_cell(cell)
    whole, bare = study.entries, study.bare()
    step = CHUNK if executor is not None and study.backend == "operators" else len(whole)
    parts = [whole[start : start + step] for start in range(0, len(whole), step)]
    chunks = [Chunk(bare, part, arm, seed, settings, Path(lake_root), run_id) for part in parts]
    sha = study.sha
    if executor is None or study.backend == "model":
        return [lambda chunk=chunk: _stamped(run_chunk(chunk), sha) for chunk in chunks]
    futures: list[Future[CellRows]] = [executor.submit(run_chunk, chunk) for chunk in chunks]
    return [lambda future=future: _stamped(future.result(), sha) for future in futures]


def collect(parts: Iterable[Callable[[], CellRows]], on_progress: Progress | None = None) -> CellRows:
    """Return the rows of all parts, in order."""
    whole = CellRows([], [], [])
    for part in parts:
        rows = part()
        whole.results.extend(rows.results)
        whole.attempts.extend(rows.attempts)
        whole.calls.extend(rows.calls)
        if on_progress:
            on_progress(len(rows.results))
    return whole


@trusted
def run_chunk(chunk: Chunk) -> CellRows:
    """Run the problems of a chunk in this process."""
    cell = cell_of(chunk.arm, chunk.seed)
    settings = chunk.settings.model_copy(
        update={"model_repairs": 0}
    )  # a repair would be a call beyond the budget that only some candidates get
    with open_agents(settings, chunk.lake_root, cell, chunk.run_id, line=LINE, redraw=False) as agents:
        trials = _trials(
            chunk,
            agents,
            1
            if settings.backend == "operators"
            else max(1, settings.model_threads // chunk.study.candidates),
        )
        calls = agents.rows()
    return _rows(chunk, trials, calls)


def _trials(chunk: Chunk, agents: Agents, threads: int) -> list[Trial]:
    own = local()

    def try_problem(problem: Problem) -> Trial:
        if not hasattr(own, "certifier"):
            own.certifier = Certifier(chunk.study.timeout_ms)
        return run_trial(
            chunk.arm,
            problem,
            chunk.seed,
            candidates=chunk.study.candidates,
            rounds=chunk.study.rounds,
            root_seed=chunk.study.root_seed,
            agents=agents,
            certifier=own.certifier,
        )

    if threads == 1:
        return [try_problem(entry.problem) for entry in chunk.entries]
    with ThreadPoolExecutor(max_workers=threads, thread_name_prefix="evolake-repair") as pool:
        futures = [pool.submit(try_problem, entry.problem) for entry in chunk.entries]
        try:
            return [future.result() for future in futures]
        except BaseException:
            for future in futures:
                future.cancel()
            raise


def _rows(chunk: Chunk, trials: Sequence[Trial], calls: list[dict[str, Any]]) -> CellRows:
    place = {entry.problem.id: number for number, entry in enumerate(chunk.entries)}
    calls = sorted(calls, key=lambda row: (place[row["artifact_id"]], row["attempt"]))
    asked = {(row["artifact_id"], row["attempt"] // 10): row for row in calls}
    tokens = {name: [0, 0] for name in place}
    for row in calls:
        tokens[row["artifact_id"]][0] += row["input_tokens"] or 0
        tokens[row["artifact_id"]][1] += row["output_tokens"] or 0
    results, attempts = [], []
    for entry, trial in zip(chunk.entries, trials, strict=True):
        results.append(
            {
                "arm": trial.arm,
                "seed": trial.seed,
                "problem_id": trial.problem_id,
                "suite": entry.suite,
                "variation": entry.variation,
                "backend": chunk.study.backend,
                "model": chunk.study.model,
                "solved": trial.solved,
                "claim": trial.claim,
                "certified_status": trial.certified_status,
                "calls": trial.calls,
                "solver_calls": trial.solver_calls,
                "rounds": trial.rounds,
                "first_certified_call": trial.first_certified_call,
                "budget_exceeded": trial.budget_exceeded,
                "parse_failures": trial.parse_failures,
                "latency_s": trial.latency_s,
                "cpu_s": trial.cpu_s,
                "input_tokens": tokens[trial.problem_id][0],
                "output_tokens": tokens[trial.problem_id][1],
            }
        )
        for row in trial.attempts:
            call = asked[
                trial.problem_id, call_number(trial.arm, trial.seed, row["round"] - 1, row["candidate"] - 1)
            ]
            attempts.append(row | {"prompt_sha": call["prompt_sha"], "reply_sha": call["response_sha"]})
    return CellRows(results, attempts, calls)


def _stamped(rows: CellRows, sha: str) -> CellRows:
    return CellRows([row | {"study_sha": sha} for row in rows.results], rows.attempts, rows.calls)


def publish_cell(lake: Lake, cell: str, rows: CellRows, run_id: str) -> None:
    """Publish a cell's rows, results last: a cell with results is a finished cell."""
    lake.publish(
        LINE,
        side_table("results", AGENT_CALLS),
        AGENT_CALLS.frame(rows.calls),
        cycle=cell,
        run_id=run_id,
        schema=AGENT_CALLS,
    )
    lake.publish(LINE, "attempts", ATTEMPTS.frame(rows.attempts), cycle=cell, run_id=run_id, schema=ATTEMPTS)
    lake.publish(LINE, "results", RESULTS.frame(rows.results), cycle=cell, run_id=run_id, schema=RESULTS)


def is_finished(lake: Lake, cell: str, study: Study) -> bool:
    """Return whether the lake holds this cell of this very study."""
    if lake.record(LINE, "results", cell) is None:
        return False
    shas = lake.read(LINE, "results", cell)["study_sha"].unique().to_list()
    return shas == [study.sha]
