"""Our comparison of answers and math-verify's, side by side on the same replies.

    python benchmarks/answers_beside_math_verify.py              # 200 pairs of the first draw
    python benchmarks/answers_beside_math_verify.py 2            # of another one
    python benchmarks/answers_beside_math_verify.py tests        # pairs of the tests

The pairs are drawn by a rule that knows neither reader. Each is a value of one of ten kinds, drawn by chance.
The label is its LaTeX as sympy prints it. A right reply is the same value by a printer of sympy (`latex` with
its options, `str`), or in a style that answers of public data sets have (thousands in groups, `\\dfrac`,
`x=`, `x\\in`, a set without braces, per cent in words, a root that is not simplified, a sum in another
order). A wrong reply is another value of the kind, in the same styles: one number in it is 1 larger, its sign
is changed, an end is open and not closed, two members are exchanged. Ten of each in every kind.

Prints right replies that are missed and wrong ones that are rewarded, by us and by math-verify, which is an
extra: if it is not installed, the benchmark says so. `tests` takes the pairs of
tests/unit/families/test_answer_forms.py and the rows of docs/answers.md, which our reader was written with in
view, so their figures favour it.
"""

from __future__ import annotations

import json
import random
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from itertools import permutations
from pathlib import Path
from typing import Any, NamedTuple

from bench import SHORT, skip

from evolake.answers.forms import asked_units
from evolake.answers.matching import matches

ROOT = Path(__file__).parents[1]
EACH = 10
"""Right and wrong replies of a kind."""
ROW = re.compile(
    r"\| [^|]+ \| `(?P<reply>[^|]+)` \| `(?P<label>[^|]+)` \| (?P<question>[^|]*)\| (?P<counts>yes|no) \| "
    r"(?:yes|no) \|$"
)


class Case(NamedTuple):
    """content: of the box. case: whether it counts."""

    kind: str
    content: str
    label: Any
    right: bool
    question: str = ""
    case: bool = True


Judge = Callable[[Case], bool]


def cases_of_tests() -> list[Case]:
    """Return the pairs that our own tests hold."""
    from unit.families.test_answer_forms import RIGHT, WRONG  # pyright: ignore[reportMissingImports]

    rows = [
        match
        for line in (ROOT / "docs" / "answers.md").read_text(encoding="utf-8").splitlines()
        if (match := ROW.match(line))
    ]
    return [
        *(Case("tests", reply, label, True, case=False) for reply, label in RIGHT),
        *(Case("tests", reply, label, False, case=False) for reply, label in WRONG),
        *(
            Case("docs", row["reply"], json.loads(row["label"]), row["counts"] == "yes", row["question"])
            for row in rows
        ),
    ]


def drawn(seed: int) -> list[Case]:
    """Return the pairs of a draw: of each kind `EACH` right replies and as many wrong ones."""
    result = []
    for kind, make in KINDS.items():
        draw = random.Random(f"{kind} {seed}")
        pairs: dict[bool, set[tuple[str, str]]] = {True: set(), False: set()}
        while min(map(len, pairs.values())) < EACH:
            label, right, wrong = make(draw)
            pair = (True, right) if len(pairs[True]) < EACH else (False, wrong)
            content = draw.choice(sorted(set(pair[1]) - {label}) or [label])
            pairs[pair[0]].add((content, label))
        result += [Case(kind, *pair, right) for right, some in pairs.items() for pair in sorted(some)]
    return result


Drawn = tuple[str, list[str], list[str]]
"""(label, styles of the same value, styles of another value of the kind)."""


def _integer(draw: random.Random) -> Drawn:
    def styles(n: int) -> list[str]:
        return [
            str(n),
            f"{n:,}",
            f"{n:,}".replace(",", "{,}"),
            f"{n}.0",
            f"x={n}",
            f"x = {n}",
            f"\\text{{{n}}}",
        ]

    n = draw.choice((1, -1)) * draw.randint(2, 10 ** draw.randint(1, 6))
    return str(n), styles(n), styles(draw.choice((n + 1, n - 1, -n, 10 * n)))


