"""Show the proposing role what a line has tried: one compact table in a prompt (idea, parent, gain with its
interval, why it failed), what decided about candidates, and what siblings of a generation propose.

A search remembers more attempts than a prompt can hold. The table has the newest and, in addition, those
whose words are most like what is planned now: similarity is the cosine of word counts weighted by inverse
document frequency (the standard tf-idf weighting).

A model that is not shown why its candidate was blocked or lost proposes it again. So each line declares, in
its `feedback.toml`, every column of its tables of verdicts: in which field of which request it is shown, or
why no model needs it. A test compares the declaration with the tables, the requests and the prompts; the
documentation prints it.

Proposals of one generation are asked in waves; each request says its number, its direction, and what the ones
before it have proposed, so that a model does not write the same proposal several times.
"""

from __future__ import annotations

import math
import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from evolake.agents.fences import clean
from evolake.lines import folder_of, lines

LONGEST_IDEA, LONGEST_REASON, LONGEST_LESSON = 240, 200, 500
"""Characters of a cell; the last one of what an author who withdrew has to say."""
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
    most = LONGEST_LESSON if item.reason.startswith("withdrawn") else LONGEST_REASON
    idea, reason = _cell(item.idea, LONGEST_IDEA), _cell(item.reason, most)
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


@dataclass(frozen=True)
class Feedback:
    """The declaration of one line.

    Attributes:
        tables: its tables of verdicts, as `LineSpec.tables` names them.
        shown: `table.column` -> fields of requests that show it to a model, as `role.field`.
        left_out: reason -> columns that no model is shown: `table.column`, `column` of all of these tables,
            or `table.*` for all columns of one.
        missing: `table.column` that decide and are shown nowhere yet. A list that only gets shorter.
    """

    tables: tuple[str, ...]
    shown: Mapping[str, tuple[str, ...]]
    left_out: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    missing: tuple[str, ...] = ()

    def place_of(self, table: str, column: str) -> str:
        """Return where a column is declared: "shown", "missing", the reason why it is left out, or "" if it
        is declared nowhere."""
        name = f"{table}.{column}"
        if name in self.shown:
            return "shown"
        if name in self.missing:
            return "missing"
        names = {name, column, f"{table}.*"}
        return next(
            (reason for reason, columns in self.left_out.items() if not names.isdisjoint(columns)), ""
        )


def read_feedback(path: Path) -> Feedback:
    """Return the declaration that a TOML file holds, in the words of `Feedback`.

    `tables` are separated by blanks. `shown` and `left_out` have a line for columns that go together:

        metrics: wrong solved | standings solvers_coder.parent       shown in these fields of requests
        cycle runs.host champion_trials.* | names the row            left out, and why

    `table:` in front stands for all columns of the line. `[fields]` names fields that several lines have. A
    line that begins with # is a comment.

    Raises:
        ValueError: naming the file: an unknown key, a column that is shown twice, or one without a field.
    """
    given = tomllib.loads(path.read_text(encoding="utf-8"))
    if odd := given.keys() - {"tables", "shown", "left_out", "missing", "fields"}:
        raise ValueError(f"{path}: unknown {', '.join(sorted(odd))}")
    fields = {name: places.split() for name, places in given.get("fields", {}).items()}
    shown: dict[str, tuple[str, ...]] = {}
    for columns, places in _lines(given["shown"]):
        if not places:
            raise ValueError(f"{path}: {' '.join(columns)}: in no field of a request")
        if twice := shown.keys() & set(columns):
            raise ValueError(f"{path}: {', '.join(sorted(twice))}: shown on two lines")
        shown |= dict.fromkeys(columns, tuple(p for name in places.split() for p in fields.get(name, [name])))
    left_out: dict[str, tuple[str, ...]] = {}
    for columns, reason in _lines(given.get("left_out", "")):
        left_out[reason] = (*left_out.get(reason, ()), *columns)
    missing = tuple(given.get("missing", "").split())
    return Feedback(tuple(given["tables"].split()), shown, left_out, missing)


def _lines(text: str) -> Iterator[tuple[tuple[str, ...], str]]:
    for line in text.splitlines():
        if line and not line.startswith("#"):
            columns, _, said = line.partition(" | ")
            table, mark, names = columns.rpartition(": ")
            yield tuple(f"{table}.{name}" if mark else name for name in names.split()), said


def feedback_of_line(line: str) -> Feedback | None:
    """Return the declaration of a line; None if it has none."""
    if (settings := lines()[line].settings) is None:
        return None
    path = folder_of(settings.module.rpartition(".")[0]) / "feedback.toml"
    return read_feedback(path) if path.is_file() else None


MOST_SIBLINGS = 12


class SiblingNote(BaseModel):
    """What one request of several is sent about the others.

    Attributes:
        number: of this request, from 1. count: of all requests of the generation.
        direction: what this one is to try, other than the others.
        siblings: what those of earlier waves proposed, and what came of it if that is known.
    """

    model_config = ConfigDict(extra="forbid")
    number: int = Field(ge=1)
    count: int = Field(ge=1)
    direction: str = ""
    siblings: list[str] = Field(default_factory=list)

    def text(self) -> str:
        """Return the note as lines of a prompt."""
        lines = (
            [f"This is request {self.number} of {self.count} of this generation."] if self.count > 1 else []
        )
        if self.direction:
            lines.append(f"Direction of this one: {self.direction}")
        if self.siblings:
            lines.append("Others of this generation proposed (do something else, within your direction):")
            lines += [f"- {item}" for item in self.siblings[-MOST_SIBLINGS:]]
        return "\n".join(lines)


def waves(count: int, number: int) -> list[range]:
    """Return the places of each wave, in order: `number` waves as even as can be, fewer if there are fewer
    requests.

    >>> [list(wave) for wave in waves(5, 2)]
    [[0, 1, 2], [3, 4]]
    """
    number = max(1, min(number, count))
    ends = [-(-count * place // number) for place in range(number + 1)]
    return [range(first, end) for first, end in pairwise(ends) if end > first]


def direction_of(directions: Sequence[str], number: int) -> str:
    """Return the direction of request `number` (from 0) of a generation; "" if the line has none."""
    return directions[number % len(directions)] if directions else ""
