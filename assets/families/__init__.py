"""The families line: verifiable task families that evolve behind gates, and the labelled instances drawn from
them.

seeds -> incoming* -> candidates -> execution -> quality -> consensus_labels -> blind_reviews -> sentences ->
accepted
-> instances, complexity, funnel, drift -> experience -> survivors
"""

from assets.families.line import line

__all__ = ["line"]
