"""Planted cheaters: each is caught by a gate, or, where a process is shared with the evaluator, its score is
called not protected."""

from __future__ import annotations

import pytest
from programs_fixtures import OWN, apart, cheater, imports, judged

from evolake.lake import BlobStore
from evolake.programs.model.project import program_id
from evolake.programs.sandbox.evaluating import Evaluator, answer_in

HONEST = "def answer(x):\n    return 3 * x\n"
SNEAKY = (
    "def answer(x):\n    import sys\n    evaluator = sys.__dict__['mod' 'ules']['eval' 'uator']\n    "
    "{body}\n    return x\n"
)
"""Reaches the evaluator by a way whose names the lint does not know of when they are put together; what it
does there is compared afterwards."""

CAUGHT = {
    "imports the evaluator": (
        "import evaluator\ndef answer(x):\n    return x\n",
        "reach",
        "imports evaluator",
    ),
    "patches by sys.modules": (
        "import sys\ndef answer(x):\n    sys.modules['evaluator'].distance = len\n    return x\n",
        "reach",
        "uses modules",
    ),
    "patches a library": ("import math\nmath.fsum = sum\n" + HONEST, "reach", "changes math.fsum"),
    "walks frames": (
        "import sys\ndef answer(x):\n    return sys._getframe(1).f_back.f_globals\n",
        "reach",
        "uses _getframe",
    ),
    "reads the evaluator's text": (
        "def answer(x):\n    return len(open('evaluator.py').read())\n",
        "reach",
        "names evaluator.py",
    ),
    "returns the target": (
        "def answer(x):\n    return 31.4159 / 5\n",
        "reach",
        "holds the evaluator's constant 31.4159",
    ),
    "writes a result file": (
        "def answer(x):\n    open('result.json', 'w').write('{\"combined_score\": 99}')\n    return x\n",
        "reach",
        "uses open",
    ),
    "leaves a thread": ("import _thread\n" + HONEST, "reach", "imports _thread"),
    "leaves an executor": (
        "from concurrent.futures import ThreadPoolExecutor\n" + HONEST,
        "reach",
        "imports concurrent.futures",
    ),
    "exits early": ("raise SystemExit(0)\n" + HONEST, "run", "raised"),
}
UNSEEN = {
    "replaces a function of the evaluator": "evaluator.distance = lambda values: 0.0",
    "replaces its code": "evaluator.distance.__code__ = (lambda values: 0.0).__code__",
    "replaces its constant": "evaluator.TARGET = 0.0",
    "replaces a builtin": "sys.__dict__['mod' 'ules']['built' 'ins'].abs = lambda value: 0.0",
}


@pytest.fixture
def blobs(tmp_path) -> BlobStore:
    return BlobStore(tmp_path)


@pytest.mark.parametrize("name", CAUGHT)
def test_a_cheater_is_caught_by_a_gate(name, blobs):
    body, gate, said = CAUGHT[name]
    (blocked, reason), candidate = judged(imports(), blobs, cheater(body))
    assert (blocked, said in reason) == (gate, True), reason
    assert not candidate.project.protected


@pytest.mark.parametrize("name", UNSEEN)
def test_what_the_lint_does_not_see_is_found_by_comparing(name, blobs):
    project, text = imports(), cheater(SNEAKY.format(body=UNSEEN[name]))
    with Evaluator(project, OWN) as evaluator:
        result = evaluator.evaluate({project.main: text}, 1)
    assert result.status == "tampered" and result.tampered and result.metrics == {}, result


def test_a_printed_and_a_written_result_are_none_and_an_early_end_leaves_none():
    project = imports()
    forged = 'import os\nprint(\'{"metrics": {"combined_score": 99}}\', flush=True)\n' + HONEST
    ended = "import os\ndef answer(x):\n    os.write(1, b'{\"combined_score\": 99}')\n    os._exit(0)\n"
    loud = (
        "import os\nfor number in range(3, 40):\n    try:\n        os.write(number, b'99\\n')\n    except "
        "OSError:\n        pass\n" + HONEST
    )
    with Evaluator(project, OWN) as evaluator:
        honest, printed, early, written = (
            evaluator.evaluate({project.main: cheater(text)}, 1) for text in (HONEST, forged, ended, loud)
        )
    assert printed.metrics == honest.metrics and honest.ok
    assert (early.status, early.metrics) == ("no_result", {})
    assert (written.status, written.metrics) == ("tampered", {})


