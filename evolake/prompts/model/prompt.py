"""A system prompt as an individual: an ordered list of principles with ids, and its edits (E-SPL, sections
3.1 and 3.2, figure 9, appendices A.1, A.4, A.5).

Edits name principles by id, so an id means the same principle through a whole lineage: a modified principle
keeps its id, a new one takes the next number, and the number of a principle that was dropped is not given out
again. `next_number` carries that from parent to child; it is no content.

A hunk may quote the text that it expects. A diff is applied strictly, hunk by hunk: one that does not fit (an
id that is not there, a quote that differs, a principle that an earlier hunk has changed, a text that is there
already) is left out whole and says why. So applying the hunks that were applied gives the same prompt again.

    add      a new principle at the end         merge  one new principle in the place of the first of several
    modify   another text under the same id     drop   a principle out
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

from evolake.canonical_json import canonical_json, key_of
from evolake.errors import InputError

HEADING = "Before you answer, read these principles. Apply those that fit the task:"
_ID = re.compile(r"p[1-9][0-9]*")


@dataclass(frozen=True)
class Principle:
    """One instruction. id: `p` and a number, unique in its prompt."""

    id: str
    text: str

    def __post_init__(self) -> None:
        if not _ID.fullmatch(self.id):
            raise InputError(
                f"{self.id!r} is no id of a principle", wanted="`p` and a number from 1, like p7"
            )
        if not self.text.strip():
            raise InputError(f"principle {self.id} is empty", wanted="a text")

    @property
    def number(self) -> int:
        """The number of the id."""
        return int(self.id[1:])


@dataclass(frozen=True)
class SystemPrompt:
    """Principles in the order that the policy reads them. Without any it is the empty prompt, a legal root.

    next_number: of the next new principle; at least one above every number in use. 0 means exactly that.
    """

    principles: tuple[Principle, ...] = ()
    next_number: int = 0

    def __post_init__(self) -> None:
        numbers = [principle.number for principle in self.principles]
        if len(set(numbers)) < len(numbers):
            raise InputError("two principles of one system prompt bear the same id", got=", ".join(self.ids))
        lowest = max(numbers, default=0) + 1
        if not self.next_number:
            object.__setattr__(self, "next_number", lowest)
        elif self.next_number < lowest:
            raise InputError(
                "the next number of a system prompt is in use",
                wanted=f"{lowest} or more",
                got=str(self.next_number),
            )

    @cached_property
    def prompt_id(self) -> str:
        """sha256 of the principles, ids and texts in order, as canonical JSON."""
        return key_of([[principle.id, principle.text] for principle in self.principles])

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids in order."""
        return tuple(principle.id for principle in self.principles)

    @property
    def texts(self) -> tuple[str, ...]:
        """The texts in order, without ids: prompts that agree in this say the same."""
        return tuple(principle.text for principle in self.principles)

    def text(self) -> str:
        """Return what the policy reads as its system message; empty for the empty prompt."""
        if not self.principles:
            return ""
        return "\n".join([HEADING, *(f"[{principle.id}] {principle.text}" for principle in self.principles)])

    def to_json(self) -> str:
        """Return everything, as canonical JSON; `from_json` reads it back."""
        return canonical_json(
            {
                "next_number": self.next_number,
                "principles": [{"id": item.id, "text": item.text} for item in self.principles],
            }
        )


def from_json(text: str) -> SystemPrompt:
    """Return the prompt that `to_json` wrote.

    Raises:
        InputError: the text is something else.
    """
    try:
        value = json.loads(text)
        return SystemPrompt(
            tuple(Principle(str(item["id"]), str(item["text"])) for item in value["principles"]),
            int(value["next_number"]),
        )
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise InputError(
            "this is no system prompt",
            wanted='JSON like {"next_number": 2, "principles": [{"id": "p1", "text": "..."}]}',
            got=f"{type(error).__name__}: {error}",
        ) from None


