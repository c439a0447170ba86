"""The planner's classical answers: look up the designs with the highest upper confidence bound, then give
each direction a base, donors and an operator.

What a term is worth is read off the ranks: the mean rank of designs that have it against those that lack it.
Terms that help become focus areas, terms that hurt become areas to avoid. What people ask for through
`evolake guide` is followed as far as a program can: a term or an operator that the text names comes first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from evolake.agents.roles import Role
from evolake.designs.genome.open_genetic import OF_TWO, OPERATORS
from evolake.designs.genome.open_genome import vocabulary
from evolake.designs.roles.models import (
    DesignSummary,
    DirectionsReply,
    DirectionsRequest,
    LookupReply,
    LookupRequest,
    Phase,
)
from evolake.designs.roles.request_text import details_text, outcomes_text, prompt_values, summaries_text

MARGIN = 0.1
# insert, guarded, subtree, point, hoist, constants, gate, add_memory, drop_memory, crossover, switch
ODDS: Mapping[Phase, tuple[float, ...]] = {
    "early_exploration": (0.23, 0.1, 0.09, 0.05, 0.03, 0.25, 0.06, 0.07, 0.0, 0.1, 0.02),
    "systematic_search": (0.2, 0.09, 0.09, 0.05, 0.05, 0.2, 0.05, 0.05, 0.02, 0.16, 0.04),
    "exploitation": (0.1, 0.05, 0.04, 0.05, 0.1, 0.37, 0.03, 0.03, 0.02, 0.18, 0.03),
    "stagnation": (0.2, 0.09, 0.1, 0.06, 0.06, 0.12, 0.06, 0.08, 0.03, 0.15, 0.05),
    "breakthrough_needed": (0.2, 0.11, 0.12, 0.08, 0.05, 0.05, 0.07, 0.05, 0.02, 0.19, 0.06),
}
"""Of each operator, in each phase of the search."""


def choose_lookups(request: LookupRequest, random: np.random.Generator) -> LookupReply:
    """Return the designs with the highest bound, and the best one whatever its bound."""
    ids = [item.design_id for item in request.summaries[: request.max_lookups]]
    if request.best is not None and request.best.design_id not in ids:
        ids = [*ids[: request.max_lookups - 1], request.best.design_id]
    names = ", ".join(item.title for item in request.summaries if item.design_id in ids[:3])
    return LookupReply(
        lookup_experiment_ids=ids,
        context_rationale=f"Highest upper confidence bounds, and the best design: {names}.",
    )


def give_directions(request: DirectionsRequest, random: np.random.Generator) -> DirectionsReply:
    """Return one direction after the other: a base drawn from the looked-up designs (earlier ones, with a
    higher bound, more often), donors, an operator."""
    phase = phase_of(request)
    worth = term_worth(request.summaries)
    helping = [name for name, gain in sorted(worth.items(), key=lambda item: -item[1]) if gain > MARGIN]
    hurting = [name for name, gain in sorted(worth.items(), key=lambda item: item[1]) if gain < -MARGIN]
    best_terms = sorted(worth.items(), key=lambda item: -item[1])[:5]
    asked_terms, asked_operators = named_in(request.guidance)
    known = {item.design_id: item for item in request.summaries}
    ids = [item.design_id for item in request.details]
    odds = 0.7 ** np.arange(len(ids))
    directions, rationales, focus, avoid, references = [], [], [], [], []
    for number in range(request.directions_wanted):
        base = (
            ids[number]
            if number < min(2, len(ids))
            else ids[int(random.choice(len(ids), p=odds / odds.sum()))]
        )
        others = [design_id for design_id in ids if design_id != base]
        random.shuffle(others)
        chosen = [base, *others[: max(0, request.max_references - 1)]]
        operator = _operator(phase, asked_operators, len(others), random)
        wanted = asked_terms or _fresh_terms(known.get(base), helping, hurting, random)
        directions.append(
            f"{operator}: vary {_title(known, base)}" + (f" with {', '.join(wanted)}" if wanted else "")
        )
        rationales.append(_rationale(known.get(base), operator, asked_terms, asked_operators))
        focus.append(", ".join(wanted))
        avoid.append(", ".join(hurting[:4]))
        references.append(chosen)
    return DirectionsReply(
        current_phase=phase,
        key_insights=[
            f"{name}: designs with it rank {gain:+.2f} of the field better" for name, gain in best_terms
        ],
        success_patterns=[f"has {name}" for name in helping[:5]],
        failure_patterns=[f"has {name}" for name in hurting[:5]],
        research_directions=directions,
        strategy_rationales=rationales,
        focus_areas=focus,
        avoid_areas=avoid,
        reference_design_ids=references,
    )


def phase_of(request: DirectionsRequest) -> Phase:
    """By the number of designs and of cycles without a new champion."""
    if request.cycles_without_gain >= 4:
        return "breakthrough_needed"
    if request.cycles_without_gain >= 2:
        return "stagnation"
    if len(request.summaries) < 8:
        return "early_exploration"
    best = sorted(request.summaries, key=lambda item: item.rank)[:5]
    alike = len({tuple(item.terms) for item in best}) <= 2
    return "exploitation" if alike else "systematic_search"


def term_worth(summaries: Sequence[DesignSummary]) -> dict[str, float]:
    """Return how much better, as a share of the field, designs with a term rank on average than those
    without; terms with two of each sort only."""
    if len(summaries) < 4:
        return {}
    worth: dict[str, float] = {}
    for name in vocabulary():
        having = [item.rank for item in summaries if name in item.terms]
        lacking = [item.rank for item in summaries if name not in item.terms]
        if len(having) >= 2 and len(lacking) >= 2:
            worth[name] = float(np.mean(lacking) - np.mean(having)) / len(summaries)
    return worth


def named_in(guidance: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return terms and operators that people named, in a fixed order. Words may be joined by spaces or
    hyphens."""
    text = " ".join(guidance).lower().replace("-", "_").replace(" ", "_")
    return [name for name in vocabulary() if name in text], [name for name in OPERATORS if name in text]


