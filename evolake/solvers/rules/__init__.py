"""Rules of the solvers line: what sources say (`syntax`, `additions`), and the checkers that rule files name.

Importing this package registers every checker "solvers.*".
"""

from evolake.solvers.rules import carry, edits, outcomes, programs, sources
from evolake.solvers.rules.additions import Additions, additions, read_tree

__all__ = ["Additions", "additions", "carry", "edits", "outcomes", "programs", "read_tree", "sources"]