@pytest.mark.parametrize(
    "stdout", [b"", b"{}\n", b"n{}", b"n{}\nn{}\n", b"x\nn{}\n", b"n{}\nx", b"n[1]\n", b"n{\n"]
)
def test_only_one_whole_line_with_the_nonce_is_an_answer(stdout):
    assert answer_in(stdout, "n") is None
    assert answer_in(b'n{"a": 1}\n', "n") == {"a": 1}


APART_CHEATERS = {
    "looks for the evaluator": "import os\ndef double(x):\n    import evaluator\n    return 2 * x + 1\n",
    "lists its folder": "import os\ndef double(x):\n    return sorted(os.listdir('.'))\n",
    "prints a result": "def double(x):\n    print('{\"combined_score\": 1.0}')\n    return None\n",
    "returns a result": "def double(x):\n    return {'combined_score': 1.0, 'status': 'ok'}\n",
    "ends early": "import os\ndef double(x):\n    os._exit(0)\n",
    "replaces json": "import json\njson.dumps = lambda *_: '5'\ndef double(x):\n    return x\n",
}


@pytest.mark.parametrize("name", APART_CHEATERS)
def test_a_program_that_runs_apart_gets_no_score_by_cheating(name):
    project = apart()
    with Evaluator(project, OWN) as evaluator:
        result = evaluator.evaluate({project.main: APART_CHEATERS[name]}, 3)
    assert project.protected
    assert result.metrics.get("combined_score", 0.0) == 0.0, result


def test_honest_programs_pass_in_both_modes(blobs):
    for project, score in ((imports(), None), (apart(), 1.0)):
        (gate, reason), candidate = judged(project, blobs)
        assert (gate, reason) == ("", "")
        assert candidate.program_id == program_id("toy", project.evolving)
        assert score is None or candidate.metrics == {"combined_score": score}


RELAY = """import random


def cases(seed):
    return [{"message": random.Random(seed).randrange(100, 1 << 14)}, {}]


def score(cases, results):
    return {"combined_score": float(results[1]["output"] == cases[0]["message"])}
"""
"""Scores whether a program can answer the second case with what only the first case had."""
TOML = '[program]\nentry = "play"\n[evaluator]\nmode = "separate"\ncpu_s = 10\nwall_s = 60\n'
BY_NUMBERS = """import os, threading


def number():
    seen = []
    thread = threading.Thread(target=lambda: seen.append(threading.get_native_id()))
    thread.start()
    thread.join()
    return seen[0]


def play(case):
    if "message" not in case:
        return (os.getpid() - 1) % (1 << 14)
    while number() % (1 << 14) != case["message"]:
        pass
"""


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_program_that_runs_apart_cannot_leave_a_message_for_its_next_case(seed):
    project = apart(BY_NUMBERS, RELAY, TOML)
    with Evaluator(project, OWN) as evaluator:
        result = evaluator.evaluate({project.main: BY_NUMBERS}, seed)
    assert project.protected and (result.status, result.metrics) == ("ok", {"combined_score": 0.0})


def test_a_command_that_runs_apart_sees_no_counters_of_the_machine():
    program = (
        "import os\nprint([path for path in ('/proc', '/proc/stat', '/proc/loadavg') if "
        "os.path.exists(path)], end='')\n"
    )
    evaluator = (
        "def cases(seed):\n    return ['']\n\n\n"
        "def score(cases, results):\n    return {'combined_score': float(results[0]['output'] == '[]')}\n"
    )
    project = apart(
        program, evaluator, '[program]\nrun = "python initial_program.py"\n[evaluator]\nmode = "separate"\n'
    )
    with Evaluator(project, OWN) as made:
        assert made.evaluate({project.main: program}, 1).metrics == {"combined_score": 1.0}
