"""What the formulas of a suite cost the seeds, and how far shuffled copies of one formula lie apart: the
table in docs/solvers.md.

    python benchmarks/solver_suites.py [quick quick-duel quick-holdout] [--solver minisat22 --solver glucose421] [--draws 3]
        [--shuffles 4] [--timeout 2]

Of a suite for duels (its name ends in -duel) each recipe is drawn anew `--draws` times, of others the formula
is the suite's. Each formula is run in `--shuffles` copies by each seed, in the jail and with a proof that is
written and not checked. Printed are the mean of cpu seconds and of conflicts, and the spread: the largest
cost over the smallest among the copies of one formula, the median over draws. Conflicts do not depend on the
machine, seconds do.
"""  # noqa: E501

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import click

from evolake.lake import BlobStore
from evolake.project import BROUGHT
from evolake.solvers.formula.cnf import Formula, read_dimacs, shuffled, write_dimacs
from evolake.solvers.measurement.benchmark import run_limits
from evolake.solvers.process.execute import Program, SolverRun, run_solver
from evolake.solvers.repository.adapters import load_adapter
from evolake.solvers.repository.build import build_variant, open_program
from evolake.solvers.seeds.seeding import lay_out_seed, seed_named
from evolake.solvers.suites.fresh import fresh_formula
from evolake.solvers.suites.generators import generate, pcg
from evolake.solvers.suites.materialize import recipes_of
from evolake.solvers.suites.spec import Recipe, load_spec

SEEDS = BROUGHT / "data_lake" / "seeds"
SOLVERS = ("minisat22", "glucose421")
MEMORY_MB = 1024
LEAST_S = 0.001


def programs(work: Path, names: Sequence[str]) -> dict[str, Program]:
    """Build the seeds."""
    result = {}
    for name in names:
        adapter, blobs = load_adapter(seed_named(name).adapter), BlobStore(work / "lake")
        built = build_variant(
            lay_out_seed(seed_named(name), blobs, work, now=datetime.now(UTC)), adapter, blobs, seed=True
        )
        if not built.ok:
            raise SystemExit(f"{name} does not build: {built.reason}")
        result[name] = open_program(built, adapter, blobs, work / "programs")
    return result


def formulas(recipe: Recipe, draws: int) -> list[Formula]:
    """Return the formula of a recipe, or with `draws` so many drawn in its place."""
    if draws:
        return [fresh_formula(recipe, recipe.status, pcg(number))[0] for number in range(draws)]
    made = generate(str(recipe.generator), recipe.parameters)
    return [made if isinstance(made, Formula) else read_dimacs(made)]


def run(program: Program, formula: Formula, timeout_s: float, work: Path) -> SolverRun:
    """Run a solver once."""
    path = work / "formula"
    path.write_bytes(write_dimacs(formula))
    return run_solver(program, path, run_limits(timeout_s, MEMORY_MB), scratch=work / "run", want_proof=True)


def row(
    program: Program, recipe: Recipe, draws: int, shuffles: int, timeout_s: float, work: Path
) -> tuple[str, str, str]:
    """Return cpu seconds, conflicts and spread of a recipe in words; seconds as least to most over draws."""
    seconds, conflicts, spreads = [], [], []
    rng = pcg(1)
    for formula in formulas(recipe, draws):
        runs = [run(program, shuffled(formula, rng), timeout_s, work) for _ in range(shuffles)]
        costs = [max(item.cpu_s, LEAST_S) for item in runs]
        seconds.append(statistics.fmean(costs))
        conflicts.append(statistics.fmean(item.counters.get("conflicts", 0) for item in runs))
        spreads.append(max(costs) / min(costs))
    ends = f"{min(seconds):.2f}" if len(seconds) == 1 else f"{min(seconds):.2f} to {max(seconds):.2f}"
    return ends, f"{statistics.fmean(conflicts):,.0f}", f"{statistics.median(spreads):.1f}"


@click.command()
@click.argument("suites", nargs=-1)
@click.option(
    "--solver", "solvers", multiple=True, default=SOLVERS, show_default=True, help="Seeds that are measured."
)
@click.option("--draws", default=3, show_default=True, type=click.IntRange(1))
@click.option("--shuffles", default=4, show_default=True, type=click.IntRange(2))
@click.option("--timeout", "timeout_s", default=2.0, show_default=True, type=click.FloatRange(0.01))
def main(suites: Sequence[str], solvers: Sequence[str], draws: int, shuffles: int, timeout_s: float) -> None:
    """Print a table in Markdown."""
    heads = [f"{solver}: {what}" for solver in solvers for what in ("cpu s", "conflicts", "spread")]
    print(f"| suite | formula | family | {' | '.join(heads)} |\n| --- | --- | --- |{' ---: |' * len(heads)}")
    with tempfile.TemporaryDirectory(prefix="evolake-suites-") as parent:
        work = Path(parent)
        built = programs(work, solvers)
        for name in suites or ("quick", "quick-duel", "quick-holdout"):
            for recipe in recipes_of(load_spec(name, SEEDS)):
                if recipe.shuffle:
                    continue
                of_duel = draws if name.endswith("-duel") else 0
                cells = [
                    cell
                    for solver in solvers
                    for cell in row(built[solver], recipe, of_duel, shuffles, timeout_s, work)
                ]
                print(
                    f"| {name} | {recipe.name} | {recipe.family}, {recipe.status} | {' | '.join(cells)} |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
