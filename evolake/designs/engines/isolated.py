"""Run a design's numbers in a process that may die, and report its death like any other result.

A checked graph is made of torch's own operators, and some of them kill their process (an integer division can
be a SIGFPE), never end, or ask for more memory than there is. So each judging process keeps one child, gives
it one run at a time, and holds it to the time that it computes, and to the clock. A child that dies, or that
is killed because a step or a compilation does not end, is the verdict on the design that it ran
(`Simulation.failure`), and the next run gets a fresh child. It is forked once (`fork_server`) and kept, so a
run costs a few JSON lines. It also works out the shapes of a graph that is checked (`fits_apart`), so that a
process that judges need not load torch.

    request   one JSON line: what to do, and on what
    replies   {"ready"} once; then for each request {"made"}, {"progress": [steps, solved]} now and then, and
              one of
              {"done": ...}  {"input": InputError's parts}  {"machinery": text}

The replies are read as a stranger's: types and ranges are checked.
"""

from __future__ import annotations

import atexit
import json
import math
import os
import selectors
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from evolake.designs.engines import forked_process
from evolake.designs.engines.engine import Simulation, unsolved
from evolake.designs.engines.median_search import Computed
from evolake.designs.model.contract import Blocked, Variable
from evolake.designs.model.graph import Graph
from evolake.designs.model.instances import P0, FormulaKind, KindName, prepare
from evolake.errors import InputError, MachineryError

MODULE = "evolake.designs.engines.fork_server"
START_S = 180.0
MAKE_S = 60.0
"""Seconds of the clock that making an engine may take, compilation and initial state included."""
GRACE_S = 3.0
"""Seconds over the guard of a run after which a step that has not ended is not waited for."""
PATIENCE = 5
"""How many times as long as a guard the clock may run while the child has not computed for as long: a loaded
machine is no design's fault."""
TRIES = 3
"""How often a run is begun before a clock may end it permanently; each time it gets twice as long."""
CORE_TIMES = 10.0
"""How many times the seconds that a run is counted for its child may compute: far more than any machine or
engine that works needs."""
MOST_BYTES = 64_000_000
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Run:
    """One numeric run. `traced` is TracedDesign's JSON text; the instances are `draw_formulas` of the kind,
    with `n`, `batch` and `instance_seed`.

    interval, together, computed, max_work, core_s, threads: see `evolake.designs.engines.engine.simulate`.
    batch_file: file of `instances.write_batch` that has the instances instead.
    guard_s: seconds of the processor that the child may take before it is stopped; None: none, or what
    follows from `core_s`.
    """

    traced: str
    n: int
    batch: int
    seed: int
    max_steps: int
    instance_seed: int
    ratio: float
    until_median: bool = True
    guard_s: float | None = None
    interval: bool = False
    together: bool = False
    computed: Computed = "all"
    max_work: float | None = None
    core_s: float | None = None
    engine: str = "auto"
    dtype: str | None = None
    threads: int = 1
    kind: KindName = "planted"
    p0: float = P0
    batch_file: str | None = None

    @property
    def formulas(self) -> FormulaKind:
        """The kind of the instances."""
        return FormulaKind(self.kind, self.ratio, self.p0)


class _Guard:
    """How long a sign of a child is waited for: `allowed_s`, and on until it has computed as long or
    `patience` times that has gone by."""

    def __init__(self, child: Child, allowed_s: float, patience: float = PATIENCE) -> None:
        self._child, self.allowed_s, self._patience = child, allowed_s, patience
        self._began, self._computed = time.monotonic(), child.cpu_s()

    def left_s(self) -> float:
        """Seconds until it is worth another look; 0 or less when it is over."""
        computed, waited = self._child.cpu_s() - self._computed, time.monotonic() - self._began
        return min(self.allowed_s - min(computed, waited), self._patience * self.allowed_s - waited)

    def computed_s(self) -> float:
        """Processor seconds of the child since the guard was set."""
        return self._child.cpu_s() - self._computed


class _Ended(Exception):
    """The child is gone; the words say how."""


class _Starved(Exception):
    """The clock has run out for a child that has not computed for as long as it may: that says nothing about
    what it ran."""


