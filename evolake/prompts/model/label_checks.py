"""Try labels and verifiers of the user's own before anything is trained on them: a label that a correct reply
in the asked form could not give, one question with two labels; a verifier on a right, a wrong, an empty and
hostile replies to a few of the problems."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from evolake.answers.asking import AnswerFormat
from evolake.answers.ending import ending
from evolake.answers.forms import asked_units
from evolake.answers.matching import answers, equivalent
from evolake.answers.reading import extract_boxed
from evolake.errors import InputError
from evolake.prompts.model.protocol import ANSWER, ANY, EXACT, Problem
from evolake.prompts.model.row_recipes import MAPPING_EXAMPLE, label_text
from evolake.verifiers.external import SCORER
from evolake.verifiers.own import (
    Probe,
    ScoredReply,
    is_own,
    open_own_pool,
    probe_verifier,
    right_replies,
    verifier_of,
)

MOST_WORDS = 25
"""Words of a label beyond which it is a whole text and no answer."""
_PROSE_WORD = re.compile(r"[^\W\d_]{2,}")


@dataclass(frozen=True)
class PlacedProblem:
    """A problem with the row that it comes from, such as `row 3 of FILE`."""

    problem: Problem
    where: str


def why_unanswerable(problem: Problem, answer_format: AnswerFormat) -> str | None:
    """Return why no correct reply in the asked form would be rewarded; None if one would be. Problems with
    their own verifier are not asked."""
    if problem.scorer == SCORER or is_own(problem.scorer):
        return None
    label = json.loads(problem.answer)
    if problem.scorer == ANY:
        each = [replace(problem, answer=json.dumps(one), scorer=ANSWER) for one in label]
        reasons = [why_unanswerable(one, answer_format) for one in each]
        return None if None in reasons else reasons[0]
    shown = label_text(label)
    if isinstance(label, str) and len(_PROSE_WORD.findall(shown)) > MOST_WORDS:
        return f"a text of {len(shown.split())} words, no answer"
    if isinstance(label, str) and (
        "\n####" in shown or ("\\boxed" in shown and not shown.strip().startswith("\\boxed"))
    ):
        return "a solution, no answer"
    units = asked_units(problem.text)
    if answer_format == "last":
        found = ending(shown, label, units)
        given = None if found is None else found.text
    else:
        given = extract_boxed(f"\\boxed{{{shown}}}")
    if given is None:
        return "no reply in the asked form gives it"
    if problem.scorer == EXACT:
        return (
            None if given.strip() == shown.strip() else "no reply in the asked form gives exactly this text"
        )
    right = answers(given, label, case_sensitive=problem.case_sensitive, units=units)
    return None if right else "no reply in the asked form gives it"


def check_labels(problems: Sequence[PlacedProblem], answer_format: AnswerFormat) -> None:
    """Refuse labels that no correct reply could give.

    Raises:
        InputError: there are some; shows three of them.
    """
    wrong = [
        (item, why) for item in problems if (why := why_unanswerable(item.problem, answer_format)) is not None
    ]
    if wrong:
        shown = [
            f"{item.where}: {' '.join(label_text(json.loads(item.problem.answer)).split())[:80]!r} ({why})"
            for item, why in wrong[:3]
        ]
        raise InputError(
            f"{len(wrong)} of {len(problems)} labels cannot be matched by a correct reply",
            wanted="a short answer"
            + (" that fits in \\boxed{...}" if answer_format == "boxed" else " that a reply can end with"),
            got="; ".join(shown),
            do=f"fix these rows, or name the column of the answer: {MAPPING_EXAMPLE}"
            + (
                "; EVOLAKE_PROMPTS__ANSWER_FORMAT=boxed takes more kinds of labels"
                if answer_format == "last"
                else ""
            ),
        )


def unusable(problems: Sequence[PlacedProblem], answer_format: AnswerFormat) -> dict[str, str]:
    """Return row -> why it is left out: no correct reply could give its label, or its question has another
    label, too."""
    result = {item.where: why_unanswerable(item.problem, answer_format) for item in problems}
    by_words: dict[str, list[PlacedProblem]] = {}
    for item in problems:
        by_words.setdefault(" ".join(item.problem.text.split()).casefold(), []).append(item)
    for some in by_words.values():
        if not all(_same_label(some[0].problem, item.problem) for item in some):
            result |= {item.where: "one question has two labels" for item in some}
    return {where: why for where, why in result.items() if why is not None}


def without_duplicates(problems: Sequence[PlacedProblem]) -> list[PlacedProblem]:
    """Return the problems without later ones of the same text and label.

    Raises:
        InputError: a question has two different labels; names both rows.
    """
    first: dict[str, PlacedProblem] = {}
    for item in problems:
        words = " ".join(item.problem.text.split()).casefold()
        before = first.setdefault(words, item)
        if before.problem.answer != item.problem.answer and not _same_label(before.problem, item.problem):
            raise InputError(
                "one question has two labels",
                wanted="one label for each question",
                got=f"{before.where}: {label_text(json.loads(before.problem.answer))[:60]!r}, "
                f"{item.where}: {label_text(json.loads(item.problem.answer))[:60]!r}",
                do="remove or correct one of the two rows",
            )
    return list(first.values())


def _same_label(one: Problem, other: Problem) -> bool:
    return equivalent(json.loads(one.answer), json.loads(other.answer), case_sensitive=one.case_sensitive)


def with_own_ids(problems: Sequence[PlacedProblem]) -> list[PlacedProblem]:
    """Return the problems, each with its own id: a name that several rows have, such as a split's or a
    subject's, is no id."""
    counts: dict[str, int] = {}
    for item in problems:
        counts[item.problem.problem_id] = counts.get(item.problem.problem_id, 0) + 1
    return [
        item if counts[item.problem.problem_id] == 1 else replace(item, problem=renamed(item.problem))
        for item in problems
    ]