def prompt_of(texts: Iterable[str]) -> SystemPrompt:
    """Return a root prompt of these principles, numbered from 1; white space is collapsed."""
    return SystemPrompt(tuple(Principle(f"p{number}", tidy(text)) for number, text in enumerate(texts, 1)))


def tidy(text: str) -> str:
    """Return the text on one line: every run of white space is one space."""
    return " ".join(text.split())


Kind = Literal["add", "modify", "merge", "drop"]
LONGEST_TEXT = 600
"""Characters of one principle: short, abstract and about strategy (appendix A.5)."""
MOST_PRINCIPLES = 40
COPIED_WORDS = 8
"""Words and signs in a row that make a principle a copy of a problem."""
SHORTEST_PROBLEM = 3


@dataclass(frozen=True)
class Hunk:
    """One edit. targets: none for add, one for modify and drop, two or more for merge. text: the new text;
    empty for drop. old: the text that the target is expected to have, white space aside; empty expects
    nothing. problem_id: the problem that asked for it, None where a batch did."""

    kind: Kind
    targets: tuple[str, ...] = ()
    text: str = ""
    old: str = ""
    problem_id: str | None = None


@dataclass(frozen=True)
class Outcome:
    """What became of a hunk. reason: why it was not applied, else "". principle_id: what it made or changed;
    None for drop and where not applied."""

    hunk: Hunk
    applied: bool
    reason: str = ""
    principle_id: str | None = None


@dataclass(frozen=True)
class Applied:
    """A prompt after a diff, with one outcome a hunk in the order of the hunks."""

    prompt: SystemPrompt
    outcomes: tuple[Outcome, ...]

    @property
    def changed(self) -> bool:
        """Whether any hunk was applied."""
        return any(outcome.applied for outcome in self.outcomes)


UNWRITABLE = re.compile("[\x00\ud800-\udfff]")
"""What no file or table takes: a zero byte, half a surrogate pair."""


@dataclass(frozen=True)
class Limits:
    """What a prompt may hold. problems: statements that no principle may copy."""

    principles: int = MOST_PRINCIPLES
    characters: int = LONGEST_TEXT
    problems: tuple[str, ...] = ()


def apply(
    prompt: SystemPrompt,
    hunks: Sequence[Hunk],
    limits: Limits = Limits(),
    *,
    kinds: Sequence[Kind] | None = None,
) -> Applied:
    """Return the prompt after these hunks.

    Args:
        kinds: kinds that this step may use; a hunk of another kind is not applied. None allows all.
    """
    draft = _Draft(prompt, limits)
    outcomes = []
    for hunk in hunks:
        reason = (
            f"this step does not {hunk.kind}"
            if kinds is not None and hunk.kind not in kinds
            else draft.objection(hunk)
        )
        outcomes.append(Outcome(hunk, False, reason) if reason else Outcome(hunk, True, "", draft.take(hunk)))
    return Applied(draft.prompt, tuple(outcomes))


def copies(text: str, problems: Sequence[str]) -> bool:
    """Return whether the text contains a whole problem, or a run of COPIED_WORDS words that only one of these
    problems has: what many share is the wording of the task, and a principle may well repeat it.
    """
    words = _words(text)
    theirs = [_words(problem) for problem in dict.fromkeys(problems)]
    holders = Counter(run for item in theirs for run in set(_runs(item, COPIED_WORDS)))
    if any(holders.get(run) == 1 for run in _runs(words, COPIED_WORDS)):
        return True
    return any(len(item) >= SHORTEST_PROBLEM and tuple(item) in _runs(words, len(item)) for item in theirs)


