"""Find held-out problems that are among those to train on, also in another spelling, and distinguish them
from problems of one template.

Texts are compared after invisible characters, letters that look alike, digits of other scripts and words for
numbers are made one. A held-out problem leaks if it is a training problem's text, such a text with words put
in or left out and all its numbers the same, or if enough of its word n-grams are in training problems (Brown
et al. 2020, app. C). N-grams that several training problems share are the template's and do not count;
problems whose text is a training problem's but for numbers or names are of one template, which is a note and
no leak. A paraphrase in other words is not found.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evolake.answers.ngrams import ASKING, ngrams
from evolake.prompts.model.protocol import Problem
from evolake.prompts.model.row_recipes import without_requests

TEMPLATE_PROBLEMS = 3
"""Training problems that share an n-gram from which on it is their template's."""
COVERED = 0.7
"""Share of the words of the longer text that the shorter one must have, in its order, to be the same text
with words put in."""
CLOSEST = 8
"""Training problems with which a held-out one is compared word by word: those with the most of its rarer
words."""
FEWEST_WORDS, FEWEST_WITHOUT_NUMBERS = 8, 20
"""Words from which on a text with words put in counts as the same: of a shorter one, a single word may be all
that matters."""
RARE_WORDS = 40
"""Words of a text, the rarest ones, by which training texts that are close to it are found."""
OWN_GRAMS = 0.2
"""Share of a text's n-grams that must be no template's for the rest to say something."""
_PAIRS = (
    "аa вb сc ԁd еe һh іi јj кk мm оo рp ԛq ѕs тt υu ѵv ԝw хx уy ӏl ɡg нh "
    "ΑA ΒB ΕE ΖZ ΗH ΙI ΚK ΜM ΝN ΟO ΡP ΤT ΥY ΧX АA ВB ЕE КK МM НH ОO РP СC ТT УY ХX ІI ЅS ЈJ "
    "αa εe ιi κk νv οo ρp τt χx"
)
_ALIKE = {ord(pair[0]): pair[1] for pair in _PAIRS.split()}
_SMALL_NUMBERS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen"
)
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_NUMBER_WORDS = {word: str(value) for value, word in enumerate(_SMALL_NUMBERS.split())} | {
    word: str(10 * value) for value, word in enumerate(_TENS.split(), 2)
}
_CHINESE_DIGITS = {ord(digit): str(value) for value, digit in enumerate("零一二三四五六七八九")}
_NEGATIONS = frozenset(("not", "no", "never", "none", "without", "except", "least", "most", "不", "没"))
_GROUPS = re.compile(r"(?<=\d)[,\u2009\u202f](?=\d{3}(?!\d))")
_TOKEN = re.compile(r"\d+(?:\.\d+)?|[+*/^=<>×÷−]|-(?=\s?\d)|[\u4e00-\u9fff]|[^\W\d_\u4e00-\u9fff]+")
_ASCII_LETTER = re.compile(r"[A-Za-z]")


@dataclass(frozen=True)
class Leaks:
    """leaked: (held-out problem, training problem, how) for each leak. same_template: held-out problems that
    differ from one to train on in numbers or names alone. heldout: how many there are."""

    heldout: int
    leaked: tuple[tuple[Problem, Problem, str], ...]
    same_template: int

    @property
    def part(self) -> float:
        """Return the share of the held-out problems that leak."""
        return len(self.leaked) / self.heldout if self.heldout else 0.0

    def sentence(self) -> str:
        """Return what was found, for a person."""
        note = (
            f"; {self.same_template} are of the same template as one to train on (reported, not a leak)"
            if self.same_template
            else ""
        )
        return f"{len(self.leaked)} of {self.heldout} held-out problems are among those to train on{note}"


def normal_words(text: str) -> list[str]:
    """Return the words and numbers of a text in one spelling, without the request for the answer."""
    shown = unicodedata.normalize("NFKC", ASKING.sub("", without_requests(text)))
    shown = "".join(
        character for character in shown if unicodedata.category(character) != "Cf" or character in "\n\t"
    )
    shown = "".join(
        str(unicodedata.digit(item)) if not item.isascii() and item.isdigit() else item for item in shown
    )
    if re.search(
        r"[\u0370-\u052f\u0261]", shown
    ):  # a Cyrillic or Greek text has no Latin words; letters that look alike stand among Latin ones
        shown = re.sub(r"[^\W\d_]+", _latin if _ASCII_LETTER.search(shown) else lambda match: match[0], shown)
    shown = _GROUPS.sub("", shown).casefold().translate(_CHINESE_DIGITS)
    return [_NUMBER_WORDS.get(match[0], match[0]) for match in _TOKEN.finditer(shown)]


def _latin(match: re.Match[str]) -> str:
    """Return a word with look-alikes as Latin letters, if all of its letters are Latin then."""
    result = match[0].translate(_ALIKE)
    return result if result.isascii() else match[0]


