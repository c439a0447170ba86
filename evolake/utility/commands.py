"""`evolake families utility` (train a model on seeds, on what evolved, and on both, and compare what each is
worth on held-out lineages) and `difficulty` (measure how often a stated solver is right, by level).
"""

from __future__ import annotations

import time
from contextlib import ExitStack
from pathlib import Path
from statistics import fmean
from typing import Any
from uuid import uuid4

import click

from evolake import settings as settings_module
from evolake.commands import AS_JSON, MINUTES, PROFILE, SEEDS_PER_ARM, OrdinaryPath
from evolake.errors import InputError
from evolake.report.numbers import counted
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


POLICY = "policy"
QUESTIONS = 40
EACH = 10
"""Families between two lines of progress."""


@click.command(short_help="Measure how often a stated solver is right, by level.")
@click.option(
    "--solver",
    type=click.Choice(["naive", POLICY]),
    default="naive",
    show_default=True,
    help="naive: programs that each make one kind of mistake. policy: that of the prompts line.",
)
@click.option(
    "--questions",
    type=click.IntRange(min=1),
    default=QUESTIONS,
    show_default=True,
    help="Questions of each family and level.",
)
@click.option(
    "--level",
    "levels",
    type=click.IntRange(1, 10),
    multiple=True,
    help="A level to ask, repeatable (default: 1 to 10).",
)
@MINUTES
@PROFILE
@AS_JSON
def difficulty(
    solver: str,
    questions: int,
    levels: tuple[int, ...],
    minutes: float | None,
    profile: str | None,
    as_json: bool,
) -> int:
    """Ask a solver questions of every accepted family of the lake, drawn for this alone, and keep its share
    of right answers by family and level (table families.solver_rates).

    `families export --difficulty 0.3:0.7 --solver NAME` chooses by it. The naive programs are guess,
    overlooks, slips, skips, hasty, and pool, their mean. What was asked already with as many questions is
    kept.
    """
    from evolake.families.commands.exporting import finished
    from evolake.families.dataset.datasets import archive_after, load_families
    from evolake.families.dataset.solver_rates import POOL, SOLVERS, ask_naive, rate_rows
    from evolake.families.independence import keep_rows, rows_kept
    from evolake.families.sandbox.running import PRELOAD
    from evolake.families.settings import FamiliesSettings
    from evolake.families.tables import SOLVER_RATES
    from evolake.gates import Raised, contained
    from evolake.jail import open_pool
    from evolake.lake import Lake
    from evolake.prompts.policies.registry import missing, open_policy
    from evolake.utility.pass_rates import policy_values

    start, settings = time.monotonic(), settings_module.load(profile)
    lake = Lake(settings.require_lake())
    done = finished(lake, None)
    if not done:
        raise InputError(
            "the lake holds no finished cycle of the families line", do="run: evolake run --lines families"
        )
    families = load_families(lake, archive_after(lake, done[-1]).rows("accepted"))
    wanted = sorted(set(levels)) or list(range(1, 11))
    policy = None
    if solver == POLICY:
        if lacking := missing(settings):
            raise InputError("the policy cannot be asked", wanted="its libraries and its model", got=lacking)
        policy = open_policy(settings, lake.root, "difficulty", "difficulty")
    names = list(SOLVERS) if policy is None else [policy.name]
    asked_for = POOL if policy is None else policy.name
    known: dict[str, set[int]] = {}
    for row in rows_kept(lake, SOLVER_RATES):
        if row["solver"] == asked_for and row["questions"] >= questions:
            known.setdefault(row["family_id"], set()).add(row["difficulty"])
    waiting = [family for family in families if set(wanted) - known.get(family.family_id, set())]
    left = len(waiting)
    with ExitStack() as stack:
        pool = stack.enter_context(open_pool(workers=1, preload=PRELOAD, mode=settings.jail))
        for family in waiting:
            if minutes is not None and time.monotonic() - start > 60 * minutes:
                break
            if policy is None:
                sizes = settings.of(FamiliesSettings)
                found = contained(ask_naive, family, wanted, questions, pool=pool, settings=sizes)
            else:
                found = policy_values(family, policy, wanted, questions, pool=pool, settings=settings)
            if isinstance(found, Raised):
                say(f"{family.name} could not be asked: {found.reason}", err=True)
                found = {}
            rows = rate_rows(family.family_id, found)
            keep_rows(lake, SOLVER_RATES, rows)
            left -= 1
            if (len(waiting) - left) % EACH == 0:
                say(f"{len(waiting) - left} of {len(waiting)} families asked", err=True)
    ids = [family.family_id for family in families]
    rows = [row for row in rows_kept(lake, SOLVER_RATES, ids) if row["solver"] in names]
    shares = {
        name: {
            level: fmean(own)
            for level in wanted
            if (own := [row["rate"] for row in rows if (row["solver"], row["difficulty"]) == (name, level)])
        }
        for name in names
    }
    counts = {"asked": len(waiting) - left, "known": len(families) - len(waiting), "left": left}
    if as_json:
        verdict = "unfinished" if left else "measured"
        say_json({"verdict": verdict, "reasons": [], **counts, "questions": questions, "shares": shares})
        return 0
    say(
        f"{counted(counts['asked'], 'family', 'families')} asked {questions} questions a level, "
        f"{counts['known']} were asked before, {left} are left",
        "share of right answers by level, mean over families:",
    )
    for name, own in shares.items():
        cells = "  ".join(f"{level}: {share:.0%}" for level, share in own.items())
        say(f"  {name:10}  {cells or 'no question could be asked'}")
    if left:
        say("  the same command continues after the last family")
    return 0
