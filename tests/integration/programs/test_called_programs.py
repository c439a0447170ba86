"""Programs whose evaluator only calls their functions run in another jail: no score is forged, honest ones
are the same, the rest is labelled."""

from __future__ import annotations

import textwrap
from dataclasses import replace

import commands
import pytest
from programs_fixtures import OWN, calls

from evolake.programs.commands.group import FILES
from evolake.programs.model.project import Project, load_project
from evolake.programs.sandbox.evaluating import Evaluation, Evaluator
from evolake.programs.sandbox.meeting import with_mode
from evolake.project import BROUGHT

EVALUATOR = """import importlib.util

TARGETS = [10.0, 20.0]


def distance(values):
    return sum(abs(value - target) for value, target in zip(values, TARGETS))


def evaluate(program_path):
    spec = importlib.util.spec_from_file_location("program", program_path)
    program = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(program)
    values = program.run(list(TARGETS)[:1])
    gap = distance(values)
    return {"combined_score": 1 / (1 + gap)}
"""
PROGRAM = "def run(values):\n    return [1.0, 2.0]\n"
HONEST = 1 / 28
"""Score of PROGRAM, and of every program that returns the same."""
REACH = "    import sys\n    evaluator = getattr(sys, 'mod' + 'ules')['eval' + 'uator']\n"
FORGERIES = {
    "an object that subtracts in its own way": """
        class Number(float):
            def __sub__(self, other): return 0.0
        def run(values): return [Number(1.0), Number(2.0)]
    """,
    "an object that equals whatever it meets": """
        class Number:
            def __sub__(self, other): return self
            def __abs__(self): return 0.0
        def run(values): return [Number(), Number()]
    """,
    "a list of the evaluator, changed": "def run(values):\n"
    + REACH
    + "    evaluator.TARGETS[:] = [1.0, 2.0]\n    return [1.0, 2.0]\n",
    "a patch that restores itself": "def run(values):\n"
    + REACH
    + """
    real = evaluator.distance
    def once(values):
        evaluator.distance = real
        return 0.0
    evaluator.distance = once
    return [1.0, 2.0]
""",
    "a builtin that restores itself": """
        import builtins
        def run(values):
            real = builtins.abs
            left = [2]
            def none(value):
                left[0] -= 1
                if not left[0]: builtins.abs = real
                return 0.0
            builtins.abs = none
            return [1.0, 2.0]
    """,
    "the nonce from a frame": """
        import json, os, sys
        def run(values):
            frame = sys._getframe()
            while "nonce" not in frame.f_locals: frame = frame.f_back
            answer = {"metrics": {"combined_score": 1.0}, "artifacts": {}, "tampered": []}
            os.write(frame.f_locals["channel"], f"{frame.f_locals['nonce']}{json.dumps(answer)}\\n".encode())
            os._exit(0)
    """,
    "a function found among all objects": """
        import gc
        def run(values):
            for item in gc.get_objects():
                if isinstance(item, dict) and item.get("__name__") == "evaluator": item["TARGETS"][:] = [1.0, 2.0]
            return [1.0, 2.0]
    """,  # noqa: E501
    "targets read from the evaluator": "def run(values):\n" + REACH + "    return list(evaluator.TARGETS)\n",
    "targets read from its text": """
        def run(values):
            return eval(open("evaluator.py").read().split("TARGETS = ")[1].split("]")[0] + "]")
    """,
}


def evaluated(project: Project, text: str, seed: int = 1) -> Evaluation:
    with Evaluator(project, OWN) as evaluator:
        return evaluator.evaluate({project.main: textwrap.dedent(text)}, seed)


@pytest.mark.parametrize("name", FORGERIES)
def test_a_forged_score_is_none_where_the_program_is_called_in_another_jail(name):
    project = calls(EVALUATOR, PROGRAM)
    assert (project.mode, project.protected) == ("calls", True)
    result = evaluated(project, FORGERIES[name])
    assert result.metrics.get("combined_score", 0.0) <= HONEST, result


@pytest.mark.parametrize("name", FORGERIES)
def test_known_not_to_hold_the_same_program_forges_its_score_where_it_is_imported(name):
    """Named in docs/trust.md: such scores are called not protected."""
    project = replace(calls(EVALUATOR, PROGRAM), mode="imports")
    assert not project.protected and evaluated(project, FORGERIES[name]).metrics == {"combined_score": 1.0}


