"""Whether the endpoint of a model answers at all, asked before the first problem.

Any HTTP answer counts, an error too: whether the server takes the prompts is found out by the first call. No
answer is the user's input gone wrong, not a failure of the machinery, so the run ends before it began.
"""

from __future__ import annotations

from evolake.errors import InputError
from evolake.settings import Settings

PROBE_S = 10.0


def require_endpoint(settings: Settings) -> None:
    """Raise unless the settings' endpoint answers, or no new call will be made (operators, replay only).

    Raises:
        InputError: nothing answers there.
    """
    if settings.backend != "model" or settings.replay_only:
        return
    import httpx2

    address = (settings.model_base_url or "").rstrip("/") + "/models"
    try:
        with httpx2.Client(timeout=PROBE_S, follow_redirects=False) as client:
            client.get(address)
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        raise InputError(
            f"the model endpoint {settings.model_base_url} does not answer",
            wanted="an HTTP answer of any kind",
            got=f"{type(error).__name__}: {error}",
            do="start the server or fix EVOLAKE_MODEL_BASE_URL; or use --backend operators",
        ) from None
