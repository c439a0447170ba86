"""How the replies of a role are drawn: what is sent next to what is asked. It is part of the call cache's key
and is in each call's row."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from evolake.settings import SamplingSettings, Settings


@dataclass(frozen=True)
class Sampling:
    """What is None is not sent. extra_body: further fields of the request, in the endpoint's words."""

    max_output_tokens: int
    temperature: float | None = None
    top_p: float | None = None
    seed: int | None = None
    reasoning_effort: str | None = None
    extra_body: Mapping[str, Any] | None = None

    def as_dict(self) -> dict[str, Any]:
        """For the key and the row: only what is sent."""
        return {name: value for name, value in asdict(self).items() if value is not None}

    def options(self) -> dict[str, Any]:
        """Return arguments of the client, without the limit of output, whose name depends on the server."""
        return {name: value for name, value in self.as_dict().items() if name != "max_output_tokens"}


def sampling_of(settings: Settings, role: str) -> Sampling:
    """Return what the settings say for a role: its own entry, field by field before that of `default`, before
    the settings for all."""
    result = Sampling(settings.model_max_output_tokens, settings.model_temperature)
    for name in ("default", role):
        entry = settings.sampling.get(name, SamplingSettings())
        result = replace(
            result, **{field: value for field, value in entry.model_dump().items() if value is not None}
        )
    return result
