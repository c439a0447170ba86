"""Evaluations that are forked from a warm jail: they come out as those that are started, and none leaves
anything for the next."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from jail_kit import LASTING_PROCESS, died_out
from programs_fixtures import EVALUATOR, OWN, apart, calls, cheater, imports

from evolake.programs.evolution.checking import check_project
from evolake.programs.model.project import Project, load_project
from evolake.programs.sandbox import starting
from evolake.programs.sandbox.evaluating import Evaluation, Evaluator
from evolake.programs.settings import ProgramsSettings
from evolake.settings import load

EXAMPLES = Path(__file__).parents[3] / "examples" / "programs"
HONEST = "def answer(x):\n    return 3 * x\n"
COMPARED = (
    "status",
    "reason",
    "metrics",
    "odd",
    "artifacts",
    "tampered",
    "stage",
    "stages",
    "seed",
    "troubles",
    "calls",
    "flags",
)
SNEAKY = (
    "def answer(x):\n    import sys\n    evaluator = sys.modules['evaluator']\n    {body}\n    return x\n"
)
PROGRAMS = {
    "honest": HONEST,
    "raises": "def answer(x):\n    return 1 // 0\n",
    "does not parse": "def answer(x:\n",
    "ends early": "import os\ndef answer(x):\n    os._exit(0)\n",
    "exits": "raise SystemExit(3)\n" + HONEST,
    "kills itself": "import os\ndef answer(x):\n    os.kill(os.getpid(), 9)\n",
    "computes for ever": "def answer(x):\n    while True: pass\n",
    "sleeps": "import time\ndef answer(x):\n    time.sleep(100)\n",
    "takes memory": "def answer(x):\n    return len(bytearray(2 << 30))\n",
    "writes too large a file": "def answer(x):\n    open('large', 'wb').write(bytes(100 << 20))\n    return x\n",  # noqa: E501
    "writes files": (
        "import os\ndef answer(x):\n    open('a', 'w').write('x')\n    return os.path.exists('a') and "
        "os.getcwd() == '/tmp/work'\n"
    ),
    "prints": (
        "import sys\ndef answer(x):\n    print('out', flush=True)\n    print('err', file=sys.stderr)\n    "
        "return 1 // 0\n"
    ),
    "writes on descriptors": """import os
for number in range(3, 40):
    try:
        os.write(number, b"99\\n")
    except OSError:
        pass
"""
    + HONEST,
    "draws": "import random\ndef answer(x):\n    return random.random() * x\n",
    "draws by numpy": "import numpy as np\ndef answer(x):\n    return float(np.random.rand()) * x\n",
    "makes threads": """import threading
def answer(x):
    seen = []
    thread = threading.Thread(target=seen.append, args=(x,))
    thread.start()
    thread.join()
    return seen[0]
""",
    "makes a process": (
        "import subprocess\ndef answer(x):\n    return len(subprocess.run(['echo', 'x'], "
        "capture_output=True).stdout) * x\n"
    ),
    "makes a pipe": "import os\ndef answer(x):\n    return len(os.pipe()) * x\n",
    "asks for its environment": "import os\ndef answer(x):\n    return len(os.environ['HOME']) + len(os.environ['TMPDIR'])\n",  # noqa: E501
    "makes temporary files": """import tempfile
def answer(x):
    with tempfile.NamedTemporaryFile() as file:
        return len(file.name.split("/")) * x
