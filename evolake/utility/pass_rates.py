"""Measure how often the model as it is answers instances of a family right, by difficulty; and the problems
that evolake ships, chosen by that.

A group of replies that are all right, or all wrong, moves no weight: what is far too hard teaches a model
nothing, and what it knows already neither. The rates are taken on instances that are drawn for this alone.

    python -m evolake.utility.pass_rates examples/families/primers data_lake/seeds/prompts/problems.jsonl

writes the shipped problems: instances of the primers, with labels by a strict majority of the validators,
from one seed, at the difficulties of the measurement in docs/tutorials/utility.md. All instances of a primer
are of one family, so that none of a held-out primer is trained on. The request for the answer is added where
they are read, in the form that the settings want.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evolake import settings as settings_module
from evolake.answers.asking import AnswerFormat, answer_forms, request
from evolake.errors import InputError
from evolake.families.gates.consensus import take_votes
from evolake.families.gates.execution import caps_of
from evolake.families.gates.instances import instance_row
from evolake.families.model.contract import Family
from evolake.families.model.family_files import read_families
from evolake.families.sandbox.running import PRELOAD, generate
from evolake.families.settings import FamiliesSettings
from evolake.gates import Raised, contained
from evolake.jail import open_pool
from evolake.prompts.evolution.feeding import BYTES_PER_TOKEN
from evolake.prompts.model.prompt import prompt_of
from evolake.prompts.model.protocol import Policy, Problem
from evolake.prompts.model.scoring import judge_reply
from evolake.prompts.settings import PromptsSettings
from evolake.prompts.study_journal import Journal
from evolake.seeds import child_seed
from evolake.settings import Settings
from evolake.utility.tables import LINE

AT_ONCE = 16
"""Problems that are asked before what was asked is noted."""
Key = tuple[str, int]
"""(family_id, difficulty)"""


@dataclass(frozen=True)
class PassRates:
    """replies, correct: how many of each family and difficulty. texts: what was asked, by sha256, so that
    nothing else asks it."""

    replies: Mapping[Key, int]
    correct: Mapping[Key, int]
    texts: frozenset[str]

    def share(self, key: Key) -> float | None:
        """Return share of right replies; None if nothing was asked."""
        return self.correct[key] / self.replies[key] if self.replies.get(key) else None

    def between(self, low: float, high: float) -> set[Key]:
        """Return what is answered right at least as often as `low` and at most as often as `high`."""
        return {
            key for key in self.replies if (share := self.share(key)) is not None and low <= share <= high
        }


@dataclass(frozen=True)
class Sampling:
    """What is asked. instances: of each family and difficulty. samples: replies to each, drawn at the
    policy's temperature. longest: characters of a statement; a longer one is not asked."""

    difficulties: Collection[int]
    instances: int
    samples: int
    answer_format: AnswerFormat
    longest: int
    root_seed: int


def measure(
    families: Sequence[Family],
    policy: Policy,
    sampling: Sampling,
    *,
    pool: Any,
    settings: FamiliesSettings,
    journal: Journal | None = None,
    tell: Callable[[int, int], None] = lambda done, of: None,
) -> PassRates:
    """Ask the model.

    Args:
        journal: where each AT_ONCE problems are noted, so that a run that was cut off asks the others only.
        `tell`: called after problems were asked and noted, with how many have been and all there are; what it
            raises ends the measuring there.

    Raises:
        MachineryError: the jail failed.
    """
    rows: dict[str, dict[str, Any]] = {}
    answer_format, root_seed = sampling.answer_format, sampling.root_seed
    for family in families:
        result = contained(
            draw_instances,
            family,
            sorted(sampling.difficulties),
            sampling.instances,
            pool=pool,
            settings=settings,
            root_seed=root_seed,
        )
        for row in [] if isinstance(result, Raised) else result:
            if len(row["text"]) <= sampling.longest:
                rows.setdefault(row["text_sha"], row)
    asked = sorted(rows.values(), key=lambda row: (len(row["text"]), row["text_sha"]))
    forms, prompt = answer_forms(asked), prompt_of([])
    problems = [
        Problem(
            row["instance_id"],
            f"{row['text']}\n\n{request(row['language'], forms.get(row['family_id']), answer_format)}",
            row["answer"],
            row["case_sensitive"],
            row["category"],
            row["difficulty"],
            "train",
            "pass rates",
            row["family_id"],
        )
        for row in asked
    ]
    replies: dict[Key, int] = {}
    correct: dict[Key, int] = {}
    noted = journal.read()[0] if journal else []
    for start in range(0, len(problems), AT_ONCE):
        part, number = problems[start : start + AT_ONCE], start // AT_ONCE
        gave = noted[number] if number < len(noted) else {}
        if gave.get("asked") != [item.problem_id for item in part]:
            sampled = policy.sample(
                [(prompt, item) for item in part],
                sampling.samples,
                child_seed(root_seed, LINE, "pass rates", "replies", number),
            )
            right_of = [
                sum(
                    judge_reply(item.reply, problem, answer_format, truncated=item.truncated).correct
                    for item in given
                )
                for problem, given in zip(part, sampled, strict=True)
            ]
            gave = {
                "asked": [item.problem_id for item in part],
                "replies": [len(given) for given in sampled],
                "right": right_of,
            }
            if journal:
                journal.note(number + 1, gave, None)
            tell(start + len(part), len(problems))
        for problem, given, right in zip(part, gave["replies"], gave["right"], strict=True):
            key = (problem.family, problem.difficulty)
            replies[key] = replies.get(key, 0) + given
            correct[key] = correct.get(key, 0) + right
    return PassRates(replies, correct, frozenset(rows))


