"""Labels in LaTeX against replies that say the same and replies that do not: more than 200 pairs, here and in
the exported reward file."""

from __future__ import annotations

import json
import time

import pytest

from evolake.answers.matching import matches
from evolake.answers.mathematics import LONGEST_MATHEMATICS, closed_value, mathematics
from evolake.answers.units import unit_name
from evolake.families.dataset.exports import reward_source

PAIRS: list[tuple[object, list[str], list[str]]] = [
    (
        "y^3-2y",
        ["y^3 - 2y", "y^{3}-2y", "y^3-2 y", r"\left(y^3-2y\right)", "-2y + y^3", r"y^3 - 2 \cdot y"],
        ["y^3+2y", "y^3-2", "y^2-2y", "2y-y^3"],
    ),
    (
        r"5\sqrt{7}",
        [r"5 \sqrt{7}", r"5\sqrt7", r"5 \cdot \sqrt{7}", r"\left(5\sqrt{7}\right)", "5√7", r"$5\sqrt{7}$"],
        [r"\sqrt{7}", r"5\sqrt{17}", r"7\sqrt{5}", r"5+\sqrt{7}", r"5^{\sqrt{7}}", "57", r"-5\sqrt{7}"],
    ),
    (
        r"\frac{\sqrt{5}}{4}",
        [
            r"\frac{\sqrt5}{4}",
            r"\dfrac{\sqrt{5}}{4}",
            r"\tfrac{\sqrt{5}}4",
            r"\sqrt{5}/4",
            r"\frac{1}{4}\sqrt{5}",
            r"\frac14\sqrt5",
        ],
        [
            r"\frac{5}{4}",
            r"\frac{4}{\sqrt{5}}",
            r"\frac{\sqrt{5}}{2}",
            r"\sqrt{\frac{5}{4}}",
            r"-\frac{\sqrt{5}}{4}",
        ],
    ),
    (
        r"-\frac{\pi}{6}",
        [r"\frac{-\pi}{6}", r"-\pi/6", r"-\dfrac{\pi}{6}", r"- \frac{\pi}{6}", r"-\frac{1}{6}\pi"],
        [r"\frac{\pi}{6}", r"-\frac{6}{\pi}", "-30"],
    ),
    (
        r"\left(7, \frac{\pi}{3}\right)",
        [r"(7,\frac{\pi}{3})", r"\left( 7, \pi/3 \right)", r"(7, \; \dfrac{\pi}{3})"],
        [r"(\frac{\pi}{3}, 7)", r"(7, \frac{\pi}{6})", r"[7, \frac{\pi}{3}]", r"(7, \frac{3}{\pi})", "7"],
    ),
    (
        r"4 \pm \sqrt{11}",
        [r"4\pm\sqrt{11}", "4 ± √{11}", r"4 \pm \sqrt{11}."],
        [r"4 + \sqrt{11}", r"4 - \sqrt{11}", r"4 \mp \sqrt{11}", r"\pm \sqrt{11}", "4"],
    ),
    ("213_5", ["213_{5}", "213_{ 5 }", "$213_5$"], ["213", "213_{6}", "231_5", "58", "213^5", "2135"]),
    ("x_{12}", ["x_12"], ["x_1", "x_{21}", "x^{12}", "12"]),
    (
        r"\$7.50",
        ["7.50", "7.5", r"\$7.50", "$7.50", r"\$ 7.5", r"7.50 \text{ dollars}"],
        [r"7.50 \text{ cents}", "750", "€7.50", "75", r"-\$7.50", r"7.5\%"],
    ),
    (r"\$1{,}250", ["1250", "1,250", r"\$1,250"], ["125", "1.25", r"1250\%"]),
    (
        "36",
        [r"\$36", "36.0", r"36^\circ", "$36$", r"\,36"],
        [r"36 \text{ cm}", "63", "360", r"36\%", "36x", r"36^2", r"\sqrt{36}", "30+6", r"6 \cdot 6", "6^2"],
    ),
    (
        r"45^\circ",
        ["45", "45°", r"45^{\circ}", r"45 \text{ degrees}", r"45\degree", "45 degrees"],
        [r"\frac{\pi}{4}", "54", r"45 \text{ radians}", r"-45^\circ", "45^0"],
    ),
    (
        r"8 \text{ cm}",
        ["8", r"8\text{ cm}", r"8\,\mathrm{cm}", "8 cm", "8 centimeters", r"8 \text{ centimetres}"],
        [r"8 \text{ m}", "8 mm", r"8 \text{ cm}^2", "80", r"8 \text{ inches}", r"\$8"],
    ),
    (
        r"14 \text{ square units}",
        ["14", r"14 \text{ square units}"],
        [r"14 \text{ cubic units}", r"14 \text{ units}", "41"],
    ),
    (
        r"9 \text{ cm}^2",
        ["9", r"9 \text{ square centimeters}", r"9\ \text{cm}^{2}"],
        [r"9 \text{ cm}", r"9 \text{ cm}^3", "81"],
    ),
    (r"3 \text{ million}", [r"3 \text{ million}"], ["3", "3000"]),
    (r"6 \text{ dozen}", [], ["6", "72"]),
    ("k=9", ["9", "k = 9", "k=9", r"k = 9.0"], ["m=9", "k=8", "k", "9k", r"k \le 9", "-9", "k=9k=9"]),
    (
        r"t = \frac{3}{8}",
        [r"\frac{3}{8}", "3/8", "0.375", r"t=\frac38"],
        [r"s = \frac{3}{8}", r"\frac{8}{3}", "3.8"],
    ),
    ("y = 2x + 3", ["y=2x+3", "y = 2 x + 3", "y=3+2x"], ["2x", "y = 2x - 3", "x = 2y + 3", "3", "y"]),
    ("[2, 5)", ["[2,5)", r"\left[2, 5\right)"], ["(2, 5)", "[2, 5]", "(2, 5]", "2, 5"]),
    ("(2, 5)", ["(2,5)", r"\left(2,5\right)"], ["[2, 5]", "[2, 5)", "(5, 2)"]),
    (
        r"(-\infty, -1) \cup (4, \infty)",
        [r"(-\infty,-1)\cup(4,\infty)", r"\left(-\infty, -1\right) ∪ \left(4, ∞\right)"],
        [r"(-\infty, -1] \cup [4, \infty)", r"(-\infty, -1) \cap (4, \infty)", r"(-\infty, 4)", r"(-1, 4)"],
    ),
    (
        r"\begin{pmatrix} 2 & -1 \\ 0 & 3 \end{pmatrix}",
        [r"\begin{pmatrix}2&-1\\0&3\end{pmatrix}", r"\begin{pmatrix} 2 & -1 \\ 0 & 3 \\ \end{pmatrix}"],
        [
            r"\begin{pmatrix} 2 & 0 \\ -1 & 3 \end{pmatrix}",
            r"\begin{pmatrix} 2 & 1 \\ 0 & 3 \end{pmatrix}",
            "\begin{vmatrix} 2 & -1 \\ 0 & 3 \\end{vmatrix}",
            "6",
        ],
    ),
    (
        "(a+b)(a-b)",
        ["(a + b)(a - b)", r"\left(a+b\right)\left(a-b\right)"],
        ["(a+b)(a+b)", "a^2-b^2", "a+b(a-b)", "(a+b)"],
    ),
    (
        r"\frac{n+1}{3}",
        [r"\frac{n + 1}{3}", "(n+1)/3", r"\dfrac{1+n}{3}"],
        ["n+1/3", r"\frac{n}{3}+1", r"\frac{3}{n+1}", r"\frac{n+1}{2}"],
    ),
    ("2^{10}", ["2^10", "2^{ 10 }"], ["1024", "2^1", "2^{11}", "20", "2*10"]),
    (r"\sin x", [r"\sin(x)", r"\sin{x}"], [r"\cos x", r"\sin 2x", "x"]),
    (r"2\pi r", [r"2 \pi r", r"2\cdot\pi\cdot r"], [r"\pi r", r"2\pi", r"2\pi r^2"]),
    (r"x \in [-2,7]", [r"x\in[-2, 7]"], [r"y \in [-2,7]", r"x \in (-2,7)", "x"]),
    (r"x \leq 4", [r"x \le 4", r"x\leqslant 4", "x ≤ 4"], ["x < 4", r"x \geq 4", "4"]),
    ("ABC", [r"\text{ABC}", "ABC."], ["CAB", "A B C", "AB", "ABCC"]),
    ("A_B", [r"A\_B"], ["B_A", "AB"]),
    ("1-3-2", [], ["1-2-3", "-4", "132"]),
    ("B - A", ["B-A"], ["A - B", "A-B"]),
    (2.23606797749979, [r"\sqrt{5}", r"\sqrt5"], [r"\sqrt{6}", "5", r"-\sqrt{5}", r"\sqrt{5}+0"]),
    (9.42477796076938, [r"3\pi", r"3 \cdot \pi"], [r"\pi", "3", "9.42"]),
    (3, [], [r"\sqrt{9}", "1+2", r"\frac{9}{3}x", "3x", "6/2x", r"3 \text{ apples}"]),
    (75800, ["75 800", "75,800", r"75\,800"], ["75 80", "7 5800", "758 00"]),
    ("75 800", ["75 800"], ["75800"]),
    ("16:30", ["4:30 pm", "4:30 p.m.", "16:30"], ["4:30 am", "4:30", "5:30 pm"]),
    ("00:15", ["12:15 am"], ["12:15 pm"]),
    (
        False,
        ["No, it does not", "No, there are not.", "No, they aren't"],
        ["Yes, it does", "No, it does", "Yes, it does not", "No, but yes", "No idea"],
    ),
    (
        ["Kim", "Lee", "Mo"],
        ["Kim, Lee and Mo", "Kim, Lee, and Mo"],
        ["Kim and Lee", "Kim, Lee and Moe", "Lee, Kim and Mo", "Kim Lee and Mo"],
    ),
    ({"p": 3, "q": 4}, ["p: 3, q: 4", "q: 4, p: 3"], ["p: 4, q: 3", "p: 3", "p: 3, q: 4, r: 5"]),
    (17, ["**17**", r"17.", "17.0"], ["**71**", "*17*7", "**17", "1**7"]),
]
RIGHT = [(reply, label) for label, replies, _ in PAIRS for reply in replies]
WRONG = [(reply, label) for label, _, replies in PAIRS for reply in replies]