""",
    "replaces a function": SNEAKY.format(body="evaluator.distance = lambda values: 0.0"),
    "replaces its code": SNEAKY.format(body="evaluator.distance.__code__ = (lambda values: 0.0).__code__"),
    "replaces a constant": SNEAKY.format(body="evaluator.TARGET = 0.0"),
    "replaces a builtin": SNEAKY.format(body="sys.modules['builtins'].abs = lambda value: 0.0"),
    "replaces a library": "import math, sys\ndef answer(x):\n    sys.modules['math'].exp = len\n    return x\n",  # noqa: E501
    "looks at its arguments": "import sys\ndef answer(x):\n    return len(sys.argv) + (sys.argv[0] == '-c')\n",  # noqa: E501
}
ELSEWHERE = {"makes a process", "makes a pipe"}
"""What a forked process is ended for: a jail of its own is started."""
LIMITED = OWN.model_copy(update={"cpu_s": 2, "wall_s": 4})


def compared(evaluation: Evaluation) -> dict[str, Any]:
    return {name: value for name, value in asdict(evaluation).items() if name in COMPARED}


def both(
    project: Project,
    texts: list[dict[str, str]],
    monkeypatch: pytest.MonkeyPatch,
    own: ProgramsSettings = LIMITED,
) -> tuple[list[Evaluation], list[Evaluation], Evaluator]:
    """(started, forked) evaluations of each program, and the evaluator of the second."""
    seed = 3
    with Evaluator(project, own) as started:
        started.starts.obstacle = "the test wants none"
        first = [started.evaluate(text, seed) for text in texts]
    monkeypatch.setattr(starting, "STARTED_FIRST", 0)
    with Evaluator(project, own) as forked:
        second = [forked.evaluate(text, seed) for text in texts]
    return first, second, forked


@pytest.mark.parametrize("mode", ["imports", "calls"])
def test_forked_evaluations_come_out_as_those_that_are_started(mode, monkeypatch):
    project = imports() if mode == "imports" else calls(project__toml='[evaluator]\nmode = "calls"\n')
    names = (
        list(PROGRAMS)
        if mode == "imports"
        else ["honest", "raises", "ends early", "draws", "prints", "computes for ever"]
    )
    started, forked, evaluator = both(
        project, [{project.main: cheater(PROGRAMS[name])} for name in names], monkeypatch
    )
    for name, one, other in zip(names, started, forked, strict=True):
        assert compared(other) == compared(one), name
    assert evaluator.starts.obstacle == ""
    assert evaluator.starts.forked == len(set(names) - ELSEWHERE)
    assert forked[0].ok and forked[0].cpu_s < started[0].cpu_s


def test_programs_that_run_apart_are_scored_alike(monkeypatch):
    project = apart()
    bodies = ["2 * x + 1", "x", "1 // 0", "[x, None]", "{'combined_score': 1.0}"]
    started, forked, evaluator = both(
        project, [{project.main: f"def double(x):\n    return {body}\n"} for body in bodies], monkeypatch
    )
    assert list(map(compared, forked)) == list(map(compared, started))
    assert evaluator.starts.forked == len(bodies) + 1, "the cases are made once"


def test_an_example_is_evaluated_alike(monkeypatch):
    project = load_project(EXAMPLES / "circle_packing")
    (started,), (forked,), evaluator = both(
        project, [dict(project.evolving)], monkeypatch, ProgramsSettings()
    )
    assert compared(forked) == compared(started)
    assert evaluator.starts.forked > 0, evaluator.starts.obstacle


def test_a_project_s_own_module_is_used_and_a_changed_stand_in_stays_in_its_process(monkeypatch):
    evaluator = """import importlib.util
from openevolve.evaluation_result import EvaluationResult
from shinka import WORTH


def evaluate(program_path):
    spec = importlib.util.spec_from_file_location("program", program_path)
    spec.loader.exec_module(importlib.util.module_from_spec(spec))
    return EvaluationResult(metrics={"combined_score": WORTH}, artifacts={"text": "seen"})
"""
    patches = """import sys
class Other:
    def __init__(self, metrics, artifacts):
        self.metrics, self.artifacts = {"combined_score": 99.0}, {}
sys.modules["evaluator"].EvaluationResult.__init__ = Other.__init__
"""
    project = imports(evaluator, shinka__py="WORTH = 2.5\n")
    texts = [{project.main: cheater(text)} for text in (HONEST, patches + HONEST, HONEST)]
    started, forked, starts = both(project, texts, monkeypatch)
    assert [compared(one) for one in forked] == [compared(one) for one in started]
    assert [forked[place].metrics for place in (0, 2)] == [{"combined_score": 2.5}] * 2
    assert forked[1].metrics != forked[0].metrics, "the stand-in was changed there"
    assert starts.starts.forked == 3


LEAVING = {
    "a process": f"""import os
def answer(x):
    if os.fork() == 0:
        os.execv("/bin/sleep", ["sleep", "{LASTING_PROCESS}"])
    return x
""",
    "files": """def answer(x):
    for place in ("/tmp", ".", "/", "/dev", "/tmp/work/.."):
        try:
            open(place + "/left", "w").write("x")
        except OSError:
            pass
    return x
""",
    "another evaluator": """import glob, os
def answer(x):
    for place in ("evaluator.py", *glob.glob("__pycache__/*")):
        os.remove(place)
    open("evaluator.py", "w").write("raise 1")
    return x
""",
    "patches": """import builtins, importlib, json, math, os, sys
def answer(x):
    builtins.abs = math.fsum = json.dumps = lambda *args, **named: 0
    sys.path[:], sys.modules["evaluator"], importlib.util = [], None, None
    os.environ.clear()
    return x
""",
    "descriptors": """import os
kept = []
def answer(x):
    for number in range(20):
        kept.append(os.open(".", os.O_RDONLY))
    return x
""",
    "a thread": (
        "import threading, time\ndef answer(x):\n    threading.Thread(target=time.sleep, "
        "args=(100,)).start()\n    return x\n"
    ),
    "a handler": """import atexit, signal, time