class Child:
    """One worker process. Not to be shared between threads without the lock of `run_apart`."""

    def __init__(self) -> None:
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115
        environment = os.environ | dict.fromkeys(
            ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1"
        )
        reads, writes = os.pipe()
        hears, says = os.pipe()
        self._input, self._output = os.fdopen(writes, "wb"), os.fdopen(hears, "rb", buffering=0)
        try:
            self._process = forked_process.forked(MODULE, environment, reads, says, self._errors)
        except OSError as error:
            raise MachineryError(
                "the process that runs designs did not start", got=f"{error}; {forked_process.last_words()}"
            ) from None
        finally:
            for descriptor in (reads, says):
                os.close(descriptor)
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._output, selectors.EVENT_READ)
        self._waiting = b""
        self._ready = False

    @property
    def alive(self) -> bool:
        """Return whether the child runs."""
        return self._process.poll() is None

    def wait_until_ready(self) -> None:
        """Raise MachineryError when the child does not start: that is no design's fault."""
        if self._ready:
            return
        try:
            result = self.read(time.monotonic() + START_S)
        except (_Ended, TimeoutError) as error:
            self.kill()
            raise MachineryError(
                "the process that runs designs did not start",
                got=f"{error}; {self._last_words()}",
                do="see the error",
            ) from None
        if result != {"ready": True}:
            raise MachineryError("the process that runs designs did not start", got=str(result)[:200])
        self._ready = True

    def ask(self, request: dict[str, Any]) -> None:
        """Send one request. Raises an error if the child has ended."""
        try:
            self._input.write(json.dumps(request).encode() + b"\n")
            self._input.flush()
        except OSError:
            raise _Ended(self._how()) from None

    def read(self, deadline: float | None) -> Any:
        """Return the next reply. Raises TimeoutError past `deadline` (of time.monotonic), _Ended when the
        child is gone."""
        while b"\n" not in self._waiting:
            left = None if deadline is None else deadline - time.monotonic()
            if (left is not None and left <= 0) or not self._selector.select(left):
                raise TimeoutError("it gave no sign in time")
            block = os.read(self._output.fileno(), 1 << 16)
            self._waiting += block
            if not block or len(self._waiting) > MOST_BYTES:
                raise _Ended(self._how() if not block else "sent a reply without end")
        line, _, self._waiting = self._waiting.partition(b"\n")
        try:
            return json.loads(line)
        except ValueError:
            raise _Ended("sent a reply that is none") from None

    def cpu_s(self) -> float:
        """Return processor seconds that it and the programs it has waited for have taken; 0 when it is
        gone."""
        try:
            fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            return 0.0
        return sum(int(ticks) for ticks in fields[11:15]) / os.sysconf("SC_CLK_TCK")

    def kill(self) -> None:
        """End the child; it is not asked."""
        self._selector.close()
        for stream in (self._input, self._output):
            try:
                stream.close()
            except OSError:
                continue
        self._process.kill()
        self._process.wait()
        self._process.close()

    def _how(self) -> str:
        """In words how the child ended."""
        try:
            code = self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            return "closed its pipe"
        if code >= 0:
            return f"ended with code {code}"
        try:
            return f"died by {signal.Signals(-code).name}"
        except ValueError:
            return f"died by signal {-code}"

    def _last_words(self) -> str:
        self._errors.seek(0, os.SEEK_END)
        self._errors.seek(max(0, self._errors.tell() - 400))
        return " ".join(self._errors.read().decode(errors="replace").split()) or forked_process.last_words()


_LOCK = threading.RLock()
_CHILDREN: list[Child] = []


def warm() -> None:
    """Start the child if there is none, without waiting for it."""
    with _LOCK:
        if not _CHILDREN or not _CHILDREN[0].alive:
            _discard()
            _CHILDREN.append(Child())


def close() -> None:
    """End the child of this process, if there is one, and the server that it was forked by."""
    with _LOCK:
        _discard()
        forked_process.close_server()


def _discard() -> None:
    while _CHILDREN:
        _CHILDREN.pop().kill()


atexit.register(close)


