"""What the line needs of the machine, and of other lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evolake.lines import Requirement
from evolake.project import INSTALLED, install
from evolake.prompts.settings import PromptsSettings

if TYPE_CHECKING:
    from evolake.settings import Settings


def requirements() -> list[Requirement]:
    """The libraries and the small model that the policy is trained with."""
    from evolake.prompts.policies.models import EXTRA, missing_extra, missing_model

    lacking = missing_extra() or missing_model("local", None)
    detail = lacking.partition(":")[0] if lacking else ", ".join(EXTRA)
    return [Requirement("policy libraries", lacking is None, detail, "the prompts line", install("policy") if INSTALLED else "make policy")]


def lines_read(settings: Settings) -> tuple[str, ...]:
    """The lines whose instances may become problems here."""
    return ("families",) if "families" in settings.of(PromptsSettings).problem_sources else ()
