"""`evolake families review-sheet`: instances of a family for a person to solve from the text alone, and the
answers taken back."""

from __future__ import annotations

from pathlib import Path

import click

from evolake import settings as settings_module
from evolake.commands import OrdinaryPath
from evolake.families.settings import FamiliesSettings
from evolake.terminal import say, say_json


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
@click.option(
    "--profile",
    default=None,
    help="Sizes and limits (default: EVOLAKE_PROFILE, else the lake's, else laptop).",
)
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=None,
    help="Root seed of the sheet's instances (default: EVOLAKE_SEED, else 0).",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output, nothing else.")
def review_sheet(
    family: Path, out: Path | None, answers: Path | None, profile: str | None, seed: int | None, as_json: bool
) -> int:
    """Write ten instances of FAMILY without answers, for a person who has not seen its programs; --answers
    takes them back.

    Answers are kept in the lake (table families.independent_answers) with the hash of the family's content,
    and count as evidence that it was solved from its text alone. Exit code 1 when less than 80% of at least
    five answers are right.
    """
    from evolake.families.dataset.review_sheet import (
        judged_answers,
        read_answers,
        sheet_instances,
        sheet_text,
    )
    from evolake.families.independence import LEAST_ANSWERS, LEAST_RIGHT, PERSON, answer_row, keep_answers
    from evolake.families.model.loading import read_family
    from evolake.families.sandbox.running import PRELOAD
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
    keep_answers(
        Lake(settings.require_lake()),
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
