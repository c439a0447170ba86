"""The forms that a reply may give its answer: docs/answers.md row by row, here and in the exported file; no
form makes a wrong value right."""

import json
import re
import time
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import pytest
from families_neighbours import in_forms, wrong_replies
from hypothesis import example, given, settings
from hypothesis import strategies as st

from evolake.answers.forms import MAX_FORM, asked_units, read_date
from evolake.answers.matching import answers, equivalent, matches
from evolake.answers.mathematics import LONGEST_MATHEMATICS, closed_value, mathematics
from evolake.answers.units import LONGEST_UNIT, known_unit, unit_name
from evolake.answers.values import answer_value
from evolake.families.dataset.exports import reward_source
from evolake.families.gates.consensus import accepted_wrongly, wrong_answers
from evolake.prompts.model.protocol import Problem
from evolake.prompts.model.scoring import judge_reply

PAGE = Path(__file__).parents[3] / "docs" / "answers.md"
ROW = re.compile(
    r"\| (?P<what>[^|]+) \| `(?P<reply>[^|]+)` \| `(?P<label>[^|]+)` \| (?P<question>[^|]*)\| "
    r"(?P<counts>yes|no) \| (?P<last>yes|no) \|$"
)
ROWS = [
    match.groupdict() for line in PAGE.read_text(encoding="utf-8").splitlines() if (match := ROW.match(line))
]
MINUTES = "How many minutes does it take?"
FORMS = [
    "{}",
    "{}.",
    "x = {}",
    "{} minutes",
    "time = {} minutes.",
    "${}$",
    r"\text{{{}}}",
    r"{}\text{{ minutes}}",
]


@pytest.fixture(scope="module")
def exported() -> dict:
    namespace: dict = {"__name__": "reward"}
    exec(compile(reward_source(), "reward.py", "exec"), namespace)
    return namespace


def test_every_row_of_the_page_is_read():
    table = PAGE.read_text(encoding="utf-8").split("\n## ")[0]
    assert len(ROWS) == sum(line.startswith("|") for line in table.splitlines()) - 2 >= 95
    assert [row["reply"] for row in ROWS if row["counts"] != row["last"]] == [
        "x = y = 20",
        "12_{8}",
        "5",
        "-1 < x < 3",
        "x = 3,\\ y = -2",
        "x = 3, y = -2",
        "Yes, it does",
        "(D) seven",
        "{E}: the whale",
    ]


def test_the_page_says_what_counts_here_and_in_the_exported_file(exported):
    for row in ROWS:
        reply, units, wanted = (
            "\\boxed{" + row["reply"] + "}",
            asked_units(row["question"]),
            row["counts"] == "yes",
        )
        assert matches(reply, json.loads(row["label"]), units=units) is wanted, row
        assert exported["reward"]([reply], [row["label"]], units=[units]) == [float(wanted)], row
        assert exported["compute_score"]("s", reply, row["label"], {"units": units}) == float(wanted), row


@pytest.mark.parametrize(
    ("reply", "wanted"),
    [
        ("<think>so \\boxed{42}</think> I do not know.", 0.0),
        ("<think>it may be \\boxed{42}", 0.0),
        ("the box \\boxed{42} is right</think> Well.", 0.0),
        ("<think>\\boxed{41}</think> It is \\boxed{42}", 1.0),
        ("<thinking>\\boxed{42}</thinking>", 0.0),
        ("\\boxed{42}", 1.0),
        ("<think>one</think> \\boxed{42} <think>or \\boxed{41}</think>", 0.0),
    ],
)
def test_a_box_inside_thinking_earns_nothing(exported, reply, wanted):
    assert (float(matches(reply, 42)), *exported["reward"]([reply], ["42"])) == (wanted, wanted)


