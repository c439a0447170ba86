"""Process worlds: every action against a table of its own, three engines against each other, and text against
inputs."""

import random
import re
from itertools import permutations, product
from typing import Any

import numpy as np
import pytest
from worlds_fixtures import ENGINES, TYPES, assert_answered_alike, entries, statements, unbound

from evolake.errors import MachineryError
from evolake.families.model.statement import fill, stated
from evolake.families.worlds.engine import MEANINGS, Rule, engine_in
from evolake.families.worlds.engine_files import FOLDER, some_of
from evolake.families.worlds.process_world import BOARDS, PROCESSES, RUNS, functions, process_world, world_of

CAP, MARKS = 4, 5
WORLDS = range(30)


def state(a: int, b: int, r: int, q: int) -> dict[str, int]:
    return {"a": a, "b": b, "r": r, "q": q}


def capped(number: int) -> int:
    return sorted((0, number, CAP))[1]


def moved(u: dict[str, int], s: str, t: str, k: int) -> dict[str, int]:
    """One unit after another goes over, while there is one and room for it."""
    result = dict(u)
    for _ in range(k):
        if result[s] and result[t] < CAP:
            result |= {s: result[s] - 1, t: result[t] + 1}
    return result


def turned(u: dict[str, int], steps: int) -> dict[str, int]:
    marks = list(range(MARKS))
    return u | {"r": marks[(marks.index(u["r"]) + steps) % MARKS]}


def flipped(u: dict[str, int], yes: bool) -> dict[str, int]:
    return u | {"q": [1, 0][u["q"]]} if yes else u


MEANING: dict[str, Any] = {
    "put": lambda u, s, t, k: u | {s: capped(u[s] + k)},
    "take": lambda u, s, t, k: u | {s: capped(u[s] - k)},
    "move": moved,
    "swap": lambda u, s, t, k: u | {s: u[t], t: u[s]},
    "clear": lambda u, s, t, k: u | {s: 0},
    "fill": lambda u, s, t, k: u | {s: CAP},
    "double": lambda u, s, t, k: u | {s: capped(2 * u[s])},
    "halve": lambda u, s, t, k: u | {s: [0, 1, 1, 2, 2][u[s]]},
    "shift": lambda u, s, t, k: u | {s: u[s] - 1, t: u[t] + 1} if u[s] > u[t] else u,
    "advance": lambda u, s, t, k: turned(u, k),
    "back": lambda u, s, t, k: turned(u, -k),
    "follow": lambda u, s, t, k: turned(u, u[s]),
    "flip": lambda u, s, t, k: flipped(u, True),
    "flip_empty": lambda u, s, t, k: flipped(u, u[s] == 0),
    "flip_more": lambda u, s, t, k: flipped(u, u[s] > u[t]),
    "flip_even": lambda u, s, t, k: flipped(u, u["r"] + 1 in {2, 4}),
    "add_if": lambda u, s, t, k: u | {s: capped(u[s] + k)} if u["q"] == 1 else u,
    "lose_if": lambda u, s, t, k: u | {s: capped(u[s] - k)} if u["r"] + 1 in {2, 4} else u,
}
"""Action -> what its sentence says: the state after it, of the state before. Mark n is r + 1."""
STATES = [state(*values) for values in product(range(CAP + 1), range(CAP + 1), range(MARKS), range(2))]


def engines(bound: Rule) -> tuple[Any, Any, Any]:
    space: dict[str, Any] = {"np": np}
    result = []
    for meaning in MEANINGS:
        exec(functions(RUNS, {"one": [bound]}, meaning), space)
        result.append(space[bound.name])
    return result[0], result[1], result[2]


