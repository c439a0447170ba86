"""What `evolake doctor` says of the model backend: endpoint, budget and, where it may call, what the endpoint
can do."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from evolake.errors import InputError

if TYPE_CHECKING:
    from evolake.settings import Settings

CONNECT = (
    "correct EVOLAKE_MODEL_BASE_URL, EVOLAKE_MODEL_API_KEY or EVOLAKE_MODELS, or ask the operator of the "
    "server"
)
REPLIES = (
    "name a model in EVOLAKE_MODELS that replies in the form that is asked for; the connection itself works"
)
MEND = 'set EVOLAKE_MODEL_BASE_URL, EVOLAKE_MODEL_API_KEY and EVOLAKE_MODELS=\'{"default": "NAME"}\''
BUDGET = "set EVOLAKE_BUDGET__TOKENS_PER_RUN (or another limit)"
WITHOUT_MODEL = "the model backend (operators need none)"
SIZE = (
    "serve the model with a context of at least 32,768 tokens (Ollama: num_ctx; vLLM: --max-model-len), "
    "or lower EVOLAKE_MODEL_MAX_OUTPUT_TOKENS"
)
MENDS = {"answers": CONNECT, "structured replies": REPLIES, "request of real size": SIZE}
"""By what was tried: what to do if it failed."""
SKIPS = {
    "function calling": "nothing: no role needs it",
    "usage": "exact prices and budgets",
    "request of real size": "long prompts and replies: they are cut off, and asked for again",
}
LONGEST_DETAIL = 700
LONGEST_TRIAL = 2_000
"""Output tokens that a trial call may take: some models think first."""


def endpoint_checks(settings: Settings, *, call: bool) -> Iterator[dict[str, Any]]:
    """Yield the fields of each check of `evolake doctor`. call: whether each model may be asked two small
    questions and a large one; then what a model lacks is what was asked about, also where the backend is
    another."""
    from evolake.agents.address import address

    needed = settings.backend == "model" and not settings.replay_only
    missing = {
        "name": "model endpoint",
        "ok": not needed,
        "skips": WITHOUT_MODEL,
        "mend": MEND,
        "needed": needed or call,
    }
    key = settings.model_api_key.get_secret_value().strip() if settings.model_api_key else ""
    try:
        where = address(settings.model_base_url or "")
    except InputError as error:
        yield missing | {"ok": False, "detail": f"{error.what}: {error.got}"}
        return
    if not (where and key and settings.models):
        yield missing | {"ok": not (needed or call), "detail": "not configured"}
        return
    models = sorted(set(settings.models.values()))
    yield {
        "name": "model endpoint",
        "ok": True,
        "detail": f"{where}, models {', '.join(models)}" + ("" if call else "; --call tries it"),
    }
    limits = [
        f"{value:,} {name.replace('_', ' ')}"
        for name, value in settings.budget.model_dump().items()
        if value is not None
    ]
    yield {
        "name": "model budget",
        "ok": bool(limits) or not needed,
        "detail": ", ".join(limits) or "none",
        "skips": WITHOUT_MODEL,
        "mend": BUDGET,
        "needed": needed,
    }
    for model in models if call else ():
        yield from _tried(settings, model, key)


def _tried(settings: Settings, model: str, key: str) -> Iterator[dict[str, Any]]:
    from contextlib import closing

    from evolake.agents.endpoint import Endpoint
    from evolake.agents.probe import REAL_SIZE, probe
    from evolake.jail.protocol import one_line

    endpoint = Endpoint(
        settings.model_base_url or "",
        key,
        deadline_s=settings.model_timeout_s,
        retries=min(1, settings.model_max_retries),
    )
    with closing(endpoint):
        limit = settings.model_max_output_tokens
        for item in probe(endpoint, model, max_output_tokens=min(LONGEST_TRIAL, limit), real_limit=limit):
            skips = WITHOUT_MODEL if item.needed else SKIPS[item.what]
            mend = MENDS.get(item.what, "") if item.needed or item.what == REAL_SIZE else ""
            yield {
                "name": f"{model}: {item.what}",
                "ok": item.ok,
                "detail": one_line(item.detail, LONGEST_DETAIL),
                "skips": "" if item.ok else skips,
                "mend": "" if item.ok else mend,
                "needed": item.needed,
            }
