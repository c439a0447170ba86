"""Which way is rounded, by what the programs divide with; the sign of a remainder and the middle of an even
number of values, by a changed validator that takes the other one."""

from __future__ import annotations

import ast
import copy
import re

from evolake.families.readings.view import (
    Examiner,
    FamilyView,
    ReadingPlace,
    Wanted,
    called_names,
    calling,
    compared,
    source_of,
)
from evolake.reading.json_text import whole_number

LOWER, HIGHER, MEAN = "the lower of the two", "the higher of the two", "their mean"
MIDDLE_WORDS = (
    (LOWER, "smaller|lower|lesser|worse|lighter|shorter|left|earlier|smallest|lowest"),
    (HIGHER, "larger|higher|greater|better|upper|bigger|heavier|taller|right|later"),
)


def medians(view: FamilyView) -> Examiner:
    """Examine which of two middle values is the median."""
    mention = view.matching(r"\bmedian|\bmiddle\b|\btwo (?:in the )?middle")
    if not mention:
        yield Wanted()
        return []
    text = " ".join(mention)
    two = (
        r"(?:one |value |number |element )?(?:of (?:the |these |those )?(?:two|both|middle)|middle|median)\b"
    )
    says = {
        name
        for name, words in MIDDLE_WORDS
        if re.search(rf"\b(?:{words}) {two}", text, re.IGNORECASE)
        or re.search(
            rf"\btwo\b[^.;]*\b(?:the|is its|"
            rf"take) (?:{words})\b",
            text,
            re.IGNORECASE,
        )
    } | (
        {MEAN}
        if re.search(r"\b(?:mean|average|half (?:of )?(?:the|their) sum|half ?way)\b", text, re.IGNORECASE)
        else set()
    )
    held = {name: _median_held(tree) for name, tree in view.trees.items()}
    tree = view.trees.get("primary")
    source = _median_changed(tree) if tree is not None else None
    given = yield Wanted((), [source] if source else [])
    decides, total = (given.decided[0], given.of) if source else (0, 0)
    does = set().union(*held.values())
    if len(does) != 1:
        return []
    if len(says) == 1:
        verdict = "fixed" if says == does else "contradicted"
        return [
            ReadingPlace(
                "the middle of an even number",
                mention[0],
                says.pop(),
                next(iter(does)),
                verdict,
                decides,
                total,
            )
        ]
    if not says and decides:
        return [
            ReadingPlace(
                "the lower or the higher of two middle values",
                mention[0],
                "",
                next(iter(does)),
                "ambiguous",
                decides,
                total,
            )
        ]
    return []


def _median_held(tree: ast.Module) -> set[str]:
    names = called_names(tree)
    result = {
        side
        for name, side in (("median_low", LOWER), ("median_high", HIGHER), ("median", MEAN))
        if name in names
    }
    lower = higher = False
    for node in ast.walk(tree):
        index = node.slice if isinstance(node, ast.Subscript) else None
        if (
            isinstance(index, ast.BinOp)
            and isinstance(index.op, ast.FloorDiv)
            and ast.unparse(index.right) == "2"
        ):
            less = (
                isinstance(index.left, ast.BinOp)
                and isinstance(index.left.op, ast.Sub)
                and ast.unparse(index.left.right) == "1"
            )
            lower, higher = lower or less, higher or not less
        elif (
            isinstance(index, ast.BinOp)
            and isinstance(index.op, ast.Sub)
            and ast.unparse(index.right) == "1"
            and "// 2" in ast.unparse(index.left)
        ):
            lower = True
    if lower and higher:
        kinds = {MEAN}
    elif lower:
        kinds = {LOWER}
    elif higher:
        kinds = {HIGHER}
    else:
        kinds = set()
    return result | kinds


def _median_changed(tree: ast.Module) -> str | None:
    tree, changed = copy.deepcopy(tree), False
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute | ast.Name):
            key = "attr" if isinstance(node, ast.Attribute) else "id"
            other = {"median_low": "median_high", "median_high": "median_low"}.get(getattr(node, key))
            if other:
                setattr(node, key, other)
                changed = True
        index = node.slice if isinstance(node, ast.Subscript) else None
        halved = (
            isinstance(index, ast.BinOp)
            and isinstance(index.op, ast.FloorDiv)
            and ast.unparse(index.right) == "2"
        )
        if halved and isinstance(index, ast.BinOp):
            changed = True
            less = (
                isinstance(index.left, ast.BinOp)
                and isinstance(index.left.op, ast.Sub)
                and ast.unparse(index.left.right) == "1"
            )
            index.left = (
                index.left.left
                if less and isinstance(index.left, ast.BinOp)
                else ast.BinOp(index.left, ast.Sub(), ast.Constant(1))
            )
    return source_of(tree) if changed else None


