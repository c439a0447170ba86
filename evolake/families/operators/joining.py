"""What every operator that joins families needs: a parent made ready to live inside a child, sections that
keep statements apart, and the words and letters of a child's statement, in both languages.

`embed` gives a parent under a prefix: its rules, constants, ports and filterables renamed, its slots shifted,
its statement in one piece. The child's template puts each piece under a marker line; `cutter` is the source
of a function that cuts a child's statement at those lines again, so each parent's reader sees exactly the
text that it was written for, at any depth of nesting. If the second statement continues with the answer to
the first, a bridge, one line that names the answer by its own letter, is between the two instead.

A letter stands for what is not given as a number. It is taken only if no parent uses it anywhere, so a reader
can put words or numbers back in its place.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from evolake.families.model.contract import Family, Filterable, MutationPoint, Port
from evolake.families.model.source_code import NotComposable, rename_constants
from evolake.families.model.statement import prefix_rules, shift_slots, slots, split_question

LETTERS = "κλμνξπρστυφχψωαβγδεζηθ"
"""Letters that stand for what is not given as a number, in the order in which children take them."""


@dataclass(frozen=True)
class Embedded:
    """A parent under a prefix. `key` is its place in the child's inputs. Sources have their constants
    renamed; text is its whole statement."""

    key: str
    text: str
    slots: int
    generator: str
    validator: str
    validators: dict[str, str]
    checkers: dict[str, str]
    reader: str | None
    points: tuple[MutationPoint, ...]
    ports: tuple[Port, ...]
    filterables: tuple[Filterable, ...]


def embed(family: Family, key: str, *, shift: int = 0, files: Mapping[str, str] | None = None) -> Embedded:
    """Return the family ready to be part of a child.

    Args:
        key: a lower-case letter or word; rule `tie` becomes `<key>_tie`, TIE becomes `<KEY>_TIE`, ports and
            filterables likewise, and their paths in the inputs start with it.
        shift: how many slots of the child come before.
        files: file name in the parent -> file name in the child, for alternatives that have separate codes
            for single sources.

    Raises NotComposable for a source that cannot be parsed.
    """
    prefix = f"{key}_"
    constants = {point.constant: f"{prefix}{point.name}".upper() for point in family.points}

    def renamed(source: str) -> str:
        return rename_constants(source, constants) if constants else source

    setting, question = split_question(family.template)
    text = prefix_rules(shift_slots("\n\n".join(part for part in (setting, question) if part), shift), prefix)
    moved = files or {}
    points = tuple(
        replace(
            point,
            name=f"{prefix}{point.name}",
            alternatives=tuple(
                replace(item, codes={moved[name]: code for name, code in item.codes.items() if name in moved})
                for item in point.alternatives
            ),
        )
        for point in family.points
    )
    ports = tuple(
        replace(
            port,
            name=f"{prefix}{port.name}",
            key=(key, *port.key),
            slot=port.slot + shift,
            high=port.high if isinstance(port.high, int) else (key, *port.high),
        )
        for port in family.ports
    )
    filterables = tuple(
        replace(
            item,
            name=f"{prefix}{item.name}",
            key=(key, *item.key),
            together=tuple((key, *path) for path in item.together),
        )
        for item in family.filterables
    )
    return Embedded(
        key=key,
        text=text,
        slots=len(slots(family.template)),
        generator=renamed(family.generator),
        validator=renamed(family.validator),
        validators={name: renamed(source) for name, source in family.validators.items()},
        checkers={name: renamed(source) for name, source in family.checkers.items()},
        points=points,
        ports=ports,
        filterables=filterables,
        reader=None if family.reader is None else renamed(family.reader),
    )


def sections(texts: Sequence[str], marker: str) -> str:
    """Return the texts, each under its marker line, and a last marker line that ends them: what follows it is
    the child's own text."""
    return (
        "\n\n".join(f"[{marker} {number}]\n\n{text.strip()}" for number, text in enumerate(texts, start=1))
        + f"\n\n[End of {marker}s]"
    )


BRIDGE = re.compile(
    r"^(?:Let ([α-ω]) be the answer to the question above\.|设 ([α-ω]) 为上面问题的答案。)[^\n]*$",
    re.MULTILINE,
)
"""The line between two statements, the first of which gives a quantity of the second."""
_PART = re.compile(r"^\[(?P<word>[^\[\]\n]+) 1\]$.*?^\[End of (?P=word)s\]$", re.MULTILINE | re.DOTALL)


def bridged(first: str, bridge: str, second: str) -> str:
    """Return two statements with a bridge between them."""
    assert BRIDGE.fullmatch(bridge), bridge
    return f"{first.strip()}\n\n{bridge}\n\n{second.strip()}\n"


