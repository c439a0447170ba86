"""What decided a cycle, for the analyst that looks back on it: contests, champion, results by family, and
what earlier cycles tried."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from evolake.agents.attempts import attempts_table
from evolake.solvers.evolution.attempts_record import tried_ideas
from evolake.solvers.evolution.champion import champion_after
from evolake.solvers.evolution.contest_record import CONTESTS, contest_texts, with_contests
from evolake.solvers.evolution.planning import MAX_FINDINGS
from evolake.solvers.evolution.planning_facts import MOST_CONTESTS, family_results, rank_notes
from evolake.solvers.evolution.population import RankedCycle
from evolake.solvers.evolution.post_mortem import CycleFacts
from evolake.solvers.roles.models import SHORT_ID
from evolake.solvers.settings import SolversSettings

MOST_VARIANTS = 12


def analysis_facts(
    ranked: RankedCycle,
    runs: pl.DataFrame,
    decisions: Sequence[Mapping[str, Any]],
    contests: Sequence[Mapping[str, Any]],
    *,
    settings: SolversSettings,
    cycle: str,
) -> CycleFacts:
    """Return the facts of a cycle.

    Args:
        runs: rows of RUNS that compare. decisions: rows of DECISIONS. contests: records of this cycle's
            contests.

    Raises:
        InputError: a run is of `holdout_suite`.
    """
    champion_id = champion_after(ranked, decisions)
    records = with_contests(ranked.population.value(CONTESTS, []), contests)
    parents = [parent for row in ranked.variants for parent in row["parents"] or ()]
    named = dict.fromkeys([champion_id, *(row["variant_id"] for row in ranked.variants), *parents])
    return CycleFacts(
        champion_id[:SHORT_ID],
        [*contest_texts(records[-MOST_CONTESTS:]), *rank_notes(ranked.ranking, champion_id, records)],
        family_results(
            runs, [name[:SHORT_ID] for name in named][:MOST_VARIANTS], settings=settings, cycle=cycle
        ),
        attempts_table(tried_ideas(ranked.population)),
        [f"{row['title']}: {row['explanation']}" for row in ranked.population.findings.to_dicts()][
            -MAX_FINDINGS:
        ],
    )
