"""Audits of evaluators, gains and finished runs: one partition for each.

requested -> candidates, verdicts -> findings, measurements
"""

from assets.audits.audits import study

__all__ = ["study"]
