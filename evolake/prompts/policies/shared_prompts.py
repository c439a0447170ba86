"""A prompt that several rows share is read once: its keys and values serve all its replies, while they are
sampled and while they are learned from.

A group of n replies to one prompt costs one prompt and n replies instead of n of both, and the layer that
turns hidden states into the vocabulary is applied to the replies' tokens only. What comes out is the same up
to rounding: gradients reach the prompt through the keys and values of every reply.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

PLAIN = frozenset({"llama", "mistral", "phi3", "qwen2", "qwen3", "smollm3"})
"""Types of models whose layers all attend to all that was read and whose logits are the head's output as it
is. Others are read row by row."""
CHUNK = 512
"""Tokens whose logits are in memory at the same time; with a vocabulary of 50,000 words in float32 some 100
MB."""


@dataclass(frozen=True)
class Read:
    """Prompts as the backbone has read them.

    cache: keys and values, a row for each of the rows that share them. last: (rows, width) hidden states of
    the prompts' last tokens.
    """

    cache: Any
    last: Any


def can_share(model: Any) -> bool:
    """Return whether a model of transformers is one whose prompts these functions read; see PLAIN."""
    config = model.config
    kinds = getattr(config, "layer_types", None) or []
    windows = (
        getattr(config, "use_sliding_window", True) and getattr(config, "sliding_window", None) is not None
    )
    return config.model_type in PLAIN and not windows and all(kind == "full_attention" for kind in kinds)


def distinct(ids: Any, mask: Any) -> tuple[Any, Any]:
    """Return the first row of every distinct prompt, and for each row which of these it has.

    Args:
        ids, mask: (rows, length), padded on the left; mask is 1 at tokens, 0 at padding.

    Returns:
        (distinct,) and (rows,) of row numbers.
    """
    import torch

    first: list[int] = []
    known: dict[bytes, int] = {}
    which = []
    for number, row in enumerate((ids * mask + (mask - 1)).tolist()):
        key = repr(row).encode()
        if key not in known:
            known[key] = len(first)
            first.append(number)
        which.append(known[key])
    return torch.tensor(first, device=ids.device), torch.tensor(which, device=ids.device)


def read_prompts(backbone: Any, ids: Any, mask: Any) -> Read:
    """Read every distinct prompt once.

    Args:
        backbone: a transformers model without its head, in the mode (gradients, adapter) that is wanted. ids,
            mask: see `distinct`.
    """
    first, which = distinct(ids, mask)
    length = int(mask[first].sum(-1).max())  # what no prompt of these rows needs of the padding
    short, own = ids[first, -length:], mask[first, -length:]
    read = backbone(input_ids=short, attention_mask=own, position_ids=positions(own), use_cache=True)
    read.past_key_values.batch_select_indices(which)
    return Read(read.past_key_values, read.last_hidden_state[which, -1])


def positions(mask: Any) -> Any:
    """Return (rows, length) of the place of each token in its row; padding has place 0."""
    return (mask.cumsum(-1) - 1).clamp(min=0)


def log_probabilities(model: Any, ids: Any, mask: Any, replies: int, temperature: float) -> tuple[Any, Any]:
    """Of the last `replies` tokens of each row, and the entropy of the distribution that each was drawn from.

    Args:
        model: a causal language model of transformers, any adapter in its layers. ids, mask: (rows, length),
            prompts padded on the left and replies
        on the right. temperature: of the distribution.

    Returns:
        Two tensors (rows, replies) in float32; the second one without gradients.
    """
    import torch
    from torch.utils.checkpoint import checkpoint

    backbone, head = model.base_model, model.get_output_embeddings()
    asked, asked_mask = ids[:, :-replies], mask[:, :-replies]
    read = read_prompts(backbone, asked, asked_mask)
    hidden = read.last[:, None]
    if replies > 1:
        length = read.cache.get_seq_length()
        own = torch.cat([asked_mask[:, -length:], mask[:, -replies:-1]], dim=1)
        rest = backbone(
            input_ids=ids[:, -replies:-1],
            attention_mask=own,
            position_ids=positions(own)[:, -(replies - 1) :],
            past_key_values=read.cache,
            use_cache=True,
        )
        hidden = torch.cat([hidden, rest.last_hidden_state], dim=1)

    def scored(states: Any, words: Any) -> tuple[Any, Any]:
        logs = torch.log_softmax(head(states).float() / temperature, -1)
        with torch.no_grad():
            entropy = -(logs.exp() * logs).sum(-1)
        return logs.gather(-1, words[:, None])[:, 0], entropy

    flat, words = hidden.reshape(-1, hidden.shape[-1]), ids[:, -replies:].reshape(-1)
    parts = [
        checkpoint(scored, flat[start : start + CHUNK], words[start : start + CHUNK], use_reentrant=False)
        for start in range(0, len(flat), CHUNK)
    ]
    logs, entropies = (torch.cat(part).view(len(ids), replies) for part in zip(*parts, strict=True))
    return logs, entropies
