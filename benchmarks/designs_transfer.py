"""How designs fare on formulas that hide no planted assignment: uniform random 3-SAT, kept where a SAT solver
finds it satisfiable.

    python benchmarks/designs_transfer.py [DESIGN.py ...] [--sizes 160:4.2,226:4.1] [--batches 1] [--batch 100] [--max-work 40000]
    python benchmarks/designs_transfer.py --terms [GENOME.json] [--sizes ...] [...]

A search that is judged on planted formulas alone (`evolake.designs.model.instances`) may learn to exploit
what planting leaves in them. Beside the designs that are named (by default the reference design that a search
found, `open_search`) stand the baseline and the paper's design 340, on the same formulas,
planted and uniform. The first line of a size says how far the majority of a variable's literals tells its
value in the hidden assignment, or in the solver's model: the correlation of the two. A figure is the median
work of a batch, in steps of the baseline, and behind it the median steps; medians over batches where there
are several, with the 95% interval of the work where there is one. ">=" where half of a batch were not solved
within the limit of work. Both are counted, so they do not depend on the machine. --sizes N alone: planted
formulas only.

--terms leaves one term of a genome at a time out, by default of `open_search`, and says what it does on each kind: the work without it over the work
with it, geometric mean over sizes and batches.
"""  # noqa: E501

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np

from evolake.designs.engines.engine import StopRule, WorkBounds, simulate
from evolake.designs.evolution.ablation import effects_sentence, term_effects
from evolake.designs.evolution.racing import BudgetLevel, Stage, run_stages
from evolake.designs.genome.open_ablation import ablations
from evolake.designs.genome.open_compose import compose
from evolake.designs.genome.open_genome import read_genome
from evolake.designs.model.contract import TracedDesign
from evolake.designs.model.formulas import PLANTED, FormulaKind, draw_formulas, uniform_kind
from evolake.designs.model.instances import Planted
from evolake.designs.tracing.trace import PRELOAD, trace
from evolake.jail import open_pool
from evolake.seeds import child_seed

SEEDS = Path(__file__).resolve().parents[1] / "data_lake" / "seeds"
KNOWN = {
    "baseline": SEEDS / "designs" / "baseline.py",
    "design 340": SEEDS / "reference_designs" / "design_340.py",
}
FOUND = SEEDS / "reference_designs" / "open_search.py"
FOUND_GENOME = FOUND.with_suffix(".genome.json")
CORE_S = 600.0


def majority(batch: Planted) -> float:
    """Return the correlation, over variables, of the sum of the signs of a variable's literals with its
    hidden value."""
    sums = [
        np.bincount(batch.idx[number].ravel(), batch.sgn[number].ravel(), minlength=batch.n)
        for number in range(batch.batch)
    ]
    return float(np.corrcoef(np.concatenate(sums), batch.hidden.ravel())[0, 1])


def median_of(design: TracedDesign, batches: list[Planted], max_work: int) -> str:
    """Return the median over batches of the batch's median work, and of its steps."""
    until = StopRule(interval=True)
    runs = [
        simulate(
            design, batch, max_steps=10 * max_work, bounds=WorkBounds(max_work), until=until, seed=batch.seed
        )
        for batch in batches
    ]
    work = float(np.median([run.median_work if run.reached else max_work for run in runs]))
    steps = float(np.median([run.median_step if run.reached else run.limit for run in runs]))
    low, high = runs[0].interval
    ends = "-" if high is None else f"{high * runs[0].work_per_step:,.0f}"
    interval = (
        f" ({low * runs[0].work_per_step:,.0f} to {ends})" if len(runs) == 1 and runs[0].reached else ""
    )
    return (
        f"{'>=' if work >= max_work else ''}{work:,.0f}{interval} {steps:,.0f} steps of "
        f"{runs[0].work_per_step:.2f}"
    )


def sizes_of(text: str) -> list[tuple[int, list[FormulaKind]]]:
    """Return the sizes with their kinds: planted, and uniform if a ratio is given."""
    result = []
    for size in text.split(","):
        n, _, ratio = size.partition(":")
        result.append((int(n), [PLANTED, *([uniform_kind(float(ratio))] if ratio else [])]))
    return result


def compare(given: argparse.Namespace) -> None:
    """Print how each design fares at each size on each kind."""
    traced = {}
    with open_pool(workers=1, preload=PRELOAD) as pool:
        for name, path in (KNOWN | {path.stem: path for path in given.designs or [FOUND]}).items():
            result = trace(path.read_text(), pool=pool)
            if not isinstance(result, TracedDesign):
                raise SystemExit(f"{path}: {result}")
            traced[name] = result
    for n, kinds in sizes_of(given.sizes):
        batches = {
            kind: [draw_formulas(kind, n, given.batch, seed) for seed in seeds_of(given.batches)]
            for kind in kinds
        }
        correlations = ", ".join(
            f"{kind} {np.mean([majority(batch) for batch in drawn]):+.2f}" for kind, drawn in batches.items()
        )
        print(f"N={n:4d} correlation of a variable's majority with its hidden value: {correlations}")
        for kind, drawn in batches.items():
            parts = [f"{name} {median_of(design, drawn, given.max_work)}" for name, design in traced.items()]
            print(f"N={n:4d} {kind!s:20s}", "   ".join(parts), flush=True)


def seeds_of(batches: int) -> list[int]:
    return [child_seed(0, "designs", "", "transfer", number) for number in range(batches)]


def tell_terms(given: argparse.Namespace) -> None:
    """Print what each term of a genome does on each kind."""
    whole = read_genome((given.designs[0] if given.designs else FOUND_GENOME).read_text())
    levels = [
        BudgetLevel(n, given.batch, seed, given.max_work, kind)
        for n, kinds in sizes_of(given.sizes)
        for kind in kinds
        for seed in seeds_of(given.batches)
    ]
    with open_pool(workers=1, preload=PRELOAD) as pool:

        def stages(genome: object) -> list[Stage]:
            result = trace(compose(genome), pool=pool)  # pyright: ignore[reportArgumentType]
            if not isinstance(result, TracedDesign):
                raise SystemExit(f"a genome without one term: {result}")
            text = json.dumps(result.to_json())
            return [run_stages(text, [level], [level.max_steps], CORE_S)[0] for level in levels]

        known = stages(whole)
        for item in ablations(whole):
            print(effects_sentence(term_effects(str(item), levels, known, stages(item.genome))), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("designs", nargs="*", type=Path)
    parser.add_argument("--terms", action="store_true", help="leave one term of a genome at a time out")
    parser.add_argument("--sizes", default="160:4.2,226:4.1", help="N:ratio of the uniform formulas")
    parser.add_argument("--batches", type=int, default=1)
    parser.add_argument("--batch", type=int, default=100)
    parser.add_argument("--max-work", type=int, default=40_000)
    given = parser.parse_args()
    (tell_terms if given.terms else compare)(given)


if __name__ == "__main__":
    main()
