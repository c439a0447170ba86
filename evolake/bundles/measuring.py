"""Measure again what a bundle states: shared by all lines.

No number of a bundle is trusted. What is stated must follow from the rows of the bundle (`difference`), and
must be reached under seeds that the verifier draws (`judged`), which the author of the bundle cannot know.
Seeds or formulas on which an artifact happens to look good are therefore no help.
"""

from __future__ import annotations

import itertools
import math
import secrets
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from evolake.bundles.model import Said
from evolake.contest import paired
from evolake.report.numbers import counted
from evolake.seeds import generator

if TYPE_CHECKING:
    from evolake.report.gain import Gain

FRESH, LEAST_FRESH = 12, 9
"""Fresh seeds: as many as the first, or as the bundle itself has; at least the second if only a sample is run
again."""
DOUBT = 0.01
"""Largest probability that an honest statement is refused by chance: three stated seeds of 12 are one choice
of 220."""
MOST_CHOICES = 5000
LARGEST_SEED = 2**31
STATED = ("text", "estimate", "low", "high", "level", "against_id", "cycle", "beyond_noise")
"""What every stated gain has (`Gain.to_json`)."""


def fresh_seeds(count: int) -> list[int]:
    """Return seeds that no one could know before."""
    return [secrets.randbelow(LARGEST_SEED) for _ in range(count)]


def fresh_count(stated: int, sample: int | None) -> int:
    """Return how many fresh seeds are drawn. stated: seeds that the bundle has. sample: evaluations to run
    again, None for all."""
    count = max(FRESH, stated)
    return count if sample is None else max(LEAST_FRESH, min(count, sample))


def difference(stated: Mapping[str, Any], found: Gain | None) -> str:
    """Return how a stated gain differs from the one that follows from the rows of the bundle; "" if it does
    not."""
    values = found.to_json() if found else {}
    for name in sorted(values.keys() | stated.keys()):
        if not equal(stated.get(name), values.get(name)):
            return (
                f"the gain that is stated is not that of its evaluations: {name} is {values.get(name)!r}, "
                f"and it says {stated.get(name)!r}"
            )
    return ""


def equal(stated: Any, found: Any) -> bool:
    """Return whether two values are the same; numbers up to rounding."""
    if isinstance(stated, float | int) and isinstance(found, float | int):
        return math.isclose(stated, found, rel_tol=1e-9, abs_tol=1e-12)
    return stated == found


def consensus_score(score: float | None) -> list[Said]:
    """Return what is said of a stated score that is the consensus of objectives of a lake; nothing if none is
    stated."""
    if score is None:
        return []
    return [
        Said(
            "score",
            "unmeasured",
            f"{score:.6g} is the consensus of the objectives of its lake, which a bundle does not carry",
        )
    ]


def judged(
    what: str,
    stated: Sequence[float],
    fresh: Sequence[float],
    *,
    sign: int = 1,
    shown: Callable[[float], float] = lambda value: value,
    gain: Mapping[str, Any] | None = None,
    unit: str = "seed",
) -> Said:
    """Return whether what is stated on some seeds is reached under fresh ones: holds, fails, or open if they
    are too few to decide.

    If the stated seeds were drawn as the fresh ones are, each choice of as many of all these seeds is equally
    likely to be the stated one (Fisher 1935, whatever the distribution). A mean that is among the best
    `DOUBT` of these is refused. A gain that is stated to be beyond the noise is reached only if the fresh
    values alone show it (`evolake.contest.paired`).

    Args:
        stated, fresh: values under each seed. sign: 1 if higher is better, -1 if lower is. shown: a value as
            it is printed.
        gain: the stated gain (`Gain.to_json`), if the values are of it. unit: what values are of, in the
            singular.
    """
    values = sign * np.array([*stated, *fresh])
    chance = _chance(values, len(stated))
    said = (
        f"{shown(_mean(fresh)):.6g} on {counted(len(fresh), unit)}, stated {shown(_mean(stated)):.6g} on "
        f"{len(stated)}"
    )
    if chance <= DOUBT:
        return Said(what, "fails", f"not reached: {said} (p {chance:.2g})", gain=gain is not None)
    if (
        gain is not None
        and gain["beyond_noise"]
        and not paired(sign * np.array(fresh), generator(0, "bundles", "", "fresh")).wins
    ):
        return Said(what, "open", f"neither reached beyond the noise nor refuted: {said}", gain=True)
    return Said(what, "holds", said, gain=gain is not None)


def _chance(values: np.ndarray, count: int) -> float:
    """Return the share of choices of `count` values whose sum is at least that of the first ones. Of very
    many choices some are drawn."""
    least = float(values[:count].sum()) - 1e-9 * max(1.0, float(np.abs(values).max()))
    if math.comb(len(values), count) <= MOST_CHOICES:
        sums = [
            float(values[list(places)].sum()) for places in itertools.combinations(range(len(values)), count)
        ]
        return float(np.mean(np.array(sums) >= least))
    drawn = (
        np.random.default_rng(0).permuted(np.tile(values, (MOST_CHOICES, 1)), axis=1)[:, :count].sum(axis=1)
    )
    return float((1 + (drawn >= least).sum()) / (1 + MOST_CHOICES))


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)
