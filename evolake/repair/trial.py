"""Run one trial: one arm on one problem with one seed. All arms run through this one loop.

A round asks for all its K candidates, then has them certified one by one in the arm's order, and ends at the
first that is certified. So the matched arms make the same number of model calls per round, and a good order
saves solver calls. A candidate that cannot be read has used its model call and takes no solver call; one that
makes our code raise is as one that could not be decided.

The budget is K candidates a round in R rounds, in model calls and in solver calls alike, and is taken from
before each call. So the compute-matched arms have equal budgets by construction; the counts are in every row,
and a check compares them.
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from functools import partial
from typing import Any

from evolake.agents import AgentFailure, Agents
from evolake.cells import MAX_SEED
from evolake.errors import InputError, MachineryError
from evolake.gates import Raised, contained
from evolake.repair.arm_states import Candidate, Judged, start
from evolake.repair.arm_views import CandidateReply, Request
from evolake.repair.certifier import CERTIFIED, UNKNOWN, Certification, Certifier
from evolake.repair.conflicts import certify_whole
from evolake.repair.names import CALL_PLACES, ONE_SHOT, WHOLE_CONFLICT
from evolake.repair.problems import Claim, Malformed, Problem, check_candidate
from evolake.repair.proposers import role_of
from evolake.seeds import child_seed

MOST = 64


@dataclass(frozen=True)
class RoundPlan:
    """K candidates a round, R rounds."""

    candidates: int
    rounds: int

    def __post_init__(self) -> None:
        if not (1 <= self.candidates <= MOST and 1 <= self.rounds <= MOST):
            raise InputError(
                "a trial's budget cannot be used",
                wanted=f"1 to {MOST} candidates and 1 to {MOST} rounds",
                got=f"{self.candidates} and {self.rounds}",
                do="fix EVOLAKE_REPAIR__CANDIDATES or EVOLAKE_REPAIR__ROUNDS",
            )

    @property
    def calls(self) -> int:
        """Model calls a trial may take, and solver calls too."""
        return self.candidates * self.rounds


def plan_of(arm: str, candidates: int, rounds: int) -> RoundPlan:
    """Return what an arm may spend: K by R, the same for every arm but `one_shot`, which has one call."""
    return RoundPlan(1, 1) if arm == ONE_SHOT else RoundPlan(candidates, rounds)


class Budget:
    """What is left of a plan. Taking more than there is, is an error of ours and not of a candidate."""

    def __init__(self, plan: RoundPlan):
        self.plan = plan
        self.calls = 0
        self.solver_calls = 0

    def take_calls(self, count: int) -> None:
        """Book model calls. Raises MachineryError where they pass the plan."""
        self.calls += count
        self._check(self.calls, "model")

    def take_solver_call(self) -> None:
        """Book one certification. Raises MachineryError where it passes the plan."""
        self.solver_calls += 1
        self._check(self.solver_calls, "solver")

    def _check(self, used: int, kind: str) -> None:
        if used > self.plan.calls:
            raise MachineryError(
                f"a trial passed its budget of {kind} calls",
                wanted=f"at most {self.plan.calls}",
                got=str(used),
                do="report it",
            )


@dataclass(frozen=True)
class Trial:
    """What one trial came to. `attempts`: one dict per candidate, columns of the table `attempts` but for the
    hashes.

    Attributes:
        solved: some candidate was certified. `certified_status`: what it said, else None.
        claim: the status of that candidate, else of the last one that could be read, else None.
        first_certified_call: number of the model call that it came from, from 1.
        budget: calls of the model that the trial could make. budget_exceeded: it made more; a trial without a
            certified candidate did not.
    """

    arm: str
    seed: int
    problem_id: str
    solved: bool
    claim: str | None
    certified_status: str | None
    calls: int
    solver_calls: int
    rounds: int
    first_certified_call: int | None
    parse_failures: int
    attempts: tuple[dict[str, Any], ...]
    latency_s: float
    cpu_s: float
    budget: int

    @property
    def budget_exceeded(self) -> bool:
        """Return whether more calls were made than the budget allows."""
        return self.calls > self.budget


def call_number(arm: str, seed: int, round_: int, slot: int) -> int:
    """Return the number that distinguishes a call from every other draw of the same prompt: it is part of the
    call cache's key, so draws are independent."""
    ten, place = divmod(CALL_PLACES[arm], 10)  # places beyond the tenth come after all seeds of the first ten
    return (((ten * (MAX_SEED + 1) + seed) * 10 + place) * 100 + round_) * 100 + slot


