"""The utility study: does what evolves make a model better?

study (problems beside it) -> replies (a cell per arm and seed; steps beside it) -> summary, comparisons, curves -> figures
"""

from assets.utility.cells import study

__all__ = ["study"]
