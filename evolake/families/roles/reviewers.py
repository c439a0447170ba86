"""The roles around a draft: quality reviewer, validator builder, author of independent validators, curator of
experience. The classical answers are measurements instead of taste.

The author of independent validators sees the statement and a few instances, never the primary, the generator
or who wrote them. Votes of programs count as independent only if their authors are: a reply that holds the
primary and its validators makes one mistake in all of them. There is no classical answer: operators take
independent validators from the parents.

Experience is one-sentence items that hold for any family, shown to the author of the next one. Items are
distinguished by their words, not by their letters; the list is capped, the oldest go first.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from pydantic import Field

from evolake.agents.roles import Role, hide
from evolake.families.model.wording import without_tables
from evolake.families.roles.models import (
    CurateReply,
    CurateRequest,
    Model,
    QualityReply,
    QualityRequest,
    ValidatorReply,
    ValidatorRequest,
    validator_fault,
)

SAME = 0.7
"""Share of common words from which on two items say the same."""
LONGEST = 300


def merged(existing: Sequence[str], candidates: Sequence[str], limit: int) -> list[str]:
    """At most `limit` items that all say something else, oldest first. A repeated item moves to the end: it
    was learnt again."""
    kept: list[str] = []
    for item in [*existing, *candidates]:
        sentence = one_sentence(item)
        if not sentence:
            continue
        kept = [other for other in kept if not same(other, sentence)]
        kept.append(sentence)
    return kept[-limit:]


def same(first: str, other: str) -> bool:
    """Return whether two items say the same."""
    left, right = _words(first), _words(other)
    return left == right or (bool(left | right) and len(left & right) >= SAME * len(left | right))


def one_sentence(text: str) -> str:
    """Return the first sentence, on one line, capped."""
    flat = " ".join(text.split())
    first = re.split(r"(?<=[.!?。！？])\s", flat, maxsplit=1)[0]
    return first[:LONGEST]


def _words(text: str) -> set[str]:
    return (
        set(re.findall(r"\w", text))
        if re.search(r"[一-鿿]", text)
        else set(re.findall(r"\w+", text.casefold()))
    )


LONGEST_SENTENCE = 90
"""Words. A longer sentence outside of lists and data is not read to its end."""
REQUESTS = (
    "answer|arrange|assign|build|choose|compare|complete|construct|convert|count|decide|decode|deduce|derive|"
    "describe|draw|encode|enter|evaluate|explain|express|fill|identify|indicate|infer|mark|match|order|output|"
    "pick|predict|present|print|produce|prove|provide|put|rank|rearrange|reconstruct|reorder|replace|reply|report|"
    "respond|return|rewrite|say|select|show|simplify|solve|sort|specify|state|supply|tell|translate|type|work out|"
    "write"
)
"""What a sentence begins with that asks for something."""
ASKS = re.compile(
    r"[?？]|\b(?:how many|what|which|who|find|give|determine|compute|calculate|name|list|your (?:task|answer))\b"  # noqa: UP031
    r"|(?:^|[.!:;,*>]\s*)(?:(?:please|now|then|finally|and)\b,?\s+)*(?:%s)\b"
    r"|[求多几]|哪|是否|请|写出|输出|给出|回答|找出|列出|补全|填|计算|判断" % REQUESTS,
    re.IGNORECASE | re.MULTILINE,
)
LEFTOVERS = re.compile(
    r"\b(?:None(?!\s+(?:of|is|are|was|were|has|have|had|can|may|must|will|would|could|at|other|but|more|"
    r"less|so|too)\b)|nan|NaN|TODO|undefined)\b|<[a-z]+ object at\b|\{\w*\}"
)
"""What code leaves in a text; "None of them" is English."""
QUOTED = re.compile(r"“[^”\n]*”|\"[^\"\n]*\"|`[^`\n]*`|(?<!\S)[()\[\]{}]+(?=[.,;:!?]?(?:\s|$))")
"""Words that a statement speaks about, and brackets that stand alone: they are data."""
BRACKET_KINDS = re.compile(
    r"\b(?:braces?|brackets?|parenthes[ie]s):? (?:\(\)|\[\]|\{\}|<>)"
    r"|(?<!\S)(?:\(\)|\[\]|<>|\{\})(?:[,;/]? (?:(?:and|or) )?(?:\(\)|\[\]|<>|\{\}))+(?=[.,;:!?]?(?:\s|$))"
    r"|(?<!\S)[()\[\]{}<>]{3,}(?=[.,;:!?]?(?:\s|$))"
)
"""Brackets that a statement speaks of: an empty pair that is named ("curly braces {}"), several pairs in a
row, and a word of brackets alone."""
LIST_MARK = re.compile(r"^\s*\(?(?:\d{1,3}|[a-zA-Z])\)\s", re.MULTILINE)
LEAST_GROWTH = 1.5
GUESSABLE = 0.65


def review_quality(request: QualityRequest, random: np.random.Generator) -> QualityReply:
    """Readable: it asks something, in sentences of bearable length, with no leftovers of code. New: another
    text than its nearest relative. Aligned: the hardest instances take clearly more work than the easiest,
    and no single answer is a good guess.
    """
    text, metrics = request.statement, request.metrics
    readability = _unreadable(text)
    novelty = (
        "the text is that of another family; state a new rule or another question"
        if metrics.get("same_text")
        else ""
    )
    difficulty = ""
    if float(metrics.get("growth", 0)) < LEAST_GROWTH:
        difficulty = (
            "raise the difficulty with the parameter: the hardest instances take hardly more work than "
            "the easiest"
        )
    elif not metrics.get("boolean") and float(metrics.get("commonest_share", 0)) > GUESSABLE:
        difficulty = "vary the answers: one of them is right too often to need solving"
    feedback = "; ".join(result for result in (readability, novelty, difficulty) if result)
    return QualityReply(
        readability="revise" if readability else "pass",
        novelty="revise" if novelty else "pass",
        difficulty_alignment="revise" if difficulty else "pass",
        action="revise" if feedback else "proceed",
        feedback=feedback,
    )


def build_validator(request: ValidatorRequest, random: np.random.Generator) -> ValidatorReply:
    """None: an independent algorithm cannot be had by rewriting another. Operators take independent
    validators from the parents instead."""
    return ValidatorReply(source="", algorithm="operators write no validators")


def curate(request: CurateRequest, random: np.random.Generator) -> CurateReply:
    """Return the existing items and the new ones that say something else, oldest first out."""
    return CurateReply(items=merged(request.existing, request.candidates, request.limit))


def _unreadable(text: str) -> str:
    if not ASKS.search(text):
        return "end with a question: nothing is asked"
    if match := LEFTOVERS.search(BRACKET_KINDS.sub("", text)):
        return f"remove the leftover {match[0]!r} from the statement"
    prose = [
        line
        for line in without_tables(text)
        if not line.lstrip().startswith(("-", "*", "•")) and not re.match(r"\s*\d+[.)]", line)
    ]
    words = [
        re.sub(r"[\[({][^\])}]*[\])}]", " ", sentence).split()
        for sentence in re.split(r"[.!?;:。！？；：]\s*", "\n".join(prose))
    ]
    if any(
        len([word for word in sentence if not word[0].isdigit()]) > LONGEST_SENTENCE for sentence in words
    ):
        return f"shorten the sentences: one has more than {LONGEST_SENTENCE} words"
    bare = LIST_MARK.sub("", QUOTED.sub("", BRACKET_KINDS.sub("", text)))
    counts = [(bare.count(opener), bare.count(closer)) for opener, closer in ("()", "[]", "{}")]
    return "close the brackets" if any(opened != closed for opened, closed in counts) else ""


def _shown_question(request: QualityRequest) -> dict[str, Any]:
    """Return what a model reads: `none` for a family without a parent."""
    return hide("metrics")(request) | {"parent_statement": request.parent_statement or None}


QUALITY_ROLE = Role(
    "families_quality_reviewer", QualityRequest, QualityReply, review_quality, values=_shown_question
)
"""Is the statement fit for publication?"""
VALIDATOR_ROLE = Role(
    "families_validator_builder", ValidatorRequest, ValidatorReply, build_validator, fault=validator_fault
)
"""Write a validator of one's own."""
CURATOR_ROLE = Role("families_experience_curator", CurateRequest, CurateReply, curate)
"""Which lessons to keep."""


class Shown(Model):
    """One instance as its author sees it: the texts of its slots in order, and the inputs behind it as JSON. There is no answer to it."""

    slots: list[str]
    inputs: str


class AuthorRequest(Model):
    """Write a validator from the statement alone. `taken`: algorithms of the other authors, in one line each, in their own words.

    unusable: programs of earlier replies that could not be used, with what happened on instances.
    """

    template: str
    answer_type: str
    instances: list[Shown]
    taken: list[str] = Field(default_factory=list)
    unusable: list[str] = Field(default_factory=list)


SAW = ("statement", "instances")
"""What an author is shown, as rows say it."""


def write_none(request: AuthorRequest, random: np.random.Generator) -> ValidatorReply:
    """None: an independent algorithm cannot be had by rewriting another."""
    return ValidatorReply(source="", algorithm="operators write no validators")


AUTHOR_ROLE = Role(
    "families_validator_author", AuthorRequest, ValidatorReply, write_none, fault=validator_fault
)
"""Write a validator from the statement, without sight of any other program."""
