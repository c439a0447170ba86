"""Extrapolation with AIC averaging: log steps at a large size, over three laws of growth.

Power law, exponential and stretched exponential (linear in log N, N and sqrt N); each law's share is exp(-AIC/2), so few levels leave it open which
law holds. Growth below NOISE in log steps counts as noise, or three levels on a line by luck would decide everything.
"""

import math

import numpy as np

from evolake.objectives.family import Family

FAMILY = Family(
    "what a very large instance would cost", "log steps at N={TARGET_N}, AIC-averaged over three laws of growth, levels weighted by N^{EMPHASIS}",
    choices={"TARGET_N": (800, 1280, 2000, 2560, 4000)}, ranges={"EMPHASIS": (0.0, 2.0), "NOISE": (0.1, 0.4)}, order=1,
)

TARGET_N = 2000
EMPHASIS = 0.5
NOISE = 0.2


def objective(levels):
    """AIC-averaged log steps at the target size."""
    n = np.array([level["n"] for level in levels])
    y = np.array([math.log(level["steps"]) for level in levels])
    if len(levels) == 1:
        return float(y[0] + 2.0 * math.log(TARGET_N / n[0]))
    weight = (n / n.max()) ** EMPHASIS
    weight = weight / weight.sum()
    predictions = []
    criteria = []
    for x, target in ((np.log(n), math.log(TARGET_N)), (n, TARGET_N), (np.sqrt(n), math.sqrt(TARGET_N))):
        centre_x = math.fsum(weight * x)
        centre_y = math.fsum(weight * y)
        slope = math.fsum(weight * (x - centre_x) * (y - centre_y)) / math.fsum(weight * (x - centre_x) ** 2)
        residual = y - centre_y - slope * (x - centre_x)
        variance = math.fsum(weight * residual**2) + NOISE**2
        predictions.append(centre_y + slope * (target - centre_x))
        criteria.append(len(levels) * math.log(variance))
    shares = [math.exp(-0.5 * (criterion - min(criteria))) for criterion in criteria]
    return sum(prediction * share for prediction, share in zip(predictions, shares, strict=True)) / sum(shares)
