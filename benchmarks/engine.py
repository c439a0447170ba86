"""Steps a second of every engine beside the paper's way, on one thread, in one run: `python
benchmarks/engine.py [--json]`.

Seconds are cpu seconds of this thread, the best of a few short bursts, engines in turn, so that other work on
the machine hurts all alike. The ratio is to the plain engine in the same run. Compilation is shown apart
("made s": seconds of cpu to lower, compile or fetch a kernel and fill its arrays).

The plain engine is the paper's way to run a design: vmap of `_grad_single` over the batch, a plain gradient
step, clamps, and a vmapped check of the clauses at every step, all by torch on one thread. It executes the
design file in this process, so this is for the shipped designs only: never for a file that nobody has read.

What limits: the baseline's step is three gathers and a scatter a clause, near what memory gives; designs with
gates are limited by their exponentials and powers; "mixed" by the round trip through torch for the operator
without a kernel.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from bench import SHORT

from evolake.designs.engines.engine import make_stepper
from evolake.designs.model.contract import Blocked, TracedDesign
from evolake.designs.model.instances import Planted, planted
from evolake.designs.tracing.trace import PRELOAD, trace
from evolake.jail import open_pool

ROOT = Path(__file__).resolve().parent.parent
BATCH = 100
SIZES = (100,) if SHORT else (100, 320, 1280)
BURSTS, BURST_S = (1, 0.1) if SHORT else (3, 1.0)
GOALS = {"baseline": (15, 25), "design 340": (8, 12), "any file": (5, 10), "any file, cumsum": (5, 10)}


class PlainEngine:
    """Step the design of `path` on a batch. `state` holds (B, ...) tensors."""

    def __init__(self, path: Path, instances: Planted, seed: int = 0):
        module: dict[str, Any] = {}
        exec(compile(path.read_text(), str(path), "exec"), module)
        torch.manual_seed(seed)
        sizes = {"B": instances.batch, "N": instances.n, "M": instances.m}
        spec = module["VARIABLES_SPEC"]
        self.state = {
            name: entry["init"](tuple(sizes.get(item, item) for item in entry["shape"]))
            for name, entry in spec.items()
        }
        self._bounds = {name: entry["bounds"] for name, entry in spec.items()}
        hyper = types.SimpleNamespace(
            **{name: entry["default"] for name, entry in module["HYPER_SPACE"].items()}
        )
        self._learning_rate = getattr(hyper, "lr", 1e-2)
        self._idx = torch.from_numpy(instances.idx.astype("int64"))
        self._sgn = torch.from_numpy(instances.sgn.astype("float32"))

        def single(
            state: dict[str, torch.Tensor], idx: torch.Tensor, sgn: torch.Tensor
        ) -> dict[str, torch.Tensor]:
            return module["_grad_single"](state, idx, sgn, hyper)

        self._gradients = torch.func.vmap(single, in_dims=(0, 0, 0), randomness="different")
        self._satisfied = torch.func.vmap(_all_satisfied)

    @torch.no_grad()
    def step(self) -> int:
        """One step; how many instances are solved after it."""
        gradients = self._gradients(self.state, self._idx, self._sgn)
        for name, value in self.state.items():
            value.sub_(self._learning_rate * gradients[name]).clamp_(*self._bounds[name])
        return int(self._satisfied(self.state["v"], self._idx, self._sgn).sum())


def _all_satisfied(v: torch.Tensor, idx: torch.Tensor, sgn: torch.Tensor) -> torch.Tensor:
    return ((v[idx] * sgn).amax(dim=-1) > 0).all()


def designs(folder: Path) -> dict[str, Path]:
    """Return the measured files; the last one has an operator that no kernel is generated for."""
    unusual = ROOT / "tests" / "any_file_design.py"
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
    rows = []
    with tempfile.TemporaryDirectory() as folder, open_pool(workers=1, preload=PRELOAD) as pool:
        for name, path in designs(Path(folder)).items():
            traced = trace(path.read_text(), pool=pool)
            if isinstance(traced, Blocked):
                print(f"{name}: blocked at {traced.gate}: {traced.reason}", file=sys.stderr)
                return 1
            for n in SIZES:
                rows.append(measure(name, path, traced, n, BURSTS, BURST_S))
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
