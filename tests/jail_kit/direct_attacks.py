"""The same kit against direct native runs: the attacks of `native_attacks` that need no process, and a few on
what only they have."""

import shutil
from dataclasses import replace
from pathlib import Path

from evolake.jail.direct import DirectRun, run_direct
from evolake.jail.native import NativeRun
from evolake.jail.protocol import Limits, NativeOutcome
from evolake.scratch import Scratch
from jail_kit import ATTACK_LIMITS, NativeAttack
from jail_kit.native_attacks import NATIVE_ATTACKS

TOOLS = ("cat", "chmod", "date", "dd", "head", "ln", "mkfifo", "mv", "setsid", "sleep", "touch", "yes")


def run_directly(run: NativeRun, *, limits: Limits = Limits(), mode: str | None = None) -> NativeOutcome:
    """`run_direct` as the kit calls a runner: each wanted output is an empty writable file, and counts as
    brought out when it is not empty then."""
    with Scratch("kit") as folder:
        writable = {name: Path(folder) / name for name in run.outputs if "/" not in name}
        for path in writable.values():
            path.touch()
        outcome = run_direct(DirectRun(run.argv, writable=writable, tools=tools()), limits, mode=mode)
        return replace(
            outcome, outputs={name: data for name, path in writable.items() if (data := path.read_bytes())}
        )


def tools() -> tuple[Path, ...]:
    """The commands that the attacks use, as far as the system has them: brought along, for a solver's jail
    has none."""
    return tuple(Path(path) for name in TOOLS if (path := shutil.which(name, path="/usr/bin:/bin")))


def _succeeded(outcome: NativeOutcome) -> str | None:
    return "the command succeeded" if outcome.exit_code == 0 else None


def _too_much(outcome: NativeOutcome) -> str | None:
    return "it is all there" if len(outcome.outputs.get("out", b"")) > ATTACK_LIMITS.file_mb << 20 else None


DIRECT_ATTACKS = (
    *(attack for attack in NATIVE_ATTACKS if not attack.limits.processes and attack.name != "many files"),
    *(
        replace(attack, statuses=(*attack.statuses, "ok"), bad=_succeeded)
        for attack in NATIVE_ATTACKS
        if attack.name == "many files"
    ),
    NativeAttack(
        "start a second program", "processes", ("ok",), "/usr/bin/yes | /usr/bin/head -1", bad=_succeeded
    ),
    NativeAttack(
        "make a file beside the instance", "writes", ("ok",), "echo x > /work/other", bad=_succeeded
    ),
    NativeAttack("replace the program", "writes", ("ok",), "echo x > /solver/program", bad=_succeeded),
    NativeAttack(
        "fill the writable file", "file-size", ("output",), "exec yes > out", outputs=("out",), bad=_too_much
    ),
    NativeAttack(
        "grow the writable file again and again",
        "file-size",
        ("output", "cpu"),
        """
        trap '' XFSZ; while :; do echo xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx >> out; done
    """,  # noqa: E501
        outputs=("out",),
        bad=_too_much,
    ),
    NativeAttack(
        "raise the limit of processor time", "cpu", ("cpu",), "ulimit -t unlimited; while :; do :; done"
    ),
)
"""`/work` and `/solver` are absent in the weaker mode, so writing there fails as it should. A shell ends at
the first file that a jail does not let it make."""
