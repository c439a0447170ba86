"""pass@k: the chance that at least one of k samples is right."""

from __future__ import annotations

import math


def pass_at_k(samples: int, correct: int, k: int) -> float:
    """Return unbiased estimate from `correct` of `samples` independent samples (Chen et al. 2021, equation
    1): 1 - C(samples - correct, k) / C(samples, k).

    Raises:
        ValueError: correct outside 0..samples, or k outside 1..samples.
    """
    if not 0 <= correct <= samples or not 1 <= k <= samples:
        raise ValueError(
            f"wanted 0 <= correct <= samples and 1 <= k <= samples (got samples={samples}, "
            f"correct={correct}, k={k})"
        )
    return 1.0 - math.comb(samples - correct, k) / math.comb(samples, k)


def reported_k(replies: int) -> list[int]:
    """Return the k that are reported of so many replies a problem: 2, 4, 8, ... up to them; none of one
    reply.

    >>> reported_k(10)
    [2, 4, 8]
    """
    return [2**power for power in range(1, replies.bit_length()) if 2**power <= replies]
