"""The solvers line: whole SAT-solver repositories that evolve under proof-checked gates.

incoming -> plan -> variants -> compliance -> binaries -> smoke -> correctness -> benchmark_runs -> metrics ->
objectives -> objective_scores
-> consensus_ranking -> champion -> post_mortem -> rule_proposals -> survivors; control and holdout_runs aside
"""

from assets.solvers.line import line

__all__ = ["line"]
