"""pass@k: the chance that one of k replies is right, estimated without bias from n replies of which c are (Chen et al. 2021; SSLogic, appendix B).

    pass@k = 1 - C(n - c, k) / C(n, k)

The share of problems with a right reply among k of the n would depend on which k; the estimate is its mean over all choices.
"""

from __future__ import annotations

from math import comb


def pass_at_k(replies: int, correct: int, k: int) -> float:
    """Return the estimate for one problem; for k = 1 it is the share that is right.

    >>> pass_at_k(4, 1, 2)
    0.5

    Raises:
        ValueError: there are fewer replies than k, k is below 1, or more are right than there are.
    """
    if not 1 <= k <= replies or not 0 <= correct <= replies:
        raise ValueError(f"pass@k needs 1 <= k <= replies and 0 <= correct <= replies (got k {k}, {correct} correct of {replies})")
    return 1.0 - comb(replies - correct, k) / comb(replies, k)


def reported_k(replies: int) -> list[int]:
    """Return the k that are reported of so many replies a problem: 2, 4, 8, ... up to them; none of one reply.

    >>> reported_k(10)
    [2, 4, 8]
    """
    return [2**power for power in range(1, replies.bit_length()) if 2**power <= replies]
