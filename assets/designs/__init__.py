"""The designs line: 3-SAT solver designs that evolve together with the objectives that judge them, ranked by
consensus.

seeds -> incoming* -> directions -> candidates -> experiments -> objectives -> objective_scores ->
consensus_ranking
-> promoted_experiments -> final_scores -> final_ranking -> tuning -> meta_review -> survivors
"""

from assets.designs.line import line

__all__ = ["line"]