def answer(x):
    signal.signal(15, signal.SIG_IGN)
    atexit.register(time.sleep, 100)
    return x
""",
    "a limit": (
        "import resource\ndef answer(x):\n    resource.setrlimit(resource.RLIMIT_NOFILE, (8, 8))\n    "
        "return x\n"
    ),
    "an attack on the parent": """import ctypes, os
def answer(x):
    libc = ctypes.CDLL(None)
    for number in (0, 1, 2, os.getppid()):
        libc.ptrace(16, number, 0, 0)
        libc.process_vm_readv(number, 0, 0, 0, 0, 0)
    return x
""",
}
WITNESS = """import os, sys
def answer(x):
    here = sorted(os.listdir('.')), sorted(os.listdir('/tmp')), sorted(os.listdir('/'))
    opened = []
    for number in range(3, 64):
        try:
            opened.append((number, os.fstat(number).st_mode))
        except OSError:
            pass
    raise ValueError(repr((here, opened, os.getpid(), os.getppid(), sorted(os.environ), sys.path[0], os.getsid(0), os.path.exists('/pro' 'c/self'))))
"""  # noqa: E501


def test_nothing_is_left_for_the_next_one(monkeypatch):
    monkeypatch.setattr(starting, "STARTED_FIRST", 0)
    project = imports()
    with Evaluator(project, LIMITED) as evaluator:

        def evaluated(text: str) -> Evaluation:
            return evaluator.evaluate({project.main: cheater(text)}, 1)

        seen, honest = evaluated(WITNESS), evaluated(HONEST)
        assert seen.status == "raised" and "ValueError" in seen.reason and honest.ok
        for name, text in LEAVING.items():
            evaluated(text)
            assert evaluated(WITNESS).artifacts == seen.artifacts, name
            assert evaluated(HONEST).metrics == honest.metrics, name
            assert died_out(), name
        assert evaluator.starts.forked >= 2 + 2 * len(LEAVING)


SEARCH = """import ctypes
def answer(x):
    libc = ctypes.CDLL(None, use_errno=True)
    {kept}
    middle, step, found, read = id([]) & -4096, 1 << 20, 0, 0
    wanted = b"evolake-" + b"left" * 3
    with open("memory", "w+b", buffering=0) as file:
        for start in range(middle - 16 * step, middle + 16 * step, step):
            file.truncate(0)
            file.seek(0)
            # a write answers an error, instead of a signal, for memory that is not there
            for page in range(start, start + step, 4096):
                libc.write(file.fileno(), ctypes.c_void_p(page), 4096)
            file.seek(0)
            data = file.read()
            read += len(data)
            found += data.count(wanted)
    return found + 1e6 * (read < step)
