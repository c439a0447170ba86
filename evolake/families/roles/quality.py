"""The classical answers of the quality reviewer, the validator builder and the experience curator:
measurements instead of taste."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from evolake.agents.roles import Role, hide
from evolake.families.model.plain_facts import without_tables
from evolake.families.roles.experience import merged
from evolake.families.roles.models import (
    CurateReply,
    CurateRequest,
    QualityReply,
    QualityRequest,
    ValidatorReply,
    ValidatorRequest,
)
from evolake.families.roles.reply_faults import validator_fault

LONGEST_SENTENCE = 90
"""Words. A longer sentence outside of lists and data is not read to its end."""
ASKS = re.compile(
    r"[?？]|\b(?:how many|what|which|who|find|give|determine|compute|calculate|name|list)\b|[求多几]|哪|是否|请|写出",
    re.IGNORECASE,
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
