"""Replies to problems whose dataset brings a verifier, judged by that: in the jail, and all replies of a
batch in one call.

The verifier of a dataset gets what was read as the answer, the content of the box, and not the reply around
it. A reply without an answer is worth 0 unasked. A verifier of the user's own gets the whole reply. The jail
is there for the batch alone: it holds the libraries in memory, which the weights need in between.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from evolake.answers.asking import AnswerFormat
from evolake.prompts.model.protocol import Problem, Sample
from evolake.prompts.model.scoring import read_answer
from evolake.verifiers.external import GYM_PRELOAD, SCORER, Asked, Verified, require_library, score_replies
from evolake.verifiers.own import OwnVerifier, ScoredReply, is_own, open_own_pool, score_own, verifier_of

MOST_JAILS = 4
"""Jails of one batch: each imports the library first, which takes longer than scoring a hundred replies."""
EACH = 50
"""Replies that are worth another jail."""


def verified(
    pairs: Sequence[tuple[Any, Problem]], samples: Sequence[Sequence[Sample]], answer_format: AnswerFormat
) -> list[list[Sample]]:
    """Return the samples of all pairs (prompt, problem), those of problems with a verifier with what it said
    of them.

    Raises:
        InputError: reasoning-gym is not installed, or is of a version that makes other problems.
            MachineryError: the jail failed.
    """
    asked = [(problem, sample) for (_, problem), some in zip(pairs, samples, strict=True) for sample in some]
    said = iter(
        verify([(problem, sample.said, sample.truncated) for problem, sample in asked], answer_format)
    )
    return [
        [replace(sample, verified=result) if (result := next(said)) else sample for sample in some]
        for some in samples
    ]


def verify(asked: Sequence[tuple[Problem, str, bool]], answer_format: AnswerFormat) -> list[Verified | None]:
    """Return what their verifiers say of (problem, reply, truncated), in their order; None where a problem
    has none. Raises as `verified`."""
    places, entries, result = [], [], list[Verified | None]()
    own = own_scores(asked)
    for place, (problem, reply, truncated) in enumerate(asked):
        result.append(Verified(0.0) if problem.scorer == SCORER else own.get(place))
        if (
            problem.scorer == SCORER
            and (answer := read_answer(reply, problem, answer_format, truncated=truncated)) is not None
        ):
            places.append(len(result) - 1)
            entries.append(Asked(json.loads(problem.entry or "{}"), answer.answer, problem.text))
    if not entries:
        return result
    from evolake.jail import open_pool

    require_library()
    workers = min(MOST_JAILS, os.cpu_count() or 1, 1 + len(entries) // EACH)
    with open_pool(workers=workers, preload=GYM_PRELOAD) as pool:
        for place, item in zip(places, score_replies(entries, pool=pool), strict=True):
            result[place] = item
    return result


def own_scores(asked: Sequence[tuple[Problem, str, bool]]) -> dict[int, Verified]:
    """Return place -> score of the replies to problems with a verifier of the user's own. Raises
    MachineryError: the jail failed."""
    carried: dict[str, OwnVerifier] = {}
    entries: dict[int, ScoredReply] = {}
    for place, (problem, reply, _) in enumerate(asked):
        if is_own(problem.scorer):
            verifier = carried.setdefault(
                problem.scorer, verifier_of(problem.entry, f"problem {problem.problem_id[:12]}")
            )
            entries[place] = ScoredReply(verifier, reply, json.loads(problem.answer), problem.text)
    if not entries:
        return {}
    with open_own_pool(list(carried.values()), len(entries)) as pool:
        return dict(zip(entries, score_own(list(entries.values()), pool=pool), strict=True))
