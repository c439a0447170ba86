"""`evolake families utility`: train a model on seeds, on what evolved, and on both, and compare what each is
worth on held-out lineages.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any
from uuid import uuid4

import click

from evolake import settings as settings_module
from evolake.commands import AS_JSON, MINUTES, PROFILE, SEEDS_PER_ARM, OrdinaryPath
from evolake.terminal import say, say_json
from evolake.utility.settings import UtilitySettings


@click.command(short_help="Measure whether evolved families make a model better.")
@click.option(
    "--arms",
    default="all",
    show_default=True,
    help="Comma-separated: base, seeds, evolved, mixed, parents; or all.",
)
@SEEDS_PER_ARM
@click.option(
    "--benchmark",
    "benchmarks",
    multiple=True,
    help="A further file to evaluate on: .jsonl with question, answer, scorer. Repeatable.",
)
@MINUTES
@PROFILE
@click.option(
    "--out",
    type=OrdinaryPath(file_okay=False),
    help="Folder for report.html, figures and tables (default: none written).",
)
@AS_JSON
def utility(
    arms: str,
    seeds: int | None,
    benchmarks: tuple[str, ...],
    minutes: float | None,
    profile: str | None,
    out: Path | None,
    as_json: bool,
) -> int:
    """Train a model by GRPO on seeds, evolved families, both, and the evolved ones' parents, and compare.

    Continues where an earlier run of the same study stopped, after the last step.
    """
    from evolake.lake import Lake
    from evolake.utility.findings import findings_of
    from evolake.utility.report.artifacts import answer, caution, headline
    from evolake.utility.report.page import write_report
    from evolake.utility.running import power_of, read_study, run_study
    from evolake.utility.tables import MATCHINGS, pick_arms

    settings = settings_module.load(profile)
    given: dict[str, Any] = {"seeds": seeds, "benchmarks": list(benchmarks) or None}
    own = settings.of(UtilitySettings).model_copy(
        update={name: value for name, value in given.items() if value is not None}
    )
    outcome = run_study(
        settings.with_section(own),
        pick_arms(arms),
        range(own.seeds),
        f"utility-{uuid4().hex[:12]}",
        minutes=minutes,
        tell=lambda line: say(line, err=True),
    )
    if outcome.study is None:
        reason = "the time was over while pass rates were measured"
        left = {
            "verdict": "unfinished",
            "reasons": [reason],
            "ran": [],
            "kept": [],
            "left": list(outcome.left),
        }
        if as_json:
            say_json(left)
        else:
            say(f"unfinished: {reason}", "  the same command continues after the last problem that was asked")
        return 0
    report: dict[str, Any] = {
        "verdict": "unfinished" if outcome.left else "complete",
        "reasons": [f"{len(outcome.left)} cells are left"] if outcome.left else [],
        "study_sha": outcome.study.sha,
        "policy": outcome.study.policy,
        "ran": list(outcome.ran),
        "kept": list(outcome.kept),
        "left": list(outcome.left),
        "notes": outcome.study.notes,
        "power": power_of(outcome.study, own, own.seeds),
    }
    stored = read_study(Lake(settings.require_lake()))
    sentences: list[str] = []
    if stored.replies.height:
        result = findings_of(stored.steps, stored.replies, stored.study["root_seed"])
        sentences = [
            headline(result),
            *(answer(result, matching) for matching in MATCHINGS[1:]),
            caution(stored, result),
        ]
        report |= {"summary": result.summary.to_dicts(), "comparisons": result.comparisons.to_dicts()}
        if out is not None:
            report["files"] = [str(path) for path in write_report(stored, result, out)]
    if as_json:
        say_json(report, ensure_ascii=False)
        return 0
    counts = f"{len(outcome.ran)} cells run, {len(outcome.kept)} kept, {len(outcome.left)} left"
    say(f"study {outcome.study.sha[:12]} {report['verdict']}: {counts}")
    for line in (report["power"], *outcome.study.notes, *sentences):
        say(f"  {line}")
    if outcome.left:
        say("  the same command continues after the last step")
    if out is not None and "files" in report:
        say(f"report: {out / 'report.html'}")
    return 0
