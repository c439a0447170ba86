"""The portfolio of objectives from cycle to cycle: drawn in the first, then reviewed, added to and kept
within its size.

In cycle c, once its runs are there and before anybody is ranked:

    review   `evolake.objectives.review` on this cycle's runs moves the multiplier of every objective that
             votes
    write    up to `objectives_per_cycle` new ones, each tried on the same runs (`portfolio`); one that fails
             stays as a row with its reason
    retire   where more than `portfolio_size` vote, those of the smallest weight leave; PAR-2 never does, so
             that the portfolio cannot drift away from what solvers are built for, and new ones only if none
             else is left

The ranking of cycle c is made with what comes of it: an objective that is accepted in cycle c scores from
cycle c on. The rows of a cycle name every objective that it added or changed, so that the ranking of an old
cycle can be made again from what entered it and from its own rows.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from evolake.agents import AgentFailure, Agents
from evolake.agents.fences import clean
from evolake.gates.boundary import Raised, contained
from evolake.objectives.consensus import Consensus, aggregate
from evolake.objectives.portfolio import ObjectiveSpec
from evolake.objectives.review import Reviewed, review
from evolake.objectives.score import Objective, score_table
from evolake.objectives.source import canonical, objective_id
from evolake.seeds import child_seed, generator
from evolake.solvers.evolution.planning import LINE, refuse_holdout
from evolake.solvers.evolution.population import CONTESTS, Population, contest_texts
from evolake.solvers.objectives.portfolio import (
    Probes,
    first_objective,
    initial_portfolio,
    probes_of,
    shown_reason,
    try_objective,
)
from evolake.solvers.roles.objective import OBJECTIVE_WRITER
from evolake.solvers.roles.review_models import (
    BlockedObjective,
    FormulaGroup,
    ObjectiveReply,
    ObjectiveRequest,
    ObjectiveSummary,
)
from evolake.solvers.settings import SolversSettings

if TYPE_CHECKING:
    from evolake.compute import Jails

WRITTEN = "written"
"""The family of an objective that no family file was cut for."""
MOST_TOLD = 12
MOST_CONTESTS = 3
DIGITS = 4


@dataclass(frozen=True)
class Evolved:
    """Rows of OBJECTIVES that are new or changed, rows of OBJECTIVE_REVIEWS, and the calls that gave no
    reply."""

    rows: list[dict[str, Any]]
    reviews: list[dict[str, Any]]
    failures: list[AgentFailure]


@dataclass(frozen=True)
class Portfolio:
    """The objectives that vote: rows of OBJECTIVES, and objective id -> scores of all probes. now: the
    cycle's number."""

    rows: tuple[dict[str, Any], ...]
    scores: Mapping[str, np.ndarray]
    probes: Probes
    now: int

    def table(self) -> np.ndarray:
        """Return scores of the variants by all of their runs, (K, n), in the order of the rows."""
        return np.array([self.scores[row["objective_id"]][: self.probes.variants] for row in self.rows])

    def consensus(self) -> Consensus:
        """Return the consensus of the rows on the variants."""
        return aggregate(
            self.table(),
            [row["created_round"] for row in self.rows],
            self.now,
            multipliers=[row["multiplier"] for row in self.rows],
            ids=list(self.probes.results)[: self.probes.variants],
        )


