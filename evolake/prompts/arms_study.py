"""Compare the four arms: RL alone, self-reflection alone, evolution alone, evolution with RL (E-SPL, section
4.1).

Every arm starts from the same weights, the same root and the same seed, draws the same problems, and takes
the same number of rollouts an iteration. After every few iterations the prompt that an arm would use by then
answers the same held-out problems under the arm's weights. Replicates differ by the seed of everything that
is drawn, and by nothing else. With journals, a comparison that was killed continues after the last noted
iteration.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from evolake.agents import Agents
from evolake.errors import InputError
from evolake.lake import Lake
from evolake.prompts.evolution.iteration import ARMS, TABLES, Arm, IterationContext, run_iteration
from evolake.prompts.evolution.payoff_matrix import Judge
from evolake.prompts.evolution.population import Population, found_population
from evolake.prompts.evolution.prompt_contest import decoding_of, evaluate
from evolake.prompts.evolution.training_cycle import entry_bytes, read_entry
from evolake.prompts.model.library import PrincipleLibrary
from evolake.prompts.model.problems import ProblemSet
from evolake.prompts.model.prompt import SystemPrompt
from evolake.prompts.model.protocol import ANSWER, Policy
from evolake.prompts.policies.models import with_dtype
from evolake.prompts.settings import PromptsSettings
from evolake.prompts.study_journal import Journal
from evolake.prompts.tools import corpus_of
from evolake.seeds import child_seed, generator
from evolake.stats.bootstrap import grid_interval, sign_flip_p
from evolake.stats.proportions import holm, pass_at_k, reported_k

if TYPE_CHECKING:
    from evolake.settings import Settings


LINE, CYCLE = "prompts", "compare"
BASE = "rl"
"""The arm that the others are compared with, where it is among them."""


class Pause(Exception):
    """The time that was given is over; what was done is noted."""


@dataclass(frozen=True)
class ArmRun:
    """What one arm did, once. rows: table name -> rows, those of `iteration.TABLES` and `heldout`. prompt:
    what it would use in the end."""

    arm: Arm
    population: Population
    prompt: SystemPrompt
    rows: Mapping[str, list[dict[str, Any]]]
    replicate: int = 0


@dataclass(frozen=True)
class Comparison:
    """What all arms of a comparison share.

    policy: as it starts; one that learns is put back to that before each arm and after the last. every:
    iterations between evaluations; the start and the end are always evaluated. agents: arm -> the editors of
    that arm, which the comparison closes.
    """

    policy: Policy
    problems: ProblemSet
    root: SystemPrompt
    iterations: int
    every: int
    agents: Callable[[str], Agents]
    judge: Judge
    settings: PromptsSettings
    library: PrincipleLibrary


def compare(
    comparison: Comparison,
    arms: Sequence[str],
    *,
    root_seed: int,
    replicates: int = 1,
    report: Callable[[str, int, int], None] = lambda arm, replicate, done: None,
    journal: Callable[[str, int], Journal] | None = None,
) -> list[ArmRun]:
    """Run the arms one after the other, all of them once before any a second time.

    Args:
        arms: names of `iteration.ARMS`.
        report: called with (arm, replicate, iterations done) after each iteration, which is noted already;
            what it raises ends the comparison there.
        journal: (arm, replicate) -> where its iterations are noted, and read from; None: nowhere.

    Raises:
        InputError: an arm is unknown or twice, or learns with a policy that cannot. Also those of
            `run_iteration` and `evaluate`.
    """
    if not arms or len(set(arms)) < len(arms) or set(arms) - ARMS.keys():
        raise InputError(
            "these arms cannot be compared",
            wanted=f"each once, of {', '.join(ARMS)}",
            got=", ".join(arms) or "none",
        )
    policy = comparison.policy
    if not policy.learns and (learning := [name for name in arms if ARMS[name].learn]):
        raise InputError(
            f"policy {policy.name} cannot learn",
            wanted="a policy that learns",
            got=f"arms {', '.join(learning)}",
            do="choose the arms evolution and reflection, or set EVOLAKE_PROMPTS__POLICY=local",
        )
    start = policy.save() if policy.learns else None
    runs = []
    try:
        for replicate in range(replicates):
            seed = root_seed if replicate == 0 else child_seed(root_seed, LINE, CYCLE, "replicate", replicate)
            for name in arms:
                noted = journal(name, replicate) if journal else None
                runs.append(
                    _run_arm(comparison, ARMS[name], noted, seed, replicate, partial(report, name, replicate))
                )
                if start is not None:
                    policy.load(start)
    finally:
        if start is not None:
            policy.load(start)
    return runs


def _run_arm(
    comparison: Comparison,
    arm: Arm,
    journal: Journal | None,
    seed: int,
    replicate: int,
    report: Callable[[int], None],
) -> ArmRun:
    """One arm, from its start or from the last noted iteration to its end."""
    policy, iterations = comparison.policy, comparison.iterations
    rows: dict[str, list[dict[str, Any]]] = {table: [] for table in (*TABLES, "heldout")}
    population = found_population({"root": comparison.root}, CYCLE)
    noted, state = journal.read() if journal else ([], None)
    if policy.learns and state is None and len(noted) < iterations:
        noted = []
    for entry in noted[:iterations]:
        done = read_entry(entry["iteration"].encode())
        population = done.population
        for table in TABLES:
            rows[table] += done.rows[table]
        rows["heldout"] += entry["heldout"]
    if state is not None:
        policy.load(state)
    if len(noted) < iterations:
        with comparison.agents(arm.name) as editors:
            context = IterationContext(
                editors, comparison.judge, comparison.settings, comparison.library, CYCLE, seed
            )
            for number in range(len(noted) + 1, iterations + 1):
                heldout = _heldout(comparison, comparison.root, arm, 0, seed) if number == 1 else []
                done = run_iteration(population, policy, comparison.problems.train, context, arm=arm)
                population = done.population
                for table in TABLES:
                    rows[table] += done.rows[table]
                if number % comparison.every == 0 or number == iterations:
                    heldout += _heldout(comparison, in_use(population, arm), arm, number, seed)
                rows["heldout"] += heldout
                if journal is not None:
                    weights = policy.save() if policy.learns and number < iterations else None
                    journal.note(
                        number, {"iteration": entry_bytes(done).decode(), "heldout": heldout}, weights
                    )
                report(number)
    return ArmRun(arm, population, in_use(population, arm), rows, replicate)


def in_use(population: Population, arm: Arm) -> SystemPrompt:
    """Return the prompt that an arm would answer with now: the best rated; the latest of self-reflection; the
    root if no prompt changes."""
    if arm.evolve:
        return population.prompt(population.best_id())
    return population.prompt(population.rows()[-1 if arm.reflect else 0]["prompt_id"])


def summary(runs: Sequence[ArmRun], root_seed: int) -> dict[str, Any]:
    """Return what the arms came to, as JSON values, over their replicates.

    For each: rollouts, updates, the curve of held-out shares with 95% bootstrap intervals over problems and
    replicates, correct and formatted apart, and the mean reward of each iteration. `differences`: of the last
    shares correct between each arm and the base, paired by problem and replicate, with p-values by flipped
    signs and Holm's correction over the arms.
    """
    names = list(dict.fromkeys(run.arm.name for run in runs))
    of_arm = {name: [run for run in runs if run.arm.name == name] for name in names}
    result = {name: _arm_summary(some, root_seed) for name, some in of_arm.items()}
    last = {
        name: _grid(some, some[0].rows["heldout"][-1]["iteration"], "correct")
        for name, some in of_arm.items()
    }
    base = BASE if BASE in last else names[0]
    differences = {}
    for name, shares in last.items():
        if name != base:
            values = shares - last[base]
            rng = generator(root_seed, LINE, CYCLE, f"difference {name}")
            spread = grid_interval(values, rng)
            differences[name] = {
                "base": base,
                "difference": spread.estimate,
                "low": spread.low,
                "high": spread.high,
                "p": sign_flip_p(values.mean(axis=0), rng),
            }
    adjusted = holm([difference["p"] for difference in differences.values()])
    for item, value in zip(differences.values(), adjusted, strict=True):
        item["p_holm"] = value
    return {"arms": result, "differences": differences, "replicates": len(of_arm[base])}


def _heldout(
    comparison: Comparison, prompt: SystemPrompt, arm: Arm, iteration: int, root_seed: int
) -> list[dict[str, Any]]:
    settings = comparison.settings
    rows = evaluate(
        comparison.policy,
        [prompt],
        comparison.problems.heldout,
        samples=settings.heldout_samples,
        answer_format=settings.answer_format,
        seed=child_seed(root_seed, LINE, CYCLE, "heldout", iteration),
        decoding=decoding_of(settings),
    )
    return [{"cycle": CYCLE, "arm": arm.name, "iteration": iteration} | row for row in rows]


def _arm_summary(runs: Sequence[ArmRun], root_seed: int) -> dict[str, Any]:
    """Sum over the replicates; the prompt of the first."""
    first, updates = runs[0], [row for run in runs for row in run.rows["updates"]]
    curve = []
    for iteration in sorted({row["iteration"] for row in first.rows["heldout"]}):
        point: dict[str, Any] = {"iteration": iteration}
        for what in ("correct", "formatted"):
            spread = grid_interval(
                _grid(runs, iteration, what),
                generator(root_seed, LINE, CYCLE, f"{first.arm.name} {what}", iteration),
            )
            point[what] = {"share": spread.estimate, "low": spread.low, "high": spread.high}
        point["pass_at"] = _pass_at(runs, iteration, root_seed)
        curve.append(point)
    rewards = [[row["mean_reward"] or 0.0 for row in run.rows["updates"]] for run in runs]
    replies = [row for run in runs for table in ("rollouts", "heldout") for row in run.rows[table]]
    return {
        "unverified": sum(row.get("unverified") is not None for row in replies),
        "rollouts": sum(row["rollouts"] for row in updates),
        "updates": sum(row["updated"] for row in updates),
        "prompts": sum(len(run.population.prompts) for run in runs),
        "prompt_id": first.prompt.prompt_id,
        "prompt": first.prompt.text(),
        "mean_reward": [sum(some) / len(some) for some in zip(*rewards, strict=True)],
        "heldout": curve,
    }


def _pass_at(runs: Sequence[ArmRun], iteration: int, root_seed: int) -> dict[str, dict[str, float]]:
    """Return k -> pass@k with its interval over problems and replicates; {} for one reply a problem."""
    given = [_replies_by_problem(run, iteration, "correct") for run in runs]
    result = {}
    for k in reported_k(min(len(values) for some in given for values in some.values())):
        estimates = [
            [pass_at_k(len(some[name]), sum(some[name]), k) for name in sorted(some)] for some in given
        ]
        spread = grid_interval(
            np.array(estimates, dtype=np.float64),
            generator(root_seed, LINE, CYCLE, f"{runs[0].arm.name} pass@{k}", iteration),
        )
        result[str(k)] = {"share": spread.estimate, "low": spread.low, "high": spread.high}
    return result


def _grid(runs: Sequence[ArmRun], iteration: int, what: str) -> np.ndarray:
    """Shares of replies, (replicates, problems), problems by id."""
    result = [_by_problem(run, iteration, what) for run in runs]
    return np.array([[shares[problem] for problem in sorted(shares)] for shares in result], dtype=np.float64)


def _by_problem(run: ArmRun, iteration: int, what: str) -> dict[str, float]:
    """Return problem id -> share of its replies, in the order of the rows."""
    return {
        problem: sum(values) / len(values)
        for problem, values in _replies_by_problem(run, iteration, what).items()
    }


def _replies_by_problem(run: ArmRun, iteration: int, what: str) -> dict[str, list[bool]]:
    """Return problem id -> that column of each of its replies, in the order of the rows."""
    result: dict[str, list[bool]] = {}
    for row in run.rows["heldout"]:
        if row["iteration"] == iteration:
            result.setdefault(row["problem_id"], []).append(row[what])
    return result


OF_NO_ARM = (
    "threads",
    "vllm_url",
    "vllm_folder",
    "arm",
    "iterations_per_cycle",
    "duel_problems",
    "duel_samples",
    "families_share",
    "families_success",
)


def comparison_sha(
    settings: Settings, problems: ProblemSet, root: SystemPrompt, *, iterations: int, every: int
) -> str:
    """Return sha256 of everything that the rows of an arm depend on, but the arm and the replicate."""
    facts: dict[str, Any] = {
        "seed": settings.seed,
        "prompts": with_dtype(settings.of(PromptsSettings)).model_dump(mode="json", exclude=set(OF_NO_ARM)),
        "backend": settings.backend,
        "models": settings.models,
        "root": root.text(),
        "iterations": iterations,
        "every": every,
        "library": hashlib.sha256((settings.seeds / "prompts" / "library.json").read_bytes()).hexdigest(),
        "problems": [
            [problem.problem_id, problem.text, problem.answer, problem.split]
            + ([] if problem.scorer == ANSWER else [problem.scorer, problem.entry])
            for problem in problems.all
        ],
    }
    if corpus := corpus_of(settings.of(PromptsSettings)):
        facts["corpus"] = corpus
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()


def journals_of(lake: Lake, sha: str) -> Callable[[str, int], Journal]:
    """Return (arm, replicate) -> its journal, in the lake's work folder, which is no part of its content."""
    return lambda arm, replicate: Journal(
        lake.root / "work" / "prompts-compare" / sha[:16] / f"{arm}-{replicate}", f"{sha} {arm} {replicate}"
    )
