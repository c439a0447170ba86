"""Who is a neighbour: whether a circle is closed, and whether corners touch."""

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
