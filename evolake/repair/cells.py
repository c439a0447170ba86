"""A study, and one cell of it: all problems, one arm, one seed.

A study says which problems, which budget, which proposer; its sha distinguishes its cells from those of
another. Arms and seeds are not part of it: a study may be given more of them later, and what is there is
kept.

Rows of a cell go to the lake together, results last, so a cell is there whole or is run again. Operators are
spread over an executor by chunks of problems; a model is asked from this process, a few problems side by
side, because its budget and its endpoint are shared by threads. A cell that was killed while a model served
it finds what it paid for in the call cache.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from threading import local
from typing import Any

from evolake.agents import Agents, open_agents
from evolake.agents.sampling import Sampling, sampling_of
from evolake.canonical_json import canonical_json
from evolake.cells import MAX_SEED
from evolake.compute.needs import trusted
from evolake.errors import InputError
from evolake.lake import AGENT_CALLS, Lake, side_table
from evolake.repair.certifier import Certifier
from evolake.repair.names import ARMS, KNOWN_ARMS, SHUFFLED, in_order
from evolake.repair.problems import Problem, parse_problem
from evolake.repair.proposers import ROLES
from evolake.repair.settings import RepairSettings
from evolake.repair.tables import ATTEMPTS, LINE, RESULTS, cell_of, parse_cell
from evolake.repair.trial import RoundPlan, Trial, call_number, plan_of, run_trial
from evolake.settings import Settings

PROTOCOL = 1


@dataclass(frozen=True)
class BenchmarkProblem:
    """A problem with its place in the benchmark: main (`lia`, `none`), a perturbation, or the transfer
    suite."""

    problem: Problem
    suite: str = "lia"
    variation: str = "none"


def entries_of(rows: Iterable[Mapping[str, Any]]) -> tuple[BenchmarkProblem, ...]:
    """Return the entries that rows of the table `problems` hold, in their order."""
    return tuple(
        BenchmarkProblem(
            parse_problem(row["json"], where=f"problem {row['problem_id']}"), row["suite"], row["variation"]
        )
        for row in rows
    )


@dataclass(frozen=True)
class Study:
    """Hold what decides the rows of a cell, in addition to its arm and its seed.

    Attributes:
        candidates, rounds: K and R of the matched arms.
        model: the model's name, or `operators`. `sampling`: how its replies are drawn; None for the
            operators.
        root_seed: of the operators' generators.
    """

    entries: tuple[BenchmarkProblem, ...]
    candidates: int
    rounds: int
    timeout_ms: int
    backend: str
    model: str
    root_seed: int
    sampling: tuple[Any, ...] | None = None

    def __post_init__(self) -> None:
        RoundPlan(self.candidates, self.rounds)
        if not self.entries:
            raise InputError("a study needs at least one problem", do="raise --problems")

    @property
    def problems_sha(self) -> str:
        """sha256 of the problems' JSON lines with their places."""
        lines = [f"{entry.suite} {entry.variation} {entry.problem.to_json()}" for entry in self.entries]
        return hashlib.sha256("\n".join(lines).encode()).hexdigest()

    @property
    def sha(self) -> str:
        """sha256 of everything that decides the rows."""
        values = {
            "protocol": PROTOCOL,
            "problems": self.problems_sha,
            "candidates": self.candidates,
            "rounds": self.rounds,
            "timeout_ms": self.timeout_ms,
            "backend": self.backend,
            "model": self.model,
            "root_seed": self.root_seed,
            "sampling": self.sampling,
        }
        return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()

    def bare(self) -> Study:
        """Return the same with its first problem alone: all that a worker needs to know next to its own
        problems."""
        return replace(self, entries=self.entries[:1])

    def row(self, arms: Sequence[str], seeds: Sequence[int]) -> dict[str, Any]:
        """Return its row of the table `study`."""
        return {
            "study_sha": self.sha,
            "problems_sha": self.problems_sha,
            "problems": len(self.entries),
            "candidates": self.candidates,
            "rounds": self.rounds,
            "solver_timeout_ms": self.timeout_ms,
            "backend": self.backend,
            "model": self.model,
            "root_seed": self.root_seed,
            "arms": list(arms),
            "seeds": list(seeds),
        }


