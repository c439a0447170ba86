"""Meta review without a model: what is wrong with the portfolio of objectives, measured by numbers.

Agreement cannot distinguish an informative majority from an echo chamber (Zhang, Sipling and Di Ventra 2026,
section S2.2), so a second look judges each objective and moves its multiplier. Gradually: a finding takes 30%
off, no finding gives 10% back up to 1. One odd cycle then changes little, a lasting fault silences an
objective within some eight reviews, and an objective that has come right is heard again.

Findings, most serious first:
    anti-correlated      median tau with the others below 0
    ranks failures high  a failed design is placed above a sound one more often than not
    does not distinguish  ties more than half of all pairs of designs
    echo                 in a tight block of at least three (average linkage, tau of at least 0.85) and not
                         its spokesman; kept at 1/size or more

Where the search is, from what its champions achieved cycle by cycle.

The consensus itself cannot show it: it is relative to the designs of the day. The size a champion solves and
the steps it takes there can be compared.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from evolake.errors import InputError
from evolake.objectives.consensus import Consensus
from evolake.objectives.kendall import rank_rows
from evolake.objectives.portfolio import BASELINE_FAMILY, OBJECTIVE_FAMILIES

Phase = Literal["exploring", "converging", "refining", "stuck", "breakthrough_needed"]

WINDOW = 3
FEWER_STEPS = 0.95


@dataclass(frozen=True)
class Progress:
    """What the champion of a cycle achieved. reach: largest size solved; steps: median steps at that size."""

    cycle: str
    reach: float
    steps: float


def phase_of(progress: Sequence[Progress]) -> Phase:
    """Return the phase after the last of `progress` (oldest first).

    exploring: at most three cycles so far. converging: the reach grew within the last three. refining: it did
    not, but the steps at that reach fell by 5% or more. stuck: neither, for three cycles.
    breakthrough_needed: neither, for six.
    """
    if len(progress) <= WINDOW:
        return "exploring"
    if reach_grew(progress, WINDOW):
        return "converging"
    if steps_fell(progress, WINDOW):
        return "refining"
    if (
        len(progress) > 2 * WINDOW
        and not reach_grew(progress, 2 * WINDOW)
        and not steps_fell(progress, 2 * WINDOW)
    ):
        return "breakthrough_needed"
    return "stuck"


def reach_grew(progress: Sequence[Progress], cycles: int) -> bool:
    """Return whether a champion of the last `cycles` solved a larger size than all before."""
    return max(entry.reach for entry in progress[-cycles:]) > max(entry.reach for entry in progress[:-cycles])


def steps_fell(progress: Sequence[Progress], cycles: int) -> bool:
    """Return whether at the largest reach the fewest steps of the last `cycles` are at least 5% below the
    fewest before."""
    reach = max(entry.reach for entry in progress)
    before = [entry.steps for entry in progress[:-cycles] if entry.reach == reach]
    lately = [entry.steps for entry in progress[-cycles:] if entry.reach == reach]
    return bool(before) and bool(lately) and min(lately) <= FEWER_STEPS * min(before)


def words_on_phase(phase: Phase, progress: Sequence[Progress], reach: Sequence[float] = ()) -> str:
    """Return one or two sentences on where the search is. reach: the largest size that each measured
    candidate solved, 0 for none."""
    if not progress and not len(reach):
        return "Nothing has been measured yet."
    if not progress:
        solved = (
            f"the largest size that one solved is N={max(reach):g}"
            if max(reach) > 0
            else "none solved any size"
        )
        return f"No cycle has decided on a champion yet; {len(reach)} were measured, and {solved}."
    best = min(progress, key=lambda entry: (-entry.reach, entry.steps))
    state = {
        "exploring": "The search has only begun.",
        "converging": "The largest solvable size is growing.",
        "refining": "The largest solvable size stands, but it is reached in fewer steps.",
        "stuck": f"No champion has improved for {WINDOW} cycles.",
        "breakthrough_needed": f"No champion has improved for {2 * WINDOW} cycles; more of the same will not do.",
    }[phase]
    return f"{state} Best so far: N={best.reach:g} in {best.steps:g} median steps (cycle {best.cycle})."


LOWER = 0.7
RAISE = 1.1
SILENT = 0.05
ECHO_TAU = 0.85
ECHO_SIZE = 3
TIED_SHARE = 0.5
FAILED_SHARE = 0.25

Finding = Literal["anti-correlated", "ranks failures high", "does not tell apart", "echo"]


@dataclass(frozen=True)
class Reviewed:
    """An objective as the review sees it: row i of the scores. multiplier: the one in force before this
    review."""

    objective_id: str
    family: str
    multiplier: float = 1.0


@dataclass(frozen=True)
class ObjectiveAnalysis:
    """What the review says of one objective; `multiplier` is the one from now on."""

    objective_id: str
    assessment: str
    multiplier: float
    findings: tuple[Finding, ...]


@dataclass(frozen=True)
class Review:
    """A meta review. guidance: for the next writer of objectives; it names the families that are missing in
    brackets."""

    assessment: str
    phase: Phase
    objectives: tuple[ObjectiveAnalysis, ...]
    guidance: str


def review(
    objectives: Sequence[Reviewed],
    scores: np.ndarray,
    consensus: Consensus,
    reach: Sequence[float] | np.ndarray,
    progress: Sequence[Progress],
) -> Review:
    """Judge the portfolio.

    Args:
        objectives: K objectives. scores: (K, n) float, NaN or +inf missing; consensus: what `aggregate` made
            of them.
        reach: (n,) largest size each design solved, 0 for none.
        progress: one entry per cycle, oldest first.

    Raises:
        InputError: shapes that do not fit together.
    """
    table = np.where(np.isnan(scores), np.inf, np.asarray(scores, dtype=np.float64))
    sizes = np.asarray(reach, dtype=np.float64)
    if (
        table.ndim != 2
        or table.shape != (len(objectives), len(sizes))
        or len(consensus.weights) != len(objectives)
    ):
        raise InputError(
            "the parts of the meta review do not fit",
            wanted=f"scores of shape {(len(objectives), len(sizes))}",
            got=str(table.shape),
        )
    ranks = rank_rows(table)
    blocks = echo_chambers(consensus.tau)
    above = failures_above(ranks.average, failed_designs(sizes))
    pairs = table.shape[1] * (table.shape[1] - 1) / 2
    tied = ranks.tied_pairs / pairs if pairs else np.zeros(len(objectives))
    analyses = []
    for i, objective in enumerate(objectives):
        block = next((block for block in blocks if i in block), ())
        result: list[tuple[Finding, str]] = []
        if consensus.median_tau[i] < 0:
            result.append(
                (
                    "anti-correlated",
                    f"disagrees with the majority (median tau {consensus.median_tau[i]:+.2f})",
                )
            )
        if above[i] > 0.5:
            result.append(
                (
                    "ranks failures high",
                    f"places a failed design above a sound one in {above[i]:.0%} of such pairs",
                )
            )
        if tied[i] > TIED_SHARE:
            result.append(("does not tell apart", f"ties {tied[i]:.0%} of all pairs of designs"))
        if block and i != spokesman(block, consensus):
            result.append(("echo", f"repeats a block of {len(block)} objectives"))
        findings: tuple[Finding, ...] = tuple(finding for finding, _ in result)
        multiplier = next_multiplier(objective.multiplier, findings, len(block))
        said = "; ".join(text for _, text in result) or f"sound (median tau {consensus.median_tau[i]:+.2f})"
        analyses.append(
            ObjectiveAnalysis(objective.objective_id, f"{objective.family}: {said}", multiplier, findings)
        )
    phase = phase_of(progress)
    return Review(
        assessment=(
            f"{words_on_phase(phase, progress, sizes.tolist())} "
            f"{_words_on_portfolio(analyses, blocks, consensus)}"
        ),
        phase=phase,
        objectives=tuple(analyses),
        guidance=_guidance(objectives, analyses, missing_families(objectives, phase)),
    )


def failed_designs(reach: np.ndarray) -> np.ndarray:
    """Return designs that got nowhere, (n,) bool: nothing solved, or less than a quarter of the size that the
    best design solved."""
    return (reach <= 0) | (reach < FAILED_SHARE * reach.max(initial=0.0))


def failures_above(ranks: np.ndarray, failed: np.ndarray) -> np.ndarray:
    """Return share of (failed, sound) pairs in which an objective places the failed design higher, (K,); a
    tie counts one half, no pairs give 0."""
    bad, good = ranks[:, failed], ranks[:, ~failed]
    if not bad.shape[1] or not good.shape[1]:
        return np.zeros(len(ranks))
    places = rank_rows(np.concatenate([bad, good], axis=1)).average
    count = bad.shape[1]
    worse = places[:, :count].sum(axis=1) - count * (count - 1) / 2
    return 1.0 - worse / (count * good.shape[1])


def echo_chambers(tau: np.ndarray) -> list[tuple[int, ...]]:
    """Return tight blocks of objectives: positions of at least three whose average tau is at least 0.85 at
    every merge (average linkage)."""
    if len(tau) < ECHO_SIZE:
        return []
    from scipy.cluster.hierarchy import fcluster, linkage
    from scipy.spatial.distance import squareform

    distance = np.maximum(1.0 - tau, 0.0)
    np.fill_diagonal(distance, 0.0)
    labels = fcluster(
        linkage(squareform(distance, checks=False), method="average"), t=1.0 - ECHO_TAU, criterion="distance"
    )
    blocks = [tuple(np.flatnonzero(labels == label).tolist()) for label in np.unique(labels)]
    return sorted(block for block in blocks if len(block) >= ECHO_SIZE)


def spokesman(block: Sequence[int], consensus: Consensus) -> int:
    """Return the member that keeps the block's voice: the one agreeing most with its block; the last
    (youngest) of equals."""
    agreement = consensus.tau[np.ix_(block, block)].sum(axis=1)
    return max(zip(agreement.round(12), block, strict=True))[1]


def next_multiplier(multiplier: float, findings: Sequence[Finding], block_size: int) -> float:
    """Return the multiplier after one review: 0.7 of it on a finding, 1.1 of it (at most 1) without. Below
    0.05 it is 0; from 0 it recovers to 0.05.

    An echo says nothing wrong: with no other finding it moves towards 1/block_size from either side, so that
    the block as a whole keeps one voice.
    """
    faulty = any(finding != "echo" for finding in findings)
    if faulty:
        lowered = multiplier * LOWER
        return 0.0 if lowered < SILENT else round(lowered, 6)
    aim = 1 / block_size if findings else 1.0
    if findings and multiplier > aim:
        return round(max(multiplier * LOWER, aim), 6)
    return round(max(multiplier, min(aim, max(multiplier * RAISE, SILENT))), 6)


def missing_families(objectives: Sequence[Reviewed], phase: Phase) -> tuple[str, ...]:
    """Return families with the fewest objectives. When the search stagnates, those that look at the frontier
    come first."""
    counts = Counter(objective.family for objective in objectives)
    fewest = min((counts[name] for name in OBJECTIVE_FAMILIES), default=0)
    rare = [name for name in OBJECTIVE_FAMILIES if counts[name] == fewest]
    if phase in ("stuck", "breakthrough_needed"):
        frontier = [name for name in frontier_families() if counts[name] <= fewest + 1]
        rare = frontier + [name for name in rare if name not in frontier]
    return tuple(rare)


def frontier_families() -> list[str]:
    """Return families that look at the frontier, the first to be asked for first."""
    looking = [family for family in OBJECTIVE_FAMILIES.values() if family.at_frontier]
    return [family.name for family in sorted(looking, key=lambda family: family.at_frontier)]


def _words_on_portfolio(
    analyses: Sequence[ObjectiveAnalysis], blocks: Sequence[Sequence[int]], consensus: Consensus
) -> str:
    kinds = Counter(finding for analysis in analyses for finding in analysis.findings)
    if not kinds:
        return f"The {len(analyses)} objectives are sound."
    listed = ", ".join(f"{count} {finding}" for finding, count in sorted(kinds.items()))
    share = sum(float(consensus.weights[list(block)].sum()) for block in blocks)
    echo = f" Tight blocks hold {share:.0%} of the weight." if blocks else ""
    return f"Of {len(analyses)} objectives: {listed}.{echo}"


def _guidance(
    objectives: Sequence[Reviewed], analyses: Sequence[ObjectiveAnalysis], wanted: Sequence[str]
) -> str:
    lines = [
        f"Write objectives that look at {OBJECTIVE_FAMILIES[name].aspect} ({name})." for name in wanted[:3]
    ]
    echoing = Counter(
        o.family
        for o, a in zip(objectives, analyses, strict=True)
        if "echo" in a.findings and o.family != BASELINE_FAMILY
    )
    lines += [
        f"No more of {family}: {count} of them say the same." for family, count in sorted(echoing.items())
    ]
    if any("ranks failures high" in analysis.findings for analysis in analyses):
        lines.append(
            "Success is unsolved_fraction below one half and nothing else; who solves larger instances "
            "must not lose to who fails."
        )
    if any("does not tell apart" in analysis.findings for analysis in analyses):
        lines.append("Avoid gates and rounding: scores should differ wherever results do.")
    return " ".join(lines)
