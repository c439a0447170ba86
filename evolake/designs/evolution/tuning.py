"""Tune the best untuned design by Bayesian optimization against the consensus (paper, section 4.1; Optuna's
Gaussian process instead of HEBO).

A trial is a set of hyperparameter values: the design is traced again with them, run through the schedule up
to the largest size that the budget of the cycle allows (`largest_size`; at most `settings.tuning_fidelity`),
scored by every objective, and its consensus estimated against the stored scores. A trial that does not reach
the largest size of a fidelity ends there. Trial 0 is the design as it is. The tuned copy is a new design with
one parent; when no trial beats trial 0 there is none, and the result says so.

The first trials are small steps from the design as it is: with a dozen parameters and a few dozen trials,
draws from the whole space would solve nothing. From then on the Gaussian process proposes. A fixed number of
trials is under way at any time, and they are shown to it in the order in which they were asked, so the
outcome depends on the seed alone and not on the number of workers, and no worker waits for the slowest of a
batch.

What a trial takes is counted in work times instances times variables: the same on every machine, and about
proportional to processor time. It is expected to take what the design as it is took at each size; if that was
not measured, what a power law through its sizes says, and at most what the schedule gives the size. No trial
is asked once the counted work of those that were shown is over the budget: slower trials cost more.
"""

from __future__ import annotations

import json
import warnings
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor, Future
from dataclasses import dataclass, replace
from typing import Any

from evolake.compute.needs import trusted
from evolake.designs.engines.isolated import fits_apart
from evolake.designs.evolution.experiments import (
    Job,
    Simulate,
    finished,
    results_by_design,
    run_schedule,
    simulate_level,
)
from evolake.designs.evolution.extrapolation import extrapolate
from evolake.designs.evolution.line_state import reach
from evolake.designs.evolution.population import Population
from evolake.designs.evolution.proposals import Candidate, Judge, Judged, judged
from evolake.designs.evolution.schedule import (
    FIDELITIES,
    Fidelity,
    budget_of,
    largest_solved,
    latest_levels,
    limits_of,
    sizes,
)
from evolake.designs.genome.open_compose import compose
from evolake.designs.genome.open_genome import with_values
from evolake.designs.genome.variation import Parent, Scale, moved_value, rounded, values_text
from evolake.designs.model.boundary import alone
from evolake.designs.model.contract import Blocked, HyperValue, TracedDesign
from evolake.designs.settings import DesignsSettings
from evolake.designs.tracing.trace import trace
from evolake.designs.work.rows import per_step
from evolake.seeds import CycleSeeds

MILLION = 10**6


def work_of(rows: Sequence[Mapping[str, Any]]) -> int:
    """Return what rows of EXPERIMENTS took: work times instances times variables, over all."""
    return sum(
        round(int(row["steps_run"]) * per_step(row)) * int(row["batch"]) * int(row["N"]) for row in rows
    )


def largest_size(rows: Sequence[Mapping[str, Any]], settings: DesignsSettings) -> int:
    """Return the largest size at which `tuning_trials` trials and the design as it is stay within
    `tuning_work`; the smallest of all if none does.

    Args:
        rows: of EXPERIMENTS, of the design as it is.
    """
    allowed = sizes(settings, settings.tuning_fidelity)
    if settings.tuning_work == 0:
        return allowed[-1]
    per_trial = settings.tuning_work * MILLION / (settings.tuning_trials + 1)
    measured = {
        int(level["N"]): round(int(level["steps_run"]) * per_step(level)) for level in latest_levels(rows)
    }
    spent, result = 0.0, allowed[0]
    for k, n in enumerate(allowed):
        spent += _expected_work(k, n, measured, rows, settings) * settings.batch * n
        if spent > per_trial:
            break
        result = n
    return result


def capped(settings: DesignsSettings, n: int) -> DesignsSettings:
    """Return the settings with no size above `n` at any fidelity."""
    limits = {name: limits_of(settings, name) for name in FIDELITIES}
    return settings.model_copy(
        update={name: held.model_copy(update={"max_n": min(held.max_n, n)}) for name, held in limits.items()}
    )


