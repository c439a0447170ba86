"""The tool `python`: programs of a policy, each in its own process in the jail.

No person has read these programs, so they run where generated code runs, behind a canary, without network,
files or further processes. What comes back is text, and is taken for nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence

from evolake.jail import Call, Limits, Outcome, open_pool
from evolake.jail.patience import map_patiently
from evolake.prompts.tools.tool import Answered

DRIVER = "evolake.prompts.tools.inside:run"
PRELOAD = (
    "evolake.prompts.tools.inside",
    "collections",
    "datetime",
    "decimal",
    "fractions",
    "functools",
    "hashlib",
    "heapq",
    "itertools",
    "json",
    "math",
    "numpy",
    "random",
    "re",
    "statistics",
    "string",
)
"""What a program can import at no cost; the rest of the standard library, and what is installed with evolake,
can be imported too."""
LIMITS = Limits(cpu_s=5, wall_s=20, memory_mb=512, output_bytes=200_000)
NOTHING = "(the program printed nothing)"


class Python:
    """The interpreter. workers: programs that run at the same time. mode: of the jail.

    Raises:
        JailUnavailable: this machine cannot build the jail, or its canary does not hold.
    """

    name = "python"
    says = "<tool>python print(6 * 7)</tool> runs a Python program and shows what it prints."

    def __init__(self, workers: int, mode: str | None, limits: Limits = LIMITS):
        self._limits, self._pool = limits, open_pool(workers, PRELOAD, mode)

    def answer(self, given: Sequence[str]) -> list[Answered]:
        """Return what the programs printed. An error, or a limit that was met, is the status and is in the
        text. Raises HostBusy."""
        calls = [Call(DRIVER, source, None, self._limits) for source in given]
        return [_tool_reply(outcome) for outcome in map_patiently(self._pool, calls, "a program of a policy")]

    def close(self) -> None:
        """Stop the workers."""
        self._pool.close()


def _tool_reply(outcome: Outcome) -> Answered:
    printed = outcome.stdout.rstrip()
    if outcome.status == "ok":
        return Answered("ok", printed or NOTHING)
    said = outcome.reason if outcome.status == "error" else f"{outcome.status}: {outcome.reason}"
    return Answered(outcome.status, f"{printed}\n{said}".lstrip())