def _rational(draw: random.Random) -> Drawn:
    import sympy

    def styles(value: Any) -> list[str]:
        text = sympy.latex(value)
        over = f"{abs(value.p)}", f"{value.q}"
        sign = "-" * bool(value < 0)
        return [
            text,
            str(value),
            sympy.latex(value, fold_short_frac=True),
            text.replace("\\frac", "\\dfrac"),
            text.replace("\\frac", "\\tfrac"),
            f"\\frac{{{value.p}}}{{{value.q}}}",
            f"{sign}\\frac{{{3 * abs(value.p)}}}{{{3 * value.q}}}",
            f"\\left({sign}{over[0]}/{over[1]}\\right)",
            *([str(float(value))] if 10**4 % value.q == 0 else []),
        ]

    value = sympy.Rational(0)
    while value.q == 1:
        value = sympy.Rational(draw.choice((1, -1)) * draw.randint(1, 60), draw.randint(2, 40))
    others = [sympy.Rational(value.p + 1, value.q), -value, 1 / value, sympy.Rational(value.p, value.q + 1)]
    return sympy.latex(value), styles(value), styles(draw.choice([item for item in others if item.q > 1]))


def _surd(draw: random.Random) -> Drawn:
    import sympy

    def styles(k: int, m: int, d: int) -> list[str]:
        value = sympy.Rational(k, d) * sympy.sqrt(m)
        root = f"\\sqrt{{{k * k * m}}}"
        return [
            sympy.latex(value),
            str(value),
            sympy.latex(value, mul_symbol="dot"),
            sympy.latex(value, mul_symbol="times"),
            root if d == 1 else f"\\frac{{{root}}}{{{d}}}",
            f"\\sqrt{{{sympy.latex(sympy.Rational(k * k * m, d * d))}}}",
            f"\\frac{{{k * m}}}{{{'' if d == 1 else d}\\sqrt{{{m}}}}}",
        ]

    k, m, d = draw.randint(2, 9), draw.choice((2, 3, 5, 6, 7, 10, 11)), draw.choice((1, 1, 2, 3, 5))
    value = sympy.Rational(k, d) * sympy.sqrt(m)
    return (
        sympy.latex(value),
        styles(k, m, d),
        styles(*draw.choice(((k + 1, m, d), (k, m + 12, d), (k, m, d + 1)))),
    )


def _surd_sum(draw: random.Random) -> Drawn:
    import sympy

    def styles(a: int, b: int, m: int, d: int) -> list[str]:
        value = (a + b * sympy.sqrt(m)) / d
        sign = "+" if b > 0 else "-"
        root = f"{'' if abs(b) == 1 else abs(b)}\\sqrt{{{m}}}"
        unsimplified = f"\\sqrt{{{b * b * m}}}"
        return [
            sympy.latex(value),
            str(value),
            sympy.latex(sympy.expand(value)),
            str(sympy.expand(value)),
            sympy.latex(sympy.together(value)),
            f"\\frac{{{a}{sign}{root}}}{{{d}}}",
            f"({a} {sign} {root})/{d}",
            f"\\frac{{{a} {sign} {unsimplified}}}{{{d}}}",
        ]

    a, b, d = draw.randint(1, 12), draw.choice((1, -1)) * draw.randint(1, 5), draw.randint(2, 7)
    m = draw.choice((2, 3, 5, 7, 13))
    value = (a + b * sympy.sqrt(m)) / d
    others = ((a + 1, b, m, d), (a, -b, m, d), (a, b, m + 12, d), (a, b, m, d + 1))
    return sympy.latex(value), styles(a, b, m, d), styles(*draw.choice(others))


def _pi(draw: random.Random) -> Drawn:
    import sympy

    def styles(p: int, q: int) -> list[str]:
        value = sympy.Rational(p, q) * sympy.pi
        fraction = sympy.latex(sympy.Rational(p, q))
        return [
            sympy.latex(value),
            str(value),
            f"{fraction}\\pi",
            f"{fraction} \\cdot \\pi",
            str(value).replace("pi", "π"),
            sympy.latex(value, fold_short_frac=True),
            sympy.latex(value).replace("\\frac", "\\dfrac"),
        ]

    p, q = draw.randint(1, 12), draw.choice((1, 2, 3, 4, 5, 6, 8, 12))
    others = ((p + 1, q), (-p, q), (p, q + 1), (2 * p, q))
    return sympy.latex(sympy.Rational(p, q) * sympy.pi), styles(p, q), styles(*draw.choice(others))


