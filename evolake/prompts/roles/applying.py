"""Why the edits of a reply cannot be used: what the model is sent before it may answer once more.

One edit that applies is enough: the others are left out with their reasons, as rows, and later requests show
them.
"""

from __future__ import annotations

from collections.abc import Sequence

from evolake.prompts.model.edits import Hunk, Kind, Limits, apply
from evolake.prompts.model.prompt import Principle, SystemPrompt
from evolake.prompts.roles.models import PrincipleText


def edits_fault(
    principles: Sequence[PrincipleText],
    hunks: Sequence[Hunk],
    *,
    problems: Sequence[str] = (),
    kinds: Sequence[Kind] | None = None,
) -> str:
    """Return why none of the edits applies, with what the principles read now; "" if one applies or there is
    none.

    Args:
        principles: of the prompt that is edited. problems: statements that no principle may copy. kinds: as
            in `apply`.
    """
    prompt = SystemPrompt(tuple(Principle(item.id, item.text) for item in principles))
    outcomes = apply(prompt, hunks, Limits(problems=tuple(problems)), kinds=kinds).outcomes
    if not outcomes or any(outcome.applied for outcome in outcomes):
        return ""
    texts = {item.id: item.text for item in principles}
    reasons = []
    for number, outcome in enumerate(outcomes, 1):
        quoted = [
            f"{target} reads: {texts[target]}"
            for target in outcome.hunk.targets
            if outcome.hunk.old and target in texts
        ]
        named = " ".join([outcome.hunk.kind, *outcome.hunk.targets])
        reasons.append(f"edit {number} ({named}): {'; '.join([outcome.reason, *quoted])}")
    return f"no edit applies. {'. '.join(reasons)}. The ids are {', '.join(texts) or 'none'}"