def find_leaks(
    train: Sequence[Problem], heldout: Sequence[Problem], *, words: int, share: float, generated: bool = False
) -> Leaks:
    """Compare the sides.

    Args:
        words: n of the n-grams. share: 0 to 1; of a held-out problem's n-grams that are no template's, from
            which on it leaks.
        generated: both sides were drawn by a generator; then only the same text is a leak, and all else is
            its template.
    """
    ours = [normal_words(problem.text) for problem in train]
    whole = {tuple(text): number for number, text in reversed(list(enumerate(ours))) if text}
    holders = _holders(ours)
    grams: dict[tuple[str, ...], int] = {}
    counts: Counter[tuple[str, ...]] = Counter()
    for number, text in enumerate(ours):
        for gram in set(_grams(text, words)):
            grams.setdefault(gram, number)
            counts[gram] += 1
    leaked, same = [], 0
    for problem in heldout:
        text = normal_words(problem.text)
        if (number := whole.get(tuple(text))) is not None:
            leaked.append((problem, train[number], "the same text"))
            continue
        near = _closest(text, ours, holders) if not generated else []
        if (edited := next((number for number in near if _is_edited(text, ours[number])), None)) is not None:
            leaked.append((problem, train[edited], "the same text with words put in or left out"))
            continue
        every = dict.fromkeys(_grams(text, words))
        own = [gram for gram in every if counts[gram] < TEMPLATE_PROBLEMS]
        common = [gram for gram in own if gram in grams]
        enough = len(text) >= words and len(own) >= max(3, OWN_GRAMS * len(every)) and not generated
        if enough and len(common) >= share * len(own):
            leaked.append(
                (
                    problem,
                    train[grams[common[0]]],
                    f"{len(common) / len(own):.0%} of its sequences of {words} words",
                )
            )
            continue
        same += bool(near)
    return Leaks(len(heldout), tuple(leaked), same)


def _grams(text: Sequence[str], count: int) -> list[tuple[str, ...]]:
    return (
        [tuple(text[start : start + count]) for start in range(max(1, len(text) - count + 1))] if text else []
    )


def _holders(texts: Sequence[Sequence[str]]) -> Mapping[str, list[int]]:
    """Return word -> the texts that have it."""
    result: dict[str, list[int]] = defaultdict(list)
    for number, text in enumerate(texts):
        for word in set(text):
            result[word].append(number)
    return result


def _closest(
    text: Sequence[str], ours: Sequence[Sequence[str]], holders: Mapping[str, list[int]]
) -> list[int]:
    """Return the training texts that have most words of a text in common with it, among those with the most
    of its rarer words."""
    votes: dict[int, float] = defaultdict(float)
    for word in sorted(set(text) & holders.keys(), key=lambda word: (len(holders[word]), word))[:RARE_WORDS]:
        for number in holders[word]:
            votes[number] += 1 / len(holders[word])
    words = Counter(text)
    return [
        number
        for number in sorted(votes, key=lambda number: (-votes[number], number))[:CLOSEST]
        if (words & Counter(ours[number])).total() >= COVERED * max(len(text), len(ours[number]))
    ]


def _is_edited(text: Sequence[str], other: Sequence[str]) -> bool:
    """Return whether one text is the other with words put in, and says the same by its numbers, operators and
    negations."""
    shorter, longer = sorted((text, other), key=len)
    enough = len(shorter) >= (
        FEWEST_WORDS if any(word[0].isdigit() for word in text) else FEWEST_WITHOUT_NUMBERS
    )
    if not enough or _numbers(text) != _numbers(other):
        return False
    rest = iter(longer)
    return all(word in rest for word in shorter)


def _numbers(text: Sequence[str]) -> list[str]:
    """Return the words that no insertion may change: numbers, operators, and negations."""
    return [word for word in text if not word[0].isalpha() or word in _NEGATIONS]


@dataclass(frozen=True)
class Overlap:
    """What was compared. contaminated: (held-out problem, share of its n-grams that are in problems to train
    on), at or above the share only."""

    heldout: int
    words: int
    share: float
    contaminated: tuple[tuple[Problem, float], ...]

    @property
    def part(self) -> float:
        """The share of the held-out problems that are contaminated."""
        return len(self.contaminated) / self.heldout if self.heldout else 0.0

    def sentence(self) -> str:
        """For a person."""
        return (
            f"{len(self.contaminated)} of {self.heldout} held-out problems have at least {self.share:.0%} "
            f"of their sequences of {self.words} words"
            " in common with problems to train on"
        )


def overlap(train: Sequence[Problem], heldout: Sequence[Problem], *, words: int, share: float) -> Overlap:
    """Compare the sides. words: n of the n-grams; a shorter text is one n-gram. share: 0 to 1, from which on
    a problem is contaminated."""
    of_heldout = [set(ngrams(problem.text, words)) for problem in heldout]
    wanted = set[tuple[str, ...]]().union(*of_heldout)
    seen = {
        gram for problem in train for gram in ngrams(problem.text, words) if gram in wanted
    }  # those to train on are many more
    result = []
    for problem, grams in zip(heldout, of_heldout, strict=True):
        common = len(grams & seen) / len(grams) if grams else 0.0
        if common >= share and common > 0:
            result.append((problem, common))
    return Overlap(len(heldout), words, share, tuple(result))


def apart(
    given: Sequence[Problem],
    train: Sequence[Problem],
    heldout: Sequence[Problem],
    *,
    words: int,
    share: float,
) -> tuple[list[Problem], Overlap]:
    """Return (those of `given` that may be trained on next to `train`, what was compared). Where they
    contaminate held-out problems, those that hold an n-gram of one of these are left out, so that what is
    held out stays the same whatever is added."""
    common = overlap([*train, *given], heldout, words=words, share=share)
    theirs = {gram for problem, _ in common.contaminated for gram in ngrams(problem.text, words)}
    return [item for item in given if theirs.isdisjoint(ngrams(item.text, words))], common
