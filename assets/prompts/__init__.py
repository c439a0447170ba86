"""The prompts line: system prompts that evolve while the policy learns.

incoming -> problems -> iterations -> rollouts -> values -> ratings; iterations -> updates, edits -> children
-> accepted
-> duel_replies -> champion -> heldout -> survivors; rollouts, updates -> learnability
"""

from assets.prompts.line import line

__all__ = ["line"]