@pytest.mark.parametrize(
    ("reply", "label", "question", "wanted"),
    [
        ("\\$18", 18, "How many dollars does it cost?", True),
        ("\\$18", 18, "How many euros does it cost?", False),
        ("\\$19", 18, "How many dollars does it cost?", False),
        ("EUR 18", "18 EUR", "", True),
        ("18 USD", "18 EUR", "", False),
        ("x = 3, x = 3", [3, 3], "", False),
        ("x = 3, y = -2", {"x": -2, "y": 3}, "", False),
        ("x = 3, y = -2, z = 1", [3, -2], "", False),
        ("a = 1 and b = 2", {"a": 1, "b": 2}, "", True),
        ("\\color{red}42", 42, "", True),
        ("\\color{red}{\\frac{1}{2}}", 0.5, "", True),
        ("Yes, it does", "Yes", "", True),
        ("Yes, it does not", "Yes", "", False),
        ("Yes, it does", "no", "", False),
    ],
)
def test_marks_and_names_count_if_they_do_not_contradict(exported, reply, label, question, wanted):
    box, units = f"\\boxed{{{reply}}}", asked_units(question)
    assert matches(box, label, units=units) is wanted
    assert exported["reward"]([box], [json.dumps(label)], units=[units]) == [float(wanted)]


SAME_AND_OTHER: list[tuple[object, str, str]] = [
    (
        "E",
        r"(E) the whale | E: the whale | E. the whale | \textbf{(E)}\ 7 | Option E: a whale | `E` | Ｅ",
        "D: the whale | (E) and (D) | (D) the whale | E, D | (E) or (F) | E and D | whale | (E)(F) | E: F",
    ),
    ("D", r"(D) seven | (D) 7 | D: 7 cm | (D) $7$", "(A) D | (E) seven | D - 7 | (d) seven"),
    (
        0.0472,
        r"472/10,000 | \frac{472}{10{,}000} | \frac{472}{10,000} | 59/1250",
        "472/1,000 | 472/10,00 | 472/100,00",
    ),
    (1234.5, "1,234.5 | 1{,}234.5 | １，２３４．５ | 1 234.5", "1,234,5 | 12,34.5 | 1234,5"),
    (
        42,
        r"４２ | `42` | ```42``` | **`42`** | `**42**` | \texttt{42} | ｘ＝４２ | ＋４２ | ４２．０",
        "４３ | `43` | -４２ | ４ ２",
    ),
    ([1, 2], "`[1, 2]` | ［１，２］ | １，２ | `1, 2`", "［２，１］ | `[1]`"),
    (
        "14:05",
        "2:05 pm | 2:05 PM | 2:05 p.m. | 02:05 pm | 14:05:00 | 2.05 pm | ２：０５ pm | `14:05`",
        "2:05 | 2:05 am | 14:06 | 14:05:30 | 14.05 | 12:05 pm",
    ),
    (
        "2:05 pm",
        "14:05 | 2:05 PM | 2:05pm | 2:05 p.m. | 02:05 PM | 14:05:00",
        "2:05 | 2:05 am | 02:05 | 14:50",
    ),
    ("9:00", "09:00 | 9:00 am | 9 am | 9 a.m.", "9:00 pm | 21:00 | 9 | 9 pm"),
    ("noon", "12:00 | 12 pm | 12:00 pm | Noon", "12 am | midnight | 0:00 | 12"),
    ("12:00 am", "0:00 | 00:00 | midnight", "12:00 | noon"),
    (
        "(2,5)",
        r"2,5 | 2, 5 | (2, 5) | \left(2,5\right) | (２，５)",
        r"\{2,5\} | {2,5} | 5,2 | [2,5] | 2.5 | 25",
    ),
    (r"\{2,5\}", r"\{2, 5\} | {2,5} | \{5,2\}", r"(2,5) | \{2\} | \{2,2,5\} | \{5,5\} | \{2,5,7\}"),
    (r"\{\{1,2\},\{3\}\}", r"\{\{3\},\{1,2\}\}", r"\{\{1\},\{2,3\}\}"),
    (r"\{(1,2),(3,4)\}", r"\{(3,4),(1,2)\}", r"\{(2,1),(3,4)\} | \{(1,2),(1,2)\}"),
    (r"\{a, \frac12\}", r"\{\frac{1}{2}, a\}", r"\{a, \frac13\}"),
    ("(-1,3)", r"x\in(-1,3) | x \in (-1, 3) | x ∈ (-1,3)", r"x\in[-1,3] | (-1,4) | [-1,3] | x \notin (-1,3)"),
    ("nan", "", "nan | NaN | NAN | -nan"),
    (float("nan"), "", "nan | NaN | 0"),
    ([1, float("nan")], "", "[1, nan] | 1, nan"),
    ("Nan", "Nan", "nan"),
    ({"x": 3, "y": -2}, "x = 3, y = -2 | y=-2 and x=3 | `{x: 3, y: -2}` | x: ３, y: －２", "x=-2, y=3 | x=3"),
    (r"28\%", r"28 pct | 28% | 28 percent | 28 per cent | ２８％", "28 | 0.28 | 28 cents"),
]