@pytest.mark.parametrize(
    "body",
    [
        "import os\ndef run(values):\n    os._exit(0)\n",
        "import os\ndef run(values):\n    os.write(6, b'x' * 100)\n    os._exit(0)\n",
        "import os\ndef run(values):\n    os.write(6, (1 << 60).to_bytes(8, 'big'))\n    return [10.0, "
        "20.0]\n",
        "def run(values):\n    raise SystemExit(0)\n",
        "def run(values):\n    while True: pass\n",
        "def run(values):\n    return bytearray(8 << 30)\n",
    ],
)
def test_a_program_that_ends_or_garbles_its_channel_has_no_score(body):
    assert (result := evaluated(calls(EVALUATOR, PROGRAM), body)).metrics == {} and not result.ok


TWICE = """import importlib.util


def evaluate(program_path):
    spec = importlib.util.spec_from_file_location("program", program_path)
    program = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(program)
    try:
        return {"combined_score": float(program.run(1) == 2) + float(program.run(10) == 20)}
    except Exception:
        return {"combined_score": 0.5}
"""
DOUBLE = "def run(n):\n    return 2 * n\n"
ANSWER = """
import json, os, sys, threading, time
def answer(value, **more):
    body = json.dumps({"value": value, "in_place": False, **more}).encode()
    os.write(6, len(body).to_bytes(8, "big") + body)
def number():
    frame = sys._getframe()
    while "number" not in frame.f_locals or not isinstance(frame.f_locals["number"], dict): frame = frame.f_back
    return frame.f_locals["number"]
"""  # noqa: E501
ANSWERS = {
    "the second ahead, without a number": "def run(n):\n    if n == 1: answer(20)\n    return 2 * n\n",
    "the first itself and the second ahead": "def run(n):\n    answer(2, **number())\n    answer(20)\n    "
    "time.sleep(9)\n",
    "the second ahead with the number of the first": "def run(n):\n    if n == 1: answer(2, **number()); "
    "answer(20, **number())\n    return 2 * n\n",
    "the second ahead with a number that is made up": "def run(n):\n    answer(20, number='0' * 32)\n    "
    "return 2 * n\n",
    "an answer while it is loaded": "answer(2)\ndef run(n):\n    return 2 * n\n",
    "one list of functions more": "answer(None, names=['run'], module=0)\ndef run(n):\n    return 2 * n\n",
    "both answers at the load": "answer(2)\nanswer(20)\ndef run(n):\n    time.sleep(9)\n",
    "an answer by a thread": "def run(n):\n    if n == 1: threading.Timer(0.0, answer, [20]).start(); "
    "time.sleep(0.3)\n    return 2 * n\n",
    "the last answer twice": "def run(n):\n    if n == 10: answer(20, **number())\n    return 2 * n\n",
    "the first answer twice": "def run(n):\n    if n == 1: answer(2, **number())\n    return 2 * n\n",
    "no number at all": "import evolake.programs.sandbox.serving as serving\nreal = serving.send\n"
    "serving.send = lambda to, message: real(to, {k: v for k, v in message.items() if k != 'number'})\n"
    "def run(n):\n    return 2 * n\n",
    "always the number of the load": "import evolake.programs.sandbox.serving as serving\nreal, first = "
    "serving.send, number()\nserving.send = lambda to, message: real(to, {**message, **first})\n"
    "def run(n):\n    return 2 * n\n",
    "an error ahead": "def run(n):\n    if n == 1: answer(None, raised='ValueError', text='')\n    "
    "return 2 * n\n",
}


@pytest.mark.parametrize("name", ANSWERS)
def test_an_early_or_second_answer_blocks_the_program(name):
    project = calls(TWICE, DOUBLE)
    assert evaluated(project, ANSWER + DOUBLE).metrics == {"combined_score": 2.0}
    result = evaluated(project, ANSWER + ANSWERS[name])
    assert (result.status, result.metrics, "it sent an answer" in result.reason) == ("tampered", {}, True)


FLOWS = """import importlib.util


class Table:
    def __init__(self, function): self.function = function
    def __getitem__(self, place): return self.function(place)
    def __getattr__(self, name): return self.function(name)
    def lines(self): yield self.function(0)


def evaluate(program_path):
    spec = importlib.util.spec_from_file_location("program", program_path)
    program = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(program)
    table, seen = Table(program.f), 0
    for look in (
        lambda: list(map(program.f, range(3))),
        lambda: list(table),
        lambda: getattr(table, "missing", None),
        lambda: next(map(program.f, [1]), None),
        lambda: list(iter(lambda: program.f(1), 1)),
        lambda: [item for item in table],
        lambda: 3 in table,
    ):
        try:
            look()
        except RuntimeError:
            seen += 1
    return {"combined_score": float(seen)}
"""


