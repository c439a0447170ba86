"""The cells: one arm with one seed, trained and evaluated, and what each must satisfy. One that was killed
continues after its last step, one that is there is read."""

from __future__ import annotations

import dagster as dg
import polars as pl

from assets.predicates import once, rows_check
from assets.shown import note
from assets.utility.cells import study
from evolake.utility.tables import ARMS, LINE, REPLIES
from resources.lake import LakeResource


@study.cell_asset(schema=REPLIES, kinds={"torch"}, ins={"record": dg.AssetIn(key=study.key("study"))})
def replies(context: dg.AssetExecutionContext, lake: LakeResource, record: pl.DataFrame) -> pl.DataFrame:
    """Every reply of every evaluation; the steps of the training are published next to them."""
    from evolake.prompts.policies.registry import open_policy
    from evolake.utility.cells import is_finished, journal_of, publish_cell, run_cell
    from evolake.utility.drawing import policy_settings
    from evolake.utility.running import make_cell, prepare

    name, store, settings = context.partition_key, lake.open(), lake.settings()
    lake.hold(study.name, context.run.run_id)
    current = prepare(
        settings,
        store,
        record["arms"].to_list()[0] or list(ARMS),
        record["seeds"].to_list()[0],
        context.run.run_id,
    )
    recorded = record["study_sha"].item()
    if current.sha != recorded:
        raise dg.Failure(
            f"the settings or the families describe another study ({current.sha[:12]}) than the recorded "
            f"one ({recorded[:12]}). Materialize the group {study.setup_group!r}, then the cells again.",
            allow_retries=False,
        )
    kept = is_finished(store, name, current.sha)
    if not kept:
        cell = make_cell(current, name, settings)
        policy = open_policy(policy_settings(settings), store.root, "utility", context.run.run_id)
        publish_cell(
            store,
            cell,
            run_cell(cell, policy, journal_of(store, cell), lambda step: note(context, f"step {step}")),
            context.run.run_id,
        )
    result = store.read(LINE, "replies", name)
    last = result.filter(pl.col("step") == result["step"].max())
    shares = {str(suite): float(part["correct"].mean() or 0.0) for (suite,), part in last.group_by("suite")}  # pyright: ignore[reportArgumentType]
    details = {"kept": kept, "replies": result.height, "step": int(last["step"][0])}
    context.add_output_metadata(details | {f"correct, {suite}": value for suite, value in shares.items()})
    return result


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
