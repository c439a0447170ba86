"""Tunings of solvers: one partition for each.

requested -> verdicts -> settings, runs
"""

from assets.tunings.tunings import study

__all__ = ["study"]
