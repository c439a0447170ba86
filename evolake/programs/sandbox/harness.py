"""Call the evaluator and hand back what it says. Runs inside the jail, in the evaluator's process, before any
code of the project, and needs nothing beyond the standard library; a project may bring numpy.

The result goes through a copy of standard output that is made before anything is imported, in one line that
begins with a nonce which came by standard input; what project and program print goes to standard error. So a
printed or written result is none, and a process that ends early leaves none. What the evaluator is made of is
compared before and after: functions that were replaced, constants that were changed. If the program is
imported into this process (mode "imports") all this can be got round by code that means to, which is why such
scores are called not protected. In mode "calls" the program's file is a stub here, whose functions call the
program in another jail (see `calling`).
"""

from __future__ import annotations

import importlib.util
import json
import os
import sys
import traceback
import types
from typing import Any

from evolake.jail.inside.forked import ANSWER
from evolake.programs.sandbox import shinka
from evolake.programs.sandbox.calling import channel, sow

EVALUATOR_MODULE = "evaluator"
LONGEST_TEXT = 20_000
ERROR = "error"
"""The key under which evaluators written for OpenEvolve say that an evaluation failed, next to a score of
0."""
PLAIN = (str, bytes, int, float, bool, tuple, frozenset, type(None))
CALLABLE = (types.FunctionType, types.BuiltinFunctionType, type)
INSTALLED = importlib.util.find_spec("openevolve") is not None
WATCHED = (
    "builtins",
    "math",
    "cmath",
    "random",
    "time",
    "json",
    "statistics",
    "subprocess",
    "os",
    "pickle",
    "numpy",
    "numpy.linalg",
    "numpy.random",
)


def main() -> None:
    """Serve one request: JSON on standard input with nonce, task, seed and the task's own fields."""
    request = json.loads(sys.stdin.buffer.read())
    channel = os.dup(1)
    os.dup2(2, 1)
    silent = os.open(os.devnull, os.O_RDONLY)
    os.dup2(silent, 0)
    nonce = request.pop("nonce")
    send(channel, nonce, served(request))


def serve_forked(request: dict[str, Any]) -> None:
    """Serve one request in a process that was forked from a warm server (see `jail.inside.forked`), and let
    it look like one that was started."""
    sys.modules["__main__"], sys.argv = types.ModuleType("__main__"), ["-c"]
    if "tempfile" in sys.modules:
        vars(sys.modules["tempfile"])["tempdir"] = None
    if "numpy" in sys.modules:
        # the server has seeded it, and Python's own generator is seeded anew by a fork
        # by bytes: without them numpy makes a generator of entropy first, which is ten times as much
        importlib.import_module("numpy.random").seed([*os.urandom(16)])
    send(ANSWER, request.pop("nonce"), served(request))


def send(channel: int, nonce: str, answer: dict[str, Any]) -> None:
    """Send the one line; the process ends with it, whatever threads or exit handlers a program has left."""
    data = f"{nonce}{json.dumps(answer)}\n".encode()
    while data:
        data = data[os.write(channel, data) :]
    os._exit(0)


def served(request: dict[str, Any]) -> dict[str, Any]:
    """Return what the task gives: `value`, or `error` with the traceback's end; next to it what was tampered
    with."""
    sys.path.insert(0, os.getcwd())  # noqa: PTH109
    provide_openevolve()
    shinka.provide()
    try:
        module = load(request["evaluator"])
        sow(request["seed"], numpy=request["numpy"])
        if request.get("calls"):
            channel.open(watch=request["watch"])
        # only a program that is imported into this process could change anything here
        before = fingerprint(module) if request["task"] == "evaluate" and not request.get("calls") else None
    except BaseException as error:
        return {"error": describe(error), "tampered": []}
    try:
        value = TASKS[request["task"]](module, request)
    except BaseException as error:
        value = {"error": describe(error)}
    channel.close()
    counts = {"calls": channel.calls, "carried": channel.carried}
    return {
        **value,
        "tampered": changed(before, module) if before else [],
        "troubles": channel.troubles,
        "forged": channel.forged,
        **counts,
    }


