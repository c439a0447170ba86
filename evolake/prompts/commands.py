"""`evolake prompts`: compare the arms on one problem set, show a prompt with its rating and its parents, and
show how a data set would be read (`data`) before anything is trained on it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evolake import settings as settings_module
from evolake.commands import AS_JSON, MINUTES, PROFILE, OrdinaryPath
from evolake.errors import InputError
from evolake.lake.disk import whole_folder
from evolake.prompts.model.protocol import Split
from evolake.prompts.settings import PromptsSettings
from evolake.terminal import say, say_json, say_text

if TYPE_CHECKING:
    from evolake.prompts.arms_study import ArmRun
    from evolake.prompts.evolution.population import Population


SHOWN = 10
"""Problems that are printed of each side."""


@click.group(short_help="Check data sets of the user's own.")
def data() -> None:
    """Check your own data sets before training on them.

    \b
    Example:
      evolake prompts data check problems.jsonl
    """


@data.command(short_help="Show how a data set is read: recipe, questions, labels, leaks.")
@click.argument("path")
@click.option(
    "--test",
    "test",
    default=None,
    help="Held-out problems, as EVOLAKE_PROMPTS__TEST; default: the held-out files of the folder PATH.",
)
@click.option(
    "--columns",
    default=None,
    help=(
        "question=COLUMN, answer=COLUMN and choices=COLUMN, for rows that no recipe knows (default: a "
        "recipe)."
    ),
)
@click.option(
    "--skip-bad",
    type=OrdinaryPath(file_okay=False),
    help=(
        "Leave out rows that would be errors, and write the rest into this folder, missing or empty: "
        "train.jsonl, test.jsonl, and left-out.jsonl with the reasons (default: such a row is an error)."
    ),
)
@AS_JSON
def check(path: str, test: str | None, columns: str | None, skip_bad: Path | None, as_json: bool) -> int:
    """Read PATH as EVOLAKE_PROMPTS__TRAIN would be read, and say what each side holds.

    PATH: a .jsonl, .parquet or .arrow file, a data set's folder, or reasoning-gym:NAME,NAME. A row that
    cannot be used, a label that no correct reply could match and a question with two labels are errors that
    name rows.
    """
    own = settings_module.load().of(PromptsSettings)
    sides = _read_sides(path, test, columns or own.columns, own, skip_bad is not None)
    found = {
        "verdict": "readable",
        "reasons": [],
        "sides": [_described(name, place, read) for name, place, read in sides],
    }
    from evolake.prompts.model.label_checks import probe_verifiers

    probes = probe_verifiers([item for _, _, read in sides for item in read.problems], own.answer_format)
    found["verifiers"] = {scorer: [vars(probe) for probe in some] for scorer, some in probes.items()}
    if skip_bad is not None:
        _write_usable(skip_bad, sides)
        found["written"] = str(skip_bad)
    leaks = None
    if len(sides) == 2:
        from evolake.prompts.model.leaks import find_leaks
        from evolake.prompts.model.problem_files import GYM

        (_, first, train), (_, second, heldout) = sides
        leaks = find_leaks(
            train.problems,
            heldout.problems,
            words=own.contamination_words,
            share=own.contamination_share,
            generated=first.startswith(GYM) and second.startswith(GYM),
        )
        found["contamination"] = leaks.sentence()
        found["leaks"] = [
            {"heldout": item.text, "train": other.text, "how": how} for item, other, how in leaks.leaked
        ]
        if leaks.part > own.contamination_limit:
            found["verdict"] = "contaminated"
    if as_json:
        say_json(found)
    else:
        _say_found(found)
    return 1 if found["verdict"] == "contaminated" else 0


def _read_sides(
    path: str, test: str | None, columns: str | None, own: PromptsSettings, skip_bad: bool
) -> list[tuple[Split, str, Any]]:
    """Return (side, place, what was read) for each side that there is."""
    from evolake.prompts.model.problem_files import GYM, has_side, read_placed

    wanted: list[tuple[Split, str]] = [("train", path)] if has_side(path, "train") else []
    if test is not None:
        wanted.append(("heldout", test))
    elif path.startswith(GYM) or (Path(path).is_dir() and has_side(path, "heldout")):
        wanted.append(("heldout", path))
    return [
        (
            side,
            place,
            read_placed(
                place,
                side,
                gym_problems=own.gym_problems,
                seed=0,
                answer_format=own.answer_format,
                columns=None if place.startswith(GYM) else columns,
                scorer=None if place.startswith(GYM) else own.scorer,
                skip_bad=skip_bad,
            ),
        )
        for side, place in wanted or [("train", path)]
    ]


def _write_usable(out: Path, sides: Sequence[tuple[Split, str, Any]]) -> None:
    """Write each side's usable rows as they were, and those left out with the reason."""

    def line(row: Any) -> str:
        return json.dumps(row, ensure_ascii=False, default=str) + "\n"

    with whole_folder(out) as folder:
        for side, _, read in sides:
            name = "train" if side == "train" else "test"
            (folder / f"{name}.jsonl").write_text("".join(map(line, read.rows)), encoding="utf-8")
        left = [vars(item) for _, _, read in sides for item in read.left_out]
        (folder / "left-out.jsonl").write_text("".join(map(line, left)), encoding="utf-8")