def _polynomial(draw: random.Random) -> Drawn:
    import sympy

    x = sympy.Symbol("x")

    def styles(roots: tuple[int, int], lead: int) -> list[str]:
        value = sympy.expand(lead * (x - roots[0]) * (x - roots[1]))
        terms = [sympy.latex(term) for term in reversed(sympy.Add.make_args(value))]
        joined = "+".join(terms).replace("+-", "-").replace("+ -", "-")
        return [
            sympy.latex(value),
            str(value),
            str(value).replace("**", "^"),
            str(value).replace("**", "^").replace("*", ""),
            sympy.latex(value, order="rev-lex"),
            joined,
            f"f(x) = {sympy.latex(value)}",
            f"y={sympy.latex(value)}".replace(" ", ""),
        ]

    roots, lead = (draw.randint(1, 7), draw.randint(-7, -1)), draw.choice((1, 1, 2, 3, -1))
    value = sympy.expand(lead * (x - roots[0]) * (x - roots[1]))
    others = (((roots[0] + 1, roots[1]), lead), (roots, -lead), (roots, lead + 4))
    return sympy.latex(value), styles(roots, lead), styles(*draw.choice(others))


def _interval(draw: random.Random) -> Drawn:
    import sympy

    x = sympy.Symbol("x")

    def styles(value: Any) -> list[str]:
        text = sympy.latex(value)
        plain = text.replace("\\left", "").replace("\\right", "")
        return [
            text,
            plain,
            str(plain).replace("\\infty", "∞"),
            f"x\\in{plain}",
            f"x \\in {text}",
            sympy.latex(value.as_relational(x)) if value.end.is_finite and value.start.is_finite else plain,
            _relation(value),
        ]

    def _relation(value: Any) -> str:
        low, high = sympy.latex(value.start), sympy.latex(value.end)
        before, after = ("<" if bool(value.left_open) else "\\le"), ("<" if value.right_open else "\\leq")
        if not value.end.is_finite:
            return "x " + (">" if bool(value.left_open) else "\\ge") + f" {low}"
        return f"{low} {before} x {after} {high}"

    low = sympy.Rational(draw.randint(-9, 9), draw.choice((1, 1, 2, 3)))
    high = draw.choice((low + draw.randint(1, 9), low + draw.randint(1, 9), sympy.oo))
    value = sympy.Interval(low, high, draw.random() < 0.5, draw.random() < 0.5)
    others = [
        sympy.Interval(low - 1, high, value.left_open, value.right_open),
        sympy.Interval(low, high, not value.left_open, value.right_open),
    ]
    return sympy.latex(value), styles(value), styles(draw.choice(others))


def _finite_set(draw: random.Random) -> Drawn:
    import sympy

    def styles(values: list[Any]) -> list[str]:
        texts = [sympy.latex(value) for value in values]
        order = list(permutations(texts))[-1]
        return [
            sympy.latex(sympy.FiniteSet(*values)),
            str(sympy.FiniteSet(*values)),
            "\\{" + ",".join(order) + "\\}",
            "\\{" + ", ".join(texts) + "\\}",
            ", ".join(texts),
            ", ".join(order),
            "x \\in \\{" + ", ".join(texts) + "\\}",
            " \\text{ or } ".join(texts),
        ]

    values = [
        sympy.Rational(n, draw.choice((1, 1, 1, 2))) for n in draw.sample(range(-9, 10), draw.choice((2, 3)))
    ]
    values = sorted(set(values))
    if len(values) < 2:
        return _finite_set(draw)
    others = (
        [*values[:-1], values[-1] + 1],
        [values[0] - 1, *values[1:]],
        values[:-1],
        [*values, values[-1] + 2],
    )
    return sympy.latex(sympy.FiniteSet(*values)), styles(values), styles(draw.choice(others))


