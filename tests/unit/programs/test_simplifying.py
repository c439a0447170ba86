"""Shorter versions of a program, and when one may be shown in a champion's place."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from programs_fixtures import PROGRAM, imports

from evolake.programs.evolution.champion_simplifying import compared, losses
from evolake.programs.model.program_text import outside_change, parse
from evolake.programs.search import simplifying
from evolake.programs.search.simplifying import block_characters, shortest

VERSIONS = (
    simplifying.collected,
    simplifying.without_statements,
    simplifying.without_operations,
    simplifying.with_short_numbers,
)
RULE = """def rule(due, setup):
    return due + (0.0 - setup) - 0.405408636 * due + 0.116778324 * due
"""


def value_of(text: str, function: str, *given: float) -> float | None:
    """What a function of a text returns; None if it does not."""
    space: dict = {}
    try:
        exec(text, space)
        return space[function](*given)
    except Exception:
        return None


def simplest(text: str, function: str, cases: list[tuple], close: float = 1e-9) -> str:
    """The shortest version that returns the same for all cases."""
    wanted = [value_of(text, function, *case) for case in cases]

    def holds(texts) -> bool:
        got = [value_of(texts["p.py"], function, *case) for case in cases]
        return all(
            one is not None and abs(one - other) <= close for one, other in zip(got, wanted, strict=True)
        )

    found = shortest({"p.py": text}, holds, lambda: False)
    assert found.complete
    return found.texts["p.py"]


def test_terms_of_a_sum_are_collected_and_constants_folded():
    cases = [(3.0, 5.0), (1.5, 0.25), (-7.0, 2.0)]
    assert simplest(RULE, "rule", cases) == "def rule(due, setup):\n    return 0.711369688 * due - setup\n"
    coarse = simplest(RULE, "rule", cases, close=0.02)
    assert coarse == "def rule(due, setup):\n    return 0.71 * due - setup\n"


def test_what_does_not_matter_is_dropped_and_what_does_stays():
    text = """def price(x):
    \"\"\"Return a price.\"\"\"
    # of no use
    unused = [item * 2 for item in range(3)]
    total = abs(x) + 0.0  # the sum
    if total > -1:
        total = total * 2
    else:
        total = 5
    return max((total), 0.0)
"""
    assert (
        simplest(text, "price", [(3.0,), (-2.0,), (0.5,)])
        == """def price(x):
    \"\"\"Return a price.\"\"\"
    total = abs(x)  # the sum
    total = total * 2
    return total
"""
    )


def test_nothing_outside_of_the_blocks_changes_and_lines_keep_their_ends():
    found = shortest({"p.py": PROGRAM.replace("\n", "\r\n")}, lambda _: True, lambda: False)
    assert outside_change(PROGRAM.replace("\n", "\r\n"), found.texts["p.py"], "p.py") == ""
    assert "\n" not in found.texts["p.py"].replace("\r\n", "")


def test_parts_of_strings_with_holes_and_of_broken_or_other_files_are_left_alone():
    texts = {
        "p.py": "def f(x):\n    return f'{x + 0} {1 * x}'\n",
        "q.py": "def g(:\n",
        "k.c": "int a = 1.250;",
    }
    assert [list(versions(texts)) for versions in VERSIONS] == [[], [], [], []]
    marked = {"k.c": "float a = 1.2500001; // EVOLVE-PARAM 0 2"}
    found = shortest(marked, lambda texts: True, lambda: False)
    assert found.texts == {"k.c": "float a = 1.3; // EVOLVE-PARAM 0 2"}


def test_it_ends_when_its_time_is_over_and_says_so():
    asked: list[dict] = []
    found = shortest({"p.py": RULE}, lambda texts: bool(asked.append(dict(texts))), lambda: len(asked) == 3)
    assert (found.texts, found.trials, found.complete) == ({"p.py": RULE}, 3, False)
    assert len({text["p.py"] for text in asked}) == 3


NUMBER = st.one_of(st.integers(0, 9).map(str), st.floats(0.01, 99).map(lambda x: repr(round(x, 6))))
TERM = st.recursive(
    st.one_of(NUMBER, st.sampled_from(["x", "y"])),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from("+-*"), inner).map(lambda t: f"({t[0]} {t[1]} {t[2]})"),
        inner.map(lambda t: f"-{t}" if not t.startswith("-") else t),
        inner.map(lambda t: f"abs({t})"),
    ),
    max_leaves=8,
)


@settings(max_examples=60, deadline=None)
@given(TERM, TERM)
def test_every_version_is_python_and_sums_keep_their_value(first, second):
    text = f"def f(x, y):\n    z = {first}\n    return z - {second}\n"
    for versions in VERSIONS:
        for version in versions({"p.py": text}):
            parse(version["p.py"])
    for version in simplifying.collected({"p.py": text}):
        before, after = (value_of(one, "f", 1.25, -0.5) for one in (text, version["p.py"]))
        assert before is not None and after == pytest.approx(before, rel=1e-9, abs=1e-6)


@settings(max_examples=25, deadline=None)
@given(TERM)
def test_the_shortest_version_gives_the_same_and_has_nothing_shorter_left(term):
    text = f"def f(x, y):\n    return {term}\n"
    cases = [(1.25, -0.5), (3.0, 7.0)]
    once = simplest(text, "f", cases)
    assert block_characters({"p.py": once}) <= block_characters({"p.py": text})
    assert simplest(once, "f", cases) == once


def rows(*scores: float | None) -> list[dict]:
    return [
        {"score": score, "metrics": json.dumps({"size": 3.0, "combined_score": score})} for score in scores
    ]


def verdict(own: list[dict], champion: list[dict], noise: float = 0.0, project=None):
    return compared(project or imports(), own, champion, noise, np.random.default_rng(0))


def test_a_version_that_loses_beyond_the_noise_is_not_shown():
    champion = rows(*(1.0 + seed / 10 for seed in range(8)))
    assert verdict(champion, champion).holds
    less = rows(*(0.99 + seed / 10 for seed in range(8)))
    assert not verdict(less, champion).holds and not verdict(less, champion, 0.005).holds
    uneven = rows(*(1.0 + seed / 10 + (0.02 if seed % 2 else -0.03) for seed in range(8)))
    assert not verdict(uneven, champion).holds and verdict(uneven, champion, 0.01).holds
    assert not verdict(less, champion, 0.02).holds, "each seed says that it is worse"
    assert verdict(rows(0.1 + 0.2), rows(0.3)).holds and verdict(rows(0.3), rows(0.1 + 0.2)).holds
    broken = verdict(rows(1.0, None), rows(1.0, 1.0))
    assert (broken.holds, broken.reason) == (False, "it fails under a held-out seed")
    assert not verdict(rows(1.0), rows(None)).holds


def test_of_several_metrics_none_may_become_worse():
    project = imports(
        project__toml='[evaluator]\nmode = "imports"\n[metrics]\ncombined_score = "max"\nsize = "min"\n'
    )
    champion = rows(1.0, 1.0)
    larger = [row | {"metrics": json.dumps({"size": 4.0, "combined_score": 1.0})} for row in champion]
    assert losses(project, larger, champion, 0.5) == ["size"] and losses(project, champion, larger, 0.0) == []
    assert verdict(larger, champion, 0.5, project).reason == "worse under held-out seeds in size"
