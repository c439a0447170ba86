"""Statistics that a claim needs: intervals, exact tests, pass@k, the noise floor of a host."""

from evolake.stats.bootstrap import Interval, bootstrap_interval, noise_floor
from evolake.stats.proportions import holm, mcnemar_exact, pass_at_k, wilson_interval

__all__ = [
    "Interval",
    "bootstrap_interval",
    "holm",
    "mcnemar_exact",
    "noise_floor",
    "pass_at_k",
    "wilson_interval",
]