def _point(draw: random.Random) -> Drawn:
    import sympy

    def styles(values: list[Any]) -> list[str]:
        texts = [sympy.latex(value) for value in values]
        return [
            sympy.latex(tuple(values)),
            str(tuple(values)),
            "(" + ",".join(texts) + ")",
            "\\left(" + ", ".join(texts).replace("\\frac", "\\dfrac") + "\\right)",
            "(x,y,z)"[: 2 * len(values)] + ") = (" + ", ".join(texts) + ")",
            "(" + ",\\,".join(texts) + ")",
        ]

    values = [sympy.Rational(draw.randint(-9, 9), draw.choice((1, 1, 2))) for _ in range(draw.choice((2, 3)))]
    if values == values[::-1]:
        return _point(draw)
    others = (values[::-1], [values[0] + 1, *values[1:]], [-values[0] - 1, *values[1:]])
    return sympy.latex(tuple(values)), styles(values), styles(draw.choice(others))


def _per_cent(draw: random.Random) -> Drawn:
    def styles(text: str) -> list[str]:
        return [
            f"{text}\\%",
            f"{text}%",
            f"{text} \\%",
            f"{text} %",
            f"{text} percent",
            f"{text} \\text{{ percent}}",
            f"{text}\\text{{%}}",
        ]

    tenth = draw.randint(1, 999)
    text, other = (f"{n / 10:.1f}".removesuffix(".0") for n in (tenth, tenth + draw.choice((1, 10, 100))))
    return f"{text}\\%", styles(text), styles(other)


KINDS: dict[str, Callable[[random.Random], Drawn]] = {
    "whole number": _integer,
    "fraction": _rational,
    "root": _surd,
    "sum with a root": _surd_sum,
    "multiple of pi": _pi,
    "polynomial": _polynomial,
    "interval": _interval,
    "set": _finite_set,
    "point": _point,
    "per cent": _per_cent,
}


def ours(case: Case) -> bool:
    """Return whether the reward counts the reply as right."""
    return matches(
        f"\\boxed{{{case.content}}}", case.label, case_sensitive=case.case, units=asked_units(case.question)
    )


def math_verify_judge() -> Judge | None:
    """Return what math-verify says, None if it is not installed."""
    if find_spec("math_verify") is None:
        return None
    from math_verify import parse, verify  # pyright: ignore[reportMissingImports]

    def judge(case: Case) -> bool:
        gold = case.label if isinstance(case.label, str) else json.dumps(case.label)
        try:
            return bool(verify(parse(f"${gold}$"), parse(f"\\boxed{{{case.content}}}")))
        except Exception:
            return False

    return judge


def show(known: list[Case], judges: dict[str, Judge]) -> None:
    """Print a row for each kind, the sums, and the pairs on which a judge errs."""
    kinds = list(dict.fromkeys(case.kind for case in known))
    wrongly = {name: [case for case in known if judge(case) != case.right] for name, judge in judges.items()}
    counts = {name: Counter((case.kind, case.right) for case in some) for name, some in wrongly.items()}
    of = Counter((case.kind, case.right) for case in known)
    for kind in [*kinds, "all"]:
        cells = []
        for name in judges:
            missed, rewarded, right, wrong = (
                sum(count[item, side] for item in kinds if kind in (item, "all"))
                for count, side in ((counts[name], True), (counts[name], False), (of, True), (of, False))
            )
            cells.append(f"{name}: missed {missed} of {right}, rewarded {rewarded} of {wrong}")
        print(f"{kind:16} {'   '.join(cells)}")
    for name, some in wrongly.items():
        for line in _listed(some):
            print(f"  {name}: {line}")


def _listed(some: list[Case]) -> Iterator[str]:
    for case in some[:60]:
        what = "missed" if case.right else "rewarded"
        yield f"{what} {case.content!r} for the label {case.label!r} {case.question}"


if __name__ == "__main__":
    asked = next((word for word in sys.argv[1:] if not word.startswith("-")), "1")
    known = cases_of_tests() if asked == "tests" else drawn(int(asked))
    other = math_verify_judge()
    show(known[:: 5 if SHORT else 1], {"evolake": ours} | ({"math-verify": other} if other else {}))
    if other is None:
        skip("math-verify is not installed (pip install math-verify), so nothing is compared with it")