REMAINDER = "the sign of a remainder"
TRUNCATED = """
def _remainder_of_sign(a, b):
    return a % b if a >= 0 or a % b == 0 else a % b - b if b > 0 else a % b
"""


def remainders(view: FamilyView) -> Examiner:
    """Examine the sign of a remainder."""
    mention = view.matching(r"\bremainder|\bmodulo\b|\bmod\b|\bleft over when")
    truncated = view.matching(
        r"\bsign (?:of|as) the (?:dividend|(?:number|value|one) (?:that is |which is |"
        r"being )?divided|first)|\bas in (?:the language )?(?:C|Java)\b|"
        r"\b(?:remainder|it) (?:may be|can be|is) negative|\bdivision (?:rounds|"
        r"is rounded) towards? (?:zero|0)"
    )
    floored = view.matching(
        r"\bnever (?:be )?negative|\bnot negative|\bnon-?negative|\balways (?:at least|"
        r"between) (?:0|zero)|\bsign (?:of|as) the divisor|"
        r"\bat least 0 (?:and|but)|\bfrom 0 to\b.{0,20}(?:less|minus) (?:1|one)|\bas in Python"
    )
    if not mention:
        yield Wanted()
        return []
    tree = view.trees.get("primary")
    source = calling(tree, ast.Mod, "_remainder_of_sign", TRUNCATED) if tree is not None else None
    back = _with_fmod_floored(tree) if tree is not None else None
    sources = [item for item in (source, back) if item]
    given = yield Wanted((), sources)
    counts = dict(zip(sources, given.decided, strict=True))
    plain = re.compile(r"\bnegative\b|\bsign\b", re.IGNORECASE)
    if back and counts[back]:
        if floored and not truncated:
            return [
                ReadingPlace(
                    REMAINDER,
                    floored[0],
                    "never negative",
                    "the sign of the number divided",
                    "contradicted",
                    counts[back],
                    given.of,
                )
            ]
        return []
    if source and counts[source]:
        if truncated and not floored:
            return [
                ReadingPlace(
                    REMAINDER,
                    truncated[0],
                    "the sign of the number divided",
                    "never negative",
                    "contradicted",
                    counts[source],
                    given.of,
                )
            ]
        if not truncated and not floored and not plain.search(view.text):
            return [
                ReadingPlace(
                    REMAINDER, mention[0], "", "never negative", "ambiguous", counts[source], given.of
                )
            ]
        return [
            compared(
                REMAINDER,
                (floored or mention)[0],
                "never negative",
                "never negative",
                counts[source],
                given.of,
            )
        ]
    return []


def _named(word: str) -> ast.expr:
    """Return the name or the number that a word of a source is."""
    number = whole_number(word)
    return ast.Name(word, ast.Load()) if number is None else ast.Constant(number)


def _with_fmod_floored(tree: ast.Module) -> str | None:
    """Return the source with a % b for fmod(a, b), and for a - b * int(a / b); None if it has neither."""
    changed = False

    class _Flooring(ast.NodeTransformer):
        def visit_Call(self, node: ast.Call) -> ast.AST:
            nonlocal changed
            self.generic_visit(node)
            name = ast.unparse(node.func)
            if name in ("math.fmod", "fmod") and len(node.args) == 2:
                changed = True
                return ast.BinOp(node.args[0], ast.Mod(), node.args[1])
            return node

        def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
            nonlocal changed
            self.generic_visit(node)
            match = re.fullmatch(
                r"(\w+) - (?:(\w+) \* int\(\1 / (\w+)\)|int\(\1 / (\w+)\) \* (\w+))", ast.unparse(node)
            )
            if match and match[2] == match[3] and match[4] == match[5]:
                changed = True
                return ast.BinOp(_named(match[1]), ast.Mod(), _named(match[2] or match[4]))
            return node

        def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
            nonlocal changed
            self.generic_visit(node)
            text = ast.unparse(node)
            match = re.fullmatch(r"(\w+) % (\w+) if \1 >= 0 else -\(-\1 % \2\)", text)
            match = match or re.fullmatch(r"-\(-(\w+) % (\w+)\) if \1 < 0 else \1 % \2", text)
            if match:
                changed = True
                return ast.BinOp(_named(match[1]), ast.Mod(), _named(match[2]))
            return node

    new = _Flooring().visit(copy.deepcopy(tree))
    return source_of(new) if changed else None


