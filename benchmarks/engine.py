"""Steps a second of every engine beside the paper's way, on one thread, in one run: `python
benchmarks/engine.py [--quick] [--json]`.

Seconds are cpu seconds of this thread, the best of a few short bursts, engines in turn, so that other work on
the machine hurts all alike. The ratio is to the plain engine in the same run. Compilation is shown apart
("made s": seconds of cpu to lower, compile or fetch a kernel and fill its arrays).

What limits: the baseline's step is three gathers and a scatter a clause, near what memory gives; designs with
gates are limited by their exponentials and powers; "mixed" by the round trip through torch for the operator
without a kernel.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import torch
from plain_engine import PlainEngine

from evolake.designs.engines.engine import make_stepper
from evolake.designs.model.contract import Blocked, TracedDesign
from evolake.designs.model.instances import planted
from evolake.designs.tracing.trace import PRELOAD, trace
from evolake.jail import open_pool

ROOT = Path(__file__).resolve().parent.parent
BATCH = 100
SIZES = (100, 320, 1280)
GOALS = {"baseline": (15, 25), "design 340": (8, 12), "any file": (5, 10), "any file, cumsum": (5, 10)}


def designs(folder: Path) -> dict[str, Path]:
    """Return the measured files; the last one has an operator that no kernel is generated for."""
    unusual = ROOT / "benchmarks" / "any_file_design.py"
    mixed = folder / "mixed.py"
    mixed.write_text(unusual.read_text().replace("MIXED = False", "MIXED = True"))
    seeds = ROOT / "data_lake" / "seeds"
    return {
        "baseline": seeds / "designs" / "baseline.py",
        "design 340": seeds / "reference_designs" / "design_340.py",
        "any file": unusual,
        "any file, cumsum": mixed,
    }


def rate(run: Callable[[int], object], bursts: int, seconds: float) -> float:
    """Return the steps per cpu second: the best burst, each of as many steps as fit into `seconds`."""
    run(2)
    steps, best = 2, 0.0
    while True:
        began = time.thread_time()
        run(steps)
        spent = time.thread_time() - began
        if spent > seconds / 3:
            break
        steps *= 2
    for _ in range(bursts):
        began = time.thread_time()
        run(steps)
        best = max(best, steps / (time.thread_time() - began))
    return best


def measure(
    name: str, path: Path, traced: TracedDesign, n: int, bursts: int, seconds: float
) -> dict[str, object]:
    """One line of the table."""
    instances = planted(n, BATCH, seed=1)
    plain = PlainEngine(path, instances)

    def plainly(steps: int) -> None:
        for _ in range(steps):
            plain.step()

    row: dict[str, object] = {"design": name, "n": n, "plain": rate(plainly, bursts, seconds)}
    for engine in ("torch", "auto"):
        began = time.thread_time()
        stepper, note = make_stepper(traced, instances, seed=1, engine=engine)
        made = time.thread_time() - began
        key = "torch" if engine == "torch" else "best"
        row |= {
            key: rate(stepper.run, bursts, seconds),
            f"{key}_engine": stepper.name,
            f"{key}_made_s": made,
            f"{key}_note": note,
        }
    return row


def main(arguments: list[str]) -> int:
    torch.set_num_threads(1)
    quick = "--quick" in arguments
    rows = []
    with tempfile.TemporaryDirectory() as folder, open_pool(workers=1, preload=PRELOAD) as pool:
        for name, path in designs(Path(folder)).items():
            traced = trace(path.read_text(), pool=pool)
            if isinstance(traced, Blocked):
                print(f"{name}: blocked at {traced.gate}: {traced.reason}", file=sys.stderr)
                return 1
            for n in SIZES[:2] if quick else SIZES:
                rows.append(
                    measure(name, path, traced, n, bursts=1 if quick else 3, seconds=0.3 if quick else 1.0)
                )
                if "--json" not in arguments:
                    show(rows[-1], header=len(rows) == 1)
    if "--json" in arguments:
        print(json.dumps(rows))
    return 0


def show(row: dict, *, header: bool) -> None:
    """Print a line for people."""
    if header:
        print(
            f"{'design':18} {'N':>5} {'plain/s':>9} {'torch/s':>9} {'ratio':>6} {'best/s':>9} "
            f"{'ratio':>7}  engine   made s   goal now, wanted"
        )
    goal = "{} {}".format(*GOALS[row["design"]])
    print(
        f"{row['design']:18} {row['n']:5d} {row['plain']:9.1f} {row['torch']:9.1f} "
        f"{row['torch'] / row['plain']:5.1f}x {row['best']:9.1f} {row['best'] / row['plain']:6.1f}x  "
        f"{row['best_engine']:7} {row['best_made_s']:7.3f}   {goal}",
        flush=True,
    )


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