def _expected_work(
    k: int, n: int, measured: Mapping[int, int], rows: Sequence[Mapping[str, Any]], settings: DesignsSettings
) -> float:
    if n in measured:
        return measured[n]
    first: Fidelity = next(name for name in FIDELITIES if limits_of(settings, name).max_n >= n)
    most = budget_of(settings, first, k)
    work = extrapolate("", rows, n).work
    return most if work is None else min(most, work)


UNDER_WAY = 4
LOCAL_TRIALS = 10
LOCAL_STEP = 0.06
WORST = 1.0
Estimate = Callable[[Mapping[str, list[dict[str, Any]]]], Mapping[str, float]]


@dataclass(frozen=True)
class Tuned:
    """What tuning gave: rows of TUNING, the tuned copy if a trial beat the design as it is, one sentence, and
    what simulating took.

    largest_n: variables of the largest instances that a trial could reach.
    """

    rows: list[dict[str, Any]]
    candidate: Judged | None
    reason: str
    cpu_s: float = 0.0
    largest_n: int = 0


def should_tune(population: Population, settings: DesignsSettings) -> bool:
    """Return whether the tuned share of live designs is below the threshold and trials are allowed."""
    return settings.tuning_trials > 0 and population.tuned_share() < settings.tuned_share


def tuning_target(population: Population, order: Sequence[str]) -> str | None:
    """Return the best design by consensus that is neither tuned, nor has been tuned or tried before, and has
    something to tune."""
    tried = set(population.value("tuning_tried", []))
    tried |= {row["parent_id"] for row in population.derivations.to_dicts() if row["operator"] == "tuning"}
    for design_id in order:
        row = population.row(design_id)
        if not row["tuned"] and design_id not in tried and json.loads(row["hyper_values"] or "{}"):
            return design_id
    return None


@dataclass(frozen=True)
class Tuner:
    """How trials are traced, run, scored and judged.

    Attributes:
        estimate: results by name -> consensus by name, 0 is best (see `consensus_estimate`).
        pool: an open jail pool, for tracing trials. judge: the gates that the tuned copy meets.
        executor: where simulations go. known: graph_sha -> design id, for the duplicate gate.
    """

    estimate: Estimate
    pool: Any
    judge: Judge
    executor: Executor
    known: Mapping[str, str]
    profile: str
    simulate: Simulate = simulate_level


def tune_design(
    tuner: Tuner,
    parent: Parent,
    *,
    settings: DesignsSettings,
    cycle_seeds: CycleSeeds,
    measured: Sequence[Mapping[str, Any]] = (),
) -> Tuned:
    """At most `settings.tuning_trials` trials on one design, within `settings.tuning_work`.

    Args:
        parent: the design as it is. measured: rows of EXPERIMENTS of it, which say what a trial will take.
    """
    scales = tunable(parent.scales)
    if not scales:
        return Tuned([], None, f"{parent.title} has no hyperparameter to tune")

    def blocked(reason: str) -> Tuned:
        row = {
            "design_id": parent.design_id,
            "cycle": cycle_seeds.cycle,
            "trial": 0,
            "hyper_values": values_text(parent.values),
            "consensus": None,
            "status": "blocked",
            "reason": reason,
            "largest_solved": 0,
            "median_step": None,
            "median_work": None,
        }
        return Tuned([row], None, f"{parent.title} cannot be tuned: {reason}")

    return alone(
        lambda: _tuned(
            tuner, parent, scales, capped(settings, largest_size(measured, settings)), cycle_seeds
        ),
        blocked,
    )


