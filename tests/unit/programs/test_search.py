"""Operators change what stands inside the blocks and nothing else, and what they write parses."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from programs_fixtures import PROGRAM

from evolake.programs.model.blocks import BadBlocks, cut, outside_change
from evolake.programs.model.parameters import parameters_in
from evolake.programs.model.source import parse
from evolake.programs.roles.writer import Edit, Measured, WriterReply, WriterRequest, applied, write
from evolake.programs.search.crossover import crossed
from evolake.programs.search.idioms import IDIOMS
from evolake.programs.search.numbers import (
    Relative,
    along_difference,
    numbers_in,
    skeleton,
    step_all,
    step_one,
)
from evolake.programs.search.proposing import OPERATORS, STRUCTURAL, Background, child_of
from evolake.programs.search.trials import Trials

RICH = """import math

# EVOLVE-BLOCK-START
def first(values, n):
    total = 0.5  # kept
    for i in range(n):
        if i < 3 and values[i] > -1.25:
            total = total + values[i] * 2 - 1
    for j in range(10):
        total = max(total, j)
    for value in values:
        total = total + (value if MODE == "plain" else 0)
    return math.pow(total, 2)


MODE = "plain"
OTHER = "squared"


def draw(rng):
    best = 0.0
    for _ in range(5):
        x = rng.uniform(0, 1)
        if x > best:
            best = x
    return best


def second(x, y):
    low = min(x, y)
    high = max(y, x)
    return first([low, high, 3.0, 4.0], 4) / 7
# EVOLVE-BLOCK-END

