"""Compare LaTeX by what it says: `x^2+1` and `x^2 + 1`, `\\sqrt3` and `\\sqrt{3}`, `\\frac{\\pi}{2}` and `\\pi/2`.

A text is read into a tree by a small grammar; two texts are equal if their trees are. Nothing is computed: `41+1` is not 42, `2 \\cdot 3` is not 6
and `\\sqrt{4}` is not 2. Only how a root is written does not count: `\\sqrt{8}` is `2\\sqrt{2}`, `\\frac{1}{\\sqrt{2}}` is `\\frac{\\sqrt{2}}{2}`. What the grammar does not know, or could mean two things (`1/2x`, `1 2`, words), is declined and stays text.
Standard library only: the exported reward function carries this file along.
"""

from __future__ import annotations

import math
import re
from fractions import Fraction
from typing import Any

from evolake.answers.reading import cleaned, number

LONGEST_MATHEMATICS = 1000
"""Characters of the longest text that is read as mathematics."""
DEEPEST_MATHEMATICS = 40
_MATH_TOKEN = re.compile(
    r"(?P<space>(?:\s|~|\\[,;:!> ]|\\(?:left|right|displaystyle|textstyle|quad|qquad|[bB]ig+[lr]?)(?![A-Za-z])|\\[()]|(?<!\\)\$)+)"
    r"|(?P<number>(?:0|[1-9]\d{0,2}(?:\{,\}\d{3})++|[1-9]\d*+)(?:\.\d++)?+(?!\d)|\.\d++)"
    r"|(?P<matrix>\\(?:begin|end)\s*+\{[pbvBV]?matrix\})"
    r"|\\(?:text|textrm|mathrm|mbox)\s*+\{\s*+(?P<joining>or|and)\s*+\}"
    r"|\\(?P<command>[A-Za-z]++)|(?P<row>\\\\)|(?P<brace>\\[{}|])|(?P<letter>[^\W\d_])|(?P<mark>[-+*/^_=<>()\[\]{}|,!&'])"
)
_MATH_SYMBOLS = str.maketrans({
    "−": "-", "–": "-", "×": "*", "·": "*", "⋅": "*", "÷": "/", "π": "\\pi ", "∞": "\\infty ", "√": "\\sqrt ", "±": "\\pm ", "∓": "\\mp ",
    "≤": "\\le ", "≥": "\\ge ", "≠": "\\ne ", "∪": "\\cup ", "∩": "\\cap ", "∈": "\\in ", "°": "^\\circ ", "，": ",", "（": "(", "）": ")",
    "\u00a0": " ", "²": "^2", "³": "^3",
})
_SAME_COMMANDS = {
    "dfrac": "frac", "tfrac": "frac", "cfrac": "frac", "leq": "le", "leqslant": "le", "geq": "ge", "geqslant": "ge", "neq": "ne",
    "dbinom": "binom", "tbinom": "binom", "lt": "<", "gt": ">", "cdot": "*", "times": "*", "div": "/", "lvert": "|", "rvert": "|", "vert": "|",
    "lbrace": "\\{", "rbrace": "\\}", "degree": "circ", "emptyset": "varnothing", "wedge": ",", "land": ",",
}
_ONE_ARGUMENT = frozenset(("sqrt", "overline", "vec", "hat", "bar", "mathbf", "mathbb", "boldsymbol", "widehat", "overrightarrow"))
_TWO_ARGUMENTS = frozenset(("frac", "binom"))
_MATH_RELATIONS = frozenset(("=", "<", ">", "le", "ge", "ne", "in", "approx", "equiv"))
_MATH_SUMS = frozenset(("+", "-", "pm", "mp"))
_MATH_SETS = frozenset(("cup", "cap", "setminus"))
_MATH_FUNCTIONS = frozenset((
    "sin", "cos", "tan", "cot", "sec", "csc", "log", "ln", "lg", "exp", "arcsin", "arccos", "arctan", "sinh", "cosh", "tanh",
))
_MATH_NAMES = frozenset((
    "pi", "infty", "circ", "alpha", "beta", "gamma", "delta", "epsilon", "varepsilon", "zeta", "eta", "theta", "iota", "kappa", "lambda", "mu", "nu",
    "xi", "rho", "sigma", "tau", "phi", "varphi", "chi", "psi", "omega", "Gamma", "Delta", "Theta", "Lambda", "Sigma", "Phi", "Psi", "Omega",
    "varnothing", "ell",
))
_MATH_CLOSERS = {"(": ")]", "[": "])", "\\{": ("\\}",)}
_LOOKS_MATHEMATICAL = re.compile(r"[-+*/^_=<>(\[\\√π±×·≤≥²³°−–]|\bpi\b|sqrt|\d\s*,")
_PLAIN_NAMES = re.compile(r"(?<![A-Za-z\\])(sqrt|pi)(?![A-Za-z])")
LARGEST_RADICAND = 10**15
LARGEST_FACTOR = 3000
"""Largest number whose square is taken out of a root."""


