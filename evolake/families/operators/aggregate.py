"""Operator (d), aggregate: several instances of a family, and one question about all their answers: sum, largest, spread, which, how many.

The parent's statement stands once, with letters in place of what varies; each case gives the letters' texts. The child's reader puts them back and
hands the parent's reader a whole statement for every case. All cases but the last are easier than the difficulty asked for, and more of them come
with it: a rule that decides hard instances alone decides something here, too.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from evolake.families.model.contract import Answer, Family
from evolake.families.model.joining import cutter, embed, sections
from evolake.families.model.statement import SLOT, fresh_marker, slots
from evolake.families.operators.common import Glue, Member, build, measure_heads, measure_text, moved_points, point
from evolake.families.operators.text import fresh_letters, say, short

FOLDS = {name: f'"{name}"' for name in ("sum", "largest", "spread", "argmax", "even", "alternating")}
GENERATE = '''
make_a = part_a()


def input(difficulty):
    items, lines = [], []
    cases = 3 + difficulty // 4
    for number in range(cases):
        inputs, texts = make_a(1 + difficulty // 2 if number + 1 < cases else difficulty)
        items.append(inputs)
        lines.append("[{marker} case %d]" % (number + 1))
        for letter, text in zip({letters!r}, texts):
            lines.append(letter + (":\\n" if "\\n" in text else ": ") + text)
        lines.append("")
    return {{"items": items}}, ["\\n".join([*lines, "[End of {marker} cases]"])]
'''
SOLVE = '''
FOLD = {code}
solve_a = part_a()


def solution(inputs):
    if lacks(inputs, "items") or not isinstance(inputs["items"], list) or not inputs["items"]:
        return {{"status": "schema_error", "detail": "items"}}
    answers = [solve_a(item) for item in inputs["items"]]
    for answer in answers:
        if failed(answer):
            return answer
    values = [measure(answer) for answer in answers]
    return {{
        "sum": lambda: sum(values), "largest": lambda: max(values), "spread": lambda: max(values) - min(values),
        "argmax": lambda: values.index(max(values)) + 1, "even": lambda: sum(value % 2 == 0 for value in values),
        "alternating": lambda: sum(values[::2]) - sum(values[1::2]),
    }}[FOLD]()
'''
OTHER = '''
FOLD = {code}
solve_a = part_a()


def solution(inputs):
    try:
        items = list(inputs["items"])
    except (TypeError, KeyError):
        return {{"status": "schema_error", "detail": "items"}}
    total = evens = alternating = 0
    sign, best, best_at, least = 1, None, 0, None
    for number, item in enumerate(items, start=1):
        answer = solve_a(item)
        if failed(answer):
            return answer
        value = measure(answer)
        total += value
        alternating += sign * value
        sign = -sign
        if not value & 1:
            evens += 1
        if best is None or value > best:
            best, best_at = value, number
        if least is None or value < least:
            least = value
    if best is None:
        return {{"status": "schema_error", "detail": "no items"}}
    if FOLD == "sum":
        return total
    if FOLD == "largest":
        return best
    if FOLD == "spread":
        return best - least
    if FOLD == "argmax":
        return best_at
    return evens if FOLD == "even" else alternating
'''
READ = '''
read_a = part_a()


def read(text):
    (shown,), cases_text = cut(text), said(text)["slot1"]
    *lines, last = cases_text.split("\\n")
    if last != "[End of {marker} cases]":
        raise ValueError("cases")
    cases = []
    for line in lines:
        if line == "[{marker} case %d]" % (len(cases) + 1):
            cases.append({{}})
            letter = None
        elif line[:1] in {letters!r} and line[1:2] == ":":
            letter = line[0]
            cases[-1][letter] = [line[2:].lstrip(" ")]
        else:
            cases[-1][letter].append(line)
    items = []
    for case in cases:
        whole = shown
        for letter in {letters!r}:
            whole = whole.replace(letter, "\\n".join(case[letter]).strip("\\n"))
        items.append(read_a(whole))
    return {{"items": items}}
'''


def aggregate(parents: Sequence[Family], random: np.random.Generator) -> Family:
    """Several cases of the first parent. Raises NotComposable."""
    parent = parents[0]
    numbers = slots(parent.template)
    letters = fresh_letters([parent], len(numbers))
    marker = fresh_marker([parent.template])
    inner = embed(parent, "a")
    names = ["sum"] if parent.answer.type == "boolean" else list(FOLDS)
    fold = point(parent, "fold", "fold", FOLDS, names[int(random.integers(len(names)))])
    shown = SLOT.sub(lambda match: letters[numbers.index(int(match[1]))], inner.text)
    tail = say(
        parent, "aggregate", place=f"{marker} 1", letters=", ".join(letters), slot=1, measure=measure_text(parent, f"{marker} 1"), fold="fold",
    )
    head, other = measure_heads(parent)
    names_of = {"marker": marker, "letters": letters, "code": fold.alternative().code}
    glue = Glue(
        generate=GENERATE.format(**names_of), solve=head + SOLVE.format(**names_of), other=other + OTHER.format(**names_of),
        read=cutter(marker, 1) + READ.format(**names_of),
    )
    members = [Member("part_a", parent, inner)]
    return build(
        "aggregate", members, glue, parents=[parent], title=say(parent, "aggregate title", first=short(parent.title)), category=parent.category,
        template=f"{sections([shown], marker)}\n\n{tail}\n", answer=Answer("integer"), points=(*moved_points(members, 0), fold),
    )