@pytest.mark.parametrize(("label", "same", "other"), SAME_AND_OTHER, ids=lambda item: str(item)[:20])
def test_more_forms_are_the_same_answer_and_their_neighbours_are_not(exported, label, same, other):
    for counts, replies in ((True, same), (False, other)):
        for reply in filter(None, replies.split(" | ")):
            box = f"\\boxed{{{reply}}}"
            assert matches(box, label) is counts, reply
            assert exported["matches"](box, label) is counts, reply


def test_a_checker_is_given_the_answer_of_every_form_on_the_page():
    for row in ROWS:
        label = json.loads(row["label"])
        value = answer_value(row["reply"], label, asked_units(row["question"]))
        numbers = isinstance(label, float) and isinstance(value, int | float)
        same = equivalent(value, label) and (numbers or type(value) is type(label))
        assert same is (row["counts"] == "yes"), (row, value)


def judged_last(reply: str, label, question: str = "") -> bool:
    """The verdict of the format `last`, which counts nothing for a reply that it finds no answer in."""
    asked = Problem("p", question, json.dumps(label), True, "kind", 1, "train", "test", "p")
    return judge_reply(reply, asked, "last").correct


@pytest.mark.parametrize("said", ["{}", "The answer is {}", "We have 3 + 4 = 7.\n\nAnswer: {}", "**{}**"])
def test_the_page_says_what_counts_at_the_end_of_a_reply(said):
    for row in ROWS:
        reply = said.replace("{}", row["reply"])
        assert judged_last(reply, json.loads(row["label"]), row["question"]) is (row["last"] == "yes"), row


NUMBERS = st.one_of(st.integers(-(10**12), 10**12), st.floats(-1e12, 1e12, allow_nan=False))


@given(st.one_of(NUMBERS, st.sampled_from(["red", "A.B", "10 + 2", "2024-03-05", "x=1"])))
def test_a_form_gives_the_label_and_no_form_gives_a_perturbed_one(label):
    units = asked_units(MINUTES)
    shown = label if isinstance(label, str) else json.dumps(label)
    assert answers(f"x = {shown}", label, units=units)
    assert isinstance(label, str) or answers(f"{shown} minutes", label, units=units)
    wrong = [answer if isinstance(answer, str) else json.dumps(answer) for answer in wrong_answers(label)]
    replies = [form.format(item) for item in wrong if item for form in FORMS]
    taken = [
        reply for reply in replies if answers(reply, label, units=units) or judged_last(reply, label, MINUTES)
    ]
    assert not taken and not accepted_wrongly(label)
    assert all(judged_last(said.format(shown), label, MINUTES) for said in ("{}", "x = {}", "It is {}."))


LABELS = st.one_of(NUMBERS, st.sampled_from(["red", "3/2", "2024-03-05", "0.75", ""]), st.booleans())


