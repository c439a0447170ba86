"""Left and right, forward and back (the signs that programs give words of direction, turns, and slices that
turn a list round); and who is a neighbour: whether a circle is closed, and whether corners touch."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from evolake.families.readings.view import Examiner, FamilyView, ReadingPlace, Wanted, at, changed, compared


def circles(view: FamilyView) -> Examiner:
    """Examine whether a circle is closed: some program must go from the last to the first, and turning it
    changes no count."""
    stated = view.matching(
        r"\b(?:in|round|around|form|along|on) an? (?:\w+ )?(?:circle|ring|table|loop)\b(?! of)|"
        r"\bcircular\b|\bclosed (?:ring|chain|circle)\b|"
        r"\bthe last (?:one )?(?:is|stands|sits) (?:also )?(?:next to|beside|"
        r"a neighbour of) the first|\bround table\b|"
        r"\bafter the last\b[^.;]*\bthe first\b|\bthe last\b[^.;]{0,40}\b(?:to|by|with|and) the first\b"
    )
    row = (
        []
        if stated
        else view.matching(r"\b(?:in|form|forming) a (?:straight |long |single )?(?:row|line|queue)\b")
    )
    lists = view.lists()
    rest = " ".join(sentence for sentence in view.sentences if sentence not in stated)
    placed = re.search(
        r"\b(?:first|begins?|starts?|beginning|starting|number(?:ed|s)? (?:from|\d|#))\b", rest, re.IGNORECASE
    )
    turning = (
        bool(stated or row)
        and len(lists) == 1
        and not placed
        and all(type(label) is int for label in view.labels)
    )
    probes = []
    for place in view.few if turning else []:
        items = at(view.instances[place].inputs, lists[0])
        orders = [items[by:] + items[:by] for by in (1, len(items) // 2)] + [items[::2] + items[1::2]]
        probes += [(place, changed(view.instances[place].inputs, lists[0], order)) for order in orders]
    given = yield Wanted([inputs for _, inputs in probes])
    others = [
        solved.status == "ok" and not view.same(solved.answer, view.labels[place])
        for (place, _), solved in zip(probes, given.answers, strict=True)
    ]
    moved, mixed = sum(sum(others[part::3]) for part in (0, 1)), sum(others[2::3])
    if row and mixed >= 3 and not moved and len(others) >= 24:
        return [
            ReadingPlace(
                "a circle",
                row[0],
                "a line",
                "closed: turned round, it gives the same answer",
                "contradicted",
                mixed,
                len(others) // 3,
            )
        ]
    if not stated:
        return []
    open_ended = [name for name, tree in view.trees.items() if not _wraps(tree)]
    if moved >= 3:
        return [
            ReadingPlace(
                "a circle",
                stated[0],
                "closed",
                "a line: turned round, it gives another answer",
                "contradicted",
                moved,
                len(probes),
            )
        ]
    if open_ended and not (probes and not moved):
        return [
            ReadingPlace(
                "a circle", stated[0], "closed", f"a line in the program {open_ended[0]}", "contradicted"
            )
        ]
    return [ReadingPlace("a circle", stated[0], "closed", "closed", "fixed")]


def _wraps(tree: ast.Module) -> bool:
    for node in ast.walk(tree):
        if isinstance(node, ast.Mod):
            return True
        if isinstance(node, ast.Attribute) and node.attr in (
            "rotate",
            "append",
            "popleft",
            "cycle",
            "insert",
            "extend",
        ):
            return True
        if isinstance(node, ast.Name) and node.id in ("deque", "cycle", "divmod", "chain"):
            return True
        if isinstance(node, ast.Tuple) and any(
            isinstance(item, ast.Constant) and item.value == 0 for item in node.elts
        ):
            return True
        if isinstance(node, ast.Subscript):
            text = ast.unparse(node.slice)
            if text in ("-1", "0", ":1", "-1:") or (
                not isinstance(node.slice, ast.Slice) and re.search(r"- \d|-\d", text)
            ):
                return True
        if isinstance(node, ast.Compare) and re.search(r"\bn\b|len\(|size|count", ast.unparse(node)):
            return True
        if (
            isinstance(node, ast.BinOp)
            and isinstance(node.op, ast.Add | ast.Mult)
            and ast.unparse(node.left) == ast.unparse(node.right)
        ):
            return True
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult) and ast.unparse(node.right) == "2":
            return True
    return False


FOUR, EIGHT = "four neighbours", "eight neighbours"


def diagonals(view: FamilyView) -> Examiner:
    """Examine whether cells that touch at a corner are neighbours."""
    yield Wanted()
    four = view.matching(
        r"\bnot (?:\w+ )?diagonal|\bhorizontal(?:ly)? (?:or|and) vertical|\bshare an? (?:side|edge|"
        r"border)|\bup, down, left (?:or|and) right|"
        r"\bno diagonal|\bnot count(?:ing)? (?:the )?diagonal|\bvertical(?:ly)? (?:or|"
        r"and) horizontal|\bfour neighbours"
    )
    eight = view.matching(
        r"\b(?:also|including|even|and|or) (?:\w+ )?diagonal|\beight (?:\w+ )?(?:neighbours|cells|fields)|"
        r"\bshare an? (?:side|edge) or an? corner|\btouch at a corner|\bside\w*\b[^.;]{0,25}\b(?:or|and|"
        r"also)\b[^.;]{0,25}\bcorners?\b|\b(?:up to )?eight (?:\w+ )?(?:around|squares|cells)\b|\bcorner "
        r"to corner\b|\b(?:only|even|also|just) (?:at|by|with) (?:a|one|the) corners?\b|\bking\b"
    )
    if bool(four) == bool(eight) and not (eight and "not" not in eight[0]):
        return []
    if eight and not four:
        says, sentence = (EIGHT, eight[0])
    elif four and not eight:
        says, sentence = (FOUR, four[0])
    else:
        says, sentence = ("", "")
    found = {way for tree in view.trees.values() for way in _neighbourhood(tree)}
    if not says or len(found) != 1:
        return []
    does = found.pop()
    return [compared("whether corners make neighbours", sentence, says, does)]


def _neighbourhood(tree: ast.Module) -> Iterator[str]:
    text = ast.unparse(tree)
    if re.search(r"abs\([^()]*(?:\([^()]*\)[^()]*)*\) \+ abs\([^()]*\) (?:==|<=) 1", text):
        yield FOUR
    if re.search(r"max\(abs\(", text) or re.search(r"product\(\(-1, 0, 1\)|product\(range\(-1, 2\)", text):
        yield EIGHT
    twice = len(re.findall(r" in (?:\(-1, 0, 1\)|\[-1, 0, 1\]|range\(-1, 2\))", text)) >= 2
    if twice and not re.search(r"abs\(|== 0 or|== 0\) or|\* \w+ (?:==|!=) 0|not \(?\w+ and \w+", text):
        yield EIGHT
    for node in ast.walk(tree):
        if isinstance(node, ast.Tuple | ast.List | ast.Set) and len(node.elts) in (4, 8):
            try:
                steps = [tuple(item) for item in ast.literal_eval(ast.unparse(node))]
            except (ValueError, TypeError):
                continue
            if all(len(step) == 2 and set(step) <= {-1, 0, 1} for step in steps):
                yield EIGHT if len(set(steps)) == 8 else FOUR


FORWARD = frozenset(
    [
        "r",
        "right",
        "e",
        "east",
        "u",
        "up",
        "f",
        "forward",
        "forwards",
        "n",
        "north",
        "ahead",
        "clockwise",
        "cw",
        ">",
    ]
)
BACKWARD = frozenset(
    [
        "l",
        "left",
        "w",
        "west",
        "d",
        "down",
        "b",
        "back",
        "backward",
        "backwards",
        "s",
        "south",
        "behind",
        "anticlockwise",
        "counterclockwise",
        "ccw",
        "<",
    ]
)
OPPOSITE = {"l": "r", "left": "right", "w": "e", "west": "east", "back": "forward", "b": "f"}
OPPOSITE |= {other: word for word, other in OPPOSITE.items()}


def directions(view: FamilyView) -> Examiner:
    """Examine whether left and right, or up and down, have the effects that they have."""
    yield Wanted()
    sentence = next(
        iter(
            view.matching(
                r"\b(?:left|right|east|west|up|down|forwards?|backwards?|clockwise|anticlockwise|"
                r"counterclockwise)\b|[\"“'][LRUDEWNS][\"”']"
            )
        ),
        "",
    )
    if not sentence:
        return []
    ways = [way for tree in view.trees.values() for way in _directed(tree)]
    for first, other in (
        ("left", "right"),
        ("west", "east"),
        ("down", "up"),
        ("back", "forward"),
        ("l", "r"),
        ("w", "e"),
        ("d", "u"),
        ("b", "f"),
    ):
        signs = {
            word: {sign for name, sign in ways if name == word or (len(word) > 1 and name.startswith(word))}
            for word in (first, other)
        }
        if (
            signs[first] == {1}
            and signs[other] == {-1}
            and not re.search(
                r"\bfrom (?:the )?(?:right|east|top|bottom|"
                r"back)\b|\btop row|\brows? "
                r"(?:\w+ )?(?:from|downwards)|\b(?:down|"
                r"row)\b.{0,30}\b(?:larger|higher|grow|"
                r"increas)",
                view.text,
                re.IGNORECASE,
            )
            and (
                first not in ("down", "d")
                or not re.search(
                    r"\b(?:rows?|columns?|grids?|cells?|squares?|fields?|boards?|coordinates?)\b",
                    view.text,
                    re.IGNORECASE,
                )
            )
        ):
            return [
                ReadingPlace(
                    "a direction", sentence, f"{first} is back", f"{first} is forward", "contradicted"
                )
            ]
    turns = {way for tree in view.trees.values() for way in _turns(tree)}
    if turns and turns <= {("right", "left"), ("left", "right")}:
        return [
            ReadingPlace(
                "a direction",
                sentence,
                "a turn to the right goes from north to east",
                "it goes from north to west",
                "contradicted",
            )
        ]
    return _rotations(view)


def _turns(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Yield (word, way) for each turn of a pair of steps under a test of a word: x grows to the east and y to
    the north."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.If) or not isinstance(node.test, ast.Compare):
            continue
        word = _word_tested(node.test)
        if word in ("l", "r", "left", "right") and node.body:
            first = "left" if word.startswith("l") else "right"
            for name, body in (
                (first, node.body[0]),
                ({"left": "right", "right": "left"}[first], node.orelse[0] if node.orelse else None),
            ):
                match = (
                    re.fullmatch(r"\(?(\w+), (\w+)\)? = \(?(-?\w+), (-?\w+)\)?", ast.unparse(body))
                    if body
                    else None
                )
                if match and (match[3], match[4]) == (match[2], f"-{match[1]}"):
                    yield name, "right"
                elif match and (match[3], match[4]) == (f"-{match[2]}", match[1]):
                    yield name, "left"


def _directed(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """Yield (word, sign) for each effect that a source gives a word of direction: by a mapping or under a
    test."""
    known = FORWARD | BACKWARD
    for node in ast.walk(tree):
        if isinstance(node, ast.Dict):
            for key, value in zip(node.keys, node.values, strict=True):
                if (
                    isinstance(key, ast.Constant)
                    and isinstance(key.value, str)
                    and key.value.casefold() in known
                ):
                    sign = _sign(value)
                    if sign:
                        yield key.value.casefold(), sign
        test, body, other = None, None, None
        if isinstance(node, ast.If):
            test, body, other = node.test, node.body, node.orelse
        elif isinstance(node, ast.IfExp):
            test, body, other = node.test, [node.body], [node.orelse]
        if isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.Eq) and body:
            word = _word_tested(test)
            if word in known:
                sign = _effect(body[0])
                if sign:
                    yield word, sign
                opposite = OPPOSITE.get(word)
                if opposite and other and (sign := _effect(other[0])):
                    yield opposite, sign


def _word_tested(test: ast.Compare) -> str:
    """Return the text that something is compared with, "" if it is none."""
    sides = (test.left, *test.comparators)
    return next(
        (
            item.value.casefold()
            for item in sides
            if isinstance(item, ast.Constant) and isinstance(item.value, str)
        ),
        "",
    )


def _effect(node: ast.AST) -> int:
    if isinstance(node, ast.AugAssign):
        return {ast.Add: 1, ast.Sub: -1}.get(type(node.op), 0) * (-1 if _sign(node.value) < 0 else 1)
    if isinstance(node, ast.Assign | ast.expr):
        value = node.value if isinstance(node, ast.Assign) else node
        sums = [
            item
            for item in ast.walk(value)
            if isinstance(item, ast.BinOp) and isinstance(item.op, ast.Add | ast.Sub)
        ]
        if len(sums) == 1 and isinstance(sums[0].right, ast.Constant | ast.Name):
            return 1 if isinstance(sums[0].op, ast.Add) else -1
        return _sign(value)
    return 0


def _sign(node: ast.AST) -> int:
    """Return the sign of a written number, or of the only part of a written pair that is not 0."""
    text = ast.unparse(node)
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return 0
    parts = [
        item
        for item in (value if isinstance(value, tuple | list) else [value])
        if isinstance(item, int) and item
    ]
    if len(parts) == 1:
        if parts[0] > 0:
            return 1
        return -1
    return 0


def _rotations(view: FamilyView) -> list[ReadingPlace]:
    """Compare "to the left" with slices and rotations that turn a list round."""
    left = view.matching(
        r"\b(?:turn|rotat|shift|mov|slid|pass|roll)\w*\b[^.]*\b(?:to the left|left by|leftwards?|"
        r"left)\b"
    )
    right = view.matching(
        r"\b(?:turn|rotat|shift|mov|slid|pass|roll)\w*\b[^.]*\b(?:to the right|right by|rightwards?|"
        r"right)\b"
    )
    if bool(left) == bool(right):
        return []
    found = {way for tree in view.trees.values() for way in _turned(tree)}
    says = "left" if left else "right"
    if found and says not in found and len(found) == 1:
        return [
            ReadingPlace(
                "a direction",
                (left or right)[0],
                f"to the {says}",
                f"to the {next(iter(found))}",
                "contradicted",
            )
        ]
    return []


def _turned(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        joined = isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add)
        if (
            joined
            and isinstance(node, ast.BinOp)
            and isinstance(node.left, ast.Subscript)
            and isinstance(node.right, ast.Subscript)
        ):
            first, second = node.left.slice, node.right.slice
            if not (isinstance(first, ast.Slice) and isinstance(second, ast.Slice)):
                continue
            halves = first.lower and second.upper and not first.upper and not second.lower
            if (
                halves
                and first.lower
                and second.upper
                and ast.unparse(first.lower) == ast.unparse(second.upper)
            ):
                yield "right" if ast.unparse(first.lower).startswith(("-", "len(")) else "left"
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr == "rotate"
            and len(node.args) == 1
        ):
            yield "left" if ast.unparse(node.args[0]).startswith("-") else "right"
