"""What the line needs of the machine, and of other lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evolake.errors import InputError
from evolake.lines import Requirement
from evolake.project import INSTALLED, install
from evolake.prompts.settings import PromptsSettings

if TYPE_CHECKING:
    from evolake.settings import Settings


def requirements() -> list[Requirement]:
    """Return the libraries and the small model that the policy is trained with, and the dtype that a run here
    gives it, where settings can be read."""
    from evolake import settings as settings_module
    from evolake.prompts.policies.models import EXTRA, describe_dtype, missing_extra, missing_model

    lacking = missing_extra() or missing_model("local", None)
    detail = lacking.partition(":")[0] if lacking else ", ".join(EXTRA)
    libraries = Requirement(
        "policy libraries",
        lacking is None,
        detail,
        "the prompts line",
        install("policy") if INSTALLED else "make policy",
    )
    try:
        own = settings_module.load().of(PromptsSettings)
    except InputError:  # no project, or settings that cannot be read: the doctor has a row for either
        return [libraries]
    if own.policy == "endpoint":
        return [libraries]
    dtype = Requirement("policy dtype", True, describe_dtype(own), "", "")
    result = [libraries, dtype, Requirement("policy problems", True, problems_said(own), "", "")]
    return [*result, sampler(own)] if own.sampler == "vllm" else result


def problems_said(own: PromptsSettings) -> str:
    """Return where the problems of a cycle come from, in a line."""
    from evolake.prompts.evolution.feeding import FAMILIES, wanted

    if own.train or own.test:
        return f"{own.train} and {own.test}"
    others = " or ".join(source for source in own.problem_sources if source != FAMILIES)
    if not wanted(own):
        return others
    families = "accepted families of the lake"
    return (
        f"{families}, up to {own.families_share:.0%} of an iteration; else {others}" if others else families
    )


def sampler(own: PromptsSettings) -> Requirement:
    """Return the server that shall sample replies, asked for its model."""
    from evolake.prompts.policies.registry import check_sampler
    from evolake.prompts.policies.vllm_server import served

    try:
        check_sampler(own)
        name, most = served(own.vllm_url or "")
    except InputError as error:
        return Requirement(
            "policy sampler",
            False,
            f"{error.what}: {error.got}" if error.got else error.what,
            "the prompts line",
            error.do or "",
        )
    return Requirement("policy sampler", True, f"vLLM at {own.vllm_url}: {name}, up to {most} tokens", "", "")


def lines_read(settings: Settings) -> tuple[str, ...]:
    """Return the lines whose instances may become problems here."""
    from evolake.prompts.evolution.feeding import FAMILIES, wanted

    return (FAMILIES,) if wanted(settings.of(PromptsSettings)) else ()
