"""The benchmark of a study: the main problems, perturbations of some of them, and the transfer suite, as rows
of the table `problems`.

Made from sizes and a root seed alone, so making it again gives the same rows. A larger benchmark begins with
the problems of a smaller one.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor
from typing import Any

from evolake.compute.needs import trusted
from evolake.repair.benchmark.generator import generate
from evolake.repair.benchmark.robustness import perturbed_rows
from evolake.repair.benchmark.transfer import transfer_rows
from evolake.repair.certification.labels import LABEL_TIMEOUT_MS
from evolake.repair.settings import RepairSettings

CHUNK = 50

Rows = list[dict[str, Any]]


def benchmark_rows(sizes: RepairSettings, root_seed: int, *, executor: Executor | None = None) -> Rows:
    """Return rows of the table `problems`: main, perturbed (the first `sizes.perturbed` main problems, three
    times each), transfer.

    Raises:
        MachineryError: two certifiers disagree about a label, or a perturbed problem has another label than
            its origin.
    """
    run = _here if executor is None else _submitted(executor)
    main_parts = [
        run(_main, start, min(start + CHUNK, sizes.problems), root_seed)
        for start in range(0, sizes.problems, CHUNK)
    ]
    transfer = run(_transfer, sizes.transfer, root_seed)
    main = [row for part in main_parts for row in part()]
    chosen = main[: sizes.perturbed]
    perturbed_parts = [
        run(_perturbed, chosen[start : start + CHUNK], root_seed) for start in range(0, len(chosen), CHUNK)
    ]
    return [*main, *(row for part in perturbed_parts for row in part()), *transfer()]


@trusted
def _main(start: int, end: int, root_seed: int) -> Rows:
    return [item.row() for item in generate(end, root_seed, start=start)]


@trusted
def _perturbed(rows: Rows, root_seed: int) -> Rows:
    return list(perturbed_rows(rows, root_seed, timeout_ms=LABEL_TIMEOUT_MS))


@trusted
def _transfer(count: int, root_seed: int) -> Rows:
    return list(transfer_rows(count, root_seed, timeout_ms=LABEL_TIMEOUT_MS))


def _here(work: Callable[..., Rows], *arguments: Any) -> Callable[[], Rows]:
    return lambda: work(*arguments)


def _submitted(executor: Executor) -> Callable[..., Callable[[], Rows]]:
    def submit(work: Callable[..., Rows], *arguments: Any) -> Callable[[], Rows]:
        return executor.submit(work, *arguments).result

    return submit