@pytest.mark.parametrize("name", sorted(MEANING))
def test_an_action_means_in_every_engine_what_its_sentence_says(name):
    ones = [action for action in RUNS.alternatives if action.kind == name]
    assert ones
    sizes = state(CAP + 1, CAP + 1, MARKS, 2)
    for item in ones[:4] + ones[-1:]:
        run, table, relation = engines(item)
        wanted = [MEANING[name](dict(u), *(item.stores or "ab"), item.amount) for u in STATES]
        z = {key: np.array([u[key] for u in STATES]) for key in sizes}
        columns = z | table(z, CAP, MARKS)
        assert [state(*map(int, row)) for row in zip(*columns.values(), strict=True)] == wanted
        for u, after in zip(STATES, wanted, strict=True):
            w = dict(u)
            run(w, CAP, MARKS)
            assert w == after
            allowed = [
                dict(zip(item.writes, values, strict=True))
                for values in product(*(range(sizes[key]) for key in item.writes))
            ]
            assert [v for v in allowed if relation(u, v, CAP, MARKS)] == [
                {key: after[key] for key in item.writes}
            ]
            assert all(after[key] == u[key] for key in sizes if key not in item.writes)
        assert any(u != after for u, after in zip(STATES, wanted, strict=True))


def test_there_is_a_meaning_of_every_action():
    assert {action.kind for action in RUNS.alternatives} == set(MEANING)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('["wall_stay", "standing still at walls",', '["wall_stay",', "row 'wall_stay'"),
        ("{ amounts = [1, 2] }", "{ amount = [1, 2] }", "row 'wall_skip'"),
        ('"robot", "crate", ', '"robot", ', "theme 'A robot in a warehouse' of 7 words"),
        ("<opening> Its rows", "<beginning> Its rows", "a theme without the word 'beginning'"),
        ('"A robot in a warehouse", "spatial"', '"A robot in a warehouse", "outside"', "category 'outside'"),
        (
            "homes = 'kinds[\"@\"]' }",
            "homes = 'kinds[\"@\"]' }\nstart = 1",
            "unexpected keyword argument 'start'",
        ),
        ("## first: clauses", "## first", "`## first` without a name"),
    ],
)
def test_a_file_of_an_engine_that_lacks_something_is_named_with_what_it_lacks(old, new, told):
    text = (FOLDER / "boards.md").read_text()
    assert old in text and engine_in(text, "boards").name == "boards"
    with pytest.raises(MachineryError, match=re.escape(told)) as caught:
        engine_in(text.replace(old, new, 1), "boards")
    assert "boards.md" in str(caught.value)


@pytest.mark.parametrize("process", PROCESSES.values(), ids=lambda process: process.name)
def test_there_are_enough_rules_and_questions_and_no_text_holds_another(process):
    assert len({item.kind for item in process.alternatives}) >= 15
    assert len(process.questions) >= 8 and len(process.themes) >= 5
    for theme in process.themes:
        texts = [process.says(item, theme) for item in process.alternatives]
        assert len(set(texts)) == len(texts)
        assert [pair for pair in permutations(texts, 2) if pair[0] in pair[1]] == []


@pytest.mark.slow
def test_three_engines_agree_on_drawn_runs_and_the_reader_finds_the_inputs_again():
    instances, kinds = 0, set()
    for number in WORLDS:
        family = process_world(np.random.default_rng(number))
        kinds.add(family.points[0].name)
        made = entries(family)
        for difficulty, seed in ((1, 1), (3, 2), (4, 3), (5, 4), (6, 5), (8, 6), (10, 7)):
            random.seed(seed)
            inputs, texts = made["generator.py"](difficulty)
            answers = [made[name](inputs) for name in ENGINES]
            assert answers == [answers[0]] * 3, (family.title, inputs, answers)
            assert {type(answer) for answer in answers} == {TYPES[family.answer.type]}
            assert made["reader.py"](fill(stated(family), texts)) == inputs
            instances += 1
    assert instances >= 200
    assert kinds == {"one", "next", "wall"}, "flows, queues and boards"


@pytest.mark.parametrize(
    ("process", "question"),
    [
        pytest.param(process, question, id=f"{name} {question.name}")
        for name, process in PROCESSES.items()
        for question in process.questions
    ],
)
def test_every_question_is_answered_alike_by_three_engines_and_a_fourth_program(process, question):
    numbers = np.random.default_rng(len(question.name))
    for place, theme in enumerate(process.themes):
        rules = {point: some_of(numbers, alike) for point, alike in process.rules.items()}
        made = entries(family := world_of(process, theme, rules, question, "b"))
        for level in (1, 4, 7, 10)[place % 4 :]:
            assert_answered_alike(family, made, level, place)


