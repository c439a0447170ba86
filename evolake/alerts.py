"""Report that a run failed: a command that reads the alert as JSON on its standard input, a webhook that it
is posted to, or both.

`EVOLAKE_ALERT_COMMAND` and `EVOLAKE_ALERT_WEBHOOK` say which. An alert that cannot be delivered is an error,
never silence. The webhook's address is a secret (its path often is the key): messages name its host alone.
"""

from __future__ import annotations

import json
import shlex
import subprocess
from collections.abc import Mapping
from urllib.parse import urlsplit

from evolake.errors import InputError, MachineryError
from evolake.settings import Settings

PATIENCE_S = 30.0
TAIL = 500


def alerting(settings: Settings) -> bool:
    """Return whether anybody is to be shown."""
    return bool(settings.alert_command or settings.alert_webhook)


def alert(settings: Settings, about: Mapping[str, str]) -> None:
    """Hand an alert to the command and the webhook of the settings.

    Args:
        about: what happened; keys and texts, sent as one JSON object. `text` is the whole as a sentence,
            which chat services show.

    Raises:
        InputError: the command or the address is none. MachineryError: an alert was not taken; the other way
            has been tried all the same.
    """
    body = json.dumps(about)
    failures = []
    if settings.alert_command:
        failures += _run(settings.alert_command, body)
    if settings.alert_webhook:
        failures += _post(settings.alert_webhook.get_secret_value(), body)
    if failures:
        raise MachineryError(
            "an alert was not delivered",
            got="; ".join(failures),
            do="fix EVOLAKE_ALERT_COMMAND or EVOLAKE_ALERT_WEBHOOK",
        )


def _run(command: str, body: str) -> list[str]:
    try:
        words = shlex.split(command)
        if not words:
            raise ValueError("nothing but blanks")
    except ValueError as error:
        raise InputError(
            "EVOLAKE_ALERT_COMMAND is no command", wanted="words as a shell takes them", got=str(error)
        ) from None
    try:
        done = subprocess.run(
            words, input=body, capture_output=True, text=True, timeout=PATIENCE_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return [f"{words[0]}: {error}"]
    return (
        [f"{words[0]} ended with {done.returncode}: {done.stderr[-TAIL:].strip()}"] if done.returncode else []
    )


def _post(address: str, body: str) -> list[str]:
    import urllib.error
    import urllib.request  # which brings a client of HTTP with it

    parts = urlsplit(address)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise InputError(
            "EVOLAKE_ALERT_WEBHOOK is no address",
            wanted="http://... or https://...",
            got=f"one of the scheme {parts.scheme!r}",
        )
    request = urllib.request.Request(address, body.encode(), {"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=PATIENCE_S):
            return []
    except (OSError, urllib.error.URLError) as error:
        reason = f"HTTP {error.code}" if isinstance(error, urllib.error.HTTPError) else type(error).__name__
        return [f"the webhook at {parts.hostname}: {reason}"]
