"""The problems that evolake ships: short questions that a model of a hundred million parameters gets right now and then.

Made here, from one seed, without a model: twelve kinds of question in three difficulties, by what the bundled model finds hard. Each kind is a
template over small numbers or common words; two questions are of one family where one answer gives the other away (3 + 4 and 4 + 3). The test of this
file answers every question again from its text alone, by other means. `python -m evolake.prompts.model.problems_made FILE` writes the set.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from evolake.seeds import generator

EACH = 30
SEED = 0
NUMBER, WORD = "Answer with one number.", "Answer with one word."
WORDS = (
    "apple", "bread", "candle", "cloud", "desk", "eagle", "flower", "garden", "hammer", "island", "jacket", "kettle", "lemon", "mirror", "needle",
    "ocean", "piano", "queen", "river", "silver", "tiger", "umbrella", "violin", "window",
)
NAMES = ("Anna", "Ben", "Clara", "David", "Emma", "Felix")
THINGS = ("apples", "books", "coins", "eggs", "pens", "shells")

Made = tuple[str, Any, str]
"""(question, answer, what makes it the same as another)."""


def made_problems() -> list[dict[str, Any]]:
    """EACH problems of every kind, in order of kinds: lines of problems.jsonl."""
    found = []
    for category, (difficulty, make, asking) in KINDS.items():
        random = generator(SEED, "prompts", "0000", f"problems {category}")
        kept: dict[str, dict[str, Any]] = {}
        while len(kept) < EACH:
            question, answer, family = make(random)
            text = f"{question}\n{asking}"
            kept.setdefault(family, {
                "problem_id": hashlib.sha256(text.encode()).hexdigest(), "text": text, "answer": json.dumps(answer), "case_sensitive": False,
                "category": category, "difficulty": difficulty, "family": f"{category}: {family}", "source": "evolake.prompts.problems_made",
            })
        found += kept.values()
    return found


def _number(random: np.random.Generator, low: int, high: int) -> int:
    return int(random.integers(low, high + 1))


def _words(random: np.random.Generator, count: int) -> list[str]:
    return [WORDS[place] for place in random.choice(len(WORDS), size=count, replace=False)]


def _numbers(random: np.random.Generator, low: int, high: int, count: int) -> list[int]:
    return [low + int(step) for step in random.choice(high - low + 1, size=count, replace=False)]


def _unordered(values: list[int]) -> str:
    return ",".join(map(str, sorted(values)))


def _sum_of_digits(random: np.random.Generator) -> Made:
    one, two = _number(random, 1, 9), _number(random, 1, 9)
    return f"What is {one} + {two}?", one + two, _unordered([one, two])


def _larger(random: np.random.Generator) -> Made:
    pair = _numbers(random, 1, 99, 2)
    return f"Which number is larger, {pair[0]} or {pair[1]}?", max(pair), _unordered(pair)


def _next_number(random: np.random.Generator) -> Made:
    number = _number(random, 1, 99)
    return f"Which number comes after {number}?", number + 1, str(number)


def _first_word(random: np.random.Generator) -> Made:
    words = _words(random, 3)
    return f"What is the first word of this list: {', '.join(words)}?", words[0], " ".join(words)


def _even_or_odd(random: np.random.Generator) -> Made:
    number = _number(random, 1, 99)
    return f"Is {number} even or odd?", "odd" if number % 2 else "even", str(number)


def _largest_of_three(random: np.random.Generator) -> Made:
    three = _numbers(random, 1, 49, 3)
    return f"Which is the largest of these numbers: {', '.join(map(str, three))}?", max(three), _unordered(three)


def _last_word(random: np.random.Generator) -> Made:
    words = _words(random, 3)
    return f"What is the last word of this list: {', '.join(words)}?", words[-1], " ".join(words)


def _difference(random: np.random.Generator) -> Made:
    small, rest = _number(random, 1, 9), _number(random, 1, 9)
    return f"What is {small + rest} - {small}?", rest, f"{small + rest},{small}"


def _more_things(random: np.random.Generator) -> Made:
    has, gets = _number(random, 1, 9), _number(random, 1, 9)
    name, things = NAMES[_number(random, 0, 5)], THINGS[_number(random, 0, 5)]
    return f"{name} has {has} {things} and gets {gets} more. How many {things} does {name} have now?", has + gets, _unordered([has, gets])


def _sum_of_two_digits(random: np.random.Generator) -> Made:
    one, two = _number(random, 10, 49), _number(random, 10, 49)
    return f"What is {one} + {two}?", one + two, _unordered([one, two])


def _continued(random: np.random.Generator) -> Made:
    start, step = _number(random, 1, 9), _number(random, 1, 9)
    shown = [start + step * place for place in range(4)]
    return f"Which number comes next: {', '.join(map(str, shown))}?", start + step * 4, f"{start},{step}"


def _count_of_words(random: np.random.Generator) -> Made:
    words = _words(random, _number(random, 2, 6))
    return f"How many words are in this list: {', '.join(words)}?", len(words), " ".join(words)


KINDS: dict[str, tuple[int, Callable[[np.random.Generator], Made], str]] = {
    "sum": (1, _sum_of_digits, NUMBER), "larger": (1, _larger, NUMBER), "next number": (1, _next_number, NUMBER),
    "first word": (1, _first_word, WORD), "even or odd": (1, _even_or_odd, WORD),
    "largest of three": (2, _largest_of_three, NUMBER), "last word": (2, _last_word, WORD), "difference": (2, _difference, NUMBER),
    "story": (2, _more_things, NUMBER),
    "larger sum": (3, _sum_of_two_digits, NUMBER), "sequence": (3, _continued, NUMBER), "count": (3, _count_of_words, NUMBER),
}


if __name__ == "__main__":
    Path(sys.argv[1]).write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in made_problems()), encoding="utf-8")
