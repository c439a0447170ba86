"""The multi-gate guard of the programs line: blocking checks through which everything must pass on its way to
survivors."""

from __future__ import annotations

from assets.predicates import once, passed_every_gate, rows_check, weights_sum_to_one
from assets.programs.champion import champion
from assets.programs.evolve import candidates, generations, projects
from assets.programs.judge import accepted
from assets.programs.line import line
from assets.proposal_checks import proposal_checks
from assets.raised import raised_check
from evolake.programs.gates.specs import GATES

projects_are_whole = rows_check(
    projects,
    "projects_are_whole",
    "Each project once, with a program that lives.",
    once("project"),
    "living > 0",
    "mode IN ('imports', 'calls', 'separate')",
)
generations_follow = rows_check(
    generations,
    "generations_follow_each_other",
    "Of every project the generations 1, 2, ... without a gap, each once.",
    once("project", "generation"),
    "generation = place",
    rows=f"""
SELECT project, generation, row_number() OVER (PARTITION BY project ORDER BY generation) AS place
FROM {line.name}.generations WHERE cycle = $cycle""",
)
candidates_have_parents = weights_sum_to_one(
    candidates,
    "parent_weights_sum_to_one",
    "Every candidate has parents, whose shares in it sum to 1.",
    "program_id",
    orphans_allowed=False,
)
candidates_are_scored = rows_check(
    candidates,
    "candidates_are_scored_or_blocked",
    "No program twice; one that is not blocked has a finite score, one that is has a reason.",
    once("program_id"),
    "(state = 'blocked') = (score IS NULL)",
    "score IS NULL OR isfinite(score)",
    "(state = 'blocked') = (reason IS NOT NULL)",
)
accepted_passed_every_gate = passed_every_gate(
    accepted,
    "accepted_passed_every_gate",
    "Every program that passed has a pass from each gate of this cycle and no objection.",
    "program_id",
    len(GATES),
    where="passed",
)
wins_are_beyond_noise = rows_check(
    champion,
    "wins_are_beyond_the_noise",
    "One decision per project; the champion changes only if the gain's interval is above 0 and the gain is "
    "above the noise, or if the champion fails.",
    once("project"),
    "NOT wins OR difference IS NULL OR (low > 0 AND difference > noise)",
    "holder_id = CASE WHEN wins THEN challenger_id ELSE champion_id END",
)
judging_did_not_raise = raised_check(accepted, line.name, line.cycles, judged=["accepted"])
some_proposal_was_answered = proposal_checks(line, generations)
GUARDS = (
    projects_are_whole,
    generations_follow,
    candidates_have_parents,
    candidates_are_scored,
    accepted_passed_every_gate,
    wins_are_beyond_noise,
)