@pytest.mark.parametrize(
    "raised",
    [
        "StopIteration",
        "StopIteration(5)",
        "StopAsyncIteration",
        "GeneratorExit",
        "IndexError",
        "KeyError",
        "AttributeError",
        "EOFError",
        "type('StopIteration', (Exception,), {})",
        "type('IndexError', (LookupError,), {})()",
    ],
)
def test_no_exception_of_a_program_steers_its_evaluator(raised):
    result = evaluated(calls(FLOWS, "def f(x):\n    return 1\n"), f"def f(x):\n    raise {raised}\n")
    assert result.metrics == {"combined_score": 7.0}, result


TIMED = {
    "import time\n": "start = time.perf_counter()",
    "import time as clock\n": "start = clock.monotonic_ns()",
    "from time import process_time as now\n": "start = now()",
    "import timeit\n": "start = timeit.default_timer()",
    "from datetime import datetime\n": "start = datetime.now()",
    "import datetime\n": "start = datetime.datetime.utcnow()",
    "import os\n": "start = os.times()",
}


@pytest.mark.parametrize("line", TIMED)
@pytest.mark.parametrize("toml", ["", '[evaluator]\nmode = "calls"\n'], ids=["found", "given"])
def test_a_score_by_the_evaluators_own_clock_is_called_not_protected(line, toml):
    timed = line + TWICE.replace("    try:", f"    {TIMED[line]}\n    try:")
    project = with_mode(calls(timed, DOUBLE, **({"project__toml": toml} if toml else {})), OWN)
    assert (project.mode, project.protected) == ("calls", False) and "reads a clock" in project.open_because
    idle = calls(line.replace("process_time as now", "sleep") + "import random\n" + TWICE, DOUBLE)
    assert idle.protected, "a module that is only imported measures nothing"


@pytest.mark.parametrize("place", ["def run(n):\n    {}\n    return 2 * n\n", "{}\n" + DOUBLE])
def test_work_in_any_call_and_at_the_load_counts_as_processor_time(place):
    work = "for _ in range(10_000_000): pass"
    usual, busy = (evaluated(calls(TWICE, DOUBLE), text) for text in (DOUBLE, place.format(work)))
    assert busy.metrics == usual.metrics and busy.cpu_s > usual.cpu_s + 0.1


STAGED = """import importlib.util
import random
import concurrent.futures

import numpy as np


def load(path):
    spec = importlib.util.spec_from_file_location("program", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def evaluate_stage1(path):
    program = load(path)
    if not hasattr(program, "solve"):
        return {"combined_score": 0.0}
    with concurrent.futures.ThreadPoolExecutor(max_workers=1) as executor:
        result = executor.submit(program.solve, np.arange(6.0).reshape(2, 3), scale=2).result(timeout=5)
    assert isinstance(result, np.ndarray) and result.dtype == np.float64 and result.shape == (2, 3)
    return {"combined_score": float(result.sum())}


def evaluate_stage2(path):
    np.random.seed(42)
    random.seed(7)
    program = load(path)
    drawn = program.draw({"a": (1, [2, None, True]), 3: b"x"}, {1, 2})
    try:
        program.fail()
    except ValueError as error:
        failed = len(error.args)
    return {"combined_score": drawn[0] + drawn[1], "kinds": float(drawn[2]), "failed": failed}
"""
STAGED_PROGRAM = """import random

import numpy as np

COUNT = [0]
FIRST = random.random() + np.random.rand()


def solve(array, scale):
    COUNT[0] += 1
    return array * scale + FIRST


def draw(given, more):
    COUNT[0] += 1
    kinds = [type(given).__name__, type(given["a"]).__name__, type(given["a"][1]).__name__, type(given[3]).__name__, type(more).__name__]
    return random.random(), np.random.rand(), kinds == ["dict", "tuple", "list", "bytes", "set"] and COUNT[0] == 1


def fail():
    raise ValueError("none")
"""  # noqa: E501


@pytest.mark.parametrize(("evaluator", "program"), [(EVALUATOR, PROGRAM), (STAGED, STAGED_PROGRAM)])
def test_an_honest_program_scores_the_same_called_and_imported(evaluator, program):
    project = with_mode(calls(evaluator, program), OWN)
    assert (project.mode, project.open_because) == ("calls", "")
    called, imported = (evaluated(item, program, 5) for item in (project, replace(project, mode="imports")))
    assert (
        called.ok
        and called.metrics == imported.metrics
        and (called.stage, called.stages) == (imported.stage, imported.stages)
    )
    assert called.metrics.get("kinds", 1.0) == 1.0


