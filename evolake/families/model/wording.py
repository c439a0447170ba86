"""Sentences of a statement: the quantities in them, in figures and in words; words that say more or less and
no border ("steep", "often"); and the parts that hold numbers which no code has to have, such as Markdown
tables,
dates and turns in degrees.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from evolake.families.model.source_code import Unreadable, parse

_UNITS = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
    "twenty",
]
_TENS = ["thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
_ORDINALS = [
    "third",
    "fourth",
    "fifth",
    "sixth",
    "seventh",
    "eighth",
    "ninth",
    "tenth",
    "eleventh",
    "twelfth",
]
WORDS = (
    {word: number for number, word in enumerate(_UNITS)}
    | {word: 10 * number for number, word in enumerate(_TENS, start=3)}
    | {word: number for number, word in enumerate(_ORDINALS, start=3)}
    | {"dozen": 12, "hundred": 100, "thousand": 1000, "twice": 2, "both": 2}
)
"""Word -> the number that it says."""
_END = re.compile(r"(?<=[.!?;])[\"”’)]*\s+(?=[^\s])|(?<=[。！？；])|\n+")
_INITIAL = re.compile(r"^\s*\(?\d{1,3}\.$|\b(?:e\.g|i\.e|etc|vs|no|Mr|Mrs|Dr|[A-Z])\.$")
_NUMBER = re.compile(
    rf"(?<![\w.-])\d+(?![\w.]*\d)(?!\w)|\b(?:{'|'.join(sorted(WORDS, key=len, reverse=True))})\b",
    re.IGNORECASE,
)
_ASIDE = re.compile(r"\([^()]*\)|\[[^\[\]]*\]|\{[^{}]*\}|“[^”]*”|‘[^’]*’|\"[^\"\n]*\"|`[^`\n]*`|（[^（）]*）")


@dataclass(frozen=True)
class Quantity:
    """A number of a text. start, end: where it is. word: whether it is said in letters."""

    start: int
    end: int
    value: int
    word: bool


def spans(text: str) -> list[tuple[int, int]]:
    """Return (start, end) of each sentence, in order, without the space around it."""
    result, start = [], 0
    for match in [*_END.finditer(text), None]:
        stop = match.start() if match else len(text)
        if match and "\n" not in match[0] and _INITIAL.search(text[start:stop]):
            continue
        bare = text[start:stop]
        if bare.strip():
            result.append((start + len(bare) - len(bare.lstrip()), start + len(bare.rstrip())))
        start = match.end() if match else stop
    return result


def sentences(text: str) -> list[str]:
    """Return the sentences of a text, in order."""
    return [text[start:end] for start, end in spans(text)]


def quantities(text: str) -> Iterator[Quantity]:
    """Yield the whole numbers of a text."""
    for match in _NUMBER.finditer(text):
        figure = match[0].isdigit()
        if len(match[0]) <= 15:
            yield Quantity(
                match.start(),
                match.end(),
                int(match[0]) if figure else WORDS[match[0].casefold()],
                not figure,
            )


def without_asides(text: str) -> str:
    """Return the text with what is in brackets and quotation marks blanked out, as long as before."""
    before = None
    while before != text:
        before, text = text, _ASIDE.sub(lambda match: " " * len(match[0]), text)
    return text


_BULLET = re.compile(r"\s*(?:[-*•]|\(?\d{1,3}[.)])\s+")
_SLOT = re.compile(r"\{([A-Za-z_]\w*)\}")
DECLARATION = "SENTENCES"
"""The name that a reader assigns its patterns to."""
ALWAYS = "always"


@dataclass(frozen=True)
class Pattern:
    """One sentence that a family may say. code: the function or constant of the validators that holds the
    rule, with a question mark behind it where a statement may leave the sentence out; ALWAYS for a sentence
    that is in every statement and that no code is named for; "" for one that may be missing. A pattern with
    the mark of a list fits lines of lists only.
    """

    text: str
    code: str

    @property
    def needed(self) -> bool:
        """Whether every statement says it."""
        return bool(self.code) and not self.code.endswith("?")

    @property
    def holder(self) -> str:
        """The function or constant that holds the rule, "" if none is named."""
        return "" if self.code == ALWAYS else self.code.removesuffix("?")

    @property
    def constants(self) -> tuple[str, ...]:
        """The constants of the code whose values the sentence says."""
        return tuple(name for name in _SLOT.findall(self.text) if name.isupper())

    def values(self, sentence: str) -> dict[str, str] | None:
        """Return what is in the slots, None where the sentence is another. Each slot takes as little as it
        can: patterns are a candidate's, and so are matched piece by piece from the left, in time that no
        pattern stretches.
        """
        if _BULLET.match(self.text) and not _BULLET.match(sentence):
            return None
        names, pieces = (
            _SLOT.findall(plain_sentence(self.text)),
            [piece.casefold() for piece in _SLOT.split(plain_sentence(self.text))[::2]],
        )
        bare = plain_sentence(sentence)
        folded = bare.casefold() if len(bare.casefold()) == len(bare) else bare
        if not folded.startswith(pieces[0]):
            return None
        result, at = {}, len(pieces[0])
        for number, (name, piece) in enumerate(zip(names, pieces[1:], strict=True), start=1):
            last = number == len(names)
            if last and folded.endswith(piece):
                place = len(folded) - len(piece)
            elif last:
                place = -1
            else:
                place = folded.find(piece, at + 1)
            if place < at + 1 or result.get(name, bare[at:place]) != bare[at:place]:
                return None
            result[name], at = bare[at:place], place + len(piece)
        return result if at == len(folded) else None


def plain_sentence(text: str) -> str:
    """Return the sentence on one line, without the mark of a list before it and the point behind it."""
    return " ".join(_BULLET.sub("", text, count=1).split()).rstrip(" .;。；")


def said_number(text: str) -> int | None:
    """Return the number that a slot holds, in figures or in words, None where it holds another thing."""
    bare = text.strip().casefold()
    return int(bare) if bare.isdigit() and len(bare) <= 15 else WORDS.get(bare)


def declared(reader: str | None) -> tuple[Pattern, ...] | None:
    """Return the patterns that a reader declares; None where it declares none. Those of a parent's reader
    inside a child's are not the child's: they leave out what the operator says. Raises ValueError for another
    form.
    """
    if reader is None or DECLARATION not in reader:
        return None
    try:
        tree = parse(reader)
    except Unreadable:
        return None
    for node in tree.body:
        if isinstance(node, ast.Assign) and any(
            isinstance(target, ast.Name) and target.id == DECLARATION for target in node.targets
        ):
            try:
                value = ast.literal_eval(node.value)
            except ValueError:
                value = None
            if not isinstance(value, dict) or not all(
                isinstance(item, str) for pair in value.items() for item in pair
            ):
                raise ValueError(f"{DECLARATION} is no mapping of patterns to names, written out")
            return tuple(Pattern(text, code) for text, code in value.items())
    return None


VAGUE = frozenset(
    [
        "acceptable",
        "adequate",
        "affordable",
        "aged",
        "appropriate",
        "bad",
        "beautiful",
        "big",
        "blunt",
        "bright",
        "brief",
        "broad",
        "bulky",
        "bumpy",
        "busy",
        "careful",
        "cheap",
        "clean",
        "clear",
        "clever",
        "close",
        "cold",
        "comfortable",
        "common",
        "compact",
        "complex",
        "considerable",
        "cool",
        "costly",
        "cramped",
        "crowded",
        "curved",
        "damp",
        "dangerous",
        "dark",
        "dear",
        "deep",
        "delicate",
        "dense",
        "difficult",
        "dim",
        "dirty",
        "distant",
        "dry",
        "dull",
        "early",
        "easy",
        "efficient",
        "elderly",
        "enormous",
        "excellent",
        "expensive",
        "extensive",
        "fair",
        "faint",
        "famous",
        "far",
        "fast",
        "fat",
        "few",
        "fine",
        "flat",
        "fragile",
        "frequent",
        "fresh",
        "fruitful",
        "gentle",
        "giant",
        "gigantic",
        "good",
        "gradual",
        "great",
        "handy",
        "hard",
        "harsh",
        "heavy",
        "high",
        "hot",
        "huge",
        "humid",
        "important",
        "impressive",
        "lame",
        "large",
        "late",
        "lengthy",
        "light",
        "likely",
        "little",
        "local",
        "long",
        "loose",
        "loud",
        "low",
        "major",
        "many",
        "massive",
        "mild",
        "minor",
        "moderate",
        "modest",
        "narrow",
        "near",
        "nearby",
        "neat",
        "nice",
        "noisy",
        "normal",
        "notable",
        "numerous",
        "odorous",
        "old",
        "ordinary",
        "pale",
        "patient",
        "pleasant",
        "plentiful",
        "poor",
        "popular",
        "powerful",
        "precious",
        "pretty",
        "profitable",
        "proper",
        "quick",
        "quiet",
        "rapid",
        "rare",
        "reasonable",
        "recent",
        "regular",
        "reliable",
        "remarkable",
        "remote",
        "rich",
        "risky",
        "rough",
        "safe",
        "scarce",
        "serious",
        "severe",
        "shallow",
        "sharp",
        "short",
        "significant",
        "silent",
        "similar",
        "simple",
        "slender",
        "slight",
        "slim",
        "slippery",
        "slow",
        "small",
        "smart",
        "smooth",
        "soft",
        "sparse",
        "special",
        "spicy",
        "steep",
        "stiff",
        "strange",
        "strong",
        "stuffy",
        "substantial",
        "sudden",
        "sufficient",
        "suitable",
        "sunny",
        "sweet",
        "swift",
        "tall",
        "tedious",
        "tender",
        "thick",
        "thin",
        "tight",
        "tiny",
        "tough",
        "typical",
        "ugly",
        "unusual",
        "useful",
        "usual",
        "valuable",
        "vast",
        "warm",
        "weak",
        "wealthy",
        "wet",
        "wide",
        "windy",
        "worn",
        "young",
    ]
)
ADVERBS = frozenset(
    [
        "frequently",
        "often",
        "occasionally",
        "rarely",
        "roughly",
        "seldom",
        "sometimes",
        "typically",
        "usually",
        "approximately",
    ]
)
_BE = r"(?:is|are|was|were|be|been|being|becomes?|became|seems?|looks?|feels?|counts? as)"
_VERY = r"(?:not|too|very|quite|rather|fairly|especially|particularly|neither|either|still|already|so)"
_AFTER = "and|or|nor|but|enough|at|on|in|by|when|then|there|is|are|was|were|do|does|can|may|must|will|has|have|had|counts?|stays?|gets?|goes|go"  # noqa: E501
_AND = r"(?:[a-z]+ (?:and|or|nor|but) )?"
_PREDICATE = re.compile(rf"\b{_BE} (?:{_VERY} )*{_AND}([a-z]+)(?= (?:{_AFTER})\b|[.,;:?!)]|$)", re.IGNORECASE)
_CHOOSING = re.compile(
    r"\b(?:how many|only|every|each|any|no|all|number of|count of|some of the|those|which|whose|sum of(?: "
    r"all)?(?: the)?|all the|of the) "
    rf"(?:{_VERY} )*(?:[a-z]+ (?:and|or) )?([a-z]+)(?= [a-z])",
    re.IGNORECASE,
)
_SAID = (
    r"\b(?:called|named|termed|said to be|counts? as|considered|regarded as|known as|means?|is|are) "
    r"[“\"'‘]?(?:an? )?{word}\b[^.]{{0,80}}?\b(?:if|when|means|exactly|unless)\b"
)
_MEANS = (
    r"[“\"'‘]?\b{word}\b[”\"'’]? (?:here )?(?:means|stands for|is one|if|when|exactly)\b|\b{word} "
    r"(?:[a-z]+ )?(?:is|are) (?:one|those|a [a-z]+) (?:that|whose|with|of)\b|(?:\b\d+|"
    r"[\"'`‘“][^\"'`’”\n]{{1,20}}[\"'`’”]) ?(?:=|:|means|is|denotes|denoting|marks|marking|represents|"
    r"representing|stands for) (?:an? |the )?{word}\b"
)
_MEASURED = r"\d[\d.,]* ?(?:[a-z]+ )?{word}\b|\b(?:as|how) {word}\b|\b{word} (?:as|enough to)\b"
TIE_WORDS = re.compile(
    r"\b(?:ties?|tied|equal(?:ly)?|several|same|more than one|alike|both|whichever|in one)\b|相同|相等|若有多|同时|并列",  # noqa: E501
    re.IGNORECASE,
)
ORDER_WORDS = re.compile(
    r"\b(?:first|last|lowest|highest|smallest|largest|earliest|latest|earlier|later|before|after|then|"
    r"order|alphabet\w*|lower|higher|smaller|larger)\b|最小|最大|最先|最早|最后|先|后|顺序",
    re.IGNORECASE,
)


def undefined_terms(text: str) -> Iterator[tuple[str, str]]:
    """Yield (word, sentence) for each word of degree that something depends on and that the statement gives
    no border. English only."""
    defined: dict[str, bool] = {}
    for sentence in sentences(text):
        result = [
            match[1] for expression in (_PREDICATE, _CHOOSING) for match in expression.finditer(sentence)
        ]
        for word in dict.fromkeys(word.casefold() for word in result):
            if (
                word in VAGUE
                and not defined.setdefault(word, _defined(word, text))
                and not _measured(word, sentence)
            ):
                yield word, sentence
        for word in ADVERBS & {word.casefold() for word in re.findall(r"[A-Za-z]+", sentence)}:
            if re.search(r"\b(?:if|when|who|that|which|whose|only)\b", sentence, re.IGNORECASE):
                yield word, sentence


def says_order_of_equals(text: str) -> bool:
    """Return whether some sentence says what happens among equals: that there may be several, and which of
    them goes first."""
    return any(TIE_WORDS.search(sentence) and ORDER_WORDS.search(sentence) for sentence in sentences(text))


def _defined(word: str, text: str) -> bool:
    return any(re.search(expression.format(word=word), text, re.IGNORECASE) for expression in (_SAID, _MEANS))


def _measured(word: str, sentence: str) -> bool:
    return bool(re.search(_MEASURED.format(word=word), sentence, re.IGNORECASE))


_MONTH = "(?:January|February|March|April|May|June|July|August|September|October|November|December)"
_DATES = re.compile(
    rf"\b\d{{1,2}}(?:st|nd|rd|th)?(?: of)? {_MONTH}\b(?:,? \d{{4}}\b)?"
    rf"|\b{_MONTH} \d{{1,2}}(?:st|nd|rd|th)?\b(?:,? \d{{4}}\b)?|\b\d{{4}}-\d{{2}}-\d{{2}}\b"
)
_TURNS = re.compile(
    r"(?<![\w.-])(?:45|90|180|270|360)(?:°| degrees?\b(?! (?:Celsius|Fahrenheit|centigrade|C\b|F\b))|"
    r"-degree\b)",
    re.IGNORECASE,
)
_DIGITS = re.compile(
    r"\bdigits? (?:above|over|beyond|greater than|larger than|up to) (?:9|nine)\b", re.IGNORECASE
)
_TABLE = re.compile(r"\|?\s*:?-{2,}:?\s*(?:\|\s*:?-{2,}:?\s*)+\|?\Z")
_ITEM = re.compile(r"\s*(?:[-*•]|\(?(?:\d{1,3}|[a-z])[.)])\s+\S")
_SPLIT = re.compile(r",\s*(?:and|or)\s+|,\s+|;\s+|\s+(?:and|or)\s+")
_COUNTED = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_ANNOUNCED = re.compile(
    rf"\b(?P<count>{'|'.join(_COUNTED)}|[2-9]|1[0-2])\s+(?:[\w-]+\s+){{0,2}}?(?:kinds?|types?|sorts?|"
    r"values|forms|classes|categories|states|colours|colors|"
    r"cases|actions|moves|commands|directions|letters|symbols|signs|marks|rules|things|ways|options|"
    r"operations|brackets|pairs)\b(?P<between>[^.:!?\n]*):(?P<items>[^.!?:]*)",
    re.IGNORECASE,
)
LONGEST_LINE = 300


def without_plain_facts(sentence: str, following: Sequence[str] = ()) -> str:
    """Return the sentence with dates, turns and counts of lists blanked out. following: the lines after it,
    whose items a count may announce."""
    for expression in (_DATES, _TURNS, _DIGITS):
        sentence = expression.sub(lambda match: " " * len(match[0]), sentence)
    for match in _ANNOUNCED.finditer(sentence):
        said = match["count"].casefold()
        count = _COUNTED.index(said) + 2 if said in _COUNTED else int(said)
        if listed(match["items"], following) == count:
            start, end = match.span("count")
            sentence = sentence[:start] + " " * (end - start) + sentence[end:]
    return sentence


def listed(items: str, following: Sequence[str]) -> int:
    """Return how many items a list has that begins after a colon: on the line itself, or as the lines of a
    list right after it."""
    if items.strip(" `*_"):
        return len([item for item in _SPLIT.split(items.split(" which ")[0].strip()) if item.strip()])
    count = 0
    for line in following:
        if _ITEM.match(line):
            count += 1
        elif line.strip() or count:
            break
    return count


def without_tables(text: str) -> list[str]:
    """Return the lines but those of Markdown tables: a line of dashes between bars, the head before it, and
    the rows after it with as many bars."""
    lines, kept, at = text.split("\n"), list[str](), 0
    while at < len(lines):
        bare = lines[at][:LONGEST_LINE].strip()
        if kept and _TABLE.match(bare) and kept[-1].count("|") == bare.count("|"):
            kept.pop()
            while at < len(lines) and lines[at].count("|") == bare.count("|"):
                at += 1
        else:
            kept.append(lines[at])
            at += 1
    return kept
