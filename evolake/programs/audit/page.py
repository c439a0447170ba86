"""An audit as one page of HTML, with pictures of the scores of a run and of single evaluations."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

from evolake import __version__
from evolake.plots.style import BLUE, DARK, FAINT, ORANGE, SKY, SMALL, dress, figure, to_png
from evolake.programs.audit.verdict import HEADS, TITLES, Audit, Entry
from evolake.report.pages import render

FEWEST = 3
"""Numbers from which a picture says more than a table."""
SIDES = {
    "same seed": ("initial program, one seed", SKY),
    "other seed": ("initial program, further seeds", BLUE),
    "initial": ("initial program, contest", DARK),
    "best": ("best program, contest", ORANGE),
}


def page_of(*audits: Audit, entries: Sequence[Entry] = ()) -> str:
    """Return audits as one page, without script or outside reference. entries: of several folders, for a
    table in front of their audits."""
    shown = [*audits, *(entry.audit for entry in entries if entry.audit)]
    given = {"audits": shown, "entries": entries, "heads": HEADS, "titles": TITLES, "version": __version__}
    drawn = [pictures_of(audit) for audit in shown]
    return render("evolake.programs.audit", "verdict.html.j2", drawn=drawn, **given)


def pictures_of(audit: Audit) -> dict[str, bytes]:
    """Return alternative text -> PNG: what the picture shows, in words with figures; none for too few
    numbers."""
    result: dict[str, bytes] = {}
    known = [score for score in audit.history if score is not None]
    if len(known) >= FEWEST:
        best = max(known)
        said = (
            f"Scores of {len(known):,} of {len(audit.history):,} candidates in the order of birth: from "
            f"{min(known):.6g} to {best:.6g}, which candidate {audit.history.index(best):,} reaches first"
        )
        result[said] = _history(audit.history)
    rows = {side: [item.score for item in audit.scores if item.side == side] for side in SIDES}
    shown = {side: [score for score in some if score is not None] for side, some in rows.items()}
    shown = {side: some for side, some in shown.items() if some}
    if sum(map(len, shown.values())) >= FEWEST:
        parts = [
            f"{SIDES[side][0]} {min(some):.6g} to {max(some):.6g} ({len(some)} evaluations)"
            for side, some in shown.items()
        ]
        result[f"Scores of single evaluations: {'; '.join(parts)}"] = _seeds(shown)
    return result


def _history(scores: Sequence[float | None]) -> bytes:
    """Draw dots, and the best so far as a line."""
    drawn, axes = figure(height=3.4)
    places = [place for place, score in enumerate(scores) if score is not None]
    known = [score for score in scores if score is not None]
    axes.scatter(places, known, s=10, color=BLUE, linewidths=0, label="score as the run states it")
    best = list(itertools.accumulate(known, max))
    axes.step(places, best, where="post", color=ORANGE, linewidth=1.4, label="highest so far")
    middle = sorted(known)[len(known) // 2]
    spread = max(known) - middle
    if spread > 0 and middle - min(known) > 50 * spread and all(map(math.isfinite, known)):
        axes.set_ylim(middle - 4 * spread, max(known) + 0.5 * spread)
    dress(axes, "Candidates of the run", "candidate, in the order of birth", "score")
    axes.legend(fontsize=SMALL, frameon=False)
    return to_png(drawn)


def _seeds(shown: dict[str, list[float]]) -> bytes:
    """Draw a row of dots for each side."""
    drawn, axes = figure(height=1.2 + 0.5 * len(shown))
    for place, (side, scores) in enumerate(reversed(shown.items())):
        axes.hlines(place, min(scores), max(scores), color=FAINT, linewidth=1)
        axes.scatter(scores, [place] * len(scores), s=16, color=SIDES[side][1], linewidths=0)
    axes.set_yticks(range(len(shown)), [SIDES[side][0] for side in reversed(shown)])
    axes.set_ylim(-0.6, len(shown) - 0.4)
    dress(axes, "Single evaluations", "score", grid="x")
    return to_png(drawn)
