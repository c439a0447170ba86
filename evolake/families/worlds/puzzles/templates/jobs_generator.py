"""The generator of jobs."""

__constants__ = __words__ = None
# --- program ---
import random

WORDS = __words__
__constants__


def input(difficulty):
    count, workers = 5 + difficulty // 2, random.choice((1, 2) if difficulty < 5 else (2, 3))
    jobs, lines = [], []
    for number in range(1, count + 1):
        needs = sorted(random.sample(range(1, number), min(number - 1, random.choice((0, 0, 1, 1, 2)))))
        jobs.append([random.randint(2, 7 + difficulty // 2), needs])
        others = " and ".join(f"{WORDS['job']} {one}" for one in needs) or "no other"
        lines.append(f"- {WORDS['Job']} {number} takes {jobs[-1][0]} {WORDS['units']} and needs {others}.")
    return {"workers": workers, "jobs": jobs}, [str(workers), "\n".join(lines)]
