"""The utility study: does what evolves make a model better?

study (problems next to it) -> replies (a cell per arm and seed; steps next to it) -> summary, comparisons,
curves -> figures
"""

from assets.utility.findings import study

__all__ = ["study"]
