"""What has to be made again after rules were edited, cycle by cycle, and what that took when it was made
before.

A cycle whose candidates end as they did is judged again and nothing else changes. The first one in which a
candidate ends otherwise is made again from its judging assets on, and every later cycle whole, for it is
based on another population.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evolake.lake import AGENT_CALLS, VERDICTS
from evolake.report.champion import SEED_ROUND
from evolake.report.rules_preview import Preview, evidence_of_line
from evolake.report.story import Cost

if TYPE_CHECKING:
    from evolake.lake import Catalogue

Row = Mapping[str, Any]
CALLS = f"""
SELECT coalesce(origin_cycle, '{SEED_ROUND}') AS cycle, origin_asset[:-{len(AGENT_CALLS.name) + 3}] AS asset,
  artifact_id, 1 AS calls,
  coalesce(input_tokens + output_tokens, 0) AS tokens, usd
FROM agent_calls_all WHERE origin_line = $line
QUALIFY row_number() OVER (PARTITION BY call_id ORDER BY usd DESC NULLS LAST, superseded) = 1"""


@dataclass(frozen=True)
class Graph:
    """The assets of one cycle of a line.

    Attributes:
        everything: in the order that they are made. below: those that ask rules -> what depends on them in
            the same cycle.
    """

    everything: tuple[str, ...]
    below: Mapping[str, frozenset[str]]

    @property
    def downstream(self) -> frozenset[str]:
        """What asks rules, and all that depends on it."""
        return frozenset(self.below).union(*self.below.values())


MadeBy = Callable[[str, str], bool | None]
"""(asset, cycle) -> whether Dagster has the asset as made by the rules of its gates; None if Dagster has no
record of it."""


@dataclass(frozen=True)
class CycleWork:
    """What has to be made again of one cycle. whole: all of it, for another population enters. changes:
    candidates that end otherwise."""

    cycle: str
    assets: tuple[str, ...]
    whole: bool
    changes: int
    cost: Cost


@dataclass(frozen=True)
class Work:
    """All that has to be made again.

    Attributes:
        seeds: how many seeds end otherwise; they stay what they are until they are sealed again. once: assets
            without cycles that ask rules.
    """

    cycles: tuple[CycleWork, ...]
    seeds: int
    once: tuple[str, ...] = ()

    @property
    def cost(self) -> Cost:
        """Of all cycles."""
        return _added([cycle.cost for cycle in self.cycles])


def unrecorded(_asset: str, _cycle: str) -> None:
    """Answer as the `MadeBy` of a lake without Dagster's records: verdicts say by which rules they were
    given."""


def work_of(
    preview: Preview,
    graph: Graph,
    catalogue: Catalogue,
    done: Sequence[str],
    made_by: MadeBy = unrecorded,
    once: Sequence[str] = (),
) -> Work:
    """Return what the preview's rules ask to be made again: what Dagster's UI shows as stale, and what
    becomes stale when that is made.

    done: the line's finished cycles, in order. once: assets without cycles that other rules made.
    """
    judging = _judging(preview, graph, catalogue)
    changed = [fate for fate in preview.fates if fate.changes and fate.asset in judging]
    first = min((fate.cycle for fate in changed), default=None)
    spent = _spent(preview.line, catalogue)
    cycles: list[CycleWork] = []
    for cycle in done:
        whole = first is not None and first < cycle
        stale = [asset for asset in graph.below if _is_stale(asset, cycle, preview, made_by)]
        if not whole and cycle != first and not stale:
            continue
        again = set(stale).union(*(graph.below[asset] for asset in stale)) if cycle == first else set(stale)
        assets = tuple(asset for asset in graph.everything if whole or asset in again)
        own = [row for row in spent if row["cycle"] == cycle]
        changes = sum(fate.cycle == cycle for fate in changed)
        cost = _cost(own) if whole else _cost_of(own, assets, judging, preview, cycle)
        cycles.append(CycleWork(cycle, assets, whole, changes, cost))
    return Work(
        tuple(cycles), sum(fate.changes and fate.cycle == SEED_ROUND for fate in preview.fates), tuple(once)
    )


def _is_stale(asset: str, cycle: str, preview: Preview, made_by: MadeBy) -> bool:
    known = made_by(asset, cycle)
    return (asset, cycle) in preview.outdated if known is None else not known


def _judging(preview: Preview, graph: Graph, catalogue: Catalogue) -> set[str]:
    """Assets that publish verdicts and are made again when a rule is edited."""
    rows = catalogue.query(
        "SELECT DISTINCT origin_asset FROM verdicts_all WHERE origin_line = $line", {"line": preview.line}
    ).rows
    publishing = {asset for (asset,) in rows}
    return {asset for asset in graph.downstream if f"{asset}__{VERDICTS.name}" in publishing}


def _spent(line: str, catalogue: Catalogue) -> list[Row]:
    """Rows of cycle, asset, artifact_id and what was spent: cpu_s, or calls, tokens and usd."""
    seconds = evidence_of_line(line).seconds
    rows = catalogue.frame(seconds).to_dicts() if seconds else []
    return [*rows, *catalogue.frame(CALLS, {"line": line}).to_dicts()]


def _cost_of(
    spent: Sequence[Row], assets: Collection[str], judging: Collection[str], preview: Preview, cycle: str
) -> Cost:
    """Return what making `assets` of a cycle takes: what they took before, less those that are now blocked,
    and the mean for each that is new.

    Evidence that is stored costs nothing; for each candidate whose evidence is lacking, what a candidate took
    that was judged when it was made.
    """
    fates = [fate for fate in preview.fates if fate.cycle == cycle]
    out = {fate.artifact_id for fate in fates if fate.changes and fate.now == "blocked"}
    new = sum(fate.changes and fate.now != "blocked" for fate in fates)
    lacking = sum(bool(fate.lacking) for fate in fates)
    after = [
        row
        for row in spent
        if row["asset"] in assets and (row["asset"] in judging or row["artifact_id"] not in out)
    ]
    made = [row for row in spent if row["asset"] not in assets and row["artifact_id"] and "cpu_s" in row]
    return _added([_cost(after), _times(_each(after), new), _times(_each(made), lacking)])


def _each(rows: Sequence[Row]) -> Cost:
    """Return the mean over the candidates that rows name."""
    named = [row for row in rows if row["artifact_id"]]
    return _times(_cost(named), 1 / max(len({row["artifact_id"] for row in named}), 1))


def _cost(rows: Sequence[Row]) -> Cost:
    seconds, calls = [row for row in rows if "cpu_s" in row], [row for row in rows if "calls" in row]
    prices = [row["usd"] for row in calls]
    return Cost(
        sum(float(row["cpu_s"] or 0) for row in seconds),
        len(calls),
        sum(row["tokens"] for row in calls),
        None if None in prices else sum(prices),
    )


def _times(cost: Cost, factor: float) -> Cost:
    return Cost(
        (cost.cpu_s or 0) * factor,
        round(cost.calls * factor),
        round(cost.tokens * factor),
        None if cost.usd is None else cost.usd * factor,
    )


def _added(costs: Sequence[Cost]) -> Cost:
    prices = [cost.usd for cost in costs]
    return Cost(
        sum(cost.cpu_s or 0 for cost in costs),
        sum(cost.calls for cost in costs),
        sum(cost.tokens for cost in costs),
        None if None in prices else sum(price or 0 for price in prices),
    )