def load(path: str) -> types.ModuleType:
    """Return the evaluator as a module."""
    spec = importlib.util.spec_from_file_location(EVALUATOR_MODULE, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[EVALUATOR_MODULE] = module
    spec.loader.exec_module(module)
    return module


def evaluate(module: types.ModuleType, request: dict[str, Any]) -> dict[str, Any]:
    """`evaluate(program_path)`, or the stages, each of which must reach its threshold to continue to the
    next."""
    path, thresholds = os.path.abspath(request["program"]), request["thresholds"]  # noqa: PTH100
    stages = [name for name in request["stages"] if hasattr(module, name)]
    if not stages:
        script = not hasattr(module, "evaluate") and hasattr(module, "main")
        metrics, artifacts = taken(shinka.evaluated(module.main, path) if script else module.evaluate(path))
        return {"metrics": metrics, "artifacts": artifacts, "stage": 1, "stages": 1}
    metrics, artifacts, done = {}, {}, 0
    for place, name in enumerate(stages):
        more, further = taken(getattr(module, name)(path))
        metrics, artifacts, done = metrics | more, artifacts | further, done + 1
        if ERROR in more and isinstance(more[ERROR], str):
            break
        if place < len(stages) - 1 and score_of(more, request["score"]) < (
            thresholds[place] if place < len(thresholds) else 0.0
        ):
            break
    return {"metrics": metrics, "artifacts": artifacts, "stage": done, "stages": len(stages)}


def cases(module: types.ModuleType, request: dict[str, Any]) -> dict[str, Any]:
    """`cases(seed)`: the inputs that the program gets, JSON each."""
    return {"cases": list(awaited(module.cases(request["seed"])))}


def score(module: types.ModuleType, request: dict[str, Any]) -> dict[str, Any]:
    """`score(cases, results)`: what the program's outputs are worth."""
    metrics, artifacts = taken(module.score(request["cases"], request["results"]))
    return {"metrics": metrics, "artifacts": artifacts, "stage": 1, "stages": 1}


def polish(module: types.ModuleType, request: dict[str, Any]) -> dict[str, Any]:
    """Search for better numbers of a value by `score(cases, results)`, as `polishing` does."""
    from evolake.programs.sandbox import polishing

    sign = 1.0 if request["maximize"] else -1.0

    def score_of_results(cases: Any, results: list[Any]) -> float:
        metrics, _ = taken(module.score(cases, results))
        if isinstance(metrics.get(ERROR), str):
            raise ValueError(metrics[ERROR])
        return sign * score_of(metrics, request["score"])

    return {"state": polishing.polish(module, request, score_of_results)}


TASKS = {"evaluate": evaluate, "cases": cases, "score": score, "polish": polish}


def awaited(result: Any) -> Any:
    """Return what a coroutine ends with, for an evaluator that is one; any other result as it is."""
    if not isinstance(result, types.CoroutineType):
        return result
    import asyncio

    return asyncio.run(result)


def taken(result: Any) -> tuple[dict[str, Any], dict[str, str]]:
    """Return (metrics, artifacts) of what an evaluator returned: a dict, or an object with both as
    attributes. Texts among the metrics are artifacts."""
    result = awaited(result)
    artifacts = getattr(result, "artifacts", None) or {}
    metrics = result if isinstance(result, dict) else getattr(result, "metrics", None)
    if not isinstance(metrics, dict):
        raise TypeError(f"the evaluator returned {type(result).__name__}, wanted a dict of numbers")
    if isinstance(metrics.get("artifacts"), dict):
        artifacts = {**metrics["artifacts"], **artifacts}
    named = {str(name): plain(value) for name, value in metrics.items() if name != "artifacts"}
    texts = {name: value for name, value in named.items() if isinstance(value, str)}
    named = {name: value for name, value in named.items() if name not in texts and name != ERROR}
    texts.pop(ERROR, None)
    if (error := reported(metrics.get(ERROR))) is not None:
        named[ERROR] = error
    return named, texts | {str(name): str(value)[:LONGEST_TEXT] for name, value in artifacts.items()}


def reported(error: Any) -> float | str | None:
    """Return what is under `error`: a number is a metric like any other, a text (an exception, True) says
    that the evaluation failed. None for no error: None, False, and a text or container without content."""
    if isinstance(error, BaseException):
        return f"{type(error).__name__}: {error}"[:LONGEST_TEXT]
    value = None if error is None else plain(error)
    if isinstance(value, bool):
        return "the evaluator returned error = True" if value else None
    return None if isinstance(value, str) and not value.strip(" []{}()") else value


def plain(value: Any) -> Any:
    """Return a number or a truth value as JSON has it, also one of numpy; anything else as a short text."""
    try:
        if type(value).__name__ in ("bool", "bool_"):
            return bool(value)
        return float(value) if hasattr(value, "__float__") else str(value)[:LONGEST_TEXT]
    except (TypeError, ValueError, OverflowError):
        return str(value)[:LONGEST_TEXT]


def score_of(metrics: dict[str, Any], name: str) -> float:
    """Return the score that a threshold is for: the metric of that name, else the mean of all numbers."""
    numbers = [value for value in metrics.values() if isinstance(value, float)]
    result = metrics.get(name)
    if isinstance(result, float):
        return result
    if numbers:
        return sum(numbers) / len(numbers)
    return 0.0


class EvaluationResult:
    """Metrics, and artifacts for the role that proposes the next program."""

    def __init__(self, metrics: dict[str, Any] | None = None, artifacts: dict[str, Any] | None = None):
        self.metrics, self.artifacts = metrics or {}, artifacts or {}


def _stand_ins() -> dict[str, types.ModuleType]:
    package, module = types.ModuleType("openevolve"), types.ModuleType("openevolve.evaluation_result")
    vars(module)["EvaluationResult"] = vars(package)["EvaluationResult"] = EvaluationResult
    vars(package)["evaluation_result"] = module
    return {"openevolve": package, "openevolve.evaluation_result": module}


# made when this module is imported, which a warm server does once
STAND_INS = _stand_ins()


def provide_openevolve() -> None:
    """Put the one class that evaluators written for OpenEvolve import from it in place, if it is not
    installed."""
    if INSTALLED or any(os.path.exists(name) for name in ("openevolve", "openevolve.py")):  # noqa: PTH110
        return
    sys.modules.update(STAND_INS)


Names = dict[str, tuple[object, object, str]]
"""Name -> what it stands for (the object, a function's code, a text), which is to be found the same and not
merely equal: a program may say what its own objects are equal to."""


def fingerprint(module: types.ModuleType) -> dict[str, Names]:
    """Return what the evaluator, and the libraries that it may rest on, are made of."""
    return {EVALUATOR_MODULE: _names_of_evaluator(module)} | {
        name: _names_before_fork.get(name) or _names_of_library(name)
        for name in WATCHED
        if name in sys.modules
    }


def _names_of_evaluator(module: types.ModuleType) -> Names:
    result: Names = {}
    for name, value in vars(module).items():
        if isinstance(value, types.FunctionType):
            result[name] = value, value.__code__, repr(value.__defaults__)
        elif isinstance(value, CALLABLE):
            result[name] = value, None, ""
        elif name.isupper() and isinstance(value, PLAIN):
            result[name] = None, None, repr(value)[:LONGEST_TEXT]
    return result


def _names_of_library(name: str) -> Names:
    return {
        inner: (value, getattr(value, "__code__", None), "")
        for inner, value in list(vars(sys.modules[name]).items())
        if isinstance(value, CALLABLE)
    }


def changed(before: dict[str, Names], module: types.ModuleType) -> list[str]:
    """Return names that are another thing now, or are gone."""
    result: list[str] = []
    for name, names in before.items():
        if name == EVALUATOR_MODULE:
            now = _names_of_evaluator(module)
        else:
            now = _names_of_library(name) if name in sys.modules else {}
        for inner, (value, code, text) in names.items():
            other = now.get(inner)
            if other is None or other[0] is not value or other[1] is not code or other[2] != text:
                result.append(f"{name}.{inner}")
    return sorted(result)[:20]


_names_before_fork: dict[str, Names] = {}


def before_forks() -> None:
    """Do once, in a warm server, what each process that is forked from it would do."""
    _names_before_fork.update({name: _names_of_library(name) for name in WATCHED if name in sys.modules})


def describe(error: BaseException) -> str:
    """Return an exception with the end of its traceback."""
    try:
        lines = traceback.format_exception(type(error), error, error.__traceback__)
        return "".join(lines)[-LONGEST_TEXT // 10 :]
    except BaseException:
        return type(error).__name__