def _fresh_terms(
    base: DesignSummary | None, helping: list[str], hurting: list[str], random: np.random.Generator
) -> list[str]:
    """Terms the base lacks: two that help elsewhere, else two at random that are not known to hurt."""
    present = set(base.terms) if base else set()
    useful = [name for name in helping if name not in present][:2]
    if useful:
        return useful
    open_terms = [name for name in vocabulary() if name not in present and name not in hurting]
    random.shuffle(open_terms)
    return open_terms[:2]


def _operator(phase: Phase, asked: list[str], donors: int, random: np.random.Generator) -> str:
    if asked:
        return asked[int(random.integers(len(asked)))]
    odds = np.array(ODDS[phase])
    if donors == 0:
        odds[[OPERATORS.index(name) for name in OF_TWO]] = 0.0
    return OPERATORS[int(random.choice(len(OPERATORS), p=odds / odds.sum()))]


def _title(known: dict[str, DesignSummary], design_id: str) -> str:
    return known[design_id].title if design_id in known else design_id


def _rationale(base: DesignSummary | None, operator: str, terms: list[str], operators: list[str]) -> str:
    if terms or operators:
        return f"People asked for {', '.join([*terms, *operators])}."
    if base is None:
        return f"{operator} on a design that was looked up."
    return (
        f"Rank {base.rank}, bound {base.ucb:.3f} after {base.visits:.1f} visits, solved up to "
        f"N={base.largest_solved}."
    )


def _asked_text(request: LookupRequest | DirectionsRequest) -> str:
    """Return what people asked for."""
    return "\n".join(f"- {note}" for note in request.guidance) or "nothing in particular"


_SHARED: dict[str, Callable[[Any], Any]] = {
    "guidance": _asked_text,
    "outcomes": lambda request: outcomes_text(request.outcomes),
    "summaries": lambda request: summaries_text(request.summaries),
}
LOOKUP_ROLE = Role(
    "designs_planner_lookup",
    LookupRequest,
    LookupReply,
    choose_lookups,
    values=prompt_values(
        written=_SHARED,
        best=lambda request: request.best.design_id if request.best else "none",
        recent=lambda request: ", ".join(item.design_id for item in request.recent) or "none",
    ),
)
DIRECTIONS_ROLE = Role(
    "designs_planner_directions",
    DirectionsRequest,
    DirectionsReply,
    give_directions,
    values=prompt_values(
        contract=True, written=_SHARED, details=lambda request: details_text(request.details)
    ),
)