def evolve_objectives(
    agents: Agents,
    population: Population,
    runs: pl.DataFrame,
    pool: Jails,
    *,
    settings: SolversSettings,
    cycle: str,
    root_seed: int,
    guidance: Sequence[str] = (),
) -> Evolved:
    """Return what a cycle does to the portfolio.

    Args:
        runs: rows of RUNS that may be compared, of the variants that will be ranked. pool: an open jail pool.

    Raises:
        JailUnavailable: the jail itself failed. InputError: a run is of `holdout_suite`.
    """
    if population.objectives.is_empty():
        return Evolved(first_objectives(settings, cycle=cycle, root_seed=root_seed), [], [])
    refuse_holdout(runs.select("suite").unique().to_dicts(), settings)
    before = {row["objective_id"]: row for row in population.objectives.to_dicts()}
    probes = probes_of(runs, generator(root_seed, LINE, cycle, "objective-probes"))
    live = tuple(row for row in before.values() if row["state"] == "accepted")
    if not probes.variants or not live:
        return Evolved([], [], [])
    scores = score_table(
        [Objective(row["objective_id"], row["source"]) for row in live], probes.results, pool
    )
    portfolio, reviews = reviewed(Portfolio(live, scores, probes, int(cycle)), runs, cycle)
    blocked = [row for row in before.values() if row["state"] == "blocked"]
    failures: list[AgentFailure] = []
    written: list[str] = []
    findings = {row["objective_id"]: row["findings"] for row in reviews}
    for number in range(settings.objectives_per_cycle):
        request = ObjectiveRequest(
            cycle=cycle,
            existing=summaries(portfolio, findings),
            blocked=[_blocked_objective(row) for row in blocked[-MOST_TOLD:]],
            formulas=formula_groups(runs),
            guidance=list(guidance),
            contests=contest_texts(population.value(CONTESTS, [])[-MOST_CONTESTS:]),
            note=f"objective {number + 1} of {settings.objectives_per_cycle} of this cycle"
            if settings.objectives_per_cycle > 1
            else "",
        )
        # after a failed call nothing else has changed: without its own `attempt` the same failure would
        # replay
        replied = agents.call(
            OBJECTIVE_WRITER,
            request,
            seed=child_seed(root_seed, LINE, cycle, "objective", number),
            attempt=number,
        )
        reply = replied.value
        if isinstance(reply, AgentFailure):
            failures.append(reply)
            continue
        earlier = {row["objective_id"] for row in before.values() if row["state"] != "blocked"} | set(
            portfolio.scores
        )
        row, own = taken_in(
            reply, portfolio, earlier, pool, cycle=cycle, number=number, origin=agents.backend.name
        )
        agents.assign(replied.call_id, row["objective_id"])
        written.append(row["objective_id"])
        if row["state"] == "blocked":
            blocked.append(row)
        else:
            portfolio = replace(
                portfolio, rows=(*portfolio.rows, row), scores={**portfolio.scores, row["objective_id"]: own}
            )
    after = {
        row["objective_id"]: row for row in [*blocked, *retired(portfolio, settings.portfolio_size, cycle)]
    }
    left = {name for name, row in after.items() if row["state"] == "retired"}
    changed = [
        after[name] for name in [*before, *written] if name in after and after[name] != before.get(name)
    ]
    return Evolved(changed, [row | {"retired": row["objective_id"] in left} for row in reviews], failures)


def first_objectives(settings: SolversSettings, *, cycle: str, root_seed: int) -> list[dict[str, Any]]:
    """Return rows of OBJECTIVES: the portfolio that the line starts with."""
    count = min(settings.initial_objectives, settings.portfolio_size)
    random = generator(root_seed, LINE, cycle, "objectives")
    return [spec.row(cycle, "operators") for spec in initial_portfolio(random, count)]


def reviewed(portfolio: Portfolio, runs: pl.DataFrame, cycle: str) -> tuple[Portfolio, list[dict[str, Any]]]:
    """Return the portfolio with its new multipliers, and rows of OBJECTIVE_REVIEWS without `retired`."""
    consensus = portfolio.consensus()
    solved = dict(runs.group_by("variant_id").agg(pl.col("solved").sum()).iter_rows())
    reach = [float(solved[name]) for name in list(portfolio.probes.results)[: portfolio.probes.variants]]
    result = review(
        [Reviewed(row["objective_id"], row["family"], row["multiplier"]) for row in portfolio.rows],
        portfolio.table(),
        consensus,
        reach,
        [],
    )
    rows = [
        {
            "objective_id": row["objective_id"],
            "cycle": cycle,
            "weight": float(weight),
            "median_tau": float(tau),
            "findings": list(item.findings),
            "multiplier_before": row["multiplier"],
            "multiplier": item.multiplier,
        }
        for row, item, weight, tau in zip(
            portfolio.rows, result.objectives, consensus.weights, consensus.median_tau, strict=True
        )
    ]
    changed = tuple(
        row | {"multiplier": item.multiplier}
        for row, item in zip(portfolio.rows, result.objectives, strict=True)
    )
    return replace(portfolio, rows=changed), rows


