"""A checkpoint: the adapter's weights and Adam's moments as one blob of the same bytes for the same state.

It is a safetensors file: the tensors' bytes, and one canonical JSON text that says which policy and which
step they belong to. There is no state of a random generator in it, because none outlives a call: every draw
of the policy comes from the seed that the caller passes in.
"""

from __future__ import annotations

import json
from typing import Any

from evolake.errors import InputError

FORMAT = 1
KEY = "evolake"


def pack(tensors: dict[str, Any], facts: dict[str, Any]) -> bytes:
    """Return the blob. tensors: name -> torch tensor, on any device. facts: JSON values, compared by
    `unpack`'s caller."""
    from safetensors.torch import save

    ready = {name: tensor.detach().to("cpu").contiguous() for name, tensor in sorted(tensors.items())}
    return save(ready, metadata={KEY: json.dumps(facts | {"format": FORMAT}, sort_keys=True)})


def unpack(state: bytes) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return (tensors on the CPU, facts) of a blob.

    Raises:
        InputError: these bytes are no checkpoint, or one of another version.
    """
    from safetensors import SafetensorError
    from safetensors.torch import load

    try:
        length = int.from_bytes(state[:8], "little")
        facts = json.loads(json.loads(state[8 : 8 + length])["__metadata__"][KEY])
        if facts["format"] != FORMAT:
            raise InputError(
                "a checkpoint of another version",
                wanted=f"format {FORMAT}",
                got=str(facts["format"]),
                do="train again",
            )
        return load(state), facts
    except (SafetensorError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise InputError(
            "these bytes are no checkpoint of a policy", wanted="what save() gave", got=str(error)[:200]
        ) from None