def _tuned(
    tuner: Tuner, parent: Parent, scales: Sequence[Scale], settings: DesignsSettings, cycle_seeds: CycleSeeds
) -> Tuned:
    cycle = cycle_seeds.cycle
    study = _open_study(cycle_seeds.seed("tuning"), scales, parent.values, settings.tuning_trials)
    rows: list[dict[str, Any]] = []
    values_of: list[dict[str, HyperValue]] = []
    under_way: deque[tuple[Any, _Trial]] = deque()
    cpu_s, work, largest_n = 0.0, 0, sizes(settings, settings.tuning_fidelity)[-1]
    while True:
        within = not settings.tuning_work or work < settings.tuning_work * MILLION
        while within and len(under_way) < UNDER_WAY and len(values_of) < settings.tuning_trials + 1:
            asked = study.ask(_distributions(scales))
            values_of.append(dict(parent.values) | (_readable(asked.params, scales) if values_of else {}))
            job = Job(
                f"{parent.design_id}:{len(values_of) - 1}",
                "",
                "low",
                cycle,
                tuner.profile,
                cycle_seeds.root,
                settings,
            )
            under_way.append(
                (asked, _begun(parent, values_of[-1], job, tuner.pool, tuner.executor, tuner.simulate))
            )
        if not under_way:
            break
        asked, trial = under_way.popleft()
        row, measured = _scored(parent, len(rows), values_of[len(rows)], trial, tuner.estimate, cycle)
        study.tell(asked, WORST if row["consensus"] is None else row["consensus"])
        rows.append(row)
        cpu_s += sum(row["cpu_s"] for row in measured)
        work += work_of(measured)
    untouched = rows[0]["consensus"]
    best = min(
        range(len(rows)),
        key=lambda number: (
            WORST + 1 if rows[number]["consensus"] is None else rows[number]["consensus"],
            number,
        ),
    )
    if best == 0 or untouched is None or rows[best]["consensus"] >= untouched:
        return Tuned(
            rows,
            None,
            f"none of {len(rows) - 1} trials beat {parent.title} as it is (consensus {untouched})",
            cpu_s,
            largest_n,
        )
    candidate = judged(
        _copy(parent, values_of[best], rows[best]["consensus"], untouched), tuner.known, tuner.judge
    )
    reason = (
        f"trial {best} of {len(rows) - 1} has consensus {rows[best]['consensus']:.4f}, as it is "
        f"{untouched:.4f}"
    )
    return Tuned(rows, candidate, reason, cpu_s, largest_n)


def tunable(scales: Sequence[Scale]) -> list[Scale]:
    """Return hyperparameters that can take more than one value."""
    return [
        scale
        for scale in scales
        if (
            len(scale.choices) > 1
            if scale.type == "categorical"
            else scale.low is not None and scale.high is not None and scale.low < scale.high
        )
    ]


def consensus_estimate(
    scored: Any, score: Callable[[Mapping[str, list[dict[str, Any]]]], Sequence[Any]]
) -> Estimate:
    """Return estimates by binary search in the stored scores.

    Args:
        scored: `evolake.objectives.long_consensus.LongConsensus` of the stored designs.
        score: results by name -> rows with objective_id, design_id and score (None: missing), e.g.
            `score_all` with its pool bound.
    """

    def estimate(results: Mapping[str, list[dict[str, Any]]]) -> dict[str, float]:
        result: dict[str, dict[str, float | None]] = {name: {} for name in results}
        for row in score(results):
            result[row.design_id][row.objective_id] = row.score
        return {name: float(scored.estimate(scores)) for name, scores in result.items()}

    return estimate