def _described(side: str, place: str, read: Any) -> dict[str, Any]:
    """Return what one side holds, as the command prints it."""
    return {
        "side": side,
        "place": place,
        "files": list(read.files),
        "recipes": dict(read.recipes),
        "problems": len(read.problems),
        "repeated": read.repeated,
        "examples": [
            {"question": item.text, "label": json.loads(item.answer), "scorer": item.scorer}
            for item in read.problems[:SHOWN]
        ],
    }


def _say_found(found: dict[str, Any]) -> None:
    from evolake.prompts.model.problem_files import LEFT

    for side in found["sides"]:
        say(f"{side['side']}: {side['problems']} problems in {', '.join(side['files'])}")
        for sentence, count in side["recipes"].items():
            how = "" if sentence.startswith(LEFT) else "by the recipe "
            say(f"  {count} rows {how}{sentence}")
        say(f"  {side['repeated']} rows dropped: question and label of an earlier row")
        for number, item in enumerate(side["examples"], 1):
            say_text(f"  {number}. {item['question']}".replace("\n\n", "\n").replace("\n", "\n     "))
            say_text(f"     -> {json.dumps(item['label'], ensure_ascii=False)}")
    for scorer, probes in found["verifiers"].items():
        say(f"verifier {scorer}: {len(probes)} probes passed")
        for probe in probes:
            say_text(
                f"  {probe['kind']} is worth {probe['score']:g}"
                + (f" ({probe['failure']})" if probe["failure"] else "")
            )
    if "contamination" in found:
        say(found["contamination"])
        for item in found["leaks"][:SHOWN]:
            say_text(f"  {item['how']}: {' '.join(item['heldout'].split())[:100]}")
    else:
        say("contamination: not compared; name the other side by --test")
    if "written" in found:
        say(f"written: {found['written']}, with the rows left out in left-out.jsonl")
    if found["verdict"] == "contaminated":
        say(
            "contaminated: remove these problems from one side, or raise the allowed share, "
            "EVOLAKE_PROMPTS__CONTAMINATION_LIMIT"
        )


LINE = "prompts"


@click.group(short_help="Compare and show system prompts that evolve with a policy.")
def prompts() -> None:
    """Compare and show system prompts that evolve while the policy learns.

    \b
    Example:
      evolake prompts compare --arms rl,espl --iterations 4
    """


prompts.add_command(data)