def taken_in(
    reply: ObjectiveReply,
    portfolio: Portfolio,
    earlier: set[str],
    pool: Jails,
    *,
    cycle: str,
    number: int,
    origin: str,
) -> tuple[dict[str, Any], np.ndarray]:
    """Return the row of OBJECTIVES of a reply, and its scores on the probes. Whatever its text brings about
    is the reason of a blocked row.

    An accepted one is known by its content. A blocked one has its own id, which nothing else can have: its
    text may be that of an objective that votes, or be accepted later, on other runs.

    Args:
        earlier: ids of objectives that vote or have voted.

    Raises:
        JailUnavailable: the jail itself failed.
    """
    source, nothing = clean(reply.source), np.empty(0)
    # a model's word on where its text comes from is no more than that
    family, parameters = (reply.family, reply.parameters) if origin == "operators" else (WRITTEN, {})
    description = " ".join(clean(reply.description).split())
    spec = ObjectiveSpec(_blocked_id(source, cycle, number), family, parameters, description, source)
    row = spec.row(cycle, origin) | {"state": "blocked"}
    if source != canonical_ends(reply.source):
        return row | {"reason": "it holds control characters"}, nothing
    identifier = objective_id(source)
    if identifier in earlier:
        return row | {"reason": f"it is word for word one that votes or has voted: {identifier}"}, nothing
    tried = contained(try_objective, Objective(identifier, source), portfolio.scores, portfolio.probes, pool)
    if isinstance(tried, Raised):
        return row | {"reason": tried.reason}, nothing
    scores, reason = tried
    if reason is not None:
        return row | {"reason": clean(reason)}, scores
    return row | {"objective_id": identifier, "state": "accepted"}, scores


def retired(portfolio: Portfolio, most: int, cycle: str) -> list[dict[str, Any]]:
    """Return the rows of the portfolio, those retired that are too many: the smallest weight first."""
    excess = len(portfolio.rows) - most
    if excess <= 0:
        return list(portfolio.rows)
    kept = first_objective().objective_id
    weights = portfolio.consensus().weights.tolist()
    order = sorted(
        (row["created_round"] == portfolio.now, round(weight, 12), row["objective_id"])
        for row, weight in zip(portfolio.rows, weights, strict=True)
        if row["objective_id"] != kept
    )
    said = {
        name: {
            "state": "retired",
            "reason": f"of the smallest weight ({weight:.{DIGITS}f}) in cycle {cycle}; {most} may vote",
        }
        for _, weight, name in order[:excess]
    }
    return [row | said.get(row["objective_id"], {}) for row in portfolio.rows]


def summaries(portfolio: Portfolio, findings: Mapping[str, Sequence[str]]) -> list[ObjectiveSummary]:
    """Return the objectives that vote as roles see them, the heaviest first. Figures are rounded, so that a
    replay on another machine asks the same."""
    consensus = portfolio.consensus()
    result = [
        ObjectiveSummary(
            description=row["description"],
            family=row["family"],
            parameters=json.loads(row["parameters"] or "{}"),
            source=row["source"],
            created=row["created_round"],
            weight=round(float(weight), DIGITS),
            multiplier=row["multiplier"],
            median_tau=round(float(tau), DIGITS),
            findings=list(findings.get(row["objective_id"], [])),
        )
        for row, weight, tau in zip(portfolio.rows, consensus.weights, consensus.median_tau, strict=True)
    ]
    return sorted(result, key=lambda item: (-item.weight, item.source))


def formula_groups(runs: pl.DataFrame) -> list[FormulaGroup]:
    """Return what was run, by family and known status: no names, no times."""
    grouped = (
        runs.group_by("family", "expected")
        .agg(pl.col("instance").n_unique(), pl.col("solved").mean().round(DIGITS))
        .sort("family", "expected")
    )
    return [
        FormulaGroup(family=row[0], expected=row[1], formulas=row[2], solved_share=row[3])
        for row in grouped.iter_rows()
    ]


def canonical_ends(text: str) -> str:
    """Return the text with one kind of line end."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _blocked_objective(row: Mapping[str, Any]) -> BlockedObjective:
    return BlockedObjective(
        description=row["description"], family=row["family"], reason=shown_reason(row["reason"] or "")
    )


def _blocked_id(source: str, cycle: str, number: int) -> str:
    return hashlib.sha256(f"blocked\x1f{cycle}\x1f{number}\x1f{canonical(source)}".encode()).hexdigest()
