"""Words of a statement that say more or less and no border ("steep", "often"), where a rule or a question
depends on them, and nothing says what they mean; and whether a statement says who goes first among equals.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from evolake.families.model.sentences import sentences

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
