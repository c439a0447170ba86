"""The programs line: programs of the user's own, evolved against an evaluator of the user's own.

incoming -> projects -> generations -> candidates -> accepted -> champion -> survivors
"""

from assets.programs.line import line

__all__ = ["line"]