def policy_values(
    family: Family, policy: Policy, levels: Collection[int], questions: int, *, pool: Any, settings: Settings
) -> dict[str, dict[int, list[float]]]:
    """Return name of the policy -> level -> of each question whether it was answered right, one reply each.

    Statements are left out that may take more than half of the prompt; a family with checkers gives nothing,
    since a reply is compared with one label here. Raises MachineryError when the jail failed.
    """
    own = settings.of(PromptsSettings)
    longest = int(BYTES_PER_TOKEN * own.max_prompt_tokens / 2)
    sampling = Sampling(levels, questions, 1, own.answer_format, longest, settings.seed)
    sizes = settings.of(FamiliesSettings)
    rates = measure([] if family.checkers else [family], policy, sampling, pool=pool, settings=sizes)
    values: dict[int, list[float]] = {}
    for key, asked in rates.replies.items():
        right = rates.correct[key]
        values[key[1]] = [1.0] * right + [0.0] * (asked - right)
    return {policy.name: values}


def draw_instances(
    family: Family,
    difficulties: Sequence[int],
    count: int,
    *,
    pool: Any,
    settings: FamiliesSettings,
    root_seed: int,
) -> list[dict[str, Any]]:
    """Return rows of INSTANCES with labels by strict majority, `count` of each difficulty at most. Raises
    MachineryError when the jail failed."""
    pairs = [
        (difficulty, child_seed(root_seed, LINE, family.family_id, f"pass rates {difficulty}", number))
        for difficulty in difficulties
        for number in range(count)
    ]
    drawn = [
        item for item in generate(family, pairs, pool=pool, caps=caps_of(settings)) if item.status == "ok"
    ]
    return [
        instance_row(
            family,
            item,
            vote,
            hashlib.sha256(" ".join(item.text.split()).encode("utf-8", "replace")).hexdigest(),
            "0000",
        )
        for item, vote in zip(drawn, take_votes(family, drawn, pool=pool, settings=settings), strict=True)
        if vote.decided and vote.primary_agrees
    ]


EACH, SPARE = 32, 3
"""Instances of a primer and difficulty, where it has as many; how many times as many are drawn, since small
ones repeat."""
SEED = 17
"""Not the default of runs: what pass rates are measured on by default is not in the set."""
DIFFICULTIES: dict[str, tuple[int, ...]] = {
    "called-numbers": (1, 2, 3),
    "dictionary-words": (1, 2, 3),
    "lamp-button": (1, 2, 3),
    "number-cards": (1, 2, 3),
    "oldest-child": (1, 2, 3),
    "queue-ends": (1, 2, 3),
    "sign-letters": (1, 2, 3),
    "written-sum": (1,),
}
"""Primer -> the difficulties that the bundled model answered right between 10 and 60 times in a hundred."""
KEPT = ("text", "answer", "case_sensitive", "category", "difficulty", "language")


def shipped_problems(folder: Path) -> list[dict[str, Any]]:
    """Return lines of problems.jsonl, from the primers in `folder`.

    Raises:
        InputError: a primer is not there. MachineryError: the jail failed.
    """
    primers = {family.name: family for family in read_families(folder)}
    if missing := sorted(DIFFICULTIES.keys() - primers.keys()):
        raise InputError(
            f"there is no primer {missing[0]} in {folder}",
            wanted=", ".join(DIFFICULTIES),
            do="name the folder of the primers",
        )
    sizes, lines = FamiliesSettings(), []
    with open_pool(workers=1, preload=PRELOAD, mode=settings_module.load().jail) as pool:
        for name, difficulties in DIFFICULTIES.items():
            drawn = draw_instances(
                primers[name], difficulties, SPARE * EACH, pool=pool, settings=sizes, root_seed=SEED
            )
            result = {row["text_sha"]: row for row in drawn}
            for difficulty in difficulties:
                some = [row for row in result.values() if row["difficulty"] == difficulty][:EACH]
                lines += [
                    {
                        "problem_id": row["instance_id"],
                        **{key: row[key] for key in KEPT},
                        "family": name,
                        "source": f"primers/{name}",
                    }
                    for row in some
                ]
    return lines


if __name__ == "__main__":
    text = "".join(
        json.dumps(line, ensure_ascii=False) + "\n" for line in shipped_problems(Path(sys.argv[1]))
    )
    Path(sys.argv[2]).write_text(text, encoding="utf-8")
