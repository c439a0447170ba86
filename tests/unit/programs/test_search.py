"""Operators change what stands inside the blocks and nothing else, and what they write parses."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evolake.programs.model.program_text import BadBlocks, cut, outside_change, parameters_in, parse
from evolake.programs.roles import Edit, Measured, WriterReply, WriterRequest, applied, write
from evolake.programs.search.proposing import OPERATORS, Background, child_of, crossed
from evolake.programs.search.steps import step_few
from evolake.programs.search.structure import MUTATIONS
from evolake.programs.search.trials import Trial, Trials

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


@pytest.mark.parametrize("name", MUTATIONS)
@settings(max_examples=12)
@given(seed=seeds)
def test_a_mutation_stays_inside_the_blocks_and_parses(name, seed):
    text = MUTATIONS[name](RICH, cut(RICH).spans(), random(seed))
    assert text is not None
    assert outside_change(RICH, text or RICH) == ""
    assert text is None or parse(text)


@settings(max_examples=25)
@given(seed=seeds)
def test_a_child_by_any_operator_differs_parses_and_stays_inside(seed):
    known = [Trial({"p.py": RICH.replace("0.5", f"0.{digit}")}, digit / 10) for digit in (1, 3, 4, 6, 7, 9)]
    around = Background(Trials(known), None, known[0].texts)
    child = child_of(Trial({"p.py": RICH}, 0.5), around, random(seed))
    assert child is not None and child.operator in OPERATORS
    assert child.texts["p.py"] != RICH and parse(child.texts["p.py"])
    assert outside_change(RICH, child.texts["p.py"]) == ""


@settings(max_examples=25)
@given(seed=seeds)
def test_marked_numbers_stay_in_their_bounds_and_unmarked_ones_as_they_are(seed):
    text = (step_few(Trials([Trial({"k.c": KERNEL}, 1.0)]), 0, random(seed)) or {})["k.c"]
    block, share = (parameter.value for parameter in parameters_in(text))
    assert 1 <= block <= 256 and block == int(block) and 0.1 <= share <= 0.9
    assert "int x = 3;" in text and "π" in text


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
def test_a_text_that_is_cut_is_whole_again(lines):
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
        ("string", 'def f():\n    """One of "mean" and "median"."""\n    return "mean"\n', "return 'median'"),
        ("term", "def f(mass, speed):\n    return mass + speed\n", "mass + (speed * speed)"),
        ("flip", "def f(due, setup):\n    return due + setup\n", "return -(due + setup)"),
        ("flip", "def f(due):\n    return -due\n", "return (due)"),
        ("flip", "def f(v):\n    v.sort(key=lambda job: job.due)\n", "key=lambda job: -(job.due)"),
        ("flip", "def f(v):\n    return sorted(v, key=len)\n", "sorted(v, key=len, reverse=True)"),
        ("flip", "def f(v):\n    v.sort(reverse=True)\n", "v.sort(reverse=False)"),
        ("operator", "def f(x, y):\n    return x + 3 * y\n", "return x"),
        ("shape", "def f(x):\n    return 1 + x\n", "max(1 + x, 0.0)"),
    ],
)
def test_a_mutation_writes_what_a_programmer_would(name, before, wanted):
    made = [MUTATIONS[name](before, cut(before).spans(), random(seed)) for seed in range(400)]
    assert any(text is not None and wanted in text for text in made)
    assert all(parse(text) for text in made if text is not None)
