"""The audits that were asked for by `evolake audit --into`: the candidates of the run, the verdict, which
runs the audit in the jail, and its findings and measurements. An audit that is there already is read, so that
a backfill costs nothing; one that was killed continues with the part that it was in."""

from __future__ import annotations

import dagster as dg
import polars as pl

from assets.predicates import once, rows_check
from assets.shown import note, table
from assets.study import Study
from evolake.audits.tables import CANDIDATES, FINDINGS, LINE, MEASUREMENTS, VERDICTS
from resources.lake import LakeResource

study = Study(
    LINE,
    "Audits of evaluators, gains and finished runs of any tool, by `evolake audit --into`.",
    owners=("team:evolake",),
)
SHOWN = {"number": "int", "name": "string", "reason": "string", "command": "string"}
"""Columns of the findings that Dagster's UI shows."""
requested = study.requested("What is to be audited. External: `evolake audit --into` writes it.")


@study.cell_asset(deps=[requested], schema=CANDIDATES)
def candidates(context: dg.AssetExecutionContext, lake: LakeResource) -> pl.DataFrame:
    """Every candidate of the run that is audited, as the run's own record has it; none without a run."""
    from evolake.audits.requests import read_request
    from evolake.audits.rows import candidate_rows

    lake.hold(study.name, context.run.run_id)
    request = read_request(lake.open(), context.partition_key)
    result = CANDIDATES.frame(candidate_rows(request))
    run = request.subject.run
    scored = result["score"].drop_nulls().len()
    context.add_output_metadata(
        {"tool": run.tool if run else "none", "scored": scored, "duplicates": result["same_as"].count()}
    )
    return result


@study.cell_asset(deps=[requested], schema=VERDICTS, kinds={"bubblewrap"})
def verdicts(context: dg.AssetExecutionContext, lake: LakeResource) -> pl.DataFrame:
    """Audit what was asked for, in the jail."""
    from evolake.audits.requests import read_request
    from evolake.audits.rows import verdict_row

    store, key = lake.open(), context.partition_key
    lake.hold(study.name, context.run.run_id)
    row, kept = verdict_row(
        store, read_request(store, key), lake.settings(), context.run.run_id, lambda text: note(context, text)
    )
    context.add_output_metadata(
        {
            "verdict": row["verdict"],
            "project": row["project"],
            "findings": row["findings"],
            "mode": row["mode"],
            "kept": kept,
        }
    )
    return VERDICTS.frame([row])


@study.cell_asset(schema=FINDINGS)
def findings(context: dg.AssetExecutionContext, lake: LakeResource, verdicts: pl.DataFrame) -> pl.DataFrame:
    """Each finding of the audit: what is wrong, why, what to change, and the command that shows it again."""
    from evolake.audits.rows import audit_in, finding_rows

    result = FINDINGS.frame(finding_rows(context.partition_key, audit_in(lake.open(), context.partition_key)))
    context.add_output_metadata({"found": table(SHOWN, result.to_dicts())})
    return result


@study.cell_asset(schema=MEASUREMENTS)
def measurements(
    context: dg.AssetExecutionContext, lake: LakeResource, verdicts: pl.DataFrame
) -> pl.DataFrame:
    """Every evaluation of the audit's measurement and contest, with its seed and score."""
    from evolake.audits.rows import audit_in, measurement_rows

    return MEASUREMENTS.frame(
        measurement_rows(context.partition_key, audit_in(lake.open(), context.partition_key))
    )


candidates_are_whole = rows_check(
    candidates,
    "candidates_are_whole",
    "Each candidate once, numbered without a gap, with parents that were born before it and a finite score.",
    once("program_id"),
    "number = place - 1",
    "score IS NULL OR isfinite(score)",
    "strangers = 0",
    rows="""
SELECT c.program_id, c.number, c.score, row_number() OVER (ORDER BY c.number) AS place,
  (SELECT count(*) FROM unnest(c.parents) AS u(parent)
   WHERE NOT EXISTS (SELECT 1 FROM audits.candidates AS p WHERE p.cycle = $cycle AND p.program_id = parent
     AND p.number < c.number)) AS strangers
FROM audits.candidates AS c WHERE c.cycle = $cycle""",
)
findings_are_those_of_the_verdict = rows_check(
    findings,
    "findings_are_those_of_the_verdict",
    "The verdict counts the findings, which are numbered from 1, each with a reason and a command.",
    "findings = (number IS NOT NULL)::INTEGER * listed",
    "(verdict <> 'not sound') = (findings = 0)",
    "number IS NULL OR number = place",
    "number IS NULL OR (length(reason) > 0 AND command LIKE 'evolake audit %')",
    rows="""
SELECT v.audit, v.verdict, v.findings, f.number, f.reason, f.command,
  row_number() OVER (ORDER BY f.number) AS place, count(*) OVER () AS listed
FROM audits.verdicts AS v LEFT JOIN audits.findings AS f ON f.cycle = v.cycle WHERE v.cycle = $cycle""",
)
measurements_are_whole = rows_check(
    measurements,
    "measurements_are_whole",
    "Each evaluation once, of a part of the audit, with a finite score or none.",
    once("about", "side", "place"),
    "about IN ('measurement', 'gain')",
    "score IS NULL OR isfinite(score)",
)