@settings(max_examples=40)
@example([-999999976012, -999999975013.5])
@given(st.one_of(LABELS, st.lists(LABELS, max_size=3), st.dictionaries(st.sampled_from(["a", "b"]), NUMBERS)))
def test_nothing_beyond_the_tolerance_is_rewarded_in_any_form_with_or_without_its_unit(exported, label):
    """Twice the tolerance away, a day off, or one of the gate's probes: by the exported file in a box, and at
    the end of a reply."""
    for question in ("", MINUTES, "What percentage is red?"):
        units, answer = asked_units(question), json.dumps(label)
        right = in_forms(label, units) if label not in ("", [], {}) else []
        assert [
            reply for reply in right if not exported["score"](f"\\boxed{{{reply}}}", answer, units=units)
        ] == []
        wrong = wrong_replies(label, units)
        assert [
            reply for reply in wrong if exported["score"](f"\\boxed{{{reply}}}", answer, units=units)
        ] == []
        assert [reply for reply in wrong if reply and judged_last(reply, label, question)] == []


@given(st.integers(0, 999), st.integers(1, 97), st.integers(2, 98), st.booleans())
def test_a_mixed_number_is_its_whole_part_and_its_fraction(whole, over, under, negative):
    over = over % under or 1
    value = (whole + Fraction(over, under)) * (-1 if negative else 1)
    sign = "-" if negative else ""
    text = sign + (f"{whole}" if whole else "") + rf"\frac{{{over}}}{{{under}}}"
    assert answers(text, f"{value.numerator}/{value.denominator}")
    assert not answers(
        text, f"{(value + Fraction(1, 10**6)).numerator}/{(value + Fraction(1, 10**6)).denominator}"
    )


@given(st.dates())
def test_a_day_is_read_in_each_of_its_spellings_and_only_as_itself(day):
    label = day.isoformat()
    year = f"{day.year:04d}"
    spelled = [
        f"{day.day} {day:%B} {year}",
        f"{day:%B} {day.day}, {year}",
        f"{day:%b}. {day.day}, {year}",
        label.replace("-", "/"),
    ]
    assert [read_date(text) for text in spelled] == [day] * 4
    assert all(answers(text, label) for text in spelled)
    other = day.replace(day=day.day % 28 + 1)
    assert other == day or not any(answers(text, other.isoformat()) for text in spelled)


@pytest.mark.parametrize(
    ("question", "units"),
    [
        (MINUTES, ["minutes"]),
        ("In how many hours, in total?", ["hours"]),
        ("How many dozen?", []),
        ("Give it in kilometres.", ["kilometres"]),
        ("一共需要多少分钟？", ["分", "分钟"]),
        ("What percentage is red?", ["%", "percent"]),
        ("It falls by 20%.", []),
        ("", []),
        ("What is the coefficient of x in p, a polynomial in x?", []),
        ("How far is it in m?", ["m"]),
    ],
)
def test_units_are_those_that_the_question_asks_for(question, units):
    assert asked_units(question) == units


def test_a_reply_of_any_length_costs_its_length():
    for text in (
        "x = " * 50_000,
        "9" * 200_000 + " minutes",
        "1\\frac" * 40_000,
        "5 · 10^" * 40_000,
        "a." * MAX_FORM,
    ):
        assert not answers(text, 20, units=["minutes"])
    for text in (
        "-" * 20_000,
        "7 " * 20_000,
        "1,234" * 9_000,
        ")" * 20_000 + "7" + ")" * 20_000,
        "((7" * 9_000,
        "+)" * 20_000 + "+7",
        "7 and" + " " * 20_000,
        "[" * 20_000 + "1" + "]" * 20_000,
        "**a" * 9_000,
        "x" * 20_000,
        "7, " * 9_000,
    ):
        assert not any(judged_last(text, label) for label in (20, [20], "red", "2024-03-05", "+"))


# Units are read whole: what a question asks for is right in each of its spellings, a part of it or
# another unit is wrong, and a number alone is right; here, in the exported file, and at the end of a
# reply.


ASKED = Path(__file__).with_name("asked_units.txt").read_text()
"""Questions for a 5, with right (+) and wrong (-) replies."""


