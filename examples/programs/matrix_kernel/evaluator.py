"""Matrices by a seed; the outputs are checked against integer arithmetic, and the score is the kernel's own processor time.

The large product is made RUNS times and the fastest run counts: what else the machine does makes a run slower and never faster.
"""

import random
from functools import lru_cache

LARGE, SMALL, RUNS = 512, 37, 3
MASK = 2**64 - 1


def cases(seed):
    """What the program reads: the size of the matrices and the state of the generator that fills them. The small one is no multiple of any block."""
    chance = random.Random(seed)
    large, small = (f"{size} {chance.randrange(1, 2**60)}" for size in (LARGE, SMALL))
    return [large] * RUNS + [small]


@lru_cache
def expected(case):
    """Sums of the product's rows, columns weighted, without the product: A (B w)."""
    size, state = map(int, case.split())
    a, b = [], []
    for _ in range(size * size):
        state = (state * 6364136223846793005 + 1442695040888963407) & MASK
        a.append(state >> 60)
        b.append((state >> 50) & 7)
    weighted = [sum(b[row * size + column] * (1 + column % 7) for column in range(size)) for row in range(size)]
    return [sum(a[row * size + k] * weighted[k] for k in range(size)) for row in range(size)]


def score(cases, results):
    """Products per second of processor time, in billions; 0 for a wrong product."""
    for case, result in zip(cases, results, strict=True):
        if result["status"] != "ok" or result["output"].split() != [str(value) for value in expected(case)]:
            return {"gigaflops": 0.0, "cpu_s": 1000.0}
    seconds = max(min(result["cpu_s"] for result in results[:RUNS]), 1e-6)
    return {"gigaflops": 2 * LARGE**3 / seconds / 1e9, "cpu_s": seconds}
