"""Evaluators as people have them: with asyncio, multiprocessing and shared memory."""

from __future__ import annotations

import pytest
from programs_fixtures import OWN, calls

from evolake.programs.sandbox.evaluating import Evaluation, Evaluator
from evolake.programs.sandbox.meeting import settled

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
    project = settled(calls(evaluator, program, **files), OWN)
    with Evaluator(project, OWN) as asked:
        return asked.evaluate(project.evolving, 1)


@pytest.mark.parametrize("kind", CONCURRENT)
def test_an_evaluator_may_be_concurrent(kind: str) -> None:
    result = evaluated(LOAD + CONCURRENT[kind])
    assert (result.status, result.reason, dict(result.metrics)) == ("ok", "", {"combined_score": 3.5})


def test_a_program_that_is_concurrent_is_imported_where_it_was_to_be_called() -> None:
    program = "import asyncio\nasync def g(x):\n    return x * 0.5 + 1.0\n" + PROGRAM.replace("x * 0.5 + 1.0", "asyncio.run(g(x))")
    project = settled(calls(LOAD + "def evaluate(path):\n    return {'combined_score': load(path).f(3.0)}\n", program), OWN)
    assert (project.mode, "Operation not permitted" in project.open_because) == ("imports", True)
    with Evaluator(project, OWN) as evaluator:
        assert evaluator.evaluate(project.evolving, 1).metrics == {"combined_score": 2.5}
