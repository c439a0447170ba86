"""`evolake families audit`: a sample of families for people to grade, and what their grades come to."""

from __future__ import annotations

from pathlib import Path

import click

from evolake import settings as settings_module
from evolake.commands import OrdinaryPath
from evolake.terminal import say, say_json


@click.group(short_help="Export a sheet for human graders, import its grades.")
def audit() -> None:
    """Run the human audit: export a sheet, import its grades.

    \b
    Example:
      evolake families audit export --size 100 --out sheet.csv
    """


@audit.command("export", short_help="Write a CSV of sampled families with columns for grades.")
@click.option(
    "--size", type=click.IntRange(min=1), default=100, show_default=True, help="Families in the sheet."
)
@click.option("--out", type=OrdinaryPath(dir_okay=False), required=True, help="The CSV to write.")
def export_sheet(size: int, out: Path) -> int:
    """Write a CSV with a random sample of families, one instance each, and empty columns for the grades A to
    D."""
    from evolake.families.commands.export import finished
    from evolake.families.dataset.audit import audit_row, choose, sheet
    from evolake.families.dataset.datasets import load_families, read_dataset
    from evolake.lake import Lake

    settings = settings_module.load()
    lake = Lake(settings.require_lake())
    data = read_dataset(lake, finished(lake, None))
    rows = {row["family_id"]: row for row in data.families}
    ids = choose(list(rows), size, settings.seed)
    hardest = {
        row["family_id"]: row
        for row in sorted(data.instances, key=lambda row: abs(row["difficulty"] - 5), reverse=True)
    }
    families = load_families(lake, [rows[family_id] for family_id in ids])
    lines = [
        audit_row(family, hardest[family.family_id], rows[family.family_id]["operator"])
        for family in families
    ]
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(sheet(lines), encoding="utf-8")
    say(
        f"{len(lines)} families in {out}; grade the columns after `auditor` with A, B, C or D, then: "
        f"evolake families audit import {out}"
    )
    return 0


@audit.command("import", short_help="Read the grades of a sheet into the lake.")
@click.argument("path", type=OrdinaryPath())
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output, nothing else.")
def import_grades(path: Path, as_json: bool) -> int:
    """Read the grades of a sheet into the lake (table families.audit_grades) and sum up all grades.

    Exit code 1 when less than half of the families are usable.
    """
    from evolake.families.commands.export import finished
    from evolake.families.dataset.audit import DIMENSIONS, GRADES, audit_summary, read_grades
    from evolake.families.dataset.datasets import LINE, archive_after
    from evolake.families.tables import GRADES as TABLE
    from evolake.lake import Lake

    lake = Lake(settings_module.load().require_lake())
    done = finished(lake, None)
    known = [row["family_id"] for row in archive_after(lake, done[-1]).rows()] if done else []
    new = read_grades(path, known)
    earlier = lake.read(LINE, TABLE.name, None).to_dicts() if lake.record(LINE, TABLE.name, None) else []
    rows = {(row["family_id"], row["auditor"]): row for row in [*earlier, *new]}
    lake.publish(LINE, TABLE.name, TABLE.frame(rows.values()), cycle=None, run_id="audit", schema=TABLE)
    summary = audit_summary(list(rows.values()))
    good = summary["graded"] > 0 and 2 * summary["usable"] >= summary["graded"]
    if as_json:
        reasons = [] if good else [f"{summary['usable']} of {summary['graded']} families are usable"]
        say_json(
            {"verdict": "usable" if good else "not usable", "reasons": reasons, "new": len(new)} | summary
        )
        return 0 if good else 1
    say(f"{len(new)} grades read; {summary['graded']} in all")
    for name in DIMENSIONS:
        counts = summary["dimensions"][name]
        passing = "" if counts["pass"] is None else f"   A or B: {counts['pass']:.0%}"
        say(f"  {name:22}" + "  ".join(f"{grade}: {counts[grade]}" for grade in GRADES) + passing)
    say(f"usable: {summary['usable']}, fully correct: {summary['fully_correct']}")
    return 0 if good else 1