class _Declined(Exception):
    """The text is no mathematics that this grammar knows."""


def mathematics(text: str, *, case_sensitive: bool = True) -> Any:
    """Return the tree of a mathematical text, to be compared by `==`; None if the text is declined."""
    if len(text) > LONGEST_MATHEMATICS or not _LOOKS_MATHEMATICAL.search(text):
        return None
    try:
        return _with_plain_roots(_MathReader(text, case_sensitive).whole())
    except (_Declined, ZeroDivisionError):
        return None


def closed_value(text: str) -> float | None:
    """Return the value of a constant with roots or pi, such as `\\frac{\\sqrt{2}}{2}`; None for anything else, and for a root that is whole."""
    tree = mathematics(text)
    if not _is_kind(tree, "irrational"):
        return None
    return sum(float(factor) * (math.sqrt(root) if root else math.pi) for root, factor in tree[1])


def _with_plain_roots(tree: Any) -> Any:
    """Return the tree with each constant that has roots or pi as ("irrational", (root, factor) of its terms): what is under the root is no multiple
    of a square, and 0 stands for pi."""
    if not isinstance(tree, tuple):
        return tree
    if _is_kind(tree, "sum") or _is_kind(tree, "product") or _is_kind(tree, "negative") or _is_kind(tree, "sqrt") or tree == ("name", "pi"):
        terms = _terms(tree)
        if terms and set(terms) != {1}:
            return "irrational", tuple(sorted(terms.items()))
    return tuple(_with_plain_roots(item) for item in tree)


def _terms(tree: Any) -> dict[int, Fraction]:
    """Return root -> factor of a constant, 1 for a number without a root; {} if it is none, or has two terms of one root: these are not added."""
    match tree:
        case ("number", Fraction() as value):
            return {1: value} if value else {}
        case ("name", "pi"):
            return {0: Fraction(1)}
        case ("sqrt", ("number", Fraction() as inside)) if 0 < inside.numerator * inside.denominator < LARGEST_RADICAND:
            outside, root = _without_squares(inside.numerator * inside.denominator)
            return {} if root == 1 else {root: Fraction(outside, inside.denominator)}
        case ("negative", under):
            return {root: -factor for root, factor in _terms(under).items()}
        case ("product", Fraction() as over, Fraction() as under, above, below) if len(above) <= 1 and len(below) <= 1:
            result = {root: factor * over / under for root, factor in (_terms(above[0]) if above else {1: Fraction(1)}).items()}
            divisor = _terms(below[0]) if below else {1: Fraction(1)}
            if len(divisor) != 1 or 0 in divisor:
                return {}
            [(root, factor)] = divisor.items()
            return {key: value / (factor * root) for key, value in _times_root(result, root).items()}
        case ("sum", *parts):
            result = {}
            for sign, part in parts:
                terms = _terms(part) if sign in ("+", "-") else {}
                if not terms or not terms.keys().isdisjoint(result):
                    return {}
                result |= {root: factor if sign == "+" else -factor for root, factor in terms.items()}
            return result
    return {}


def _times_root(terms: dict[int, Fraction], root: int) -> dict[int, Fraction]:
    """Return the terms times a root; {} if one has pi, or two get the same root."""
    if root == 1:
        return terms
    result: dict[int, Fraction] = {}
    for key, factor in terms.items():
        outside, inside = _without_squares(key * root) if 0 < key * root < LARGEST_RADICAND else (0, 0)
        if not outside or inside in result:
            return {}
        result[inside] = factor * outside
    return result


def _without_squares(number: int) -> tuple[int, int]:
    """Return (a, b) with number = a * a * b, b no multiple of a square of up to LARGEST_FACTOR and no square itself. 0 < number < LARGEST_RADICAND."""
    outside, divisor = 1, 2
    while divisor * divisor <= number and divisor <= LARGEST_FACTOR:
        while number % (divisor * divisor) == 0:
            number //= divisor * divisor
            outside *= divisor
        divisor += 1
    whole = math.isqrt(number)
    return (outside * whole, 1) if whole * whole == number else (outside, number)


