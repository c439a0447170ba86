"""Show numbers without digits that the measurement does not know, in units that fit their size; and a trend
in the space of a word, as points of an SVG polyline and as text for a terminal."""

from __future__ import annotations

import math
from collections.abc import Sequence

MOST_DECIMALS = 4


def decimals_known(low: float, high: float) -> int:
    """Return decimals that an interval leaves: up to the first digit of its half width, one more where that
    digit is 1 or 2."""
    half = (high - low) / 2
    if not math.isfinite(half) or half <= 0:
        return 2
    place = math.floor(math.log10(half))
    return min(max(-place + (half / 10**place < 3), 0), MOST_DECIMALS)


def interval(estimate: float, low: float, high: float, percent: float = 95) -> str:
    """Return an estimate with its interval, both to the digits that the interval leaves: `4.2 (95% interval
    3.1 to 5.3)`."""
    places = decimals_known(low, high)
    return f"{estimate:,.{places}f} ({percent:g}% interval {low:,.{places}f} to {high:,.{places}f})"


def share_interval(estimate: float, low: float, high: float, percent: float = 95) -> str:
    """Return the same for a difference of shares, in percentage points with their sign."""
    places = decimals_known(100 * low, 100 * high)
    ends = f"{100 * low:+.{places}f} to {100 * high:+.{places}f}"
    return f"{100 * estimate:+.{places}f} percentage points ({percent:g}% interval {ends})"


def figures(value: float, digits: int = 3) -> str:
    """Return a number that has no interval: so many significant digits, whole above 1,000."""
    if not math.isfinite(value):
        return str(value)
    if abs(value) >= 10**digits:
        return f"{value:,.0f}"
    return f"{value:.{digits}g}" if not value or abs(value) >= 1e-4 else f"{value:.{digits - 1}e}"


def duration(seconds: float) -> str:
    """Return seconds in the unit that fits: `41 s`, `3.2 min`, `1.4 h`."""
    for size, unit in ((3600, "h"), (60, "min")):
        if seconds >= 1.5 * size:
            return f"{figures(seconds / size, 2)} {unit}"
    return f"{figures(seconds, 2)} s"


def dollars(usd: float | None) -> str:
    """Return a price; what is not known is said."""
    if usd is None:
        return "price unknown"
    if usd >= 0.005 or not usd:
        return f"${usd:,.2f}"
    return "under $0.01"


def counted(number: int, what: str, many: str = "") -> str:
    """Return `1 call`, `2 calls`, `3,000 families`."""
    return f"{number:,} {what if number == 1 else many or what + 's'}"


BLOCKS = "▁▂▃▄▅▆▇█"


def heights(values: Sequence[float]) -> list[float]:
    """Return values scaled to 0..1; a constant is in the middle."""
    low, high = min(values), max(values)
    return [(value - low) / (high - low) if high > low else 0.5 for value in values]


def polyline(
    values: Sequence[float], width: int = 120, height: int = 28, margin: int = 3
) -> list[tuple[float, float]]:
    """Return (x, y) of each value in a box of that size, oldest at the left, larger values higher."""
    step = (width - 2 * margin) / max(len(values) - 1, 1)
    return [
        (round(margin + place * step, 1), round(height - margin - up * (height - 2 * margin), 1))
        for place, up in enumerate(heights(values) if values else [])
    ]


def blocks(values: Sequence[float], longest: int = 40) -> str:
    """Return the newest values as a row of block characters."""
    shown = list(values)[-longest:]
    return (
        "".join(BLOCKS[min(int(up * len(BLOCKS)), len(BLOCKS) - 1)] for up in heights(shown)) if shown else ""
    )
