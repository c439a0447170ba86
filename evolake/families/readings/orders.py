"""In which order things are taken, and which extreme."""

from __future__ import annotations

import ast
import copy
import re
from collections.abc import Iterator

from evolake.families.readings.view import (
    Examiner,
    FamilyView,
    ReadingPlace,
    Wanted,
    called_names,
    compared,
    source_of,
)

UP_ORDER, DOWN_ORDER = "rising", "falling"


def sorting(view: FamilyView) -> Examiner:
    """Examine in which order things are taken: sorts of the programs against the order that the text says."""
    small = "smallest|lightest|shortest|lowest|youngest|earliest|cheapest|least|slowest|fewest"
    large = (
        "largest|heaviest|tallest|longest|highest|oldest|latest|greatest|biggest|dearest|fastest|most "
        "expensive"
    )
    rising = (
        rf"\b(?:{small})(?: \w+)? (?:comes? |goes? |is \w+ |are \w+ )?first\b|"
        rf"\bfrom (?:the )?(?:{small})\b.{{0,20}}\bto (?:the )?(?:{large})|"
        r"\b(?:ascending|increasing|rising) order|\border of (?:increasing|ascending|rising)"
    )
    falling = (
        rf"\b(?:{large})(?: \w+)? (?:comes? |goes? |is \w+ |are \w+ )?first\b|"
        rf"\bfrom (?:the )?(?:{large})\b.{{0,20}}\bto (?:the )?(?:{small})|"
        r"\b(?:descending|decreasing|falling) order|\border of (?:decreasing|descending|falling)"
    )
    ups, downs = view.matching(rising), view.matching(falling)
    if bool(ups) == bool(downs):
        yield Wanted()
        return []
    tree = view.trees.get("primary")
    source = _sort_turned(tree) if tree is not None else None
    given = yield Wanted((), [source] if source else [])
    found = {way for item in view.trees.values() for way in _sorted_ways(item)}
    says, sentence = (UP_ORDER, ups[0]) if ups else (DOWN_ORDER, downs[0])
    if len(found) != 1 or (source and not given.decided[0]):
        return []
    does = found.pop()
    decides, total = (given.decided[0], given.of) if source else (0, 0)
    return [compared("the order in which things are taken", sentence, says, does, decides, total)]


def _sorts(tree: ast.Module) -> Iterator[ast.Call]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] in ("sorted", "sort"):
            yield node


def _sorted_ways(tree: ast.Module) -> Iterator[str]:
    text = ast.unparse(tree)
    if re.search(r"\.pop\(\)|reversed\(|\[::-1\]|\[-1\]", text):
        yield "?"
        return
    names = called_names(tree)
    if "heappop" in names and not names & {"sorted", "sort"}:
        yield DOWN_ORDER if re.search(r"heappush\(\w+, \(?-|\[\(?-\w+", text) else UP_ORDER
    for call in _sorts(tree):
        reverse = any(
            keyword.arg == "reverse" and ast.unparse(keyword.value) == "True" for keyword in call.keywords
        )
        key = next((keyword.value for keyword in call.keywords if keyword.arg == "key"), None)
        body = key.body if isinstance(key, ast.Lambda) else None
        first = body.elts[0] if isinstance(body, ast.Tuple) and body.elts else body
        negative = isinstance(first, ast.UnaryOp) and isinstance(first.op, ast.USub)
        yield DOWN_ORDER if reverse != negative else UP_ORDER


def _sort_turned(tree: ast.Module) -> str | None:
    tree, changed = copy.deepcopy(tree), False
    for call in _sorts(tree):
        changed = True
        kept = [keyword for keyword in call.keywords if keyword.arg != "reverse"]
        reverse = any(
            keyword.arg == "reverse" and ast.unparse(keyword.value) == "True" for keyword in call.keywords
        )
        call.keywords = kept if reverse else [*kept, ast.keyword("reverse", ast.Constant(True))]
    return source_of(tree) if changed else None


SMALL, LARGE = "the smallest", "the largest"


def extremes(view: FamilyView) -> Examiner:
    """Examine whether the smallest is asked for and the largest is taken, or the other way round."""
    yield Wanted()
    small = view.matching(
        r"\b(?:smallest|lowest|shortest|lightest|cheapest|fewest|youngest|minimum|minimal|poorest|weakest|"
        r"(?<!at )least(?! \d| #))\b"
    )
    large = view.matching(
        r"\b(?:largest|highest|longest|heaviest|greatest|biggest|tallest|oldest|maximum|maximal|"
        r"dearest|most expensive|richest|strongest|(?<!at )most(?! \d| #))\b"
    )
    if bool(small) == bool(large):
        return []
    says, sentence = (SMALL, small[0]) if small else (LARGE, large[0])
    found = {name: set(_extremes_taken(tree)) for name, tree in view.trees.items()}
    known = [items for items in found.values() if items]
    other = LARGE if says == SMALL else SMALL
    if sum(other in items for items in known) >= 2 and not any(says in items for items in known):
        return [ReadingPlace("which extreme is taken", sentence, says, other, "contradicted")]
    return []


def _extremes_taken(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        kept = (
            isinstance(node, ast.Assign)
            and isinstance(node.value, ast.Call)
            and ast.unparse(node.targets[0]) in map(ast.unparse, node.value.args)
        )
        if (
            kept
            and isinstance(node, ast.Assign)
            and isinstance(node.value, ast.Call)
            and ast.unparse(node.value.func) in ("min", "max")
        ):
            yield SMALL if ast.unparse(node.value.func) == "min" else LARGE
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id in ("min", "max")
            and len(node.args) == 1
        ):
            key = next((item.value for item in node.keywords if item.arg == "key"), None)
            body = key.body if isinstance(key, ast.Lambda) else None
            first = body.elts[0] if isinstance(body, ast.Tuple) and body.elts else body
            negative = isinstance(first, ast.UnaryOp) and isinstance(first.op, ast.USub)
            yield SMALL if (node.func.id == "min") != negative else LARGE
        if isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] in (
            "sorted",
            "sort",
            "reduce",
        ):
            yield "?"
        if (
            isinstance(node, ast.Compare)
            and isinstance(node.ops[0], ast.Lt | ast.Gt | ast.LtE | ast.GtE)
            and "best" in ast.unparse(node)
        ):
            yield "?"
