"""Many instances a jail call: seeds, caps, what JSON carries, and what one source may not learn of
another."""

from dataclasses import replace

import pytest
from families_fixtures import seed_family

from evolake.families.sandbox.driver import PROBES
from evolake.families.sandbox.running import Caps, MeteredPool, generate, read, solve, solve_parts

CLINIC = seed_family("clinic-queue")
CAPS = Caps(cpu_s=0.3, call_s=3.0, memory_mb=256, steps=1000)


def source(body: str, head: str = "") -> str:
    return f"{head}\n\n\ndef solution(inputs):\n    {body}\n"


def made(pool, body: str, head: str = ""):
    family = replace(
        CLINIC,
        generator=f"{head}\n\n\ndef input(difficulty):\n    {body}\n",
        template="Value [Input Slot 1]?\n",
        points=(),
    )
    return generate(family, [(3, 11), (4, 12), (3, 11)], pool=pool, caps=CAPS)


@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        ("return {'n': difficulty}", "form", "wanted (inputs, slot_texts)"),
        ("return {'n': difficulty}, 'text'", "form", "wanted a list of strings"),
        ("return {'n': {1, 2}}, ['x']", "form", "type set"),
        ("return {1: 2}, ['x']", "form", "key of type int"),
        ("return {'n': float('nan')}, ['x']", "form", "not finite"),
        ("return {'n': 10 ** 5000}, ['x']", "form", "digits"),
        ("return 1 / 0, ['x']", "error", "ZeroDivisionError"),
        ("raise SystemExit(0)", "error", "SystemExit"),
        ("open('/etc/passwd', 'w')", "forbidden", "Read-only|PermissionError"),
    ],
)
def test_what_a_generator_does_wrong_is_a_status(pool, body, status, words):
    if status == "forbidden":
        assert {item.status for item in made(pool, body)} <= {"forbidden", "error"}
        return
    assert [(item.status, words in item.reason) for item in made(pool, body)] == [(status, True)] * 3


def test_a_slow_instance_costs_itself_and_many_slow_ones_stop_the_call(pool):
    slow = source("\n    while inputs == 1: pass\n    return inputs")
    assert [item.status for item in solve(slow, [0, 1, 2], pool=pool, caps=CAPS)] == ["ok", "cpu", "ok"]
    assert [item.status for item in solve(slow, [1, 1, 2, 3], pool=pool, caps=CAPS)] == ["cpu"] * 4


def test_work_is_counted_in_source_lines_and_capped(pool):
    loop = source(
        "\n    total = 0\n    for number in range(inputs):\n        total += number\n    return total"
    )
    counted = solve(loop, [1, 10, 100, 10_000], pool=pool, caps=CAPS, count=True)
    assert [(item.status, item.steps) for item in counted] == [
        ("ok", 5),
        ("ok", 23),
        ("ok", 203),
        ("steps", None),
    ]
    assert [item.steps for item in solve(loop, [1, 10, 100, 10_000], pool=pool, caps=CAPS, count=True)] == [
        item.steps for item in counted
    ]
    assert [item.steps for item in solve(loop, [10], pool=pool, caps=CAPS)] == [None]


def test_each_answer_gets_inputs_of_its_own(pool):
    spoiling = source("inputs['list'].append(1)\n    return len(inputs['list'])")
    inputs = {"list": []}
    assert [item.answer for item in solve(spoiling, [inputs, inputs], pool=pool)] == [1, 1]


def test_one_source_cannot_leave_anything_for_the_next(pool):
    leave = source("import random, builtins\n    builtins.secret = random.secret = 42\n    return 1")
    look = source(
        "import random, builtins\n    return [hasattr(builtins, 'secret'), hasattr(random, 'secret'), "
        "'input' in globals()]"
    )
    assert solve(leave, [0], pool=pool)[0].answer == 1
    assert solve(look, [0], pool=pool)[0].answer == [False, False, False]


def test_a_reader_sees_text_and_a_probe_sees_strange_inputs(pool):
    instances = generate(CLINIC, [(5, 1), (7, 2)], pool=pool)
    assert CLINIC.reader is not None
    assert [item.inputs for item in read(CLINIC.reader, [item.text for item in instances], pool=pool)] == [
        item.inputs for item in instances
    ]
    assert [item.status for item in read(CLINIC.reader, ["nothing"], pool=pool)] == ["error"]
    assert {item.status for item in solve(CLINIC.validator, PROBES, pool=pool)} == {"schema_error"}


FORGE = (
    "import evolake.families.sandbox.driver as driver\n    driver.plain = lambda value, **rest: value\n    "
)


@pytest.mark.parametrize("value", ["deep(500)", "float('nan')", "10 ** 4290", "{'a': [float('inf')]}"])
def test_a_candidate_that_takes_over_the_driver_cannot_harm_the_host(pool, value):
    deep = "def deep(n):\n    found = []\n    for _ in range(n): found = [found]\n    return found"
    answers = solve(source(f"{FORGE}return {value}", deep), [0, 1], pool=pool)
    assert [item.status for item in answers] == ["protocol", "protocol"]
    assert {item.status for item in made(pool, f"{FORGE}return {{'n': {value}}}, ['x']", deep)} == {
        "protocol"
    }


def test_a_statement_that_would_fill_the_memory_is_not_written(pool):
    large = "def input(difficulty):\n    return {'n': 1}, ['x' * 1000000]\n"
    family = replace(CLINIC, generator=large, template="[Input Slot 1]" * 10_000, points=())
    assert [(item.status, item.text) for item in generate(family, [(1, 1)], pool=pool)] == [("output", "")]


def test_a_source_that_fails_as_a_whole_fails_for_every_instance(pool):
    for broken, status in (
        ("def solution(", "error"),
        ("x = 1", "error"),
        ("hog = bytearray(8 << 30)\ndef solution(i): return 1", "memory"),
    ):
        assert [item.status for item in solve(broken, [1, 2], pool=pool, caps=CAPS)] == [status] * 2


DOUBLES = source("assert not isinstance(inputs, str); return 2 * inputs if inputs >= 0 else [0] * 10**9")


@pytest.mark.parametrize(
    ("parts", "wanted", "calls"),
    [
        ([[1, 2], ["x"], [], [3]], [["ok", "ok"], ["error"], [], ["ok"]], 1),
        ([[1], [-1], [2]], [["ok"], ["memory"], ["ok"]], 4),
    ],
)
def test_parts_come_to_what_a_call_each_gives_also_when_one_meets_a_limit(pool, parts, wanted, calls):
    metered = MeteredPool(pool)
    done = solve_parts(DOUBLES, parts, pool=metered, caps=CAPS)
    assert [[item.status for item in part] for part in done] == wanted
    assert metered.costs[""]["calls"] == calls
    separate = [solve(DOUBLES, part, pool=pool, caps=CAPS) for part in parts]
    assert [[item.content for item in part] for part in done] == [
        [item.content for item in part] for part in separate
    ]


def test_an_instance_depends_on_family_difficulty_and_seed_alone(pool):
    pairs = [(1, 5), (10, 5), (3, 6)]
    forward, backward = generate(CLINIC, pairs, pool=pool), generate(CLINIC, pairs[::-1], pool=pool)[::-1]
    assert [item.content for item in forward] == [item.content for item in backward]
    assert [item.content for item in generate(CLINIC, pairs[1:2], pool=pool)] == [forward[1].content]
    assert len({item.text for item in forward}) == 3