def interval(tree: Any) -> Any:
    """Return the interval that one relation in a letter says, or two, as `1 < x \\le 3` and `x > 0`; None for anything else."""
    low: Any = ("negative", _as_product(("name", "infty")))
    high: Any = ("name", "infty")
    match tree:
        case ("relation", ("letter", _), ("<" | "le" | ">" | "ge") as sign, end):
            return ("list", "(", (low, end), "]" if sign == "le" else ")") if sign in ("<", "le") else ("list", "[" if sign == "ge" else "(", (end, high), ")")
        case ("relation", end, ("<" | "le" | ">" | "ge") as sign, ("letter", _) as letter):
            return interval(("relation", letter, {"<": ">", "le": "ge", ">": "<", "ge": "le"}[sign], end))
        case ("list", "", (first, second), "") if len({item for side in (first, second) for item in side if _is_kind(item, "letter")}) == 1:
            below, above = sorted(map(interval, (first, second)), key=lambda item: item is not None and item[2][0] == low)
            if below and above and (below[2][1], above[2][0]) == (high, low):
                return "list", below[1], (below[2][0], above[2][1]), above[3]
        case ("relation", first, ("<" | "le") as before, ("letter", _), ("<" | "le") as after, last):
            return "list", "(" if before == "<" else "[", (first, last), ")" if after == "<" else "]"
    return None


def same(left: Any, right: Any) -> bool:
    """Whether two trees are the same answer: equal, an interval and a relation that says it, or a set and its members in any order."""
    if left == right or (interval(left) or left) == right or left == (interval(right) or right):
        return True
    brackets = {tree[1:4:2] for tree in (left, right) if _is_kind(tree, "list")}
    if brackets != {("\\{", "\\}"), ("", "")}:
        return False
    return sorted(map(repr, left[2])) == sorted(map(repr, right[2]))


def constant(text: str) -> bool:
    """Return whether a text is mathematics without letters, relations and lists: a number, a root, a multiple of pi."""
    if number(cleaned(text)) is not None:
        return True
    return (tree := mathematics(text)) is not None and not _has_kinds(tree, ("letter", "relation", "list", "call"))


def _is_kind(tree: Any, kind: str) -> bool:
    return isinstance(tree, tuple) and tree[:1] == (kind,)


def _has_kinds(tree: Any, kinds: tuple[str, ...]) -> bool:
    if not isinstance(tree, tuple):
        return False
    return any(_is_kind(tree, kind) for kind in kinds) or any(_has_kinds(item, kinds) for item in tree)


def _as_product(tree: Any) -> tuple[str, Any, Any, tuple[Any, ...], tuple[Any, ...]]:
    """Return (kind, number above, number below, other factors above, other factors below). Several numbers stay a tuple: they are not multiplied."""
    if _is_kind(tree, "product"):
        return tree
    if _is_kind(tree, "number"):
        value = tree[1]
        return "product", Fraction(value.numerator), Fraction(value.denominator), (), ()
    return "product", Fraction(1), Fraction(1), (tree,), ()