def outer_bridge(template: str) -> str:
    """Return the bridge of the operator that made the text, "" if that was another one. Inner bridges are
    inside of parts, or have earlier letters."""
    inside = [match.span() for match in _PART.finditer(template)]
    free = [
        match
        for match in BRIDGE.finditer(template)
        if not any(start < match.start() < end for start, end in inside)
    ]
    return max(free, key=lambda match: LETTERS.index(match[1] or match[2]))[0] if free else ""


_END = re.compile(r"^\[End of .+s\]$", re.MULTILINE)


def own_text(template: str) -> tuple[str, str]:
    """Return (the last marker line, what follows it: the operator's own text); a bridge twice; ("", the
    whole) of a text without either."""
    if bridge := outer_bridge(template):
        return bridge, bridge
    result = list(_END.finditer(template))
    return (result[-1][0], template[result[-1].end() :]) if result else ("", template)


def cutter(marker: str, count: int) -> str:
    """Return the source of `cut(text)`: the statements between the marker lines, which raises ValueError
    where one is missing or doubled."""
    return f"""def cut(text):
    lines = text.split("\\n")
    marks = ["[{marker} %d]" % number for number in range(1, {count + 1})] + ["[End of {marker}s]"]
    places = [lines.index(mark) for mark in marks]
    if places != sorted(places) or any(lines.count(mark) != 1 for mark in marks):
        raise ValueError("sections")
    return ["\\n".join(lines[start + 1 : end]).strip() for start, end in zip(places, places[1:])]
"""


