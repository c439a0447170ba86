"""Replies to problems of reasoning-gym (Stojanovski et al. 2025), scored in the jail by the verifier that
their dataset brings.

Each reply is scored in its own process, forked from what the jail held before any reply came: verifiers
evaluate what they read, so a reply may change the verifier that it meets, and the next reply must not meet
it. One reply may use `SCORE_LIMITS`; what others used up is not counted. The library is an extra (`pip
install evolake[reasoning-gym]`), and a pinned one: another version may make other entries of the same values.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any

from evolake.errors import InputError
from evolake.jail.patience import map_patiently
from evolake.jail.protocol import Call, Limits, Outcome

LIBRARY, DISTRIBUTION = "reasoning_gym", "reasoning-gym"
SCORER = DISTRIBUTION
"""What the rows of problems call this way of judging."""
GYM = "evolake.verifiers.gym"
GYM_PRELOAD = (f"{GYM}_preload", GYM)
"""What a pool that scores should preload: the library takes seconds to import."""
SCORE_LIMITS = Limits(cpu_s=10.0, wall_s=22.0, memory_mb=2048)
"""Of one reply: making its entry again, and scoring it."""
MAKE_LIMITS = Limits(cpu_s=120.0, wall_s=242.0, memory_mb=2048)
"""Of making an entry alone: single ones of the largest levels take seconds."""
BY_INDEX: Mapping[str, type] = {"dataset": str, "seed": int, "size": int, "index": int, "configuration": dict}
BY_DIFFICULTY: Mapping[str, type] = {"dataset": str, "seed": int, "difficulty": int}
WHOLE: Mapping[str, type] = {"dataset": str, "entry": dict}
"""What makes an entry: name -> type of its values, in one of three ways."""


@dataclass(frozen=True)
class Verified:
    """What a dataset's verifier said of one reply. score: 0 to 1. failure: why it said nothing (a status of
    the jail), so that the score is 0."""

    score: float
    failure: str | None = None


@dataclass(frozen=True)
class Asked:
    """One reply to score. entry: what makes the dataset's entry. text: the problem as it was asked, which has
    to begin with the entry's question; None where the entry alone says what was asked."""

    entry: Mapping[str, Any]
    reply: str
    text: str | None = None


FORMS = {"difficulty": BY_DIFFICULTY, "entry": WHOLE}


def require_library() -> None:
    """Raise InputError where reasoning-gym is not installed."""
    if find_spec(LIBRARY) is None:
        raise InputError(
            "reasoning-gym is not installed",
            wanted="the extra reasoning-gym",
            do="pip install 'evolake[reasoning-gym]'",
        )


def check_entry(entry: Any, where: str) -> dict[str, Any]:
    """Return the values that make an entry; a configuration that is not given is the dataset's own.

    Raises:
        InputError: they are not such values; says where. Also where the library is not installed.
    """
    require_library()
    given = dict(entry) if isinstance(entry, Mapping) else {}
    wanted = next((form for name, form in FORMS.items() if name in given), BY_INDEX)
    given = {"configuration": {}} | given if wanted is BY_INDEX else given
    typed = {name: type(value) for name, value in given.items()} == dict(wanted)
    if not typed or any(value < 0 for value in given.values() if type(value) is int):
        raise InputError(
            f"{where} does not say which entry of reasoning-gym it is",
            wanted=f"entry: {{{', '.join(BY_INDEX)}}} or {{{', '.join(BY_DIFFICULTY)}}}",
            got=repr(entry)[:200],
            do="write the values that made it, whole numbers from 0 on, or take the column scorer out",
        )
    return given


def score_replies(asked: Sequence[Asked], *, pool: Any, limits: Limits = SCORE_LIMITS) -> list[Verified]:
    """Return the replies scored by their datasets' verifiers, in their order, by all workers of `pool` at the
    same time.

    A reply that its verifier fails on, or runs out of `limits` on, is worth 0 and says so. Whether the entry
    is at fault is asked apart, without a reply, so that no reply can say so.

    Raises:
        InputError: an entry cannot be made by the library that is here, or asks something else than its text.
            MachineryError: the jail failed.
    """
    calls = [
        Call(f"{GYM}:score", "", {"entry": dict(item.entry), "reply": item.reply}, limits) for item in asked
    ]
    outcomes = map_patiently(pool, calls, "a verifier of reasoning-gym")
    _check_texts(asked, outcomes, pool)
    return [_verified(outcome) for outcome in outcomes]


def _check_texts(asked: Sequence[Asked], outcomes: Sequence[Outcome], pool: Any) -> None:
    """Ask once per entry whether it is what was asked: for all entries next to a text, and for those that a
    verifier failed on."""
    doubtful = {
        repr((dict(item.entry), item.text)): item
        for item, outcome in zip(asked, outcomes, strict=True)
        if item.text is not None or outcome.status != "ok"
    }
    calls = [
        Call(f"{GYM}:asks", "", {"entry": dict(item.entry), "text": item.text}, MAKE_LIMITS)
        for item in doubtful.values()
    ]
    for element, outcome in zip(
        doubtful.values(), map_patiently(pool, calls, "reasoning-gym") if calls else [], strict=True
    ):
        if outcome.status != "ok" or outcome.value is not True:
            raise InputError(
                f"reasoning-gym {version(DISTRIBUTION)} does not make the entry of a problem of "
                f"{element.entry['dataset']}",
                wanted=" ".join((element.text or "an entry").split())[:120],
                got=f"{outcome.status}: {outcome.reason}"
                if outcome.status != "ok"
                else f"another question from {dict(element.entry)!r}",
                do="install the version of reasoning-gym that made it, or fix its entry",
            )


def _verified(outcome: Outcome) -> Verified:
    """Return what a scoring process said, held to 0..1; 0 where it said no number."""
    score = outcome.value
    if outcome.status != "ok":
        return Verified(0.0, outcome.status)
    if not isinstance(score, int | float) or score != score:
        return Verified(0.0, "protocol")
    return Verified(float(min(max(score, 0.0), 1.0)))
