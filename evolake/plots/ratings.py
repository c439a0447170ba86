"""Ratings against what they are meant to foretell: one point a system prompt, its rating with its uncertainty
against its held-out score."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evolake.plots.style import BLUE, FAINT, GREEN, SMALL, dress, figure, halo, say, short, to_png

LABEL_UPTO = 12
LEAST = 3


@dataclass(frozen=True)
class RatedPrompt:
    """A rated system prompt: mean and standard deviation of its rating, share of held-out problems solved
    under it with the interval."""

    prompt_id: str
    mu: float
    sigma: float
    score: float
    low: float
    high: float
    champion: bool = False


def rating_against_score(prompts: Sequence[RatedPrompt], title: str) -> bytes:
    """Return the scatter. With three different ratings and scores or more, its title states Spearman's rank
    correlation."""
    drawn, axes = figure(height=4.8)
    if not prompts:
        say(axes, "No prompt has been rated and evaluated yet.")
        return to_png(drawn)
    for prompt in prompts:
        colour = BLUE if prompt.champion else GREEN
        spread = [[prompt.score - prompt.low], [prompt.high - prompt.score]]
        axes.errorbar(
            prompt.mu,
            prompt.score,
            xerr=prompt.sigma,
            yerr=spread,
            color=FAINT,
            linewidth=0.9,
            alpha=0.7,
            zorder=1,
        )
        marker, size = ("*", 14) if prompt.champion else ("o", 7)
        axes.plot(
            prompt.mu, prompt.score, marker=marker, markersize=size, color=colour, linestyle="none", zorder=2
        )
    if len(prompts) <= LABEL_UPTO:
        for prompt in prompts:
            axes.annotate(
                "champion" if prompt.champion else short(prompt.prompt_id, 7),
                (prompt.mu, prompt.score),
                xytext=(6, 5),
                textcoords="offset points",
                fontsize=SMALL,
                path_effects=halo(),
                zorder=3,
            )
    rho = rank_correlation([item.mu for item in prompts], [item.score for item in prompts])
    text = (
        "too few different values for a correlation"
        if rho is None
        else f"Spearman's rank correlation {rho:+.2f}, {len(prompts)} prompts"
    )
    dress(
        axes,
        f"{title}\n{text}",
        "rating (mean, bars: one standard deviation)",
        "share of held-out problems solved (bars: 95%)",
    )
    low, high = axes.get_ylim()
    axes.set_ylim(max(low, -0.02), min(high, 1.02))
    return to_png(drawn)


def rank_correlation(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Return Spearman's rho of two samples of one length; None below three values or where one sample is
    constant."""
    if len(first) < LEAST or np.ptp(first) == 0 or np.ptp(second) == 0:
        return None
    return float(np.corrcoef(_ranks(first), _ranks(second))[0, 1])


def _ranks(values: Sequence[float]) -> np.ndarray:
    """Return the ranks of values, equal values at the mean of theirs. scipy.stats has it, but takes half a
    second to import."""
    _, places, counts = np.unique(
        np.asarray(values, dtype=np.float64), return_inverse=True, return_counts=True
    )
    return (counts.cumsum() - (counts - 1) / 2)[places]
