"""Stand-ins that tests of the designs line pass in: what a simulation gives back, and an executor without
processes."""

from concurrent.futures import Executor, Future
from dataclasses import dataclass


@dataclass(frozen=True)
class Run:
    """What a simulation gives back."""

    median_step: int
    unsolved_fraction: float
    steps_run: int
    cpu_s: float = 0.01
    wall_s: float = 0.1
    engine: str = "reference"
    timed_out: bool = False
    diverged: int = 0
    failure: str | None = None
    work_per_step: float = 1.0
    together_step: int | None = None
    left_again: int = 0
    limit: int = 1_000_000


class Inline(Executor):
    """Runs at once, in this thread."""

    def submit(self, fn, /, *args, **kwargs):
        future: Future = Future()
        future.set_result(fn(*args, **kwargs))
        return future
