"""The child of `evolake.designs.engines.isolated`: reads one request per line, computes, answers.

It is forked by `fork_server`, and lives as long as its input: a thread watches that, so a child whose parent
is gone is gone too, in the middle of a step as well. What a design raises is its failure (`engine.simulate`
sees to that); only what `boundary.is_machinery` names is reported as ours.
"""

from __future__ import annotations

import json
import os
import queue
import resource
import sys
import threading
import time
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from evolake.designs.model.boundary import is_machinery, reason_of
from evolake.designs.model.contract import Variable
from evolake.gates.boundary import raised

if TYPE_CHECKING:
    from evolake.designs.model.contract import TracedDesign
    from evolake.designs.model.instances import FormulaKind, Planted

MEMORY_BYTES = 8 * 2**30
"""Data that the process may hold. What a design may need is bounded far below (graph_check); this is for what
the bounds do not see."""
BETWEEN_S = 0.1
MOST_KEPT = 50_000
"""Variables of all formulas of a batch that is kept: 3 MB."""
Say = Callable[[dict[str, Any]], None]


def load() -> None:
    """Import what requests need, and work out shapes once, which loads parts of torch: so no request pays for
    it, and no process that is forked."""
    import evolake.designs.engines.engine  # noqa: F401
    from evolake.designs.model.graph import Graph
    from evolake.designs.model.graph_check import check_all

    shapes = {
        "nodes": [
            ["zeros.default", [[{"size": [1, 0, 0, 0]}, {"size": [0, 1, 0, 0]}]], {}],
            ["zeros_like.default", [{"ref": 0}], {}],
            ["mul.Tensor", [{"ref": 1}, 2.0], {}],
        ],
        "outputs": {"v": 2},
    }
    problem = check_all(
        Graph.from_json(shapes), {"v": Variable("v", ("B", "N"), None, None)}, [(2, 3, 5)], True
    )
    assert problem is None, problem


def serve() -> int:
    """Serve requests until the input ends."""
    answers = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    requests: queue.Queue[bytes] = queue.Queue()
    threading.Thread(target=_listen, args=(requests,), daemon=True).start()
    _limit_memory()

    def say(message: dict[str, Any]) -> None:
        answers.write(json.dumps(message).encode() + b"\n")

    say({"ready": True})
    while True:
        say(_served(json.loads(requests.get()), say))


def _listen(requests: queue.Queue[bytes]) -> None:
    for line in sys.stdin.buffer:
        requests.put(line)
    os._exit(0)


def _limit_memory() -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    if hard == resource.RLIM_INFINITY or hard > MEMORY_BYTES:
        resource.setrlimit(resource.RLIMIT_DATA, (MEMORY_BYTES, hard))


def _served(request: dict[str, Any], say: Say) -> dict[str, Any]:
    from evolake.errors import InputError

    try:
        return {
            "done": {
                "simulate": _simulate,
                "engine": _engine,
                "work": _work,
                "fits": _fits,
                "states": _states,
            }[request["do"]](request, say)
        }
    except InputError as error:
        return {"input": [error.what, error.wanted, error.got, error.do]}
    except Exception as error:
        if is_machinery(error):
            return {"machinery": reason_of(error)}
        return {"done": _broken(raised(error).reason, request)}


def _broken(reason: str, request: dict[str, Any]) -> dict[str, Any]:
    from evolake.designs.engines.engine import unsolved

    if request["do"] == "work":
        return {"work_per_step": None, "note": reason}
    if request["do"] == "states":
        return {"states": None, "note": reason}
    if request["do"] == "fits":
        return {"problem": [reason, "contract"]}
    if request["do"] == "engine":
        return {"engine": "none", "note": reason}
    return _body(unsolved(request["batch"], reason))


def _simulate(request: dict[str, Any], say: Say) -> dict[str, Any]:
    from evolake.designs.engines.engine import EngineChoice, RunEvents, StopRule, WorkBounds, simulate
    from evolake.designs.model.instances import FormulaKind, read_batch

    parts = [0.0]

    def on_progress(steps: int, solved: int) -> None:
        if time.monotonic() - parts[0] > BETWEEN_S:
            parts[0] = time.monotonic()
            say({"progress": [steps, solved]})

    design = _design(request["traced"])
    kind = FormulaKind(request["kind"], request["ratio"], request["p0"])
    instances = (
        read_batch(request["batch_file"])
        if request["batch_file"]
        else _formulas(kind, request["n"], request["batch"], request["instance_seed"])
    )
    result = simulate(
        design,
        instances,
        max_steps=request["max_steps"],
        seed=request["seed"],
        until=StopRule(
            request["until_median"], request["interval"], request["together"], request["computed"]
        ),
        bounds=WorkBounds(request["max_work"], request["core_s"]),
        by=EngineChoice(request["engine"], request["dtype"], request["threads"]),
        events=RunEvents(on_progress, lambda counted_s: say({"made": float(counted_s)})),
    )
    return _body(result)


