"""Which proofs are checked: drawn when a run is over, by a key that no candidate can see.

A guess is an UNSAT answer that nothing derives, with whatever its author writes as a proof. It is found out
when its proof is checked, and then its variant is unsound permanently (`soundness`). With the share s of a
stage, a guess that comes up in r of its runs goes unseen with the probability

    P(unseen) = (1 - s) ** r

Correctness, stability, benchmark, duel and holdout have s = 1 in every profile, so that P = 0 for a guess in
any run that a figure is made of. An answer that was not drawn counts as unsolved, whatever the share: what a
guess can win is 0, what it risks is the variant. `SMOKE_SHARE` is small because a check costs ten times what
a smoke run does, and no figure rests on smoke runs.

The key is the lake's secret (`suites.secret`), outside of every jail and table; that of a stage follows from
it by HMAC, so that a cycle's draws say nothing about another's, and a cycle that is materialized again draws
the same.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets

KEY_BYTES = 32
SMOKE_SHARE = 0.1


def new_key() -> bytes:
    """Return a key that no role knows."""
    return secrets.token_bytes(KEY_BYTES)


def key_for(key: bytes, *names: str) -> bytes:
    """Return the key of one use: a stage of a cycle, say."""
    return hmac.digest(key, "\x1f".join(names).encode(), hashlib.sha256)


def seed_of(key: bytes) -> int:
    """Return a 63-bit seed that is as secret as the key."""
    return int.from_bytes(key_for(key, "seed")[:8]) >> 1


def is_drawn(key: bytes, formula: str, repeat: int, share: float) -> bool:
    """Return whether proofs of this formula and repetition are checked: the same for all variants of a stage,
    so that their figures compare."""
    return int.from_bytes(key_for(key, formula, str(repeat))[:8]) < share * 2**64
