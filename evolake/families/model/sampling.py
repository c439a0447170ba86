"""How many instances at which difficulty: bands 1-3, 4-6 and 7-10 in the ratio 1:3:5 (paper, appendix on
data: (0-3):(4-6):(7-10)).

Within a band the difficulties share evenly, the lower ones first. A band that is short is filled from its own
difficulties only, so that the ratio holds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from evolake.families.model.contract import DIFFICULTIES

BANDS: tuple[tuple[int, ...], ...] = ((1, 2, 3), (4, 5, 6), (7, 8, 9, 10))


def band_of(difficulty: int) -> str:
    """Return the name of a difficulty's band, e.g. "4-6". Raises ValueError outside 1..10."""
    for band in BANDS:
        if difficulty in band:
            return band_name(band)
    raise ValueError(f"difficulty must be {DIFFICULTIES.start} to {DIFFICULTIES.stop - 1} (got {difficulty})")


def band_name(band: Sequence[int]) -> str:
    """Return e.g. "7-10"."""
    return f"{band[0]}-{band[-1]}"


def band_counts(wanted: int, weights: Sequence[int]) -> dict[str, int]:
    """Return `wanted` instances divided over the bands by largest remainder; ties go to the harder band. Sums
    to `wanted`.

    Raises ValueError for weights that are negative or all zero.
    """
    total = sum(weights)
    if len(weights) != len(BANDS) or min(weights) < 0 or total == 0:
        raise ValueError(
            f"wanted {len(BANDS)} weights that are not negative, one of them positive (got {list(weights)})"
        )
    exact = [wanted * weight / total for weight in weights]
    counts = [int(value) for value in exact]
    order = sorted(range(len(BANDS)), key=lambda number: (counts[number] - exact[number], -number))
    for number in order[: wanted - sum(counts)]:
        counts[number] += 1
    return {band_name(band): count for band, count in zip(BANDS, counts, strict=True)}


def spread(missing: Mapping[str, int], turn: int = 0) -> list[int]:
    """Return the difficulties to draw, one per instance that is missing. turn: shifts which difficulties of a
    band come first in a later draw."""
    drawn: list[int] = []
    for band in BANDS:
        start = 0 if turn == 0 else -turn  # later draws begin at the hard end, where repeats are rarer
        drawn += [band[(start + number) % len(band)] for number in range(missing.get(band_name(band), 0))]
    return drawn
