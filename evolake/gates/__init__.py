"""Gates: pure functions from a candidate and a ruleset to verdicts, and the rules as files.

`rules` reads the rule files and pins their hash; `checkers` is the registry of named checks that rules refer to; `run` puts gates in order and
stops at the first block. A verdict is a row of the lake; that a candidate is blocked is a value, never an exception: `boundary` sees to it.
`faults` tells when such blocks look like a fault of ours.
"""

from evolake.gates.boundary import Raised, contained, is_machinery, raised_in, read_reason
from evolake.gates.checkers import CHECKERS, Finding, checker
from evolake.gates.rules import Rule, Ruleset, load_rules
from evolake.gates.run import Gate, judge, passed
from evolake.gates.verdict import Verdict

__all__ = [
    "CHECKERS", "Finding", "Gate", "Raised", "Rule", "Ruleset", "Verdict", "checker", "contained", "is_machinery", "judge", "load_rules", "passed",
    "raised_in", "read_reason",
]