CHECK = first([1, 2, 3], 3) == 9 or 1 < 2
"""
KERNEL = (
    "/* π */\n#define BLOCK 8 /* EVOLVE-PARAM 1 256 int log */\nint x = 3;\ndouble y = 0.5; // "
    "EVOLVE-PARAM 0.1 0.9\n"
)
seeds = st.integers(0, 2**32)


def random(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


@pytest.mark.parametrize("name", STRUCTURAL)
@settings(max_examples=12)
@given(seed=seeds)
def test_a_mutation_stays_inside_the_blocks_and_parses(name: str, seed: int):
    text = STRUCTURAL[name](RICH, cut(RICH).spans(), random(seed))
    assert text is not None
    assert outside_change(RICH, text or RICH) == ""
    assert text is None or parse(text)


@settings(max_examples=25)
@given(seed=seeds)
def test_a_child_by_any_operator_differs_parses_and_stays_inside(seed: int):
    relatives = [
        Relative({"p.py": RICH.replace("0.5", f"0.{digit}")}, digit / 10) for digit in (1, 3, 4, 6, 7, 9)
    ]
    child = child_of(
        Relative({"p.py": RICH}, 0.5),
        Background(Trials(()), None, relatives[0].texts, relatives),
        random(seed),
    )
    assert child is not None and child.operator in OPERATORS
    assert child.texts["p.py"] != RICH and parse(child.texts["p.py"])
    assert outside_change(RICH, child.texts["p.py"]) == ""


@settings(max_examples=25)
@given(seed=seeds)
def test_marked_numbers_stay_in_their_bounds_and_unmarked_ones_as_they_are(seed: int):
    for step in (step_one, step_all):
        text = (step({"k.c": KERNEL}, random(seed)) or {"k.c": KERNEL})["k.c"]
        block, share = (parameter.value for parameter in parameters_in(text))
        assert 1 <= block <= 256 and block == int(block) and 0.1 <= share <= 0.9
        assert "int x = 3;" in text and "π" in text


def test_the_difference_of_two_relatives_is_a_step_and_strangers_are_none():
    own, near, far = ({"p.py": PROGRAM.replace("2.0", text)} for text in ("2.0", "2.5", "3.5"))
    moved = next(filter(None, (along_difference(own, [near, far], random(seed)) for seed in range(9))))
    (value,) = [number.value for number in numbers_in(moved)][:1]
    assert 0.3 <= abs(value - 2.0) <= 1.2
    assert along_difference(own, [near], random(1)) is None
    assert along_difference(own, [near, {"p.py": RICH}], random(1)) is None
    assert skeleton(own) == skeleton(far) != skeleton({"p.py": RICH}) and skeleton({"p.py": "def ("}) == ""


def test_crossover_takes_a_function_of_the_same_name():
    other = RICH.replace("low = min(x, y)", "low = 0.25 * x")
    assert crossed({"p.py": RICH}, {"p.py": other}, random(0)) == {"p.py": other}
    assert crossed({"p.py": RICH}, {"p.py": RICH}, random(0)) is None


@given(
    st.lists(
        st.sampled_from(["x = 1\n", "# EVOLVE-BLOCK-START\n", "# EVOLVE-BLOCK-END\n", "é\r\n", "y"]),
        max_size=12,
    )
)
def test_a_text_that_is_cut_is_whole_again(lines: list[str]):
    text = "".join(lines)
    try:
        result = cut(text)
    except BadBlocks:
        return
    assert result.text() == text
    assert [text[start:end] for start, end in result.spans()] == list(result.blocks)


def test_a_change_outside_of_the_blocks_is_told():
    assert "after the last block" in outside_change(RICH, RICH.replace("CHECK", "CHECKED"))
    assert "before block 1" in outside_change(RICH, "import os\n" + RICH)
    assert "has no EVOLVE-BLOCK-END" in outside_change(RICH, RICH.replace("# EVOLVE-BLOCK-END\n", ""))
    assert "blocks" in outside_change(RICH, RICH + "# EVOLVE-BLOCK-START\n# EVOLVE-BLOCK-END\n")


def test_the_writer_s_reply_is_applied_or_says_why_not():
    texts = {"a.py": "x = 1\ny = 1\n"}
    assert applied(WriterReply(edits=[Edit(file="a.py", search="x = 1", replace="x = 2")]), texts) == {
        "a.py": "x = 2\ny = 1\n"
    }
    assert applied(WriterReply(whole={"a.py": "z"}), texts) == {"a.py": "z"}
    assert applied(WriterReply(edits=[Edit(file="a.py", search="= 1", replace="")]), texts) == (
        "edit 1: `search` is 2 times in a.py, wanted once: at lines 1, 2; take more of the lines around it"
    )
    assert applied(WriterReply(whole={"b.py": "z"}), texts) == "there is no file 'b.py' that evolves"
    request = WriterRequest(project="p", goal="g", parent=Measured(score=math.pi, files={"p.py": RICH}))
    assert set(write(request, random(3)).whole) == {"p.py"}
    assert (
        write(
            request.model_copy(update={"parent": Measured(score=1, files={"p.txt": "no numbers"})}), random(3)
        ).operator
        == "nothing"
    )


@pytest.mark.parametrize(
    ("name", "before", "wanted"),
    [
        (
            "repeat",
            "def f(a):\n    x = 0.5 * a\n    x = x - (x * x - a) / x\n    return x\n",
            "    for _ in range(20):\n        x = x - (x * x - a) / x\n    return x",
        ),
        (
            "early_exit",
            "def f(v, a):\n    found = 0\n    for x in v:\n        if x == a:\n            found = 1\n    "
            "return found\n",
            "= 1\n            break\n",
        ),
        (
            "iterable",
            "def f(items):\n    for item in items:\n        use(item)\n",
            "in sorted(items, reverse=True):",
        ),
        ("function", "def f(v):\n    return min(v)\n", "max(v)"),
        ("string", 'def f():\n    """One of "mean" and "median"."""\n    return "mean"\n', "return 'median'"),
        ("term", "def f(mass, speed):\n    return mass + speed\n", "mass + (speed * speed)"),
        ("shape", "def f(x):\n    return 1 + x\n", "max(1 + x, 0.0)"),
        (
            "prepared",
            "def f(items, n):\n    return n in items\n",
            "    items = set(items)\n    return n in items",
        ),
        (
            "prepared",
            "def f(n):\n    return f(n - 1) if n else 0\n",
            "import functools\n\n\n@functools.lru_cache(maxsize=None)\ndef f(n):",
        ),
        (
            "around_best",
            "def f(rng, n):\n    best = 0.0\n    for _ in range(n):\n        x = rng.uniform(0, 1)\n"
            "        if x > best:\n"
            "            best = x\n",
            "x = (best + rng.gauss(0.0, 0.3))",
        ),
        (
            "around_best",
            "def f(rng, n):\n    best = [0]\n    for _ in range(n):\n        x = [rng.uniform(0, 1)]\n"
            "        if g(x):\n"
            "            best = x\n",
            "x = [part + rng.gauss(0.0, 0.3) for part in best]",
        ),
    ],
)
def test_an_idiom_writes_what_a_programmer_would(name: str, before: str, wanted: str):
    made = [IDIOMS[name](before, cut(before).spans(), random(seed)) for seed in range(400)]
    assert any(text is not None and wanted in text for text in made)
    assert all(parse(text) for text in made if text is not None)