def run_trial(
    arm: str,
    problem: Problem,
    seed: int,
    *,
    plan: RoundPlan,
    root_seed: int,
    agents: Agents,
    certifier: Certifier,
    other: Problem | None = None,
) -> Trial:
    """Run one trial. What candidates do wrong is in the result. plan: of `plan_of`. other: whose feedback the
    arm `SHUFFLED` gets.

    Raises:
        MachineryError: the certified answer contradicts the problem's label, or a budget was passed.
        EvolakeError: the agents cannot continue (no budget, no endpoint).
    """
    began, cpu = time.perf_counter(), time.thread_time()
    budget, state = Budget(plan), start(arm, problem, other)
    attempts: list[dict[str, Any]] = []
    winner: tuple[int, Claim] | None = None
    round_ = 0
    for round_ in range(plan.rounds):
        budget.take_calls(plan.candidates)
        proposed = _propose(
            arm,
            problem,
            seed,
            round_,
            [state.request(slot) for slot in range(plan.candidates)],
            root_seed,
            agents,
        )
        judged: list[Judged] = []
        for rank, slot in enumerate(order := state.order(proposed)):
            certification = _certify(arm, certifier, problem, proposed[slot], budget)
            attempts.append(_attempt(arm, seed, problem, round_, slot, rank, proposed[slot], certification))
            if certification.verdict == CERTIFIED and isinstance(claim := proposed[slot], Claim):
                winner = (round_ * plan.candidates + slot + 1, claim)
                attempts.extend(
                    _attempt(arm, seed, problem, round_, left, rank + 1 + place, proposed[left], None)
                    for place, left in enumerate(order[rank + 1 :])
                )
                break
            judged.append(Judged(slot, proposed[slot], certification))
        if winner:
            break
        state.observe(judged)
    status = winner[1].status if winner else None
    if status and problem.label and status != problem.label:
        raise MachineryError(
            f"problem {problem.id}: a certified answer contradicts its label",
            wanted=problem.label,
            got=status,
            do="keep the problem and report it",
        )
    said = [row["claim"] for row in attempts if row["claim"]]
    return Trial(
        arm,
        seed,
        problem.id,
        winner is not None,
        status or (said[-1] if said else None),
        status,
        budget.calls,
        budget.solver_calls,
        round_ + 1,
        winner[0] if winner else None,
        sum(not row["parsed"] for row in attempts),
        tuple(attempts),
        time.perf_counter() - began,
        time.thread_time() - cpu,
        plan.calls,
    )


def _propose(
    arm: str,
    problem: Problem,
    seed: int,
    round_: int,
    requests: list[Request],
    root_seed: int,
    agents: Agents,
) -> list[Candidate]:
    numbers = [call_number(arm, seed, round_, slot) for slot in range(len(requests))]
    seeds = [child_seed(root_seed, "repair", f"{arm}-{seed}", problem.id, number) for number in numbers]
    replies = agents.call_many(
        role_of(arm, requests[0]),
        requests,
        seeds=seeds,
        artifact_ids=[problem.id] * len(requests),
        attempts=numbers,
    )
    return [_read(reply.value, problem) for reply in replies]


def _read(reply: CandidateReply | AgentFailure, problem: Problem) -> Candidate:
    if isinstance(reply, AgentFailure):
        return Malformed(f"{reply.status}: {reply.reason}")
    result = contained(lambda: check_candidate(reply.as_object(), problem))
    return Malformed(result.reason) if isinstance(result, Raised) else result


def _certify(
    arm: str, certifier: Certifier, problem: Problem, candidate: Candidate, budget: Budget
) -> Certification:
    if isinstance(candidate, Claim):
        budget.take_solver_call()
    judge = partial(certify_whole, certifier) if arm == WHOLE_CONFLICT else certifier.certify
    result = contained(judge, problem, candidate)
    return Certification(UNKNOWN, reason=result.reason) if isinstance(result, Raised) else result


def _attempt(
    arm: str,
    seed: int,
    problem: Problem,
    round_: int,
    slot: int,
    rank: int,
    candidate: Candidate,
    certification: Certification | None,
) -> dict[str, Any]:
    """Return a row of `attempts`, hashes excepted. `verdict` is null where a better ranked candidate of the
    round was certified first."""
    return {
        "arm": arm,
        "seed": seed,
        "problem_id": problem.id,
        "round": round_ + 1,
        "candidate": slot + 1,
        "rank": rank + 1,
        "parsed": isinstance(candidate, Claim),
        "claim": candidate.status if isinstance(candidate, Claim) else None,
        "verdict": certification.verdict if certification else None,
        "core": json.dumps(_members(candidate, certification) if certification else []),
        "violated": json.dumps(list(certification.violated) if certification else []),
        "solver_calls": certification.solver_calls if certification else 0,
    }


def _members(candidate: Candidate, certification: Certification) -> list[str]:
    """Return the core; of a whole conflict its values, too, such as `x1=4`."""
    said = candidate.assignment if isinstance(candidate, Claim) else None
    return [*certification.core, *(f"{name}={said[name]}" for name in certification.values or () if said)]