def test_shipped_projects_say_how_evaluator_and_program_meet(tmp_path):
    found = {
        folder.name: load_project(folder)
        for folder in sorted((BROUGHT / "examples" / "programs").iterdir())
        if folder.is_dir()
    }
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    found["new"] = load_project(tmp_path)
    assert {name: project.mode for name, project in found.items()} == {
        "circle_packing": "separate",
        "function_minimization": "imports",
        "matrix_kernel": "separate",
        "new": "separate",
    }
    assert (
        found["function_minimization"].open_because
        == "the evaluator hands a function to the program (line 28)"
    )


LOAD = EVALUATOR.partition("    values =")[0]
SEEN = {
    "hands a function": "    return {'combined_score': program.run(distance)[0]}\n",
    "uses program.LIMIT, which is no function": "    return {'combined_score': program.LIMIT}\n",
    "uses program.Solver, which is no function": "    return {'combined_score': program.Solver().solve()}\n",
    "hands the program's module on": "    return {'combined_score': float(len(dir(program)))}\n",
    "may read or start the program's file": "    return {'combined_score': float(len(open(program_path).read()))}\n",  # noqa: E501
}
WHOLE = {
    "imports every name": (
        "from initial_program import *\n\n\ndef evaluate(program_path):\n    return {'combined_score': "
        "run([1.0])[0]}\n"
    ),
    "it cannot be seen how": (
        "import os\n\n\ndef evaluate(program_path):\n    return {'combined_score': "
        "float(os.path.getsize(program_path))}\n"
    ),
}
RUN_TIME = {
    "run returns a value of type candidate.Answer": (
        EVALUATOR,
        "class Answer(list): pass\ndef run(values):\n    return Answer([1.0, 2.0])\n",
    ),
    "run changes its arguments in place": (
        LOAD + "    values = [5.0, 6.0]\n    program.run(values)\n    return {'combined_score': "
        "distance(values)}\n",
        "def run(values):\n    values[:] = [1.0, 2.0]\n",
    ),
    "fails where it is called in another process": (
        EVALUATOR,
        "import os\ndef run(values):\n    os.pipe()\n    return [1.0, 2.0]\n",
    ),
}


@pytest.mark.parametrize("said", SEEN)
def test_what_cannot_be_called_by_values_is_imported_and_says_why(said):
    program = "LIMIT = 3\nclass Solver:\n    def solve(self): return 1\ndef run(values):\n    return [1.0]\n"
    project = calls(LOAD + SEEN[said], program)
    assert not project.protected and said in project.open_because


@pytest.mark.parametrize("said", WHOLE)
def test_an_evaluator_that_loads_the_program_otherwise_imports_it(said):
    project = calls(WHOLE[said], PROGRAM)
    assert not project.protected and said in project.open_because


def test_the_weaker_jail_imports():
    assert with_mode(calls(EVALUATOR, PROGRAM), OWN, "rlimits").mode == "imports"


@pytest.mark.parametrize("said", RUN_TIME)
def test_what_is_seen_only_when_it_runs_is_imported_and_says_why(said):
    evaluator, program = RUN_TIME[said]
    project = calls(evaluator, program)
    found = with_mode(project, OWN)
    assert project.mode == "calls" and found.mode == "imports" and said in found.open_because
    assert evaluated(found, program).ok
    asked = calls(evaluator, program, project__toml='[evaluator]\nmode = "calls"\n')
    assert with_mode(asked, OWN).mode == "calls", "what project.toml says is never replaced"


def test_a_candidate_cannot_have_itself_imported():
    project = with_mode(calls(EVALUATOR, PROGRAM), OWN)
    for body in (RUN_TIME["run returns a value of type candidate.Answer"][1], "raise ValueError\n"):
        result = evaluated(project, body)
        assert result.metrics == {} and with_mode(project, OWN).protected


@pytest.mark.parametrize(
    ("program", "said"),
    [
        (PROGRAM, "protected: the evaluator calls the program, which runs in a separate jail"),
        (
            RUN_TIME["run returns a value of type candidate.Answer"][1],
            "not protected: the evaluator imports the program, since run returns a",
        ),
    ],
)
def test_check_says_which_holds_and_why(tmp_path, program, said):
    (tmp_path / "evaluator.py").write_text(EVALUATOR)
    (tmp_path / "initial_program.py").write_text(program)
    done = commands.evolake("programs", "check", tmp_path, "--runs", "2")
    assert done.returncode == 0 and f"score     {said}" in done.stdout


def test_a_program_with_a_data_class_is_called():
    program = (
        "from dataclasses import dataclass\n@dataclass\nclass Pair:\n    first: float = 1.0\n"
        "def run(values):\n    return [Pair().first, 2.0]\n"
    )
    project = with_mode(calls(EVALUATOR, program), OWN)
    assert (project.mode, evaluated(project, program).metrics) == ("calls", {"combined_score": HONEST})
