"""Before a run does anything: does the endpoint answer, take the key and have the models? Else the first call
would say so, minutes later.

The list of models costs nothing and is asked first. A model that is not in it, or a server that has no such
list, is asked one small question, which is in no cache and in no budget.
"""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

from evolake.agents.address import address
from evolake.errors import AgentUnavailable, InputError

if TYPE_CHECKING:
    from evolake.agents.endpoint import Endpoint
    from evolake.settings import Settings

LONGEST_ANSWER = 2_000
"""Output tokens that the question may take: some models think first."""
MEND = (
    "correct EVOLAKE_MODEL_BASE_URL, EVOLAKE_MODEL_API_KEY or EVOLAKE_MODELS (`evolake doctor --call` "
    "tries them), or use --backend operators"
)


def check_endpoint(settings: Settings) -> None:
    """Nothing for the backend `operators`, and for a run that makes no new call.

    Raises:
        InputError: something is missing in the settings, or a model of them cannot be asked; says what the
            endpoint said.
    """
    if settings.backend != "model" or settings.replay_only:
        return
    from evolake.agents.agents import check_backend
    from evolake.agents.endpoint import Endpoint

    check_backend(settings)
    key = settings.model_api_key.get_secret_value().strip() if settings.model_api_key else ""
    endpoint = Endpoint(
        settings.model_base_url or "",
        key,
        deadline_s=settings.model_timeout_s,
        retries=min(1, settings.model_max_retries),
    )
    with closing(endpoint):
        try:
            listed = endpoint.listed()
        except AgentUnavailable as error:
            raise _refused(endpoint, error.got or error.what) from None
        for model in sorted(set(settings.models.values()) - set(listed)):
            _ask(endpoint, model, settings.model_max_output_tokens)


def _ask(endpoint: Endpoint, model: str, most_tokens: int) -> None:
    from evolake.agents.probe import probe

    first = next(probe(endpoint, model, max_output_tokens=min(LONGEST_ANSWER, most_tokens)))
    if first.what == "answers" and not first.ok:
        raise _refused(endpoint, f"{model}: {first.detail}")


def _refused(endpoint: Endpoint, said: str) -> InputError:
    where = f"an answer of {address(endpoint.base_url)}"
    return InputError(
        "the model backend cannot be asked, so nothing was begun", wanted=where, got=said, do=MEND
    )