EN = {
    "integer": "the answer to {place}",
    "boolean": "1 if the answer to {place} is yes (true), and 0 otherwise",
    "pipe title": "{second}, after “{first}”",
    "pipe": (
        "Let {value} be the answer to the question above. In what follows, {port} is {low}the remainder "
        "(zero or positive) that {value} leaves when divided by [Input Slot {slot}]."
    ),
    "pipe low": "{low} plus ",
    "guard title": "{second}, by a rule that “{first}” decides",
    "guard": (
        "Let {value} be the answer to the question above. In what follows, {port} stands for the words "
        "“[Rule {then}]” [Rule {when}]; otherwise {port} stands for the words “[Rule {other}]”."
    ),
    "when even": "if {value} is even",
    "when odd": "if {value} is odd",
    "when third": "if {value} leaves the remainder 1 when divided by 3 (remainders are never negative)",
    "aggregate title": "{first}, several cases together",
    "aggregate": (
        "In {place}, {letters} stand for what each of the following cases gives.\n\n[Input Slot {slot}]\n"
        "\n<!-- question -->\n"
        "Solve {place} once for every case and note a value for each: {measure}. [Rule {fold}]"
    ),
    "series title": "{first}, several cases in a row",
    "series": (
        "In {place}, {letters} stand for what each of the following cases gives.\n\n[Input Slot {slot}]\n"
        "\n<!-- question -->\n"
        "Solve {place} once for every case. Give a list of the answers, in the order of the cases."
    ),
    "fold sum": "What is the sum of the values of all cases?",
    "fold largest": "What is the largest of the values of all cases?",
    "fold spread": "By how much does the largest of the values of all cases exceed the smallest?",
    "fold argmax": "What is the number of the case with the largest value (of several such cases, the lowest number)?",
    "fold even": "How many cases have an even value?",
    "fold alternating": (
        "Take the value of the first case, subtract that of the second, add that of the third, and so on "
        "in turn; what results?"
    ),
    "invert title": "{first}, asked the other way round",
    "invert": (
        "In {place}, {port} stands for a number that is not given. It may be any whole number from [Input "
        "Slot {bottom}] to [Input Slot {slot}]; for each of them, let {value} be {measure}.\n\n[Rule "
        "{ask}]"
    ),
    "ask largest": "For which {port} is {value} the largest? Of several such numbers, give the smallest.",
    "ask smallest": "For which {port} is {value} the smallest? Of several such numbers, give the largest.",
    "ask first": "What is the smallest {port} for which {value} is even? If there is none, the answer is {none}.",
    "ask third": (
        "What is the smallest {port} for which {value} leaves the remainder 1 when divided by 3 "
        "(remainders are never negative)? If there is none, the answer is {none}."
    ),
    "ask spread": "By how much does the largest value of {value} exceed the smallest?",
    "ask distinct": "How many different values does {value} take?",
    "ask total": "What is the sum of {value} over all of these numbers?",
    "filter title": "{first}, after a selection",
    "filter": (
        "Before anything else, change {place}: of the {noun}, only those stay {rule}; all others are "
        "removed, as if they had never been there. Those that stay keep their order and all that is said "
        "of them, and where places are counted, they alone are counted.\n\n"
        "Answer the question of {place} as it is after this change."
    ),
    "keep odd": "whose {quantity} is an odd number",
    "keep even": "whose {quantity} is an even number",
    "keep third": "whose {quantity} is not divisible by 3",
    "keep place": "whose place in the order given above, counted from 1, is an odd number",
    "keep bound": "[Rule {side}] [Input Slot {slot}]",
    "side least": "whose {quantity} is not below",
    "side most": "whose {quantity} is not above",
    "letter": "letter",
    "item": "item",
    "extend title": "{first}, with one rule more",
    "extend": (
        "Answer the question of {place}, but the answer has to keep one rule more: {rule} Of letters and words, "
        "the one that comes later in the alphabet is the greater one. There may be several such answers; give "
        "any one of them."
    ),
    "extra up": "The last {part} of the answer is greater than the one before it.",
    "extra down": "The last {part} of the answer is smaller than the one before it.",
    "extra above": "The last {part} of the answer is greater than the third {part} from the end.",
    "extra below": "The last {part} of the answer is smaller than the third {part} from the end.",
    "aim title": "{first}, with a goal",
    "aim": (
        "Answer the question of {place}, but not every right answer is enough: {rule} has to be at least [Input "
        "Slot {slot}]. Of letters and words, the one that comes later in the alphabet is the greater one. There "
        "may be several such answers; give any one of them."
    ),
    "aim climbs": "the number of places at which the next {part} of the answer is greater",
    "aim drops": "the number of places at which the next {part} of the answer is smaller",
}
ZH = {
    "integer": "{place} 的答案",
    "boolean": "一个数：若 {place} 的答案为“是”（true）则为 1，否则为 0",
    "pipe title": "{second}（由“{first}”决定参数）",
    "pipe": (
        "设 {value} 为上面问题的答案。在下文中，{port} 代表 {low}{value} 除以 [Input Slot {slot}] 的非负余数。"
    ),
    "pipe low": "{low} 加上 ",
    "guard title": "{second}（由“{first}”决定规则）",
    "guard": (
        "设 {value} 为上面问题的答案。在下文中，[Rule {when}]，{port} 代表这句话：“[Rule {then}]”；否则 {port} 代表这句话：“[Rule {other}]”。"
    ),
    "when even": "若 {value} 是偶数",
    "when odd": "若 {value} 是奇数",
    "when third": "若 {value} 除以 3 余 1（余数不取负数）",
    "aggregate title": "{first}（多种情形）",
    "aggregate": (
        "在 {place} 中，{letters} 的内容由下面每种情形分别给出。\n\n[Input Slot {slot}]\n\n<!-- question -->\n"
        "请对每种情形各求解一次 {place}，并记下一个值：{measure}。[Rule {fold}]"
    ),
    "series title": "{first}（多种情形的列表）",
    "series": (
        "在 {place} 中，{letters} 的内容由下面每种情形分别给出。\n\n[Input Slot {slot}]\n\n<!-- question -->\n"
        "请对每种情形各求解一次 {place}，按情形的顺序给出由各答案组成的列表。"
    ),
    "fold sum": "所有情形的值之和是多少？",
    "fold largest": "所有情形的值中最大的是多少？",
    "fold spread": "所有情形的值中，最大值比最小值大多少？",
    "fold argmax": "值最大的情形的编号是多少（若有多个，取编号最小的）？",
    "fold even": "值为偶数的情形有多少个？",
    "fold alternating": "用第一种情形的值减去第二种情形的值，再加上第三种情形的值，如此加减交替，结果是多少？",
    "invert title": "{first}（反问）",
    "invert": (
        "在 {place} 中，{port} 代表一个未给出的数，它可以是从 [Input Slot {bottom}] 到 [Input Slot {slot}] 的任何整数；"
        "对其中每一个数，设 {value} 表示 {measure}。\n\n[Rule {ask}]"
    ),
    "ask largest": "{port} 取何值时 {value} 最大？若有多个，请给出最小的一个。",
    "ask smallest": "{port} 取何值时 {value} 最小？若有多个，请给出最大的一个。",
    "ask first": "使 {value} 为偶数的最小的 {port} 是多少？若不存在，答案为 {none}。",
    "ask third": "使 {value} 除以 3 余 1（余数不取负数）的最小的 {port} 是多少？若不存在，答案为 {none}。",
    "ask spread": "{value} 的最大值比最小值大多少？",
    "ask distinct": "{value} 共取多少个不同的值？",
    "ask total": "对所有这些数，{value} 之和是多少？",
    "filter title": "{first}（先作筛选）",
    "filter": (
        "首先对 {place} 作如下改动：在{noun}中，只保留{rule}的那些，其余全部去掉，如同从未有过。保留下来的保持原来的顺序，"
        "与之有关的说明一概不变；凡计算位置之处，只计保留下来的。\n\n请回答作此改动之后 {place} 的问题。"
    ),
    "keep odd": "{quantity}为奇数",
    "keep even": "{quantity}为偶数",
    "keep third": "{quantity}不能被 3 整除",
    "keep place": "在上面所列顺序中的位置（从 1 数起）为奇数",
    "keep bound": "[Rule {side}] [Input Slot {slot}] ",
    "side least": "{quantity}不小于",
    "side most": "{quantity}不大于",
    "letter": "字母",
    "item": "项",
    "extend title": "{first}（加一条规则）",
    "extend": (
        "请回答 {place} 的问题，但答案还须满足一条规则：{rule}字母和单词以字母表中靠后者为大。这样的答案可能有多个，"
        "给出其中任意一个即可。"
    ),
    "extra up": "答案的最后一{part}大于其前一{part}。",
    "extra down": "答案的最后一{part}小于其前一{part}。",
    "extra above": "答案的最后一{part}大于倒数第三{part}。",
    "extra below": "答案的最后一{part}小于倒数第三{part}。",
    "aim title": "{first}（有目标）",
    "aim": (
        "请回答 {place} 的问题，但并非任何正确答案都可以：{rule}至少为 [Input Slot {slot}] 。字母和单词以字母表中靠后者为大。"
        "这样的答案可能有多个，给出其中任意一个即可。"
    ),
    "aim climbs": "答案中后一{part}大于前一{part}之处的个数",
    "aim drops": "答案中后一{part}小于前一{part}之处的个数",
}
SAID = {"en": EN, "zh": ZH}
LONGEST_TITLE = 200
LONGEST_PART = 90
"""Characters of a parent's title that stand whole in a child's."""
_ADDED = re.compile(
    r": | \([a-z_]\w*: |, (?:after|by a rule|several cases|asked the other|with one rule|with a goal|where it says)|（(?:由|多种|反问|先作|加一|有目|其中)"
)
_QUOTED = {"en": (", where it says ", " and ", ""), "zh": ("（其中说", "和", "）")}
"""What is before, between and behind the quoted words of rules in a title."""
LONGEST_QUOTE = 60
"""Characters of a rule's words in a title."""
_SHOWN = re.compile(r"\[(?:Input Slot|Rule) [^\[\]]*\]")