CEILING = """
def _rounded_up(a, b):
    return -(-a // b)
"""
DOWN, UP, HALF_UP, HALF_EVEN, EXACT = (
    "down",
    "up",
    "to the nearest, halves up",
    "to the nearest, halves to even",
    "not at all",
)


def rounding(view: FamilyView) -> Examiner:
    """Examine which way is rounded."""
    said: list[tuple[str, str]] = []
    for sentence in view.sentences:
        says = _rounding_said(sentence)
        if says:
            said.append((says, sentence))
    divided = view.matching(
        r"\b(?:half|halves|a third|a quarter|per ?cent|%|divided (?:by|equally|evenly)|"
        r"shared? (?:\w+ )?(?:equally|evenly)|average)\b"
    )
    held = {name: _rounding_held(tree) for name, tree in view.trees.items()}
    tree = view.trees.get("primary")
    other = (
        calling(tree, ast.FloorDiv, "_rounded_up", CEILING)
        if tree is not None and (said or divided)
        else None
    )
    given = yield Wanted((), [other] if other else [])
    decides = given.decided[0] if other else 0
    known = {name: items for name, items in held.items() if items}
    stated = {says for says, _ in said}
    if (
        stated == {UP}
        and decides
        and held.get("primary") == {DOWN}
        and not any(UP in items for items in known.values())
    ):
        return [compared("rounding", said[0][1], UP, DOWN, decides, given.of)]
    if len(stated) == 1 and known:
        says, sentence = said[0]
        if says not in set().union(*known.values()) and not any("?" in items for items in known.values()):
            does = sorted(next(iter(known.values())))[0]
            return [compared("rounding", sentence, says, does, decides, given.of if other else 0)]
        return [ReadingPlace("rounding", sentence, says, says, "fixed", decides, given.of if other else 0)]
    whole = (
        r"\bround|\bodd\b|\bone more\b|\bwhole\b|\binteger|\bfraction|\bexact|\bremain|\bleft over|"
        r"\bnearest|\bfull\b|\beven (?:number|\w+)\b|\bmiddle|\bmedian|\bpossible\b|\bcomplete|\bdigit"
    )
    if (
        not said
        and decides
        and divided
        and not re.search(whole, view.text, re.IGNORECASE)
        and held.get("primary") == {DOWN}
    ):
        return [ReadingPlace("rounding down or up", divided[0], "", DOWN, "ambiguous", decides, given.of)]
    return []


def _rounding_said(sentence: str) -> str:
    text = re.sub(r"\badd\w* up\b|\bsum\w* up\b", "add", sentence.casefold())
    text = re.sub(r"\brounded (\w+) (?:add|\w+) (?:up|down)\b", r"rounded \1", text)
    if re.search(
        r"\bnearest\b|\bhal(?:f|ves)\b[^.]{0,25}\b(?:up|even)\b.{0,12}round|\bround\w* (?:\w+ )?half\b|"
        r"commercial",
        text,
    ):
        if re.search(r"\beven\b", text):
            return HALF_EVEN
        return HALF_UP if re.search(r"\bup\b|\.5|away|commercial", text) else ""
    down = re.search(
        r"\bround\w* (?:\w+ ){0,2}down\b|\bfraction\w* (?:is|are) (?:dropped|cut|ignored|discarded|left "
        r"out)|\bdrop\w* (?:any|the) fraction|\bwhole part\b|\bcut off\b|\b(?:rest|remainder|left over) "
        r"is (?:lost|ignored|thrown away|dropped)|\bonly (?:full|whole|complete) \w+ (?:count|are|is)\b|"
        r"\bfor (?:every|each) (?:full|whole|complete)\b",
        text,
    )
    up = re.search(
        r"\bround\w* (?:\w+ ){0,4}up\b|\b(?:started|begun|commenced|part of an?|partial) (?:\w+ "
        r"){0,2}(?:counts?|is charged|is paid|costs?)",
        text,
    )
    if down and not up:
        return DOWN
    if up and not down:
        return UP
    return ""


def _rounding_held(tree: ast.Module) -> set[str]:
    """Return the ways in which a source certainly rounds; with "?" if something there may round another
    way."""
    result: set[str] = set()
    names = called_names(tree)
    result |= {UP} if "ceil" in names else set()
    result |= {DOWN} if names & {"floor", "trunc"} else set()
    inside: set[ast.AST] = set()
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id == "round"
            and len(node.args) == 1
        ):
            result.add(HALF_EVEN)
        negated = node.operand if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) else None
        if (
            isinstance(negated, ast.BinOp)
            and isinstance(negated.op, ast.FloorDiv)
            and isinstance(negated.left, ast.UnaryOp)
        ):
            result.add(UP)
            inside.add(negated)
    for node in ast.walk(tree):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.FloorDiv) and node not in inside:
            result |= _floor_division(node)
        if (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod)) or (
            isinstance(node, ast.Call) and ast.unparse(node.func) == "divmod"
        ):
            result.add("?")
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id == "int"
            and len(node.args) == 1
        ):
            inner = ast.unparse(node.args[0])
            if "/" in inner and "//" not in inner:
                result.add(HALF_UP if "0.5" in inner else DOWN)
    if result == {"?"}:
        return set()
    return result


