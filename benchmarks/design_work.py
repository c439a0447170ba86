"""How well counted work predicts processor time, over more than a hundred designs, and what an element of
each class of operators takes.

    python benchmarks/design_work.py [--designs 120] [--seed 5] [--sizes 160,640] [--rounds 5]

Designs: the shipped ones, the baseline repeated 2 to 8 times inside a step, and walks of the operators
from the baseline on. Each is run by the engine that takes it, on one core, in `--rounds` rounds through all
of them, of which its fastest counts. Printed are, by size, the rank correlation of work with processor
seconds a step and the largest ratio between the two, both beside the baseline; designs that the fused engine
does not take stand by themselves, since torch's own operators cost more each. Then the price of each class by
itself: the slope of the time of a step over the number of its operations, in designs that differ in nothing
else, in nanoseconds and in what the baseline takes for a unit of its work, beside the price that
`evolake.designs.work.costs` has. That is a fit to whole designs, in which operations overlap; so they need
not agree closely.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from evolake.designs.engines.engine import make_stepper
from evolake.designs.genome.open_compose import compose
from evolake.designs.genome.open_genetic import parent_of, propose
from evolake.designs.genome.open_genome import baseline
from evolake.designs.model.contract import Blocked, TracedDesign
from evolake.designs.model.instances import planted
from evolake.designs.model.stepper import Stepper
from evolake.designs.tracing.trace import PRELOAD, trace
from evolake.designs.work.costs import COSTS
from evolake.designs.work.counting import count
from evolake.designs.work.relative import baseline_cost, work_per_step
from evolake.jail import open_pool

SEEDS = Path(__file__).resolve().parents[1] / "data_lake" / "seeds"
BASELINE = (SEEDS / "designs" / "baseline.py").read_text()
BATCH, RATIO = 16, 4.3
STEPS = 25_000
"""Variables times steps of one measurement."""


def repeated(times: int) -> str:
    """Return the baseline, which takes `times` of its steps inside one."""
    head, body = BASELINE.split("def _grad_single(vars, idx, sgn, hp):\n")
    flow = (
        body[: body.index("    rate =")]
        .replace('vars["v"]', "v")
        .replace('    xl, xs = vars["xl"], vars["xs"]\n', "")
        .replace("    ", "        ")
    )
    return (
        head
        + f"""def _grad_single(vars, idx, sgn, hp):
    v, xl, xs = vars["v"], vars["xl"], vars["xs"]
    for _ in range({times}):
{flow}
        dt = hp.lr / dv.abs().max().clamp(min=1e-6)
        v, xl, xs = (v + dt * dv).clamp(-1.0, 1.0), (xl + dt * dxl).clamp(1.0, 1e6), (xs + dt * dxs).clamp(0.0, 1.0)
    return {{"v": (vars["v"] - v) / hp.lr, "xl": (vars["xl"] - xl) / hp.lr, "xs": (vars["xs"] - xs) / hp.lr}}