def study_of(settings: Settings, entries: Sequence[BenchmarkProblem]) -> Study:
    """Return the study that the settings describe.

    Raises:
        InputError: the arms' prompts would be served by different models: arms would differ in more than
            their feedback.
    """
    sizes, model, sampling = settings.of(RepairSettings), "operators", None
    if settings.backend == "model":
        roles = {role.name for arm, role in ROLES.items() if arm in {*ARMS, *sizes.arms}}
        names = {name: settings.models.get(name) or settings.models.get("default") or "" for name in roles}
        if len(set(names.values())) > 1:
            raise InputError(
                "the arms would be served by different models",
                wanted="one model for all of them",
                got=", ".join(f"{role}={name or 'none'}" for role, name in sorted(names.items())),
                do="set EVOLAKE_MODELS__DEFAULT alone",
            )
        drawn = {
            canonical_json(sampling_of(settings, name).as_dict()): sampling_of(settings, name)
            for name in sorted(roles)
        }
        if len(drawn) > 1:
            raise InputError(
                "the replies of the arms would be drawn differently",
                wanted="one way for all of them",
                got=" and ".join(sorted(drawn)),
                do="set EVOLAKE_SAMPLING for `default` alone",
            )
        model, sampling = names.popitem()[1], _identity(*drawn.values())
    return Study(
        tuple(entries),
        sizes.candidates,
        sizes.rounds,
        sizes.solver_timeout_ms,
        settings.backend,
        model,
        settings.seed,
        sampling,
    )


def _identity(drawn: Sampling) -> tuple[Any, ...]:
    """Return how replies are drawn, as it is in the sha of a study."""
    return (drawn.max_output_tokens, canonical_json(drawn.options()))


def pick_arms(text: str, every: Sequence[str] = ARMS) -> tuple[str, ...]:
    """Return arms from `all`, which means `every`, or from names joined by commas, opt-in ones too, in the
    study's order. Raises InputError for a name that is none."""
    names = [name.strip() for name in text.split(",") if name.strip()]
    try:
        return in_order(every if names == ["all"] else names)
    except ValueError:
        wanted = f"all, or some of {', '.join(KNOWN_ARMS)}"
        raise InputError(
            "--arms cannot be used", wanted=wanted, got=repr(text), do="name arms joined by commas"
        ) from None


def pick_seeds(count: int) -> tuple[int, ...]:
    """Return the first `count` seeds."""
    if not 1 <= count <= MAX_SEED:
        raise InputError(
            "--seeds cannot be used",
            wanted=f"1 to {MAX_SEED}",
            got=str(count),
            do="give a number in that range",
        )
    return tuple(range(count))


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
    """Some problems of one cell: what a worker process is given. others: id -> the problem whose feedback is
    shown, for the arm that shuffles it."""

    study: Study
    entries: tuple[BenchmarkProblem, ...]
    arm: str
    seed: int
    settings: Settings
    lake_root: Path
    run_id: str
    others: Mapping[str, Problem]


def others_of(entries: Sequence[BenchmarkProblem]) -> dict[str, Problem]:
    """Return id of a problem -> the next one of its suite and variation, after the last one the first. One
    that has no like gets a problem of another suite."""
    groups: dict[tuple[str, str], list[Problem]] = {}
    for entry in entries:
        groups.setdefault((entry.suite, entry.variation), []).append(entry.problem)
    return {
        problem.id: after if len(group) > 1 else entries[-(problem is entries[0].problem)].problem
        for group in groups.values()
        for problem, after in zip(group, [*group[1:], group[0]], strict=True)
    }


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
    others = others_of(whole) if arm == SHUFFLED else {}
    chunks = [
        Chunk(
            bare,
            part,
            arm,
            seed,
            settings,
            Path(lake_root),
            run_id,
            {entry.problem.id: others[entry.problem.id] for entry in part if others},
        )
        for part in parts
    ]
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
            plan=plan_of(chunk.arm, chunk.study.candidates, chunk.study.rounds),
            root_seed=chunk.study.root_seed,
            agents=agents,
            certifier=own.certifier,
            other=chunk.others.get(problem.id),
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