def test_there_are_enough_pairs_and_none_stands_there_twice() -> None:
    pairs = [json.dumps(pair) for pair in RIGHT + WRONG]
    assert len(pairs) == len(set(pairs)) >= 200 and min(len(RIGHT), len(WRONG)) >= 95


@pytest.fixture(scope="module")
def exported() -> dict:
    namespace: dict = {"__name__": "reward"}
    exec(compile(reward_source(), "reward.py", "exec"), namespace)
    return namespace


def test_replies_that_say_the_label_count_here_and_in_the_exported_file(exported: dict) -> None:
    boxed = [("\\boxed{" + reply + "}", label) for reply, label in RIGHT]
    assert [pair for pair in boxed if not matches(*pair, case_sensitive=False)] == []
    assert [pair for pair in boxed if not exported["reward"]([pair[0]], [json.dumps(pair[1])])[0]] == []


def test_no_reply_that_says_something_else_counts(exported: dict) -> None:
    boxed = [("\\boxed{" + reply + "}", label) for reply, label in WRONG]
    assert [pair for pair in boxed if matches(*pair, case_sensitive=False)] == []
    assert [pair for pair in boxed if exported["reward"]([pair[0]], [json.dumps(pair[1])])[0]] == []


def test_the_label_that_another_row_has_is_wrong() -> None:
    labels = [label for label, _, _ in PAIRS if isinstance(label, str)]
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
def test_hostile_texts_take_little_time(unit: str) -> None:
    started = time.process_time()
    for text in (unit * (LONGEST_MATHEMATICS // len(unit)), unit * 100_000, "x" + unit * 200 + "}" * 200):
        assert matches("\\boxed{" + text + "}", "x^2") is False
    assert time.process_time() - started < 5


def test_names_of_units_and_values_of_roots() -> None:
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