def say(family: Family, key: str, **values: object) -> str:
    """Return the sentence in the family's language."""
    return SAID[family.language][key].format(**values)


def heading(title: str) -> str:
    """Return what a title begins with, without what operators and worlds add to it."""
    return _ADDED.split(title, maxsplit=1)[0]


def short(title: str) -> str:
    """Return the title as it is in a child's: whole, or its head where it is long."""
    return title if len(title) <= LONGEST_PART else heading(title)


def in_title(words: str) -> str:
    """Return the words of a rule as a title quotes them: without slots, inner quotation marks and the point
    at the end, and cut where they are long."""
    bare = " ".join(_SHOWN.sub("…", words).replace("“", "").replace("”", "").split()).rstrip(" .。;；")
    return bare if len(bare) <= LONGEST_QUOTE else bare[:LONGEST_QUOTE].rsplit(" ", 1)[0].rstrip(" ,") + " …"


def quoting(title: str, language: str, *, gone: Sequence[str], new: Sequence[str]) -> str:
    """Return the title with the words of rules quoted: those that was there, but for the ones that are gone,
    and the new ones."""
    head, joint, tail = _QUOTED[language]
    item = "“([^”]*)”"
    added = re.compile(f"{re.escape(head)}({item}(?:{joint}{item})*){re.escape(tail)}")

    def quoted(words: Sequence[str]) -> str:
        return head + joint.join(f"“{word}”" for word in words) + tail if words else ""

    bare = added.sub(
        lambda match: quoted([words for words in re.findall(item, match[1]) if words not in gone]), title
    )
    last = next((match for match in added.finditer(bare) if match.end() == len(bare)), None)
    stood = re.findall(item, last[1]) if last else []
    full = (bare[: last.start()] if last else bare) + quoted(
        [*stood, *(words for words in new if words and words not in stood)]
    )
    return (
        full
        if len(full) <= LONGEST_TITLE
        else heading(title)[: LONGEST_TITLE // 4] + quoted([words for words in new if words])
    )


def fresh_letters(families: Sequence[Family], count: int) -> list[str]:
    """Return letters that are nowhere in these families. Raises NotComposable when there are not enough."""
    texts = [text for family in families for text in (family.template, *family.sources().values())]
    texts += [item.text for family in families for point in family.points for item in point.alternatives]
    used = set().union(*map(set, texts))
    free = [letter for letter in LETTERS if letter not in used]
    if len(free) < count:
        raise NotComposable(f"{count} letters are needed, {len(free)} are free")
    return free[:count]