def test_an_observer_sees_only_what_is_there_while_it_looks():
    """Worked out by hand: bells put 2 beads into the red jar, drums change the lamp, whistles clear the red
    jar."""
    rules = {
        "one": _bound("put_a_2", "put_b_1"),
        "two": _bound("flip", "flip_empty_b"),
        "three": _bound("clear_a", "fill_a"),
    }
    inputs = {"cap": 5, "start": {"a": 1, "b": 0, "q": 0}, "events": [0, 1, 0, 1, 2, 1, 1, 1], "ask": {}}
    wanted = {
        "seen": [3, 5, 0, 0],
        "distinct": {"3": 2, "5": 2, "0": 4},
        "when": [3, 4],
        "changes": [2, 4, 6, 7, 8],
        "course": "UEUEDEEE",
        "idle": [2, 4, 6, 7, 8],
        "end": [0, 0],
        "ledger": 16,
    }
    for question in RUNS.questions:
        if question.name in wanted:
            made = entries(world_of(RUNS, RUNS.themes[0], rules, question, "a"))
            asked = {**inputs, "ask": {"level": 5} if question.key else {}}
            answers = [
                made[name](asked) for name in ("validator.py", "validators/clauses.py", "validators/table.py")
            ]
            assert answers == [wanted[question.name]] * 3, question.name


def _bound(*keys: str) -> list[Rule]:
    known = {action.name: action for action in RUNS.alternatives}
    return [known[key] for key in keys]


@pytest.mark.parametrize("process", PROCESSES.values(), ids=lambda process: process.name)
def test_no_program_uses_a_name_that_nothing_binds(process):
    few = {point: alike[:2] for point, alike in process.rules.items()}
    for question in process.questions:
        rules = few if question is not process.questions[0] else process.rules
        family = world_of(process, process.themes[0], rules, question)
        for name, source in family.sources().items():
            assert unbound(source) == set(), (question.name, name)


def test_a_relation_that_leaves_two_outcomes_is_no_engine():
    """What clauses allow must be one run: a looser relation raises instead of choosing one."""
    family = process_world(np.random.default_rng(0))
    make = entries(family)["generator.py"]
    random.seed(1)
    inputs, _ = make(3)
    source = family.validators["clauses"]
    first = source.index("    return ", source.index("(u, v, cap, m)"))
    space: dict[str, Any] = {}
    exec(source[:first] + "    return True" + source[source.index("\n", first) :], space)
    used = {**inputs, "events": [0, 1, 2]}
    with pytest.raises(ValueError, match="too many values"):
        space["solution"](used)


@pytest.mark.parametrize("process", PROCESSES.values(), ids=lambda process: process.name)
def test_a_statement_without_a_line_or_out_of_order_is_not_read(process):
    rules = {point: alike[:2] for point, alike in process.rules.items()}
    family = world_of(process, process.themes[0], rules, process.questions[0])
    read, text = entries(family)["reader.py"], statements(family, [(5, 1)])[0]
    lines = [line for line in text.split("\n") if line.startswith("- ")]
    assert read(text)
    for changed in (
        text + " Why?",
        text.replace(lines[0] + "\n", ""),
        text.replace(lines[-1] + "\n", ""),
        text.replace(lines[-1], lines[-1][:-1] + " twice."),
        text.replace(f"{lines[0]}\n{lines[1]}", f"{lines[1]}\n{lines[0]}"),
    ):
        assert changed != text
        with pytest.raises(ValueError, match="not a statement|not in order|not a board"):
            read(changed)


def test_a_board_has_one_who_moves():
    rules = {point: alike[:2] for point, alike in BOARDS.rules.items()}
    family = world_of(BOARDS, BOARDS.themes[0], rules, BOARDS.questions[0])
    read, text = entries(family)["reader.py"], statements(family, [(5, 1)])[0]
    for changed in (re.sub("(- Row 2: .*?), ", r"\1, robot, ", text), text.replace(", rack", "", 1)):
        assert changed != text
        with pytest.raises(ValueError, match="not a board"):
            read(changed)