@prompts.command(short_help="Compare evolution, training and both at equal rollouts.")
@click.option(
    "--arms",
    default="rl,reflection,evolution,espl",
    show_default=True,
    help="Comma-separated: espl, evolution, rl, reflection, no-crossover, no-selection.",
)
@click.option(
    "--iterations", type=click.IntRange(min=1), default=10, show_default=True, help="Iterations per arm."
)
@click.option(
    "--every",
    type=click.IntRange(min=1),
    default=5,
    show_default=True,
    help="Iterations between held-out evaluations.",
)
@click.option(
    "--replicates",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="Times each arm is run, each with separate seeds.",
)
@MINUTES
@PROFILE
@click.option(
    "--root", "root_name", default=None, help="Name of the root prompt in roots.json; default: the first."
)
@click.option(
    "--out",
    type=OrdinaryPath(file_okay=False),
    default=None,
    help="Folder for report.html, summary.json and all rows (default: none written).",
)
@AS_JSON
def compare(
    arms: str,
    iterations: int,
    every: int,
    replicates: int,
    minutes: float | None,
    profile: str | None,
    root_name: str | None,
    out: Path | None,
    as_json: bool,
) -> int:
    """Run the arms at equal rollouts from the same weights, root and seed, and say what each is worth on
    held-out problems.

    A comparison that was killed continues after its last iteration if the same command is typed again.
    """
    import time
    from contextlib import nullcontext

    from evolake.prompts.arms_study import Comparison, Pause, comparison_sha, journals_of, summary
    from evolake.prompts.arms_study import compare as run_arms
    from evolake.prompts.model.library import load_library, load_roots
    from evolake.prompts.model.problems import problem_set
    from evolake.prompts.model.recipes import recipe_of
    from evolake.prompts.model.scoring import judge_with
    from evolake.prompts.policies.registry import open_editors, open_policy
    from evolake.prompts.tools import check_tools

    settings = settings_module.load(profile)
    names = [name.strip() for name in arms.split(",") if name.strip()]
    own = settings.of(PromptsSettings)
    check_tools(own)
    roots = load_roots(settings.seeds / LINE)
    name = root_name or next(iter(roots))
    if name not in roots:
        raise InputError(
            f"no root prompt named {name!r}",
            wanted=f"one of {', '.join(roots)}",
            do="pass --root with one of these names",
        )
    lake, started = _lake(settings.require_lake()), time.monotonic()
    result = problem_set(own, lake=lake, seeds=settings.seeds, seed=settings.seed)
    sha = comparison_sha(settings, result, roots[name], iterations=iterations, every=every)

    def report(arm: str, replicate: int, done: int) -> None:
        whose = f"{arm}, replicate {replicate + 1} of {replicates}" if replicates > 1 else arm
        say(f"{whose}: iteration {done} of {iterations}", err=True)
        if minutes is not None and time.monotonic() - started > 60 * minutes:
            raise Pause

    with lake.line_lock("prompts_compare", run_id=f"compare-{sha[:12]}"):
        policy = open_policy(settings, settings.require_lake(), "compare", "compare")
        try:
            with policy if hasattr(policy, "__exit__") else nullcontext():  # type: ignore[attr-defined]
                comparison = Comparison(
                    policy,
                    result,
                    roots[name],
                    iterations=iterations,
                    every=every,
                    agents=lambda _: open_editors(
                        settings, settings.require_lake(), "compare", "compare", policy
                    ),
                    judge=judge_with(recipe_of(own), own.answer_format, own.format_bonus),
                    settings=own,
                    library=load_library(settings.seeds / LINE),
                )
                journals = journals_of(lake, sha)
                runs = run_arms(
                    comparison,
                    names,
                    root_seed=settings.seed,
                    report=report,
                    replicates=replicates,
                    journal=journals,
                )
        except Pause:
            reason = "the time is over; the same command continues after the last iteration"
            if as_json:
                say_json({"verdict": "unfinished", "reasons": [reason]})
            else:
                say(f"unfinished: {reason}")
            return 0
    details = {
        "verdict": "compared",
        "reasons": [],
        "policy": policy.name,
        "recipe": own.recipe,
        "source": result.source,
        "backend": settings.backend if own.editor == "backend" else f"{own.editor} of the policy",
        "passed_over": list(result.passed_over),
        "contamination": result.contamination,
        "train_problems": len(result.train),
        "heldout_problems": len(result.heldout),
        "iterations": iterations,
        "seed": settings.seed,
        **summary(runs, settings.seed),
    }
    if out is not None:
        _write(out, runs, details)
    if as_json:
        say_json(details)
    else:
        _say(details)
    return 0


def _gain_over_root(population: Population, number: int) -> tuple[float, float, float] | None:
    """Return by how much a prompt is estimated to be better than the first root, with its 95% interval; None
    before the first match."""
    from evolake.prompts.edit_memory import NORMAL_95

    if not population.matches:
        return None
    mean, deviation = population.skills().over(number, population.rows()[0]["number"])
    return mean, mean - NORMAL_95 * deviation, mean + NORMAL_95 * deviation


@prompts.command(short_help="Show a prompt, its rating and its ancestry.")
@click.argument("prompt", default="champion")
@AS_JSON
def show(prompt: str, as_json: bool) -> int:
    """Show a prompt of the lake: its text, its rating and where it comes from. PROMPT: the start of its id,
    or `champion`."""
    population = _population(settings_module.load().require_lake())
    row = _found(population, prompt)
    parents = population.derivations.filter(population.derivations["child_id"] == row["prompt_id"]).to_dicts()
    text = population.prompt(row["prompt_id"]).text()
    gain = _gain_over_root(population, row["number"])
    if as_json:
        say_json(
            {
                "verdict": row["state"],
                "reasons": [],
                **{key: row[key] for key in ("prompt_id", "cycle", "iteration", "operator", "origin")},
                "mu": row["mu"],
                "sigma": row["sigma"],
                "rounds": row["rounds"],
                "parents": {parent["parent_id"]: parent["weight"] for parent in parents},
                "idea": row["idea"],
                "text": text,
                "skill_over_root": gain,
            }
        )
        return 0
    say(
        f"{row['prompt_id']}  {row['state']}, {row['operator']} of cycle {row['cycle']}, iteration "
        f"{row['iteration']}, by {row['origin']}"
    )
    say(f"  rating {row['mu']:.2f}, sigma {row['sigma']:.2f}, after {row['rounds']} rounds")
    if gain is not None:
        say(
            f"  skill: an estimated {gain[0]:+.3f} of the reward over the first root (95% interval "
            f"{gain[1]:+.3f} to {gain[2]:+.3f})"
        )
    for item in parents:
        say(f"  parent {item['parent_id']}, weight {item['weight']:.2f}")
    if row["idea"]:
        say(f"  idea: {row['idea']}")
    say_text(text or "(the empty prompt)")
    return 0


