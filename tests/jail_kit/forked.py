"""The attacks by Python candidates, made by programs that are forked from a warm jail: they come in as a
project's evaluator."""

import json
import secrets
from dataclasses import dataclass, replace
from typing import Any

from evolake.jail.inside import syscalls
from evolake.jail.native import ForkedRun
from evolake.jail.pool import Pool
from evolake.jail.protocol import JailMode, Limits, Outcome, Status
from evolake.programs.sandbox.evaluating import answer_in
from jail_kit import CounterAttack, PythonAttack
from jail_kit.python_attacks import COUNTER_ATTACKS, DEVICES, FORGE, PYTHON_ATTACKS, SYSCALL

DRIVER = "evolake.programs.sandbox.harness:serve_forked"
EVALUATE = """

def evaluate(program_path):
    import json
    return {{"value": json.dumps({function}(*json.loads({arguments!r})), default=str)}}
"""
STATUSES: dict[str, Status] = {"MemoryError": "memory", "PermissionError": "forbidden"}


@dataclass(frozen=True)
class ForkedCalls:
    """Stands in for a pool: its calls are forked programs that may have processes elsewhere, or may not."""

    pool: Pool
    processes: int

    @property
    def workers(self) -> int:
        return self.pool.workers

    @property
    def jail(self) -> JailMode:
        return self.pool.jail

    def call(self, driver: str, source: str, payload: Any = None, limits: Limits = Limits()) -> Outcome:
        """One call of a function of `source`. driver: the generic one, of which this is another form."""
        arguments = json.dumps(payload.get("args", []))
        evaluator = source + EVALUATE.format(function=payload["function"], arguments=arguments)
        nonce = secrets.token_hex(16)
        request = {
            "nonce": nonce,
            "seed": 1,
            "numpy": False,
            "evaluator": "evaluator.py",
            "task": "evaluate",
            "program": "program.py",
            "stages": [],
            "thresholds": [],
            "score": "value",
        }
        limits = replace(limits, processes=self.processes, total_mb=None)
        outcome = self.pool.fork(
            ForkedRun(DRIVER, request, {"evaluator.py": evaluator.encode("utf-8", "surrogatepass")}, limits)
        )
        answer = answer_in(outcome.stdout, nonce) or {}
        value: Any = None
        status: Status = outcome.status
        error = str(answer.get("error", ""))
        if status == "ok" and "metrics" in answer:
            value = _loaded((answer["metrics"] | answer["artifacts"])["value"])
        elif status == "ok":
            last = error.strip().splitlines()[-1] if error.strip() else ""
            # without memory even its answer may fail: then it ends with exit code 1 and says nothing
            status = (
                STATUSES.get(last.partition(":")[0], "error") if last or outcome.exit_code else "protocol"
            )
        stdout, stderr = (
            stream.decode(errors="replace")
            for stream in (outcome.stdout.replace(nonce.encode(), b""), outcome.stderr)
        )
        return Outcome(
            status,
            value,
            error or outcome.reason,
            stdout,
            stderr,
            outcome.cpu_s,
            outcome.wall_s,
            outcome.peak_mb,
            outcome.jail,
            outcome.starved,
        )


def _loaded(text: str) -> Any:
    """The value; a text of the longest length was cut."""
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return text


HARMLESS = {
    "leave files for the next",
    "starve the parent of limits",
    "huge reply",
    "half a character",
    *(f"change {device} by {name}" for device in DEVICES for name in ("its owner", "its times")),
}
"""What a program that is started or forked may do, to itself or in its folder, or without effect; the next
one must not see it."""


def _adapted(attack: PythonAttack) -> PythonAttack:
    if attack.name == "thread bomb":
        # within less memory Python may wait for ever for a thread that could not begin
        return replace(
            attack, statuses=(*attack.statuses, "timeout"), limits=replace(attack.limits, wall_s=5)
        )
    return (
        replace(attack, statuses=(*attack.statuses, "ok"), bad=lambda outcome: None)
        if attack.name in HARMLESS
        else attack
    )


FORKED_ATTACKS = (
    *(_adapted(attack) for attack in PYTHON_ATTACKS if FORGE not in attack.source),
    *COUNTER_ATTACKS,
)
"""Those with FORGE look for the nonce of a call, which a forked program has not in that form."""
NUMBER_OF_STATX = syscalls.number("statx")
MOUNTS = CounterAttack(
    "the number of its own mount",
    SYSCALL
    + f"""
def advance(count): pass
def read():
    buffer = ctypes.create_string_buffer(256)
    must(libc.syscall({NUMBER_OF_STATX}, -100, b"/tmp", 0, 0x4000, buffer))
    return int.from_bytes(buffer.raw[144:152], "little")
""",
)
"""Linux 6.8 counts all mounts of the machine, and tells a mount's number."""
INODES = CounterAttack(
    "the inode number of a new file",
    """
import os
def advance(count):
    for number in range(count): open(f"file{number}", "w").close()
def read():
    with open("new", "w") as file: return os.fstat(file.fileno()).st_ino
""",
)
CHANGE_TIME = CounterAttack(
    "the time of change of a device",
    """
import os, time
def advance(count):
    time.sleep(count / 100)
    os.chown("/dev/null", -1, -1)
def read(): return os.stat("/dev/null").st_ctime_ns
""",
)
FORKED_COUNTERS = (MOUNTS, INODES, CHANGE_TIME)