def run_apart(run: Run, on_progress: Progress | None = None) -> Simulation:
    """Return `evolake.designs.engines.engine.simulate` in the child.

    What ends a run is what it computes: its steps, or its processor seconds. A run that only the clock would
    end, because the machine is busy, is begun again with twice as long, TRIES times in all; one that is cut
    even then says so (`Simulation.timed_out`) and has shown nothing.

    Raises:
        InputError: arguments that make no run. MachineryError: the child cannot be started, or its
            installation is broken.
    """
    if run.batch_file is None:
        prepare(run.formulas, run.n, run.batch, run.instance_seed)
    began, seen = time.monotonic(), [0]

    def heard(steps: int, solved: int) -> None:
        seen[0] = steps
        if on_progress is not None:
            on_progress(steps, solved)

    starved = ""
    for attempt in range(TRIES):
        try:
            result = _asked({"do": "simulate", **asdict(run)}, run.guard_s, heard, PATIENCE * 2**attempt)
        except _Starved as reason:
            starved = str(reason)
            continue
        if isinstance(result, dict):
            return _simulation(result, run)
        return unsolved(
            run.batch,
            result,
            steps=min(seen[0], run.max_steps),
            wall_s=time.monotonic() - began,
            limit=run.max_steps,
        )
    return unsolved(
        run.batch,
        starved,
        steps=min(seen[0], run.max_steps),
        timed_out=True,
        wall_s=time.monotonic() - began,
        limit=run.max_steps,
    )


def engine_apart(traced: str, n: int, m: int, dtype: str) -> tuple[str, str | None]:
    """Return the engine that "auto" takes for a design at a size, and why it is not the fused one; or
    ("none", why it cannot be run)."""
    try:
        result = _asked(
            {"do": "engine", "traced": traced, "n": n, "m": m, "dtype": dtype},
            None,
            lambda steps, solved: None,
        )
    except _Starved as starved:
        return "none", str(starved)
    if isinstance(result, str):
        return "none", result
    name, note = result.get("engine"), result.get("note")
    if not isinstance(name, str) or not isinstance(note, str | None):
        return "none", "sent a reply that is none"
    return name[:20], None if note is None else note[:500]


def work_apart(traced: str, n: int, m: int) -> float | str:
    """Return the cost of a step of a design relative to one of the baseline, or why that cannot be
    counted."""
    try:
        result = _asked({"do": "work", "traced": traced, "n": n, "m": m}, None, lambda steps, solved: None)
    except _Starved as starved:
        return str(starved)
    if isinstance(result, str):
        return result
    value = result.get("work_per_step")
    return float(value) if isinstance(value, float) and value > 0 else str(result.get("note"))[:500]


def fits_apart(
    graph: Graph, outputs: dict[str, Variable], sizes: Sequence[tuple[int, int, int]], batched: bool
) -> Blocked | None:
    """Return what `evolake.designs.model.graph_check.check_all` returns, by the child. Raises
    MachineryError."""
    request = {
        "do": "fits",
        "graph": graph.to_json(),
        "outputs": [[name, list(variable.shape)] for name, variable in outputs.items()],
        "sizes": [list(size) for size in sizes],
        "batched": batched,
    }
    for attempt in range(TRIES):
        try:
            result = _asked(request, None, lambda steps, solved: None, PATIENCE * 2**attempt)
        except _Starved as starved:
            reason = str(starved)
            continue
        if isinstance(result, str):
            return Blocked(result, "graph")
        match result.get("problem", ""):
            case None:
                return None
            case [str(words), str(gate)]:
                return Blocked(words[:500], gate[:20])
        return Blocked("the process that checked it sent a reply that is none", "graph")
    raise MachineryError(
        "the shapes of a graph could not be worked out",
        got=reason,
        do="run again when the machine is less busy",
    )


def states_apart(traced: str, n: int, batch: int, seed: int, steps: int) -> dict[str, np.ndarray] | str:
    """Return every variable after `steps` steps of the torch engine on planted instances, in the design's own
    type; or why there is none."""
    request = {"do": "states", "traced": traced, "n": n, "batch": batch, "seed": seed, "steps": steps}
    try:
        result = _asked(request, None, lambda steps, solved: None)
    except _Starved as starved:
        return str(starved)
    if isinstance(result, str):
        return result
    try:
        return {
            name: np.array(numbers, dtype=np.float64).reshape(shape)
            for name, (shape, numbers) in result["states"].items()
        }
    except (AttributeError, KeyError, TypeError, ValueError):
        return str(result.get("note") or "the process that ran it sent a reply that is none")[:500]


def _asked(
    request: dict[str, Any], guard_s: float | None, on_progress: Progress, patience: float = PATIENCE
) -> dict[str, Any] | str:
    """Return the body of the child's answer, or how it ended. Raises _Starved."""
    with _LOCK:
        child = _listening(request)
        try:
            return _answer(child, guard_s, on_progress, patience)
        except _Ended as ended:
            _discard()
            return f"the process that ran it {ended}"
        except TimeoutError as error:
            _discard()
            return str(error)
        except BaseException:
            _discard()
            raise