"""
"""Reads the memory around its own objects, where those of a program before it would have been."""


def test_the_memory_of_one_program_is_not_in_the_next(monkeypatch):
    monkeypatch.setattr(starting, "STARTED_FIRST", 0)
    keeping = "kept = ['evolake-' + 'left' * 3 + str(number) for number in range(20000)]"
    project = imports(EVALUATOR.replace('"gap": gap', '"gap": gap, "found": float(program.answer(1))'))
    texts = [
        SEARCH.format(kept="pass"),
        SEARCH.format(kept=keeping),
        f"{keeping}\n{HONEST}",
        SEARCH.format(kept="pass"),
    ]
    with Evaluator(project, LIMITED) as evaluator:
        before, itself, _, after = (evaluator.evaluate({project.main: cheater(text)}, 1) for text in texts)
        assert evaluator.starts.forked == 4
    assert 100 < itself.metrics["found"] < 1e6, "the search finds what is there"
    assert after.metrics["found"] == before.metrics["found"] < 10


@pytest.mark.parametrize(
    ("head", "why"),
    [
        ("import psutil\n", "names psutil"),
        ("import multiprocessing\n", "names multiprocessing"),
        ("LOAD = '/proc/loadavg'\n", "names /proc"),
    ],
)
def test_an_evaluator_that_names_what_a_fork_has_not_is_started(head, why):
    project = imports(f"{head}{EVALUATOR}")
    with Evaluator(project, LIMITED) as evaluator:
        assert why in evaluator.starts.obstacle


def test_an_evaluator_that_makes_processes_is_started_each_time(monkeypatch):
    monkeypatch.setattr(starting, "STARTED_FIRST", 0)
    text = EVALUATOR.replace(
        "    gap =",
        "    import subprocess, sys\n    subprocess.run([sys.executable, '-c', 'pass'], check=True)\n    "
        "gap =",
    )
    for project in (imports(text), calls(text, project__toml='[evaluator]\nmode = "calls"\n')):
        with Evaluator(project, LIMITED) as evaluator:
            results = [evaluator.evaluate(project.evolving, 1) for _ in range(2)]
            assert [result.status for result in results] == ["ok", "ok"], results
            assert "make processes" in evaluator.starts.obstacle and evaluator.starts.forked == 0


@pytest.mark.parametrize(
    "head",
    [
        "import random\nDRAWN = random.random()\nimport time\nBEGUN = time.time()\n",
        "import threading, time\nthreading.Thread(target=time.sleep, args=(1,), daemon=True).start()\n"
        "DRAWN = BEGUN = 0\n",
        "KEPT = open(__file__)\nDRAWN = BEGUN = 0\n",
    ],
    ids=["time and chance", "a thread", "an open file"],
)
def test_what_an_evaluator_does_at_its_import_it_does_in_each_process(head, monkeypatch):
    monkeypatch.setattr(starting, "STARTED_FIRST", 0)
    project = imports(head + EVALUATOR.replace('"gap": gap', '"gap": gap, "drawn": DRAWN, "begun": BEGUN'))
    with Evaluator(project, LIMITED) as evaluator:
        first, second = (evaluator.evaluate(project.evolving, 1) for _ in range(2))
        assert evaluator.starts.forked == 2
    assert first.ok and second.ok
    if "DRAWN = random" in head:
        assert (
            first.metrics["drawn"] != second.metrics["drawn"]
            and first.metrics["begun"] < second.metrics["begun"]
        )
    else:
        assert first.metrics == second.metrics


def test_a_jail_without_scratch_folders_is_no_failure(monkeypatch):
    monkeypatch.setattr(starting, "STARTED_FIRST", 0)
    monkeypatch.setattr(starting, "DRIVER", "evolake.programs.sandbox.harness:absent")
    project = imports()
    with Evaluator(project, LIMITED) as evaluator:
        assert evaluator.evaluate(project.evolving, 1).ok
        assert evaluator.starts.obstacle.startswith("no process can be forked: ")


def test_a_jail_that_dies_is_replaced(monkeypatch):
    monkeypatch.setattr(starting, "STARTED_FIRST", 0)
    project = imports()
    with Evaluator(project, LIMITED) as evaluator:
        first = evaluator.evaluate(project.evolving, 1)
        assert evaluator.starts.pool is not None
        evaluator.starts.pool._all[0].jail.kill()
        assert evaluator.evaluate(project.evolving, 1).metrics == first.metrics
        assert evaluator.starts.forked == 2


def test_check_says_how_evaluations_start(tmp_path, monkeypatch):
    settings = load("demo").model_copy(update={"lake": tmp_path})
    lines = check_project(imports(), OWN, settings, 2).lines()
    assert "  starts    forked from a warm jail" in lines
    lines = check_project(imports("import multiprocessing\n" + EVALUATOR), OWN, settings, 2).lines()
    assert "  starts    in a new jail each time, since its evaluator names multiprocessing" in lines


def test_evaluations_of_one_program_run_side_by_side_if_workers_are_idle(monkeypatch):
    monkeypatch.setattr(starting, "STARTED_FIRST", 0)
    slow = EVALUATOR.replace(
        "    gap =", "    import time\n    began = time.time()\n    time.sleep(0.4)\n    gap ="
    )
    project = imports(slow.replace('"gap": gap', '"gap": gap, "began": began, "ended": time.time()'))
    spans = {}
    for workers in (1, 2):
        with Evaluator(project, OWN, workers=workers) as evaluator:
            evaluations = evaluator.evaluate_each(project.evolving, [1, 2, 3])
            assert [evaluation.seed for evaluation in evaluations] == [1, 2, 3] and all(
                evaluation.ok for evaluation in evaluations
            )
            spans[workers] = [
                (evaluation.metrics["began"], evaluation.metrics["ended"]) for evaluation in evaluations
            ]
    assert all(before[1] <= after[0] for before, after in zip(spans[1], spans[1][1:], strict=False))
    first, second, third = spans[2]
    assert first[1] <= min(second[0], third[0]), "a program that fails is evaluated once"
    assert max(second[0], third[0]) < min(second[1], third[1])


def test_evaluations_end_with_the_first_that_fails():
    failing = EVALUATOR.replace(
        "    gap =",
        "    import random\n    if random.random() < 0.5:\n        raise ValueError('chance')\n    gap =",
    )
    project = imports(failing)
    with Evaluator(project, OWN, workers=3) as evaluator:
        alone = [evaluator.evaluate(project.evolving, seed).ok for seed in range(8)]
        assert set(alone) == {True, False}
        order = sorted(range(8), key=lambda seed: not alone[seed])
        assert [evaluation.ok for evaluation in evaluator.evaluate_each(project.evolving, order)] == [
            True
        ] * sum(alone) + [False]
