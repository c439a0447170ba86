"""What a line has tried, as one compact table in a prompt: idea, parent, gain with its interval, and why it
failed.

A search remembers more attempts than a prompt can hold. The table has the newest and, in addition, those
whose words are most like what is planned now: similarity is the cosine of word counts weighted by inverse
document frequency (the standard tf-idf weighting).
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from evolake.agents.fences import clean

LONGEST_IDEA, LONGEST_REASON = 240, 200
"""Characters of a cell."""
HEAD = "cycle | candidate | parent | outcome | gain | seconds | idea | why"
_WORD = re.compile(r"[a-z0-9_]{3,}")


@dataclass(frozen=True)
class TriedIdea:
    """One attempt.

    Attributes:
        cycle: in which it was made. candidate, parent: short ids; candidate "" if none came of it.
        idea: what was tried, in its author's words.
        outcome: one word, e.g. accepted, blocked, `unmade`, champion.
        gain: against the parent, with its interval and unit, as text; "" if it was not measured.
        reason: why it failed or did not count; "" if it did.
        seconds: processor time that it took, if known.
    """

    cycle: str
    candidate: str
    parent: str
    idea: str
    outcome: str
    gain: str = ""
    reason: str = ""
    seconds: float | None = None


def attempts_table(tried: Sequence[TriedIdea], *, about: str = "", most: int = 30) -> str:
    """Return a line for each attempt, the oldest first; "" for none.

    Args:
        tried: the oldest first. about: what is planned now. most: of lines: the newest half, and of the
            others those most like `about`; without `about`, the newest.
    """
    if not tried:
        return ""
    chosen = _chosen(tried, about, most)
    left = len(tried) - len(chosen)
    lines = [HEAD, *(_line(tried[place]) for place in chosen)]
    return "\n".join([*lines, *([f"({left} more were tried.)"] if left else [])])


def _chosen(tried: Sequence[TriedIdea], about: str, most: int) -> list[int]:
    newest = list(range(max(0, len(tried) - (most - most // 2 if about else most)), len(tried)))
    older = range(newest[0] if newest else 0)
    if not about or not older:
        return newest
    words = [_words(f"{item.idea} {item.reason}") for item in tried]
    weights = _weights([*words, _words(about)])
    near = sorted(older, key=lambda place: (-_cosine(words[place], _words(about), weights), -place))
    return sorted([*newest, *near[: most // 2]])


def _line(item: TriedIdea) -> str:
    seconds = "" if item.seconds is None else f"{item.seconds:.3g}"
    idea, reason = _cell(item.idea, LONGEST_IDEA), _cell(item.reason, LONGEST_REASON)
    return " | ".join(
        (item.cycle, item.candidate, item.parent, item.outcome, item.gain, seconds, idea, reason)
    ).rstrip(" |")


def _cell(text: str, longest: int) -> str:
    text = " ".join(clean(text).replace("|", "/").split())
    return text if len(text) <= longest else text[: longest - 3] + "..."


def _words(text: str) -> Counter[str]:
    return Counter(_WORD.findall(text.lower()))


def _weights(documents: Sequence[Counter[str]]) -> dict[str, float]:
    found: Counter[str] = Counter(word for document in documents for word in document)
    return {word: math.log((1 + len(documents)) / (1 + count)) + 1 for word, count in found.items()}


def _cosine(first: Counter[str], other: Counter[str], weights: dict[str, float]) -> float:
    shared = sum(first[word] * other[word] * weights[word] ** 2 for word in first.keys() & other.keys())
    norm = _norm(first.items(), weights) * _norm(other.items(), weights)
    return shared / norm if norm else 0.0


def _norm(counts: Iterable[tuple[str, int]], weights: dict[str, float]) -> float:
    return math.sqrt(sum((count * weights[word]) ** 2 for word, count in counts))