class _Draft:
    """A prompt while a diff is applied to it."""

    def __init__(self, prompt: SystemPrompt, limits: Limits):
        self.prompt, self.limits = prompt, limits
        self.touched: set[str] = set()
        self._checks: dict[Kind, tuple[int, int]] = {
            "add": (0, 0),
            "modify": (1, 1),
            "drop": (1, 1),
            "merge": (2, len(prompt.ids) + 2),
        }

    def objection(self, hunk: Hunk) -> str:
        """Return why the hunk does not apply; "" where it does."""
        tests: tuple[Callable[[Hunk], str], ...] = (
            (self._targets, self._quote, self._room)
            if hunk.kind == "drop"
            else (self._targets, self._quote, self._text, self._room)
        )
        return next((reason for test in tests if (reason := test(hunk))), "")

    def take(self, hunk: Hunk) -> str | None:
        """Apply a hunk that nothing speaks against; return the id of what it made or changed."""
        principles, text = self.prompt.principles, tidy(hunk.text)
        fresh = Principle(f"p{self.prompt.next_number}", text) if hunk.kind in ("add", "merge") else None
        if fresh:
            made = fresh.id
        elif hunk.kind == "modify":
            made = hunk.targets[0]
        else:
            made = None
        if fresh and hunk.kind == "add":
            kept = (*principles, fresh)
        elif fresh:
            first = min(self.prompt.ids.index(target) for target in hunk.targets)
            kept = tuple(
                fresh if place == first else item
                for place, item in enumerate(principles)
                if place == first or item.id not in hunk.targets
            )
        elif hunk.kind == "modify":
            kept = tuple(
                replace(principle, text=text) if principle.id == made else principle
                for principle in principles
            )
        else:
            kept = tuple(principle for principle in principles if principle.id not in hunk.targets)
        self.prompt = SystemPrompt(kept, self.prompt.next_number + bool(fresh))
        self.touched |= {*hunk.targets, *([made] if made else [])}
        return made

    def _targets(self, hunk: Hunk) -> str:
        fewest, most = self._checks[hunk.kind]
        if not fewest <= len(set(hunk.targets)) == len(hunk.targets) <= most:
            wanted = {"add": "no principle", "merge": "two or more principles"}.get(
                hunk.kind, "one principle"
            )
            return f"{hunk.kind} names {wanted} (got {', '.join(hunk.targets) or 'none'})"
        if changed := [target for target in hunk.targets if target in self.touched]:
            return f"{changed[0]} was changed by an earlier hunk"
        if unknown := [target for target in hunk.targets if target not in self.prompt.ids]:
            return f"there is no principle {unknown[0]}"
        return ""

    def _quote(self, hunk: Hunk) -> str:
        if not hunk.old.strip():
            return ""
        if len(hunk.targets) != 1:
            return "only a hunk of one principle quotes the old text"
        text = next(principle.text for principle in self.prompt.principles if principle.id == hunk.targets[0])
        return "" if tidy(text) == tidy(hunk.old) else f"{hunk.targets[0]} does not read as quoted"

    def _text(self, hunk: Hunk) -> str:
        text = tidy(hunk.text)
        if not text:
            return "the new text is empty"
        if len(text) > self.limits.characters:
            return f"the new text has {len(text)} characters; {self.limits.characters} are allowed"
        if match := UNWRITABLE.search(text):
            return f"the new text holds the character {match[0]!r}, which cannot be written"
        gone = set(hunk.targets) if hunk.kind == "merge" else set()
        same = [
            principle.id
            for principle in self.prompt.principles
            if principle.id not in gone and _key(principle.text) == _key(text)
        ]
        if same:
            return f"{same[0]} says the same already"
        return "the new text copies a problem" if copies(text, self.limits.problems) else ""

    def _room(self, hunk: Hunk) -> str:
        full = hunk.kind == "add" and len(self.prompt.principles) >= self.limits.principles
        return f"the prompt is full: {self.limits.principles} principles" if full else ""


def _key(text: str) -> str:
    return tidy(text).casefold().rstrip(".")


def _words(text: str) -> list[str]:
    return re.findall(r"\w+|[^\w\s]", text.casefold())


def _runs(words: list[str], length: int) -> list[tuple[str, ...]]:
    return [tuple(words[start : start + length]) for start in range(len(words) - length + 1)]
