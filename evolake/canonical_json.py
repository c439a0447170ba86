"""Canonical JSON, one text for equal values, and the keys that are made of it."""

from __future__ import annotations

import hashlib
import json
from typing import Any


def canonical_json(value: Any, *, ascii_only: bool = False, allow_nan: bool = True) -> str:
    """Return one text for equal values: sorted keys, no spaces.

    Args:
        ascii_only: writes other characters as escapes; keys and blobs of designs, programs and seals are made
            so.
        allow_nan: False raises ValueError if a number is infinite or none.
    """
    return json.dumps(
        value, sort_keys=True, separators=(",", ":"), ensure_ascii=ascii_only, allow_nan=allow_nan
    )


def text_sha(text: str) -> str:
    """Return the sha256, in hex, of a text as UTF-8."""
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


def key_of(value: Any, *, ascii_only: bool = False, allow_nan: bool = True) -> str:
    """Return the sha256, in hex, of a value's canonical JSON."""
    return text_sha(canonical_json(value, ascii_only=ascii_only, allow_nan=allow_nan))