def _listening(request: dict[str, Any]) -> Child:
    """Return the child that has taken the request. One that ended between two requests says nothing about the
    next: a fresh one is asked."""
    for attempt in range(TRIES):
        warm()
        child = _CHILDREN[0]
        child.wait_until_ready()
        try:
            child.ask(request)
            return child
        except _Ended as ended:
            _discard()
            if attempt == TRIES - 1:
                raise MachineryError(
                    "the process that runs designs takes no request", got=f"it {ended}", do="see the error"
                ) from None
    raise AssertionError


def _answer(
    child: Child, guard_s: float | None, on_progress: Progress, patience: float
) -> dict[str, Any] | str:
    guard: _Guard | None = _Guard(child, MAKE_S, patience)
    what = "its engine could not be made"
    while True:
        try:
            reply = _sign(child, guard)
        except TimeoutError:
            assert guard is not None
            if guard.computed_s() < guard.allowed_s:
                raise _Starved(
                    f"cut by the clock after {patience * guard.allowed_s:.3g} s in which it got "
                    f"{guard.computed_s():.2g} of {guard.allowed_s:.3g} processor seconds: {what}"
                ) from None
            raise TimeoutError(f"stopped after {guard.allowed_s:.3g} processor seconds: {what}") from None
        match reply:
            case {"made": float(counted_s)}:
                if guard_s is not None:
                    allowed = guard_s
                elif 0 < counted_s < math.inf:
                    allowed = CORE_TIMES * counted_s
                else:
                    allowed = None
                guard, what = (
                    None if allowed is None else _Guard(child, allowed + GRACE_S, patience),
                    "it did not end",
                )
            case {"progress": [int(steps), int(solved)]}:
                on_progress(steps, solved)
            case {"done": dict(body)}:
                return body
            case {"input": [what, wanted, got, do]}:
                raise InputError(str(what), wanted=wanted, got=got, do=do)
            case {"machinery": str(text)}:
                raise MachineryError("a run of a design could not be made", got=text[:500])
            case _:
                raise _Ended("sent a reply that is none")


def _sign(child: Child, guard: _Guard | None) -> Any:
    """Return the child's next reply. Raises TimeoutError when its guard is over, _Ended."""
    while True:
        left = None if guard is None else guard.left_s()
        if left is not None and left <= 0:
            raise TimeoutError("it gave no sign in time")
        try:
            return child.read(None if left is None else time.monotonic() + max(left, 0.05))
        except TimeoutError:
            continue


def _simulation(body: dict[str, Any], run: Run) -> Simulation:
    """Return the result in a reply, if its numbers are possible."""
    try:
        result = Simulation(
            median_step=_whole(body["median_step"], 1),
            unsolved_fraction=_real(body["unsolved_fraction"], 1.0),
            steps_run=_whole(body["steps_run"], 0, run.max_steps),
            solved_at=np.array(
                [_whole(item, 0, run.max_steps) for item in body["solved_at"]], dtype=np.int64
            ),
            cpu_s=_real(body["cpu_s"]),
            wall_s=_real(body["wall_s"]),
            engine=str(body["engine"])[:20],
            timed_out=bool(body["timed_out"]),
            diverged=_whole(body["diverged"], 0, run.batch),
            reached=bool(body["reached"]),
            compile_s=_real(body["compile_s"]),
            together_step=None
            if body["together_step"] is None
            else _whole(body["together_step"], 1, run.max_steps),
            left_again=None if body["left_again"] is None else _whole(body["left_again"], 0, run.batch),
            limit=_whole(body["limit"], 0, run.max_steps),
            work_per_step=_work(body["work_per_step"]),
            note=None if body["note"] is None else str(body["note"])[:500],
            failure=None if body["failure"] is None else str(body["failure"])[:500],
        )
    except (KeyError, TypeError, ValueError):
        return unsolved(run.batch, "the process that ran it sent a result that cannot be")
    return (
        result
        if result.solved_at.shape == (run.batch,)
        else unsolved(run.batch, "the process that ran it sent a result that cannot be")
    )


def _work(value: Any) -> float:
    result = _real(value)
    if not result > 0:
        raise ValueError("not a possible number")
    return result


def _whole(value: Any, low: int, high: int = 2**62) -> int:
    if type(value) is not int or not low <= value <= high:
        raise ValueError("not a possible number")
    return value


def _real(value: Any, high: float = 1e9) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= high:
        raise ValueError("not a possible number")
    return float(value)