def pairs() -> Iterator[tuple[str, str, bool]]:
    question = ""
    for line in ASKED.strip().split("\n"):
        mark, text = line[0], line[2:]
        if mark == "?":
            question = text
        else:
            yield from ((question, reply, mark == "+") for reply in text.split(" | "))


PAIRS = list(pairs())


def test_a_unit_is_right_whole_and_wrong_otherwise(exported):
    for question, reply, right in PAIRS:
        units, box = asked_units(question), f"\\boxed{{{reply}}}"
        assert matches(box, 5, units=units) is right, (question, reply)
        assert exported["reward"]([box], ["5"], units=[units]) == [float(right)], (question, reply)


# at the end of a reply, words after the answer and before a noun that is asked for are passed over
SAID = [
    pair
    for pair in PAIRS
    if not {"\\", "*", "$"} & set(pair[1]) and (pair[2] or known_unit(pair[1].removeprefix("5")))
]


def test_a_unit_is_read_whole_at_the_end_of_a_reply():
    for question, reply, right in SAID:
        said = f"It took 3 tries. The answer is {reply}."
        assert judged_last(said, 5, question) is right, (question, reply)


@pytest.mark.parametrize(
    ("label", "right", "wrong"),
    [
        (
            "60 km/h",
            ["60", "60 km/h", "60 kilometres per hour", r"60 \text{ km/h}", r"60\,\mathrm{km\,h^{-1}}"],
            ["60 km", "60 m/s", "61"],
        ),
        (r"60 \text{ km/h}", ["60", "60 km/h", "60 kph"], ["60 km", r"60 \text{ km}", "60 h"]),
        ("60 m^2", ["60", "60 m²", "60 square metres"], ["60 m", "60 cm^2"]),
        (r"60 \text{ m}^2", ["60", "60 m^2", "60 sq m"], ["60 m", r"60 \text{ m}", r"60 \text{ m}^3"]),
        (r"20^\circ\text{C}", ["20", "20°C", "20 degrees Celsius"], ["20°", r"20^\circ", "20°F"]),
        (
            r"6\sqrt{3} \text{ cm}^2",
            [r"6\sqrt{3}", r"6\sqrt3\text{ cm}^2", r"6\sqrt{3} \text{ square centimetres}"],
            [r"6\sqrt{3}\text{ cm}", "6 cm^2"],
        ),
        (
            r"28\%",
            ["28 pct", "28%", "28 percent", "28 per cent", r"28\text{ percent}"],
            ["28", "0.28", "28 cm", "29%"],
        ),
        ("28%", ["28 pct", r"28\%", "28 percent"], ["28", "0.28"]),
        (
            r"\frac{3}{2} \text{ kg/m}^3",
            ["3/2", "1.5 kg/m^3", r"\frac32 \text{ kg/m}^3"],
            [r"\frac{3}{2} \text{ kg}", "1.5 kg"],
        ),
        ("5m", ["5m"], ["5", "5 metres"]),
        ("5 pm", ["5 pm"], ["5"]),
        (r"\text{Ada}", ["Ada"], ["5", ""]),
    ],
)
def test_a_labels_unit_may_be_left_out_and_not_be_another(label, right, wrong):
    assert [reply for reply in right if not matches(f"\\boxed{{{reply}}}", label)] == []
    assert [reply for reply in wrong if matches(f"\\boxed{{{reply}}}", label)] == []


@pytest.mark.parametrize(
    ("question", "units"),
    [
        ("How many hours in a day?", ["hours"]),
        ("How many are left in the box?", []),
        ("How many dozen eggs are left?", []),
        ("Is 3 in A or in B?", []),
        ("What is the leading coefficient, a polynomial in W?", []),
        ("Write it in simplest form.", ["simplest"]),
        ("Round to the nearest whole number.", ["number"]),
        ("What is the price to the nearest cent?", []),
        ("How many apples and how many pears?", ["apples", "pears"]),
        ("In how many ways can 5 people sit?", ["ways"]),
        ("几千克？", ["千克"]),
        ("约多少千？", []),
    ],
)
def test_words_that_ask_for_no_unit_are_none(question, units):
    assert asked_units(question) == units


