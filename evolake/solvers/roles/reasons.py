"""Why a move may help its parent: what the parent's runs on the training formulas count, in words and as
odds.

A family of formulas is drawn by what the parent spends on it. There, each counter for each conflict is set
against its median over the parent's families: of a search that does three times as many propagations a
conflict on that family as elsewhere, the edits that decide what is propagated are the ones to look at first.
The farther a counter is from its median, the likelier are untried edits of its subject; an edit that was
tried is judged by what it saved (`bandit`), whatever the counters say.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from evolake.solvers.edits.subjects import Subject, meaning_of, subject_of
from evolake.solvers.roles.models import Credit, FamilyCounters

FARTHEST = 4.0
"""A counter that is so many times its median, or a part of it as small, counts as much as one that lies
farther out."""
NOTED = 1.1
"""Within this factor of its median a counter is called usual."""
_WORDS: dict[Subject, tuple[str, str]] = {
    "restarts": ("{value} conflicts between two restarts", "restarts"),
    "decisions": ("{value} decisions a conflict", "what is decided next"),
    "propagations": ("{value} propagations a conflict", "which clauses are kept"),
    "proof_bytes": (
        "{value} bytes of proof a conflict",
        "how long what is learnt is, and what is derived between conflicts",
    ),
}
"""Subject -> how its counter reads, and what its edits decide."""


@dataclass(frozen=True)
class Observed:
    """What the counters of one parent say on one family of formulas.

    values: subject -> the figure that is shown (of restarts the conflicts between two). usual: subject -> its median over the parent's families; none
    if there is one family only. of_seed: subject -> the same figure of the parent's seed on this family; none if the parent is the seed.
    """

    family: str
    share: float
    values: Mapping[Subject, float]
    usual: Mapping[Subject, float]
    of_seed: Mapping[Subject, float]

    def strength(self, subject: Subject | None) -> float:
        """Return how far the counter of a subject is from its median: 0 at the median or if it is not known,
        1 from a factor of `FARTHEST` on."""
        if subject is None or subject not in self.values or subject not in self.usual:
            return 0.0
        return min(1.0, abs(math.log(self.values[subject] / self.usual[subject])) / math.log(FARTHEST))


def observe(
    counters: Sequence[FamilyCounters], of_seed: Sequence[FamilyCounters], random: np.random.Generator
) -> Observed | None:
    """Return what is observed on a family that is drawn by its share of the parent's PAR-2; None, and nothing
    is drawn, if nothing was counted."""
    if not counters:
        return None
    shares = np.array([max(item.share, 0.0) for item in counters])
    odds = shares / shares.sum() if shares.sum() > 0 else np.full(len(counters), 1 / len(counters))
    drawn = counters[int(random.choice(len(counters), p=odds))]
    figures = [_figures(item) for item in counters]
    values = _figures(drawn)
    usual: dict[Subject, float] = {
        subject: statistics.median(found)
        for subject in values
        if len(found := [item[subject] for item in figures if subject in item]) > 1
    }
    seed = next((item for item in of_seed if item.family == drawn.family), None)
    return Observed(drawn.family, drawn.share, values, usual, _figures(seed) if seed else {})


def reason_for(key: str, observed: Observed | None, texts: Mapping[str, str]) -> str:
    """Return why an edit is tried, in one or two sentences. texts: option -> its declared text; "" if nothing
    is known of it."""
    subject, meaning = subject_of(key, texts), meaning_of(key, texts).strip().rstrip(".")
    meant = f" {meaning}." if key.startswith("patch:") else f" The option: {meaning}."
    if not meaning:
        meant = ""
    if observed is None:
        return meant.strip()
    spent = f"{observed.family} takes {observed.share:.0%} of its PAR-2 on the training formulas"
    if subject is None or subject not in observed.values:
        return f"{spent}; no counter shows what this edit acts on.{meant}"
    words, decides = _WORDS[subject]
    shown = (
        f"there it makes {words.format(value=_number(observed.values[subject]))}{_beside(subject, observed)}"
    )
    return f"{spent}; {shown}. The edit acts on {decides}.{meant}"


def saved_in_words(variant_id: str, credits: Sequence[Credit]) -> str:
    """Return what a variant saved against its parent, by family, most first; "" if nothing is known."""
    savings = next(
        (
            credit.savings
            for credit in reversed(credits)
            if credit.variant_id == variant_id and credit.savings
        ),
        {},
    )
    best = sorted(savings.items(), key=lambda item: (-item[1], item[0]))[:3]
    return ", ".join(f"{saving:+.0%} on {family}" for family, saving in best)


def _beside(subject: Subject, observed: Observed) -> str:
    parts = []
    if subject in observed.usual:
        ratio = observed.values[subject] / observed.usual[subject]
        parts.append(
            "as usual for it"
            if 1 / NOTED < ratio < NOTED
            else f"{ratio:.2g} times its median over families ({_number(observed.usual[subject])})"
        )
    if subject in observed.of_seed:
        parts.append(f"its seed {_number(observed.of_seed[subject])}")
    return f", {', '.join(parts)}" if parts else ""


def _figures(counters: FamilyCounters) -> dict[Subject, float]:
    rates: dict[Subject, float | None] = {
        "restarts": 1 / counters.restarts if counters.restarts else None,
        "decisions": counters.decisions,
        "propagations": counters.propagations,
        "proof_bytes": counters.proof_bytes,
    }
    return {subject: value for subject, value in rates.items() if value}


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