def _floor_division(node: ast.BinOp) -> set[str]:
    """Return what a // b may be: rounding up if the left is a + b - 1, to the nearest if it is a + b // 2."""
    left, right = node.left, ast.unparse(node.right)
    text = ast.unparse(left)
    constant = (
        node.right.value if isinstance(node.right, ast.Constant) and type(node.right.value) is int else None
    )
    if isinstance(left, ast.BinOp) and isinstance(left.op, ast.Add | ast.Sub):
        tail = ast.unparse(left.right)
        less_one = constant is not None and constant > 2 and tail == str(constant - 1)
        if less_one or text.endswith((f"+ {right} - 1", f"({right} - 1)", f"- 1 + {right}")):
            return {UP}
        if tail == f"{right} // 2" or (
            constant is not None and constant % 2 == 0 and tail == str(constant // 2) and constant > 2
        ):
            return {HALF_UP}
        if right.startswith("(2 *") or right.startswith("2 *"):
            return {HALF_UP}
        if constant == 2 and tail == "1" and isinstance(left.op, ast.Add):
            return {UP, HALF_UP}
        if isinstance(left.op, ast.Add) and isinstance(left.right, ast.Constant):
            return {"?"}
    return {DOWN}


MIDWAY = (
    r"\b(?:(?:just|exactly|right|half ?way|precisely) (?:in the middle|between|in between)|half ?way|midway|"
    r"in the middle between|halves|a half|\.5|one half)\b"
)
ROUNDED_HALVES = """
from fractions import Fraction as _Fraction

def _halves(number):
    doubled = 2 * _Fraction(number)
    return int({way})
"""
WAYS = {HALF_UP: "(doubled + 1) // 2", "to the nearest, halves down": "-((1 - doubled) // 2)"}


def halves(view: FamilyView) -> Examiner:
    """Examine whether a half goes up or down as the text says, where programs call round(), which takes it to
    the even number."""
    stated_halves = []
    for number, sentence in enumerate(view.sentences):
        near = " ".join(view.sentences[max(0, number - 1) : number + 2])
        if re.search(MIDWAY, sentence, re.IGNORECASE) and re.search(
            r"\bround|\bnearest\b|\bwhole (?:number|coin|mark|point)", near, re.IGNORECASE
        ):
            rest = re.split(MIDWAY, sentence, maxsplit=1, flags=re.IGNORECASE)[-1]
            up = re.search(r"\b(?:up|upwards|higher|larger|greater|bigger|upper)\b", rest, re.IGNORECASE)
            down = re.search(r"\b(?:down|downwards|lower|smaller|lesser)\b", rest, re.IGNORECASE)
            if bool(up) != bool(down) and not re.search(r"\beven\b", sentence, re.IGNORECASE):
                stated_halves.append((sentence, HALF_UP if up else "to the nearest, halves down"))
    sources = []
    for tree in view.trees.values() if len(stated_halves) == 1 else []:
        source = _halves_as(tree, WAYS[stated_halves[0][1]])
        sources += [source] if source else []
    given = yield Wanted((), sources)
    decides = max(given.decided, default=0)
    return (
        [
            ReadingPlace(
                "where a half is rounded to",
                stated_halves[0][0],
                stated_halves[0][1],
                HALF_EVEN,
                "contradicted",
                decides,
                given.of,
            )
        ]
        if decides
        else []
    )


def _halves_as(tree: ast.Module, way: str) -> str | None:
    """Return the source in which round(x) takes a half that way, None if it does not call round so."""
    changed = False

    class _Rounding(ast.NodeTransformer):
        def visit_Call(self, node: ast.Call) -> ast.AST:
            nonlocal changed
            self.generic_visit(node)
            if isinstance(node.func, ast.Name) and node.func.id == "round" and len(node.args) == 1:
                changed = True
                node.func = ast.Name("_halves", ast.Load())
            return node

    new = _Rounding().visit(copy.deepcopy(tree))
    return source_of(new, ROUNDED_HALVES.format(way=way)) if changed else None