def test_a_unit_has_one_name_and_a_noun_is_no_unit():
    assert known_unit("kilometers per hour") == known_unit("km/h") == "kilometre hour^-1"
    assert known_unit("apples") is None and unit_name("apples") == unit_name("Apple") == "apple"
    assert [
        known_unit(text) for text in ("perimeter", "per hour", "square", "x", "pm", "5", "", "m/", "/m")
    ] == [None] * 9


def test_a_unit_of_any_length_costs_its_length():
    start = time.perf_counter()
    for text in (
        "m/" * 50_000,
        "m^2" * 50_000,
        r"\text{m}" * 600,
        "(" * 50_000,
        "kg " * 50_000,
        r"\frac{\text{m}" * 300,
        "5 m " * 40_000,
    ):
        assert not matches(f"\\boxed{{5 {text}}}", 5, units=["m"]) and not matches(
            f"\\boxed{{{text}}}", r"5 \text{ m}"
        )
        assert len(asked_units(f"How many {text}?")) < 9 and LONGEST_UNIT < 100
    assert time.perf_counter() - start < 5


# Labels in LaTeX against replies that say the same and replies that do not: more than 200 pairs, here and
# in the exported reward file.


LATEX_PAIRS: list[tuple[object, list[str], list[str]]] = json.loads(
    Path(__file__).with_name("latex_pairs.json").read_text()
)
RIGHT = [(reply, label) for label, replies, _ in LATEX_PAIRS for reply in replies]
WRONG = [(reply, label) for label, _, replies in LATEX_PAIRS for reply in replies]


def test_there_are_enough_pairs_and_none_stands_there_twice():
    pairs = [json.dumps(pair) for pair in RIGHT + WRONG]
    assert len(pairs) == len(set(pairs)) >= 200 and min(len(RIGHT), len(WRONG)) >= 95


def test_replies_that_say_the_label_count_here_and_in_the_exported_file(exported):
    boxed = [("\\boxed{" + reply + "}", label) for reply, label in RIGHT]
    assert [pair for pair in boxed if not matches(*pair, case_sensitive=False)] == []
    assert [pair for pair in boxed if not exported["reward"]([pair[0]], [json.dumps(pair[1])])[0]] == []


def test_no_reply_that_says_something_else_counts(exported):
    boxed = [("\\boxed{" + reply + "}", label) for reply, label in WRONG]
    assert [pair for pair in boxed if matches(*pair, case_sensitive=False)] == []
    assert [pair for pair in boxed if exported["reward"]([pair[0]], [json.dumps(pair[1])])[0]] == []


def test_the_label_that_another_row_has_is_wrong():
    labels = [label for label, _, _ in LATEX_PAIRS if isinstance(label, str)]
    taken = [
        (one, other)
        for one in labels
        for other in labels
        if one != other and matches("\\boxed{" + one + "}", other)
    ]
    assert taken == []


@pytest.mark.parametrize(
    "unit",
    [
        "(",
        r"\frac{",
        r"\left(",
        "x^",
        "-",
        r"\sqrt",
        "{",
        "1,",
        "|",
        r"\begin{pmatrix}",
        r"\$",
        r"\text{a}",
        "x=",
    ],
)
def test_hostile_texts_take_little_time(unit):
    started = time.process_time()
    for text in (unit * (LONGEST_MATHEMATICS // len(unit)), unit * 100_000, "x" + unit * 200 + "}" * 200):
        assert matches("\\boxed{" + text + "}", "x^2") is False
    assert time.process_time() - started < 5


def test_names_of_units_and_values_of_roots():
    assert (
        unit_name("cm") == unit_name("Centimeters") == unit_name("centimetre")
        and unit_name("sq cm") == "centimetre^2"
    )
    assert unit_name("L") == unit_name("liters") == "litre" and unit_name("feet") == unit_name("ft") == "foot"
    assert (
        closed_value(r"\sqrt{16}") is None
        and closed_value("7") is None
        and mathematics("plain words") is None
    )