def _lake(root: Path) -> Any:
    from evolake.lake import Lake

    return Lake(root)


def _population(root: Path) -> Population:
    """Return the population that the last sealed cycle left. Raises InputError if there is none."""
    from evolake.prompts.evolution.population import population_of
    from evolake.prompts.tables import ARCHIVE

    lake = _lake(root)
    sealed = [
        cycle
        for cycle in lake.seals.cycles(LINE)
        if (seal := lake.seals.read(LINE, cycle)) and seal.state == "sealed"
    ]
    if not sealed:
        raise InputError(
            "the lake holds no prompts yet",
            wanted="a sealed population",
            got=str(root),
            do="run: evolake run --lines prompts",
        )
    return population_of({name: lake.read(LINE, f"incoming_{name}", sealed[-1]) for name in ARCHIVE})


def _found(population: Population, prompt: str) -> dict[str, Any]:
    if prompt == "champion":
        return population.row(population.champion_id or population.best_id())
    rows = [row for row in population.rows() if row["prompt_id"].startswith(prompt)]
    if len(rows) != 1:
        raise InputError(
            f"{'no prompt' if not rows else f'{len(rows)} prompts'} with an id that starts with {prompt!r}",
            wanted="the start of one id, or champion",
            do='list them: evolake sql "SELECT prompt_id FROM prompts.incoming_prompts"',
        )
    return rows[0]


def _write(folder: Path, runs: list[ArmRun], summary: dict[str, Any]) -> None:
    import polars as pl

    from evolake.prompts.evolution.iteration import TABLES
    from evolake.prompts.report.arms import arms_page
    from evolake.prompts.tables import EVALUATIONS

    folder.mkdir(parents=True, exist_ok=True)
    for name, schema in {**TABLES, "heldout": EVALUATIONS}.items():
        frames = [schema.frame(run.rows[name]).with_columns(replicate=pl.lit(run.replicate)) for run in runs]
        pl.concat(frames).write_parquet(folder / f"{name}.parquet")
    (folder / "summary.json").write_text(json.dumps(summary, indent=1) + "\n", encoding="utf-8")
    (folder / "report.html").write_text(arms_page(summary), encoding="utf-8")


def _say(summary: dict[str, Any]) -> None:
    run = f"{summary['iterations']} iterations an arm, {summary['replicates']} times"
    say(f"{summary['policy']} on {summary['source']} problems, {summary['heldout_problems']} held out, {run}")
    for reason in summary["passed_over"]:
        say(f"  passed over {reason}")
    say(f"  {summary['contamination']}")
    say(
        f"{'arm':12}{'rollouts':>9}{'updates':>9}{'prompts':>9}   held out, correct: start -> end "
        "(95%)      in form"
    )
    for name, arm in summary["arms"].items():
        first, last = arm["heldout"][0], arm["heldout"][-1]
        correct, form = last["correct"], last["formatted"]
        shares = (
            f"{first['correct']['share']:.1%} -> {correct['share']:.1%} ({correct['low']:.1%} to "
            f"{correct['high']:.1%})"
        )
        say(
            f"{name:12}{arm['rollouts']:>9}{arm['updates']:>9}{arm['prompts']:>9}   "
            f"{shares:42}{form['share']:.1%}"
        )
    for name, arm in summary["arms"].items():
        if passed := arm["heldout"][-1].get("pass_at"):
            shares = ", ".join(
                f"pass@{k} {item['share']:.1%} ({item['low']:.1%} to {item['high']:.1%})"
                for k, item in passed.items()
            )
            say(f"{name} in the end: {shares}")
    if lost := {name: arm["unverified"] for name, arm in summary["arms"].items() if arm["unverified"]}:
        say(
            "replies on which their dataset's verifier failed, worth 0: "
            f"{', '.join(f'{name} {count}' for name, count in lost.items())}"
        )
    for name, item in summary["differences"].items():
        say(
            f"{name} against {item['base']}: {item['difference']:+.1%} ({item['low']:+.1%} to "
            f"{item['high']:+.1%}, p {item['p_holm']:.2g})"
        )
