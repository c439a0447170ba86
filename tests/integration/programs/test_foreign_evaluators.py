"""Evaluators as people have them: with asyncio, multiprocessing and shared memory, and written for
ShinkaEvolve."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest
from programs_fixtures import OWN, calls, made

from evolake.errors import InputError
from evolake.lake import BlobStore
from evolake.programs.evolution import generations, outcome
from evolake.programs.evolution.population import texts_bytes
from evolake.programs.gates import Candidate
from evolake.programs.model.project import Project, is_project, load_project
from evolake.programs.sandbox.evaluating import Evaluation, Evaluator, score_of, shown_metrics
from evolake.programs.sandbox.meeting import with_mode

PROGRAM = "# EVOLVE-BLOCK-START\ndef f(x):\n    return x * 0.5 + 1.0\n# EVOLVE-BLOCK-END\n"
LOAD = """
import importlib.util
def load(path):
    spec = importlib.util.spec_from_file_location("prog", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
def f(path):
    return load(path).f(3.0)
"""
CONCURRENT = {
    "asyncio": """
import asyncio
async def both(path):
    return await asyncio.gather(asyncio.to_thread(f, path), asyncio.sleep(0.01, 1.0))
def evaluate(path):
    return {"combined_score": sum(asyncio.run(both(path)))}
""",
    "a coroutine": """
import asyncio
async def evaluate(path):
    return {"combined_score": f(path) + await asyncio.sleep(0.01, 1.0)}
""",
    "stages that are coroutines": """
async def evaluate_stage1(path):
    return {"combined_score": f(path) + 1.0}
async def evaluate_stage2(path):
    return {"combined_score": f(path) + 1.0}
""",
    "a pool of processes": """
import concurrent.futures
def evaluate(path):
    with concurrent.futures.ProcessPoolExecutor(2) as pool:
        return {"combined_score": sum(pool.map(f, [path])) + 1.0}
""",
    "multiprocessing": """
import multiprocessing
def work(path, queue, pipe, total, lock):
    with lock:
        total.value += 1.0
    queue.put(f(path))
    pipe.send("done")
def evaluate(path):
    ours, theirs = multiprocessing.Pipe()
    queue, total, lock = multiprocessing.Queue(), multiprocessing.Value("d", 0.0), multiprocessing.Lock()
    process = multiprocessing.Process(target=work, args=(path, queue, theirs, total, lock))
    process.start()
    assert ours.recv() == "done"
    result = queue.get()
    process.join()
    return {"combined_score": result + total.value}
""",
    "shared memory": """
import multiprocessing
from multiprocessing import shared_memory
def work(path, name):
    held = shared_memory.SharedMemory(name)
    held.buf[0] = int(f(path) * 2)
    held.close()
def evaluate(path):
    held = shared_memory.SharedMemory(create=True, size=1 << 20)
    process = multiprocessing.Process(target=work, args=(path, held.name))
    process.start()
    process.join()
    result = held.buf[0] / 2 + 1.0
    held.close()
    held.unlink()
    return {"combined_score": result}
""",
}


def evaluated(evaluator: str, program: str = PROGRAM, **files: str) -> Evaluation:
    project = with_mode(calls(evaluator, program, **files), OWN)
    with Evaluator(project, OWN) as asked:
        return asked.evaluate(project.evolving, 1)


@pytest.mark.parametrize("kind", CONCURRENT)
def test_an_evaluator_may_be_concurrent(kind):
    result = evaluated(LOAD + CONCURRENT[kind])
    assert (result.status, result.reason, dict(result.metrics)) == ("ok", "", {"combined_score": 3.5})


def test_a_program_that_is_concurrent_is_imported_where_it_was_to_be_called():
    program = "import asyncio\nasync def g(x):\n    return x * 0.5 + 1.0\n" + PROGRAM.replace(
        "x * 0.5 + 1.0", "asyncio.run(g(x))"
    )
    project = with_mode(
        calls(LOAD + "def evaluate(path):\n    return {'combined_score': load(path).f(3.0)}\n", program), OWN
    )
    assert (project.mode, "Operation not permitted" in project.open_because) == ("imports", True)
    with Evaluator(project, OWN) as evaluator:
        assert evaluator.evaluate(project.evolving, 1).metrics == {"combined_score": 2.5}


def test_a_byte_order_mark_leaves_the_score_protected():
    project = with_mode(
        calls(
            "\ufeff" + LOAD + "def evaluate(path):\n    return {'combined_score': load(path).f(3.0)}\n",
            "\ufeff" + PROGRAM,
        ),
        OWN,
    )
    with Evaluator(project, OWN) as evaluator:
        result = evaluator.evaluate(project.evolving, 1)
    assert (project.mode, project.open_because, dict(result.metrics)) == (
        "calls",
        "",
        {"combined_score": 2.5},
    )


SHINKA = """
import argparse
from shinka.core import run_shinka_eval


def validate(result):
    return (result >= 0, None if result >= 0 else f"{result} is below 0")


def aggregate_metrics(results):
    public = {"last": results[-1], "nested": [1, 2]}
    private = {"held_out": sum(results)}
    return {"combined_score": sum(results) / len(results), "public": public, "private": private, "extra_data": {}, "text_feedback": "try more"}


def main(program_path, results_dir):
    metrics, correct, error = run_shinka_eval(
        program_path=program_path, results_dir=results_dir, experiment_fn_name="run_experiment", num_runs=3,
        get_experiment_kwargs=lambda run: {"seed": run}, validate_fn=validate, aggregate_metrics_fn=aggregate_metrics, run_workers=1,
    )
    if not correct:
        raise RuntimeError(error)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.parse_args()
"""  # noqa: E501
SHINKA_PROGRAM = (
    "# EVOLVE-BLOCK-START\ndef run_experiment(seed):\n    return 1.5 * seed\n# EVOLVE-BLOCK-END\n"
)


def shinka(evaluator: str = SHINKA, program: str = SHINKA_PROGRAM, **more: str) -> Project:
    files = {
        "initial.py": program,
        "evaluate.py": evaluator,
        "run_evo.py": "raise SystemExit('never read')\n",
    }
    return made(files | {name.replace("__", "."): text for name, text in more.items()})


def once(project: Project) -> Evaluation:
    with Evaluator(project, OWN) as evaluator:
        return evaluator.evaluate(project.evolving, 1)


def test_a_folder_of_shinkaevolve_is_a_project_whose_score_is_protected(tmp_path):
    for name, data in shinka().files.items():
        (tmp_path / name).write_bytes(data)
    assert is_project(tmp_path)
    project = with_mode(load_project(tmp_path), OWN)
    assert (project.main, project.given.evaluator.file, project.mode) == (
        "initial.py",
        "evaluate.py",
        "calls",
    )
    result = once(project)
    assert (result.status, score_of(project, result)) == ("ok", 1.5)
    assert dict(result.metrics) == {"combined_score": 1.5, "last": 3.0, "private.held_out": 4.5}
    assert dict(result.artifacts) == {"text_feedback": "try more"}
    assert shown_metrics(result.metrics) == {"combined_score": 1.5, "last": 3.0}


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        (SHINKA_PROGRAM.replace("1.5 * seed", "-1.0"), "Validation failed: -1.0 is below 0"),
        (
            SHINKA_PROGRAM.replace("1.5 * seed", "1 / 0"),
            "ZeroDivisionError: division by zero (line 3 of the program)",
        ),
        (
            SHINKA_PROGRAM.replace("run_experiment", "other"),
            "AttributeError: module 'program' has no attribute 'run_experiment'",
        ),
    ],
)
def test_a_result_that_is_not_correct_is_an_error_in_words(program, reason):
    result = once(with_mode(shinka(program=program), OWN))
    assert (result.status, result.reason, dict(result.metrics)) == ("reported", reason, {})


def test_a_script_may_leave_its_results_by_itself():
    own = """
import json, os
def main(program_path, results_dir):
    for name, value in (("metrics.json", {"combined_score": 2, "public": {"a": 1}}), ("correct.json", {"correct": True, "error": None})):
        with open(os.path.join(results_dir, name), "w") as file:
            json.dump(value, file)
"""  # noqa: E501
    project = with_mode(shinka(own), OWN)
    assert (project.mode, dict(once(project).metrics)) == ("imports", {"combined_score": 2.0, "a": 1.0})
    assert once(shinka("def main(program_path, results_dir):\n    pass\n")).status == "raised"


def test_no_model_is_shown_a_private_metric(tmp_path, monkeypatch):
    blobs = BlobStore(tmp_path)
    row = {
        "program_id": "ab" * 32,
        "score": 1.5,
        "metrics": '{"combined_score": 1.5, "private.held_out": 4.5}',
        "files_sha": blobs.put(texts_bytes({"initial.py": PROGRAM})),
    }
    shown = generations._measured(cast(Any, SimpleNamespace(blobs=blobs)), row)
    assert shown.metrics == {"combined_score": 1.5}
    project = with_mode(shinka(), OWN)
    with Evaluator(project, OWN) as evaluator:
        monkeypatch.setattr(outcome, "objection_of", lambda context, candidate: "")
        context = cast(Any, SimpleNamespace(project=project, evaluator=evaluator))
        candidate = Candidate(project.evolving, "x", evaluator, [1])
        candidate.evaluate()
        said = outcome.outcome_text(context, candidate, shown)
    assert (
        "private" not in said
        and '{"combined_score": 1.5, "last": 3.0}' in said
        and "text_feedback: try more" in said
    )


def test_the_names_of_openevolve_come_first():
    project = shinka(
        evaluator__py="def evaluate(path):\n    return {'combined_score': 1.0}\n", initial_program__py=PROGRAM
    )
    assert (project.main, project.given.evaluator.file) == ("initial_program.py", "evaluator.py")
    with pytest.raises(InputError, match="has no initial program"):
        made({"evaluate.py": SHINKA})
