"""The repair study: does solver-grounded feedback beat more attempts under the same budget?

problems, study -> results (a cell per arm and seed; attempts next to it)
-> summary, comparisons, convergence, effort, frontier, robustness -> figures
"""

from assets.repair.findings import study

__all__ = ["study"]
