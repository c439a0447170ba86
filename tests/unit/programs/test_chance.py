"""Whether an evaluation can depend on its seed is read off the texts: equal scores do not show it."""

import pytest
from programs_fixtures import APART, EVALUATOR, PROGRAM, apart, made

from evolake.programs.model.chance import chance_in

SEEDLESS = {
    "imports": {"evaluator.py": EVALUATOR, "initial_program.py": PROGRAM},
    "numpy": {
        "evaluator.py": f"import numpy as np\n{EVALUATOR}",
        "initial_program.py": f"import numpy as np\nfrom collections import deque\n{PROGRAM}",
    },
    "a helper": {
        "evaluator.py": f"from helper import near\n{EVALUATOR}",
        "helper.py": "import math\nnear = math.isclose\n",
        "initial_program.py": PROGRAM,
    },
}


@pytest.mark.parametrize("name", SEEDLESS)
def test_texts_without_a_source_of_chance_have_none(name):
    project = made(SEEDLESS[name])
    assert chance_in(project, [project.evolving]) == ""


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ("import random\n", "import random"),
        ("from random import Random as R\n", "import random"),
        ("import numpy as np\nLOSS = np.random.rand() < 0.1\n", "rand"),
        ("from numpy.random import default_rng\n", "default_rng"),
        ("from numpy import random as r\n", "random"),
        ("from os import urandom\n", "urandom"),
        ("import os\nLOSS = os.urandom(1)[0] < 25\n", "urandom"),
        ("import secrets\n", "import secrets"),
        ("import time\n", "import time"),
        ("import scipy.optimize\n", "import scipy"),
        ("import subprocess\n", "import subprocess"),
        ("from statistics import NormalDist\nX = NormalDist().samples(3)\n", "samples"),
        ("from math import *\n", "*"),
        ("import statistics\nX = statistics.random\n", "random"),
        ("def broken(:\n", "no Python"),
    ],
)
def test_an_evaluator_that_may_draw_is_asked_under_all_seeds(more, said):
    project = made({"evaluator.py": EVALUATOR, "initial_program.py": PROGRAM, "helper.py": more})
    found = chance_in(project, [project.evolving])
    assert said in found and (found.startswith("helper.py has") or "no Python" in found)


@pytest.mark.parametrize(
    "more",
    [
        "import random\n",
        "X = __import__('ran' + 'dom')\n",
        "import importlib\n",
        "import sys\n",
        "import math\nX = getattr(math, '__loader__')\n",
        "import math\nX = math.__loader__\n",
        "X = ().__class__.__base__.__subclasses__()\n",
        "import numpy as np\nX = np.empty(3)\n",
        "import numpy as np\nX = np.lib.npyio\n",
        "import statistics\nX = statistics._random\n",
        "import json\nX = json.decoder.sys\n",
        "from operator import attrgetter\n",
        "X = open('/proc/uptime')\n",
        "X = id(3)\n",
        "X = eval('1')\n",
    ],
)
def test_a_program_that_may_draw_or_hide_a_draw_is_met_under_all_seeds(more):
    project = made(SEEDLESS["imports"])
    other = {name: text + more for name, text in project.evolving.items()}
    assert "of a program has" in chance_in(project, [project.evolving, other])


@pytest.mark.parametrize(
    ("cases", "reads"),
    [
        (APART, True),
        ("def cases(seed):\n    return [1, 2]\n", False),
        ("def cases(seed):\n    return [seed % 10]\n", True),
        ("def cases(seed):\n    return [locals()['seed']]\n", True),
        ("def cases(*seeds):\n    return [1]\n", True),
        ("cases = lambda seed: [seed]\n", True),
        ("def cases(seed, n=3):\n    return [n]\n", True),
        ("def cases(seed):\n    def inner():\n        return seed\n    return [inner()]\n", True),
    ],
)
def test_cases_that_look_at_the_seed_use_it(cases, reads):
    evaluator = f"{cases}\n\ndef score(cases, results):\n    return {{'combined_score': 1.0}}\n"
    project = apart(evaluator=evaluator)
    assert (chance_in(project, [project.evolving]) == "the evaluator's cases(seed) reads the seed") is reads


def test_a_program_with_a_command_of_its_own_may_draw():
    files = {"evaluator.py": APART, "initial_program.c": "int main(void) { return 0; }\n"}
    toml = '[program]\nbuild = "cc -o p initial_program.c"\nbuilt = ["p"]\nrun = "./p"\n'
    toml += '[evaluator]\nmode = "separate"\n'
    project = made(files | {"project.toml": toml})
    assert "command" in chance_in(project, [project.evolving])