class _MathReader:
    """One pass from left to right over the tokens of a text; declines by raising."""

    def __init__(self, text: str, case_sensitive: bool):
        self.tokens: list[tuple[str, str, bool]] = []
        self.at = self.depth = 0
        place, blank, shown = 0, False, _PLAIN_NAMES.sub(r"\\\1 ", text.translate(_MATH_SYMBOLS).replace("**", "^")).strip().rstrip(".")
        while place < len(shown):
            match = _MATH_TOKEN.match(shown, place)
            if match is None:
                raise _Declined
            place, kind = match.end(), str(match.lastgroup)
            if kind == "space":
                blank = True
                continue
            value = match[kind]
            if kind == "command":
                value = _SAME_COMMANDS.get(value, value)
                kind = "mark" if value in {"*", "/", ",", "<", ">", "|", "\\{", "\\}"} else kind
            elif kind in ("brace", "joining"):
                value = {"joining": ","}.get(kind, "|" if value == "\\|" else value)
                kind = "mark"
            elif kind == "letter" and not case_sensitive:
                value = value.casefold()
            self.tokens.append((kind, value, blank))
            blank = False
        self.sortable = bool(re.search(r"[\\^\d]", shown)) and any(kind in ("letter", "command") for kind, _, _ in self.tokens)
        self._decline_words(shown)

    def _decline_words(self, shown: str) -> None:
        """Words are no products of letters, and `1,234` is a number or a list."""
        run = 0
        for index, (kind, _, blank) in enumerate(self.tokens):
            run = run + 1 if kind == "letter" and not (blank and run) else int(kind == "letter")
            apart = kind == "letter" and blank and index and self.tokens[index - 1][0] == "letter"
            if run > 3 or (apart and not re.search(r"[\\^\d]", shown)):
                raise _Declined
        if re.search(r"\d,\d{3}(?!\d)", shown):
            raise _Declined

    def peek(self) -> str:
        """Return the next token's text, commands without their backslash; "" at the end."""
        return self.tokens[self.at][1] if self.at < len(self.tokens) else ""

    def kind(self) -> str:
        """Return the next token's kind; "" at the end."""
        return self.tokens[self.at][0] if self.at < len(self.tokens) else ""

    def take(self) -> str:
        """Return the next token's text and go past it."""
        if self.at >= len(self.tokens):
            raise _Declined
        self.at += 1
        return self.tokens[self.at - 1][1]

    def is_operator(self, names: frozenset[str]) -> bool:
        """Return whether the next token is one of these operators, and no letter of that name."""
        return self.peek() in names and self.kind() in ("mark", "command")

    def expect(self, value: str) -> None:
        """Go past this token or decline."""
        if self.take() != value:
            raise _Declined

    def whole(self) -> Any:
        """Return the tree of the whole text."""
        result = self.items(())
        if self.at < len(self.tokens):
            raise _Declined
        return result[0] if len(result) == 1 else ("list", "", result, "")

    def items(self, closers: Any) -> tuple[Any, ...]:
        """Return the elements between commas, up to a closing bracket or the end."""
        result = [self.relation()]
        while self.peek() == "," and self.kind() == "mark":
            self.take()
            result.append(self.relation())
        if closers and self.peek() not in closers:
            raise _Declined
        return tuple(result)

    def relation(self) -> Any:
        """Read `sum (relation sum)*`."""
        self.depth += 1
        if self.depth > DEEPEST_MATHEMATICS:
            raise _Declined
        parts: list[Any] = [self.sets()]
        while self.is_operator(_MATH_RELATIONS):
            parts += [self.take(), self.sets()]
        self.depth -= 1
        return parts[0] if len(parts) == 1 else ("relation", *parts)

    def sets(self) -> Any:
        """Read `sum (union sum)*`."""
        parts: list[Any] = [self.sum()]
        while self.is_operator(_MATH_SETS):
            parts += [self.take(), self.sum()]
        return parts[0] if len(parts) == 1 else ("sets", *parts)

    def sum(self) -> Any:
        """Read `sign? product (sign product)*`; terms are sorted if all signs are plus or minus."""
        terms: list[tuple[str, Any]] = []
        sign = self.take() if self.is_operator(_MATH_SUMS) else "+"
        while True:
            term = self.product()
            if _is_kind(term, "negative") and sign in ("+", "-"):
                sign, term = ("-" if sign == "+" else "+"), term[1]
            terms.append((sign, term))
            if not self.is_operator(_MATH_SUMS):
                break
            sign = self.take()
        if len(terms) == 1 and terms[0][0] in ("+", "-"):
            return terms[0][1] if terms[0][0] == "+" else ("negative", _as_product(terms[0][1]))
        return ("sum", *(sorted(terms, key=repr) if self.sortable and all(sign in ("+", "-") for sign, _ in terms) else terms))

    def product(self) -> Any:
        """Read factors that are multiplied, divided, or written side by side."""
        above, below, divided = [self.factor()], [], False
        while True:
            if self.is_operator(frozenset("*/")):
                divided = self.take() == "/"
                (below if divided else above).append(self.factor())
            elif self.kind() in ("number", "letter", "command", "matrix") or self.peek() in ("(", "[", "\\{", "{"):
                if self.is_operator(_MATH_RELATIONS | _MATH_SUMS | _MATH_SETS):
                    break
                if divided or self.kind() == "number" or (self.kind() == "matrix" and self.peek().startswith("\\end")):
                    if self.kind() == "matrix":
                        break
                    raise _Declined  # 1/2x and 1 2 mean two things
                if self.tokens[self.at - 1][:2] == ("number", "1") and len(above) == 1:
                    raise _Declined  # nobody writes 1x
                mixed = self.tokens[self.at - 1][0] == "number" and self.peek() == "frac"
                above.append(self.factor())
                if mixed and _is_kind(above[-1], "number"):
                    raise _Declined  # 1\frac{1}{2} is a mixed number
            else:
                break
        return self.multiplied(above, below) if len(above) > 1 or below else above[0]

    def multiplied(self, above: list[Any], below: list[Any]) -> Any:
        """Return the quotient of two products as one tree: at most one number above and one below are divided, and no two are multiplied."""
        numbers: tuple[list[Fraction], list[Fraction]] = ([], [])
        factors: tuple[list[Any], list[Any]] = ([], [])
        negative = False
        for side, trees in enumerate((above, below)):
            for given in trees:
                tree = given[1] if _is_kind(given, "negative") else given
                negative ^= _is_kind(given, "negative")
                _, over, under, upper, lower = _as_product(tree)
                if not isinstance(over, Fraction) or not isinstance(under, Fraction):
                    raise _Declined
                numbers[side].extend(item for item in (over,) if item != 1 or tree == ("number", Fraction(1)))
                numbers[1 - side].extend(item for item in (under,) if item != 1)
                factors[side].extend(upper)
                factors[1 - side].extend(lower)
        if len(numbers[0]) > 1 or len(numbers[1]) > 1:
            result: Any = ("product", tuple(numbers[0]), tuple(numbers[1]), tuple(factors[0]), tuple(factors[1]))
        else:
            value = Fraction(*(item[0] if item else Fraction(1) for item in numbers))
            if not factors[0] and not factors[1]:
                result = ("number", value)
            elif value == 1 and len(factors[0]) == 1 and not factors[1]:
                result = factors[0][0]
            else:
                result = ("product", Fraction(value.numerator), Fraction(value.denominator), tuple(factors[0]), tuple(factors[1]))
        return ("negative", _as_product(result)) if negative else result

    def factor(self) -> Any:
        """Read one operand with its powers and subscripts."""
        if self.peek() == "-" and self.kind() == "mark":
            raise _Declined  # 2 * -3 wants brackets
        result = self.operand()
        while self.kind() == "mark" and self.peek() in ("^", "_", "!", "'"):
            mark = self.take()
            result = (mark, result, self.argument(digits=True)) if mark in ("^", "_") else (mark, result)
        return result

    def argument(self, *, digits: bool = False) -> Any:
        """Read what a command or a power takes: braces, or one token. digits: `x^10` takes both digits; `\\sqrt12` takes one, as LaTeX does."""
        if self.peek() == "{":
            self.take()
            result = self.relation()
            self.expect("}")
            return result
        if self.kind() == "number" and not digits:
            _, value, blank = self.tokens[self.at]
            if len(value) > 1:
                if not value.isdigit():
                    raise _Declined
                self.tokens[self.at : self.at + 1] = [("number", digit, blank) for digit in value]
            return ("number", Fraction(self.take()))
        if self.peek() == "-" and digits:
            raise _Declined
        return self.operand()

    def operand(self) -> Any:
        """Read a number, a letter, a command with its arguments, or a bracket."""
        self.depth += 1
        if self.depth > DEEPEST_MATHEMATICS:
            raise _Declined
        kind, value = self.kind(), self.take()
        if kind == "number":
            result: Any = ("number", Fraction(value.replace("{,}", "")))
        elif kind == "letter":
            result = ("letter", value)
            if self.peek() == "(" and not self.tokens[self.at][2]:
                result = ("call", result, self.operand())
        elif kind == "command":
            result = self.command(value)
        elif kind == "matrix" and value.startswith("\\begin"):
            result = self.matrix(value)
        elif value in _MATH_CLOSERS:
            items = self.items(_MATH_CLOSERS[value])
            closer = self.take()
            result = items[0] if len(items) == 1 and (value, closer) in (("(", ")"), ("[", "]")) else ("list", value, items, closer)
        elif value == "{":
            result = self.relation()
            self.expect("}")
        elif value == "|":
            result = ("absolute", self.sum())
            self.expect("|")
        else:
            raise _Declined
        self.depth -= 1
        return result

    def command(self, name: str) -> Any:
        """Read what follows a command."""
        if name in _TWO_ARGUMENTS:
            first, second = self.argument(), self.argument()
            return self.multiplied([first], [second]) if name == "frac" else (name, first, second)
        if name == "sqrt" and self.peek() == "[":
            self.take()
            degree = self.sum()
            self.expect("]")
            return ("root", degree, self.argument())
        if name in _ONE_ARGUMENT:
            return (name, self.argument())
        if name in _MATH_FUNCTIONS:
            return ("function", name)
        if name in _MATH_NAMES:
            return ("name", name)
        raise _Declined

    def matrix(self, opened: str) -> Any:
        """Read the entries of a matrix, row by row."""
        rows: list[tuple[Any, ...]] = []
        row: list[Any] = []
        while True:
            row.append(self.relation())
            mark, kind = self.peek(), self.kind()
            self.take()
            if mark == "&":
                continue
            rows.append(tuple(row))
            row = []
            if kind == "row" and self.kind() == "matrix":
                mark, kind = self.take(), "matrix"
            if kind == "matrix" and mark.startswith("\\end"):
                return ("matrix", opened.split("{")[1], tuple(rows))
            if kind != "row":
                raise _Declined