def _open_study(seed: int, scales: Sequence[Scale], start: Mapping[str, HyperValue], trials: int) -> Any:
    """Return a study whose queue holds the design as it is and, for up to half of the trials, small steps
    from it."""
    import numpy as np
    import optuna

    local = min(LOCAL_TRIALS, trials // 2)
    random = np.random.default_rng(seed)

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        sampler = optuna.samplers.GPSampler(
            seed=seed % 2**32,
            n_startup_trials=local + 1,
            deterministic_objective=True,
            warn_independent_sampling=False,
        )
    study = optuna.create_study(direction="minimize", sampler=sampler)
    study.enqueue_trial({scale.name: start[scale.name] for scale in scales})
    for _ in range(local):
        study.enqueue_trial(
            {scale.name: moved_value(scale, start[scale.name], LOCAL_STEP, random) for scale in scales}
        )
    return study


def _distributions(scales: Sequence[Scale]) -> dict[str, Any]:
    from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

    made: dict[str, Any] = {}
    for scale in scales:
        if scale.type == "categorical":
            made[scale.name] = CategoricalDistribution(scale.choices)
            continue
        assert scale.low is not None and scale.high is not None
        if scale.type == "int":
            made[scale.name] = IntDistribution(int(scale.low), int(scale.high))
        else:
            made[scale.name] = FloatDistribution(scale.low, scale.high, log=scale.type == "log_uniform")
    return made


def _readable(values: Mapping[str, HyperValue], scales: Sequence[Scale]) -> dict[str, HyperValue]:
    """Floats to six digits, within their bounds."""
    bounds = {scale.name: scale for scale in scales}
    return {
        name: min(max(rounded(value), bounds[name].low or value), bounds[name].high or value)
        if isinstance(value, float)
        else value
        for name, value in values.items()
    }


@dataclass(frozen=True)
class _Trial:
    """A trial under way: its name, its rows of EXPERIMENTS when they are there, or why it cannot be
    traced."""

    name: str
    rows: Future[list[dict[str, Any]]] | None
    blocked: str | None = None


def _begun(
    parent: Parent,
    values: Mapping[str, HyperValue],
    job: Job,
    pool: Any,
    executor: Executor,
    simulate: Simulate,
) -> _Trial:
    """`job` with the design traced again with these values, handed to a worker."""
    result = _retraced(parent, values, pool)
    if isinstance(result, Blocked):
        return _Trial(job.design_id, None, f"{result.gate}: {result.reason}")
    traced = replace(job, traced=json.dumps(result.to_json(), sort_keys=True))
    return _Trial(job.design_id, executor.submit(measured_trial, traced, simulate))


def _scored(
    parent: Parent,
    number: int,
    values: Mapping[str, HyperValue],
    trial: _Trial,
    estimate: Estimate,
    cycle: str,
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return a row of TUNING and the trial's rows of EXPERIMENTS; a trial that cannot be traced is a row with
    its reason and no consensus."""
    measured, consensus = [], None
    if trial.rows is not None:
        measured = finished(trial.rows, trial.name)
        consensus = estimate({trial.name: []} | results_by_design(measured))[trial.name]
    reached = reach(measured)
    return {
        "design_id": parent.design_id,
        "cycle": cycle,
        "trial": number,
        "hyper_values": json.dumps(dict(values), sort_keys=True),
        "consensus": consensus,
        "status": "blocked" if trial.blocked else "ok",
        "reason": trial.blocked,
        "largest_solved": reached["largest_solved"],
        "median_step": reached["median_step"],
        "median_work": reached["median_work"],
    }, measured


@trusted
def measured_trial(job: Job, simulate: Simulate = simulate_level) -> list[dict[str, Any]]:
    """Return rows of one trial, each fidelity continuing where the one before ended; it ends at a fidelity
    whose largest size it did not reach."""
    rows: list[dict[str, Any]] = []
    for fidelity in FIDELITIES[: FIDELITIES.index(job.settings.tuning_fidelity) + 1]:
        rows += run_schedule(replace(job, fidelity=fidelity, earlier=tuple(rows)), simulate)
        if largest_solved(rows) < sizes(job.settings, fidelity)[-1]:
            break
    return rows


def _retraced(parent: Parent, values: Mapping[str, HyperValue], pool: Any) -> TracedDesign | Blocked:
    """Return the design with other values; whatever tracing it raises is this trial's reason."""
    return alone(
        lambda: trace(parent.source, pool=pool, hyper=dict(values), fits=fits_apart),
        lambda reason: Blocked(reason, "trace"),
    )


def _copy(parent: Parent, values: Mapping[str, HyperValue], consensus: float, untouched: float) -> Candidate:
    """Return the tuned copy, before its gates: a genome is written again with the values as defaults, a file
    keeps its text and gets overrides."""
    title = f"{parent.title[:33]} tuned"
    rationale = f"Tuned values of {parent.title}: consensus {consensus:.4f} after {untouched:.4f}."
    genome = with_values(parent.genome, values) if parent.genome else None
    return Candidate(
        source=compose(genome, title, rationale) if genome else parent.source,
        hyper={} if genome else dict(values),
        genome=genome,
        title=title,
        operator="tuning",
        origin="tuning",
        rationale=rationale,
        direction_id=None,
        weights=((parent.design_id, 1.0),),
    )
