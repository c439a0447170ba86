"""What a cell must satisfy before anything is found over it."""

from __future__ import annotations

from assets.predicates import once, rows_check
from assets.utility.results import replies

every_problem_is_answered = rows_check(
    replies,
    "every_problem_is_answered",
    "An evaluation answers every held-out problem equally often, none of those to train on, all of one "
    "study.",
    once("step", "suite", "problem_id", "sample"),
    "suite <> 'train'",
    "samples = most",
    "studies = 1",
    "known = 1",
    rows="""
SELECT r.*, count(*) OVER (PARTITION BY r.step, r.suite, r.problem_id) AS samples,
  (SELECT max(n) FROM (SELECT count(*) AS n FROM utility.replies WHERE cycle = $cycle GROUP BY step, suite,
    problem_id)) AS most,
  (SELECT count(DISTINCT study_sha) FROM utility.replies WHERE cycle = $cycle) AS studies,
  (SELECT count(*) FROM utility.problems AS p WHERE p.problem_id = r.problem_id
    AND p.suite = r.suite) AS known
FROM utility.replies AS r WHERE r.cycle = $cycle""",
)
steps_add_up = rows_check(
    replies,
    "steps_add_up",
    "The steps of a cell are numbered without a gap, tokens and instances never fall, shares are in 0..1.",
    "step = place",
    "correct BETWEEN 0 AND 1",
    "formatted BETWEEN 0 AND 1",
    "tokens > before",
    "instances >= seen",
    rows="""
SELECT *, row_number() OVER (ORDER BY step) AS place, lag(tokens, 1, 0) OVER (ORDER BY step) AS before,
  lag(instances, 1, 0) OVER (ORDER BY step) AS seen FROM utility.steps WHERE cycle = $cycle""",
)
CELL_CHECKS = (every_problem_is_answered, steps_add_up)
