"""The quality of a plan: names of methods by step, whose worth depends on the step before, and a few numbers."""

import importlib.util
import math

STEPS = ("scale", "select", "split", "model", "vote", "order")
WORTH = {
    "scale": {"none": 0.0, "log": 2.0, "rank": 3.0, "unit": 1.0},
    "select": {"all": 0.5, "top": 2.0, "random": 0.0, "greedy": 2.5},
    "split": {"time": 2.0, "random": 1.0, "group": 1.5},
    "model": {"linear": 1.0, "tree": 2.0, "nearest": 1.5, "kernel": 2.5},
    "vote": {"mean": 1.0, "median": 1.5, "best": 0.0},
    "order": {"first": 0.0, "last": 0.5, "mixed": 1.5},
}
TOGETHER = {("rank", "tree"): -1.0, ("log", "kernel"): 3.0, ("greedy", "group"): 2.0, ("top", "time"): 0.5, ("kernel", "median"): 1.0,
            ("rank", "kernel"): -2.0}


def evaluate(program_path):
    """Return the quality; an unknown name is worth -2."""
    spec = importlib.util.spec_from_file_location("program", program_path)
    program = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(program)
    plan = program.plan()
    names = [plan.get(step) for step in STEPS]
    quality = sum(WORTH[step].get(name, -2.0) if isinstance(name, str) else -2.0 for step, name in zip(STEPS, names, strict=True))
    quality += sum(worth for pair, worth in TOGETHER.items() if set(pair) <= set(map(str, names)))
    depth, share = plan.get("depth", 0), plan.get("share", 0)
    if not all(isinstance(value, (int, float)) and math.isfinite(value) for value in (depth, share)):
        return {"quality": -10.0}
    return {"quality": quality - min(abs(depth - 7), 20) / 5 - min(abs(share - 0.35), 5) * 2}
