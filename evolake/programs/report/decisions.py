"""The decisions of a cycle in words: the held-out score of each project's champion, and whether that is a
gain at all."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evolake.report.gain import NONE_YET, figures

Row = Mapping[str, Any]
DECIDED = """
SELECT c.*, p.score_name, p.higher_is_better, p.initial_id FROM programs.champion AS c
  JOIN programs.projects AS p USING (cycle, project)
WHERE cycle = $cycle ORDER BY project"""
"""A row of DECISIONS per project, with the name and direction of its score and its initial program."""
INITIAL_LEADS = "the initial program leads"


def improves(row: Row) -> bool:
    """Return whether the champion of a row of DECIDED is another program than the initial one, with a better
    held-out mean."""
    mean, initial = row["holder_mean"], row["initial_mean"]
    if row["holder_id"] == row["initial_id"] or mean is None or initial is None:
        return False
    return mean > initial if row["higher_is_better"] else mean < initial


def score_in_words(row: Row) -> str:
    """Return the held-out score of a project's champion next to that of its initial program, or say that
    there is no gain yet."""
    score = f"held-out {row['score_name']} {figures(row['holder_mean'], 6)}"
    if row["holder_id"] == row["initial_id"]:
        return f"{NONE_YET} ({INITIAL_LEADS} with {score})"
    if row["initial_mean"] is None:
        return score
    both = f"{score}, the initial program's {figures(row['initial_mean'], 6)}"
    return both if improves(row) else f"{NONE_YET} ({both})"


def project_in_words(row: Row) -> str:
    """Return the same with the project's name, for a sentence that does not say that it is about gains."""
    return f"{row['project']}: {'' if improves(row) else 'gain '}{score_in_words(row)}"
