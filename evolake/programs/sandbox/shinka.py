"""Runs inside the jail: ShinkaEvolve's contract for evaluators, without its package.

An evaluator of that kind is a script, `evaluate.py`, whose `main(program_path, results_dir)` calls
`run_shinka_eval` or leaves `metrics.json` and `correct.json` by itself. Public metrics and `text_feedback`
are for the writer of the next program; private metrics are not.
"""

# runs before any code of the project, and pathlib would cost every evaluation its import
# ruff: noqa: PTH103, PTH118, PTH123

from __future__ import annotations

import importlib.util
import json
import os
import statistics
import sys
import time
import types
from collections.abc import Callable, Iterable
from typing import Any

PACKAGE = "shinka"
PRIVATE = "private."
"""What the names of metrics begin with that no model is shown."""
RESULTS = "results"
METRICS, CORRECT = "metrics.json", "correct.json"


def load_program(program_path: str) -> types.ModuleType:
    """Return the program at a path as a module."""
    spec = importlib.util.spec_from_file_location("program", program_path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{program_path} is no Python module")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def save_json_results(
    results_dir: str, metrics: dict[str, Any], correct: bool, error: str | None = None
) -> None:
    """Write both files of a result."""
    os.makedirs(results_dir, exist_ok=True)
    for name, value in ((METRICS, metrics), (CORRECT, {"correct": correct, "error": error})):
        with open(os.path.join(results_dir, name), "w") as file:
            json.dump(value, file, default=_number_or_text)


def run_shinka_eval(
    program_path: str,
    results_dir: str,
    experiment_fn_name: str,
    num_runs: int,
    get_experiment_kwargs: Callable[[int], dict[str, Any]] | None = None,
    aggregate_metrics_fn: Callable[[list[Any]], dict[str, Any]] | None = None,
    validate_fn: Callable[[Any], Any] | None = None,
    default_metrics_on_error: dict[str, Any] | None = None,
    **_: Any,
) -> tuple[dict[str, Any], bool, str | None]:
    """Call a function of the program `num_runs` times, check each result, and save the metrics; (metrics,
    correct, first error).

    Runs follow each other, whatever workers are asked for.
    """
    correct, error, results, seconds = True, None, [], []
    metrics: dict[str, Any]
    try:
        experiment = getattr(load_program(program_path), experiment_fn_name)
        for run in range(num_runs):
            begun = time.perf_counter()
            results.append(
                experiment(**(get_experiment_kwargs(run) if get_experiment_kwargs else {"seed": run + 1}))
            )
            seconds.append(time.perf_counter() - begun)
            answer = validate_fn(results[-1]) if validate_fn else True
            valid, said = answer if isinstance(answer, tuple) else (answer, None)
            if not valid:
                correct, error = False, error or f"Validation failed: {said or f'run {run + 1}'}"
        metrics = dict(
            aggregate_metrics_fn(results) if aggregate_metrics_fn else {"num_successful_runs": len(results)}
        )
        metrics["execution_time_mean"] = statistics.fmean(seconds) if seconds else 0.0
        metrics["execution_time_std"] = statistics.pstdev(seconds) if seconds else 0.0
    except Exception as failure:
        import traceback

        traceback.print_exc()
        metrics = {"combined_score": 0.0} | dict(default_metrics_on_error or {})
        correct, error = False, error or f"{type(failure).__name__}: {failure}"
    metrics.pop("extra_data", None)
    save_json_results(results_dir, metrics, correct, error)
    return metrics, correct, error


def evaluated(main: Callable[..., Any], path: str) -> dict[str, Any]:
    """Run the script's `main` on the program, and return what it left as the table of metrics of an evaluator
    written for OpenEvolve.

    A result that is not correct is an error in words.
    """
    folder = os.path.join(os.getcwd(), RESULTS)  # noqa: PTH109
    os.makedirs(folder, exist_ok=True)
    try:
        main(path, folder)
    except (Exception, SystemExit):
        if not os.path.isfile(os.path.join(folder, CORRECT)):  # noqa: PTH113
            raise
    metrics, verdict = _read(os.path.join(folder, METRICS)), _read(os.path.join(folder, CORRECT))
    named = {"combined_score": metrics["combined_score"]} if "combined_score" in metrics else {}
    named |= {name: value for name, value in _table(metrics.get("public")) if name not in named}
    named |= {PRIVATE + name: value for name, value in _table(metrics.get("private"))}
    feedback = metrics.get("text_feedback")
    if isinstance(feedback, list):
        feedback = "\n".join(map(str, feedback))
    if not verdict.get("correct"):
        named["error"] = str(verdict.get("error") or "the evaluator calls the program not correct")
    return named | {"artifacts": {"text_feedback": str(feedback)} if feedback else {}}


def _stand_ins() -> dict[str, types.ModuleType]:
    names = (PACKAGE, f"{PACKAGE}.core", f"{PACKAGE}.core.wrap_eval")
    modules = {name: types.ModuleType(name) for name in names}
    for name in names[1:]:
        vars(modules[name]).update(
            run_shinka_eval=run_shinka_eval, load_program=load_program, save_json_results=save_json_results
        )
        package, _, last = name.rpartition(".")
        vars(modules[package])[last] = modules[name]
    for name in names[:2]:
        modules[name].__path__ = []
    return modules


# Made when this module is imported, which a warm server does once: each process that is forked from it would
# pay for a search of all folders of modules.
INSTALLED = importlib.util.find_spec(PACKAGE) is not None
STAND_INS = _stand_ins()


def provide() -> None:
    """Put a replacement for the modules that such evaluators import in place, if neither this installation
    nor the project's folder has the package."""
    if not INSTALLED and not has_module(PACKAGE):
        sys.modules.update(STAND_INS)


def has_module(name: str) -> bool:
    """Return whether the working folder, the first of the search path, has a module or package of this
    name."""
    named = any(entry.partition(".")[0] == name for entry in os.listdir())  # noqa: PTH208
    return named and importlib.util.find_spec(name) is not None


def _read(path: str) -> dict[str, Any]:
    with open(path) as file:
        result = json.load(file)
    if not isinstance(result, dict):
        raise TypeError(f"{os.path.basename(path)} of the evaluator holds no table")  # noqa: PTH119
    return result


def _table(given: Any) -> Iterable[tuple[str, Any]]:
    """Numbers, truth values and texts of a table; what is nested is left out."""
    items = given.items() if isinstance(given, dict) else ()
    return [(str(name), value) for name, value in items if isinstance(value, bool | int | float | str)]


def _number_or_text(value: Any) -> Any:
    return value.item() if hasattr(value, "item") and getattr(value, "size", 1) == 1 else str(value)
