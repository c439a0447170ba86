"""How designs fare on formulas that hide no planted assignment: uniform random 3-SAT, kept where a SAT solver finds it satisfiable.

    python benchmarks/designs_transfer.py [DESIGN.py ...] [--sizes 160:4.2,226:4.1] [--batches 1] [--batch 100] [--max-work 40000]

Search and measure run on planted formulas (`evolake.designs.model.instances`), as the paper's do, and a design may come to live on what planting
leaves in them. Beside the designs that are named (by default the reference design that a search in the open grammar found) stand the baseline and
the paper's design 340, on the same formulas, planted and uniform. A figure is the median work of a batch, in steps of the baseline, and behind it the
median steps; medians over batches where there are several, with the 95% interval of the work where there is one. ">=" where half of a batch were not
solved within the limit of work. Both are counted, so they do not depend on the machine. --sizes N alone: planted formulas only.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from pysat.solvers import Solver

from evolake.designs.engines.engine import StopRule, WorkBounds, simulate
from evolake.designs.model.contract import TracedDesign
from evolake.designs.model.instances import Planted, planted
from evolake.designs.tracing.trace import PRELOAD, trace
from evolake.jail import open_pool
from evolake.seeds import child_seed, generator

SEEDS = Path(__file__).resolve().parents[1] / "data_lake" / "seeds"
KNOWN = {"baseline": SEEDS / "designs" / "baseline.py", "design 340": SEEDS / "reference_designs" / "design_340.py"}
FOUND = SEEDS / "reference_designs" / "open_search.py"


def uniform(n: int, batch: int, seed: int, ratio: float) -> Planted:
    """`batch` satisfiable formulas of uniform random clauses over `n` variables; `hidden` is the model that the SAT solver gave."""
    random = generator(seed, "designs", "", f"uniform n={n} ratio={ratio}")
    m, result = int(ratio * n), []
    while len(result) < batch:
        idx = np.argsort(random.random((m, n)), axis=1)[:, :3]
        sgn = random.choice([-1, 1], size=(m, 3))
        with Solver("cadical153", bootstrap_with=((idx + 1) * sgn).tolist()) as solver:
            if solver.solve():
                true = set(solver.get_model() or ())
                result.append((idx, sgn, np.where([variable + 1 in true for variable in range(n)], 1, -1)))
    idx, sgn, hidden = (np.array(part) for part in zip(*result, strict=True))
    return Planted(idx.astype(np.int32), sgn.astype(np.int8), hidden.astype(np.int8), n, m, seed)


def median_of(design: TracedDesign, batches: list[Planted], max_work: int) -> str:
    """The median over batches of the batch's median work, and of its steps."""
    until = StopRule(interval=True)
    runs = [simulate(design, batch, max_steps=10 * max_work, bounds=WorkBounds(max_work), until=until, seed=batch.seed) for batch in batches]
    work = float(np.median([run.median_work if run.reached else max_work for run in runs]))
    steps = float(np.median([run.median_step if run.reached else run.limit for run in runs]))
    low, high = runs[0].interval
    ends = "-" if high is None else f"{high * runs[0].work_per_step:,.0f}"
    interval = f" ({low * runs[0].work_per_step:,.0f} to {ends})" if len(runs) == 1 and runs[0].reached else ""
    return f"{'>=' if work >= max_work else ''}{work:,.0f}{interval} {steps:,.0f} steps of {runs[0].work_per_step:.2f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("designs", nargs="*", type=Path, default=[FOUND])
    parser.add_argument("--sizes", default="160:4.2,226:4.1", help="N:ratio of the uniform formulas")
    parser.add_argument("--batches", type=int, default=1)
    parser.add_argument("--batch", type=int, default=100)
    parser.add_argument("--max-work", type=int, default=40_000)
    given = parser.parse_args()
    traced = {}
    with open_pool(workers=1, preload=PRELOAD) as pool:
        for name, path in (KNOWN | {path.stem: path for path in given.designs}).items():
            result = trace(path.read_text(), pool=pool)
            if not isinstance(result, TracedDesign):
                raise SystemExit(f"{path}: {result}")
            traced[name] = result
    for size in given.sizes.split(","):
        n, ratio = int(size.partition(":")[0]), size.partition(":")[2]
        seeds = [child_seed(0, "designs", "", "transfer", number) for number in range(given.batches)]
        kinds = {"planted, ratio 4.3": [planted(n, given.batch, seed) for seed in seeds]}
        if ratio:
            kinds[f"uniform, ratio {ratio}"] = [uniform(n, given.batch, seed, float(ratio)) for seed in seeds]
        for kind, batches in kinds.items():
            parts = [f"{name} {median_of(design, batches, given.max_work)}" for name, design in traced.items()]
            print(f"N={n:4d} {kind:20s}", "   ".join(parts), flush=True)


if __name__ == "__main__":
    main()
