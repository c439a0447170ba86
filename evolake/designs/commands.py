"""`evolake designs`: measure a design file, or ask whether it can be used at all; `new` writes a complete
design to change; `import` takes solvers and objectives of the paper's framework, `merge` the best designs of
another lake with their whole genealogy, and its objectives, for the next cycle to begin.

Exit codes: 0 if the design solved its instances; 1 if it did not, or is blocked; 2 for a missing file or a
number that makes no run; 3 if the machinery failed.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evolake import settings as settings_module
from evolake.commands import AS_JSON, OrdinaryPath
from evolake.designs.templates import template
from evolake.errors import InputError
from evolake.new_files import write_new
from evolake.reading import Unreadable, read_text, reason
from evolake.scratch import Scratch
from evolake.terminal import moving_bar, say, say_json

if TYPE_CHECKING:
    from evolake.designs.engines.engine import Simulation
    from evolake.designs.model.contract import Blocked, TracedDesign
    from evolake.designs.model.instances import FormulaKind, Planted


@click.group(short_help="Check, run, merge and import designs of 3-SAT solvers.")
def designs() -> None:
    """Measure and check designs of 3-SAT solvers, merge lakes, import files of the paper's framework.

    \b
    Examples:
      evolake designs new my_design.py
      evolake designs solve my_design.py --n 100
    """


@designs.command(short_help="Run the design in FILE on 3-SAT formulas.")
@click.argument("file", type=OrdinaryPath())
@click.option("--n", "n", type=int, default=100, show_default=True, help="Variables per instance.")
@click.option("--instances", type=int, default=100, show_default=True, help="Instances in the batch.")
@click.option(
    "--seed", type=int, default=0, show_default=True, help="Seed of the instances and of the start."
)
@click.option("--ratio", type=float, help="Clauses per variable (default: 4.3; of uniform formulas 4.2).")
@click.option("--p0", type=float, help="Share of clauses with three true literals (default: 0.08).")
@click.option("--uniform", is_flag=True, help="Draw uniform satisfiable formulas instead of planted ones.")
@click.option(
    "--formulas",
    type=OrdinaryPath(),
    help="Read 3-SAT formulas from this DIMACS file or folder instead of drawing them.",
)
@click.option(
    "--beside",
    is_flag=True,
    help="Run probSAT, MiniSat and CaDiCaL on the same formulas, too, and print a table.",
)
@click.option(
    "--seconds",
    type=click.FloatRange(min=0.001),
    default=10.0,
    show_default=True,
    help="Processor seconds after which another solver gives up a formula.",
)
@click.option(
    "--max-steps", type=int, default=10_000, show_default=True, help="Steps after which to give up."
)
@click.option(
    "--engine",
    type=click.Choice(["auto", "fused", "mixed", "torch", "reference"]),
    default="auto",
    show_default=True,
    help="What runs the steps.",
)
@click.option(
    "--dtype",
    type=click.Choice(["float32", "float64"]),
    default="float32",
    show_default=True,
    help="Type of the numbers.",
)
@click.option(
    "--dimacs",
    type=OrdinaryPath(),
    default=None,
    help="Write the instances as DIMACS files into this folder (default: none).",
)
@click.option(
    "--hyper",
    multiple=True,
    metavar="NAME=VALUE",
    help="A hyperparameter's value instead of its default; may be repeated.",
)
@AS_JSON
def solve(
    file: Path,
    n: int,
    instances: int,
    seed: int,
    ratio: float | None,
    p0: float | None,
    uniform: bool,
    formulas: Path | None,
    beside: bool,
    seconds: float,
    max_steps: int,
    engine: str,
    dtype: str,
    dimacs: Path | None,
    hyper: tuple[str, ...],
    as_json: bool,
) -> int:
    """Run the design in FILE on planted 3-SAT instances until the median step to a solution and its interval
    are known.

    An instance counts as solved from the first step at which all its clauses hold. Work is the median step
    times what a step costs, in steps of the baseline. With 100 instances, the paper's own measure is printed
    as well: the step at which more than half are solved at the same time. With --formulas or --beside each
    formula runs until it is solved or --max-steps is reached; formulas of one size are one batch. Exit code 1
    if not half are solved: the median step is an estimate then, extrapolated from the steps that were run.
    """
    from evolake.designs.engines.isolated import warm
    from evolake.designs.model.contract import Blocked
    from evolake.designs.model.instances import draw_formulas, read_formulas, write_dimacs

    source = read_source(file)
    if max_steps < 1:
        raise InputError(
            "nothing to run", wanted="--max-steps of at least 1", got=str(max_steps), do="raise --max-steps"
        )
    kind, to_end, answers = _kind(uniform, ratio, p0), beside or formulas is not None, []
    batches = read_formulas(formulas) if formulas else [draw_formulas(kind, n, instances, seed)]
    warm()
    for batch in batches:
        if dimacs is not None:
            write_dimacs(batch, dimacs, "formula" if formulas else kind.name)
        traced = trace_file(source, dtype=dtype, size=(batch.n, batch.m), hyper=read_hyper(hyper))
        if isinstance(traced, Blocked):
            return _say_blocked(traced, file, as_json)
        result = _run(traced, batch, file, seed, max_steps, engine, to_end=to_end, quiet=as_json)
        if result.failure:
            return _say_blocked(Blocked(f"failed while running: {result.failure}", "run"), file, as_json)
        answers.append(
            _answer(result, batch, seed) | (_beside(result, batch, seed, seconds) if beside else {})
        )
        if not as_json:
            _say_answer(result, answers[-1], file)
    solved = sum(round((1 - answer["unsolved_fraction"]) * answer["instances"]) for answer in answers)
    verdict = "solved" if 2 * solved > sum(answer["instances"] for answer in answers) else "unsolved"
    if as_json:
        say_json({"verdict": verdict} | (answers[0] if len(answers) == 1 else {"batches": answers}))
    return int(verdict == "unsolved")


def _run(
    traced: TracedDesign,
    batch: Planted,
    file: Path,
    seed: int,
    max_steps: int,
    engine: str,
    *,
    to_end: bool,
    quiet: bool,
) -> Simulation:
    """Run a design on a batch, to_end: each instance until it is solved."""
    from evolake.designs.engines.isolated import Run, run_apart
    from evolake.designs.evolution.experiments import PAPER_BATCH
    from evolake.designs.model.instances import write_batch

    with Scratch("formulas") as folder, moving_bar(file.name, quiet=quiet) as move:
        kept = Path(folder) / "batch.npz"
        write_batch(batch, kept)
        run = Run(
            json.dumps(traced.to_json()),
            batch.n,
            batch.batch,
            seed,
            max_steps,
            instance_seed=seed,
            ratio=batch.m / batch.n,
            until_median=not to_end,
            interval=not to_end,
            together=batch.batch == PAPER_BATCH and not to_end,
            computed="unsolved" if to_end else "all",
            engine=engine,
            dtype=traced.dtype,
            batch_file=str(kept),
        )
        return run_apart(
            run, move and (lambda steps, solved: move(steps, max_steps, f"{file.name}: {solved} solved"))
        )


def _kind(uniform: bool, ratio: float | None, p0: float | None) -> FormulaKind:
    """Return the kind of formulas to draw. Raises InputError."""
    from evolake.designs.model.instances import P0, RATIO, FormulaKind, uniform_kind

    if uniform and p0 is not None:
        raise InputError("uniform formulas have no p0", wanted="--uniform or --p0", do="leave one out")
    if uniform:
        return uniform_kind(4.2 if ratio is None else ratio)
    return FormulaKind(ratio=RATIO if ratio is None else ratio, p0=P0 if p0 is None else p0)


@designs.command(short_help="Check in the sandbox whether the design in FILE can be used.")
@click.argument("file", type=OrdinaryPath())
@AS_JSON
def check(file: Path, as_json: bool) -> int:
    """Trace the design in FILE in the jail and say whether it can be used, and by which engine."""
    from evolake.designs.model.contract import Blocked
    from evolake.designs.work.substeps import substeps

    traced = trace_file(read_source(file))
    if isinstance(traced, Blocked):
        return _say_blocked(traced, file, as_json)
    engine, note = best_engine(traced)
    if engine == "none":
        return _say_blocked(Blocked(f"no engine can run it: {note}", "run"), file, as_json)
    work, times = work_of(traced), substeps(traced.gradient())
    if isinstance(work, str):
        return _say_blocked(Blocked(f"its work cannot be counted: {work}", "run"), file, as_json)
    if as_json:
        result = {
            "verdict": "accepted",
            "reasons": [],
            "graph_sha": traced.graph_sha,
            "engine": engine,
            "note": note,
            "variables": [item.name for item in traced.variables],
            "hypers": [item.name for item in traced.hypers],
            "nodes": len(traced.gradient().nodes),
            "work_per_step": round(work, 4),
            "substeps": times,
        }
        say_json(result)
    else:
        say(
            f"{file}: accepted, {len(traced.gradient().nodes)} operators, engine "
            f"{engine}{f' ({note})' if note else ''}"
        )
        say(f"  a step costs {work:.2f} times the work of one of the baseline")
        if times > 1:
            say(
                f"  repeated flow: a step goes {times} times from the variables to the clauses and "
                "back, and pays for each; the rule designs-repeated-flow bounds it"
            )
        say(f"  graph {traced.graph_sha}")
    return 0


def read_source(file: Path) -> str:
    """Return the text of a design file. Raises InputError when there is none."""
    try:
        return read_text(file)
    except FileNotFoundError:
        raise InputError(
            f"no design file {str(file)!r}", wanted="a Python file", do="check the path"
        ) from None
    except (OSError, Unreadable) as error:
        raise InputError(
            f"the design file {str(file)!r} cannot be read",
            got=reason(error),
            do="give a readable Python file in UTF-8",
        ) from None


def read_hyper(pairs: tuple[str, ...]) -> dict[str, Any]:
    """Return NAME=VALUE pairs as numbers. Raises InputError where one is none."""
    values: dict[str, Any] = {}
    for pair in pairs:
        name, equals, text = pair.partition("=")
        if not equals or not name:
            raise InputError(
                "a hyperparameter needs a name and a value",
                wanted="--hyper NAME=VALUE",
                got=pair,
                do="write it as NAME=VALUE",
            )
        try:
            values[name] = int(text) if text.lstrip("+-").isdecimal() else float(text)
        except ValueError:
            what = f"the hyperparameter {name!r} is no number"
            raise InputError(
                what, wanted="--hyper NAME=NUMBER", got=pair, do="write it as NAME=NUMBER"
            ) from None
    return values


def trace_file(source: str, **options: Any) -> TracedDesign | Blocked:
    """Trace in a jail opened for this one file."""
    from evolake.designs.tracing.trace import PRELOAD, trace
    from evolake.jail import open_pool

    with open_pool(workers=1, preload=PRELOAD) as pool:
        return trace(source, pool=pool, **options)


def best_engine(traced: TracedDesign) -> tuple[str, str | None]:
    """Return the engine that "auto" would take, and why it is not the fused one."""
    from evolake.designs.engines.isolated import engine_apart

    return engine_apart(json.dumps(traced.to_json()), *(traced.size or (16, 68)), traced.dtype)


def work_of(traced: TracedDesign) -> float | str:
    """Return the cost of a step relative to one of the baseline at 160 variables, or at the design's own
    size; or why it cannot be counted."""
    from evolake.designs.engines.isolated import work_apart

    return work_apart(json.dumps(traced.to_json()), *(traced.size or (160, 688)))


def _say_blocked(blocked: Blocked, file: Path, as_json: bool) -> int:
    if as_json:
        say_json({"verdict": "blocked", "gate": blocked.gate, "reasons": [blocked.reason]})
    else:
        say(f"{file}: blocked at the gate {blocked.gate!r}: {blocked.reason}")
    return 1


def _answer(result: Simulation, batch: Planted, seed: int) -> dict[str, Any]:
    """Return what a run of a batch came to, as JSON values."""
    from evolake.designs.engines.other_solvers import of_design
    from evolake.designs.evolution.experiments import PAPER_BATCH

    low, high = result.interval
    design = of_design(result)
    return {
        "median_step": result.median_step,
        "median_step_low": low,
        "median_step_high": high,
        "work_per_step": round(result.work_per_step, 4),
        "median_work": round(result.median_work, 2),
        "extrapolated": not result.reached,
        "together_step": result.together_step if batch.batch == PAPER_BATCH else None,
        "left_again": result.left_again,
        "unsolved_fraction": result.unsolved_fraction,
        "steps_run": result.steps_run,
        "steps_per_s": round(result.steps_per_s, 3),
        "cpu_s_per_formula": round(design.cpu_s.mean(), 6),
        "n": batch.n,
        "clauses": batch.m,
        "instances": batch.batch,
        "seed": seed,
    }


def _beside(result: Simulation, batch: Planted, seed: int, seconds: float) -> dict[str, Any]:
    """Return what the design and the other solvers came to on the same formulas, as JSON values."""
    from evolake.designs.engines.other_solvers import OTHERS, of_design, solve

    solvers = [of_design(result), *(solve(name, batch, seconds=seconds, seed=seed) for name in OTHERS)]
    return {
        "solvers": [
            {
                "solver": item.solver,
                "solved": item.share,
                "unsatisfiable": float((item.status == -1).mean()),
                **{
                    name: [value if math.isfinite(value) else None for value in item.median(values)]
                    for name, values in (("median_steps", item.steps), ("median_cpu_s", item.cpu_s))
                },
                "mean_cpu_s": float(item.cpu_s.mean()),
            }
            for item in solvers
        ]
    }


def _say_answer(result: Simulation, answer: dict[str, Any], file: Path) -> None:
    """Print what a run of a batch came to."""
    instances, high = answer["instances"], answer["median_step_high"]
    verdict = "solved" if result.unsolved_fraction < 0.5 else "unsolved"
    reached = (
        f"median step {result.median_step:,} (95% interval {answer['median_step_low']:,} to "
        f"{f'{high:,}' if high else 'more than was run'})"
    )
    unsolved = float((result.solved_at == 0).mean())
    missed = (
        f"not half solved; estimate of the median step, extrapolated and not measured: {result.median_step:,}"
    )
    say(f"{file}: {verdict} at N={answer['n']}, {instances} instances, seed {answer['seed']}")
    say(
        f"  {reached if result.reached else missed}; {unsolved:.1%} unsolved after {result.steps_run:,} steps"
    )
    say(
        f"  work {result.median_work:,.0f} in steps of the baseline: a step costs "
        f"{result.work_per_step:.2f} times one of its"
    )
    if together := answer["together_step"]:
        say(
            f"  more than half solved at the same time at step {together:,}, the paper's measure; "
            f"{result.left_again} solved ones were left again"
        )
    engine = f"{result.engine} ({result.note})" if result.note else result.engine
    say(
        f"  engine {engine}, {result.steps_per_s:,.0f} steps/s, {result.cpu_s:.2f} s of cpu, "
        f"{answer['cpu_s_per_formula']:.2g} s a formula"
    )
    if result.diverged:
        say(f"  {result.diverged} instances diverged")
    for row in answer.get("solvers", ()):
        say(_solver_line(row))


def _solver_line(row: dict[str, Any]) -> str:
    """Return what a solver came to on a batch in a line."""

    def number(value: float | None) -> str:
        if value is None:
            return "more"
        return f"{value:,.0f}" if value >= 100 else f"{value:.2g}"

    def numbers(values: list[float | None]) -> str:
        middle, low, high = map(number, values)
        return f"{middle} ({low} to {high})"

    unit = {"design": "steps", "probSAT": "flips"}.get(row["solver"], "conflicts")
    refuted = f", {row['unsatisfiable']:.0%} unsatisfiable" if row["unsatisfiable"] else ""
    return (
        f"  {row['solver']:8} {row['solved']:4.0%} solved{refuted}; "
        f"median {numbers(row['median_steps'])} {unit}, "
        f"{numbers(row['median_cpu_s'])} s of cpu a formula; mean {row['mean_cpu_s']:.2g} s"
    )


NOUNS = {
    "designs": "enter cycle {cycle}, through the gates of this line",
    "objectives": "vote from cycle {cycle} on, if their gate accepts them",
}
"""What becomes of each kind of row."""


@designs.command(name="import", short_help="Import solvers and objectives of the paper's framework.")
@click.argument("folder", type=OrdinaryPath())
@AS_JSON
def import_command(folder: Path, as_json: bool) -> int:
    """Import files of the paper's framework. FOLDER is a copy of it, with solvers/solver_N.py in it.

    Read with them, if they are there: objectives/objective_N.py and metadata.json. All folders may carry the
    name of one workspace (solvers_22, ...). Each solver_N.py is a design without parents. Designs pass this
    line's gates and are measured here. Importing twice adds nothing.
    """
    from evolake.designs.evolution.importing import import_framework
    from evolake.lake import Lake

    result = import_framework(Lake(settings_module.load().require_lake()), folder)
    reasons = [] if result.new else ["these files were imported before; nothing changed"]
    malformed = ", ".join(f"{bad} of the {name}" for name, (_, bad) in result.counts.items() if bad)
    reasons += [f"malformed, with the reason in the row: {malformed}"] if malformed and result.new else []
    if as_json:
        counts = {
            name: {"read": read, "malformed": malformed} for name, (read, malformed) in result.counts.items()
        }
        say_json(
            {
                "verdict": "imported",
                "reasons": reasons,
                "bundle_id": result.bundle_id,
                "source": result.source,
                "enters_cycle": result.since_cycle,
                "new": result.new,
                **counts,
            }
        )
        return 0
    for line in reasons:
        say(line)
    if result.new:
        for name, summary in NOUNS.items():
            say(f"{name}, {result.counts[name][0]}: {summary.format(cycle=result.since_cycle)}")
    return 0


@designs.command(short_help="Import the best designs and objectives of OTHER_LAKE.")
@click.argument("other_lake", type=OrdinaryPath())
@click.option(
    "--top",
    default=5,
    show_default=True,
    help="How many designs, best first by consensus; their ancestors come along.",
)
@click.option(
    "--alive",
    default=20,
    show_default=True,
    help="How many ancestors that are alive there stay alive, at most; best first.",
)
@AS_JSON
def merge(other_lake: Path, top: int, alive: int, as_json: bool) -> int:
    """Import the best designs of OTHER_LAKE (its data folder), and its objectives. They enter the next cycle
    by this lake's gates."""
    from evolake.designs.evolution.merge import import_lake
    from evolake.lake import Lake

    result = import_lake(Lake(settings_module.load().require_lake()), other_lake, top=top, alive=alive)
    reasons = [] if result.new else ["this bundle was merged before; nothing changed"]
    if as_json:
        say_json(
            {
                "verdict": "merged",
                "reasons": reasons,
                "bundle_id": result.bundle_id,
                "designs": result.chosen,
                "ancestors": result.ancestors,
                "alive": result.alive,
                "objectives": result.objectives,
                "enters_cycle": result.since_cycle,
                "source_cycle": result.source_cycle,
                "new": result.new,
            }
        )
        return 0
    for line in reasons:
        say(line)
    came = (
        f"{len(result.chosen)} designs with {result.ancestors} ancestors ({result.alive} of them alive) "
        f"and {result.objectives} objectives"
    )
    say(f"{came} (from cycle {result.source_cycle} there) enter cycle {result.since_cycle}")
    for design_id in result.chosen:
        say(f"  {design_id}")
    return 0


EXAMPLE = template("new_design")


@designs.command(short_help="Write a complete design to FILE.")
@click.argument("file", metavar="FILE", type=OrdinaryPath())
def new(file: Path) -> int:
    """Write a complete design to FILE, which solves formulas of 100 variables. Nothing is overwritten."""
    write_new({file: EXAMPLE})
    say(f"{file}; next: evolake designs check {file}, then: evolake designs solve {file} --n 100")
    return 0