@lru_cache(2)
def _design(text: str) -> TracedDesign:
    """Return a design of a request. It is run on one batch after another, and read once."""
    from evolake.designs.model.contract import TracedDesign

    return TracedDesign.from_json(json.loads(text))


def _formulas(kind: FormulaKind, n: int, batch: int, seed: int) -> Planted:
    """Return a batch of formulas. All racers of a race meet the same ones, so small batches are kept."""
    from evolake.designs.model.instances import draw_formulas

    return (_drawn if n * batch <= MOST_KEPT else draw_formulas)(kind, n, batch, seed)


@lru_cache(24)
def _drawn(kind: FormulaKind, n: int, batch: int, seed: int) -> Planted:
    from evolake.designs.model.instances import draw_formulas

    made = draw_formulas(kind, n, batch, seed)
    for array in (made.idx, made.sgn, made.hidden):
        array.setflags(write=False)
    return made


def _body(result: Any) -> dict[str, Any]:
    return {
        "median_step": int(result.median_step),
        "unsolved_fraction": float(result.unsolved_fraction),
        "steps_run": int(result.steps_run),
        "solved_at": result.solved_at.tolist(),
        "cpu_s": float(result.cpu_s),
        "wall_s": float(result.wall_s),
        "engine": result.engine,
        "timed_out": bool(result.timed_out),
        "diverged": int(result.diverged),
        "reached": bool(result.reached),
        "compile_s": float(result.compile_s),
        "note": result.note,
        "failure": result.failure,
        "together_step": result.together_step,
        "left_again": result.left_again,
        "limit": int(result.limit),
        "work_per_step": float(result.work_per_step),
    }


def _engine(request: dict[str, Any], say: Say) -> dict[str, Any]:
    from evolake.designs.engines.engine import make_stepper
    from evolake.designs.model.contract import TracedDesign
    from evolake.designs.model.instances import planted
    from evolake.designs.model.stepper import Failed

    design = TracedDesign.from_json(json.loads(request["traced"]))
    instances = planted(request["n"], 1, 0, ratio=(request["m"] + 0.5) / request["n"])
    try:
        stepper, note = make_stepper(design, instances, seed=0, engine="auto", dtype=request["dtype"])
    except Failed as failed:
        return {"engine": "none", "note": str(failed)}
    return {"engine": stepper.name, "note": note}


def _work(request: dict[str, Any], say: Say) -> dict[str, Any]:
    from evolake.designs.model.contract import TracedDesign
    from evolake.designs.work.relative import work_per_step

    design = TracedDesign.from_json(json.loads(request["traced"]))
    return {"work_per_step": float(work_per_step(design, request["n"], request["m"])), "note": None}


def _fits(request: dict[str, Any], say: Say) -> dict[str, Any]:
    from evolake.designs.model.graph import Graph
    from evolake.designs.model.graph_check import check_all

    outputs = {name: Variable(name, tuple(shape), None, None) for name, shape in request["outputs"]}
    problem = check_all(
        Graph.from_json(request["graph"]),
        outputs,
        [tuple(size) for size in request["sizes"]],
        request["batched"],
    )
    return {"problem": None if problem is None else [problem.reason, problem.gate]}


def _states(request: dict[str, Any], say: Say) -> dict[str, Any]:
    from evolake.designs.engines.engine import make_stepper
    from evolake.designs.model.contract import TracedDesign
    from evolake.designs.model.instances import planted

    design = TracedDesign.from_json(json.loads(request["traced"]))
    instances = planted(request["n"], request["batch"], request["seed"])
    stepper, _ = make_stepper(design, instances, seed=request["seed"], engine="torch", dtype=design.dtype)
    stepper.run(request["steps"])
    return {
        "states": {
            name: [list(state.shape), state.reshape(-1).tolist()] for name, state in stepper.state().items()
        },
        "note": None,
    }
