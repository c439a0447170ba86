"""What the line needs of the machine."""

from __future__ import annotations

from evolake.lines import Requirement


def requirements() -> list[Requirement]:
    """The libraries and the small model that the policy is trained with."""
    from evolake.prompts.policies.models import EXTRA, missing_extra, missing_model

    lacking = missing_extra() or missing_model("local", None)
    detail = lacking.partition(":")[0] if lacking else ", ".join(EXTRA)
    return [Requirement("policy libraries", lacking is None, detail, "the prompts line", "make policy")]