"""  # noqa: E501
    )


def walked(wanted: int, random: np.random.Generator) -> dict[str, str]:
    """Files of designs that are children of children of the baseline."""
    parents, made = [parent_of("0", "baseline", baseline())], {}
    while len(made) < wanted:
        chosen = [
            parents[int(place)]
            for place in random.choice(len(parents), size=min(2, len(parents)), replace=False)
        ]
        child = propose(chosen, set(), random)
        if child is not None and child.genome is not None:
            name = f"walk {len(made) + 1}"
            parents.append(parent_of(name, "walk", child.genome))
            made[name] = compose(child.genome, "walk")
    return made


def added(lines: str, term: str) -> str:
    """Return the baseline with further lines, whose outcome `term` hardly moves a memory."""
    head, tail = BASELINE.split("    rate = 1.0 /")
    return (
        f"{head}    x, v, extra = c * 0.5 + 0.25, vars['v'], 0.0\n{lines}    dxs = dxs + 1e-9 * ({term})\n"
        f"    rate = 1.0 /{tail}"
    )


def states(number: int) -> str:
    """Return the baseline with further memories."""
    spec = (
        'VARIABLES_SPEC["z%d" % _i] = {"init": lambda shape: torch.zeros(shape), "shape": ("B", "M"), '
        '"bounds": (0.0, 1.0)}'
    )
    source = BASELINE.replace("HYPER_SPACE", f"for _i in range({number}):\n    {spec}\nHYPER_SPACE", 1)
    return source.replace(
        '"xs": -rate * dxs}', '"xs": -rate * dxs, **{"z%d" % i: xs - i for i in range(' + str(number) + ")}}"
    )


def _lines(line: str) -> Callable[[int], str]:
    term = "x" if line.startswith("x") else "extra"
    return lambda number: added(
        "".join(f"    {line.format(i=i / 1000, k=i % 3)}\n" for i in range(number)), term
    )


CLASSES: Mapping[str, tuple[Callable[[int], str], tuple[int, int]]] = {
    "simple": (_lines("x = (x * (1 + {i})).clamp(0.1, 0.9 + {i})"), (2, 8)),
    "divide": (_lines("x = (1 + {i}) / (x + 0.7)"), (2, 8)),
    "function": (_lines("x = torch.tanh(x * (1 + {i}))"), (2, 8)),
    "power": (_lines("x = (x + 0.5).pow(1.1 + {i}) * 0.3"), (2, 8)),
    "gather": (_lines("extra = extra + (v * v + {i})[idx[:, {k}]]"), (2, 8)),
    "scatter": (
        _lines(
            "extra = extra + torch.zeros_like(v).index_add(0, idx.reshape(-1), (sgn * (x[:, None] + "
            "{i})).reshape(-1)).max()"
        ),
        (2, 8),
    ),
    "reduce": (_lines("extra = extra + (x * (1 + {i})).sum()"), (2, 32)),
    "state": (states, (2, 8)),
    "sort": (_lines("extra = extra + torch.sort(x * (1 + {i})).values"), (1, 4)),
    "scan": (_lines("extra = extra + torch.cumsum(x * (1 + {i}), 0)"), (1, 4)),
    "product": (_lines("extra = extra + torch.mm((x[:, None] * (sgn + {i})).t(), literals).sum()"), (1, 4)),
    "draw": (_lines("extra = extra + torch.rand_like(x + {i})"), (1, 4)),
}
"""Class -> files with more or fewer of its operations, and two numbers of them."""


def seconds_a_step(stepper: Stepper, steps: int) -> float:
    """Processor seconds of this thread per step."""
    began = time.thread_time()
    stepper.run(steps)
    return (time.thread_time() - began) / steps


def measured(designs: Mapping[str, TracedDesign], n: int, rounds: int) -> dict[str, tuple[float, str]]:
    """Return name -> least processor seconds a step over the rounds, and the engine."""
    instances = planted(n, BATCH, 1, ratio=RATIO)
    steppers = {name: make_stepper(design, instances, seed=1)[0] for name, design in designs.items()}
    steps = {
        name: max(4, STEPS // n // (1 if stepper.name == "fused" else 10))
        for name, stepper in steppers.items()
    }
    least: dict[str, float] = {}
    for _ in range(rounds):
        for name, stepper in steppers.items():
            least[name] = min(least.get(name, np.inf), seconds_a_step(stepper, steps[name]))
    return {name: (value, steppers[name].name) for name, value in least.items()}


def ranks(values: Any) -> np.ndarray:
    """Places in ascending order; no ties are expected of times."""
    return np.argsort(np.argsort(np.asarray(values)))


def print_prediction(designs: Mapping[str, TracedDesign], n: int, rounds: int) -> None:
    """Rank correlation and worst ratio at one size."""
    result, m = measured(designs, n, rounds), int(RATIO * n)
    own = result["baseline"][0]
    rows = sorted(
        (work_per_step(designs[name], n, m), seconds / own, name, engine)
        for name, (seconds, engine) in result.items()
    )
    fused = [row for row in rows if row[3] == "fused"]
    works, times = np.array([row[0] for row in fused]), np.array([row[1] for row in fused])
    correlation = float(np.corrcoef(ranks(works), ranks(times))[0, 1])
    off = np.maximum(works / times, times / works)
    worst = fused[int(off.argmax())]
    print(
        f"N={n}: {len(fused)} designs on the fused engine, work a step from {works.min():.2f} to "
        f"{works.max():.2f}"
    )
    print(
        f"  rank correlation of work with processor time {correlation:.3f}; largest ratio between them "
        f"{off.max():.2f} ({worst[2]}), 19 in 20 within {np.quantile(off, 0.95):.2f}"
    )
    for work, seconds, name, engine in rows:
        if engine != "fused" or not name.startswith(("open ", "paper ")):
            print(f"  {name:28} {engine:6} work {work:6.2f}  time {seconds:6.2f}")


def print_prices(pool: Any, n: int, rounds: int) -> None:
    """Measured price of each class beside the one in use, in simple operations."""
    baseline = traced(BASELINE, pool)
    unit = (
        measured({"baseline": baseline}, n, rounds)["baseline"][0]
        / BATCH
        * 1e9
        / baseline_cost(n, int(RATIO * n))
    )
    print(
        f"price of an element at N={n}, in nanoseconds and in units of the baseline's work, and the price "
        "in use"
    )
    for kind, (source, numbers) in CLASSES.items():
        designs = {str(number): traced(source(number), pool) for number in numbers}
        result, m = measured(designs, n, rounds), int(RATIO * n)
        few, many = (
            dict(count(design).at(n, m, {item.name: item for item in design.variables}))
            for design in designs.values()
        )
        more = {name: many.get(name, 0.0) - few.get(name, 0.0) for name in many}
        ns = (result[str(numbers[1])][0] - result[str(numbers[0])][0]) / BATCH * 1e9
        beside = 0.0 if kind == "simple" else unit * more.get("simple", 0.0)
        price = max(0.0, ns - beside) / more[kind]
        print(f"  {kind:9} {price:8.3f} ns {price / unit:8.1f}   {COSTS[kind]:6g}")  # pyright: ignore[reportArgumentType]


def traced(source: str, pool: Any) -> TracedDesign:
    """Return the design of a file of ours."""
    result = trace(source, pool=pool)
    if isinstance(result, Blocked):
        raise SystemExit(f"a design of this benchmark is blocked: {result.gate}: {result.reason}")
    return result


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--designs", type=int, default=120, help="walks of the operators")
    parser.add_argument("--seed", type=int, default=5)
    parser.add_argument("--sizes", default="160,640")
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    random = np.random.default_rng(given.seed)
    sources = {"baseline": BASELINE} | {
        path.stem: path.read_text() for path in sorted((SEEDS / "reference_designs").glob("*.py"))
    }
    sources |= {f"baseline {times} times": repeated(times) for times in (2, 3, 4, 8)}
    sources |= walked(given.designs, random)
    with open_pool(workers=1, preload=PRELOAD) as pool:
        designs = {name: traced(source, pool) for name, source in sources.items()}
        for n in (int(size) for size in given.sizes.split(",")):
            print_prediction(designs, n, given.rounds)
        print_prices(pool, max(int(size) for size in given.sizes.split(",")), given.rounds)


if __name__ == "__main__":
    main()
