"""`evolake families audit` (a sample of families for people to grade, and what their grades come to) and
`review-sheet` (instances for a person to solve from the text alone, and the answers taken back)."""

from __future__ import annotations

from pathlib import Path

import click

from evolake import settings as settings_module
from evolake.commands import AS_JSON, PROFILE, OrdinaryPath
from evolake.families.settings import FamiliesSettings
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
    from evolake.families.commands.exporting import finished
    from evolake.families.dataset.datasets import load_families, read_dataset
    from evolake.families.dataset.human_audit import audit_row, choose, sheet
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
@AS_JSON
def import_grades(path: Path, as_json: bool) -> int:
    """Read the grades of a sheet into the lake (table families.audit_grades) and sum up all grades.

    Exit code 1 when less than half of the families are usable.
    """
    from evolake.families.commands.exporting import finished
    from evolake.families.dataset.datasets import LINE, archive_after
    from evolake.families.dataset.human_audit import DIMENSIONS, GRADES, audit_summary, read_grades
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


@click.command("review-sheet", short_help="Write ten instances for a person, or read the answers.")
@click.argument("family", type=OrdinaryPath())
@click.option(
    "--out",
    type=OrdinaryPath(dir_okay=False),
    default=None,
    help="The CSV to write; default: NAME-review.csv here.",
)
@click.option(
    "--answers",
    type=OrdinaryPath(dir_okay=False),
    default=None,
    help="The CSV with answers, to judge and to keep (default: write a sheet).",
)
@PROFILE
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=None,
    help="Root seed of the sheet's instances (default: EVOLAKE_SEED, else 0).",
)
@AS_JSON
def review_sheet(
    family: Path, out: Path | None, answers: Path | None, profile: str | None, seed: int | None, as_json: bool
) -> int:
    """Write ten instances of FAMILY without answers, for a person who has not seen its programs; --answers
    takes them back.

    Answers are kept in the lake (table families.independent_answers) with the hash of the family's content,
    and count as evidence that it was solved from its text alone. Exit code 1 when less than 80% of at least
    five answers are right.
    """
    from evolake.families.dataset.human_audit import judged_answers, read_answers, sheet_instances, sheet_text
    from evolake.families.independence import LEAST_ANSWERS, LEAST_RIGHT, PERSON, answer_row, keep_rows
    from evolake.families.model.family_files import read_family
    from evolake.families.sandbox.running import PRELOAD
    from evolake.families.tables import INDEPENDENT_ANSWERS
    from evolake.jail import open_pool
    from evolake.lake import Lake

    if out is not None and answers is not None:
        raise click.UsageError("--out and --answers exclude each other")
    settings = settings_module.load(profile)
    sizes, root_seed = settings.of(FamiliesSettings), settings.seed if seed is None else seed
    whole = read_family(family)
    with open_pool(workers=1, preload=PRELOAD, mode=settings.jail) as pool:
        instances = sheet_instances(whole, pool=pool, settings=sizes, root_seed=root_seed)
        if answers is None:
            path = out or Path(f"{whole.name}-review.csv")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(sheet_text(whole, instances), encoding="utf-8")
            if as_json:
                say_json(
                    {
                        "verdict": "written",
                        "reasons": [],
                        "file": str(path),
                        "instances": len(instances),
                        "family_id": whole.family_id,
                    }
                )
                return 0
            say(
                f"{len(instances)} instances in {path}; fill the columns answer and reader, without a "
                "look at the programs, then:"
            )
            again = "".join(
                f" --{name} {value}"
                for name, value in (("profile", profile), ("seed", seed))
                if value is not None
            )
            say(f"  evolake families review-sheet {family} --answers {path}{again}")
            return 0
        reviews = judged_answers(
            whole, instances, read_answers(answers, whole, instances), pool=pool, settings=sizes
        )
    keep_rows(
        Lake(settings.require_lake()),
        INDEPENDENT_ANSWERS,
        [answer_row(whole.family_id, PERSON, name, review) for name, review in reviews],
    )
    right = sum(review.matched for _, review in reviews)
    good = len(reviews) >= LEAST_ANSWERS and right >= LEAST_RIGHT * len(reviews)
    wrong = [
        f"instance {review.number} (difficulty {review.difficulty}): {review.answer}"
        for _, review in reviews
        if not review.matched
    ]
    if as_json:
        say_json(
            {
                "verdict": "read by a person" if good else "not enough",
                "reasons": wrong,
                "right": right,
                "answers": len(reviews),
                "family_id": whole.family_id,
            },
            ensure_ascii=False,
        )
        return 0 if good else 1
    say(f"{whole.name}: {right} of {len(reviews)} answers are right")
    say(*(f"  not the label: {line}" for line in wrong))
    if not good:
        say(
            f"  at least {LEAST_ANSWERS} answers are needed, {LEAST_RIGHT:.0%} of them right, before this "
            "counts as read by a person"
        )
    return 0 if good else 1