def renamed(problem: Problem) -> Problem:
    """Return the problem under an id that its text and label decide."""
    own = hashlib.sha256(f"{problem.text}\x1f{problem.answer}".encode()).hexdigest()
    return replace(
        problem, problem_id=own, family=own if problem.family == problem.problem_id else problem.family
    )


PROBED = 3
"""Problems of each verifier that it is probed on: the first, the middle one and the last."""
NO_ANSWER = "I do not know."


def probe_verifiers(problems: Sequence[Problem], answer_format: AnswerFormat) -> dict[str, list[Probe]]:
    """Return scorer -> its probes, of every verifier of the user's own among the problems; {} without any.

    Raises:
        InputError: a verifier does not give 1 to a right reply, or does to another one. MachineryError: the
            jail failed.
    """
    by_scorer: dict[str, list[Problem]] = {}
    for problem in problems:
        if is_own(problem.scorer):
            by_scorer.setdefault(problem.scorer, []).append(problem)
    return {scorer: _probed(some, answer_format) for scorer, some in by_scorer.items()}


def _probed(problems: Sequence[Problem], answer_format: AnswerFormat) -> list[Probe]:
    verifier = verifier_of(problems[0].entry, f"problem {problems[0].problem_id[:12]}")
    chosen = [problems[place] for place in sorted({0, len(problems) // 2, len(problems) - 1})][:PROBED]
    asked = [
        ScoredReply(verifier, _in_form(item.answer, answer_format), json.loads(item.answer), item.text)
        for item in chosen
    ]
    with open_own_pool([verifier], len(asked)) as pool:
        if verifier.makes_right_replies:
            samples = [(item, NO_ANSWER) for item in right_replies(asked, pool=pool)]
        else:
            samples = [
                (item, _wrong_reply(problem, problems, answer_format))
                for item, problem in zip(asked, chosen, strict=True)
            ]
        return probe_verifier(samples, pool=pool)


def _in_form(answer: str, answer_format: AnswerFormat) -> str:
    """Return the reply that gives a label in the asked form."""
    shown = label_text(json.loads(answer))
    return f"\\boxed{{{shown}}}" if answer_format == "boxed" else shown


def _wrong_reply(problem: Problem, others: Sequence[Problem], answer_format: AnswerFormat) -> str:
    """Return the reply that gives the label of another problem, one that is not the same answer."""
    label = json.loads(problem.answer)
    wrong = next(
        (
            item.answer
            for item in others
            if not equivalent(json.loads(item.answer), label, case_sensitive=False)
        ),
        None,
    )
    return NO_ANSWER if wrong is None else _in_form(wrong, answer_format)
