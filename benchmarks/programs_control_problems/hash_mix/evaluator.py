"""How far a hash is from chance: full buckets by its low and high bits, and bits that do not flip with one of the key."""

import math

LISTS = [
    [1000 + k for k in range(384)],
    [k * 4096 % 2**32 for k in range(384)],
    [(10 << 24) + (k % 16 << 16) + (k // 16 << 2) for k in range(384)],
]
FLIPPED = [k * 2654435761 % 2**32 ^ (1 << bit) if bit < 32 else k * 2654435761 % 2**32 for k in range(1, 17) for bit in range(33)]


def cases(seed):
    """Return three lists of keys, and keys that differ by a bit."""
    return [*LISTS, FLIPPED]


def score(cases, results):
    """Return the sum of the excess of buckets and of the flips; 100 if a hash has not 32 bits."""
    for keys, result in zip(cases, results, strict=True):
        values = result["output"] if result["status"] == "ok" else None
        if not isinstance(values, list) or len(values) != len(keys) or not all(type(v) is int and 0 <= v < 2**32 for v in values):
            return {"bias": 100.0}
    bias = 0.0
    for result in results[:3]:
        for shift in (0, 25):
            counts = [0] * 128
            for value in result["output"]:
                counts[value >> shift & 127] += 1
            # Chance has about 1 of this for each bucket, and fewer are no fault.
            bias += math.log1p(max(0.0, sum((count - 3) ** 2 / 3 for count in counts) / 127 - 1))
    flips, values = [[0] * 32 for _ in range(32)], results[3]["output"]
    for k in range(16):
        for bit in range(32):
            change = values[33 * k + 32] ^ values[33 * k + bit]
            for out in range(32):
                flips[bit][out] += change >> out & 1
    return {"bias": bias + 10 * sum((n / 16 - 0.5) ** 2 for row in flips for n in row) / 1024}
