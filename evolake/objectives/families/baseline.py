"""Objective 0: log10 of the steps that N = 2000 would take, from all levels alike.

Two fits of log median_step, linear in log N (power law) and in N (exponential). Their forecasts are blended by the softmax of 1/(1 - R squared) over
a temperature, so that the law which leaves less unexplained counts for more. One level says nothing about growth and ranks behind every fit.
"""

import math

import numpy as np

TARGET_N = 2000
TEMPERATURE = 10.0
LEAST_UNEXPLAINED = 1e-3
NO_GROWTH = 1e6


def objective(levels):
    """Blended log10 steps at the target size."""
    n = np.array([level["n"] for level in levels])
    y = np.array([math.log(level["steps"]) for level in levels])
    if len(levels) == 1:
        return NO_GROWTH + float(y[0] - math.log(n[0]))
    forecasts = []
    votes = []
    for x, target in ((np.log(n), math.log(TARGET_N)), (n, float(TARGET_N))):
        slope = float(np.mean((x - x.mean()) * (y - y.mean())) / np.mean((x - x.mean()) ** 2))
        left = float(np.mean((y - y.mean() - slope * (x - x.mean())) ** 2))
        total = float(np.mean((y - y.mean()) ** 2))
        unexplained = left / total if total > 1e-12 else 0.0
        forecasts.append(float(y.mean()) + slope * (target - float(x.mean())))
        votes.append(1.0 / max(unexplained, LEAST_UNEXPLAINED) / TEMPERATURE)
    shares = [vote - max(votes) for vote in votes]
    shares = [share - math.log(sum(math.exp(other) for other in shares)) for share in shares]
    terms = [share + forecast for share, forecast in zip(shares, forecasts, strict=True)]
    return (max(terms) + math.log(sum(math.exp(term - max(terms)) for term in terms))) / math.log(10)
